import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { writeReleasedCalls } from "./released_calls.ts";
import {
  currentPath,
  findReleaseFaults,
  hashCommitted,
  listCommitted,
  readReleases,
  statementsOf,
  versionOf,
  writeReleases,
} from "./releases.ts";

/**
 * `npm run release`: declares that the version of package.json is released. Writes the
 * committed migrations that no earlier version has into released.json. From then on they do not
 * change: migrate:commit refuses, and test/house/released_migrations.test.ts compares the texts.
 */

try {
  console.log(await release());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function release(): Promise<string> {
  const manifest = await readFile(resolve(import.meta.dirname, "../package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const releases = await readReleases();
  const faults = await findReleaseFaults();
  if (faults.length > 0) throw new Error(faults.join("\n"));
  if (releases[version] !== undefined) {
    throw new Error(`${version} is released already: package.json needs the next version`);
  }
  if (statementsOf(await readFile(currentPath, "utf8")) !== "") {
    throw new Error("migrate/current.sql holds a migration: run npm run migrate:commit first");
  }
  const names = (await listCommitted()).filter((name) => versionOf(name, releases) === undefined);
  const files: Record<string, string> = {};
  for (const name of names) files[name] = await hashCommitted(name);
  await writeReleases({ ...releases, [version]: files });
  await writeReleasedCalls();
  return `released ${version} with ${names.join(", ") || "no migration"}`;
}
