import test from "ava";
import { withRollback } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { TraderOptions } from "../../helpers/exchange/test_exchange.ts";
import { buy, codesOf, ioc, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** LOSS_LIMIT: net cash put in, what open orders could still cost, and this order. */

const exchange = testExchange(test);
const { clock, giveShares, makeMarket, makeMarketWith, makeTrader, makeTraders, operate } =
  exchange;
const { place, refusal, rest } = exchange;

const setLimits = (
  trader: string,
  [day_cents, week_cents, month_cents]: (number | null)[],
  immediate = false,
) => operate("set_loss_limits", { user_id: trader, day_cents, week_cents, month_cents, immediate });

/** A market where a maker buys and sells without end at 50, and a trader with limits. */
async function makeLimited(limits: NonNullable<TraderOptions["limits"]>) {
  const [market, maker] = await makeMarketWith(1, { cents: 100_000_000 });
  await giveShares(market, maker, "no", 10_000);
  await rest(market, maker, buy("no", 10_000, 50));
  const trader = await makeTrader({ limits });
  return { market, maker, trader };
}

test("LOSS_LIMIT: open buys count at their price, up to the limit and not beyond", async (t) => {
  const [market, trader] = await makeMarketWith(1, { limits: [1000, null, null] });
  await rest(market, trader, buy("yes", 10, 60));
  t.is(await refusal(market, trader, buy("yes", 5, 99)), "LOSS_LIMIT");
  t.is(await refusal(market, trader, buy("yes", 401, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 400, 1))).length, 1);
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
});

test("LOSS_LIMIT: open buys of other markets count too", async (t) => {
  const [market, other] = await exchange.makeMarkets(2);
  const trader = await makeTrader({ limits: [1000, null, null] });
  await rest(other, trader, buy("no", 10, 60));
  t.is(await refusal(market, trader, buy("yes", 401, 1)), "LOSS_LIMIT");
});

test("LOSS_LIMIT: more than 10,000 open orders count as more than any limit", async (t) => {
  const [market, trader] = await makeMarketWith(1, { limits: [1_000_000_000, null, null] });
  const offers = Array.from({ length: 500 }, (): [string, Request] => [trader, buy("yes", 1, 1)]);
  for (let count = 0; count < 10_000; count += offers.length) {
    for (const { code } of await exchange.placeBatch(market, offers)) t.is(code, null);
  }
  const [last] = await rest(market, trader, buy("yes", 1, 1));
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
  // They are read while the market is locked: a call for each would take twenty times as long.
  await withRollback(exchange.database.pool, async (client) => {
    await client.query("set local track_functions = 'all'");
    await client.query(
      "select trading.open_cost_cents(user_id, now(), 20000) from trading.traders where public_id = $1",
      [trader],
    );
    const { rows } = await client.query("select funcname from pg_stat_xact_user_functions");
    t.deepEqual(
      rows.filter(({ funcname }) => /order_cost/.test(funcname)),
      [],
    );
  });
  // The order that is replaced, or released, does not count.
  t.is((await exchange.amend(trader, last, { price: 2 })).code, null);
  const [left] = (await exchange.orders(trader)).data;
  await exchange.cancel(trader, left!.id);
  const { market: live } = await exchange.makeLiveMarket();
  const { order: scheduled } = await place(live, trader, buy("yes", 1, 1));
  await exchange.clock.advance(3000);
  t.is(await exchange.release(live), 1);
  t.is((await exchange.order(trader, scheduled.id)).status, "open");
});

test("LOSS_LIMIT: what was bought counts with its fee", async (t) => {
  const { market, trader } = await makeLimited([1000, null, null]);
  t.is(await refusal(market, trader, buy("yes", 20, 50)), "LOSS_LIMIT"); // 1000 and 35
  await place(market, trader, buy("yes", 10, 50)); // 500 and 17.5, so 518
  t.is(await refusal(market, trader, buy("yes", 483, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 482, 1))).length, 1);
});

test("LOSS_LIMIT: fills, fee and resting remainder count together", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  await rest(market, maker, buy("no", 10, 60));
  const request = buy("yes", 15, 45); // 400 and 17, 225 resting
  const under = await makeTrader({ limits: [641, null, null] });
  t.is(await refusal(market, under, request), "LOSS_LIMIT");
  const at = await makeTrader({ limits: [642, null, null] });
  t.is((await place(market, at, request)).order.filledQuantity, 10);
});

test("LOSS_LIMIT: market and budget buys count as what they execute", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  await rest(market, maker, buy("no", 20, 50));
  for (const request of [
    buy("yes", 10),
    buy("yes", 10, 99, ioc),
    spend("yes", 518),
    spend("yes", 530),
  ]) {
    const under = await makeTrader({ limits: [517, null, null] });
    t.is(await refusal(market, under, request), "LOSS_LIMIT");
  }
  const at = await makeTrader({ limits: [518, null, null] });
  t.is((await place(market, at, spend("yes", 530))).order.quantity, 10);
});

test("LOSS_LIMIT: each of the three limits is enough to refuse", async (t) => {
  const market = await makeMarket();
  for (const limits of [
    [99, null, null],
    [null, 99, null],
    [null, null, 99],
    [1000, 99, 1000],
  ] as NonNullable<TraderOptions["limits"]>[]) {
    const trader = await makeTrader({ limits });
    t.is(await refusal(market, trader, buy("yes", 100, 1)), "LOSS_LIMIT");
    t.is((await rest(market, trader, buy("yes", 99, 1))).length, 1);
  }
});

test("LOSS_LIMIT: a limit of 0 refuses every buy", async (t) => {
  const [market, trader] = await makeMarketWith(1, { limits: [0, null, null] });
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
});

test("sells never count, resting or not, and give back what they bring", async (t) => {
  const { market, maker, trader } = await makeLimited([518, null, null]);
  await place(market, trader, buy("yes", 10, 50)); // all of the limit
  await rest(market, trader, sell("yes", 10, 99));
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
  await rest(market, maker, buy("yes", 10, 49));
  const { balance } = await place(market, trader, sell("yes", 10, 49)); // 490 less 18 of fee
  t.is(balance.total, 100_000 - 518 + 472);
  t.is(await refusal(market, trader, buy("yes", 473, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 472, 1))).length, 1);
});

test("winnings do not raise the limit", async (t) => {
  const { market, maker, trader } = await makeLimited([1000, null, null]);
  await place(market, trader, buy("yes", 10, 50));
  await exchange.cancel(maker, (await exchange.orders(maker, { market })).data[0]!.id);
  await rest(market, maker, buy("yes", 10, 99));
  await place(market, trader, sell("yes", 10, 99));
  t.is(await refusal(market, trader, buy("yes", 1001, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 1000, 1))).length, 1);
});

test("deposits and withdrawals do not count", async (t) => {
  const { market, trader } = await makeLimited([518, null, null]);
  await place(market, trader, buy("yes", 10, 50));
  await operate("deposit", { user_id: trader, amount_cents: 5000, reference: "in" });
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
  const fresh = await makeTrader({ limits: [518, null, null] });
  await operate("withdraw", { user_id: fresh, amount_cents: 90_000, reference: "out" });
  t.is((await place(market, fresh, buy("yes", 10, 50))).order.status, "filled");
});

test("cancelled orders no longer count, and filled ones count once", async (t) => {
  const { market, maker, trader } = await makeLimited([600, null, null]);
  const [order] = await rest(market, trader, buy("yes", 12, 49)); // 588
  t.is(await refusal(market, trader, buy("yes", 13, 1)), "LOSS_LIMIT");
  await exchange.cancel(trader, order);
  await rest(market, trader, buy("yes", 12, 49));
  await place(market, maker, sell("no", 6, 51)); // half of it fills
  t.is(await refusal(market, trader, buy("yes", 13, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 12, 1))).length, 1);
});

test("in one batch each order counts for the next", async (t) => {
  const { market, trader } = await makeLimited([1000, null, null]);
  const outcomes = await exchange.placeBatch(market, [
    [trader, buy("yes", 10, 50)], // 518
    [trader, buy("yes", 100, 3)], // 300 resting
    [trader, buy("yes", 183, 1)],
    [trader, buy("yes", 182, 1)],
    [trader, buy("yes", 1, 1)],
  ]);
  t.deepEqual(codesOf(outcomes), [null, null, "LOSS_LIMIT", null, "LOSS_LIMIT"]);
});

test("in one batch a resting order that filled or was cancelled no longer counts as open", async (t) => {
  const [market, taker] = await makeMarketWith(1);
  const filled = await makeTrader({ limits: [1000, null, null] });
  await rest(market, filled, buy("no", 10, 49)); // 490
  const [taken, within, beyond] = await exchange.placeBatch(market, [
    [taker, buy("yes", 10, 51)],
    [filled, buy("yes", 510, 1)],
    [filled, buy("yes", 1, 1)],
  ]);
  t.is(taken!.answer!.order.status, "filled");
  t.deepEqual([within!.code, beyond!.code], [null, "LOSS_LIMIT"]);

  const dead = await makeTrader({ limits: [1000, null, null] });
  await rest(market, dead, buy("no", 20, 49)); // 980
  await operate("withdraw", { user_id: dead, amount_cents: 99_500, reference: "out" });
  const [met, next] = await exchange.placeBatch(market, [
    [taker, buy("yes", 20, 51)],
    [dead, buy("yes", 500, 1)],
  ]);
  t.is(met!.answer!.cancelledOrders[0]!.cancelReason, "insufficient_funds");
  t.is(next!.code, null);
});

test.serial("an open order past its expiry no longer counts", async (t) => {
  await clock.freeze("2040-01-10T12:00:00Z");
  const [market, trader] = await makeMarketWith(1, { limits: [1000, null, null] });
  await rest(market, trader, buy("yes", 10, 60, { expiresAt: "2040-01-10T13:00:00Z" }));
  t.is(await refusal(market, trader, buy("no", 1000, 1)), "LOSS_LIMIT");
  await clock.freeze("2040-01-10T13:00:00Z");
  t.is((await rest(market, trader, buy("no", 1000, 1))).length, 1);
});

const windows = [
  { limit: "day", limits: [600, null, null], lastDay: "2040-03-10", nextDay: "2040-03-11" },
  { limit: "week", limits: [null, 600, null], lastDay: "2040-03-16", nextDay: "2040-03-17" },
  { limit: "month", limits: [null, null, 600], lastDay: "2040-04-08", nextDay: "2040-04-09" },
] as const;
for (const { limit, limits, lastDay, nextDay } of windows) {
  test.serial(`the limit of the ${limit} counts UTC days, today included`, async (t) => {
    await clock.freeze("2040-03-10T00:00:00Z");
    const { market, trader } = await makeLimited([...limits]);
    await place(market, trader, buy("yes", 10, 50)); // 518 on the 10th of March
    await clock.freeze(`${lastDay}T23:59:59.999Z`);
    t.is(await refusal(market, trader, buy("yes", 83, 1)), "LOSS_LIMIT");
    await clock.freeze(`${nextDay}T00:00:00Z`);
    await place(market, trader, buy("yes", 11, 50)); // 570
    t.is(await refusal(market, trader, buy("yes", 31, 1)), "LOSS_LIMIT");
    t.is((await rest(market, trader, buy("yes", 30, 1))).length, 1);
  });
}

test.serial(
  "a window nets what came back in it with what went in during it, not before it",
  async (t) => {
    await clock.freeze("2040-03-01T12:00:00Z");
    const { market, maker, trader } = await makeLimited([null, 600, null]);
    await place(market, trader, buy("yes", 10, 50)); // 518
    await clock.freeze("2040-03-04T12:00:00Z");
    await rest(market, maker, buy("yes", 10, 40));
    await place(market, trader, sell("yes", 10, 40)); // 400 less 17
    t.is(await refusal(market, trader, buy("yes", 466, 1)), "LOSS_LIMIT"); // 135 of 600 are used
    await clock.freeze("2040-03-08T12:00:00Z");
    // Only the sale is left in the week: nothing is used, and no more than the limit is free.
    t.is(await refusal(market, trader, buy("yes", 601, 1)), "LOSS_LIMIT");
    t.is((await rest(market, trader, buy("yes", 600, 1))).length, 1);
  },
);

test.serial("a deposit between two purchases of a window does not change their sum", async (t) => {
  await clock.freeze("2040-03-01T12:00:00Z");
  const { market, trader } = await makeLimited([null, 1000, null]);
  await place(market, trader, buy("yes", 8, 50)); // 414
  await clock.freeze("2040-03-03T12:00:00Z");
  await operate("deposit", { user_id: trader, amount_cents: 777, reference: "third" });
  await place(market, trader, buy("yes", 8, 50)); // 828 together
  await clock.freeze("2040-03-05T12:00:00Z");
  await operate("withdraw", { user_id: trader, amount_cents: 333, reference: "fifth" });
  t.is(await refusal(market, trader, buy("yes", 173, 1)), "LOSS_LIMIT");
  await clock.freeze("2040-03-08T12:00:00Z"); // the first purchase is out of the week
  t.is(await refusal(market, trader, buy("yes", 587, 1)), "LOSS_LIMIT");
  t.is((await rest(market, trader, buy("yes", 586, 1))).length, 1);
});

test.serial("lowering holds at once, raising after 24 hours", async (t) => {
  await clock.freeze("2040-05-01T12:00:00Z");
  const [market, trader] = await makeMarketWith(1, { limits: [1000, null, null] });
  await setLimits(trader, [500, null, null]);
  t.is(await refusal(market, trader, buy("yes", 501, 1)), "LOSS_LIMIT");
  await setLimits(trader, [2000, null, null]);
  t.is(await refusal(market, trader, buy("yes", 501, 1)), "LOSS_LIMIT");
  await clock.freeze("2040-05-02T11:59:59.999Z");
  t.is(await refusal(market, trader, buy("yes", 501, 1)), "LOSS_LIMIT");
  await clock.freeze("2040-05-02T12:00:00Z");
  t.is((await rest(market, trader, buy("yes", 2000, 1))).length, 1);
});

test.serial("removing a limit waits 24 hours as well; immediate does not", async (t) => {
  await clock.freeze("2040-05-01T12:00:00Z");
  const [market, trader] = await makeMarketWith(1, { limits: [null, 100, 100] });
  await setLimits(trader, [null, null, null]);
  t.is(await refusal(market, trader, buy("yes", 101, 1)), "LOSS_LIMIT");
  await clock.freeze("2040-05-02T12:00:00Z");
  await rest(market, trader, buy("yes", 101, 1));
  await setLimits(trader, [50, null, null]);
  t.is(await refusal(market, trader, buy("yes", 1, 1)), "LOSS_LIMIT");
  await setLimits(trader, [null, null, null], true);
  t.is((await rest(market, trader, buy("yes", 1, 1))).length, 1);
});

/** Two users: the first has the lower user id and the higher account id. */
async function makeCrossed(options: [TraderOptions, TraderOptions]): Promise<[string, string]> {
  const { pool } = exchange.database;
  const made = await makeTraders(12, { cents: 0, reviewed: false });
  const { rows } = await pool.query(
    `select one.public_id as low, other.public_id as high
     from identity.users as one
     join identity.users as other on other.id > one.id and other.public_id < one.public_id
     where one.public_id = any ($1) and other.public_id = any ($1)
     limit 1`,
    [made],
  );
  const pair: [string, string] = [rows[0].low, rows[0].high];
  for (const [index, user_id] of pair.entries()) {
    const { cents, limits: [day_cents, week_cents, month_cents] = [null, null, null] } =
      options[index]!;
    await operate("deposit", { user_id, amount_cents: cents, reference: "start" });
    await operate("set_loss_limits", { user_id, day_cents, week_cents, month_cents });
  }
  return pair;
}

for (const [what, together] of [
  ["met alone", false],
  ["met in a batch", true],
] as const) {
  test(`LOSS_LIMIT: it is the trader's own limit, in any order of account ids: ${what}`, async (t) => {
    const cents = 1_000_000;
    const [narrow, wide] = await makeCrossed([
      { cents, limits: [100, null, null] },
      { cents, limits: [500_000, null, null] },
    ]);
    for (const [taker, maker, code] of [
      [narrow, wide, "LOSS_LIMIT"],
      [wide, narrow, null],
    ] as const) {
      const market = await makeMarket();
      // A maker's 5 at 9 are within both limits; a taker's at 91 are beyond the narrow one.
      const makers = together ? [maker, await makeTrader({ limits: [null, null, null] })] : [maker];
      for (const one of makers) await rest(market, one, buy("no", 5, 9));
      const request = buy("yes", 5 * makers.length, 91);
      const [outcome] = await exchange.placeBatch(market, [[taker, request]]);
      t.is(outcome!.code, code);
      if (code === null) t.is(outcome!.answer!.order.status, "filled");
    }
  });
}

test("loss_limit: a maker's own limit counts, in any order of account ids", async (t) => {
  const cents = 1_000_000;
  const [narrow, wide] = await makeCrossed([
    { cents, limits: [100, null, null] },
    { cents, limits: [500_000, null, null] },
  ]);
  const market = await makeMarket();
  const [alive] = await rest(market, wide, buy("no", 5, 20));
  const [dead] = await rest(market, narrow, buy("no", 5, 20));
  const taker = await makeTrader({ limits: [null, null, null] });
  await operate("set_loss_limits", {
    ...{ user_id: narrow, day_cents: 99, week_cents: null, month_cents: null },
  });
  const { fills, cancelledOrders } = await place(market, taker, buy("yes", 10, 80, ioc));
  t.deepEqual(
    fills.map(({ quantity }) => quantity),
    [5],
  );
  t.deepEqual(
    cancelledOrders.map(({ id, cancelReason }) => [id, cancelReason]),
    [[dead, "loss_limit"]],
  );
  t.is((await exchange.order(wide, alive)).status, "filled");
});
