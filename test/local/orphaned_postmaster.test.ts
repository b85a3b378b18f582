import { spawn, spawnSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { destroyEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import { rootDirectory } from "../helpers/repository.ts";

/**
 * In a container whose first process doesn't reap, a postmaster that outlived its starter and is
 * then killed stays a zombie for good: PostgreSQL takes it for alive.
 */

const ROUNDS = 3;

/** A process namespace of its own, in which the first process is a `sleep`. */
const unshare = [
  ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]),
  ...["--pid", "--fork", "--mount-proc", "--kill-child"],
];
const mayUnshare = spawnSync("unshare", [...unshare, "true"]).status === 0;

test("a killed server that stays a zombie is started again, and its users count again", async (t) => {
  if (!mayUnshare) {
    t.false(mayUnshare);
    t.log("skipped: no process namespace of its own is to be had here");
    return;
  }
  t.timeout(170_000);
  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-test-${process.pid}-`));
  const script = join(rootDirectory, "test/local/orphaned_postmaster.ts");
  const child = spawn(
    "unshare",
    [
      ...[...unshare, "sh", "-c", '"$@" & exec sleep 170', "sh"],
      ...[process.execPath, script, directory, String(ROUNDS)],
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  const ended = new Promise<void>((resolve) => {
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (/^(?:done|not so:.*)$/m.test(output)) resolve();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("close", resolve);
  });
  try {
    await ended;
    t.regex(output, /^done$/m, output);
  } finally {
    child.kill("SIGKILL");
    await destroyEmbeddedPostgres(directory);
  }
});
