import { spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import { createDatabase } from "../helpers/database.ts";
import type { OwnDatabase } from "../helpers/database.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { callService } from "./test_service.ts";

interface Running {
  output: () => string;
  errors: () => string;
  /** Settles with the address that it prints, undefined if it ends before. */
  listening: Promise<string | undefined>;
  exited: Promise<number | null>;
  kill: (signal: NodeJS.Signals) => void;
}

/** A file of src/, or a script of package.json. */
function start(
  t: ExecutionContext,
  script: string,
  database: OwnDatabase,
  environment: Record<string, string> = {},
): Running {
  const [command, ...options] = script.endsWith(".ts")
    ? [process.execPath, join(rootDirectory, "src", script)]
    : ["npm", "run", "--silent", script];
  const child = spawn(command, options, {
    cwd: rootDirectory,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.connectionString,
      PORT: "0",
      DEMO: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  const exited = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  const listening = new Promise<string | undefined>((resolve) => {
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      const url = /^listening on (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    void exited.then(() => {
      resolve(undefined);
    });
  });
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  t.teardown(() => child.kill("SIGKILL"));
  return {
    output: () => output,
    errors: () => errors,
    listening,
    exited,
    kill: (signal) => child.kill(signal),
  };
}

async function withEmptyDatabase(work: (database: OwnDatabase) => Promise<void>) {
  const database = await createDatabase({ empty: true });
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

test("npm run server refuses a database that is not migrated, and says what to do", async (t) => {
  await withEmptyDatabase(async (database) => {
    const server = start(t, "server.ts", database);
    t.is(await server.exited, 1);
    t.is(server.output(), "");
    t.regex(server.errors(), /^The database lacks .*: run npm run migrate .*\n$/);
  });
});

test("npm start migrates and listens; npm run server serves beside it; signals end both", async (t) => {
  await withEmptyDatabase(async (database) => {
    const all = start(t, "index.ts", database);
    const url = await all.listening;
    t.truthy(url, all.errors());
    t.deepEqual((await callService(url!, "GET", "/healthz")).body, { status: "ok" });
    t.is((await callService(url!, "GET", "/api/v1/me")).status, 401);
    t.false(all.output().includes("jk_"));

    const server = start(t, "server", database);
    const otherUrl = await server.listening;
    t.truthy(otherUrl, server.errors());
    const market = "/api/v1/markets/01900000-0000-7000-8000-000000000000";
    t.is((await callService(otherUrl!, "GET", market)).status, 404);

    all.kill("SIGINT");
    // Passed on by npm: whoever supervises npm must not be left with a server of nobody's.
    server.kill("SIGTERM");
    t.is(await all.exited, 0);
    t.is(await server.exited, 0);
  });
});

test("a port in use and a faulty environment are told in a line, without a stack", async (t) => {
  await withEmptyDatabase(async (database) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const port = String((other.address() as AddressInfo).port);
    const first = start(t, "index.ts", database, { PORT: port });
    t.is(await first.exited, 1);
    t.regex(first.errors(), /^listen EADDRINUSE.*$/m);
    t.notRegex(first.errors(), /\n +at /);
    other.close();

    for (const script of ["server.ts", "migrate.ts"]) {
      const second = start(t, script, database, { PORT: "no" });
      t.is(await second.exited, 1);
      t.is(second.errors(), "The environment has errors: PORT must be a whole number\n");
    }
  });
});
