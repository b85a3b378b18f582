import { spawn } from "node:child_process";
import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRunner, runProgram } from "../../../src/local/postgres_process.ts";

/** A PostgreSQL of the distribution, with the configuration that its initdb writes. */
export interface StockCluster {
  /** For the superuser, with the database `postgres`. */
  url: string;
  /** Where its programs are. */
  programs: string;
  /** Ends the server as a crash would. */
  crash: () => Promise<void>;
  /** Starts it again. */
  start: () => Promise<void>;
  destroy: () => Promise<void>;
}

const DEBIAN = "/usr/lib/postgresql";

/** The programs of the oldest PostgreSQL that Debian has installed here, if any. */
export function findDebianPostgres(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  return readdirSync(DEBIAN)
    .filter((version) => Number(version) >= 15 && Number(version) <= 18)
    .sort((a, b) => Number(a) - Number(b))
    .map((version) => join(DEBIAN, version, "bin"))
    .find((directory) => existsSync(join(directory, "initdb")));
}

/**
 * Makes a cluster by initdb and starts it by pg_ctl, as a user other than root.
 * Nothing is set but where it listens: a socket in its own directory.
 */
export async function startStockCluster(
  programs: string,
  settings: Record<string, string> = {},
): Promise<StockCluster> {
  const runner = findRunner();
  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-stock-${process.pid}-`));
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  for (const path of [directory, data]) {
    await chown(path, runner.fileOwner.uid, runner.fileOwner.gid);
  }
  const run = async (program: string, ...args: string[]): Promise<void> => {
    const log = join(directory, "log");
    const { code, output } = await runProgram(runner, join(programs, program), args);
    if (code !== 0)
      throw new Error(`${program} ended with ${code ?? "a signal"}: ${output} (${log})`);
  };
  const start = async (): Promise<void> => {
    const where = `-c listen_addresses='' -c unix_socket_directories='${directory}'`;
    await run("pg_ctl", "start", "-D", data, "-w", "-l", join(directory, "log"), "-o", where);
  };
  const crash = () => run("pg_ctl", "stop", "-D", data, "-m", "immediate", "-w");
  const destroy = async (): Promise<void> => {
    await crash().catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await run("initdb", "-D", data, "-U", "postgres", "-A", "trust");
    const more = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    if (more.length > 0) {
      await writeFile(join(data, "postgresql.auto.conf"), more.join(""));
      await chown(join(data, "postgresql.auto.conf"), runner.fileOwner.uid, runner.fileOwner.gid);
    }
    await start();
  } catch (error) {
    await destroy();
    throw error;
  }
  const url = `postgresql://postgres@/postgres?host=${directory}`;
  return { url, programs, crash, start, destroy };
}

/** Runs a command to its end with these variables; its exit code. */
export async function runWith(
  variables: Record<string, string>,
  command: string,
  args: string[],
): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...variables } });
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      resolve(code ?? 1);
    });
  });
}
