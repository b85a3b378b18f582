import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { conninfoOf, copyCluster } from "./copies.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { until } from "../helpers/until.ts";
import { startLoad } from "./load.ts";
import type { Journal } from "./load.ts";
import {
  commandsOf,
  countAnswers,
  hasDoubts,
  hasSurvived,
  newJournal,
  runDrill,
  seed,
  switchesHaveFired,
  withClient,
} from "./run.ts";
import { connectTo, dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:failover [-- --short]`: kills the primary under load for good and promotes its
 * synchronous standby. Everything that was acknowledged is there, and server and worker, which know
 * both hosts, go on by themselves, the worker after a kill of its own: also dead man's switches fire
 * there, and commands with keys stay done. Ends with 1 otherwise.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 1000 : 5000;

interface PairedSystem extends System {
  standby: TemporaryCluster;
}

/** A kill that meets no command shows nothing, and is done once more. */
const MOST_ATTEMPTS = 4;

for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
  const kill = { hasMet: false };
  await runDrill(startPair, async (system) => {
    const journal = newJournal();
    const isSound = await drill(system, journal);
    kill.hasMet = hasDoubts(journal);
    return isSound && (kill.hasMet || attempt < MOST_ATTEMPTS);
  });
  if (kill.hasMet || process.exitCode !== 0) break;
  console.log("no command was under way");
}

/** A primary, a standby that confirms each commit, and a server that knows both. */
async function startPair(): Promise<PairedSystem> {
  let standby: TemporaryCluster | undefined;
  const system = await startSystem({
    withWorker: true,
    prepare: async (primary) => {
      const copy = await copyCluster(primary);
      standby = await copy.start("standby", {
        primary_conninfo: conninfoOf(primary, "standby"),
      });
      await confirmCommits(primary);
      const hosts = [primary, standby].map(({ server }) => server.socketDirectory).join(",");
      return `postgresql://postgres@/pgmarkets?host=${hosts}&target_session_attrs=read-write`;
    },
  });
  if (standby === undefined) throw new Error("unreachable: prepare was called");
  const { server, destroy } = standby;
  return {
    ...system,
    standby,
    connect: () => connectTo(server.connectionString),
    destroy: async () => {
      await system.destroy();
      await destroy();
    },
  };
}

/** From now on a commit is answered when the standby has it on disk. */
async function confirmCommits({ server }: TemporaryCluster): Promise<void> {
  await withClient(
    () => connectTo(server.connectionString),
    async (client) => {
      await client.query("alter system set synchronous_standby_names = 'standby'");
      await client.query("select pg_reload_conf()");
      const synchronous = "select from pg_stat_replication where sync_state = 'sync'";
      await until(
        "the standby is synchronous",
        async () => (await client.query(synchronous)).rows.length > 0,
        30_000,
      );
    },
  );
}

async function drill(system: PairedSystem, journal: Journal): Promise<boolean> {
  const { cluster, url, connect } = system;
  const connectToPrimary = () => connectTo(cluster.server.connectionString);
  const { marketIds, apiKeys } = await withClient(connectToPrimary, seed);
  const load = startLoad({ url, marketIds, apiKeys, journal, withKeys: true });
  await delay(loadMs + Math.random() * 500);

  const began = performance.now();
  await system.killDatabase();
  system.killWorker();
  // Its supervisor would start it again: as after a real loss, it stays away.
  rmSync(join(await dataDirectoryOf(cluster), "postmaster.pid"), { force: true });
  await withClient(connect, (client) => client.query("select pg_promote(wait => true)"));
  await load.nextAccepted();
  const downMs = performance.now() - began;
  await delay(loadMs);
  await load.stop();
  await switchesHaveFired(connect);
  await load.repeat();

  console.log(
    `killed the primary, accepting again on the standby after ${downMs.toFixed(0)} ms; ` +
      countAnswers(commandsOf(journal)),
  );
  if (!(await hasSurvived(system, journal))) return false;
  console.log("everything acknowledged is on the new primary, and the ledger is sound");
  return true;
}
