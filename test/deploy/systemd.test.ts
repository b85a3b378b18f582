import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test from "ava";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { readText, rootDirectory } from "../helpers/repository.ts";
import { startProcess } from "../helpers/processes/service_process.ts";

/** The unit of deploy/systemd, for this checkout. */

const written = readText("deploy/systemd/pgmarkets@.service");
const unit = written.replaceAll("/srv/pgmarkets", rootDirectory);

const settingOf = (name: string): string =>
  new RegExp(`^${name}=(.*)$`, "m").exec(written)?.[1] ?? "";

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test("systemd finds no fault with the unit", async (t) => {
  if (!hasSystemd) {
    t.false(hasSystemd);
    t.log("skipped: systemd-analyze is not installed");
    return;
  }
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-unit-"));
  try {
    for (const instance of ["server", "worker", "server-b"]) {
      const file = join(directory, `pgmarkets@${instance}.service`);
      await writeFile(file, unit);
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
        encoding: "utf8",
      });
      // What it says of other units of this machine is not ours.
      const ours = stderr.split("\n").filter((line) => line.includes(basename(file)));
      t.deepEqual(ours, []);
      t.is(status, 0, stderr);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("the unit's command runs, and ends in order when systemd signals it twice", async (t) => {
  const [node = "", script = ""] = settingOf("ExecStart").split(" ");
  t.is(node, `${settingOf("WorkingDirectory")}/node_modules/.bin/node`);
  // The file of variables overrides the part: an instance of another name has it there.
  t.is(script, "src/bin/${PART}.ts");
  t.is(settingOf("Environment"), "NODE_ENV=production PART=%i");
  t.is(settingOf("EnvironmentFile"), "/etc/pgmarkets/%i.env");
  const database = await createDatabase({ empty: true });
  try {
    await migrateDatabase(database.connectionString);
    for (const [part, url, says] of [
      ["server", "API_DATABASE_URL", "listening on "],
      ["worker", "WORKER_DATABASE_URL", "working\n"],
    ] as const) {
      const running = startProcess(t, `${part}.ts`, {
        NODE_ENV: "production",
        [url]: database.connectionString,
      });
      t.true(await running.says(says), running.errors());
      running.kill("SIGTERM");
      running.kill("SIGTERM");
      t.is(await running.exited, 0, running.errors());
    }
  } finally {
    await database.drop();
  }
});

test("systemd waits longer than an end can take, and never gives up", (t) => {
  const source = readText("src/bin/run_process.ts");
  const msOf = (name: string): number =>
    Number(new RegExp(`^const ${name} = ([\\d_]+);`, "m").exec(source)?.[1]?.replaceAll("_", ""));
  const longestMs = msOf("CLOSING_TIMEOUT_MS") + msOf("FORCED_CLOSING_TIMEOUT_MS");
  t.true(longestMs > 0);
  t.true(Number(settingOf("TimeoutStopSec")) * 1000 > longestMs);
  t.is(settingOf("StartLimitIntervalSec"), "0");
});
