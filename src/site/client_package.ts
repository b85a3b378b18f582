import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { filesIn, fingerprintOfFiles, makeIfStale } from "./built_directory.ts";

/** Makes the package's export `pgmarkets/client`: JavaScript and declarations in dist/client. */

const root = resolve(import.meta.dirname, "../..");
const sources = join(root, "src/client");
const builtClient = join(root, "dist/client");

/** Builds the client unless it is that of the present sources and routes. Says whether it did. */
export async function buildClientIfStale(): Promise<boolean> {
  // Only who builds pays for loading the generator and the routes.
  const { documentText, writeApiTypes } = await import("./api_types.ts");
  const files = (await filesIn(sources)).filter((path) => !path.includes("schema.d.ts"));
  files.push(join(root, "tsconfig.json"), join(root, "package-lock.json"), import.meta.filename);
  const fingerprint = await fingerprintOfFiles(root, files, [documentText()]);
  return await makeIfStale(builtClient, fingerprint, async (fresh) => {
    const types = await writeApiTypes();
    const compiler = join(root, "node_modules/.bin/tsc");
    await promisify(execFile)(compiler, ["--project", sources, "--outDir", fresh]);
    await copyFile(types, join(fresh, "schema.d.ts"));
  });
}
