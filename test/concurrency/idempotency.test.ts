import { randomUUID } from "node:crypto";
import test from "ava";
import { contend, neverDeadlocked, pairsOf } from "../helpers/exchange/contention.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import type { Outcome } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";

/** Duplicates that arrive at the same moment are one order. */

const exchange = testExchange(test, { sessions: 20 });
const { makeMarketWith, makeMarkets, makeTrader, makeTraders, orders, rest } = exchange;

const ROUNDS = 15;
const pair = pairsOf(test, exchange, ROUNDS);
const places = ["first", "second", "third"];

/**
 * The one order that all outcomes tell of, and the place of the call that placed it; the others
 * found it.
 */
function theOne(outcomes: readonly Outcome[]): { id: string; place: number } {
  const ids = new Set(outcomes.map(({ answer }) => answer?.order.id));
  const placed = outcomes.filter(({ replayed }) => !replayed);
  if (ids.size !== 1 || placed.length !== 1) throw new Error(JSON.stringify(outcomes));
  return { id: placed[0]!.answer!.order.id, place: outcomes.indexOf(placed[0]!) };
}

pair("in one market: one places it, the others tell of it", places, async (contention, t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, bob, buy("no", 3, 60));
  const request = buy("yes", 10, 40, { idempotencyKey: randomUUID() });
  const calls = places.map(() => () => contention.place(market, ann, request));
  const { id, place } = theOne(await contention.together(calls));
  const { data } = await orders(ann, { status: "all" });
  t.deepEqual(
    data.map((order) => [order.id, order.filledQuantity]),
    [[id, 3]],
  );
  return places[place]!;
});

pair("in several markets: it is placed in one of them", places, async (contention, t) => {
  const markets = await makeMarkets(3);
  const [ann, bob] = await makeTraders(2);
  for (const market of markets) await rest(market, bob, buy("no", 3, 60));
  const request = buy("yes", 10, 40, { idempotencyKey: randomUUID() });
  const calls = [...markets, ...markets].map(
    (market) => () => contention.place(market, ann, request),
  );
  const { id, place } = theOne(await contention.together(calls));
  const { data } = await orders(ann, { status: "all" });
  t.deepEqual(
    data.map((order) => order.id),
    [id],
  );
  t.is(await exchange.balance(ann), 100_000 - 120 - 6); // 3 at 40 and a fee of 5.04
  return places[place % markets.length]!;
});

test("one deposit by one reference", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < ROUNDS; round++) {
    const ann = await makeTrader({ cents: 0 });
    const deposit = () =>
      exchange.operate("deposit", { user_id: ann, amount_cents: 500, reference: "one" });
    const balances = await contention.together(Array.from({ length: 6 }, () => deposit));
    t.deepEqual(new Set(balances), new Set([500]));
    t.is(await exchange.balance(ann), 500);
  }
  neverDeadlocked(t, contention);
});
