import { fork } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type pg from "pg";
import { processesOf, signal } from "../../src/local/postgres_process.ts";
import { dataDirectoryOf } from "../drills/system.ts";
import { markdownTable } from "../bench/report.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { processorMs } from "../helpers/processes/processor_time.ts";
import { cleanUpOnSignal } from "../helpers/processes/signals.ts";
import { until } from "../helpers/until.ts";
import { findFaults } from "./audit.ts";
import { openMover, preparedAt, recover } from "./moves.ts";
import type { Recovered } from "./moves.ts";
import { measureMoves, measureOrders } from "./orders.ts";
import type { Figures, Spread } from "./orders.ts";
import { connectTo, seedExchange, sides, startPrimary } from "./primaries.ts";
import type { Both, Exchange, Side } from "./primaries.ts";

/**
 * `npm run trial:two-primaries [-- --short]`: an exchange on two PostgreSQLs, each with markets of
 * its own, and cash that moves between them by two-phase commit. Measures orders in one and in two,
 * and with a share of orders that need cash from the other one first; then kills movers and
 * databases, and looks whether a cent is missing. Ends with 1 if one is. See docs/scaling.md.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });

const sizes = values.short
  ? { markets: 10, users: 20, workers: 4, seconds: 0.5, rounds: 1, kills: 5 }
  : { markets: 100, users: 400, workers: 8, seconds: 8, rounds: 3, kills: 30 };

/** What is killed, by turns. */
const targets: { name: string; movers?: true; primaries: Side[] }[] = [
  { name: "the movers", movers: true, primaries: [] },
  { name: "the first primary", primaries: [0] },
  { name: "the second primary", primaries: [1] },
  { name: "both primaries", primaries: [0, 1] },
  { name: "the movers and both primaries", movers: true, primaries: [0, 1] },
];

const spreads: Spread[] = [
  { name: "one primary", isOne: true },
  { name: "two primaries, no moves" },
  { name: "two, 1 % of orders with a move", moved: 0.01 },
  { name: "two, 10 %", moved: 0.1 },
  { name: "two, 10 %, moves gathered", moved: 0.1, isGathered: true },
  { name: "two, 50 %", moved: 0.5 },
  { name: "two, 50 %, moves gathered", moved: 0.5, isGathered: true },
];

const moves = [
  { name: "moves alone, one worker", workers: 1, isGathered: false },
  { name: "moves alone, all workers", workers: sizes.workers, isGathered: false },
  { name: "moves alone, all workers, gathered", workers: sizes.workers, isGathered: true },
];

const ALLOWANCE_CENTS = 2_000_000;

const RECOVER_EVERY_MS = 100;

const clusters: TemporaryCluster[] = [];
const destroy = async () => {
  await Promise.all(clusters.map((cluster) => cluster.destroy()));
};
cleanUpOnSignal(destroy);
try {
  while (clusters.length < sides.length) clusters.push(await startPrimary());
  process.exitCode = (await runTrial(clusters as Both<TemporaryCluster>)) ? 0 : 1;
} finally {
  await destroy();
}

async function runTrial(primaries: Both<TemporaryCluster>): Promise<boolean> {
  console.log(`${cpus().length} × ${cpus()[0]?.model}; load ${loadavg()[0]?.toFixed(1)}`);
  const addresses = primaries.map(({ server }) => server.connectionString) as Both<string>;
  const exchange = await seedExchange(addresses, sizes);
  await giveAllowances(exchange);
  console.log(table(await measureAll(exchange)));
  console.log(await timeRelay(exchange));
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  if (!(await isSound(exchange, new Set()))) return false;

  const decided = new Set<string>();
  const sum: Recovered = { finished: 0, rolledBack: 0 };
  for (let round = 0; round < sizes.kills; round++) {
    const target = targets[round % targets.length]!;
    const recovered = await killInTheMiddle(primaries, exchange, target, decided);
    sum.finished += recovered.finished;
    sum.rolledBack += recovered.rolledBack;
    if (!(await isSound(exchange, decided))) {
      console.error(`after round ${round + 1}: killed ${target.name}`);
      return false;
    }
  }
  console.log(
    `${sizes.kills} kills, ${decided.size} decided moves; recovery finished ${sum.finished} ` +
      `transactions and rolled back ${sum.rolledBack}. No cent is missing.`,
  );
  return true;
}

/** Each user gets an allowance from home, by a move. */
async function giveAllowances(exchange: Exchange): Promise<void> {
  const mover = await openMover(exchange.addresses);
  for (const side of sides) {
    const users = exchange.users.filter(({ home }) => home === side);
    await mover.move(
      side,
      users.map((user) => ({ user, amountCents: ALLOWANCE_CENTS })),
    );
  }
  await mover.end();
}

/** All measurements by turns, after one turn that does not count. */
async function measureAll(exchange: Exchange): Promise<Figures[][]> {
  const kinds = [
    ...spreads.map(
      (spread) => (seconds: number) =>
        measureOrders(exchange, spread, { workers: sizes.workers, seconds }),
    ),
    ...moves.map(
      ({ name, ...how }) =>
        (seconds: number) =>
          measureMoves(exchange, name, { ...how, seconds }),
    ),
  ];
  const figures: Figures[][] = kinds.map(() => []);
  if (!values.short) for (const measure of kinds) await measure(1);
  for (let round = 0; round < sizes.rounds; round++) {
    for (const [index, measure] of kinds.entries()) {
      figures[index]!.push(await measure(sizes.seconds));
    }
  }
  return figures;
}

/** Nothing was relayed so far: what one relay takes for what the first primary has to send. */
async function timeRelay({ addresses }: Exchange): Promise<string> {
  const client = await connectTo(addresses[0], "exchange_api");
  const { rows } = await client.query<{ id: number }>("select pg_backend_pid() as id");
  const processId = rows[0]!.id;
  const relay = async () => {
    const relayed = await client.query<{ sent: string }>("select api.relay_outbox() as sent");
    return Number(relayed.rows[0]!.sent);
  };
  await relay();
  const usedBefore = await processorMs(processId);
  let events = 0;
  for (let sent = await relay(); sent > 0; sent = await relay()) events += sent;
  const perEventUs = (((await processorMs(processId)) - usedBefore) * 1000) / events;
  await client.end();
  return `The relay sent ${events} events; each took ${perEventUs.toFixed(0)} µs of a processor.`;
}

function table(measured: Figures[][]): string {
  const heads = [
    "",
    "per second",
    "from, to",
    "median ms",
    "p99 ms",
    "with a move ms",
    "WAL bytes",
  ];
  const lines = measured.map((rounds) => {
    const rates = rounds.map(({ perSecond }) => perSecond).sort((a, b) => a - b);
    const all = rounds.flatMap((round) => round.all);
    const withMove = rounds.flatMap((round) => round.withMove);
    return [
      rounds[0]!.name,
      at(rates, 0.5).toFixed(0),
      `${rates[0]!.toFixed(0)} to ${rates.at(-1)!.toFixed(0)}`,
      at(all, 0.5).toFixed(1),
      at(all, 0.99).toFixed(1),
      withMove.length === 0
        ? "-"
        : `${at(withMove, 0.5).toFixed(1)}, p99 ${at(withMove, 0.99).toFixed(1)}`,
      at(
        rounds.map(({ walBytes }) => walBytes),
        0.5,
      ).toFixed(0),
    ];
  });
  return markdownTable(heads, lines);
}

/** The value below which this part of the values lies. */
function at(numbers: number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/**
 * Kills in the middle of moves. Recovery runs all the while, beside movers that go on; then the
 * movers are killed as well, and recovery ends what is left.
 */
async function killInTheMiddle(
  primaries: Both<TemporaryCluster>,
  exchange: Exchange,
  target: (typeof targets)[number],
  decided: Set<string>,
): Promise<Recovered> {
  const movers = fork(join(import.meta.dirname, "mover_process.ts"));
  movers.on("message", (references: string[]) => {
    for (const reference of references) decided.add(reference);
  });
  movers.send(exchange);
  const recovering = recoverAlways(exchange);
  const size = decided.size;
  await until("cash moves", async () => decided.size > size);
  await delay(100 + Math.random() * 700);
  if (target.movers) movers.kill("SIGKILL");
  for (const side of target.primaries) await kill(primaries[side]);
  await delay(1000);
  movers.kill("SIGKILL");
  return await recovering.stop();
}

/** SIGKILL to the server and all its processes. Its supervisor starts it again. */
async function kill(cluster: TemporaryCluster): Promise<void> {
  for (const processId of await processesOf(await dataDirectoryOf(cluster))) {
    signal(processId, "SIGKILL");
  }
}

/** Recovers again and again, whatever is down, until nothing is left and no mover is connected. */
function recoverAlways(exchange: Exchange): { stop: () => Promise<Recovered> } {
  const sum: Recovered = { finished: 0, rolledBack: 0 };
  const state = { isStopping: false };
  const run = async () => {
    for (;;) {
      await delay(RECOVER_EVERY_MS);
      const isClean = await withBoth(exchange, async (clients) => {
        const { finished, rolledBack } = await recover(clients);
        sum.finished += finished;
        sum.rolledBack += rolledBack;
        const left = await Promise.all(clients.map(preparedAt));
        return left.flat().length === 0 && !(await areMoversConnected(clients));
      }).catch(() => false);
      if (isClean && state.isStopping) return sum;
    }
  };
  const running = run();
  return {
    stop: async () => {
      state.isStopping = true;
      return await running;
    },
  };
}

/** A killed mover's sessions end when they notice; one may be about to prepare. */
async function areMoversConnected(clients: Both<pg.Client>): Promise<boolean> {
  const counts = await Promise.all(
    clients.map((client) =>
      client.query(
        `select from pg_stat_activity
         where application_name = 'pgmarkets trial' and pid <> pg_backend_pid()`,
      ),
    ),
  );
  return counts.some(({ rows }) => rows.length > 0);
}

async function isSound(exchange: Exchange, decided: ReadonlySet<string>): Promise<boolean> {
  const faults = await withBoth(exchange, (clients) => findFaults(clients, exchange, decided));
  for (const fault of faults.slice(0, 20)) console.error(fault);
  return faults.length === 0;
}

/** Works on a superuser's session at each primary. */
async function withBoth<T>(
  { addresses }: Exchange,
  work: (clients: Both<pg.Client>) => Promise<T>,
): Promise<T> {
  const clients: pg.Client[] = [];
  try {
    for (const address of addresses) clients.push(await connectTo(address));
    return await work(clients as Both<pg.Client>);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}
