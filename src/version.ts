import manifest from "../package.json" with { type: "json" };

/** The version of pgmarkets. */
export const { version } = manifest;
