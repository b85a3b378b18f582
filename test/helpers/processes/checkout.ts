import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { destroyEmbeddedPostgres } from "../../../src/local/embedded_postgres.ts";
import { rootDirectory } from "../repository.ts";

/** A copy of what runs, whose `.data/` is its own. */
export interface Checkout {
  directory: string;
  /** Where its embedded PostgreSQL keeps its data. */
  dataDirectory: string;
  /** The processes that work in it or run a file of it, whatever they descend from. */
  processes: () => Promise<CheckoutProcess[]>;
  destroy: () => Promise<void>;
}

export interface CheckoutProcess {
  processId: number;
  command: string;
}

/** What the service reads, but for its dependencies, and the website if it is built. */
const needed = ["db", "jobs", "migrate", "src", "package.json", "package-lock.json", ".npmrc"];
const copied = [...needed, "tsconfig.json", "dist"];

/** Copies the checkout but for its dependencies, which are linked to. */
export async function makeCheckout(): Promise<Checkout> {
  const made = await mkdtemp(join(tmpdir(), `pgmarkets-checkout-${process.pid}-`));
  const directory = await realpath(made);
  for (const name of copied.filter((name) => existsSync(join(rootDirectory, name)))) {
    await cp(join(rootDirectory, name), join(directory, name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  await symlink(join(rootDirectory, "node_modules"), join(directory, "node_modules"));
  return {
    directory,
    dataDirectory: join(directory, ".data", "postgres"),
    processes: () => processesIn(directory),
    destroy: async () => {
      for (const { processId } of await processesIn(directory)) kill(processId, "SIGKILL");
      await destroyEmbeddedPostgres(join(directory, ".data"));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function processesIn(directory: string): Promise<CheckoutProcess[]> {
  const processIds = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    processIds.map(async (processId) => {
      const workingDirectory = await readlink(`/proc/${processId}/cwd`).catch(() => "");
      const isHere = `${workingDirectory}/`.startsWith(`${directory}/`);
      const commandLine = await readFile(`/proc/${processId}/cmdline`, "utf8").catch(() => "");
      const command = commandLine.split("\0").join(" ").trim();
      return isHere ? [{ processId, command }] : [];
    }),
  );
  return found.flat();
}

/** A process that has gone meanwhile is no error. */
export function kill(processId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
