import { randomUUID } from "node:crypto";
import test from "ava";
import { ALL_ORDERS } from "../../../src/database/calls.ts";
import type { OrderRequest } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Heard } from "../../helpers/exchange/event_listener.ts";
import type { Answer } from "../../helpers/exchange/test_exchange.ts";
import { buy, codesOf, ioc, sell } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** Orders of several markets in one call: each market is its own, and only cash is shared. */

const exchange = testExchange(test);
const { accounts, balance, book, clock, giveShares, makeLiveMarket, makeMarket } = exchange;
const { makeTrader, makeTraders, market: read, operate, orders, position, rest } = exchange;

const NOON = "2030-01-01T12:00:00Z";

test.serial.beforeEach(() => clock.freeze(NOON));

interface Row {
  code: string | null;
  message: string | null;
  replayed: boolean;
  body: Answer | null;
}

type Placed = [market: string, trader: string, request: Request];

/** One call; `options` are of api.place_orders. */
async function placeAll(placed: Placed[], options: object = {}): Promise<Row[]> {
  const requests = placed.map(([marketId, userId, request]): OrderRequest => ({
    marketId,
    userId,
    ...request,
  }));
  const { atomic = false, waits = true } = options as { atomic?: boolean; waits?: boolean };
  const client = await exchange.api.connect();
  try {
    await client.query("begin");
    // Were a call to wait that must not, this would end it with 57014.
    await client.query("set local statement_timeout = '20s'");
    const { rows } = await client.query(
      "select * from api.place_orders(orders => $1, atomic => $2, waits => $3)",
      [JSON.stringify(requests), atomic, waits],
    );
    await client.query("commit");
    return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** Markets in ascending order of their locks. */
async function makeAscending(count: number): Promise<string[]> {
  const rows = await exchange.query(
    "select m.public_id as id from catalog.markets as m where m.public_id = any ($1) order by m.id",
    [await exchange.makeMarkets(count)],
  );
  return rows.map(({ id }) => id);
}

/** Works while another session holds the lock of a market. */
async function whileLocked<T>(market: string, work: () => Promise<T>): Promise<T> {
  const client = await exchange.database.pool.connect();
  try {
    await client.query("begin");
    await client.query(
      "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
      [market],
    );
    return await work();
  } finally {
    await client.query("rollback");
    client.release();
  }
}

test.serial("each order meets the book and the fee of its own market", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  await operate("set_fee_schedule", { taker_rate_bps: 0, market_id: first });
  await operate("set_fee_schedule", { taker_rate_bps: 1000, market_id: second });
  const [ann, bob, cid] = await makeTraders(3);
  // YES is for sale at 60 in the first, and at 70 in the second.
  await rest(first, bob, buy("no", 10, 40));
  await rest(second, cid, buy("no", 10, 30));
  const listener = await exchange.listen();
  const rows = await placeAll([
    [second, ann, buy("yes", 5, 99)],
    [first, ann, buy("yes", 4, 99)],
    [second, ann, buy("yes", 2, 20)],
    [randomUUID(), ann, buy("yes", 1, 50)],
    [first, ann, buy("yes", 3, 10)],
  ]);
  t.deepEqual(codesOf(rows), [null, null, null, "MARKET_NOT_FOUND", null]);
  t.deepEqual(
    rows.map(({ body }) => body && [body.order.marketId, body.order.status, body.feeCents]),
    [
      // 10 % of 5 x 70 x 30 / 100 cents, rounded up.
      [second, "filled", 11],
      [first, "filled", 0],
      [second, "open", 0],
      null,
      [first, "open", 0],
    ],
  );
  t.deepEqual(
    rows.flatMap(({ body }) => body?.fills ?? []).map((fill) => [fill.marketId, fill.price]),
    [
      [second, 70],
      [first, 60],
    ],
  );
  t.is(await balance(ann), 100_000 - 5 * 70 - 11 - 4 * 60);
  t.is(await balance(bob), 100_000 - 4 * 40);
  t.is(await balance(cid), 100_000 - 5 * 30);
  t.deepEqual(await accounts(first), { escrow: 400, revenue: 0 });
  t.deepEqual(await accounts(second), { escrow: 500, revenue: 11 });
  t.like(await position(first, ann, "yes"), { quantity: 4, cost: 240, fees: 0 });
  t.like(await position(second, ann, "yes"), { quantity: 5, cost: 350, fees: 11 });
  t.deepEqual(await book(first), { bids: ["3 @ 10"], asks: ["6 @ 60"] });
  t.deepEqual(await book(second), { bids: ["2 @ 20"], asks: ["5 @ 70"] });
  for (const [market, price] of [
    [first, 60],
    [second, 70],
  ] as const) {
    const { data } = await exchange.trades(market, 1, 10);
    t.deepEqual(
      data.map((trade: any) => trade.price),
      [price],
    );
  }
  t.deepEqual(told(await listener.heard()), {
    markets: { [first]: 3, [second]: 3 },
    fills: { [bob]: first, [cid]: second },
  });
  t.deepEqual(await exchange.verify(), []);
});

/** The last version of each market, and of which market each maker heard of fills. */
function told({ markets, users }: Heard) {
  return {
    markets: Object.fromEntries(markets.map(({ marketId, version }) => [marketId, version])),
    fills: Object.fromEntries(users.map(({ userId, event }) => [userId, event.marketId])),
  };
}

test.serial("a market's figures move by its own trades alone", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  const [ann, bob] = await makeTraders(2);
  await rest(first, bob, buy("no", 10, 40));
  await rest(second, bob, buy("no", 10, 30));
  await placeAll([
    [first, ann, buy("yes", 4, 60)],
    [second, ann, buy("yes", 5, 70)],
  ]);
  const figures = async (market: string) => {
    const rows = await exchange.query(
      `select s.last_trade_price as price, s.yes_volume_cents::int as yes,
         s.no_volume_cents::int as no, s.trade_count::int as trades, s.traders_count::int as traders
       from trading.market_state as s join catalog.markets as m on m.id = s.market_id
       where m.public_id = $1`,
      [market],
    );
    return rows[0];
  };
  t.deepEqual(await figures(first), { price: 60, yes: 240, no: 160, trades: 1, traders: 2 });
  t.deepEqual(await figures(second), { price: 70, yes: 350, no: 150, trades: 1, traders: 2 });
});

test.serial("shares of one market are not sold in another, cash is spent once", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  const ann = await makeTrader({ cents: 1000 });
  await giveShares(first, ann, "yes", 10);
  const left = await balance(ann);
  const maker = await makeTrader();
  for (const market of [first, second]) await rest(market, maker, buy("no", 50, 50));
  const quantity = Math.floor(left / 53);
  t.deepEqual(
    codesOf(
      await placeAll([
        [second, ann, sell("yes", 10, 60)],
        [first, ann, sell("yes", 10, 60)],
        [second, ann, buy("yes", quantity, 50, ioc)],
        [first, ann, buy("no", quantity, 49)],
      ]),
    ),
    ["INSUFFICIENT_BALANCE", null, null, "INSUFFICIENT_BALANCE"],
  );
});

test.serial("a live market schedules its orders for its own time, others match", async (t) => {
  const makers = [
    () => makeLiveMarket({ live_delay_ms: 1000 }).then(({ market }) => market),
    () => makeMarket(),
    () => makeLiveMarket({ live_delay_ms: 2000 }).then(({ market }) => market),
  ];
  const markets: string[] = [];
  for (const make of makers) markets.push(await make());
  const ann = await makeTrader();
  // In both orders: whichever market is the first of the call, it decides for itself alone.
  for (const places of [
    [0, 1, 2],
    [2, 1],
    [0, 1],
  ]) {
    const rows = await placeAll(places.map((place) => [markets[place]!, ann, buy("yes", 1, 5)]));
    t.deepEqual(
      rows.map(({ body }) => [body!.order.status, body!.order.releaseAt ?? null]),
      places.map(
        (place) =>
          [
            ["scheduled", "2030-01-01T12:00:01.000Z"],
            ["open", null],
            ["scheduled", "2030-01-01T12:00:02.000Z"],
          ][place]!,
      ),
    );
  }
});

test.serial("one key in two markets of a call is one order, of each user their own", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  const [ann, bob] = await makeTraders(2);
  const key = { idempotencyKey: randomUUID() };
  const rows = await placeAll([
    [second, ann, buy("yes", 2, 20, key)],
    [first, ann, buy("yes", 3, 30, key)],
    [first, bob, buy("yes", 4, 40, key)],
  ]);
  t.deepEqual(
    rows.map(({ replayed, body }) => [replayed, body!.order.marketId, body!.order.quantity]),
    [
      [false, second, 2],
      [true, second, 2],
      [false, first, 4],
    ],
  );
  t.is(rows[1]!.body!.order.id, rows[0]!.body!.order.id);
  t.deepEqual(await book(first), { bids: ["4 @ 40"], asks: [] });
  t.deepEqual(await book(second), { bids: ["2 @ 20"], asks: [] });
});

for (const busy of [0, 1, 2]) {
  test.serial(`waits => false: AGAIN for market ${busy + 1} of 3 alone`, async (t) => {
    const markets = await makeAscending(3);
    const ann = await makeTrader();
    const placed = [2, 0, 1, 0, 2].map((place): Placed => [
      ...([markets[place]!, ann] as const),
      buy("yes", place + 1, 10 * (place + 1)),
    ]);
    const rows = await whileLocked(markets[busy]!, () => placeAll(placed, { waits: false }));
    t.deepEqual(
      rows.map(({ code, body }) => [code, body?.order.marketId, body?.order.quantity]),
      placed.map(([market, , { quantity }]) =>
        market === markets[busy] ? ["AGAIN", undefined, undefined] : [null, market, quantity],
      ),
    );
    const { data } = await orders(ann);
    t.is(data.length, rows.filter(({ code }) => code === null).length);
    t.false(data.some(({ marketId }) => marketId === markets[busy]));
  });
}

test.serial("waits => false: a free market is taken as by a call that waits", async (t) => {
  const markets = await makeAscending(2);
  const ann = await makeTrader();
  const placed = markets.map((market): Placed => [market, ann, buy("yes", 1, 10)]);
  t.deepEqual(codesOf(await placeAll(placed, { waits: false })), [null, null]);
  const all = () => placeAll(placed.slice(0, 1), { waits: false });
  t.deepEqual(codesOf(await whileLocked(markets[0]!, all)), ["AGAIN"]);
});

test.serial("atomic: one order that is rejected, and nothing is placed", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  const ann = await makeTrader({ cents: 100 });
  const placed: Placed[] = [
    [second, ann, buy("yes", 1, 50)],
    [first, ann, buy("yes", 1, 101)],
    [first, ann, buy("yes", 10, 50)],
  ];
  const rows = await placeAll(placed, { atomic: true });
  t.deepEqual(
    rows.map(({ code, body }) => [code, body]),
    [
      [null, null],
      ["INVALID_REQUEST", null],
      ["INSUFFICIENT_BALANCE", null],
    ],
  );
  t.is(rows[1]!.message, "price: must be between 1 and 99");
  t.deepEqual((await orders(ann, { status: "all" })).data, []);
  const [row] = await placeAll(placed.slice(0, 1), { atomic: true });
  t.is(row!.body!.order.status, "open");
});

test.serial("atomic, waits => false: beside a busy market nothing is placed", async (t) => {
  const [first, second] = (await makeAscending(2)) as [string, string];
  const ann = await makeTrader();
  const placed: Placed[] = [
    [second, ann, buy("yes", 1, 50)],
    [first, ann, buy("yes", 1, 50)],
  ];
  const options = { atomic: true, waits: false };
  const rows = await whileLocked(first, () => placeAll(placed, options));
  t.true(rows.every(({ code, body }) => code === "AGAIN" && body === null));
  t.deepEqual((await orders(ann, { status: "all" })).data, []);
  t.deepEqual(codesOf(await placeAll(placed, options)), [null, null]);
});

test.serial("atomic: an order on a live market makes the call fail", async (t) => {
  const [market, { market: live }] = [await makeMarket(), await makeLiveMarket()];
  const ann = await makeTrader();
  const rows = await placeAll(
    [
      [market, ann, buy("yes", 1, 50)],
      [live, ann, buy("yes", 1, 50)],
    ],
    { atomic: true },
  );
  t.deepEqual(codesOf(rows), [null, "INVALID_REQUEST"]);
  t.deepEqual((await orders(ann, { status: "all" })).data, []);
  t.is((await read(market)).version, 0);
});

for (const [what, count, atomic] of [
  ["one order", 1, false],
  ["several orders", 3, false],
  ["an atomic call", 3, true],
] as const) {
  test.serial(`${what}: the answers have the market's version that first shows them`, async (t) => {
    const markets = [await makeMarket(), await makeMarket()];
    const ann = await makeTrader();
    for (const market of markets) await rest(market, ann, buy("yes", 1, 10));
    const orders = Array.from({ length: count }, (_, index) => ({
      ...{ marketId: markets[index % 2]!, userId: ann },
      ...buy("yes", 1, 20 + index),
    }));
    const results = await exchange.calls.runOrders({ ...ALL_ORDERS, orders, atomic });
    t.deepEqual(
      results.map(({ code, marketVersion }) => [code, marketVersion]),
      await Promise.all(
        orders.map(async ({ marketId }) => [null, await exchange.version(marketId)]),
      ),
    );
    t.is(await exchange.version(markets[0]!), 1 + Math.ceil(count / 2), "one for each order");
  });
}
