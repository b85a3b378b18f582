import { buildClientIfStale } from "../site/build_client.ts";

/** `npm run build:client`, and part of `npm ci`: makes dist/client unless it is up to date. */
await buildClientIfStale();
