import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import type { EmbeddedPostgres } from "../../src/local/embedded_postgres.ts";

/**
 * Run by `test/local/orphaned_postmaster.test.ts` where orphans stay zombies. Prints a line for
 * each round that went well, and what went wrong otherwise. With `hold` as its third argument, it
 * only starts the server and waits to be killed, so that the server becomes an orphan.
 */

const [directory = "", rounds = "1", hold] = process.argv.slice(2);

const notices: string[] = [];

const start = (): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({
    directory,
    settings: { shared_buffers: "16MB" },
    onNotice: (message) => notices.push(message),
  });

if (hold === "hold") {
  await start();
  process.stdout.write("up\n");
  setInterval(() => undefined, 1000);
} else {
  for (let round = 1; round <= Number(rounds); round++) await tryOnce(round);
  process.stdout.write("done\n");
}

async function tryOnce(round: number): Promise<void> {
  await orphanServer();
  const first = await start();
  check(first.adopted, "the orphaned server is adopted");
  const before = first.processId();
  process.kill(before, "SIGKILL");
  await until("the server is up again", () => Promise.resolve(first.processId() !== before));
  check(await isZombie(before), "the old postmaster is a zombie: else this tests nothing");
  check(await answers(first), "the new server answers");

  // As a second `npm start` whose port is taken.
  const second = await start();
  check((await second.stop()) === "left to others", "a second user leaves the server to the first");
  check(await answers(first), "the server goes on for the first user");
  await shutDownFromOutside(first);
  process.stdout.write(`round ${round} went well\n`);
}

/** A server that was shut down stays down; a later start is shared with the first user. */
async function shutDownFromOutside(first: EmbeddedPostgres): Promise<void> {
  const before = notices.length;
  process.kill(first.processId(), "SIGINT");
  await until("it is noticed", () =>
    Promise.resolve(notices.slice(before).some((notice) => notice.includes("stays down"))),
  );
  check(!(await answers(first)), "it stays down");
  const second = await start();
  await until("the first user has joined it", () =>
    Promise.resolve(first.processId() === second.processId()),
  );
  check((await second.stop()) === "left to others", "the first user counts again");
  check(await answers(first), "the server goes on for the first user");
  check((await first.stop()) === "stopped", "the last user stops the server");
}

/** Starts the server in a process that is killed. */
async function orphanServer(): Promise<void> {
  const [node, script = ""] = process.argv;
  const child = spawn(node ?? "", [script, directory, "0", "hold"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function answers({ connectionString }: EmbeddedPostgres): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function isZombie(processId: number): Promise<boolean> {
  const stat = await readFile(`/proc/${processId}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) fail(what);
    await delay(20);
  }
}

function check(isSo: boolean, what: string): void {
  if (!isSo) fail(what);
}

function fail(what: string): never {
  process.stdout.write(`not so: ${what}; notices:\n${notices.join("\n")}\n`);
  process.exit(1);
}
