import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "pg";
import { call } from "../../src/database/call.ts";
import type { DatabaseFunction, Fields } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { publicReadNames } from "../../src/database/public_reads.ts";
import { processesOf, signal } from "../../src/local/postgres_process.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { publicArguments } from "../helpers/exchange/public_arguments.ts";
import { until } from "../helpers/until.ts";
import { findViolations } from "./check.ts";
import { conninfoOf, copyCluster } from "./copies.ts";
import { newJournal, runDrill, seed, withClient } from "./run.ts";
import { startServer } from "./server_process.ts";
import type { ServerProcess } from "./server_process.ts";
import { startReaders } from "./standby_readers.ts";
import type { Readers } from "./standby_readers.ts";
import { connectTo, dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:standby_reads [-- --short]`: two servers that read from two standbys, under orders and
 * reads. The standbys are killed, frozen, held back, made to follow a lost primary, and promoted.
 * Ends with 1 if a client sees an error meanwhile, or less than the order that it has just placed, or if
 * a stream goes back; and unless each standby is left and taken back.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const holdMs = values.short ? 2500 : 8000;
const repetitions = values.short ? 1 : 4;

const CLIENTS = 8;
/** A killed standby recovers first. */
const PATIENCE_MS = 60_000;

interface Standby extends TemporaryCluster {
  /** From 0, as in /readyz. */
  place: number;
}

interface ReadSystem extends System {
  other: ServerProcess;
  standbys: [Standby, Standby];
}

await runDrill(start, drill);

async function start(): Promise<ReadSystem> {
  const clusters: TemporaryCluster[] = [];
  let variables: Record<string, string> = {};
  let hosts = "";
  const system = await startSystem({
    settings: { wal_keep_size: "512MB" },
    prepare: async (primary) => {
      for (const name of ["one", "two"]) clusters.push(await startStandby(primary, name));
      await confirmCommits(primary);
      const reads = clusters.map(({ server }) => server.socketDirectory).join(",");
      variables = {
        READ_DATABASE_URL: `postgresql://postgres@/pgmarkets?host=${reads}`,
      };
      hosts = `postgresql://postgres@/pgmarkets?host=${primary.server.socketDirectory},${reads}`;
      return hosts;
    },
    variables: () => variables,
  });
  const [one, two] = clusters;
  if (one === undefined || two === undefined) throw new Error("unreachable: both were started");
  const other = await startServer(hosts, variables);
  return {
    ...system,
    other,
    standbys: [
      { ...one, place: 0 },
      { ...two, place: 1 },
    ],
    destroy: async () => {
      await other.end();
      await system.destroy();
      await Promise.all(clusters.map(({ destroy }) => destroy()));
    },
  };
}

async function startStandby(primary: TemporaryCluster, name: string): Promise<TemporaryCluster> {
  const copy = await copyCluster(primary);
  const primary_conninfo = conninfoOf(primary, name);
  return await copy.start("standby", { primary_conninfo, hot_standby_feedback: "on" });
}

/** A commit is answered when one of the standbys has it: the other one may show it before. */
async function confirmCommits(primary: TemporaryCluster): Promise<void> {
  await run(primary, "alter system set synchronous_standby_names = 'any 1 (one, two)'");
  await run(primary, "select pg_reload_conf()");
}

async function run({ server }: TemporaryCluster, statement: string): Promise<void> {
  await withClient(
    () => connectTo(server.connectionString),
    (client) => client.query(statement),
  );
}

async function drill(system: ReadSystem): Promise<boolean> {
  const { connect, url, other, standbys } = system;
  const urls = [url, other.url];
  const { marketIds, apiKeys } = await withClient(connect, seed);
  await untilStatus(urls, [0, "in use"], [1, "in use"]);
  await withClient(
    () => connectTo(standbys[0].server.connectionString),
    (client) => callAll(client, marketIds[0]),
  );
  const readers = startReaders({ urls, marketIds, apiKeys: apiKeys.slice(0, CLIENTS) });

  for (let repetition = 0; repetition < repetitions; repetition++) {
    await tell("both standbys in use", urls, readers);
    for (const standby of standbys) {
      await killed(standby, urls);
      await frozen(standby, urls);
      await heldBack(standby, urls);
      await tell(`standby ${standby.place + 1} was killed, frozen and held back`, urls, readers);
    }
  }
  const [next, follower] = await failedOver(system, readers);
  await tell("one standby is the primary, the other one follows again", urls, readers);

  await run(follower, "select pg_promote()");
  await untilStatus(urls, [follower.place, "not of this primary"]);
  await delay(holdMs);
  const faults = await readers.stop();
  const violations = await withClient(
    () => connectTo(next.server.connectionString),
    (client) => findViolations(client, newJournal()),
  );
  for (const fault of [...faults, ...violations].slice(0, 20)) console.error(fault);
  if (faults.length > 0) console.error(`${faults.length} faults`);
  console.log(`${readers.count()} reads were answered`);
  return faults.length + violations.length === 0;
}

/** A standby has no unlogged tables: each function must do without them. */
async function callAll(client: Client, marketId: string | undefined): Promise<void> {
  await client.query("set role exchange_api");
  for (const name of publicReadNames) {
    const called = api[name] as unknown as DatabaseFunction<Fields, unknown>;
    await call(client, called, publicArguments(called, marketId));
  }
  await client.query("set role exchange_operator");
  await client.query("select * from admin.health");
}

async function killed(standby: Standby, urls: string[]): Promise<void> {
  const processes = await processesOf(await dataDirectoryOf(standby));
  for (const processId of processes) signal(processId, "SIGKILL");
  await untilStatus(urls, [standby.place, "away"]);
  await untilStatus(urls, [standby.place, "in use"]);
}

async function frozen(standby: Standby, urls: string[]): Promise<void> {
  const processes = await processesOf(await dataDirectoryOf(standby));
  for (const processId of processes) signal(processId, "SIGSTOP");
  await untilStatus(urls, [standby.place, "away"]);
  await delay(holdMs);
  for (const processId of processes) signal(processId, "SIGCONT");
  await untilStatus(urls, [standby.place, "in use"]);
}

async function heldBack(standby: Standby, urls: string[]): Promise<void> {
  await run(standby, "select pg_wal_replay_pause()");
  await untilStatus(urls, [standby.place, "behind"]);
  await delay(holdMs);
  await run(standby, "select pg_wal_replay_resume()");
  await untilStatus(urls, [standby.place, "in use"]);
}

/**
 * The standby that is ahead takes over, since the other one may lack what was acknowledged, and could
 * not be followed by it. That one still follows the lost primary, and then the new one.
 */
async function failedOver(
  { cluster, standbys, url, other, killDatabase }: ReadSystem,
  readers: Readers,
): Promise<[next: Standby, follower: Standby]> {
  const urls = [url, other.url];
  readers.excuse();
  await killDatabase();
  rmSync(join(await dataDirectoryOf(cluster), "postmaster.pid"), { force: true });
  const [first, second] = standbys;
  const isAhead = (await receivedBy(first)) > (await receivedBy(second));
  const [next, follower] = isAhead ? [first, second] : [second, first];
  await run(next, "select pg_promote()");
  await untilStatus(urls, [0, "not of this primary"], [1, "not of this primary"]);
  await delay(holdMs);
  readers.demand();
  await delay(holdMs);
  const conninfo = conninfoOf(next, `standby_${follower.place + 1}`);
  await run(follower, `alter system set primary_conninfo = '${conninfo}'`);
  await run(follower, "select pg_reload_conf()");
  await delay(1000);
  await run(next, "checkpoint");
  await delay(1000);
  await run(follower, "checkpoint");
  await untilStatus(urls, [follower.place, "in use"]);
  return [next, follower];
}

/** How far a standby has received the WAL of a primary that is gone. */
async function receivedBy({ place, server }: Standby): Promise<number> {
  return await withClient(
    () => connectTo(server.connectionString),
    async (client) => {
      const read = async () => {
        const { rows } = await client.query<{ is_receiving: boolean; bytes: string }>(
          `select exists (select from pg_stat_wal_receiver as r where r.status = 'streaming')
             as is_receiving, pg_last_wal_receive_lsn() - '0/0' as bytes`,
        );
        return rows[0];
      };
      await until(
        `standby ${place + 1} has received all`,
        async () => (await read())?.is_receiving === false,
      );
      return Number((await read())?.bytes);
    },
  );
}

/** Until all servers say so of these standbys. */
async function untilStatus(urls: string[], ...wanted: [number, string][]): Promise<void> {
  const isSo = async (url: string): Promise<boolean> => {
    const response = await fetch(`${url}/readyz`);
    const { standbys = [] } = (await response.json()) as { standbys?: { status: string }[] };
    return wanted.every(([place, status]) => standbys[place]?.status === status);
  };
  const text = wanted.map(([place, status]) => `standby ${place + 1} is ${status}`).join(", ");
  await until(text, async () => (await Promise.all(urls.map(isSo))).every(Boolean), PATIENCE_MS);
}

/** Prints who answered so far, and wants that standbys do. */
async function tell(what: string, urls: string[], readers: Readers): Promise<void> {
  const before = await countReads(urls);
  await delay(holdMs);
  const after = await countReads(urls);
  const [byStandbys, byPrimary] = [after[0] - before[0], after[1] - before[1]];
  console.log(
    `${what}: of the last reads standbys answered ${byStandbys}, the primary ${byPrimary}; ` +
      `${readers.count()} in all`,
  );
  if (byStandbys <= byPrimary) throw new Error("The standbys answered less than half of the reads");
}

/** By standbys, and by the primary. */
async function countReads(urls: string[]): Promise<[number, number]> {
  const counts: [number, number] = [0, 0];
  for (const url of urls) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = text.matchAll(/^pgmarkets_public_reads_total\{answered_by="(\w+)"\} (\d+)/gm);
    for (const [, by, count] of lines) counts[by === "primary" ? 1 : 0] += Number(count);
  }
  return counts;
}
