import { randomUUID } from "node:crypto";
import test from "ava";
import { contend, neverDeadlocked } from "../helpers/contention.ts";
import { testExchange } from "../helpers/exchange.ts";
import type { Outcome } from "../helpers/exchange.ts";
import { buy } from "../helpers/orders.ts";

/** Duplicates that arrive at the same moment are one order. */

const exchange = testExchange(test);
const { makeMarkets, makeTraders, orders, rest } = exchange;

const ROUNDS = 15;

/** The one order that all outcomes tell of; one of them placed it, the others found it. */
function theOne(outcomes: readonly Outcome[]): string {
  const ids = new Set(outcomes.map(({ answer }) => answer?.order.id));
  const placed = outcomes.filter(({ replayed }) => !replayed);
  if (ids.size !== 1 || placed.length !== 1) throw new Error(JSON.stringify(outcomes));
  return placed[0]!.answer!.order.id;
}

test("in one market: one places it, the others tell of it", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < ROUNDS; round++) {
    const [market] = (await makeMarkets(1)) as [string];
    const [ann, bob] = (await makeTraders(2)) as [string, string];
    await rest(market, bob, buy("no", 3, 60));
    const request = buy("yes", 10, 40, { idempotencyKey: randomUUID() });
    const calls = Array.from({ length: 6 }, () => () => contention.place(market, ann, request));
    const id = theOne(await contention.together(calls));
    const { data } = await orders(ann, { status: "all" });
    t.deepEqual(
      data.map((order) => [order.id, order.filledQuantity]),
      [[id, 3]],
    );
  }
  neverDeadlocked(t, contention);
});

test("in several markets: it is placed in one of them", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < ROUNDS; round++) {
    const markets = await makeMarkets(4);
    const [ann, bob] = (await makeTraders(2)) as [string, string];
    for (const market of markets) await rest(market, bob, buy("no", 3, 60));
    const request = buy("yes", 10, 40, { idempotencyKey: randomUUID() });
    const calls = [...markets, ...markets].map(
      (market) => () => contention.place(market, ann, request),
    );
    const id = theOne(await contention.together(calls));
    const { data } = await orders(ann, { status: "all" });
    t.deepEqual(
      data.map((order) => order.id),
      [id],
    );
    t.is(await exchange.balance(ann), 100_000 - 120 - 6); // 3 at 40 and a fee of 5.04
  }
  neverDeadlocked(t, contention);
});

test("one deposit by one reference", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < ROUNDS; round++) {
    const [ann] = (await makeTraders(1, { cents: 0 })) as [string];
    const deposit = () =>
      exchange.operate("deposit", { user_id: ann, amount_cents: 500, reference: "one" });
    const balances = await contention.together(Array.from({ length: 6 }, () => deposit));
    t.deepEqual(new Set(balances), new Set([500]));
    t.is(await exchange.balance(ann), 500);
  }
  neverDeadlocked(t, contention);
});
