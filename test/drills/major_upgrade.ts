import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import { findRunner, runProgram } from "../../src/local/postgres_process.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { runService } from "../helpers/processes/service_process.ts";
import { startLoad } from "./load.ts";
import type { Journal, Load } from "./load.ts";
import {
  commandsOf,
  countAnswers,
  isTrue,
  newJournal,
  runDrill,
  seed,
  switchesHaveFired,
  withClient,
} from "./run.ts";
import { startServer, startWorker } from "./server_process.ts";
import type { ServerProcess, WorkerProcess } from "./server_process.ts";
import { connectTo, dataDirectoryOf } from "./system.ts";
import {
  connectToCluster,
  copySchema,
  differingTables,
  finishUpgrade,
  lockDown,
  makeRoles,
  runStep,
  waitForStep,
} from "./upgrade_steps.ts";
import type { Pair } from "./upgrade_steps.ts";

/**
 * `npm run drill:major_upgrade [-- --short]`: upgrades PostgreSQL under load, as docs/operating/upgrade.md
 * says. What was acknowledged before is there once, a repeated key gets its first answer, and the
 * ledger is sound. Ends with 1 otherwise.
 *
 * By logical replication from Debian's oldest PostgreSQL to npm's 18, and back. npm's has no pg_dump
 * and no psql: those of Debian copy the schema. By pg_upgrade from Debian's oldest to its newest,
 * which may be the same version: npm's has no pg_upgrade. Without a PostgreSQL of Debian, the drill
 * says that it was skipped.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 700 : 6000;
const clients = values.short ? 8 : 16;

/** Of each client between two commands, so that the upgrade has some of the processor. */
const PAUSE_MS = 20;
/** More than these have ids after a little trading. */
const FEWEST_SEQUENCES = 10;

/** Server and worker on one cluster. */
interface Services {
  server: ServerProcess;
  worker: WorkerProcess;
}

/** Clusters, and what works on one of them. */
interface Site extends Pair {
  services: Services | undefined;
  destroy: () => Promise<void>;
}

const programs = findDebianPostgres();
if (programs === undefined) console.log("skipped: there is no PostgreSQL of Debian to upgrade");
else {
  const logical = { wal_level: "logical" };
  const older = { programsDirectory: programs, settings: logical };
  await runDrill(() => startSite(older, { settings: logical }), replicate);
  const newest = newestPrograms(programs);
  if (process.exitCode === 0) {
    await runDrill(() => startSite(older, { programsDirectory: newest }), upgradeInPlace);
  }
}

type ClusterOptions = Parameters<typeof startTemporaryCluster>[1];

/** An exchange on the old cluster, and an empty new one. */
async function startSite(older: ClusterOptions, newer: ClusterOptions): Promise<Site> {
  const old = await startTemporaryCluster("drill", older);
  let other: TemporaryCluster | undefined;
  const site = { services: undefined as Services | undefined };
  const destroy = async (): Promise<void> => {
    await site.services?.worker.end();
    await site.services?.server.end();
    await old.destroy();
    await other?.destroy();
  };
  try {
    other = await startTemporaryCluster("drill", newer);
    await migrateDatabase(old.server.connectionString);
    await lockDown(old);
    return Object.assign(site, { old, new: other, destroy });
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function startServices({ server }: TemporaryCluster): Promise<Services> {
  const worker = startWorker(server.connectionString);
  return { worker, server: await startServer(server.connectionString) };
}

async function stopServices(site: Site): Promise<void> {
  await Promise.all([site.services?.server.stop(), site.services?.worker.stop()]);
}

interface Seeded {
  marketIds: string[];
  apiKeys: string[];
}

/** Loads the services of the site, wherever they are, until the work is done. */
async function underLoad(
  site: Site,
  seeded: Seeded,
  journal: Journal,
  work: (load: Load) => Promise<boolean>,
): Promise<boolean> {
  const url = (): string => site.services?.server.url ?? "";
  const load = startLoad({ ...seeded, url, journal, clients, withKeys: true, pauseMs: PAUSE_MS });
  try {
    return await work(load);
  } finally {
    await load.stop();
  }
}

/** There and back by logical replication. */
async function replicate(site: Site): Promise<boolean> {
  const journal = newJournal();
  const seeded = await withClient(() => connectToCluster(site.old), seed);
  site.services = await startServices(site.old);
  return (
    (await underLoad(site, seeded, journal, async (load) => {
      await delay(loadMs);
      await subscribe(site);
      await delay(loadMs);
      await moveToNew(site, seeded, load);
      await delay(loadMs);
      return await isSound(site, site.new, load, journal);
    })) &&
    (await underLoad(site, seeded, journal, async (load) => {
      await delay(loadMs);
      await moveBack(site, seeded, load);
      await delay(loadMs);
      return await isSound(site, site.old, load, journal);
    }))
  );
}

/** Steps 1 to 3. */
async function subscribe(site: Site): Promise<void> {
  await makeRoles(site.new);
  await copySchema(site, programs ?? "");
  await runStep(site, "old publish");
  await runStep(site, "new subscribe");
  await waitForStep(site, "new copied");
}

/** Steps 4 to 7. */
async function moveToNew(site: Site, seeded: Seeded, load: Load): Promise<void> {
  const began = performance.now();
  await stopServices(site);
  await waitForStep(site, "old confirmed");
  await runStep(site, "new end");
  const checksMs = await timeOf(async () => {
    await expectSame(site, []);
    await isNotReady(site.new, seeded);
  });
  const sequences = await finishUpgrade(site.new);
  if (sequences < FEWEST_SEQUENCES) throw new Error(`Only ${sequences} sequences were set`);
  await runStep(site, "new publish");
  await runStep(site, "old subscribe");
  site.services = await startServices(site.new);
  await load.nextAccepted();
  report("moved to the new cluster", began, checksMs);
}

async function moveBack(site: Site, seeded: Seeded, load: Load): Promise<void> {
  const began = performance.now();
  await stopServices(site);
  await waitForStep(site, "new confirmed");
  await runStep(site, "old end");
  const checksMs = await timeOf(async () => {
    // The installation on the new cluster was before it published.
    await expectSame(site, ["installer.installations", "installer.objects"]);
    if (!values.short) await isNotReady(site.old, seeded);
  });
  await finishUpgrade(site.old);
  site.services = await startServices(site.old);
  await load.nextAccepted();
  report("moved back", began, checksMs);
}

/** Everything was replicated: all tables have the same rows, but for these. */
async function expectSame(pair: Pair, exceptions: string[]): Promise<void> {
  const tables = (await differingTables(pair)).filter((name) => !exceptions.includes(name));
  if (tables.length > 0) throw new Error(`Not the same on both clusters: ${tables.join(", ")}`);
}

/** Before the sequences are set, a server is not ready, and takes no order. */
async function isNotReady({ server }: TemporaryCluster, seeded: Seeded): Promise<void> {
  const early = runService("server.ts", { DATABASE_URL: server.connectionString });
  try {
    await early.says('"reason":"sequences_behind"');
    const log = early.errors();
    const url = /"url":"(\S+?)".*"listening, and not ready yet"/.exec(log)?.[1] ?? "";
    const ready = await fetch(`${url}/readyz`);
    const told = `${ready.status} ${await ready.text()}`;
    if (!/^503 .*sequences_behind/.test(told)) throw new Error(`/readyz says ${told}`);
    const order = { marketId: seeded.marketIds[0], side: "yes", price: 1, quantity: 1 };
    const placed = await fetch(`${url}/api/v1/orders`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${seeded.apiKeys[0] ?? ""}`,
      },
      body: JSON.stringify(order),
    });
    const answer = `${placed.status} ${await placed.text()}`;
    if (!answer.startsWith("503 ")) throw new Error(`An order was answered with ${answer}`);
  } finally {
    early.kill("SIGKILL");
    await early.exited;
  }
}

/** Ends the load, and compares what its clients were told with the database. */
async function isSound(
  site: Site,
  cluster: TemporaryCluster,
  load: Load,
  journal: Journal,
): Promise<boolean> {
  const connect = () => connectToCluster(cluster);
  await load.stop();
  await switchesHaveFired(connect);
  await load.repeat();
  const serverLog = (): string => site.services?.server.log() ?? "";
  if (!(await isTrue({ connect, serverLog }, journal))) return false;
  console.log(`  ${countAnswers(commandsOf(journal))}; all true, and the ledger is sound`);
  return true;
}

/** Says how long nothing was accepted, without the checks that only the drill makes. */
function report(what: string, began: number, checksMs = 0): void {
  const seconds = (performance.now() - began - checksMs) / 1000;
  console.log(`${what}, accepting again after ${seconds.toFixed(1)} s`);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The newest PostgreSQL of Debian. */
function newestPrograms(oldest: string): string {
  const root = dirname(dirname(oldest));
  const versions = readdirSync(root).filter((version) => /^1[5-8]$/.test(version));
  return join(root, versions.sort().at(-1) ?? "", "bin");
}

/** By pg_upgrade, with the services stopped. */
async function upgradeInPlace(site: Site): Promise<boolean> {
  const journal = newJournal();
  const seeded = await withClient(() => connectToCluster(site.old), seed);
  site.services = await startServices(site.old);
  return await underLoad(site, seeded, journal, async (load) => {
    await delay(loadMs);
    const began = performance.now();
    await stopServices(site);
    const newest = newestPrograms(programs ?? "");
    await runPgUpgrade(site, programs ?? "", newest);
    const { directory } = site.new;
    site.new.server = await startEmbeddedPostgres({ directory, programsDirectory: newest });
    const sequences = await finishUpgrade(site.new);
    if (sequences > 0) throw new Error(`pg_upgrade left ${sequences} sequences behind`);
    site.services = await startServices(site.new);
    await load.nextAccepted();
    const versions = [programs ?? "", newest].map((path) => basename(dirname(path)));
    report(`pg_upgrade from ${versions.join(" to ")}`, began);
    await delay(loadMs);
    return await isSound(site, site.new, load, journal);
  });
}

/** Stops both clusters and upgrades the old one into the new one, which has no database yet. */
async function runPgUpgrade(pair: Pair, older: string, newer: string): Promise<void> {
  const { connectionString } = pair.new.server;
  await withClient(
    () => connectTo(connectionString.replace("/pgmarkets?", "/postgres?")),
    (client) => client.query("drop database pgmarkets"),
  );
  await pair.old.server.stop();
  await pair.new.server.stop();
  const [from, to] = await Promise.all([dataDirectoryOf(pair.old), dataDirectoryOf(pair.new)]);
  const command = [
    ...["cd", pair.new.directory, "&&", join(newer, "pg_upgrade"), "--username=postgres"],
    ...[`--old-bindir=${older}`, `--new-bindir=${newer}`],
    ...[`--old-datadir=${from}`, `--new-datadir=${to}`, `--socketdir=${pair.new.directory}`],
  ];
  const { code, output } = await runProgram(findRunner(), "sh", ["-c", command.join(" ")]);
  if (code !== 0) throw new Error(`pg_upgrade ended with ${code ?? "a signal"}: ${output}`);
}
