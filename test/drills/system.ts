import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { processesOf, signal } from "../../src/database/postgres_process.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { startTemporaryCluster } from "../helpers/temporary_cluster.ts";

/** A database and a server on it, both real processes that can be killed. */
export interface System {
  url: string;
  connect: () => Promise<pg.Client>;
  /** SIGKILL to the postmaster and all its children; it is started again by its supervisor. */
  killDatabase: () => Promise<void>;
  /** SIGKILL to the server, which is then started again until it stays up. */
  killServer: () => Promise<void>;
  /** What the server's log says. */
  serverLog: () => string;
  destroy: () => Promise<void>;
}

const LISTENING_TIMEOUT_MS = 30_000;
const MOST_LOG_CHARACTERS = 20_000;

/** Starts both, the database as durable as in production, brought up to date by the migrations. */
export async function startSystem(): Promise<System> {
  const cluster = await startTemporaryCluster("drill", {});
  const dataDirectory = join(await realpath(cluster.directory), "postgres");
  const { connectionString } = cluster.server;
  let log = "";
  let server: ChildProcess | undefined;
  let url = "http://127.0.0.1:0";

  /** The server, once it listens; undefined if it ended before, as it does without a database. */
  async function startServer(): Promise<ChildProcess | undefined> {
    const child = spawn(process.execPath, [join(rootDirectory, "src", "server.ts")], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: connectionString,
        PORT: new URL(url).port,
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-MOST_LOG_CHARACTERS);
    });
    const listening = once(child.stdout, "data").then(([line]) => {
      // The first one chose a port, where the others will be looked for.
      url = /^listening on (\S+)$/m.exec(String(line))?.[1] ?? url;
      return child;
    });
    const ended = once(child, "exit").then(() => undefined);
    return await Promise.race([listening, ended]);
  }

  async function startServerUntilUp(): Promise<void> {
    const deadline = Date.now() + LISTENING_TIMEOUT_MS;
    for (;;) {
      server = await startServer();
      if (server !== undefined) return;
      if (Date.now() > deadline) throw new Error(`The server does not start:\n${log}`);
      await delay(100);
    }
  }

  async function endServer(): Promise<void> {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  }

  async function destroy(): Promise<void> {
    await endServer();
    await cluster.destroy();
  }

  try {
    await migrateDatabase(connectionString);
    await startServerUntilUp();
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    url,
    connect: async () => {
      const client = new pg.Client({ connectionString });
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    killDatabase: async () => {
      for (const processId of await processesOf(dataDirectory)) signal(processId, "SIGKILL");
    },
    killServer: async () => {
      await endServer();
      await startServerUntilUp();
    },
    serverLog: () => log,
    destroy,
  };
}
