import test from "ava";
import { makeCrowd } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, placeOrders, sell, spend } from "../../helpers/exchange/orders.ts";
import { findPosition, readUserEvents, relayAll } from "../../helpers/exchange/user_events.ts";
import type { Include, UserFrame } from "../../helpers/exchange/user_events.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { effort, randomFrom } from "../../helpers/random.ts";

/** The frames of user streams: each once, in the order of the commits, from any place. */

const exchange = testExchange(test, { sessions: 6 });
const {
  cancel,
  clock,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
} = exchange;
const { operate, place, rest, split } = exchange;

const DAY = 86_400_000;

async function here(): Promise<number> {
  await relayAll(exchange.api);
  return (await findPosition(exchange.api))!;
}

async function eventsSince(
  trader: string,
  position: number,
  include?: Include,
): Promise<UserFrame[]> {
  await relayAll(exchange.api);
  return (await readUserEvents(exchange.api, trader, position, include))!.frames;
}

async function kindsSince(trader: string, position: number, include?: Include): Promise<string[]> {
  return (await eventsSince(trader, position, include)).map(({ event }) => event.type);
}

/** GET /me/fills, the oldest first. */
async function fillsOf(trader: string): Promise<any[]> {
  const { rows } = await exchange.api.query(
    "select api.list_fills(user_id => $1, most => 10000) as page",
    [trader],
  );
  return rows[0].page.data.toReversed();
}

test.serial("taker and maker get a fill for each trade, as in GET /me/fills", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const from = await here();
  const made = await rest(market, ann, buy("yes", 3, 40), buy("yes", 5, 39));
  const { order } = await place(market, bob, buy("no", 4, 61));
  const taken = await eventsSince(bob, from);
  t.deepEqual(
    taken.map(({ event }) => event),
    (await fillsOf(bob)).map((fill, index) => ({
      type: "fill",
      ...fill,
      orderStatus: index === 0 ? "partially_filled" : "filled",
    })),
  );
  t.true(taken.every(({ event }) => event.orderId === order.id && event.liquidity === "taker"));
  const [first, second, told, ...others] = await eventsSince(ann, from);
  const [fill, rest_] = await fillsOf(ann);
  t.deepEqual(first!.event, { type: "fill", ...fill, orderStatus: "filled" });
  t.deepEqual(second!.event, { type: "fill", ...rest_, orderStatus: "partially_filled" });
  t.deepEqual(told!.event, {
    type: "maker_fill",
    marketId: market,
    orderIds: made,
    fillCount: 2,
  });
  t.deepEqual(others, []);
});

test.serial("without being asked for, fills, settlements and statuses are left out", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const from = await here();
  await rest(market, ann, buy("yes", 3, 40));
  await place(market, bob, buy("no", 3, 60));
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  t.deepEqual(await kindsSince(ann, from, {}), ["maker_fill"]);
  t.deepEqual(await kindsSince(ann, from, { fills: true }), ["fill", "maker_fill"]);
  t.deepEqual(await kindsSince(ann, from, { markets: true }), [
    "maker_fill",
    "market_status",
    "market_status",
  ]);
  t.deepEqual(await kindsSince(ann, from, { settlements: true }), ["maker_fill", "settled"]);
});

test.serial("orderStatus is that right after the trade, whatever came later", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const statuses = async (trader: string, from: number) =>
    (await eventsSince(trader, from, { fills: true }))
      .filter(({ event }) => event.type === "fill")
      .map(({ event }) => event.orderStatus);
  const from = await here();
  const [order] = await rest(market, ann, buy("yes", 10, 40));
  await place(market, bob, buy("no", 2, 60));
  t.deepEqual(await statuses(ann, from), ["partially_filled"]);
  await place(market, bob, buy("no", 3, 60));
  t.deepEqual(await statuses(ann, from), ["partially_filled", "partially_filled"]);
  await cancel(ann, order);
  t.deepEqual(await statuses(ann, from), ["partially_filled", "partially_filled"]);
  await rest(market, ann, buy("yes", 2, 40));
  const here_ = await here();
  await place(market, bob, buy("no", 5, 60, ioc));
  t.deepEqual(await statuses(bob, here_), ["cancelled"]);
  t.deepEqual(await statuses(ann, here_), ["filled"]);
});

test.serial("settled: outcome, payout and balance, to each who had shares", async (t) => {
  const [market, ann, bob, eve] = await makeMarketWith(3);
  await rest(market, ann, buy("yes", 3, 40));
  await place(market, bob, buy("no", 3, 60));
  await split(market, bob, 2);
  const from = await here();
  const before = { ann: await exchange.balance(ann), bob: await exchange.balance(bob) };
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  const settled = async (trader: string, position: number) =>
    (await eventsSince(trader, position, { settlements: true })).map(({ event }) => event);
  const shared = { type: "settled", marketId: market };
  t.deepEqual(await settled(ann, from), [
    { ...shared, outcome: "yes", payoutCents: 300, balance: before.ann + 300 },
  ]);
  t.deepEqual(await settled(bob, from), [
    { ...shared, outcome: "yes", payoutCents: 200, balance: before.bob + 200 },
  ]);
  t.deepEqual(await settled(eve, from), []);
  const later = await here();
  await operate("correct_resolution", { market_id: market, outcome: "no", reason: "a mistake" });
  t.deepEqual(await settled(ann, later), [
    { ...shared, outcome: "no", payoutCents: 0, balance: before.ann },
  ]);
  t.deepEqual(await settled(bob, later), [
    { ...shared, outcome: "no", payoutCents: 500, balance: before.bob + 500 },
  ]);
  t.is((await settled(ann, from)).length, 2);
});

test.serial("market_status: to those with orders or shares, and nobody else", async (t) => {
  const [market, ann, bob, cat, eve] = await makeMarketWith(4);
  await split(market, ann, 1);
  await rest(market, bob, buy("yes", 1, 10), buy("yes", 1, 11));
  const [gone] = await rest(market, cat, buy("yes", 1, 12));
  await cancel(cat, gone);
  const from = await here();
  for (const status of ["paused", "paused", "open", "closed"]) {
    await operate("set_market_status", { market_id: market, status });
  }
  await operate("resolve_market", { market_id: market, outcome: "no" });
  const statuses = async (trader: string) =>
    (await eventsSince(trader, from, { markets: true }))
      .filter(({ event }) => event.type === "market_status")
      .map(({ event: { type: _, ...event } }) => event);
  const each = (...list: string[]) => list.map((status) => ({ marketId: market, status }));
  t.deepEqual(await statuses(ann), each("paused", "open", "closed", "resolved"));
  t.deepEqual(await statuses(bob), each("paused", "open", "closed"));
  for (const trader of [cat, eve]) t.deepEqual(await statuses(trader), []);
});

test.serial("a market that closes piece by piece tells each of its users once", async (t) => {
  await clock.freeze("2030-01-01T12:00:00Z");
  const market = await makeMarket({ close_time: "2030-01-01T12:01:00Z" });
  const traders = await makeTraders(6);
  const prices = [1, 2, 3, 4];
  for (const trader of traders) {
    await rest(market, trader, ...prices.map((price) => buy("no", 1, price)));
  }
  await split(market, traders[0], 1);
  const from = await here();
  await clock.advance(60_000);
  await exchange.work("close_markets", { most: 5 });
  for (const trader of traders) {
    const events = (await eventsSince(trader, from)).map(({ event }) => event);
    t.deepEqual(
      events.filter(({ type }) => type === "market_status"),
      [{ type: "market_status", marketId: market, status: "closed" }],
    );
    t.is(events.length, 5);
  }
  await clock.release();
});

test.serial("an event for 1,001 users reaches each of them once", async (t) => {
  const market = await makeMarket();
  const traders = await makeCrowd(exchange, 1001, 0);
  await exchange.query(
    `insert into trading.holdings (market_id, user_id, yes_public_id, yes_quantity)
     select m.id, t.user_id, core.uuid_v7(), 1
     from catalog.markets as m, trading.traders as t
     where m.public_id = $1 and t.public_id = any ($2)`,
    [market, traders],
  );
  const from = await here();
  await operate("set_market_status", { market_id: market, status: "paused" });
  await exchange.query(
    "delete from trading.holdings where market_id = (select id from catalog.markets where public_id = $1)",
    [market],
  );
  await relayAll(exchange.api);
  const { rows } = await exchange.api.query(
    `select e.stream, e.event ->> 'status' as status
     from api.read_user_events(
       $1::uuid[], array_fill($2::bigint, array[1001]), array_fill(false, array[1001]),
       array_fill(false, array[1001]), array_fill(true, array[1001]), 10
     ) as e
     where e.event is not null order by e.stream`,
    [traders, from],
  );
  t.deepEqual(
    rows,
    traders.map((_, index) => ({ stream: index + 1, status: "paused" })),
  );
});

test.serial("older than 24 hours, never given out, or undone by a restore: gone", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  const from = await here();
  const rows = await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
  t.is(rows.length, 2);
  const to = await here();
  const find = (id: number) => findPosition(exchange.api, id);
  t.deepEqual([await find(from), await find(to)], [from, to]);
  for (const unknown of [to + 1, to + 1_000_000, -1]) t.is(await find(unknown), null);
  await clock.advance(DAY - 60_000);
  await relayAll(exchange.api);
  t.is(await find(from + 1), from + 1);
  await clock.advance(60_000);
  await relayAll(exchange.api);
  t.is(await find(from + 1), null);
  t.true((await find(await here())) !== null);
  await clock.advance(3 * DAY);
  await exchange.work("remove_sent_events");
  const kept = await here();
  t.is(await readUserEvents(exchange.api, ann, from), undefined);
  t.deepEqual(await readUserEvents(exchange.api, ann, kept), { frames: [], position: kept });
  await clock.release();

  await exchange.query("update trading.outbox_relay set cluster = 'another'");
  await rest(market, ann, buy("yes", 1, 40));
  const after = await here();
  t.true(after > kept + 1_000_000);
  t.is(await find(kept), kept, "what was sent before is known");
  t.is(await find(kept + 5), null, "what the lost database may have sent after it is not");
});

test.serial("an order on a live market: pending, then released with its fill", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const from = await here();
  await place(market, ann, buy("yes", 2, 40));
  await clock.advance(3000);
  await exchange.release(market);
  await place(market, bob, buy("no", 2, 60));
  await clock.advance(3000);
  await exchange.release(market);
  await clock.release();
  t.deepEqual(await kindsSince(ann, from), [
    "order_pending",
    "order_released",
    "fill",
    "maker_fill",
  ]);
  t.deepEqual(await kindsSince(bob, from), ["order_pending", "order_released", "fill"]);
});

test.serial("a trade that commits after trades with later ids is not left out", async (t) => {
  const [slow, fast] = await makeMarkets(2);
  const [ann, bob, cat, dan] = await makeTraders(4);
  await rest(slow, ann, buy("yes", 2, 40));
  await rest(fast, cat, buy("yes", 9, 40));
  await place(slow, bob, buy("no", 1, 60));
  const from = await here();
  const client = await exchange.api.connect();
  try {
    await client.query("begin");
    await placeOrders(client, [{ marketId: slow, userId: bob, ...buy("no", 1, 60) }]);
    await place(fast, dan, buy("no", 3, 60));
    await relayAll(exchange.api);
    await client.query("commit");
  } finally {
    client.release();
  }
  await place(fast, dan, buy("no", 3, 60));
  t.deepEqual(await kindsSince(ann, from), ["fill", "maker_fill"]);
  t.deepEqual(await kindsSince(bob, from), ["fill"]);
  t.deepEqual(await kindsSince(dan, from), ["fill", "fill"]);
});

/**
 * Several connections place orders in several markets at once, also in shared calls, while three
 * relays run: so events come in another order than the ids of the outbox and of the trades.
 */
test.serial("random trading at once: every page from every place is the rest", async (t) => {
  const random = randomFrom("read_user_events");
  const markets = await makeMarkets(3);
  const traders = await makeTraders(5);
  const quiet = await makeTrader();
  const from = await here();
  let isOver = false;
  const relays = Array.from({ length: 2 }, async () => {
    while (!isOver) await exchange.api.query("select api.relay_outbox()");
  });
  const request = () => {
    const side = random.anyOf(["yes", "no"] as const);
    const price = random.between(35, 65);
    const quantity = random.between(1, 20);
    if (random.chance(0.1)) return spend(side, 500);
    if (random.chance(0.1)) return sell(side, 1, price);
    return buy(side, quantity, price, random.chance(0.2) ? ioc : {});
  };
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < effort(25); turn++) {
        const orders = Array.from({ length: random.between(1, 8) }, () => ({
          marketId: random.anyOf(markets),
          userId: random.anyOf(traders),
          ...request(),
        }));
        await withClient(exchange.api, (client) => placeOrders(client, orders)).catch(
          (error: unknown) => {
            // A slice that is read deeper may find a maker locked.
            if ((error as { code?: string }).code !== "55P03") throw error;
          },
        );
      }
    }),
  );
  isOver = true;
  await Promise.all(relays);
  await operate("resolve_market", { market_id: markets[0], outcome: "yes" });

  t.deepEqual(await eventsSince(quiet, from), []);
  let fills = 0;
  for (const trader of traders) {
    const all = await eventsSince(trader, from);
    const positions = all.map(({ position }) => position);
    t.deepEqual(
      positions,
      [...new Set(positions)].toSorted((a, b) => a - b),
      "ids rise, and each is of one frame",
    );
    const filled = all.filter(({ event }) => event.type === "fill").map(({ event }) => event);
    fills += filled.length;
    t.deepEqual(
      filled.map(({ type: _, orderStatus: __, ...fill }) => fill),
      await fillsOf(trader),
      "every fill once, in the order of the account",
    );
    t.is(
      all
        .filter(({ event }) => event.type === "maker_fill")
        .reduce((sum, { event }) => sum + Number(event.fillCount), 0),
      filled.filter(({ liquidity }) => liquidity === "maker").length,
    );
    for (let turn = 0; turn < 40; turn++) {
      let position = random.chance(0.2) ? from : random.between(from, positions.at(-1)!);
      const rest_ = all.filter((frame) => frame.position > position);
      const most = random.between(1, 30);
      const read: UserFrame[] = [];
      for (;;) {
        const page = (await readUserEvents(exchange.api, trader, position, undefined, most))!;
        read.push(...page.frames);
        position = page.position;
        if (page.frames.length < most) break;
      }
      t.deepEqual(read, rest_);
    }
  }
  t.true(fills > effort(100));
});
