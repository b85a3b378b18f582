import * as fs from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client } from "pg";
import { reasonToWait } from "../database/wait_for_database.ts";
import { hasCode } from "../has_code.ts";
import { isInitialised, openCluster, startCluster, startFailure, stopCluster } from "./cluster.ts";
import type { Cluster, ClusterOptions, ShutdownMode } from "./cluster.ts";
import { findPostmaster, hasCrashed, POLL_MS, readIfPresent } from "./postgres_process.ts";
import type { Postmaster } from "./postgres_process.ts";

export interface EmbeddedPostgresOptions extends ClusterOptions {
  /** The database to make and to connect to. */
  database?: string;
  /** Called with what an operator may want to know: recovery, restarts. */
  onNotice?: (message: string) => void;
}

/** The embedded PostgreSQL, running. Other processes may use it too. */
export interface EmbeddedPostgres {
  /** For the superuser `postgres`, over the unix socket. psql accepts it too. */
  connectionString: string;
  /** Only the user of the server can enter it: psql -h <socketDirectory> -U postgres. */
  socketDirectory: string;
  /** True if the server was running already. */
  adopted: boolean;
  /** The postmaster's process id. It changes after a crash. */
  processId: () => number;
  /** Leaves the server, and shuts it down if no other process uses it. */
  stop: (mode?: ShutdownMode) => Promise<"stopped" | "left to others">;
}

/** A session whose shared lock marks the server as in use. */
interface Keeper extends Postmaster {
  client: Client;
  started: boolean;
}

/** Whether a stopped server is started: always, after a crash only, or never. */
type AttachPolicy = "start" | "restart after a crash" | "join";

type Notice = (message: string) => void;

// Each process that uses a server holds this lock shared. The last one can get it exclusively.
const USERS_LOCK = "7017189063";

const START_TIMEOUT_MS = 60_000;
/** A longer wait is reported. */
const PATIENCE_MS = 5000;
/** How long a process that stops may try to reach the server again. */
const LEAVING_TIMEOUT_MS = 10_000;
const REJOIN_MS = 500;

/**
 * Starts the PostgreSQL of npm's package, or joins it if it runs already. Several processes may use
 * one directory at once. The last one to stop shuts the server down. A server that crashes or is
 * killed is started again while a process uses it. One that was shut down from outside is not.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { database = "pgmarkets", onNotice: notice = () => undefined } = options;
  const cluster = await openCluster(options);
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = await attachTo(cluster, database, notice);
  /** Undefined while our session is lost. */
  let keeper: Keeper | undefined;
  let rejoining: Promise<void> | undefined;
  let processId = first.processId;
  hold(first);

  function hold(next: Keeper): void {
    keeper = next;
    processId = next.processId;
    next.client.once("end", () => {
      keeper = undefined;
      if (!signal.aborted) rejoining = rejoin();
    });
    // The connection must not keep the process alive.
    setReferenced(next.client, false);
  }

  /** Connects again, until we hold the lock or stop. */
  async function rejoin(): Promise<void> {
    notice("the embedded PostgreSQL ended our session; connecting again");
    let policy: AttachPolicy = "restart after a crash";
    for (;;) {
      try {
        const next = await attach(cluster, policy, notice, signal);
        if (next !== undefined) {
          hold(next);
          notice("the embedded PostgreSQL is up again");
          return;
        }
        if (signal.aborted) return;
        if (policy !== "join") {
          notice("the embedded PostgreSQL was shut down from outside; it stays down");
        }
        // Another process may start it. Then we must hold the lock again.
        policy = "join";
      } catch (error) {
        notice(`the embedded PostgreSQL can't be reached: ${String(error)}`);
      }
      await delay(REJOIN_MS, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  // It says all: PGPORT and PGSSLMODE of the user's environment are about another server.
  const address = `host=${first.socketDirectory}&port=${first.port}&sslmode=disable`;
  return {
    connectionString: `postgresql://postgres@/${encodeURIComponent(database)}?${address}`,
    socketDirectory: first.socketDirectory,
    adopted: !first.started,
    processId: () => processId,
    stop: async (mode = "fast") => {
      stopping.abort();
      await rejoining;
      const untilLate = AbortSignal.timeout(LEAVING_TIMEOUT_MS);
      // Our session may be lost while other processes use the server.
      keeper ??= await attach(cluster, "join", notice, untilLate).catch(() => undefined);
      if (keeper !== undefined && !(await leave(keeper))) return "left to others";
      await stopCluster(cluster, mode);
      return "stopped";
    },
  };
}

/** Stops the server of the directory, also if it is in use, and deletes the directory. */
export async function destroyEmbeddedPostgres(directory: string): Promise<void> {
  if (await isInitialised(join(directory, "postgres"))) {
    await stopCluster(await openCluster({ directory }), "immediate");
  }
  await fs.rm(directory, { recursive: true, force: true });
}

/** Starts or joins the server, and makes the database. Leaves it again if that fails. */
async function attachTo(cluster: Cluster, database: string, notice: Notice): Promise<Keeper> {
  for (;;) {
    const keeper = await attach(cluster, "start", notice);
    if (keeper === undefined) throw new Error("unreachable: attach starts a server or throws");
    try {
      await ensureDatabase(keeper.client, database);
      return keeper;
    } catch (error) {
      // The server was killed meanwhile.
      if (isTemporary(error)) continue;
      if (await leave(keeper)) await stopCluster(cluster, "fast");
      throw error;
    }
  }
}

/**
 * Opens a session on the server, and starts the server if the policy allows it. Of several processes
 * one at a time starts it. Undefined when no server runs and the policy does not start it, or when
 * the signal came.
 */
async function attach(
  cluster: Cluster,
  policy: AttachPolicy,
  notice: Notice,
  signal?: AbortSignal,
): Promise<Keeper | undefined> {
  const { dataDirectory, logFile } = cluster;
  const began = Date.now();
  let mayStart = policy === "start";
  let startedId: number | undefined;
  let isNoticed = false;
  while (signal?.aborted !== true) {
    const postmaster = await findPostmaster(dataDirectory);
    if (postmaster !== undefined) {
      const client = await openSession(postmaster);
      if (client) return { ...postmaster, client, started: startedId === postmaster.processId };
      // It recovers or shuts down, which may take long.
      if (!isNoticed && Date.now() - began > PATIENCE_MS) {
        isNoticed = true;
        notice("waiting for the embedded PostgreSQL to recover or to shut down");
      }
    } else {
      // A crash is remembered: a failed attempt to start removes its traces.
      mayStart ||= policy === "restart after a crash" && (await hasCrashed(dataDirectory));
      if (!mayStart) return undefined;
      if (Date.now() - began > START_TIMEOUT_MS) {
        throw startFailure(cluster, (await readIfPresent(logFile)) ?? "");
      }
      startedId = (await startCluster(cluster))?.pid;
    }
    await delay(POLL_MS);
  }
  return undefined;
}

/** Opens the session that marks the server as in use. Undefined: try again. */
async function openSession({ port, socketDirectory }: Postmaster): Promise<Client | undefined> {
  const client = new pg.Client({
    host: socketDirectory,
    port,
    ssl: false,
    user: "postgres",
    database: "postgres",
    application_name: "pgmarkets keeper",
    connectionTimeoutMillis: 5000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    // If its last user shuts the server down, we wait here, and then the session ends.
    await client.query(`select pg_advisory_lock_shared(${USERS_LOCK})`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (isTemporary(error)) return undefined;
    throw error;
  }
}

/**
 * Ends our session. True if no other process uses the server, or if it shuts down or crashed and so
 * can't be asked.
 */
async function leave({ client }: Keeper): Promise<boolean> {
  try {
    setReferenced(client, true);
    await client.query(`select pg_advisory_unlock_shared(${USERS_LOCK})`);
    const { rows } = await client.query<{ last: boolean }>(
      `select pg_try_advisory_lock(${USERS_LOCK}) as last`,
    );
    // Our session stays open with its lock: new users wait until the server is down.
    if (rows[0]?.last === true) return true;
    await client.end();
    return false;
  } catch {
    return true;
  }
}

async function ensureDatabase(client: Client, name: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    // Another process was quicker.
    if (!hasCode(error, "42P04", "23505")) throw error;
  }
}

/** The server has no socket yet, starts, shuts down, or cut the connection. */
function isTemporary(error: unknown): boolean {
  return reasonToWait(error) === "database_unreachable";
}

/** As `ref` and `unref` of a socket. The types of pg lack them. */
function setReferenced(client: Client, isReferenced: boolean): void {
  const socket = client as Client & { ref: () => void; unref: () => void };
  if (isReferenced) socket.ref();
  else socket.unref();
}
