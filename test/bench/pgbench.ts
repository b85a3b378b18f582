import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

/** The program, and how it reaches one database. */
export interface Pgbench {
  program: string;
  version: string;
}

/** What to run: the built-in script `tpcb-like`, or the file of one of ours. */
export interface PgbenchRun {
  /** PG* variables that name the database. */
  environment: Record<string, string>;
  script: "tpcb-like" | { file: string };
  clients: number;
  /** How long, or how many transactions of each client. */
  until: { seconds: number } | { transactions: number };
  /** Startup options of its sessions, such as `-c role=exchange_api`. */
  options?: string;
  /** Where to note each transaction: a path that the names of files begin with. */
  log?: string;
}

export interface PgbenchResult {
  transactions: number;
  perSecond: number;
  latencyMs: number;
}

const DEBIAN_DIRECTORY = "/usr/lib/postgresql";

/** The pgbench of the PATH, or else the newest one of Debian's. Undefined if there is none. */
export function findPgbench(): Pgbench | undefined {
  const fromPath = (process.env.PATH ?? "").split(delimiter).filter((path) => path !== "");
  const ofDebian = existsSync(DEBIAN_DIRECTORY)
    ? readdirSync(DEBIAN_DIRECTORY)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN_DIRECTORY, version, "bin"))
    : [];
  const program = [...fromPath, ...ofDebian]
    .map((directory) => join(directory, "pgbench"))
    .find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return { program, version: stdout.trim() };
}

/** Makes pgbench's own tables. */
export async function initialisePgbench(
  { program }: Pgbench,
  environment: Record<string, string>,
  scale: number,
): Promise<void> {
  await run(program, ["--initialize", "--quiet", `--scale=${scale}`], environment);
}

/** Runs a script by prepared statements; throws if a single transaction failed. */
export async function runPgbench(
  { program }: Pgbench,
  { environment, script, clients, until, options, log }: PgbenchRun,
): Promise<PgbenchResult> {
  const args = [
    ...["--protocol=prepared", `--client=${clients}`],
    `--jobs=${Math.min(clients, availableParallelism())}`,
    "seconds" in until ? `--time=${until.seconds}` : `--transactions=${until.transactions}`,
    ...(log === undefined ? [] : ["--log", `--log-prefix=${log}`]),
    // Its usual vacuum is of its own tables only.
    ...(script === "tpcb-like" ? [`--builtin=${script}`] : ["--no-vacuum", "--file", script.file]),
  ];
  const output = await run(program, args, {
    ...environment,
    ...(options !== undefined && { PGOPTIONS: options }),
  });
  const failed = numberAfter(output, "number of failed transactions:");
  if (failed > 0) throw new Error(`${failed} transactions of pgbench failed`);
  return {
    transactions: numberAfter(output, "number of transactions actually processed:"),
    perSecond: numberAfter(output, "tps ="),
    latencyMs: numberAfter(output, "latency average ="),
  };
}

/** One transaction, in milliseconds since the epoch. */
export interface LoggedTransaction {
  begin: number;
  end: number;
}

/** Takes the transactions of the runs that were logged there, which are forgotten then. */
export function takeLog(log: string): LoggedTransaction[] {
  const directory = dirname(log);
  const files = readdirSync(directory).filter((file) => file.startsWith(`${basename(log)}.`));
  return files.flatMap((file) => {
    const path = join(directory, file);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    rmSync(path);
    // client, number, microseconds, script, then the second and microsecond of the end
    return lines.map((line) => {
      const [, , took = 0, , second = 0, microsecond = 0] = line.split(" ").map(Number);
      const end = second * 1000 + microsecond / 1000;
      return { begin: end - took / 1000, end };
    });
  });
}

async function run(
  program: string,
  args: string[],
  environment: Record<string, string>,
): Promise<string> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, LC_ALL: "C", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const code = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  if (code !== 0) throw new Error(`pgbench ended with ${code ?? "a signal"}:\n${errors.trim()}`);
  return output;
}

function numberAfter(output: string, label: string): number {
  const line = output.split("\n").find((candidate) => candidate.startsWith(label));
  if (line === undefined) throw new Error(`pgbench said nothing of "${label}":\n${output}`);
  return Number.parseFloat(line.slice(label.length));
}
