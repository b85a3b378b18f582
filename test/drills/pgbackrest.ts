import { execFile, spawnSync } from "node:child_process";
import { chown, mkdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { lookAtRestore } from "../../src/doctor/look_at_server.ts";
import { startEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import { readDocument } from "../docs/document.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { readText } from "../helpers/repository.ts";
import { isOfMoment, tradeAround, whenOpen } from "./moment.ts";
import { countAnswers, commandsOf, runDrill, startDrillLoad, withClient } from "./run.ts";
import { connectTo, dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";

/**
 * `npm run drill:pgbackrest [-- --short]`: archives and backs up under load by Debian's pgBackRest
 * with deploy/pgbackrest/pgbackrest.conf, and restores to a moment between two trades, beside the data
 * that are there. Ends with 1 if what was answered before the moment is not there, if what came after
 * is, or if the ledger is not sound; also if last_backup.sql does not see the backups, or settings of
 * the restore stay.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 500 : 5000;

const programsDirectory = findDebianPostgres();
if (programsDirectory === undefined || spawnSync("pgbackrest", ["version"]).status !== 0) {
  console.log("skipped: there is no pgBackRest, or no PostgreSQL of Debian");
} else {
  await drillWith(programsDirectory);
}

async function drillWith(programs: string): Promise<void> {
  let pgbackrest: string[] = [];
  const start = (): Promise<System> =>
    startSystem({
      programsDirectory: programs,
      settings: { archive_mode: "on" },
      prepare: async (cluster) => {
        pgbackrest = ["pgbackrest", `--config=${await configure(cluster)}`, "--stanza=pgmarkets"];
        const { connectionString } = cluster.server;
        await withClient(
          () => connectTo(connectionString),
          async (client) => {
            const command = [...pgbackrest, "archive-push", "%p"].join(" ");
            await client.query(`alter system set archive_command = '${command}'`);
            await client.query("select pg_reload_conf()");
          },
        );
        await run(cluster, [...pgbackrest, "stanza-create"]);
        await run(cluster, [...pgbackrest, "check"]);
        return connectionString;
      },
    });

  await runDrill(start, async (system) => {
    const { cluster, connect } = system;
    const { journal, load } = await startDrillLoad(system);
    await delay(loadMs);
    await run(cluster, [...pgbackrest, "--type=full", "backup"]);
    await delay(loadMs);
    await run(cluster, [...pgbackrest, "--type=incr", "backup"]);
    await load.stop();
    const late = await lateBackup(cluster, programs, pgbackrest);
    console.log(`backed up twice under load; ${countAnswers(commandsOf(journal))}`);
    const moment = await tradeAround(connect);

    const data = await dataDirectoryOf(cluster);
    const owner = await stat(data);
    await cluster.server.stop("immediate");
    const began = performance.now();
    const directory = join(cluster.directory, "restored");
    const place = join(directory, basename(data));
    for (const path of [directory, place]) await makeDirectory(path, owner);
    const restoring = [`--pg1-path=${place}`, "--archive-mode=off", "--type=time"];
    const target = [`--target=${moment.at}`, "--target-action=promote"];
    await run(cluster, [...pgbackrest, ...restoring, ...target, "restore"]);
    const server = await startEmbeddedPostgres({ directory, programsDirectory: programs });
    try {
      const restored = await whenOpen(server.connectionString);
      console.log(`restored to ${moment.at} in ${(performance.now() - began).toFixed(0)} ms`);
      const isOpen = await isOfMoment({ ...system, connect: restored }, journal, moment);
      return (await losesSettings(restored)) && isOpen && late === "";
    } finally {
      await server.stop("immediate");
    }
  });
}

/** Whether the doctor names what the restore has set, until the page's statements take it out. */
async function losesSettings(connect: System["connect"]): Promise<boolean> {
  const { blocks } = readDocument("docs/operating/backup.md");
  const { text } = blocks.find(({ info }) => info === "restored settings")!;
  return await withClient(connect, async (client) => {
    const before = await lookAtRestore(client);
    for (const statement of text.split(/;$/m)) await client.query(statement);
    await client.query("select pg_reload_conf()");
    await delay(1000);
    const after = await lookAtRestore(client);
    for (const { problem } of [...before, ...after]) console.log(problem);
    return before.length === 1 && after.length === 0;
  });
}

/** What deploy/pgbackrest/last_backup.sql prints. */
async function lateBackup(
  { directory, server }: TemporaryCluster,
  programs: string,
  pgbackrest: string[],
): Promise<string> {
  const { uid, gid } = await stat(directory);
  const PGBACKREST_CONFIG = pgbackrest[1]!.replace("--config=", "");
  const { stdout, stderr } = spawnSync(
    join(programs, "psql"),
    ["-XAtq", `--dbname=${server.connectionString}`],
    {
      ...{
        uid,
        gid,
        cwd: "/",
        encoding: "utf8",
        env: { PATH: process.env.PATH, PGBACKREST_CONFIG },
      },
      input: readText("deploy/pgbackrest/last_backup.sql"),
    },
  );
  if (stdout + stderr !== "") console.log(stdout + stderr);
  return stdout + stderr;
}

/** The file of deploy/ with the places of this cluster, and the key in it. */
async function configure(cluster: TemporaryCluster): Promise<string> {
  const { directory, server } = cluster;
  const data = await dataDirectoryOf(cluster);
  const owner = await stat(data);
  const [repository, locks] = [join(directory, "repository"), join(directory, "locks")];
  for (const path of [repository, locks]) await makeDirectory(path, owner);
  const port = new URL(server.connectionString.replace("@/", "@host/")).searchParams.get("port");
  const places: [RegExp, string][] = [
    [/^repo1-path=.*/m, `repo1-path=${repository}\nlock-path=${locks}\nlog-level-file=off`],
    [/^(repo1-cipher-type=.*)/m, "$1\nrepo1-cipher-pass=the key of a drill"],
    [/^pg1-path=.*/m, `pg1-path=${data}\npg1-socket-path=${server.socketDirectory}`],
    [/$/, `pg1-port=${port ?? "5432"}\npg1-user=postgres\n`],
  ];
  const documented = readText("deploy/pgbackrest/pgbackrest.conf");
  const text = places.reduce((before, [what, by]) => before.replace(what, by), documented);
  const path = join(directory, "pgbackrest.conf");
  await writeFile(path, text, { mode: 0o600 });
  await chown(path, owner.uid, owner.gid);
  return path;
}

async function makeDirectory(path: string, owner: { uid: number; gid: number }): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  await chown(path, owner.uid, owner.gid);
}

/** Runs a program as the user of the server, who alone may read its files. */
async function run(cluster: TemporaryCluster, [program, ...args]: string[]): Promise<void> {
  const { uid, gid } = await stat(cluster.directory);
  await promisify(execFile)(program!, args, { uid, gid, cwd: "/" });
}
