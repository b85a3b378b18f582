import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { commit } from "graphile-migrate";
import { destroyEmbeddedPostgres, startEmbeddedPostgres } from "../src/local/embedded_postgres.ts";
import { migrationsDirectory } from "../src/database/schema_files.ts";
import { POOL_LINGERS_MS } from "../src/database/run_migrations.ts";
import {
  committedDirectory,
  currentPath,
  listCommitted,
  readReleases,
  statementsOf,
  versionOf,
} from "./releases.ts";

/**
 * `npm run migrate:commit [-- --message "what it does"] [--rewrite]`: turns current.sql, its
 * includes written out, into the next file of committed/, after running it on a scratch cluster.
 *
 * --rewrite replaces the last committed migration instead: its includes are read anew, and what
 * current.sql holds is added. Only for a migration that no database worth keeping has had: one
 * that belongs to a release is not replaced.
 */

const { values: options } = parseArgs({
  options: { message: { type: "string" }, rewrite: { type: "boolean", default: false } },
});

const blank = "-- Write the next migration here, or name changed files: --!include path\n";

const INCLUDED = /^--! Included (?<path>\S+)$[\s\S]*?^--! EndIncluded \k<path>$/gm;

const releasedWith = options.rewrite ? await releaseOfLast() : undefined;
if (releasedWith !== undefined) {
  console.error(`${releasedWith}: databases have run it. Write the next migration instead.`);
  process.exit(1);
}
const currentBefore = await readFile(currentPath, "utf8");
const replaced = options.rewrite ? await takeLastCommitted() : undefined;
const scratch = await mkdtemp(join(tmpdir(), "pgmarkets-commit-"));
try {
  if (replaced) await writeFile(currentPath, addTo(replaced.source, currentBefore));
  const server = await startEmbeddedPostgres({
    directory: scratch,
    database: "main",
    settings: { fsync: "off", log_min_messages: "fatal" },
  });
  const at = (name: string) => server.connectionString.replace("/main?", `/${name}?`);
  await commit(
    {
      connectionString: at("main"),
      shadowConnectionString: at("shadow"),
      rootConnectionString: at("postgres"),
      migrationsFolder: migrationsDirectory,
      blankMigrationContent: blank,
    },
    options.message ?? replaced?.message,
  );
  // It is made read-only, which git doesn't keep and checkouts trip over.
  await chmod(join(committedDirectory, (await listCommitted()).at(-1) ?? ""), 0o644);
} catch (error) {
  // graphile-migrate leaves the includes of current.sql written out when it fails.
  await writeFile(currentPath, currentBefore);
  if (replaced) await writeFile(replaced.path, replaced.text, { mode: 0o644 });
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await delay(POOL_LINGERS_MS);
  await destroyEmbeddedPostgres(scratch);
}

/** Says of the last committed migration that it is released; undefined if it is not. */
async function releaseOfLast(): Promise<string | undefined> {
  const last = (await listCommitted()).at(-1) ?? "";
  const version = versionOf(last, await readReleases());
  return version && `migrate/committed/${last} was released with ${version}`;
}

/** Removes the last committed migration and gives what it was made from. */
async function takeLastCommitted() {
  const last = (await listCommitted()).at(-1);
  if (last === undefined) return undefined;
  const path = join(committedDirectory, last);
  const text = await readFile(path, "utf8");
  const header = /^(?:--! [A-Z].*\n)+\n/.exec(text)?.[0] ?? "";
  const source = text.slice(header.length).replace(INCLUDED, "--!include $<path>");
  const message = /^--! Message: (.*)$/m.exec(header)?.[1];
  await rm(path);
  return { path, text, source, message };
}

function addTo(source: string, addition: string): string {
  const statements = statementsOf(addition);
  return statements === "" || source.includes(statements) ? source : `${source}\n${addition}`;
}
