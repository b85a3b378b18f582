import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** 7 % of quantity x p x (1 - p), rounded up once per order, paid by takers. */

const exchange = testExchange(test);
const {
  accounts,
  balance,
  giveShares,
  makeMarket,
  makeMarketWith,
  makeTrader,
  makeTraders,
  operate,
  place,
  refusal,
  rest,
} = exchange;

async function makePair() {
  const [market, maker, taker] = await makeMarketWith(2);
  return { market, maker, taker };
}

/** What each match added to the fee, and under which schedule. */
async function feesOfFills(order: string) {
  const rows = await exchange.query(
    `select t.fee_cents as cents, t.fee_schedule_id as schedule
     from trading.trades as t
     join trading.orders as o on o.id = t.taker_order_id
     where o.public_id = $1
     order by t.id`,
    [order],
  );
  return rows;
}

for (const [quantity, price, fee] of [
  [100, 50, 175],
  [1, 50, 2], // 1.75
  [1, 1, 1], // 0.0693
  [1, 99, 1],
  [10_000, 50, 17_500],
  [10_000, 1, 693],
  [3, 33, 5], // 4.6431
] as const) {
  test(`${quantity} at ${price} cost a fee of ${fee}`, async (t) => {
    const [market, maker, taker] = await makeMarketWith(2, { cents: 2_000_000 });
    await rest(market, maker, buy("no", quantity, 100 - price));
    const { feeCents, balance: left } = await place(market, taker, buy("yes", quantity, price));
    t.is(feeCents, fee);
    t.is(left.total, 2_000_000 - quantity * price - fee);
    t.is((await accounts(market)).revenue, fee);
  });
}

test("makers pay no fee", async (t) => {
  const { market, maker, taker } = await makePair();
  await rest(market, maker, buy("no", 100, 50));
  await place(market, taker, buy("yes", 100, 50));
  t.is(await balance(maker), 100_000 - 5000);
});

test("splitting an order over several makers never costs more: each match is charged the increase", async (t) => {
  const { market, maker, taker } = await makePair();
  await rest(market, maker, ...Array.from({ length: 4 }, () => buy("no", 1, 50)));
  const { order, feeCents } = await place(market, taker, buy("yes", 4, 50));
  t.is(feeCents, 7); // rounded up one by one it would be 8
  t.deepEqual(
    (await feesOfFills(order.id)).map((fill) => fill.cents),
    [2, 2, 2, 1], // 1.75, 3.5, 5.25, 7 rounded up: 2, 4, 6, 7
  );
});

test("a match may add nothing to the fee", async (t) => {
  const { market, maker, taker } = await makePair();
  await rest(market, maker, ...Array.from({ length: 3 }, () => buy("no", 1, 99)));
  const { order, feeCents } = await place(market, taker, buy("yes", 3, 1));
  t.is(feeCents, 1); // 0.2079
  t.deepEqual(
    (await feesOfFills(order.id)).map((fill) => fill.cents),
    [1, 0, 0],
  );
});

test("what a resting remainder fills later is free of fees", async (t) => {
  const { market, maker, taker } = await makePair();
  await rest(market, maker, buy("no", 10, 50));
  const { order, feeCents } = await place(market, taker, buy("yes", 20, 50));
  t.is(feeCents, 18);
  await place(market, maker, buy("no", 10, 50));
  t.like(await exchange.order(taker, order.id), { status: "filled" });
  t.is(await balance(taker), 100_000 - 1000 - 18);
});

test("a seller is paid the proceeds less the fee", async (t) => {
  const { market, maker, taker } = await makePair();
  await giveShares(market, taker, "no", 100); // 5000 and 175
  await rest(market, maker, buy("no", 100, 20));
  const answer = await place(market, taker, sell("no", 100, 20));
  t.is(answer.feeCents, 112);
  t.is(answer.balance.total, 100_000 - 5175 + 2000 - 112);
});

test("a sale may bring just its fee: then the seller's account has no entry of it", async (t) => {
  const { market, maker, taker } = await makePair();
  await giveShares(market, taker, "yes", 1);
  await rest(market, maker, buy("yes", 1, 1));
  const entries = async () => {
    const rows = await exchange.query(
      `select t.balance_cents::int as balance, t.account_version::int as version, (
         select count(*)::int from ledger.entries as e
         where e.account_id = ledger.user_account_id(t.user_id)
       ) as entries
       from trading.traders as t where t.public_id = $1`,
      [taker],
    );
    return rows[0];
  };
  const before = await entries();
  const { feeCents } = await place(market, taker, sell("yes", 1, 1));
  t.is(feeCents, 1); // 0.0693
  t.deepEqual(await entries(), before);
  t.like(await exchange.position(market, taker, "yes"), { quantity: 0, realised: -52 });
});

test("INSUFFICIENT_BALANCE: there is enough for the shares but not for the fee", async (t) => {
  const { market, maker } = await makePair();
  await rest(market, maker, buy("no", 100, 50));
  const short = await makeTrader({ cents: 5174 });
  t.is(await refusal(market, short, buy("yes", 100, 50)), "INSUFFICIENT_BALANCE");
  const enough = await makeTrader({ cents: 5175 });
  t.is((await place(market, enough, buy("yes", 100, 50))).balance.total, 0);
});

test("a market's own schedule comes before its category's, that before the default", async (t) => {
  await operate("create_category", { slug: "fees", name: "Fees" });
  const market = await makeMarket({ category: "fees" });
  const [maker, taker] = await makeTraders(2);
  await rest(market, maker, buy("no", 1000, 50));
  const feeOf100 = async () => {
    const { order, feeCents } = await place(market, taker, buy("yes", 100, 50));
    const [fill] = await feesOfFills(order.id);
    return { feeCents, schedule: fill.schedule };
  };
  t.is((await feeOf100()).feeCents, 175);

  const ofCategory = await operate("set_fee_schedule", { taker_rate_bps: 400, category: "fees" });
  t.deepEqual(await feeOf100(), { feeCents: 100, schedule: ofCategory });

  const ofMarket = await operate("set_fee_schedule", { taker_rate_bps: 0, market_id: market });
  t.deepEqual(await feeOf100(), { feeCents: 0, schedule: ofMarket });

  const later = await operate("set_fee_schedule", { taker_rate_bps: 10, market_id: market });
  t.deepEqual(await feeOf100(), { feeCents: 3, schedule: later }); // 2.5

  // Other markets, of other categories, are charged as before.
  const other = await makeMarket();
  await rest(other, maker, buy("no", 100, 50));
  t.is((await place(other, taker, buy("yes", 100, 50))).feeCents, 175);
});

test("a schedule holds from its date on, and not before", async (t) => {
  const { market, maker, taker } = await makePair();
  const tomorrow = new Date(Date.now() + 86_400_000);
  const yesterday = new Date(Date.now() - 86_400_000);
  await operate("set_fee_schedule", {
    taker_rate_bps: 5000,
    market_id: market,
    effective_from: tomorrow,
  });
  await operate("set_fee_schedule", {
    taker_rate_bps: 200,
    market_id: market,
    effective_from: yesterday,
  });
  await operate("set_fee_schedule", {
    taker_rate_bps: 300,
    market_id: market,
    effective_from: new Date(yesterday.getTime() - 86_400_000),
  });
  await rest(market, maker, buy("no", 100, 50));
  t.is((await place(market, taker, buy("yes", 100, 50))).feeCents, 50);
});

test("a schedule of a category or the default has no effect before its date", async (t) => {
  await operate("create_category", { slug: "dated", name: "Dated" });
  const market = await makeMarket({ category: "dated" });
  const [maker, taker] = await makeTraders(2);
  const tomorrow = new Date(Date.now() + 86_400_000);
  for (const scope of [{}, { category: "dated" }]) {
    const schedule = { taker_rate_bps: 5000, effective_from: tomorrow, ...scope };
    await operate("set_fee_schedule", schedule);
  }
  await rest(market, maker, buy("no", 100, 50));
  t.is((await place(market, taker, buy("yes", 100, 50))).feeCents, 175);
});

test("the highest rate never takes more than a sale brings", async (t) => {
  const { market, maker, taker } = await makePair();
  await operate("set_fee_schedule", { taker_rate_bps: 10_000, market_id: market });
  await giveShares(market, taker, "yes", 11); // 550 and 275
  await rest(market, maker, buy("yes", 10, 1));
  const ten = await place(market, taker, sell("yes", 10, 1));
  t.is(ten.feeCents, 10); // 9.9
  await rest(market, maker, buy("yes", 1, 1));
  const one = await place(market, taker, sell("yes", 1, 1));
  t.is(one.feeCents, 1);
  t.is(one.balance.total, 100_000 - 825);
});

test("INVALID_REQUEST: a rate beyond 0 to 10000 bps, or a schedule of two scopes", async (t) => {
  const market = await makeMarket();
  for (const values of [
    { taker_rate_bps: -1 },
    { taker_rate_bps: 10_001 },
    { taker_rate_bps: null },
    { taker_rate_bps: 1, category: "tests", market_id: market },
  ]) {
    await t.throwsAsync(operate("set_fee_schedule", values), { code: "EX001" });
  }
});

test("NOT_FOUND: a schedule for a category or market that is not there", async (t) => {
  const nowhere = "01900000-0000-7000-8000-000000000000";
  for (const values of [{ category: "nowhere" }, { market_id: nowhere }]) {
    await t.throwsAsync(operate("set_fee_schedule", { taker_rate_bps: 1, ...values }), {
      code: "EX017",
    });
  }
});
