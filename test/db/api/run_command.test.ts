import { randomUUID } from "node:crypto";
import test from "ava";
import { ALL_ORDERS } from "../../../src/database/calls.ts";
import type { Command } from "../../../src/database/calls.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { newKey } from "../../helpers/exchange/keyed_commands.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Commands with an idempotency key. Those without one are tested by their own functions. */

const exchange = testExchange(test, { sessions: 3 });
const { book, calls, clock, makeMarkets, makeMarketWith, makeTrader, makeTraders, rest } = exchange;
const { version } = exchange;

interface Given {
  orderId?: string;
  marketId?: string;
  price?: number;
  quantity?: number;
  idempotencyKey?: string;
  requestFingerprint?: string;
}

async function run(command: Command, userId: string, given: Given) {
  const { body, ...result } = await calls.runCommand({ command, userId, ...given });
  return { ...result, answer: result.code === null ? JSON.parse(body) : null };
}

test.serial("amend: a repetition gets the successor again, and changes nothing", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 5, 40));
  const key = newKey();
  const amend = () => run("amend", ann, { orderId: id, price: 41, ...key });
  const first = await amend();
  t.is(first.answer.cancelledOrderId, id);
  t.is(first.marketVersion, await version(market));
  await exchange.place(market, await makeTrader(), buy("no", 1, 59));
  const before = await exchange.dump();
  const again = await amend();
  t.like(again, { code: null, replayed: true });
  t.deepEqual(again.answer, first.answer);
  t.is(again.marketVersion, await version(market));
  t.deepEqual(await exchange.dump(), before);
});

test("cancel: a repetition gets the cancelled order again", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 5, 40));
  const key = newKey();
  const first = await run("cancel", ann, { orderId: id, ...key });
  t.is(first.answer.order.status, "cancelled");
  const again = await run("cancel", ann, { orderId: id, ...key });
  t.like(again, { code: null, replayed: true });
  t.deepEqual(again.answer, first.answer);
  t.is((await run("cancel", ann, { orderId: id })).code, "ORDER_NOT_CANCELLABLE");
});

for (const command of ["split", "merge"] as const) {
  test(`${command}: the cash moves once`, async (t) => {
    const [market, ann] = await makeMarketWith(1);
    await exchange.split(market, ann, 10);
    const key = newKey();
    const convert = () => run(command, ann, { marketId: market, quantity: 3, ...key });
    const first = await convert();
    const cents = await exchange.balance(ann);
    t.is(first.answer.balance.total, cents);
    const again = await convert();
    t.like(again, { code: null, replayed: true });
    t.deepEqual(again.answer, first.answer);
    t.is(await exchange.balance(ann), cents);
  });
}

test.serial(
  "IDEMPOTENCY_KEY_REUSED: by another command, by another order, and the other way",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id, other] = await rest(market, ann, buy("yes", 5, 40), buy("yes", 5, 41));
    const key = newKey();
    await run("cancel", ann, { orderId: id, ...key });
    const before = await exchange.dump();
    const { idempotencyKey } = key;
    const reused = { idempotencyKey, requestFingerprint: randomUUID() };
    const calls = [
      run("cancel", ann, { orderId: other, ...reused }),
      run("amend", ann, { orderId: other, price: 42, ...reused }),
      run("split", ann, { marketId: market, quantity: 1, ...reused }),
    ];
    for (const { code } of await Promise.all(calls)) t.is(code, "IDEMPOTENCY_KEY_REUSED");
    t.is(
      await exchange.refusal(market, ann, buy("yes", 1, 40, { idempotencyKey })),
      "IDEMPOTENCY_KEY_REUSED",
    );
    t.deepEqual(await exchange.dump(), before);
    const ofOrder = randomUUID();
    await rest(market, ann, buy("yes", 1, 39, { idempotencyKey: ofOrder }));
    const { code } = await run("cancel", ann, {
      ...{ orderId: other, idempotencyKey: ofOrder, requestFingerprint: randomUUID() },
    });
    t.is(code, "IDEMPOTENCY_KEY_REUSED");
  },
);

test("keys of two users are two", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const key = newKey();
  for (const trader of [ann, bob]) {
    const [id] = await rest(market, trader, buy("yes", 5, 40));
    t.like(await run("cancel", trader, { orderId: id, ...key }), { code: null, replayed: false });
  }
});

test("a rejection keeps nothing: its key can be used again", async (t) => {
  const [one, two] = await makeMarkets(2);
  const ann = await makeTrader({ cents: 1000 });
  const key = newKey();
  const convert = (quantity: number) =>
    run("split", ann, { marketId: one, quantity, ...key, requestFingerprint: randomUUID() });
  t.is((await convert(11)).code, "INSUFFICIENT_BALANCE");
  t.like(await convert(10), { code: null, replayed: false });
  t.is(
    (await run("amend", ann, { orderId: randomUUID(), price: 1, ...newKey() })).code,
    "ORDER_NOT_FOUND",
  );
  t.deepEqual(await book(two), { bids: [], asks: [] });
});

test.serial("a key counts for 24 hours, and is then removed", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await clock.freeze("2035-01-10T12:00:00Z");
  const key = newKey();
  const convert = () => run("split", ann, { marketId: market, quantity: 1, ...key });
  t.false((await convert()).replayed);
  await clock.advance(86_399_999);
  t.true((await convert()).replayed);
  await clock.advance(1);
  t.false((await convert()).replayed, "it is taken over");
  t.true((await convert()).replayed);
  await clock.advance(86_400_000);
  await exchange.work("remove_keys");
  t.false((await convert()).replayed);
  await clock.release();
});

test("an order with a fingerprint: the same is a replay, another is rejected", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const place = (requestFingerprint?: string) =>
    exchange.placeBatch(market, [
      [ann, { ...buy("yes", 1, 40), ...key, ...(requestFingerprint && { requestFingerprint }) }],
    ]);
  const [first] = await place();
  t.like(first, { code: null, replayed: false });
  t.like((await place())[0], { code: null, replayed: true });
  t.like((await place(randomUUID()))[0], { code: "IDEMPOTENCY_KEY_REUSED" });
  // By the field of the body alone it is the first order, whatever the rest says.
  const { idempotencyKey } = key;
  const [loose] = await exchange.placeBatch(market, [[ann, buy("no", 9, 9, { idempotencyKey })]]);
  t.true(loose!.replayed);
  t.is(loose!.answer!.order.id, first!.answer!.order.id);
});

test("twins of one call: the second is a replay, or rejected if it is another request", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const request = { ...buy("yes", 1, 40), ...key };
  const other = { ...request, requestFingerprint: randomUUID() };
  const outcomes = await exchange.placeBatch(market, [
    [ann, request],
    [ann, request],
    [ann, other],
  ]);
  t.deepEqual(
    outcomes.map(({ code, replayed }) => [code, replayed]),
    [
      [null, false],
      [null, true],
      ["IDEMPOTENCY_KEY_REUSED", false],
    ],
  );
  t.is((await exchange.orders(ann)).data.length, 1);
});

const placeBatch = async (
  userId: string,
  requests: object[],
  key: ReturnType<typeof newKey>,
  atomic = false,
) => {
  const orders = requests.map((request) => ({ userId, ...request })) as never;
  const [result] = await calls.runOrders({
    ...ALL_ORDERS,
    userId,
    orders,
    atomic,
    ...key,
  });
  const { code, replayed, body } = result!;
  return { code, replayed, ...(code === null && JSON.parse(body)) };
};

test.serial(
  "a batch: results with rejections and the balance again, and nothing is placed",
  async (t) => {
    const [one, two] = await makeMarkets(2);
    const [ann, bob] = await makeTraders(2);
    await rest(one, bob, buy("no", 5, 40));
    const key = newKey();
    const requests = [
      { marketId: one, ...buy("yes", 5, 60) },
      { marketId: two, ...buy("yes", 10_000, 99) },
      { marketId: two, ...buy("no", 2, 10) },
    ];
    const first = await placeBatch(ann, requests, key);
    t.deepEqual(
      first.results.map(({ code }: { code: string }) => code),
      [null, "INSUFFICIENT_BALANCE", null],
    );
    t.is(first.balance.total, await exchange.balance(ann));
    const before = await exchange.dump();
    const again = await placeBatch(ann, requests, key);
    t.true(again.replayed);
    t.deepEqual([again.results, again.balance], [first.results, first.balance]);
    t.is(
      (await placeBatch(ann, requests, { ...key, requestFingerprint: randomUUID() })).code,
      "IDEMPOTENCY_KEY_REUSED",
    );
    t.deepEqual(await exchange.dump(), before);
  },
);

test("an atomic batch that is rejected keeps nothing", async (t) => {
  const [market, ann] = await makeMarketWith(1, { cents: 100 });
  const key = newKey();
  const requests = [
    { marketId: market, ...buy("yes", 1, 60) },
    { marketId: market, ...buy("yes", 5, 60) },
  ];
  const rejected = await placeBatch(ann, requests, key, true);
  t.is(rejected.results[1].code, "INSUFFICIENT_BALANCE");
  await exchange.operate("deposit", { user_id: ann, amount_cents: 1000, reference: "more" });
  const placed = await placeBatch(ann, requests, key, true);
  t.false(placed.replayed);
  t.is((await exchange.orders(ann)).data.length, 2);
  t.true((await placeBatch(ann, requests, key, true)).replayed);
});

test("CONFLICT_RETRY: a batch that meets too many failing makers places nothing yet", async (t) => {
  const [one, two] = await makeMarkets(2);
  const [ann, bob] = await makeTraders(2);
  await exchange.placeBatch(
    one,
    Array.from({ length: 501 }, () => [bob, buy("no", 1, 40)]),
  );
  await exchange.operate("withdraw", { user_id: bob, amount_cents: 100_000, reference: "all" });
  const key = newKey();
  const requests = [
    { marketId: two, ...buy("yes", 1, 10) },
    { marketId: one, ...buy("yes", 1, 60) },
  ];
  t.is((await placeBatch(ann, requests, key)).code, "CONFLICT_RETRY");
  t.deepEqual((await exchange.orders(ann)).data, []);
  t.is((await exchange.orders(bob)).data.length, 1);
  t.like(await placeBatch(ann, requests, key), { code: null, replayed: false });
  t.is((await exchange.orders(ann)).data.length, 2);
  t.true((await placeBatch(ann, requests, key)).replayed);
});

/** Markets with orders of a maker without cash; behind them one of 5 shares, unless none lives. */
async function makeDeadMarkets(count: number, dead: number, isAlive = true): Promise<string[]> {
  const markets = await makeMarkets(count);
  const [bob, live] = await makeTraders(2);
  for (const market of markets) {
    await exchange.placeBatch(
      market,
      Array.from({ length: dead }, () => [bob, buy("no", 1, 40)]),
    );
    if (isAlive) await exchange.placeBatch(market, [[live, buy("no", 5, 40)]]);
  }
  await exchange.operate("withdraw", { user_id: bob, amount_cents: 100_000, reference: "all" });
  return markets;
}

test("CONFLICT_RETRY: a batch over several queues of makers without cash places nothing yet", async (t) => {
  const markets = await makeDeadMarkets(3, 300);
  const ann = await makeTrader();
  const key = newKey();
  const requests = markets.map((marketId) => ({ marketId, ...buy("yes", 5, 60) }));
  const cash = await exchange.balance(ann);
  t.is((await placeBatch(ann, requests, key)).code, "CONFLICT_RETRY");
  t.is(await exchange.balance(ann), cash);
  t.deepEqual((await exchange.orders(ann, { status: "all" })).data, []);
  const placed = await placeBatch(ann, requests, key);
  t.deepEqual(
    placed.results.map(({ body }: { body: string }) => JSON.parse(body).fills.length),
    [1, 1, 1],
  );
  t.is((await exchange.orders(ann, { status: "all" })).data.length, 3);
  t.deepEqual(await exchange.verify(), []);
});

test("a batch that finds nothing but makers without cash is answered in the end", async (t) => {
  const markets = await makeDeadMarkets(2, 300, false);
  const ann = await makeTrader();
  const key = newKey();
  const requests = markets.map((marketId) => ({
    marketId,
    ...buy("yes", 5, 60, { timeInForce: "ioc" }),
  }));
  t.is((await placeBatch(ann, requests, key)).code, "CONFLICT_RETRY");
  const { results } = await placeBatch(ann, requests, key);
  t.deepEqual(
    results.map(({ code }: { code: string }) => code),
    ["INSUFFICIENT_LIQUIDITY", "INSUFFICIENT_LIQUIDITY"],
  );
});

test("a batch is placed as its orders alone are, also where one starves many makers", async (t) => {
  const [one, two] = await makeMarkets(2);
  const [ann, bob, cat, dan] = await makeTraders(4);
  const queue = (market: string, trader: string, count: number, request: Request) =>
    exchange.placeBatch(
      market,
      Array.from({ length: count }, () => [trader, request]),
    );
  const withdraw = async (trader: string, leave: number) =>
    exchange.operate("withdraw", {
      user_id: trader,
      amount_cents: (await exchange.balance(trader)) - leave,
      reference: "out",
    });
  // Bob can pay for one of his shares in the first market, and for none of his orders in the other.
  await queue(one, bob, 500, buy("no", 1, 60));
  await queue(two, bob, 300, buy("no", 10, 40));
  await queue(two, bob, 300, buy("no", 10, 40));
  await queue(two, cat, 1, buy("no", 1, 40));
  await queue(two, dan, 1, buy("no", 10, 40));
  await withdraw(bob, 61);
  await withdraw(cat, 0);
  const key = newKey();
  const requests = [
    { marketId: one, ...buy("yes", 1, 40) },
    { marketId: two, ...buy("yes", 5, 60) },
  ];
  t.is((await placeBatch(ann, requests, key)).code, "CONFLICT_RETRY");
  const { results } = await placeBatch(ann, requests, key);
  t.deepEqual(
    results.map(({ body }: { body: string }) => JSON.parse(body).order.filledQuantity),
    [1, 5],
  );
  t.deepEqual(await exchange.verify(), []);
});

test("a batch that leaves many makers without cash by its own fills ends where it has come", async (t) => {
  const [market, ann, bob] = await exchange.makeMarketWith(2);
  for (let left = 1650; left > 0; left -= 550) {
    await exchange.placeBatch(
      market,
      Array.from({ length: 550 }, () => [bob, buy("no", 1, 60)]),
    );
  }
  await exchange.operate("withdraw", {
    ...{ user_id: bob, reference: "nearly all" },
    amount_cents: (await exchange.balance(bob)) - 119,
  });
  const requests = [
    { marketId: market, ...buy("yes", 6, 40) },
    { marketId: market, ...buy("yes", 2, 40) },
    { marketId: market, ...buy("yes", 2, 30) },
  ];
  const { results } = await placeBatch(ann, requests, newKey());
  const [first, second, third] = results;
  t.like(JSON.parse(first.body).order, {
    filledQuantity: 1,
    cancelReason: "insufficient_liquidity",
  });
  t.is(second.code, "INSUFFICIENT_LIQUIDITY");
  t.is(JSON.parse(third.body).order.status, "open");
  t.deepEqual(await exchange.verify(), []);
});

test("a command of several parts: begun, gone on with, ended once", async (t) => {
  const ann = await makeTrader();
  const key = { userId: ann, ...newKey() };
  const begin = () => calls.beginCommand(key);
  const end = (reply: string) => calls.endCommand({ ...key, reply });
  t.like(await begin(), { code: null, replayed: false });
  t.like(await begin(), { code: null, replayed: false }, "it is not ended");
  t.like(await end("one"), { code: null, replayed: false, body: "one" });
  t.like(await end("two"), { code: null, replayed: true, body: "one" });
  t.like(await begin(), { code: null, replayed: true, body: "one" });
  const other = { ...key, requestFingerprint: randomUUID() };
  const reused = await calls.beginCommand(other);
  t.is(reused.code, "IDEMPOTENCY_KEY_REUSED");
  t.is((await exchange.orders(ann)).data.length, 0);
});

test("a command that is none is refused, and its key stays free", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const given = { marketId: market, quantity: 1, ...key };
  t.like(await run("steal" as Command, ann, given), { code: "INVALID_REQUEST" });
  t.like(await run("split", ann, given), { code: null, replayed: false });
});

test("INVALID_REQUEST: a command with a key, and no fingerprint of its request", async (t) => {
  const ann = await makeTrader();
  const key = { userId: ann, idempotencyKey: randomUUID(), requestFingerprint: null as never };
  await t.throwsAsync(calls.beginCommand(key), {
    code: "EX001",
    message: /needs the fingerprint/,
  });
});
