import test from "ava";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { findPosition, readUserEvents, relayAll } from "../../helpers/exchange/user_events.ts";
import type { Include } from "../../helpers/exchange/user_events.ts";

/** The YES of an exclusive event goes from one market to another, and closes those without it. */

const exchange = testExchange(test, { sessions: 3 });
const { accounts, balance, convert, makeMarket, makeTrader, operate, order } = exchange;
const { place, redeem, refusal, rest, split, work } = exchange;

/** A new exclusive event of three markets. */
async function makeEvent() {
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const markets: string[] = [];
  for (const outcome_name of ["A", "B", "C"]) {
    markets.push(
      await makeMarket({ event_id: event, outcome_name, title: `Will ${outcome_name} win?` }),
    );
  }
  const [a, b, c] = markets as [string, string, string];
  return { event, markets, a, b, c };
}

const resolve = (market_id: string, outcome: string, yes_payout_cents: number | null = null) =>
  operate("resolve_market", { market_id, outcome, yes_payout_cents });
const correct = (market_id: string, outcome: string, yes_payout_cents: number | null = null) =>
  operate("correct_resolution", { market_id, outcome, yes_payout_cents, reason: "a mistake" });
const voidMarket = (market_id: string) => operate("void_market", { market_id, reason: "a test" });

const escrowOf = async (event: string): Promise<number> =>
  (await exchange.query("select escrow_cents from catalog.events where public_id = $1", [event]))[0]
    .escrow_cents;

/** What a YES share of each market pays; null before its resolution. */
const payouts = async (markets: string[]): Promise<(number | null)[]> => {
  const rows = await exchange.query(
    `select yes_payout_cents from catalog.markets where public_id = any($1)
     order by array_position($1, public_id)`,
    [markets],
  );
  return rows.map((row) => row.yes_payout_cents);
};

const statuses = async (markets: string[]): Promise<string[]> =>
  Promise.all(markets.map(async (id) => (await exchange.market(id)).status));

async function here(): Promise<number> {
  await relayAll(exchange.api);
  return (await findPosition(exchange.api))!;
}

/** What the stream of a trader says from there on. */
async function tellsSince(trader: string, from: number, include: Include): Promise<any[]> {
  await relayAll(exchange.api);
  const { frames } = (await readUserEvents(exchange.api, trader, from, include))!;
  return frames.map(({ event }) => event);
}

/** Ann has complete sets, of which some were converted and redeemed; Bob bought 5 YES of A. */
async function makeTraded() {
  const event = await makeEvent();
  const [ann, bob] = [await makeTrader(), await makeTrader({ cents: 1000 })];
  for (const market of event.markets) await split(market, ann, 10);
  await convert(event.event, ann, [event.a, event.b], 4); // 400 cents, and 4 YES of C
  await redeem(event.event, ann, 3); // 300 cents
  await rest(event.a, ann, sell("yes", 5, 40)); // 200 cents
  await place(event.a, bob, buy("yes", 5, 40));
  // What Ann has of each market by now: 2 YES and 6 NO, 7 YES and 6 NO, 11 YES and 10 NO.
  return { ...event, ann, bob, cash: [await balance(ann), await balance(bob)] as const };
}

test("moving the YES: everybody has what the right resolution would have paid", async (t) => {
  const { event, markets, a, b, c, ann, bob, cash } = await makeTraded();
  t.is(cash[0], 100_000 - 3000 + 400 + 300 + 200);
  t.is(await escrowOf(event), 400 - 300);
  await resolve(a, "yes");
  await resolve(b, "no");
  await resolve(c, "no");
  t.is(await balance(ann), cash[0] + 2 * 100 + 6 * 100 + 10 * 100);
  t.is(await balance(bob), cash[1] + 5 * 100);
  await operate("withdraw", { user_id: bob, amount_cents: cash[1] + 500, reference: "all" });

  const moved = await correct(c, "yes");
  t.deepEqual(moved, {
    ...{ outcome: "yes", yesPayoutCents: 100, positions: 2, users: 1, payoutCents: 1100 },
    // Ann is paid 11 YES of C for 10 NO.
    ...{ movedCents: 100, usersBelowZero: 1 },
    others: [
      {
        ...{ marketId: a, title: "Will A win?", outcome: "no", yesPayoutCents: 0 },
        // She gets 400 for 6 NO of A in place of 2 YES; Bob gives 500 back, which is more.
        ...{ positions: 3, users: 2, payoutCents: 600, movedCents: 500 },
      },
    ],
  });
  t.deepEqual(await payouts(markets), [0, 0, 100]);
  t.is(await balance(ann), cash[0] + 6 * 100 + 6 * 100 + 11 * 100);
  t.is(await balance(bob), -500);
  t.is(await escrowOf(event), 0);
  for (const market of markets) t.is((await accounts(market)).escrow, 0);

  // And on to B, which takes from C.
  await correct(b, "yes");
  t.is(await balance(ann), cash[0] + 6 * 100 + 7 * 100 + 10 * 100);
  t.is(await escrowOf(event), 0);
  t.deepEqual(await payouts(markets), [0, 100, 0]);
});

test("moving the YES writes both histories, both audit rows and both events", async (t) => {
  const { a, b, c, ann, bob } = await makeTraded();
  await resolve(a, "yes");
  await resolve(b, "no");
  await resolve(c, "no");
  const position = await here();
  await operate("correct_resolution", {
    ...{ market_id: c, outcome: "yes", reason: "the photo finish", evidence: "the photo" },
  });
  const rows = await exchange.query(
    `select m.public_id as market, r.outcome, r.reason, r.evidence, j.kind
     from trading.resolutions as r
     join catalog.markets as m on m.id = r.market_id
     left join ledger.journals as j on j.id = r.journal_id
     where m.public_id = any($1) and r.corrects_resolution_id is not null order by r.id`,
    [[a, b, c]],
  );
  const why = { reason: "the photo finish", evidence: "the photo", kind: "correction" };
  t.deepEqual(rows, [
    { market: a, outcome: "no", ...why },
    { market: c, outcome: "yes", ...why },
  ]);
  const audited = await exchange.query(
    `select arguments ->> 'market_id' as market, arguments ->> 'outcome' as outcome,
       arguments ->> 'gives_to_market_id' as gives_to, arguments ->> 'reason' as reason
     from admin.audit_log
     where action = 'correct_resolution' and arguments ->> 'market_id' = any($1) order by id`,
    [[a, b, c]],
  );
  t.deepEqual(audited, [
    { market: c, outcome: "yes", gives_to: null, reason: "the photo finish" },
    { market: a, outcome: "no", gives_to: c, reason: "the photo finish" },
  ]);
  const said = async (trader: string) =>
    (await tellsSince(trader, position, { settlements: true })).map((event) => [
      ...[event.type, event.marketId, event.outcome, event.balance],
    ]);
  // Of several, the balance of the last one is the balance.
  const between = (await balance(ann)) - 100;
  t.deepEqual(await said(ann), [
    ["settled", a, "no", between],
    ["settled", c, "yes", await balance(ann)],
  ]);
  t.deepEqual(await said(bob), [["settled", a, "no", await balance(bob)]]);
});

test("INVALID_STATE: once all are resolved, less is refused with the way to move the YES", async (t) => {
  const { markets, a, b, c } = await makeTraded();
  await resolve(a, "yes");
  // One is still to be resolved, and may be the right one.
  await resolve(b, "no");
  await correct(a, "no");
  await correct(a, "custom", 60);
  await correct(a, "yes");
  await resolve(c, "no");
  const refused = { code: "EX019", message: /correct the market that gets the 100 cents/ };
  await t.throwsAsync(correct(a, "no"), refused);
  await t.throwsAsync(correct(a, "custom", 60), { ...refused, message: /gets the 40 cents/ });
  t.deepEqual(await payouts(markets), [100, 0, 0]);
});

test("INVALID_STATE: a payout by share is taken from the market that pays the most, if it has it", async (t) => {
  const { event, markets, a, b, c } = await makeTraded();
  await resolve(b, "yes");
  await resolve(a, "no");
  await resolve(c, "no");
  await correct(a, "custom", 40);
  t.deepEqual(await payouts(markets), [40, 60, 0]);
  await correct(c, "custom", 30);
  t.deepEqual(await payouts(markets), [40, 30, 30]);
  const refused = { code: "EX019", message: /^[^(]*41 cents would .*'Will A win\?'\) pays 40\./ };
  await t.throwsAsync(correct(c, "custom", 71), refused);
  t.is((await correct(a, "yes")).others.length, 2);
  t.deepEqual(await payouts(markets), [100, 0, 0]);
  t.is(await escrowOf(event), 0);
});

test("a voided market takes no part: the YES that was undone is given anew", async (t) => {
  const { markets, a, b, c } = await makeEvent();
  await resolve(a, "yes");
  await voidMarket(a);
  await resolve(b, "no");
  await resolve(c, "no");
  t.is((await correct(c, "yes")).others, undefined);
  t.like((await correct(b, "yes")).others, [{ marketId: c, outcome: "no" }]);
  await correct(b, "no");
  t.deepEqual(await payouts(markets), [50, 0, 0]);
});

test("PROPOSAL_CHANGED: four eyes see both markets, and what they saw", async (t) => {
  const operators = exchange.database.connectAs("exchange_operator");
  const [one, two] = [
    await makeStaff(exchange, ["markets"]),
    await makeStaff(exchange, ["markets"]),
  ];
  const by = (member: StaffMember, name: string, values: object) =>
    callBy(operators, member.cookieHash, name, { ...values });
  const propose = (market_id: string): Promise<string> =>
    by(one, "propose", {
      ...{ command: "correct_resolution", reason: "the photo finish" },
      arguments: JSON.stringify({ market_id, outcome: "yes", reason: "a mistake" }),
    });
  const { markets, a, b, c, ann } = await makeTraded();
  await resolve(a, "yes");
  await resolve(b, "no");
  await resolve(c, "no");
  const [toB, toC] = [await propose(b), await propose(c)];
  const { rows } = await operators.query(
    "select preview, basis from admin.proposals where proposal_id = $1",
    [toC],
  );
  t.like(rows[0].preview, { outcome: "yes", others: [{ marketId: a, outcome: "no" }] });
  t.deepEqual(rows[0].basis.others, [["Will A win?", "A", 100]]);
  const before = await balance(ann);
  t.like(await by(two, "approve", { proposal_id: toC }), { others: [{ marketId: a }] });
  t.is(await balance(ann), before + 400 + 100);
  await t.throwsAsync(by(two, "approve", { proposal_id: toB }), { code: "EX045" });
  t.deepEqual(await payouts(markets), [0, 0, 100]);
});

test("INVALID_STATE: nothing commits a resolution that leaves the event without its YES", async (t) => {
  const { a, b, c } = await makeEvent();
  await resolve(a, "yes");
  await resolve(b, "no");
  await resolve(c, "no");
  const refused = { code: "EX019", message: /would pay (0|200) cents in all/ };
  for (const [market, outcome, cents] of [
    [a, "no", 0],
    [c, "yes", 100],
  ]) {
    const client = await exchange.database.pool.connect();
    try {
      await client.query("begin");
      await client.query(
        `with changed as (
           update catalog.markets set resolved_outcome = $2, yes_payout_cents = $3
           where public_id = $1 returning id
         )
         insert into trading.resolutions (market_id, outcome, yes_payout_cents,
           corrects_resolution_id, reason, position_count, payout_cents, created_at)
         select c.id, $2, $3, r.id, 'a mistake', 0, 0, now()
         from changed as c join trading.resolutions as r on r.market_id = c.id`,
        [market, outcome, cents],
      );
      await t.throwsAsync(client.query("commit"), refused);
    } finally {
      client.release();
    }
  }
});

test("a YES closes the other markets, with their orders, for good", async (t) => {
  const { markets, a, b, c } = await makeEvent();
  const ann = await makeTrader();
  const open_time = new Date(Date.now() + 86_400_000).toISOString();
  await operate("set_market_status", { market_id: c, status: "paused" });
  await operate("edit_market", { market_id: c, open_time });
  await split(b, ann, 10);
  const [resting] = await rest(b, ann, sell("yes", 10, 60));
  const position = await here();
  t.is((await resolve(a, "no")).closedMarkets, undefined);
  t.deepEqual(await statuses(markets), ["resolved", "open", "paused"]);
  await correct(a, "custom", 99);
  t.deepEqual(await statuses(markets), ["resolved", "open", "paused"]);

  t.is((await correct(a, "yes")).closedMarkets, 2);
  t.deepEqual(await statuses(markets), ["resolved", "closed", "closed"]);
  t.like(await order(ann, resting), { status: "cancelled", cancelReason: "market_closed" });
  const told = await tellsSince(ann, position, { markets: true });
  t.deepEqual(
    told.map((event) => [event.type, event.marketId, event.status ?? event.cancelReason]),
    [
      ["market_status", b, "closed"],
      ["order_cancelled", b, "market_closed"],
    ],
  );
  t.is(await refusal(b, ann, buy("yes", 1, 1)), "MARKET_NOT_OPEN");
  const refused = { code: "EX019", message: /'Will A win\?' pays the most/ };
  for (const market_id of [b, c]) {
    await t.throwsAsync(operate("set_market_status", { market_id, status: "open" }), refused);
  }

  // Once the YES is taken back they stay closed, and an operator may open them.
  await correct(a, "no");
  t.deepEqual(await statuses(markets), ["resolved", "closed", "closed"]);
  await operate("set_market_status", { market_id: b, status: "open" });
  await rest(b, ann, sell("yes", 10, 60));
  t.is((await resolve(c, "yes")).closedMarkets, 1);
  t.deepEqual(await statuses(markets), ["resolved", "closed", "resolved"]);
  await voidMarket(c);
  await operate("set_market_status", { market_id: b, status: "open" });
});

test("a market with many orders stops at the YES, and a job ends its orders", async (t) => {
  const { a, b, c } = await makeEvent();
  const trader = await makeTrader({ cents: 2_000_000 });
  const many = (count: number) =>
    Array.from({ length: count }, (): [string, ReturnType<typeof buy>] => [
      trader,
      buy("yes", 1, 1),
    ]);
  for (let placed = 0; placed < 1001; placed += 143) await exchange.placeBatch(b, many(143));
  await exchange.placeBatch(c, many(2));
  t.is((await resolve(a, "yes")).closedMarkets, 2);
  t.deepEqual(await statuses([b, c]), ["open", "closed"]);
  t.is(await refusal(b, trader, buy("yes", 1, 1)), "MARKET_NOT_OPEN");
  const refused = { code: "EX019" };
  const later = new Date(Date.now() + 86_400_000).toISOString();
  await t.throwsAsync(operate("edit_market", { market_id: b, close_time: later }), refused);
  await t.throwsAsync(operate("edit_market", { market_id: b, no_close_time: true }), refused);
  await t.throwsAsync(operate("set_market_status", { market_id: b, status: "open" }), refused);
  t.deepEqual(await exchange.verify(), []);
  t.is(await work("close_markets"), 1002);
  t.deepEqual(await statuses([b]), ["closed"]);
  await resolve(b, "no");
});

test("markets of an event that is not exclusive stay open beside a YES", async (t) => {
  const event_id = await operate("create_event", { title: "Who is there?", category: "tests" });
  const [a, b] = [await makeMarket({ event_id }), await makeMarket({ event_id })];
  t.is((await resolve(a, "yes")).closedMarkets, undefined);
  t.deepEqual(await statuses([b]), ["open"]);
});
