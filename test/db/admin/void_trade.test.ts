import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** admin.void_trade: cash, fee and shares of one trade go back. */

const exchange = testExchange(test);
const { accounts, balance, giveShares, makeMarket, makeTrader, makeTraders, market } = exchange;
const { operate, place, position, refusal, rest } = exchange;

const voidTrade = (trade_id: string | null, reason: unknown = "entered twice") =>
  operate("void_trade", { trade_id, reason });
const nothing = { quantity: 0, cost: 0, fees: 0, realised: 0 };

/** Ann and Bob with 100 EUR each. */
async function makeTwo() {
  const [ann, bob] = await makeTraders(2, { cents: 10_000 });
  return { id: await makeMarket(), ann, bob };
}

test("a mint: both pairs of cash and the fee go back, and no share is left", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 40));
  const { fills } = await place(id, ann, buy("yes", 10, 60));
  t.deepEqual([await balance(ann), await balance(bob)], [10_000 - 617, 10_000 - 400]);
  const before = await exchange.version(id);
  const said = await voidTrade(fills[0]!.id);
  t.deepEqual(said, {
    marketId: id,
    quantity: 10,
    takerId: ann,
    takerCents: 617,
    makerId: bob,
    makerCents: 400,
    feeCents: 17,
    usersBelowZero: 0,
  });
  t.deepEqual([await balance(ann), await balance(bob)], [10_000, 10_000]);
  t.deepEqual(await accounts(id), { escrow: 0, revenue: 0 });
  t.deepEqual(await position(id, ann, "yes"), nothing);
  t.deepEqual(await position(id, bob, "no"), nothing);
  t.is(await exchange.version(id), before, "the book did not change");
  t.like(await market(id), { lastTradePrice: 60 }, "what was traded was traded");
});

test("a transfer: the seller gets the shares back at their cost, and his result is taken back", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await giveShares(id, ann, "yes", 30); // at 50, with a fee of 52.5
  await rest(id, bob, buy("yes", 10, 70));
  const { fills } = await place(id, ann, sell("yes", 10, 70)); // 700 less a fee of 14.7
  const [after, bobs] = [await balance(ann), await balance(bob)];
  t.is((await position(id, ann, "yes")).realised, 700 - 15 - 500 - 18);
  await voidTrade(fills[0]!.id);
  t.deepEqual([await balance(ann), await balance(bob)], [after - 685, bobs + 700]);
  t.deepEqual(await position(id, ann, "yes"), {
    quantity: 30,
    // The buy fees of the 10 shares, 18, come back as cost.
    cost: 1500 + 18,
    fees: 53 - 18,
    realised: 0,
  });
  t.deepEqual(await position(id, bob, "yes"), nothing);
  t.is((await accounts(id)).escrow, 3000);
});

test("a burn: the pairs are there again, and what they brought is owed", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await giveShares(id, ann, "yes", 10);
  await giveShares(id, bob, "no", 10);
  await rest(id, ann, sell("yes", 10, 50));
  const { fills } = await place(id, bob, sell("no", 10, 50));
  t.is((await accounts(id)).escrow, 1000);
  for (const user_id of [ann, bob]) {
    const amount_cents = await balance(user_id);
    await operate("withdraw", { user_id, amount_cents, reference: "all" });
  }
  t.like(await voidTrade(fills[0]!.id), { usersBelowZero: 2, takerCents: -482, makerCents: -500 });
  t.deepEqual([await balance(ann), await balance(bob)], [-500, -482]);
  t.is((await accounts(id)).escrow, 2000);
  t.is((await position(id, ann, "yes")).quantity, 10);
  t.is((await position(id, bob, "no")).quantity, 10);
  t.is(await refusal(id, ann, buy("yes", 1, 1)), "INSUFFICIENT_BALANCE");
  const { rows } = await exchange.database
    .connectAs("exchange_operator", { max: 1 })
    .query("select amount_cents, kind, reason from admin.receivables where user_id = $1", [ann]);
  t.deepEqual(rows, [{ amount_cents: 500, kind: "void", reason: "entered twice" }]);
});

test("bought shares that were mixed with others leave at the average, and all adds up", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 60), buy("no", 10, 40));
  const first = await place(id, ann, buy("yes", 10, 40)); // 400, fee 16.8
  const second = await place(id, ann, buy("yes", 10, 60)); // 600, fee 16.8
  const [cheap, dear] = [first.fills[0]!.id, second.fills[0]!.id];
  await rest(id, await makeTrader(), buy("yes", 10, 55));
  await place(id, ann, sell("yes", 10, 55)); // 550 less a fee of 17.3, and half of 1000 and 34
  t.deepEqual(await position(id, ann, "yes"), {
    quantity: 10,
    cost: 500,
    fees: 17,
    realised: 550 - 18 - 517,
  });
  await voidTrade(dear);
  t.deepEqual(await position(id, ann, "yes"), {
    ...nothing,
    // As if only the cheap shares had been bought and sold.
    realised: 550 - 18 - 417,
  });
  await t.throwsAsync(voidTrade(cheap), { code: "EX011" });
  t.is(await balance(ann), 10_000 + 550 - 18 - 417);
});

test("INSUFFICIENT_BALANCE: bought shares that are gone are not taken, and nothing changes", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50));
  await rest(id, await makeTrader(), buy("yes", 1, 50));
  await place(id, ann, sell("yes", 1, 50));
  const all = () =>
    Promise.all([accounts(id), balance(bob), position(id, ann, "yes"), position(id, bob, "no")]);
  const before = await all();
  await t.throwsAsync(voidTrade(fills[0]!.id), {
    code: "EX011",
    message: `User ${ann} has only 9 of the 10 shares left`,
  });
  t.deepEqual(await all(), before);
});

test("fees that were paid out come back from outside", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50)); // fee 17.5
  const { revenue } = await accounts(id);
  // The markets of other tests have less each.
  await rest(id, bob, buy("no", 90, 50));
  await place(id, ann, buy("yes", 90, 50));
  const all = (await accounts(id)).revenue;
  await operate("pay_out_fees", { amount_cents: all - 5, reference: "transfer 1" });
  t.deepEqual([revenue, (await accounts(id)).revenue], [18, 5]);
  await voidTrade(fills[0]!.id);
  t.is((await accounts(id)).revenue, 0);
  const rows = await exchange.query(
    `select v.fee_cents::int as fee, v.outside_cents::int as outside
     from trading.voids as v join catalog.markets as m on m.id = v.market_id
     where m.public_id = $1`,
    [id],
  );
  t.deepEqual(rows, [{ fee: 18, outside: 13 }]);
});

test("INVALID_STATE: voided already, or in a market that is resolved", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 20, 50));
  const first = await place(id, ann, buy("yes", 10, 50));
  const second = await place(id, ann, buy("yes", 10, 50));
  await voidTrade(first.fills[0]!.id);
  await t.throwsAsync(voidTrade(first.fills[0]!.id), {
    code: "EX019",
    message: "The trade is voided already",
  });
  await operate("resolve_market", { market_id: id, outcome: "yes" });
  await t.throwsAsync(voidTrade(second.fills[0]!.id), {
    code: "EX019",
    message: "The market is resolved: its trades can only be voided all together",
  });
});

test("INVALID_REQUEST, NOT_FOUND: no reason, no such trade", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50));
  for (const reason of [null, "", " ", "x".repeat(1001)]) {
    await t.throwsAsync(voidTrade(fills[0]!.id, reason), { code: "EX001", message: /^A reason/ });
  }
  for (const trade of [null, id]) await t.throwsAsync(voidTrade(trade), { code: "EX017" });
});

test("the views of operators and analysts show it, the reason only those of operators", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 10, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50));
  await voidTrade(fills[0]!.id, "a typing error");
  const rowsAs = async (role: "exchange_operator" | "exchange_analyst", query: string) =>
    (await exchange.database.connectAs(role, { max: 1 }).query(query, [fills[0]!.id])).rows;
  for (const [role, schema] of [
    ["exchange_operator", "admin"],
    ["exchange_analyst", "analytics"],
  ] as const) {
    const [trade] = await rowsAs(role, `select * from ${schema}.trades where trade_id = $1`);
    const [shown] = await rowsAs(role, `select * from ${schema}.voids where trade_id = $1`);
    t.deepEqual(trade.voided_at, shown.created_at, schema);
    t.like(shown, { market_id: id, fee_cents: 18, outside_cents: 0 });
    t.is(shown.reason, schema === "admin" ? "a typing error" : undefined);
  }
  const fillsOf = await rowsAs(
    "exchange_analyst",
    "select voided_at is not null as is_voided from analytics.fills where trade_id = $1",
  );
  t.deepEqual(fillsOf, [{ is_voided: true }, { is_voided: true }]);
});

test("fee revenue says what a void of a trade and then of its market gave back", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("no", 40, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50)); // fee 17.5
  await place(id, ann, buy("yes", 20, 50)); // fee 35
  const revenue = async () => {
    const rows = await exchange.query(
      `select a.fee_cents::int as fees, a.voided_fee_cents::int as voided,
         o.fee_cents::int as recent, o.voided_fee_cents::int as recent_voided
       from analytics.fee_revenue as a join admin.fee_revenue as o using (market_id)
       where a.market_id = $1`,
      [id],
    );
    return rows;
  };
  const of = (voided: number) => [{ fees: 53, voided, recent: 53, recent_voided: voided }];
  t.deepEqual(await revenue(), of(0));
  await voidTrade(fills[0]!.id);
  t.deepEqual(await revenue(), of(18));
  await operate("void_market", { market_id: id, reason: "all of it" });
  t.deepEqual(await revenue(), of(53));
});
