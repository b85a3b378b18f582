import type { Logger } from "pino";
import { BundlerMissing, buildIfStale, builtDirectory } from "./build.ts";
import { loadWebsite } from "./files.ts";
import type { Website } from "./files.ts";
import { withOwnPages } from "./own_pages.ts";

/**
 * The website to serve, built anew if its sources have changed since. Undefined if it neither is
 * there nor can be built: the API works without it. The operator's own pages are in the folder; see
 * {@link withOwnPages}, also for its errors.
 */
export async function openWebsite(
  logger: Logger,
  pagesFolder?: string,
): Promise<Website | undefined> {
  const website = await openBuilt(logger);
  return website && pagesFolder !== undefined ? withOwnPages(website, pagesFolder) : website;
}

async function openBuilt(logger: Logger): Promise<Website | undefined> {
  let missing: string | undefined;
  try {
    if (await buildIfStale()) logger.info("the website was built");
  } catch (error) {
    // An installation may be read-only, or without the bundler: what was built before still works.
    if (error instanceof BundlerMissing) missing = error.message;
    else logger.warn({ error }, "the website was not built anew");
  }
  try {
    const website = await loadWebsite(builtDirectory);
    if (missing !== undefined) logger.warn(`the website was built of other sources: ${missing}`);
    return website;
  } catch (error) {
    if (missing !== undefined) logger.error(`there is no website to serve: ${missing}`);
    else logger.error({ error }, "there is no website to serve: run npm run build:website");
    return undefined;
  }
}
