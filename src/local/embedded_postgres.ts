import * as fs from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client } from "pg";
import { hasCode } from "../has_code.ts";
import { isInitialised, openCluster, POLL_MS, startFailure } from "./cluster.ts";
import { startCluster, stopCluster } from "./cluster.ts";
import type { Cluster, ClusterOptions, ShutdownMode } from "./cluster.ts";
import { findPostmaster, hasCrashed, readIfPresent } from "./postgres_process.ts";
import type { Postmaster } from "./postgres_process.ts";

export interface EmbeddedPostgresOptions extends ClusterOptions {
  /** The database to make and to connect to. */
  database?: string;
  /** Told what an operator may want to know: adoption, recovery, restarts. */
  onNotice?: (message: string) => void;
}

/** A PostgreSQL of our own that runs, and that others may use too. */
export interface EmbeddedPostgres {
  /** For the superuser `postgres`, over the unix socket; psql understands it too. */
  connectionString: string;
  /** Only the user who runs the server can enter it: psql -h <socketDirectory> -U postgres. */
  socketDirectory: string;
  /** True if the server was running already. */
  adopted: boolean;
  /** The postmaster's process id: another one after a crash. */
  processId: () => number;
  /** Leaves the server, and shuts it down if nobody else uses it. */
  stop: (mode?: ShutdownMode) => Promise<"stopped" | "left to others">;
}

/** A session that says, by a shared lock, that the server is in use. */
interface Keeper extends Postmaster {
  client: Client;
  started: boolean;
}

/** Which server that doesn't run is started: any, one that crashed, or none. */
type AttachPolicy = "start" | "restart after a crash" | "join";

type Notice = (message: string) => void;

// Each user of a server holds this lock shared; who gets it exclusively is the last one.
const USERS_LOCK = "7017189063";

const START_TIMEOUT_MS = 60_000;
/** Waiting for longer than this is worth a notice. */
const PATIENCE_MS = 5000;
/** How long a process that leaves may look for the server that ended its session. */
const LEAVING_TIMEOUT_MS = 10_000;
const REJOIN_MS = 500;

/**
 * Starts the PostgreSQL that came with npm, or joins it if it is running already. Several
 * processes may use one directory at once: the last to stop shuts the server down. A server that
 * crashes (kill -9 included) is started again while anybody uses it; one that was shut down on
 * purpose from outside is not.
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
    // Being connected is no reason for a process to stay alive.
    setReferenced(next.client, false);
  }

  /** Until we hold the users' lock again, or stop. */
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
        // Others may start it: then we use it again, and have to say so.
        policy = "join";
      } catch (error) {
        notice(`the embedded PostgreSQL can't be reached: ${String(error)}`);
      }
      await delay(REJOIN_MS, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  const port = first.port === 5432 ? "" : `&port=${first.port}`;
  const address = `${encodeURIComponent(database)}?host=${first.socketDirectory}${port}`;
  return {
    connectionString: `postgresql://postgres@/${address}`,
    socketDirectory: first.socketDirectory,
    adopted: !first.started,
    processId: () => processId,
    stop: async (mode = "fast") => {
      stopping.abort();
      await rejoining;
      const untilLate = AbortSignal.timeout(LEAVING_TIMEOUT_MS);
      // Our session may be lost while the server runs, with others on it.
      keeper ??= await attach(cluster, "join", notice, untilLate).catch(() => undefined);
      if (keeper !== undefined && !(await leave(keeper))) return "left to others";
      await stopCluster(cluster, mode);
      return "stopped";
    },
  };
}

/** Stops whatever server runs on the directory, asking nobody, and deletes the directory. */
export async function destroyEmbeddedPostgres(directory: string): Promise<void> {
  if (await isInitialised(join(directory, "postgres"))) {
    await stopCluster(await openCluster({ directory }), "immediate");
  }
  await fs.rm(directory, { recursive: true, force: true });
}

/** Starts or joins the server for good: it has the database, and is left again if it can't have. */
async function attachTo(cluster: Cluster, database: string, notice: Notice): Promise<Keeper> {
  for (;;) {
    const keeper = await attach(cluster, "start", notice);
    if (keeper === undefined) throw new Error("unreachable: attach starts a server or throws");
    try {
      await ensureDatabase(keeper.client, database);
      return keeper;
    } catch (error) {
      // It was killed meanwhile.
      if (isTemporary(error)) continue;
      if (await leave(keeper)) await stopCluster(cluster, "fast");
      throw error;
    }
  }
}

/**
 * Gets a session on the server. Where the policy allows it, starts the server; if several processes
 * want to, one does it at a time. Undefined when no server runs and the policy leaves it so, or
 * when the signal came.
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
      // It is recovering or shutting down: as long as it lives, that may take its time.
      if (!isNoticed && Date.now() - began > PATIENCE_MS) {
        isNoticed = true;
        notice("waiting for the embedded PostgreSQL to recover or to shut down");
      }
    } else {
      // A crash is remembered: an attempt to start that fails takes its traces away.
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

/** Opens the session that marks the server as in use. Undefined: not now, try again. */
async function openSession({ port, socketDirectory }: Postmaster): Promise<Client | undefined> {
  const client = new pg.Client({
    host: socketDirectory,
    port,
    user: "postgres",
    database: "postgres",
    application_name: "pgmarkets keeper",
    connectionTimeoutMillis: 5000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    // A server about to be shut down by its last user keeps us waiting here, then ends us.
    await client.query(`select pg_advisory_lock_shared(${USERS_LOCK})`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (isTemporary(error)) return undefined;
    throw error;
  }
}

/**
 * Ends our session. True if nobody else uses the server now, or it can't be asked because it shuts
 * down or crashed at this moment.
 */
async function leave({ client }: Keeper): Promise<boolean> {
  try {
    setReferenced(client, true);
    await client.query(`select pg_advisory_unlock_shared(${USERS_LOCK})`);
    const { rows } = await client.query<{ last: boolean }>(
      `select pg_try_advisory_lock(${USERS_LOCK}) as last`,
    );
    // The last one's session stays, and with it the lock: newcomers wait until the server is down.
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

/** No socket yet, no postmaster behind it, starting up, shutting down, or cut off in between. */
function isTemporary(error: unknown): boolean {
  return (
    hasCode(error, "ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P01", "57P02", "57P03") ||
    /timeout|terminated|not queryable/i.test(String(error))
  );
}

/** As `ref` and `unref` of a socket; the types of pg don't know them. */
function setReferenced(client: Client, isReferenced: boolean): void {
  const socket = client as Client & { ref: () => void; unref: () => void };
  if (isReferenced) socket.ref();
  else socket.unref();
}
