import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { OrderRequest, OrderTerms, CommandResult } from "../../src/database/calls.ts";
import { makePool } from "../../src/database/pools.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import { checkAndDrop, expectCount, readNumber } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import { place, placeMany } from "./orders.ts";
import type { Result } from "./report.ts";
import { roundsOf } from "./rounds.ts";

/** Shares that one order may take, and so the most one-share orders that it can meet. */
const MOST_SHARES = 10_000;
const QUEUE_PRICE = 45;
const OTHERS = 8;

/** The traders of this benchmark; all others make the queues. */
const taker = publicId(1);
const poorTaker = publicId(2);
const makerWithoutCash = publicId(3);
const ownOrderTaker = publicId(4);
const limitedTaker = publicId(5);
const FIRST_MAKER = 6;

const rejections: Record<string, string> = {
  "rejected post-only order": "POST_ONLY_WOULD_CROSS",
  "rejected by a loss limit": "LOSS_LIMIT",
};

/**
 * What one long queue of one-share orders costs: those who take it, those who are rejected at it,
 * and those who trade beside them while it is cleared because its maker can't pay.
 */
export async function measureLongQueues(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase("long_queues");
  const { connectionString, pool } = database;
  const api = makePool({ connectionString, role: "exchange_api", max: OTHERS });
  const queue = Math.min(MOST_SHARES, sizes.longQueue);
  await leaveCents(pool, poorTaker, 1);
  await leaveCents(pool, ownOrderTaker, 100);
  await pool.query("select admin.set_loss_limits($1, 100, null, null)", [limitedTaker]);

  const times: Record<string, number[]> = {};
  const note = (name: string, milliseconds: number) => {
    (times[name] ??= []).push(milliseconds);
    console.error(`  long queues, ${name}: ${Math.round(milliseconds)} ms`);
  };
  const makers = (index: number) =>
    publicId(FIRST_MAKER + (index % (sizes.traders - FIRST_MAKER + 1)));
  // Each round has markets of its own; the one before is no part of the figures.
  for (const { round, isCounted } of roundsOf(sizes)) {
    const market = 2 * round + 1;
    await makeQueue(pool, market, queue, makers);
    const buy: OrderTerms = { userId: poorTaker, side: "yes", price: 99, quantity: MOST_SHARES };
    await place(pool, market, [{ userId: ownOrderTaker, side: "no", price: 1, quantity: 1 }]);
    for (const [name, request] of Object.entries({
      "rejected limit order": buy,
      // One share more would reach the own order, which comes before the want of cash.
      "rejected order with an own one": { ...buy, userId: ownOrderTaker, quantity: queue },
      "rejected by a loss limit": { ...buy, userId: limitedTaker },
      "rejected post-only order": { ...buy, price: 98, postOnly: true },
      "rejected budget order": { ...buy, price: null, quantity: null, budgetCents: 1_000_000 },
    })) {
      const { milliseconds, outcome } = await timeOrder(api, market, request);
      expectCode(outcome, rejections[name] ?? "INSUFFICIENT_BALANCE");
      if (isCounted) note(name, milliseconds);
    }
    const taken = await timeOrder(api, market, { ...buy, userId: taker, quantity: queue });
    expectCode(taken.outcome, null);
    if (isCounted) note("order that takes them all", taken.milliseconds);

    const clearing = await timeClearing(bench, database, api, market + 1);
    if (isCounted) {
      note("clearing, all of it", clearing.milliseconds);
      note("clearing, longest wait of others", clearing.longestWait);
    }
  }
  await api.end();
  await checkAndDrop(database);

  const orders = queue.toLocaleString("en");
  const dead = sizes.longQueue.toLocaleString("en");
  const targets: [name: string, target: string, must: number, aim: number][] = [
    ["rejected limit order", `limit order of one cent at ${orders} one-share orders`, 50, 25],
    ["rejected post-only order", `post-only order at the same`, 50, 25],
    ["rejected budget order", `budget order of one cent at the same`, 50, 25],
    ["rejected order with an own one", `order with an own one far behind it`, 50, 25],
    ["rejected by a loss limit", `order above a loss limit at the same`, 50, 25],
    ["order that takes them all", `order that takes ${orders} one-share orders`, 600, 300],
    ["clearing, all of it", `${dead} orders of a maker without cash cleared by takers`, 2000, 1000],
    ["clearing, longest wait of others", `longest wait of others meanwhile`, 250, 125],
  ];
  return targets.map(([name, target, must, aim]) => {
    return { target, unit: "ms", must, aim, ours: times[name] ?? [] };
  });
}

/** Resting NO orders of one share each, all at one price. */
async function makeQueue(
  pool: Pool,
  market: number,
  length: number,
  makerOf: (index: number) => string,
): Promise<void> {
  const requests = Array.from({ length }, (_, index): OrderTerms => ({
    userId: makerOf(index),
    side: "no",
    price: QUEUE_PRICE,
    quantity: 1,
  }));
  await placeMany(pool, market, requests);
}

async function leaveCents(pool: Pool, user: string, cents: number): Promise<void> {
  await pool.query(
    `select admin.withdraw(
       user_id => $1, amount_cents => a.balance_cents - $2, reference => gen_random_uuid()::text
     )
     from ledger.accounts as a
     join identity.users as u on u.id = a.user_id
     where u.public_id = $1 and a.balance_cents > $2`,
    [user, cents],
  );
}

async function timeOrder(
  api: Pool,
  market: number,
  request: OrderTerms,
): Promise<{ milliseconds: number; outcome: CommandResult }> {
  const gatherer = createOrderGatherer({ pool: api });
  const began = performance.now();
  const order = { marketId: publicId(market), ...request, idempotencyKey: randomUUID() };
  const outcome = await gatherer.place(order);
  return { milliseconds: performance.now() - began, outcome };
}

/** One taker meets the queue of a maker without cash, while others rest orders in that market. */
async function timeClearing(
  { sizes }: Bench,
  { pool }: BenchDatabase,
  api: Pool,
  market: number,
): Promise<{ milliseconds: number; longestWait: number }> {
  await pool.query("select admin.deposit(user_id => $1, amount_cents => 100000, reference => $2)", [
    makerWithoutCash,
    `round of market ${market}`,
  ]);
  await makeQueue(pool, market, sizes.longQueue, () => makerWithoutCash);
  await leaveCents(pool, makerWithoutCash, 0);

  const gatherer = createOrderGatherer({ pool: api });
  let isCleared = false;
  let longestWait = 0;
  const others = Array.from({ length: OTHERS }, async (_, index) => {
    while (!isCleared) {
      const began = performance.now();
      const outcome = await gatherer.place({
        marketId: publicId(market),
        ...{ userId: publicId(FIRST_MAKER + index), side: "no", price: 1, quantity: 1 },
        idempotencyKey: randomUUID(),
      });
      expectCode(outcome, null);
      longestWait = Math.max(longestWait, performance.now() - began);
    }
  });
  const began = performance.now();
  const order: OrderRequest = {
    marketId: publicId(market),
    ...{ userId: taker, side: "yes", price: 55, quantity: 1 },
    idempotencyKey: randomUUID(),
  };
  for (;;) {
    const { code } = await gatherer.place(order);
    if (code === null) break;
    if (code !== "CONFLICT_RETRY") throw new Error(`The taker was rejected: ${code}`);
  }
  const milliseconds = performance.now() - began;
  isCleared = true;
  await Promise.all(others);
  expectCount(
    "orders left of the maker without cash",
    await readNumber(
      pool,
      `select count(*) from trading.active_orders as b join identity.users as u on u.id = b.user_id
       where u.public_id = '${makerWithoutCash}'`,
    ),
    0,
  );
  return { milliseconds, longestWait };
}

function expectCode({ code }: CommandResult, expected: string | null): void {
  if (code !== expected) throw new Error(`An order came to ${code}, and not to ${expected}`);
}
