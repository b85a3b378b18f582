import manifest from "../package.json" with { type: "json" };

/** Which pgmarkets this is. */
export const { version } = manifest;
