import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { accounts, balance, makeMarket, makeMarketWith, makeTrader, merge, operate, order } =
  exchange;
const { place, position, rest, split, version } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

const code = async (...[id, trader, quantity]: Parameters<typeof merge>) =>
  (await merge(id, trader, quantity)).code;

test("a set comes back as 100 cents; each leg realises 50 a share less cost and fees", async (t) => {
  const id = await makeMarket();
  const [ann, bob] = [await makeTrader({ cents: 1000 }), await makeTrader()];
  await rest(id, bob, buy("no", 3, 67));
  await place(id, ann, buy("yes", 3, 33)); // cost 99, fee 4.6431
  await rest(id, bob, buy("yes", 2, 60));
  await place(id, ann, buy("no", 2, 40)); // cost 80, fee 3.36
  const before = await balance(ann);
  const unchanged = await version(id);

  const { answer } = await merge(id, ann, 1);
  t.is(answer!.balance.total, before + 100);
  t.deepEqual(
    answer!.positions.map(({ side, quantity, avgPrice, realisedPnl }) => [
      ...[side, quantity, avgPrice, realisedPnl],
    ]),
    [
      ["yes", 2, 33, 50 - 33 - 2], // 5/3 of fees
      ["no", 1, 40, 50 - 40 - 2],
    ],
  );
  t.deepEqual(await position(id, ann, "yes"), { quantity: 2, cost: 66, fees: 3, realised: 15 });
  t.deepEqual(await position(id, ann, "no"), { quantity: 1, cost: 40, fees: 2, realised: 8 });
  t.is((await accounts(id)).escrow, 400);

  // The last NO share takes all that is left, and its empty position is not shown.
  const last = await merge(id, ann, 1);
  t.deepEqual(
    last.answer!.positions.map(({ side }) => side),
    ["yes"],
  );
  t.deepEqual(await position(id, ann, "no"), { quantity: 0, cost: 0, fees: 0, realised: 16 });
  t.is(await version(id), unchanged);
  const rows = await exchange.query(
    `select c.kind, c.quantity, c.yes_realised_cents as yes, c.no_realised_cents as no
     from trading.set_conversions as c join catalog.markets as m on m.id = c.market_id
     where m.public_id = $1 order by c.id`,
    [id],
  );
  t.deepEqual(rows, [
    { kind: "merge", quantity: 1, yes: 15, no: 8 },
    { kind: "merge", quantity: 1, yes: 50 - 33 - 2, no: 50 - 40 - 2 },
  ]);
});

test("a split merged again leaves nothing", async (t) => {
  const [id, ann] = await makeMarketWith(1, { cents: 1000 });
  await split(id, ann, 10);
  const { answer } = await merge(id, ann, 10);
  t.deepEqual(answer, {
    marketId: id,
    quantity: 10,
    balance: { total: 1000, available: 1000 },
    positions: [],
  });
  t.deepEqual(await accounts(id), { escrow: 0, revenue: 0 });
});

test("INSUFFICIENT_BALANCE: too little of either side", async (t) => {
  const [id, ann, bob, cid] = await makeMarketWith(3);
  t.is(await code(id, ann, 1), "INSUFFICIENT_BALANCE");
  await rest(id, bob, buy("no", 5, 50));
  await place(id, ann, buy("yes", 5, 50));
  t.is(await code(id, ann, 1), "INSUFFICIENT_BALANCE");
  await split(id, ann, 2);
  t.is(await code(id, ann, 3), "INSUFFICIENT_BALANCE");
  t.is(await code(id, ann, 2), null);
  await split(id, cid, 2);
  await rest(id, bob, buy("yes", 1, 50));
  await place(id, cid, sell("yes", 1, 50));
  t.is(await code(id, cid, 2), "INSUFFICIENT_BALANCE");
});

test("an order to sell what was merged is found dead when it would match", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await split(id, ann, 10);
  const [offer] = await rest(id, ann, sell("yes", 10, 60));
  t.is(await code(id, ann, 1), null);
  const { cancelledOrders } = await place(id, bob, buy("yes", 10, 60));
  t.deepEqual(
    cancelledOrders.map((cancelled) => [cancelled.id, cancelled.cancelReason]),
    [[offer, "position_insufficient"]],
  );
  t.like(await order(ann, offer), { status: "cancelled" });
});

test.serial(
  "always allowed: paused, excluded, over a limit, in a paused or closed market",
  async (t) => {
    const [id, ann] = await makeMarketWith(1);
    await split(id, ann, 5);
    const limits = { user_id: ann, day_cents: 0, week_cents: 0, month_cents: 0 };
    await operate("set_loss_limits", { ...limits, immediate: true });
    await operate("self_exclude", { user_id: ann });
    await operate("set_trading_pause", { paused: true });
    t.is(await code(id, ann, 1), null);
    await operate("set_trading_pause", { paused: false });
    for (const status of ["paused", "closed"]) {
      await operate("set_market_status", { market_id: id, status });
      t.is(await code(id, ann, 1), null);
    }
  },
);

test("MARKET_NOT_OPEN: resolved, and only that", async (t) => {
  const [id, ann] = await makeMarketWith(1);
  await split(id, ann, 5);
  await operate("resolve_market", { market_id: id, outcome: "yes" });
  t.is(await code(id, ann, 1), "MARKET_NOT_OPEN");
  t.is(await balance(ann), 100_000);
});

test("INVALID_REQUEST, UNAUTHORIZED, MARKET_NOT_FOUND, in this order", async (t) => {
  const [id, ann] = [await makeMarket(), await makeTrader()];
  for (const quantity of [0, -1, 10_001]) {
    t.is(await code(nowhere, nowhere, quantity), "INVALID_REQUEST");
  }
  t.is(await code(nowhere, nowhere, 1), "UNAUTHORIZED");
  t.is(await code(id, nowhere, 1), "UNAUTHORIZED");
  t.is(await code(nowhere, ann, 1), "MARKET_NOT_FOUND");
});
