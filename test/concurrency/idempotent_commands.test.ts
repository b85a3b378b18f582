import { randomUUID } from "node:crypto";
import test from "ava";
import { call } from "../../src/database/call.ts";
import { ALL_ORDERS, api } from "../../src/database/calls.ts";
import type { Command } from "../../src/database/calls.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { pairsOf } from "../helpers/exchange/contention.ts";
import { newKey } from "../helpers/exchange/keyed_commands.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";

/** Two requests with one key at the same moment: one is carried out, the other gets its answer. */

const exchange = testExchange(test, { sessions: 20 });
const { makeMarket, makeMarketWith, makeMarkets, makeTrader, makeTraders, rest } = exchange;
const pair = pairsOf(test, exchange, 15);

interface Given {
  orderId?: string;
  marketId?: string;
  price?: number;
  quantity?: number;
  idempotencyKey: string;
  requestFingerprint: string;
}

const run = (command: Command, userId: string, given: Given) =>
  withClient(exchange.api, (client) => call(client, api.runCommand, { command, userId, ...given }));

const ways = ["first", "second"];

pair("amend", ways, async (contention, t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [orderId] = await rest(market, ann, buy("no", 5, 40));
  const key = newKey();
  const amend = () => run("amend", ann, { orderId, price: 41, ...key });
  const [one, two] = await contention.together([
    amend,
    amend,
    () => contention.place(market, bob, buy("yes", 1, 10)),
  ] as const);
  t.deepEqual([one.code, two.code], [null, null]);
  t.is(one.body, two.body);
  t.true(one.replayed !== two.replayed);
  t.is((await exchange.orders(ann, { status: "all" })).data.length, 2);
  return one.replayed ? "second" : "first";
});

pair("cancel", ways, async (contention, t) => {
  const [market, ann] = await makeMarketWith(1);
  const [orderId] = await rest(market, ann, buy("no", 5, 40));
  const key = newKey();
  const cancel = () => run("cancel", ann, { orderId, ...key });
  const [one, two] = await contention.together([cancel, cancel] as const);
  t.deepEqual([one.code, two.code], [null, null]);
  t.is(one.body, two.body);
  t.true(one.replayed !== two.replayed);
  return one.replayed ? "second" : "first";
});

pair("redeem of all shares that there are", ways, async (contention, t) => {
  const eventId: string = await exchange.operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const markets = [
    await makeMarket({ event_id: eventId }),
    await makeMarket({ event_id: eventId }),
  ];
  const ann = await makeTrader({ cents: 10_000 });
  for (const market of markets) await exchange.split(market, ann, 3);
  const given = { userId: ann, eventId, quantity: 3, marketIds: null, ...newKey() };
  const redeem = () => withClient(exchange.api, (client) => call(client, api.convertShares, given));
  const [one, two] = await contention.together([redeem, redeem] as const);
  t.deepEqual([one.code, two.code], [null, null]);
  t.is(one.body, two.body);
  t.true(one.replayed !== two.replayed);
  t.is(await exchange.balance(ann), 10_000 - 600 + 300);
  return one.replayed ? "second" : "first";
});

pair("split, beside orders in other markets", ways, async (contention, t) => {
  const [market, other] = await makeMarkets(2);
  const ann = await makeTrader({ cents: 10_000 });
  const key = newKey();
  const split = () => run("split", ann, { marketId: market, quantity: 3, ...key });
  const [one, two] = await contention.together([
    split,
    split,
    () => contention.place(other, ann, buy("no", 5, 40)),
  ] as const);
  t.deepEqual([one.code, two.code], [null, null]);
  t.is(one.body, two.body);
  t.is(await exchange.balance(ann), 9700);
  return one.replayed ? "second" : "first";
});

pair(
  "one key for commands in two markets: one is carried out, the other is rejected",
  ways,
  async (contention, t) => {
    const markets = await makeMarkets(2);
    const ann = await makeTrader({ cents: 10_000 });
    const { idempotencyKey } = newKey();
    const split = (marketId: string) => () =>
      run("split", ann, {
        ...{ marketId, quantity: 3, idempotencyKey, requestFingerprint: randomUUID() },
      });
    const [one, two] = await contention.together([split(markets[0]), split(markets[1])] as const);
    t.deepEqual([one.code, two.code].sort(), ["IDEMPOTENCY_KEY_REUSED", null]);
    t.is(await exchange.balance(ann), 9700);
    return one.code === null ? "first" : "second";
  },
);

pair("batch", ways, async (contention, t) => {
  const markets = await makeMarkets(3);
  const [ann, bob] = await makeTraders(2);
  const key = newKey();
  const orders = markets.flatMap((marketId) => [
    { userId: ann, marketId, ...buy("no", 2, 40) },
    { userId: ann, marketId, ...buy("no", 10_000, 99) },
  ]);
  const place = async () => {
    const batch = { ...ALL_ORDERS, userId: ann, orders, ...key };
    return (await withClient(exchange.api, (client) => call(client, api.runOrders, batch)))[0]!;
  };
  const [one, two] = await contention.together([
    place,
    place,
    () => contention.place(markets[1], bob, buy("yes", 1, 60)),
  ] as const);
  t.deepEqual([one.code, two.code], [null, null]);
  t.is(one.body, two.body);
  t.true(one.replayed !== two.replayed);
  t.is((await exchange.orders(ann, { status: "all" })).data.length, 3);
  return one.replayed ? "second" : "first";
});
