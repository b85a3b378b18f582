import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { connectionStringFor } from "../helpers/database/test_database.ts";
import { readText, rootDirectory } from "../helpers/repository.ts";

/** What says that backups have stopped; `npm run drill:pgbackrest` makes real ones. */

test("cron reads each line: five times, the user, and a command without %", (t) => {
  const lines = readText("deploy/pgbackrest/cron").split("\n");
  const jobs = lines.filter((line) => /^[\d*]/.test(line));
  t.is(jobs.length, 4);
  for (const job of jobs) {
    t.regex(job, /^(?:[\d*-]+ ){5}postgres \S/);
    // To cron it is the end of the line.
    t.false(job.includes("%"), job);
  }
});

const psqlTest = spawnSync("psql", ["--version"]).status === 0 ? test : test.skip;

psqlTest("a line is printed if the last good backup is old, missing or not to be read", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "pgmarkets-backups-"));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(rootDirectory, "deploy/pgbackrest/last_backup.sql");
  const hoursAgo = (hours: number) => Math.floor(Date.now() / 1000) - hours * 3600;
  /** What it prints when pgBackRest prints this. */
  const says = (info: string): string => {
    const program = `#!/bin/sh\ncat <<'END'\n${info}\nEND\n`;
    writeFileSync(join(directory, "pgbackrest"), program, { mode: 0o755 });
    const { stdout, stderr } = spawnSync(
      "psql",
      ["-XAtq", `--dbname=${connectionStringFor("postgres")}`, `--file=${file}`],
      { encoding: "utf8", env: { PATH: `${directory}:${process.env.PATH ?? ""}` } },
    );
    return stdout + stderr;
  };
  const infoOf = (...backups: object[]): string => JSON.stringify([{ backup: backups }]);
  const backup = (hours: number, error?: boolean) => ({
    ...{ error, timestamp: { stop: hoursAgo(hours) } },
  });
  t.is(says(infoOf(backup(50), backup(25, false))), "");
  t.is(says(infoOf(backup(25))), "", "an old pgBackRest says nothing of errors");
  t.regex(says(infoOf(backup(50, false), backup(27, false))), /^The last backup .* ended 20/);
  t.regex(says(infoOf(backup(27, false), backup(1, true))), /^The last backup .* ended 20/);
  t.is(says(infoOf()), "The last backup of pgBackRest ended never\n");
  t.is(says("[]"), "The last backup of pgBackRest ended never\n");
  t.regex(says(""), /ERROR/);
});
