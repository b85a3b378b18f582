import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Listener } from "../../helpers/exchange/event_listener.ts";
import { buy, ioc, ordersIn, postOnly } from "../../helpers/exchange/orders.ts";

/** Versions count the requests that change a market; listeners hear of each change exactly once. */

const exchange = testExchange(test);
const { cancel, clock, makeMarket, makeMarketWith, makeTrader, makeTraders, operate } = exchange;
const { place, placeBatch, refusal, rest, version } = exchange;

let listener: Listener;
const heard = () => listener.heard();

test.before("listen", async () => {
  listener = await exchange.listen();
});
test.beforeEach("forget what was said", async () => {
  await heard();
});

test.serial("a new market is at version 0; every order accepted adds 1", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  t.is(await version(market), 0);
  await rest(market, ann, buy("no", 10, 40));
  t.is(await version(market), 1);
  await place(market, bob, buy("yes", 4, 60));
  t.is(await version(market), 2);
  await place(market, bob, buy("yes", 20, 60, ioc));
  t.is(await version(market), 3);
});

test.serial(
  "an order that rests: market_changed once, with the version, and no user event",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    await rest(market, ann, buy("no", 10, 40));
    t.deepEqual(await heard(), {
      markets: [{ marketId: market, version: 1 }],
      users: [],
      keys: [],
    });
  },
);

test.serial("rejections and replays leave the version and announce nothing", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const poor = await makeTrader({ cents: 0 });
  const request = buy("no", 10, 40, { idempotencyKey: randomUUID() });
  await rest(market, ann, request);
  await heard();
  for (const [trader, refused, code] of [
    [ann, buy("yes", 0, 40), "INVALID_REQUEST"],
    [ann, buy("yes", 1, 60), "SELF_TRADE_BLOCKED"],
    [poor, buy("yes", 1, 60, postOnly), "POST_ONLY_WOULD_CROSS"],
    [poor, buy("yes", 1, 40, ioc), "INSUFFICIENT_LIQUIDITY"],
    [poor, buy("yes", 1, 60), "INSUFFICIENT_BALANCE"],
  ] as const) {
    t.is(await refusal(market, trader, refused), code);
  }
  const [again] = await placeBatch(market, [[ann, request]]);
  t.true(again!.replayed);
  t.is(await version(market), 1);
  t.deepEqual(await heard(), { markets: [], users: [], keys: [] });
});

test.serial(
  "a batch adds one for each change and is announced once, at its last version",
  async (t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    const key = { idempotencyKey: randomUUID() };
    await placeBatch(market, [
      [ann, buy("yes", 1, 10)],
      [ann, buy("no", 1, 10, key)],
      [ann, buy("no", 1, 10, key)],
      [bob, buy("yes", 1, 90)],
      [bob, buy("yes", 1, 90, ioc)],
    ]);
    t.is(await version(market), 3);
    const { markets, users } = await heard();
    t.deepEqual(markets, [{ marketId: market, version: 3 }]);
    t.is(users.length, 1);
  },
);

test.serial(
  "maker_fill: once for each maker of an order, with the ids of their orders",
  async (t) => {
    const [market, ann, bob, cid] = await makeMarketWith(3);
    const [first, second] = await rest(market, ann, buy("no", 5, 42), buy("no", 5, 40));
    const [third] = await rest(market, bob, buy("no", 5, 41));
    await heard();
    await place(market, cid, buy("yes", 12, 60));
    const { markets, users } = await heard();
    t.deepEqual(markets, [{ marketId: market, version: 4 }]);
    t.deepEqual(
      users.map(({ userId, event }) => ({ userId, event })),
      [
        {
          userId: ann,
          event: {
            type: "maker_fill",
            marketId: market,
            orderIds: [first, second],
            fillCount: 2,
          },
        },
        {
          userId: bob,
          event: { type: "maker_fill", marketId: market, orderIds: [third], fillCount: 1 },
        },
      ],
    );
  },
);

test.serial("maker_fill: two orders of a batch that fill one maker are two events", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  const [order] = await rest(market, ann, buy("no", 10, 40));
  await heard();
  await placeBatch(market, [
    [bob, buy("yes", 2, 60)],
    [cid, buy("yes", 2, 60)],
    [bob, buy("yes", 2, 60)],
  ]);
  const { users } = await heard();
  t.deepEqual(
    users.map(({ userId, event }) => [userId, event.orderIds, event.fillCount]),
    Array.from({ length: 3 }, () => [ann, [order], 1]),
  );
});

test.serial("maker_fill: an order of the same batch can be the maker", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const outcomes = await placeBatch(market, [
    [ann, buy("no", 10, 40)],
    [bob, buy("yes", 2, 60)],
  ]);
  const { users } = await heard();
  t.deepEqual(
    users.map(({ userId, event }) => [userId, event.type, event.orderIds]),
    [[ann, "maker_fill", [outcomes[0]!.answer!.order.id]]],
  );
});

test.serial(
  "order_cancelled: the owner of a maker that fails revalidation hears why it was cancelled",
  async (t) => {
    const market = await makeMarket({ title: "Will it snow?" });
    const [ann, bob] = await makeTraders(2);
    const [order] = await rest(market, ann, buy("no", 10, 40));
    await place(market, bob, buy("yes", 4, 60));
    await operate("withdraw", { user_id: ann, amount_cents: 99_840, reference: "all" });
    await heard();
    t.is(await refusal(market, bob, buy("yes", 1, 60, ioc)), "INSUFFICIENT_LIQUIDITY");
    const { markets, users } = await heard();
    t.deepEqual(markets, [{ marketId: market, version: 3 }]);
    t.deepEqual(
      users.map(({ userId, event }) => ({ userId, event })),
      [
        {
          userId: ann,
          event: {
            type: "order_cancelled",
            orderId: order,
            marketId: market,
            marketTitle: "Will it snow?",
            side: "no",
            price: 40,
            quantity: 10,
            filledQuantity: 4,
            cancelReason: "insufficient_funds",
          },
        },
      ],
    );
  },
);

test.serial("a cancel by its owner: market_changed, version + 1, no order_cancelled", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [order] = await rest(market, ann, buy("no", 10, 40));
  await heard();
  t.is((await cancel(ann, order)).code, null);
  t.is(await version(market), 2);
  t.deepEqual(await heard(), {
    markets: [{ marketId: market, version: 2 }],
    users: [],
    keys: [],
  });
  t.is((await cancel(ann, order)).code, "ORDER_NOT_CANCELLABLE");
  t.is(await version(market), 2);
  t.deepEqual(await heard(), { markets: [], users: [], keys: [] });
});

test.serial("a cancel of an order past its expiry: order_cancelled, expired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [order] = await rest(market, ann, buy("no", 10, 40, { expiresAt }));
  await heard();
  await clock.advance(60_000);
  t.is((await cancel(ann, order)).code, "ORDER_NOT_CANCELLABLE");
  const { markets, users } = await heard();
  t.deepEqual(markets, [{ marketId: market, version: 2 }]);
  t.is(users.length, 1);
  t.like(users[0].event, { type: "order_cancelled", orderId: order, cancelReason: "expired" });
});

test.serial("closing: order_cancelled for every open order, market_changed once", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [first, second] = await rest(market, ann, buy("no", 1, 40), buy("yes", 2, 40));
  const [third] = await rest(market, bob, buy("no", 3, 40));
  await heard();
  await operate("set_market_status", { market_id: market, status: "closed" });
  const { markets, users } = await heard();
  t.deepEqual(markets, [{ marketId: market, version: 4 }]);
  t.deepEqual(
    users.map(({ userId, event }) => [userId, event.type, event.orderId, event.cancelReason]),
    [
      [ann, "order_cancelled", first, "market_closed"],
      [ann, "order_cancelled", second, "market_closed"],
      [bob, "order_cancelled", third, "market_closed"],
    ],
  );
});

test.serial(
  "self-exclusion: order_cancelled for every order, each of its markets changed once",
  async (t) => {
    const [market, other] = await exchange.makeMarkets(2);
    const ann = await makeTrader();
    await rest(market, ann, buy("no", 1, 40), buy("yes", 2, 40));
    await rest(other, ann, buy("no", 3, 40));
    await heard();
    await operate("self_exclude", { user_id: ann });
    const { markets, users } = await heard();
    t.is(markets.length, 2);
    const versions = new Map(markets.map(({ marketId, version }) => [marketId, version]));
    t.deepEqual([versions.get(market), versions.get(other)], [3, 2]);
    t.deepEqual(
      users.map(({ userId, event }) => [userId, event.type, event.cancelReason]),
      Array.from({ length: 3 }, () => [ann, "order_cancelled", "self_excluded"]),
    );
  },
);

test.serial("an event may be longer than a notification", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const many = Array.from({ length: 250 }, (): [string, ReturnType<typeof buy>] => [
    ann,
    buy("no", 1, 40),
  ]);
  await placeBatch(market, many);
  await heard();
  const { fills } = await place(market, bob, buy("yes", 250, 60));
  t.is(fills.length, 250);
  const { users } = await heard();
  t.is(users.length, 1);
  const { userId, event } = users[0];
  t.true(JSON.stringify(event).length > 8000);
  t.is(userId, ann);
  t.like(event, { type: "maker_fill", fillCount: 250 });
  t.is(new Set(event.orderIds).size, 250);
});

test.serial("changes that are rolled back are not announced", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await exchange.withRollback(async (client) => {
    await client.query("select * from api.place_orders(orders => $1)", [
      ordersIn(market, [{ userId: ann, ...buy("no", 1, 40) }]),
    ]);
  });
  t.deepEqual(await heard(), { markets: [], users: [], keys: [] });
  t.is(await version(market), 0);
});
