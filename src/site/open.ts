import type { Logger } from "pino";
import { buildIfStale, builtDirectory } from "./build.ts";
import { loadWebsite } from "./files.ts";
import type { Website } from "./files.ts";

/**
 * The website to serve, built anew if its sources have changed since. Undefined if it neither is
 * there nor can be built: the API works without it.
 */
export async function openWebsite(logger: Logger): Promise<Website | undefined> {
  try {
    if (await buildIfStale()) logger.info("the website was built");
  } catch (error) {
    // An installation may be read-only, or without the bundler: what was built before still works.
    logger.warn({ error }, "the website was not built anew");
  }
  try {
    return await loadWebsite(builtDirectory);
  } catch (error) {
    logger.error({ error }, "there is no website to serve: run npm run build:website");
    return undefined;
  }
}
