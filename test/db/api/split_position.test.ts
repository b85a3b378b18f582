import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { accounts, balance, clock, makeMarket, makeMarketWith, makeTrader, market, operate } =
  exchange;
const { place, position, refusal, rest, split, version } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

const code = async (...[id, trader, quantity]: Parameters<typeof split>) =>
  (await split(id, trader, quantity)).code;

test("100 cents make one share of each side, which cost 50; no fee", async (t) => {
  const id = await makeMarket({ title: 'Will "it" rain?' });
  const ann = await makeTrader({ cents: 1000 });
  const { answer } = await split(id, ann, 7);
  t.deepEqual(answer!.balance, { total: 300, available: 300 });
  t.like(answer, { marketId: id, quantity: 7 });
  t.deepEqual(
    answer!.positions.map(({ id: _, ...rest }) => rest),
    (["yes", "no"] as const).map((side) => ({
      marketId: id,
      marketTitle: 'Will "it" rain?',
      marketStatus: "open" as const,
      lastTradePrice: null,
      side,
      quantity: 7,
      avgPrice: 50,
      realisedPnl: 0,
    })),
  );
  t.is(await balance(ann), 300);
  t.deepEqual(await accounts(id), { escrow: 700, revenue: 0 });
  for (const side of ["yes", "no"] as const) {
    t.deepEqual(await position(id, ann, side), { quantity: 7, cost: 350, fees: 0, realised: 0 });
  }
});

test("a split adds to the shares there are, whose average price follows", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, bob, buy("no", 2, 70));
  await place(id, ann, buy("yes", 2, 30)); // fee 2.94
  const { answer } = await split(id, ann, 1);
  t.deepEqual(
    answer!.positions.map(({ side, quantity, avgPrice, lastTradePrice }) => [
      ...[side, quantity, avgPrice, lastTradePrice],
    ]),
    [
      ["yes", 3, 37, 30], // 110 / 3
      ["no", 1, 50, 30],
    ],
  );
  t.deepEqual(await position(id, ann, "yes"), { quantity: 3, cost: 110, fees: 3, realised: 0 });
});

test("shares from a split can be sold, and count as traded only then", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  const before = await version(id);
  await split(id, ann, 10);
  t.is(await version(id), before, "neither the book nor the trades changed");
  t.like(await market(id), { yesVolume: 0, noVolume: 0, lastTradePrice: null });
  const traders = async () => {
    const rows = await exchange.query(
      `select b.traders_count as count from trading.market_state as b
       join catalog.markets as m on m.id = b.market_id where m.public_id = $1`,
      [id],
    );
    return rows[0].count;
  };
  t.is(await traders(), 0);
  await rest(id, ann, sell("yes", 10, 60));
  await place(id, bob, buy("yes", 10, 60));
  t.is(await traders(), 2);
  t.is((await position(id, ann, "yes")).realised, 100);
});

test("INSUFFICIENT_BALANCE: 100 cents a set, to the cent", async (t) => {
  const [id, ann] = await makeMarketWith(1, { cents: 299 });
  t.is(await code(id, ann, 3), "INSUFFICIENT_BALANCE");
  t.is(await balance(ann), 299);
  t.is(await code(id, ann, 2), null);
});

test("LOSS_LIMIT: what is split counts as put in, with what open orders could still cost", async (t) => {
  const [id, other] = [await makeMarket(), await makeMarket()];
  const ann = await makeTrader({ limits: [1000, null, null] });
  await rest(other, ann, buy("yes", 10, 20));
  t.is(await code(id, ann, 9), "LOSS_LIMIT");
  t.is(await code(id, ann, 8), null);
  t.is(await refusal(id, ann, buy("yes", 1, 1)), "LOSS_LIMIT");
});

test.serial("codes of the trader and the market have the same order as for an order", async (t) => {
  const [id, closed, over] = [
    await makeMarket(),
    await makeMarket(),
    await makeMarket({ close_time: "2090-01-01T00:00:00Z" }),
  ];
  const [ann, shut] = [await makeTrader({ cents: 50 }), await makeTrader({ reviewed: false })];
  await operate("set_market_status", { market_id: closed, status: "closed" });
  t.is(await code(nowhere, shut, 1), "LIMITS_SETUP_REQUIRED");
  t.is(await code(nowhere, ann, 1), "MARKET_NOT_FOUND");
  t.is(await code(closed, ann, 1), "MARKET_NOT_OPEN");
  t.is(await code(id, nowhere, 1), "UNAUTHORIZED");
  await clock.freeze("2090-01-01T00:00:00Z");
  t.is(await code(over, ann, 1), "MARKET_NOT_OPEN");
  await clock.release();
  await operate("self_exclude", { user_id: shut });
  t.is(await code(nowhere, shut, 1), "SELF_EXCLUDED");
  await operate("set_trading_pause", { paused: true });
  t.is(await code(nowhere, shut, 1), "TRADING_PAUSED");
  for (const quantity of [0, -1, 10_001]) {
    t.is(await code(nowhere, shut, quantity), "INVALID_REQUEST");
  }
  await operate("set_trading_pause", { paused: false });
});
