import { writeApiTypes } from "./api_types.ts";

/** Part of `npm run types` and `npm run lint`: the compiler and the linter read these types. */
await writeApiTypes();
