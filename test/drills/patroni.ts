import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import type { Client } from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { readDocument } from "../docs/document.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { chooseSeed, randomFrom } from "../helpers/random.ts";
import { readText } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { hasProgram, installMissing } from "./debian_packages.ts";
import { startLoad } from "./load.ts";
import type { Journal, Load } from "./load.ts";
import { watchNode } from "./old_primary.ts";
import type { Seeded } from "./old_primary.ts";
import { startPatroniCluster, times } from "./patroni_cluster.ts";
import type { PatroniCluster, PatroniNode } from "./patroni_cluster.ts";
import { faultsOf, shortFaults } from "./patroni_faults.ts";
import type { Fault } from "./patroni_faults.ts";
import { leaveOneNode, ONE_NODE_LEFT, WAITING_MS } from "./patroni_last_node.ts";
import {
  addTo,
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
import type { ServerProcess } from "./server_process.ts";
import { connectTo } from "./system.ts";

/**
 * `npm run drill:patroni [-- --rounds 20] [--only disk] [--short]`: three nodes of Patroni with the files of
 * deploy/patroni, and a server and a worker by HAProxy and by all hosts each. In each round the primary
 * is killed, frozen, cut off from etcd, filled up, or switched over by hand, under load. At the end,
 * unless it is short, two nodes are lost for minutes, and nobody helps when one is back. Ends with 1
 * unless servers accept orders on another node in time, everything acknowledged is there once, the
 * ledger is sound, and the old primary took nothing after it was replaced. Installs Debian's packages
 * where they are missing; without them or without root, the drill says that it was skipped.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    only: { type: "string", default: "" },
    short: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds ?? (values.short ? shortFaults.length : 20));
const loadMs = values.short ? 1000 : 3000;

const CLIENTS_OF_A_SERVER = 16;
/** With it, 32 clients send about a hundred commands in a second. */
const PAUSE_MS = 250;
/** Two more are those of a server that knows one node only. */
const TRADERS = 2 * CLIENTS_OF_A_SERVER + 2;

/**
 * The lease of a lost primary ends `ttl` after it was last renewed. A standby then needs a round of
 * its loop at most, and a call of etcd, to take its place; commits wait until the other standby has
 * seen that in a round of its own. The rest is for promotion, checks of HAProxy, new connections.
 */
const mostMs = (times.ttl + 2 * times.loop_wait + times.retry_timeout + 15) * 1000;
const WHOLE_TIMEOUT_MS = 120_000;

const packages = [
  { program: "patroni", name: "patroni", service: "patroni" },
  { program: "etcd", name: "etcd-server", service: "etcd" },
  { program: "haproxy", name: "haproxy", service: "haproxy" },
  {
    program: join(findDebianPostgres() ?? "/usr/lib/postgresql", "initdb"),
    name: "postgresql",
    service: "postgresql",
  },
];

/** The cluster with what uses it. */
interface Site extends PatroniCluster {
  /** By HAProxy, and by all hosts. */
  servers: ServerProcess[];
  connect: () => Promise<Client>;
  /** Has something else end with the rest, whatever fails. */
  atEnd: (end: () => Promise<void>) => void;
}

chooseSeed();
installMissing(packages);
const isPossible =
  process.getuid?.() === 0 &&
  findDebianPostgres() !== undefined &&
  ["patroni", "etcd", "haproxy"].every(hasProgram);
if (isPossible) await runDrill(startSite, drill);
else console.log("skipped: needs root, and Debian's patroni, etcd-server, haproxy and postgresql");

async function startSite(): Promise<Site> {
  const cluster = await startPatroniCluster();
  const ends: (() => Promise<void>)[] = [cluster.destroy];
  const destroy = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    await install(cluster);
    const servers: ServerProcess[] = [];
    for (const path of ["proxy", "hosts"] as const) {
      const worker = startWorker(cluster.addressOf("markets_jobs", path));
      ends.push(worker.end);
      const server = await startServer(cluster.addressOf("markets_web", path));
      ends.push(server.end);
      servers.push(server);
    }
    const connect = () => connectTo(cluster.addressOf("postgres", "proxy"));
    const atEnd = (end: () => Promise<void>): void => void ends.push(end);
    return { ...cluster, servers, connect, atEnd, destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** The statements of docs/operating/install.md by the superuser, and the migration by all hosts. */
async function install(cluster: PatroniCluster): Promise<void> {
  const primary = (await cluster.findPrimary())!;
  await withClient(primary.connect, async (client) => {
    for (const statement of statementsBelow("Install on your own PostgreSQL")) {
      await client.query(statement);
    }
  });
  await migrateDatabase(cluster.addressOf("markets_deploy", "hosts"));
  await withClient(
    () => connectTo(cluster.addressOf("postgres", primary)),
    async (client) => {
      await client.query(readText("migrate/lock_down.sql"));
      for (const statement of statementsBelow("Lock down the database")) {
        await client.query(statement);
      }
    },
  );
}

/** What a superuser runs by a section of the page. */
function statementsBelow(wanted: string): string[] {
  return readDocument("docs/operating/install.md")
    .blocks.filter(({ heading, info }) => heading === wanted && info === "dba")
    .flatMap(({ text }) => text.split(/(?<=;)\n/));
}

async function drill(site: Site): Promise<boolean> {
  const whole = newJournal();
  const seeded = await withClient(site.connect, seedAll);
  const random = randomFrom("patroni");
  const possible = values.short ? shortFaults : faultsOf(site);
  const faults = possible.filter(({ what }) => what.includes(values.only));
  const repetitions = faults.length > 0 ? Math.ceil(rounds / faults.length) : 0;
  const order = Array.from({ length: repetitions }, () =>
    values.short ? faults : random.shuffled(faults),
  ).flat();
  for (const [index, fault] of order.slice(0, rounds).entries()) {
    process.stdout.write(`round ${index + 1}: `);
    try {
      if (!(await playRound(site, { fault, seeded, whole }))) return false;
    } catch (error) {
      console.error(await site.logs());
      throw error;
    }
  }
  if (!values.short && ONE_NODE_LEFT.includes(values.only)) {
    process.stdout.write("at the end: ");
    if (!(await playLastRound(site, { seeded, whole }))) return false;
  }
  await withClient(
    () => connectTo(site.addressOf("postgres", "standbys")),
    async (client) => {
      if (!(await isInRecovery(client))) throw new Error("HAProxy's standbys are none");
    },
  );
  console.log(
    `${order.length} rounds: ${commandsOf(whole).length} commands, what was answered is there once, ` +
      "no old primary took anything, and the ledger is sound",
  );
  return true;
}

async function seedAll(client: Client): Promise<Seeded> {
  const traders = await seed(client, TRADERS);
  const { rows } = await client.query(
    `select admin.create_user(
       email => 'depositor@drill.example', display_name => 'depositor', handle => 'depositor'
     ) as id`,
  );
  return { ...traders, depositorId: rows[0].id };
}

interface Round {
  fault: Fault;
  seeded: Seeded;
  whole: Journal;
}

async function playRound(site: Site, { fault, seeded, whole }: Round): Promise<boolean> {
  const old = await site.whole(WHOLE_TIMEOUT_MS);
  const before = await timelineOf(old);
  const journal = newJournal();
  const loads = startLoads(site, seeded, journal);
  const lone = await startServer(site.addressOf("markets_web", old));
  site.atEnd(lone.end);
  const watched = watchNode({ site, node: old, server: lone, seeded, journal });
  await delay(loadMs);

  const { began, repair } = await fault.strike(old, site);
  await until("another node is the primary", () => isReplaced(site, old), mostMs);
  const promotedMs = performance.now() - began;
  const backMs = await Promise.all(loads.map((load) => msUntilAccepted(load, began)));
  watched.isReplaced();
  await delay(loadMs);
  await repair();
  const primary = await site.whole(WHOLE_TIMEOUT_MS);
  const wholeMs = performance.now() - began;
  await delay(loadMs);
  await watched.stop();
  await Promise.all(loads.map((load) => load.stop()));
  await switchesHaveFired(site.connect);
  // Of the whole journal: any server knows the answers of the others.
  await loads[0]?.repeat();
  addTo(whole, journal);

  const [byProxy = NaN, byHosts = NaN] = backMs;
  const after = await timelineOf(primary);
  const s = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `${fault.what} (${old.name}, timeline ${before}): ${primary.name} (${after}) after ` +
      `${s(promotedMs)}, accepting by HAProxy after ${s(byProxy)}, by hosts after ${s(byHosts)}; ` +
      `whole after ${s(wholeMs)}; ${countAnswers(commandsOf(journal))}; ${watched.summary()}`,
  );
  const violations = [
    ...(await watched.findViolations(primary)),
    ...(await findRefusalViolations(site, old)),
    ...(after > before ? [] : [`timeline ${after} follows ${before}`]),
    ...backMs.filter((ms) => ms > mostMs).map((ms) => `accepting only after ${s(ms)}`),
    ...site.servers.filter(({ runs }) => !runs()).map(() => "a server ended"),
  ];
  const serverLog = () => site.servers.map(({ log }) => log()).join("\n");
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) console.error(serverLog());
  return (await isTrue({ connect: site.connect, serverLog }, whole)) && violations.length === 0;
}

/** Clients of each server. */
function startLoads(
  { servers }: Site,
  seeded: Seeded,
  journal: Journal,
  patienceMs?: number,
): Load[] {
  return servers.map(({ url }, index) =>
    startLoad({
      ...{ url, ...seeded, journal, withKeys: true, pauseMs: PAUSE_MS },
      ...{ clients: CLIENTS_OF_A_SERVER, firstClient: index * CLIENTS_OF_A_SERVER },
      ...(patienceMs !== undefined && { patienceMs }),
    }),
  );
}

async function playLastRound(
  site: Site,
  { seeded, whole }: Pick<Round, "seeded" | "whole">,
): Promise<boolean> {
  const journal = newJournal();
  const startAll = (): Load[] => startLoads(site, seeded, journal, WAITING_MS + mostMs);
  const violations = await leaveOneNode({
    ...{ site, startAll, journal, loadMs, mostMs, wholeMs: WHOLE_TIMEOUT_MS },
  }).catch(async (error: unknown) => {
    console.error(await site.logs());
    throw error;
  });
  await switchesHaveFired(site.connect);
  addTo(whole, journal);
  const serverLog = () => site.servers.map(({ log }) => log()).join("\n");
  for (const violation of violations) console.error(violation);
  return (await isTrue({ connect: site.connect, serverLog }, whole)) && violations.length === 0;
}

async function isReplaced(site: PatroniCluster, old: PatroniNode): Promise<boolean> {
  const primary = await site.findPrimary();
  return primary !== undefined && primary !== old;
}

async function msUntilAccepted(load: Load, began: number): Promise<number> {
  await load.nextAccepted();
  return performance.now() - began;
}

/** What a primary writes its WAL in. */
async function timelineOf(primary: PatroniNode): Promise<number> {
  return await withClient(primary.connect, async (client) => {
    const { rows } = await client.query(
      "select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as id",
    );
    return rows[0].id;
  });
}

/** The old primary is a standby, and takes no write. */
async function findRefusalViolations(site: Site, old: PatroniNode): Promise<string[]> {
  return await withClient(
    () => connectTo(site.addressOf("postgres", old)),
    async (client) => {
      if (!(await isInRecovery(client))) return [`${old.name} is no standby`];
      const sqlstate = await client.query("create table drill ()").then(
        () => "",
        (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
      );
      return sqlstate === "25006"
        ? []
        : [`${old.name} answers a write with ${sqlstate ?? "no error"}`];
    },
  );
}

async function isInRecovery(client: Client): Promise<boolean> {
  const { rows } = await client.query("select pg_is_in_recovery() as yes");
  return rows[0].yes;
}
