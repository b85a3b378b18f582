import { setTimeout as delay } from "node:timers/promises";
import { until } from "../helpers/until.ts";
import type { Journal, Load } from "./load.ts";
import type { PatroniCluster, PatroniNode } from "./patroni_cluster.ts";
import { kill } from "./patroni_faults.ts";
import { commandsOf, countAnswers } from "./run.ts";
import type { ServerProcess } from "./server_process.ts";
import { connectTo } from "./system.ts";

/**
 * Two of the three nodes are lost, so commits wait; clients go on, and servers give up their calls.
 * The node that is back first is the one with WAL of its own. Then orders are accepted again, without
 * that anybody does anything.
 */

/** What is said of the round, as of a fault. */
export const ONE_NODE_LEFT = "left one node";

/** Longer than calls without a limit for logins need to fill the connections. */
export const WAITING_MS = 180_000;
const SEEN_EVERY_MS = 500;

export interface LastNodeOptions {
  site: PatroniCluster & { servers: ServerProcess[] };
  /** Starts clients of each server, which write into the journal. */
  startAll: () => Load[];
  journal: Journal;
  loadMs: number;
  mostMs: number;
  wholeMs: number;
}

/** Plays the round, and returns what was wrong. */
export async function leaveOneNode(options: LastNodeOptions): Promise<string[]> {
  const { site, journal, loadMs, mostMs, wholeMs } = options;
  const first = await site.whole(wholeMs);
  const loads = options.startAll();
  await delay(loadMs);
  const firstLoss = await kill.strike(first, site);
  let last: PatroniNode | undefined;
  await until(
    "another node is the primary",
    async () => (last = await site.findPrimary()) !== undefined && last !== first,
    mostMs,
  );
  await Promise.all(loads.map((load) => load.nextAccepted()));
  const second = site.nodes.find((node) => node !== first && node !== last)!;
  const secondLoss = await kill.strike(second, site);
  const refusals = await countRefusals(site, last!);
  const acceptedAt = Math.max(...loads.map((load) => load.lastAcceptedAt()));

  await firstLoss.repair();
  const began = performance.now();
  const backMs = await Promise.all(
    loads.map((load) => load.nextAccepted().then(() => performance.now() - began)),
  );
  await secondLoss.repair();
  await site.whole(wholeMs);
  await delay(loadMs);
  await Promise.all(loads.map((load) => load.stop()));
  const s = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `${ONE_NODE_LEFT} (${last!.name}) for ${s(WAITING_MS)}: accepting ${s(Math.max(...backMs))} ` +
      `after ${first.name} was back; ${countAnswers(commandsOf(journal))}`,
  );
  return [
    ...(refusals > 0 ? [`${last!.name} refused the login of pg_rewind ${refusals} times`] : []),
    ...(acceptedAt > began - WAITING_MS + mostMs ? ["orders were accepted by one node"] : []),
    ...backMs.filter((ms) => ms > mostMs).map((ms) => `accepting only after ${s(ms)}`),
    ...site.servers.filter(({ runs }) => !runs()).map(() => "a server ended"),
  ];
}

/** How often the node has no connection for those that a node which comes back needs. */
async function countRefusals(site: PatroniCluster, node: PatroniNode): Promise<number> {
  const address = site.addressOf("rewinder", node).replace("/pgmarkets", "/postgres");
  const end = performance.now() + WAITING_MS;
  let count = 0;
  while (performance.now() < end) {
    await connectTo(address).then(
      (client) => client.end(),
      () => count++,
    );
    await delay(SEEN_EVERY_MS);
  }
  return count;
}
