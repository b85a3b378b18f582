import type { Logger } from "pino";
import { buildIfStale, builtDirectory } from "./build.ts";
import { loadWebsite } from "./files.ts";
import type { Website } from "./files.ts";

/** The website to serve, built anew if its sources have changed since. */
export async function openWebsite(logger: Logger): Promise<Website> {
  try {
    if (await buildIfStale()) logger.info("the website was built");
  } catch (error) {
    // An installation may be read-only, or without the bundler: what was built before still works.
    logger.warn({ error }, "the website was not built anew");
  }
  return await loadWebsite(builtDirectory);
}
