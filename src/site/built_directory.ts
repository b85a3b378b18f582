import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Folders of dist/, which are made of the sources and made again when these change. */

/** Says from which sources the files were built. */
const STAMP = ".built_from";

/** Makes a folder unless it is of these sources already. Says whether it did. */
export async function makeIfStale(
  directory: string,
  fingerprint: string,
  make: (fresh: string) => Promise<void>,
): Promise<boolean> {
  if ((await readIfThere(join(directory, STAMP))) === fingerprint) return false;
  // Beside the present files, so that other processes never read half of them.
  const fresh = `${directory}-${randomUUID()}`;
  await make(fresh);
  await writeFile(join(fresh, STAMP), fingerprint);
  await takePlace(fresh, directory, fingerprint);
  return true;
}

/**
 * Puts freshly built files in the place of the present ones, unless another process was faster with
 * the same: it may be reading them.
 */
async function takePlace(fresh: string, directory: string, fingerprint: string): Promise<void> {
  if ((await readIfThere(join(directory, STAMP))) === fingerprint) {
    await rm(fresh, { recursive: true, force: true });
    return;
  }
  const old = `${fresh}-old`;
  try {
    await rename(directory, old);
  } catch {
    // There were none.
  }
  try {
    await rename(fresh, directory);
  } catch {
    // Another process was faster, with the same files.
  }
  await rm(old, { recursive: true, force: true });
  await rm(fresh, { recursive: true, force: true });
}

/** Changes with these files, whose names count from a folder, and with these texts. */
export async function fingerprintOfFiles(
  root: string,
  paths: readonly string[],
  texts: readonly string[] = [],
): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    const content = await readFile(path);
    hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content);
  }
  for (const text of texts) hash.update(`\0${text.length}\0`).update(text);
  return hash.digest("hex");
}

/** All files below a folder. */
export async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}
