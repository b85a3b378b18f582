import test from "ava";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { accounts, balance, convert, giveShares, makeMarket, makeTrader, makeTraders, merge } =
  exchange;
const { operate, place, position, redeem, rest, split } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

/** An exclusive event with so many markets. */
async function makeEvent(count: number, exclusive = true) {
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive },
  });
  const markets: string[] = [];
  while (markets.length < count) markets.push(await makeMarket({ event_id: event }));
  return { event, markets };
}

const escrowOf = async (event: string): Promise<number> =>
  (await exchange.query("select escrow_cents from catalog.events where public_id = $1", [event]))[0]
    .escrow_cents;

const preview = async (event: string, trader: string, markets: string[], quantity: number) => {
  const given = { userId: trader, eventId: event, marketIds: markets, quantity };
  const { code, body } = await exchange.calls.previewConversion(given);
  return code ?? JSON.parse(body);
};

test("one NO share becomes a YES share of each other market, and keeps its cost with the fees", async (t) => {
  const { event, markets } = await makeEvent(3);
  const [a, b, c] = markets as [string, string, string];
  const [ann, bob] = [await makeTrader({ cents: 10_000 }), await makeTrader()];
  await rest(a, bob, buy("yes", 10, 35));
  await place(a, ann, buy("no", 10, 65)); // cost 650, fee 15.925
  const before = await balance(ann);
  const expected = {
    cashCents: 0,
    positions: [
      { marketId: a, side: "no", quantity: 7 },
      { marketId: b, side: "yes", quantity: 3 },
      { marketId: c, side: "yes", quantity: 3 },
    ],
    balance: { total: before, available: before },
  };
  t.deepEqual(await preview(event, ann, [a], 3), expected);
  t.is((await position(a, ann, "no")).quantity, 10);
  t.deepEqual((await convert(event, ann, [a], 3)).answer, expected);
  // 195 of the cost and 4.8 of the fees leave: 200, of which 100 go to each of the others.
  t.deepEqual(await position(a, ann, "no"), { quantity: 7, cost: 455, fees: 11, realised: 0 });
  t.deepEqual(await position(b, ann, "yes"), { quantity: 3, cost: 100, fees: 0, realised: 0 });
  t.deepEqual(await position(c, ann, "yes"), { quantity: 3, cost: 100, fees: 0, realised: 0 });
  // Of the escrow of A, 300 cents are the event's.
  t.is((await accounts(a)).escrow, 700);
  t.is((await accounts(b)).escrow, 0);
  t.is(await escrowOf(event), 300);
  t.is(await balance(ann), before);

  // Bob's 10 YES of A lose, ann's 7 NO of A and 3 YES of B win.
  await operate("resolve_market", { market_id: a, outcome: "no" });
  await operate("resolve_market", { market_id: c, outcome: "no" });
  t.is(await escrowOf(event), 300);
  await operate("resolve_market", { market_id: b, outcome: "yes" });
  t.is(await balance(ann), before + 1000);
  t.is(await escrowOf(event), 0);
});

test("k NO shares bring k - 1 times 100 cents; more than they had cost is realised", async (t) => {
  const { event, markets } = await makeEvent(4);
  const [a, b, c, d] = markets as [string, string, string, string];
  const ann = await makeTrader();
  for (const market of [a, b, c]) await split(market, ann, 2); // 50 a share
  const before = await balance(ann);
  const { answer } = await convert(event, ann, [c, a, b], 2);
  t.is(answer!.cashCents, 400);
  t.is(await balance(ann), before + 400);
  // They had cost 300: 100 are realised, in thirds, and the YES share of D has cost nothing.
  t.deepEqual(await position(d, ann, "yes"), { quantity: 2, cost: 0, fees: 0, realised: 0 });
  const realised = [a, b, c].map(async (id) => (await position(id, ann, "no")).realised);
  t.deepEqual((await Promise.all(realised)).toSorted(), [33, 33, 34]);
  t.is(await escrowOf(event), 200);
  const rows = await exchange.query(
    `select e.kind, e.account_kind, sum(e.amount_cents)::bigint as cents
     from analytics.journal_entries as e
     where e.journal_key in (
       select c.journal_key from analytics.set_conversions as c where c.market_id = $1
     )
     group by 1, 2 order by 2`,
    [d],
  );
  t.deepEqual(rows, [
    { kind: "convert", account_kind: "event_escrow", cents: 200 },
    { kind: "convert", account_kind: "market_escrow", cents: -600 },
    { kind: "convert", account_kind: "user_cash", cents: 400 },
  ]);
});

test.serial("converted shares are worth what they cost, until their market trades", async (t) => {
  const { clock } = exchange;
  await clock.freeze("2040-01-01T12:00:00Z");
  const { event, markets } = await makeEvent(4);
  const [a, b] = markets as [string, string];
  const [ann, bob] = [await makeTrader({ cents: 10_000 }), await makeTrader()];
  await rest(a, bob, buy("yes", 10, 60));
  await place(a, ann, buy("no", 10, 40)); // 400 and a fee of 17
  await convert(event, ann, [a], 10);
  /** What the shares of each market are worth, and the account. */
  const worth = async () => {
    const { positions, worthCents, accountValueCents, unrealisedCents } = JSON.parse(
      await exchange.calls.getOwnPositions({ userId: ann }),
    );
    const cents = markets.map(
      (market) =>
        positions.find(({ marketId }: { marketId: string }) => marketId === market)?.worthCents,
    );
    return { cents, worthCents, accountValueCents, unrealisedCents };
  };
  t.deepEqual(await worth(), {
    cents: [undefined, 139, 139, 139],
    ...{ worthCents: 417, accountValueCents: 10_000, unrealisedCents: 0 },
  });
  const equity = async (day: string, until: string) =>
    (
      await exchange.query(
        `select e.balance_cents + e.mark_value_cents as cents
         from analytics.daily_equity($2, $3) as e
         join analytics.users as u using (user_key) where u.user_id = $1`,
        [ann, day, until],
      )
    )[0].cents;
  await clock.freeze("2040-01-02T12:00:00Z");
  t.is(await equity("2040-01-01", "2040-01-02"), 10_000);

  // A trade at 30 in B: 10 YES shares are worth 300 there.
  const cem = await makeTrader();
  await rest(b, bob, buy("yes", 1, 30));
  await place(b, cem, buy("no", 1, 70));
  t.deepEqual(await worth(), {
    cents: [undefined, 300, 139, 139],
    ...{ worthCents: 578, accountValueCents: 10_161, unrealisedCents: 161 },
  });
  await clock.freeze("2040-01-03T12:00:00Z");
  t.is(await equity("2040-01-02", "2040-01-03"), 10_161);
  await clock.release();
});

test("NO shares of all markets bring only cash; YES shares of all bring 100 cents", async (t) => {
  const { event, markets } = await makeEvent(3);
  const [ann, bob] = await makeTraders(2);
  for (const market of markets) await split(market, ann, 5);
  const before = await balance(ann);
  t.deepEqual((await redeem(event, ann, 2)).answer, {
    cashCents: 200,
    positions: markets.flatMap((marketId) => [
      { marketId, side: "yes" as const, quantity: 3 },
      { marketId, side: "no" as const, quantity: 5 },
    ]),
    balance: { total: before + 200, available: before + 200 },
  });
  // More YES than NO shares are redeemed: the event owes the markets, which have escrow for it.
  t.is(await escrowOf(event), -200);
  t.is((await convert(event, ann, markets, 5)).answer!.cashCents, 1000);
  t.is(await escrowOf(event), 300);
  t.is(await balance(ann), before + 1200);
  t.is((await redeem(event, ann, 3)).answer!.balance.total, before + 1500);
  t.is(await escrowOf(event), 0);
  for (const market of markets) t.is((await accounts(market)).escrow, 0);
  t.is(await balance(bob), 100_000);
});

test("the answer is of any number of markets and of one; a market alone is sure to win", async (t) => {
  const { event, markets } = await makeEvent(1);
  const ann = await makeTrader();
  await split(markets[0]!, ann, 3);
  const before = await balance(ann);
  t.is((await redeem(event, ann, 3)).answer!.cashCents, 300);
  t.deepEqual((await convert(event, ann, markets, 3)).answer, {
    cashCents: 0,
    positions: [],
    balance: { total: before + 300, available: before + 300 },
  });
  t.is((await accounts(markets[0]!)).escrow, 0);
});

test("INVALID_REQUEST: no market, one twice, a quantity that is none", async (t) => {
  const { event, markets } = await makeEvent(2);
  const ann = await makeTrader();
  const [a] = markets as [string];
  for (const [named, quantity] of [
    [[], 1],
    [[a, a], 1],
    [[a], 0],
    [[a], 10_001],
  ] as const) {
    t.is((await convert(event, ann, [...named], quantity)).code, "INVALID_REQUEST");
  }
  t.is((await redeem(event, ann, 0)).code, "INVALID_REQUEST");
});

test("NOT_FOUND, NOT_EXCLUSIVE, MARKET_NOT_FOUND, INSUFFICIENT_BALANCE, in this order", async (t) => {
  const { event, markets } = await makeEvent(2);
  const other = await makeEvent(2, false);
  const ann = await makeTrader();
  const [a, b] = markets as [string, string];
  t.is((await convert(nowhere, ann, [a], 1)).code, "NOT_FOUND");
  t.is((await redeem(nowhere, ann, 1)).code, "NOT_FOUND");
  t.is((await convert(other.event, ann, [a], 1)).code, "NOT_EXCLUSIVE");
  t.is((await redeem(other.event, ann, 1)).code, "NOT_EXCLUSIVE");
  t.is((await convert(event, ann, [a, other.markets[0]!], 1)).code, "MARKET_NOT_FOUND");
  t.is((await redeem((await makeEvent(0)).event, ann, 1)).code, "MARKET_NOT_FOUND");
  await giveShares(a, ann, "no", 5);
  await giveShares(b, ann, "no", 4);
  t.is((await convert(event, ann, [a, b], 5)).code, "INSUFFICIENT_BALANCE");
  t.is(await preview(event, ann, [a, b], 5), "INSUFFICIENT_BALANCE");
  t.is((await redeem(event, ann, 1)).code, "INSUFFICIENT_BALANCE");
  t.is((await convert(event, ann, [a, b], 4)).code, null);
  t.is((await convert(event, nowhere, [a], 1)).code, "UNAUTHORIZED");
  t.is((await redeem(event, nowhere, 1)).code, "UNAUTHORIZED");
});

test("MARKET_NOT_OPEN: a market of the event is paused or closed, or to redeem resolved", async (t) => {
  const { event, markets } = await makeEvent(3);
  const [a, b, c] = markets as [string, string, string];
  const ann = await makeTrader();
  for (const market of markets) await split(market, ann, 9);
  for (const status of ["paused", "closed"]) {
    await operate("set_market_status", { market_id: c, status });
    t.is((await convert(event, ann, [a], 1)).code, "MARKET_NOT_OPEN");
    t.is((await redeem(event, ann, 1)).code, null);
  }
  await operate("set_market_status", { market_id: c, status: "open" });
  t.is((await convert(event, ann, [a], 1)).code, null);
  await operate("resolve_market", { market_id: c, outcome: "no" });
  t.is((await convert(event, ann, [a], 1)).code, "MARKET_NOT_OPEN");
  t.is((await redeem(event, ann, 1)).code, "MARKET_NOT_OPEN");
  t.is((await merge(b, ann, 1)).code, null);
});

test.serial(
  "TRADING_PAUSED, SELF_EXCLUDED, ACCOUNT_FROZEN, LIMITS_SETUP_REQUIRED keep from converting, not from redeeming",
  async (t) => {
    const { event, markets } = await makeEvent(2);
    const [a] = markets as [string];
    const [ann, bob, cem] = await makeTraders(3);
    const dan = await makeTrader({ reviewed: false });
    for (const who of [ann, bob, cem]) {
      for (const market of markets) await split(market, who, 9);
    }
    t.is((await convert(event, dan, [a], 1)).code, "LIMITS_SETUP_REQUIRED");
    await operate("freeze_user", { user_id: ann, reason: "checked" });
    t.is((await convert(event, ann, [a], 1)).code, "ACCOUNT_FROZEN");
    t.is((await redeem(event, ann, 1)).code, null);
    await operate("self_exclude", { user_id: bob });
    t.is((await convert(event, bob, [a], 1)).code, "SELF_EXCLUDED");
    t.is((await redeem(event, bob, 1)).code, null);
    await operate("set_trading_pause", { paused: true, reason: "a test" });
    t.is((await convert(event, cem, [a], 1)).code, "TRADING_PAUSED");
    t.is((await redeem(event, cem, 1)).code, null);
    await operate("set_trading_pause", { paused: false, reason: "a test" });
  },
);

test("INVALID_STATE: a market with conversions is not voided, a trade of it is", async (t) => {
  const { event, markets } = await makeEvent(2);
  const [a, b] = markets as [string, string];
  const [ann, bob] = await makeTraders(2);
  await split(a, ann, 5);
  await convert(event, ann, [a], 2);
  await rest(b, bob, buy("yes", 1, 30));
  await place(b, ann, sell("yes", 1, 30));
  const [trade] = (await exchange.trades(b, 1, 1)).data;
  await t.throwsAsync(operate("void_market", { market_id: b, reason: "wrong" }), {
    code: "EX019",
    message: /Shares of the event were converted/,
  });
  t.truthy(await operate("void_trade", { trade_id: trade.id, reason: "wrong" }));
  t.is((await position(b, ann, "yes")).quantity, 2);
});

test("what is rejected as things are waits for no market, and holds up none", async (t) => {
  const { event, markets } = await makeEvent(3);
  const plain = await makeEvent(1, false);
  const [a, b, c] = markets as [string, string, string];
  const ann = await makeTrader();
  for (const market of markets) await split(market, ann, 5);
  const hurried = exchange.database.connectAs("exchange_api", { max: 1 });
  await hurried.query("set lock_timeout = '50ms'");
  const convertNow = async (eventId: string, named: string[] | null, quantity: number) => {
    const { rows } = await hurried.query(
      "select code from api.convert_shares($1, $2, market_ids => $3, quantity => $4)",
      [ann, eventId, named, quantity],
    );
    return rows[0].code;
  };
  await exchange.withRollback(async (client) => {
    await client.query(
      "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = any ($1)",
      [markets],
    );
    t.is(await convertNow(event, [a, b], 6), "INSUFFICIENT_BALANCE");
    t.is(await convertNow(event, null, 6), "INSUFFICIENT_BALANCE");
    t.is(await convertNow(event, [a], 0), "INVALID_REQUEST");
    t.is(await convertNow(event, [a, nowhere], 1), "MARKET_NOT_FOUND");
    t.is(await convertNow(nowhere, [a], 1), "NOT_FOUND");
    t.is(await convertNow(plain.event, plain.markets, 1), "NOT_EXCLUSIVE");
    await t.throwsAsync(convertNow(event, [a, c], 5), { code: "55P03" });
  });
  t.is(await convertNow(event, [a, c], 5), null);
  await hurried.end();
});
