import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type * as Vite from "vite";
import { filesIn, fingerprintOfFiles, makeIfStale } from "./built_directory.ts";

/** Makes the files that browsers get from the sources in src/website/. */

export const sourceDirectory = resolve(import.meta.dirname, "../website");
export const builtDirectory = resolve(import.meta.dirname, "../../dist/website");
const lockFile = resolve(import.meta.dirname, "../../package-lock.json");

/** Smaller files gain nothing by compression. */
const LEAST_BYTES_TO_COMPRESS = 512;

/** The bundler is an optional dependency. Its own error advises to install all of them again. */
export class BundlerMissing extends Error {
  override name = "BundlerMissing";

  constructor(cause: unknown) {
    super(
      "the website's bundler is not installed: copy dist/website/ from an installation of this " +
        "version that has it",
      { cause },
    );
  }
}

/** Builds the website unless its files are those of the present sources. Says whether it did. */
export async function buildIfStale(): Promise<boolean> {
  return await makeIfStale(builtDirectory, await fingerprintOfSources(), async (fresh) => {
    await asInProduction(() => buildWebsite(fresh));
  });
}

/** The bundler and the libraries look at NODE_ENV: the files are the same whatever it is. */
async function asInProduction(work: () => Promise<void>): Promise<void> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

async function buildWebsite(directory: string): Promise<void> {
  const { build } = await loadBundler();
  await build({
    configFile: false,
    root: sourceDirectory,
    logLevel: "warn",
    publicDir: false,
    plugins: [plainImports],
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: directory,
      emptyOutDir: true,
      target: ["chrome123", "firefox121", "safari17.5"],
      // The Content-Security-Policy allows no data: address.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: {
          index: resolve(sourceDirectory, "index.html"),
          operator: resolve(sourceDirectory, "operator/index.html"),
        },
      },
    },
  });
  for (const path of await filesIn(directory)) await compress(path);
}

/**
 * What is loaded later has no files that must be there before it. The bundler's own way to load those
 * is a hundredth of the first load.
 */
const plainImports: Vite.Plugin = {
  name: "plain-imports",
  enforce: "pre",
  load: (id) =>
    id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : null,
};

/** Only who builds pays for loading the bundler. */
async function loadBundler(): Promise<typeof Vite> {
  try {
    return await import("vite");
  } catch (error) {
    throw new BundlerMissing(error);
  }
}

/** Puts a brotli and a gzip form beside a file, once, so that no request waits for it. */
async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < LEAST_BYTES_TO_COMPRESS) return;
  const brotli = await promisify(brotliCompress)(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
  await writeFile(`${path}.br`, brotli);
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}

/** Changes with the sources, and with the versions of what builds them. */
async function fingerprintOfSources(): Promise<string> {
  const sources = (await filesIn(sourceDirectory)).filter((path) => !path.endsWith(".d.ts"));
  const files = [...sources, lockFile, import.meta.filename];
  return await fingerprintOfFiles(sourceDirectory, files);
}
