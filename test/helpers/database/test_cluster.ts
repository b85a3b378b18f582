import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import pg from "pg";
import { replaceDatabase } from "./test_database.ts";
import { buildSchema, noteInstallation } from "./schema.ts";
import { shuffleIds } from "./shuffled_ids.ts";
import { installClock } from "./test_clock.ts";
import { startTemporaryCluster } from "./temporary_cluster.ts";
import type { TemporaryCluster } from "./temporary_cluster.ts";

/** A PostgreSQL to test on: ours for the time of the run, or one that is given. */
export interface TestCluster {
  /** For a superuser, with the database `postgres`. */
  url: string;
  /** Begins the names of all databases of this run. */
  prefix: string;
  /** A database with the schema of db/, to be cloned. */
  template: string;
  /** Leaves nothing behind. */
  close: () => Promise<void>;
}

/** Nothing here outlives the run, so nothing has to survive a crash. */
const throwAwaySettings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum_naptime: "10s",
  max_connections: "400",
  max_prepared_transactions: "8",
  max_wal_size: "256MB",
  log_min_messages: "fatal",
};

/**
 * Starts a throw-away cluster and builds the template. The environment may name a running cluster
 * instead, TEST_DATABASE_URL, or the programs of another version, TEST_POSTGRES_BIN.
 */
export async function openTestCluster(): Promise<TestCluster> {
  const givenUrl = variable("TEST_DATABASE_URL");
  const own = givenUrl === undefined ? await startThrowAway() : undefined;
  const url = replaceDatabase(givenUrl ?? own?.server.connectionString ?? "", "postgres");
  const prefix = `pgmarkets_test_${process.pid}_${Math.random().toString(36).slice(2, 6)}`;
  const template = `${prefix}_template`;
  const close = async () => {
    if (own) await own.destroy();
    else await dropDatabases(url, prefix);
  };
  try {
    await withClient(url, (client) =>
      client.query(
        `create database ${template} template template0 encoding 'UTF8' lc_collate 'C.UTF-8' lc_ctype 'C.UTF-8'`,
      ),
    );
    await withClient(replaceDatabase(url, template), async (client) => {
      await buildSchema(client);
      await noteInstallation(client);
    });
    await withClient(replaceDatabase(url, template), (client) => client.query("vacuum analyze"));
  } catch (error) {
    await close();
    throw error;
  }
  return { url, prefix, template, close };
}

/**
 * Clones a template into one whose databases shuffle ids and have a clock that can be set, and
 * returns its name. Each database could do that by itself, but to note what it changed in the
 * schema takes it ten times as long as its own making.
 */
export async function shuffleTemplate({ url }: TestCluster, template: string): Promise<string> {
  const shuffled = `${template}_shuffled`;
  await withClient(url, (client) =>
    client.query(`create database ${shuffled} template ${template}`),
  );
  await withClient(replaceDatabase(url, shuffled), async (client) => {
    await installClock(client);
    await shuffleIds(client);
  });
  return shuffled;
}

function variable(name: string): string | undefined {
  return process.env[name] === "" ? undefined : process.env[name];
}

async function startThrowAway(): Promise<TemporaryCluster> {
  const programsDirectory = variable("TEST_POSTGRES_BIN");
  const options = {
    ...(programsDirectory !== undefined && { programsDirectory }),
    database: "postgres",
    settings: throwAwaySettings,
  };
  return await startTemporaryCluster("test", options, await fastestDirectory());
}

/** A file system in memory: there a database of many small files is cloned ten times as fast. */
const MEMORY = "/dev/shm";
const NEEDED_BYTES = 3 * 1024 ** 3;

/** The file system in memory if it has enough room, else the temporary directory. */
async function fastestDirectory(): Promise<string> {
  const { bavail = 0, bsize = 0 } = await statfs(MEMORY).catch((): Partial<StatsFs> => ({}));
  return Math.min(bavail * bsize, freemem()) > NEEDED_BYTES ? MEMORY : tmpdir();
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query(
      "select datname from pg_database where starts_with(datname, $1)",
      [prefix],
    );
    for (const { datname } of rows) {
      await client.query(`drop database if exists ${datname} with (force)`);
    }
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
