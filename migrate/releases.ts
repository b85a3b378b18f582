import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { migrationsDirectory } from "../src/database/schema_files.ts";

/**
 * released.json lists each released version with the migrations that came with it, and a hash of
 * the whole text of each. Databases have run these texts, so no released file changes.
 */

/** By version, then by file name. */
export type Releases = Record<string, Record<string, string>>;

export const committedDirectory = join(migrationsDirectory, "committed");
export const currentPath = join(migrationsDirectory, "current.sql");
const releasesPath = join(migrationsDirectory, "released.json");

/** What released.json holds. */
export async function readReleases(): Promise<Releases> {
  return JSON.parse(await readFile(releasesPath, "utf8")) as Releases;
}

/** Writes released.json. */
export async function writeReleases(releases: Releases): Promise<void> {
  await writeFile(releasesPath, `${JSON.stringify(releases, null, 2)}\n`);
}

/** The version that a migration was released with; undefined if it is not released. */
export function versionOf(filename: string, releases: Releases): string | undefined {
  return Object.keys(releases).find((version) => releases[version]?.[filename] !== undefined);
}

/** The names of all committed migrations, in order. */
export async function listCommitted(): Promise<string[]> {
  return (await readdir(committedDirectory)).filter((name) => name.endsWith(".sql")).sort();
}

/** The hash of a committed migration's text, as released.json has it. */
export async function hashCommitted(filename: string): Promise<string> {
  const text = await readFile(join(committedDirectory, filename));
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The SQL of current.sql without its comments; empty if no migration is being written. */
export function statementsOf(current: string): string {
  return current.replace(/^--(?!!).*$/gm, "").trim();
}

/**
 * What is wrong with the released migrations, a line each: a file that is missing, one whose text
 * has changed, and one that comes before a released one without being released itself.
 */
export async function findReleaseFaults(): Promise<string[]> {
  const committed = await listCommitted();
  const faults: string[] = [];
  const released = new Set<string>();
  for (const [version, files] of Object.entries(await readReleases())) {
    for (const [filename, hash] of Object.entries(files)) {
      released.add(filename);
      if (!committed.includes(filename)) faults.push(`${filename} of ${version} is missing`);
      else if ((await hashCommitted(filename)) !== hash) {
        faults.push(`${filename} has changed since ${version} was released with it`);
      }
    }
  }
  const last = committed.findLastIndex((filename) => released.has(filename));
  const skipped = committed.slice(0, last + 1).filter((filename) => !released.has(filename));
  return [...faults, ...skipped.map((name) => `${name} comes before a released migration`)];
}
