import { buildIfStale, BundlerMissing } from "../site/build.ts";

/** `npm run build:website`, and part of `npm ci`: makes dist/website unless it is up to date. */
try {
  await buildIfStale();
} catch (error) {
  if (!(error instanceof BundlerMissing)) throw error;
  process.stderr.write(`The website was not built: ${error.message}\n`);
  process.exitCode = 1;
}
