import { buildIfStale } from "../site/build.ts";

/** `npm run build:website`, and part of `npm ci`: makes dist/website unless it is up to date. */
await buildIfStale();
