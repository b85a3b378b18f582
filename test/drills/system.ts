import { realpath } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { processesOf, signal } from "../../src/local/postgres_process.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { startServer, startWorker } from "./server_process.ts";

/** A database and a server on it, both real processes that can be killed. */
export interface System {
  cluster: TemporaryCluster;
  url: string;
  connect: () => Promise<pg.Client>;
  /** SIGKILL to the postmaster and all its children; it is started again by its supervisor. */
  killDatabase: () => Promise<void>;
  /** SIGKILL to the server, which is then started again until it stays up. */
  killServer: () => Promise<void>;
  /** SIGKILL to the worker, if there is one; it is then started again. */
  killWorker: () => void;
  /** Whether the server has run without an end since it was started. */
  serverRuns: () => boolean;
  /** What the server's log says. */
  serverLog: () => string;
  destroy: () => Promise<void>;
}

export interface SystemOptions {
  /** Of PostgreSQL, beyond those of production. */
  settings?: Record<string, string>;
  /** Those of another PostgreSQL than the embedded one. */
  programsDirectory?: string;
  /** Does something about the cluster first, and says where the server is to connect. */
  prepare?: (cluster: TemporaryCluster) => Promise<string>;
  /** More variables of the server, asked after `prepare`. */
  variables?: () => Record<string, string>;
  /** Beside the server, in a process of its own. */
  withWorker?: boolean;
}

/** Starts both, the database as durable as in production, brought up to date by the migrations. */
export async function startSystem({
  prepare,
  variables,
  withWorker = false,
  ...clusterOptions
}: SystemOptions = {}): Promise<System> {
  const cluster = await startTemporaryCluster("drill", clusterOptions);
  try {
    const { connectionString } = cluster.server;
    await migrateDatabase(connectionString);
    const serverUrl = (await prepare?.(cluster)) ?? connectionString;
    const server = await startServer(serverUrl, variables?.());
    const worker = withWorker ? startWorker(serverUrl) : undefined;
    const dataDirectory = await dataDirectoryOf(cluster);
    return {
      cluster,
      url: server.url,
      connect: () => connectTo(connectionString),
      killDatabase: async () => {
        for (const processId of await processesOf(dataDirectory)) signal(processId, "SIGKILL");
      },
      killServer: server.kill,
      killWorker: () => worker?.kill(),
      serverRuns: server.runs,
      serverLog: server.log,
      destroy: async () => {
        await worker?.end();
        await server.end();
        await cluster.destroy();
      },
    };
  } catch (error) {
    await cluster.destroy();
    throw error;
  }
}

/** Where a cluster keeps its data, by the name under which its processes run. */
export async function dataDirectoryOf({ directory }: TemporaryCluster): Promise<string> {
  return join(await realpath(directory), "postgres");
}

/** A session whose loss ends nothing but itself. */
export async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
