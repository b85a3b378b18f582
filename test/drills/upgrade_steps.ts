import { delimiter } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { findRunner, runProgram } from "../../src/local/postgres_process.ts";
import { readDocument } from "../docs/document.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { runService } from "../helpers/processes/service_process.ts";
import { readText } from "../helpers/repository.ts";
import { withClient } from "./run.ts";
import { connectTo } from "./system.ts";

/** The steps of docs/operating/upgrade.md, "Upgrade PostgreSQL", with the statements of the page. */

/** The two clusters of an upgrade. */
export interface Pair {
  old: TemporaryCluster;
  new: TemporaryCluster;
}

/** What a block of the page does, and on which cluster. */
type Step = `${keyof Pair} ${"publish" | "subscribe" | "copied" | "confirmed" | "end"}`;

const page = readDocument("docs/operating/upgrade.md");
const blocks = page.blocks.filter(({ heading }) => heading === "Upgrade PostgreSQL");

const COPYING_TIMEOUT_MS = 120_000;
const POLL_MS = 100;

export const connectToCluster = ({ server }: TemporaryCluster): Promise<Client> =>
  connectTo(server.connectionString);

function textOf(language: string, info: string): string {
  const found = blocks.filter((block) => block.language === language && block.info === info);
  if (found.length !== 1)
    throw new Error(`The page has ${found.length} blocks: ${language} ${info}`);
  return found[0]?.text ?? "";
}

/** The clusters of the drill in the place of those of the page. */
function address(text: string, pair: Pair, quote = ""): string {
  return text.replace(
    /postgres:\/\/postgres@(old|new)\.example\/pgmarkets/g,
    (_, name: keyof Pair) => quote + pair[name].server.connectionString + quote,
  );
}

/** Runs the statement of a step, as superuser. */
export async function runStep(pair: Pair, step: Step): Promise<void> {
  await onClusterOf(pair, step, (client) => client.query(address(textOf("sql", step), pair)));
}

/** Repeats the statement of a step until its one value is true. */
export async function waitForStep(pair: Pair, step: Step): Promise<void> {
  const deadline = performance.now() + COPYING_TIMEOUT_MS;
  await onClusterOf(pair, step, async (client) => {
    for (;;) {
      const { rows } = await client.query({ text: textOf("sql", step), rowMode: "array" });
      if (rows[0]?.[0] === true) return;
      if (performance.now() > deadline) throw new Error(`not done for long: ${step}`);
      await delay(POLL_MS);
    }
  });
}

async function onClusterOf(
  pair: Pair,
  step: Step,
  work: (client: Client) => Promise<unknown>,
): Promise<void> {
  const name = step.startsWith("old") ? "old" : "new";
  await withClient(() => connectToCluster(pair[name]), work);
}

/** Makes the roles of the exchange, by the first block of the installation. */
export async function makeRoles(cluster: TemporaryCluster): Promise<void> {
  const { blocks: ofInstallation } = readDocument("docs/operating/install.md");
  const roles = ofInstallation.find(({ language, info }) => `${language} ${info}` === "sql dba");
  await withClient(
    () => connectToCluster(cluster),
    (client) => client.query(roles?.text ?? ""),
  );
}

/** Copies the schema by the command of the page, with the programs of this directory. */
export async function copySchema(pair: Pair, programs: string): Promise<void> {
  const command = address(textOf("sh", "upgrade"), pair, "'");
  const path = [programs, process.env.PATH].join(delimiter);
  const script = ["-o", "pipefail", "-c", `export PATH='${path}'; ${command}`];
  const { code, output } = await runProgram(findRunner(), "bash", script);
  if (code !== 0) throw new Error(`The schema was not copied: ${output}`);
}

/** Takes the rights that only a superuser can revoke, as the page says. */
export async function lockDown(cluster: TemporaryCluster): Promise<void> {
  await withClient(
    () => connectToCluster(cluster),
    (client) => client.query(readText("migrate/lock_down.sql")),
  );
}

/** The five steps with which both ways end. Returns how many sequences were set. */
export async function finishUpgrade(cluster: TemporaryCluster): Promise<number> {
  return await withClient(
    () => connectToCluster(cluster),
    async (client) => {
      const results = (await client.query(textOf("sql", ""))) as unknown as { rows: unknown[] }[];
      await lockDown(cluster);
      const { connectionString } = cluster.server;
      const migrate = runService("migrate.ts", { DATABASE_URL: connectionString });
      if ((await migrate.exited) !== 0) throw new Error(migrate.errors());
      console.log(`  npm run migrate: ${migrate.output().trim()}`);
      await client.query("analyze");
      const { rows } = await client.query("select * from ledger.verify()");
      if (rows.length > 0) throw new Error(`ledger.verify(): ${JSON.stringify(rows)}`);
      return results.reduce((count, result) => count + result.rows.length, 0);
    },
  );
}

/** The logged tables whose rows are not the same on both clusters. */
export async function differingTables(pair: Pair): Promise<string[]> {
  const [old, other] = await Promise.all(
    [pair.old, pair.new].map((cluster) => withClient(() => connectToCluster(cluster), hashTables)),
  );
  const names = new Set([...(old?.keys() ?? []), ...(other?.keys() ?? [])]);
  return [...names].filter((name) => old?.get(name) !== other?.get(name)).sort();
}

async function hashTables(client: Client): Promise<Map<string, string>> {
  const { rows: tables } = await client.query(
    `select c.oid::regclass::text as name
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
       and n.nspname !~ '^(pg_|information_schema$)'`,
  );
  const hashes = new Map<string, string>();
  for (const { name } of tables) {
    const { rows } = await client.query(
      `select coalesce(md5(string_agg(t::text, ' ' order by t::text)), '') as hash
       from ${String(name)} as t`,
    );
    hashes.set(name, rows[0].hash);
  }
  return hashes;
}
