import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import {
  destroyEmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/local/embedded_postgres.ts";
import type { EmbeddedPostgres } from "../../src/local/embedded_postgres.ts";

// What the user's environment says is about another server.
process.env.PGPORT = "1";
process.env.PGSSLMODE = "require";

// Each of these starts a server: one at a time, in a directory too deep for a socket.
const DEEP = join("a".repeat(60), "b".repeat(60));

const roots: string[] = [];

async function makeDirectory(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), `pgmarkets-test-${process.pid}-`));
  roots.push(root);
  return join(root, DEEP);
}

test.after.always("remove the clusters", async () => {
  for (const root of roots) {
    await destroyEmbeddedPostgres(join(root, DEEP));
    await rm(root, { recursive: true });
  }
});

function start(directory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ directory, settings: { shared_buffers: "16MB" } });
}

async function query(server: EmbeddedPostgres, sql: string): Promise<any> {
  const client = new pg.Client({ connectionString: server.connectionString });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return rows[0];
  } finally {
    await client.end();
  }
}

async function succeeds<T>(attempt: () => Promise<T>, timeoutMs = 20_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}

function isAlive(processId: number): boolean {
  try {
    // A killed process whose parent doesn't wait for it is dead all the same.
    return !execFileSync("ps", ["-o", "stat=", "-p", String(processId)], {
      encoding: "utf8",
    }).startsWith("Z");
  } catch {
    return false;
  }
}

test.serial("several users share one server, and the last one stops it", async (t) => {
  const directory = await makeDirectory();
  const [first, second] = await Promise.all([start(directory), start(directory)]);
  t.is(first.processId(), second.processId());
  t.deepEqual([first.adopted, second.adopted].sort(), [false, true]);
  await query(first, "create table kept (id int)");

  t.is(await first.stop(), "left to others");
  t.deepEqual(await query(second, "select count(*)::int as rows from kept"), { rows: 0 });
  t.is(await second.stop(), "stopped");
  t.false(isAlive(second.processId()));

  const again = await start(directory);
  t.false(again.adopted);
  t.deepEqual(await query(again, "select count(*)::int as rows from kept"), { rows: 0 });
  t.is(await again.stop(), "stopped");
});

test.serial("committed rows survive kill -9 of the server, which is started again", async (t) => {
  const server = await start(await makeDirectory());
  await query(server, "create table kept as select 1 as id");
  const before = server.processId();
  process.kill(before, "SIGKILL");
  t.deepEqual(await succeeds(() => query(server, "select id from kept")), { id: 1 });
  await succeeds(async () => {
    if (server.processId() === before) throw new Error("not told yet");
  });
  t.is(await server.stop(), "stopped");
});

test.serial(
  "a lock file whose process id has gone to another process does not stop a start",
  async (t) => {
    const directory = await makeDirectory();
    const server = await start(directory);
    const lockFile = join(directory, "postgres", "postmaster.pid");
    const lock = await readFile(lockFile, "utf8");
    await server.stop("immediate");
    await writeFile(lockFile, lock.replace(/^\d+/, String(process.pid)));

    const again = await start(directory);
    t.deepEqual(await query(again, "select 1 as one"), { one: 1 });
    t.is(await again.stop(), "stopped");
  },
);

test.serial("it is UTF-8, durable, and by default listens to no network", async (t) => {
  const server = await start(await makeDirectory());
  const settings = await query(
    server,
    `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as synchronous_commit,
       current_setting('listen_addresses') as listen_addresses,
       current_setting('shared_buffers') as shared_buffers,
       current_setting('wal_compression') as wal_compression`,
  );
  t.deepEqual(settings, {
    encoding: "UTF8",
    fsync: "on",
    synchronous_commit: "on",
    listen_addresses: "",
    shared_buffers: "16MB",
    // Compressing costs processor time after each checkpoint, when most pages are written whole.
    wal_compression: "off",
  });
  t.is(await server.stop(), "stopped");
});
