import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pool } from "pg";
import type { BenchCluster, BenchDatabase } from "./cluster.ts";
import { initialisePgbench, runPgbench } from "./pgbench.ts";
import type { Pgbench, PgbenchResult, PgbenchRun } from "./pgbench.ts";
import type { Sizes } from "./sizes.ts";

/** What a target has to work with. */
export interface Bench {
  sizes: Sizes;
  cluster: BenchCluster;
  pgbench: Pgbench;
  /** A database with pgbench's tables and nothing else, made at its first use. */
  tpcbDatabase: () => Promise<BenchDatabase>;
}

/** The clients of the targets that run against `tpcb-like`, theirs and ours alike. */
export const CLIENTS = 8;

/** What it acts as, by a startup option: the role of the HTTP interface. */
const AS_API = "-c role=exchange_api";

export function makeBench(sizes: Sizes, cluster: BenchCluster, pgbench: Pgbench): Bench {
  let tpcb: Promise<BenchDatabase> | undefined;
  const makeTpcb = async (): Promise<BenchDatabase> => {
    const database = await cluster.createEmptyDatabase("tpcb");
    await initialisePgbench(pgbench, database.environment, sizes.tpcbScale);
    return database;
  };
  return { sizes, cluster, pgbench, tpcbDatabase: () => (tpcb ??= makeTpcb()) };
}

/** The reference of most targets: transactions a second of `tpcb-like` with 8 clients. */
export async function runTpcb(bench: Bench, seconds: number): Promise<number> {
  return (await tpcb(bench, seconds)).perSecond;
}

/** The same, and how many transactions it made. */
export async function countTpcb(bench: Bench, seconds: number): Promise<number> {
  return (await tpcb(bench, seconds)).transactions;
}

async function tpcb({ pgbench, tpcbDatabase }: Bench, seconds: number): Promise<PgbenchResult> {
  const { environment } = await tpcbDatabase();
  return await runPgbench(pgbench, {
    environment,
    script: "tpcb-like",
    clients: CLIENTS,
    until: { seconds },
  });
}

/** A pgbench script of ours, to be run on one database as the HTTP interface would. */
export type Script = (
  run: Pick<PgbenchRun, "clients" | "until" | "options" | "log">,
) => Promise<PgbenchResult>;

/** Writes the lines of a script down, ready to be run. */
export async function writeScript(
  { cluster, pgbench }: Bench,
  database: BenchDatabase,
  name: string,
  lines: string[],
): Promise<Script> {
  const file = join(cluster.directory, `${database.environment.PGDATABASE ?? ""}_${name}.sql`);
  await writeFile(file, `${lines.join("\n")}\n`);
  return ({ options, ...run }) =>
    runPgbench(pgbench, {
      ...run,
      environment: database.environment,
      script: { file },
      options: options === undefined ? AS_API : `${AS_API} ${options}`,
    });
}

/** Throws if the ledger is not sound: figures of an unsound database are worth nothing. */
export async function checkLedger({ pool }: BenchDatabase): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set work_mem = '256MB'");
    const { rows } = await client.query("select * from ledger.verify() limit 5");
    if (rows.length > 0) {
      throw new Error(
        `ledger.verify() found\n${rows.map((row) => JSON.stringify(row)).join("\n")}`,
      );
    }
  } finally {
    client.release(true);
  }
}

/** Ends the work on a database, whose ledger must be sound. */
export async function checkAndDrop(database: BenchDatabase): Promise<void> {
  await checkLedger(database);
  await database.drop();
}

/** The only value of a query. */
export async function readNumber(pool: Pool, query: string): Promise<number> {
  const { rows } = await pool.query({ text: query, rowMode: "array" });
  return Number(rows[0]?.[0]);
}

/** Throws unless a run did what it was timed for. */
export function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found}, but ${expected} were to be expected`);
}
