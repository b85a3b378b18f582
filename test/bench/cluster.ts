import type { Pool } from "pg";
import { makePool } from "../../src/database/pools.ts";
import { processesOf } from "../../src/local/postgres_process.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { createOutboxRelay } from "../../src/streams/outbox_relay.ts";
import { replaceDatabase } from "../helpers/database/test_database.ts";
import { buildSchema, noteInstallation } from "../helpers/database/schema.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { processorMs } from "../helpers/processes/processor_time.ts";
import { conninfoOf, copyCluster } from "../drills/copies.ts";
import { dataDirectoryOf } from "../drills/system.ts";
import { seedCatalogue } from "./catalogue.ts";
import type { Sizes } from "./sizes.ts";

/** The cluster of one run, as durable as in production. */
export interface BenchCluster {
  /** For files that the run needs. */
  directory: string;
  /**
   * A new database with the schema of db/, the markets and the funded traders. What its orders
   * announce is sent all the while, as by one server process, unless there will be one.
   */
  createDatabase: (name: string, options?: { isServed?: boolean }) => Promise<BenchDatabase>;
  /** A new database with nothing in it. */
  createEmptyDatabase: (name: string) => Promise<BenchDatabase>;
  /** A hot standby that follows the cluster from now on. */
  startStandby: () => Promise<TemporaryCluster>;
  /** The processor time that the cluster's processes have used so far. */
  processorMs: () => Promise<number>;
  /** Removes everything. */
  destroy: () => Promise<void>;
}

/** One database of the cluster. */
export interface BenchDatabase {
  connectionString: string;
  /** As the superuser, for seeding and looking. */
  pool: Pool;
  /** The PG* variables by which pgbench finds it. */
  environment: Record<string, string>;
  drop: () => Promise<void>;
}

const TEMPLATE = "template_of_the_bench";

/** Said in the report as far as they bear on the figures. */
const settings = {
  shared_buffers: "1GB",
  max_wal_size: "4GB",
  min_wal_size: "4GB",
  // No timed checkpoint in the middle of a target, whose figures it would tilt to one side.
  checkpoint_timeout: "30min",
  autovacuum: "on",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

/** Starts the cluster and prepares what the databases of the targets are cloned from. */
export async function openBenchCluster(sizes: Sizes): Promise<BenchCluster> {
  const programsDirectory = process.env.TEST_POSTGRES_BIN;
  const cluster = await startTemporaryCluster("bench", {
    ...(programsDirectory && { programsDirectory }),
    database: "postgres",
    settings,
  });
  try {
    const template = await createDatabase(cluster, TEMPLATE, "template0");
    const client = await template.pool.connect();
    await buildSchema(client);
    await noteInstallation(client);
    client.release();
    await seedCatalogue(template.pool, sizes);
    await template.pool.query("vacuum (analyze)");
    await template.pool.end();
    await recycleSegments(cluster, sizes.walSegments);
  } catch (error) {
    await cluster.destroy();
    throw error;
  }
  return {
    directory: cluster.directory,
    createDatabase: async (name, { isServed = false } = {}) => {
      const database = await createDatabase(cluster, name, TEMPLATE);
      return isServed ? database : withOutboxRelay(database);
    },
    createEmptyDatabase: (name) => createDatabase(cluster, name, "template0"),
    startStandby: () => startStandby(cluster),
    processorMs: async () => {
      const processes = await processesOf(await dataDirectoryOf(cluster));
      const times = await Promise.all(processes.map(processorMs));
      return times.reduce((sum, time) => sum + time, 0);
    },
    destroy: cluster.destroy,
  };
}

async function startStandby(cluster: TemporaryCluster): Promise<TemporaryCluster> {
  const copy = await copyCluster(cluster);
  const settings = {
    primary_conninfo: conninfoOf(cluster, "standby"),
    hot_standby_feedback: "on",
  };
  return await copy.start("standby", settings, "postgres");
}

/**
 * Gives the cluster the WAL segments that one has which has run for a while: a segment that is
 * used again is written to at once, a new one is first filled with zeros while all commits wait.
 */
async function recycleSegments({ server }: TemporaryCluster, count: number): Promise<void> {
  await onCluster(
    server.connectionString,
    `select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()
     from generate_series(1, ${count})`,
  );
  await onCluster(server.connectionString, "checkpoint");
}

async function createDatabase(
  { server }: TemporaryCluster,
  name: string,
  template: string,
): Promise<BenchDatabase> {
  await onCluster(server.connectionString, `create database ${name} template ${template}`);
  const connectionString = replaceDatabase(server.connectionString, name);
  const pool = makePool({ connectionString, applicationName: "pgmarkets bench", max: 4 });
  return {
    connectionString,
    pool,
    environment: {
      PGHOST: server.socketDirectory,
      PGUSER: "postgres",
      PGDATABASE: name,
    },
    drop: async () => {
      await pool.end();
      await onCluster(server.connectionString, `drop database ${name} with (force)`);
    },
  };
}

function withOutboxRelay(database: BenchDatabase): BenchDatabase {
  const { connectionString } = database;
  const pool = makePool({ connectionString, role: "exchange_api", max: 1 });
  const outboxRelay = createOutboxRelay({ pool, logger: makeLogger("info") });
  return {
    ...database,
    drop: async () => {
      await outboxRelay.close();
      await pool.end();
      await database.drop();
    },
  };
}

async function onCluster(connectionString: string, statement: string): Promise<void> {
  const pool = makePool({ connectionString, max: 1 });
  await pool.query(statement);
  await pool.end();
}
