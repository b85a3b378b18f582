import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../has_code.ts";
import type { StaticFile } from "../http/static_file.ts";

/**
 * What browsers get: a page that shows every path of traders, one that shows every path of staff,
 * and the files that they name.
 */
export interface Website {
  page: StaticFile;
  staffPage: StaticFile;
  /** By path. Each path holds a hash of the content, so the content of a path never changes. */
  assets: Map<string, StaticFile>;
  /** Pages that the operator wrote, by path. */
  ownPages: Map<string, StaticFile>;
}

const contentTypes: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

const ATTEMPTS = 10;
const PAUSE_MS = 100;

/**
 * Reads the built files into memory. They may be away for a moment, while another process that was
 * started at the same time puts its own, which are the same, in their place.
 */
export async function loadWebsite(directory: string): Promise<Website> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readWebsite(directory);
    } catch (error) {
      if (!hasCode(error, "ENOENT") || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}

async function readWebsite(directory: string): Promise<Website> {
  const page = await readSiteFile(join(directory, "index.html"));
  const staffPage = await readSiteFile(join(directory, "operator/index.html"));
  const assetsDirectory = join(directory, "assets");
  const names = (await readdir(assetsDirectory)).filter((name) => extname(name) in contentTypes);
  const assets = new Map<string, StaticFile>();
  for (const name of names) {
    const path = join(assetsDirectory, name);
    assets.set(`/${relative(directory, path)}`, await readSiteFile(path));
  }
  return { page, staffPage, assets, ownPages: new Map() };
}

async function readSiteFile(path: string): Promise<StaticFile> {
  const contentType = contentTypes[extname(path)];
  if (contentType === undefined) throw new Error(`There is no content type for ${path}`);
  const [identity, br, gzip] = await Promise.all([
    readFile(path),
    readFile(`${path}.br`).catch(() => undefined),
    readFile(`${path}.gz`).catch(() => undefined),
  ]);
  return { contentType, encodings: { identity, ...(br && { br }), ...(gzip && { gzip }) } };
}
