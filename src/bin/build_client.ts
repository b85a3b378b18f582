import { buildClientIfStale } from "../site/client_package.ts";

/** `npm run build:client`, and part of `npm ci`: makes dist/client unless it is up to date. */
await buildClientIfStale();
