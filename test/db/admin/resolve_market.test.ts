import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import type { Side } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { accounts, balance, book, makeMarket, makeMarketWith, makeTrader, market, operate } =
  exchange;
const { order, place, position, refusal, rest, version } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

const resolve = (market_id: string, outcome: string | null, yes_payout_cents?: number) =>
  operate("resolve_market", {
    market_id,
    outcome,
    ...(yes_payout_cents !== undefined && { yes_payout_cents }),
  });

/** Ann bought 10 YES at 60, Bob 10 NO at 40 and pays the fee of 16.8. */
async function makeTwo() {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("yes", 10, 60));
  await place(id, bob, buy("no", 10, 40));
  return { id, ann, bob };
}

const outcomes: [outcome: string, given: number | undefined, yes: number][] = [
  ["yes", undefined, 100],
  ["yes", 100, 100],
  ["no", undefined, 0],
  ["no", 0, 0],
  ["custom", 0, 0],
  ["custom", 33, 33],
  ["custom", 100, 100],
];

for (const [outcome, given, yes] of outcomes) {
  test(`${outcome} at ${given ?? "nothing said"} pays YES ${yes} and NO ${100 - yes}`, async (t) => {
    const { id, ann, bob } = await makeTwo();
    const before = [await balance(ann), await balance(bob)] as const;
    const said = await resolve(id, outcome, given);
    t.deepEqual(said, {
      outcome,
      yesPayoutCents: yes,
      positions: 2,
      users: 2,
      payoutCents: 1000,
    });
    t.is(await balance(ann), before[0] + 10 * yes);
    t.is(await balance(bob), before[1] + 10 * (100 - yes));
    t.like(await accounts(id), { escrow: 0, revenue: 17 });
    // Shares, cost and fees stay to be seen.
    t.deepEqual(await position(id, ann, "yes"), {
      quantity: 10,
      cost: 600,
      fees: 0,
      realised: 10 * yes - 600,
    });
    t.deepEqual(await position(id, bob, "no"), {
      quantity: 10,
      cost: 400,
      fees: 17,
      realised: 10 * (100 - yes) - 400 - 17,
    });
    t.like(await market(id), { status: "resolved", resolvedOutcome: outcome });
  });
}

test("the buy fee of YES shares goes off what they realise, as that of NO shares does", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 40));
  await place(id, bob, buy("yes", 10, 60)); // fee 16.8
  await resolve(id, "custom", 33);
  t.is((await position(id, bob, "yes")).realised, 330 - 600 - 17);
  t.is((await position(id, ann, "no")).realised, 670 - 400);
});

test("what was realised before stays part of the sum; an empty position is not settled", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await rest(id, bob, buy("yes", 10, 70));
  await place(id, ann, sell("yes", 10, 70)); // fee 14.7
  const { realised } = await position(id, ann, "yes");
  t.is(realised, 700 - 15 - 600);
  const said = await resolve(id, "yes");
  t.like(said, { positions: 2, users: 1, payoutCents: 1000 }); // all of it is Bob's
  t.deepEqual(await position(id, ann, "yes"), { quantity: 0, cost: 0, fees: 0, realised });
  t.is((await position(id, bob, "yes")).realised, 1000 - 700);
  t.is((await position(id, bob, "no")).realised, -417);
});

test("one journal pays all users, a user with both sides once", async (t) => {
  const { id, ann } = await makeTwo();
  await rest(id, await makeTrader(), buy("yes", 5, 70));
  await place(id, ann, buy("no", 5, 30));
  await resolve(id, "custom", 20);
  const rows = await exchange.query(
    `select j.kind, a.kind as account, count(*)::int as lines, sum(e.amount_cents)::int as cents
     from ledger.journals as j
     join ledger.entries as e on e.journal_id = j.id
     join ledger.accounts as a on a.id = e.account_id
     join trading.resolutions as r on r.journal_id = j.id
     join catalog.markets as m on m.id = r.market_id
     where m.public_id = $1
     group by j.id, j.kind, a.kind order by a.kind`,
    [id],
  );
  t.deepEqual(rows, [
    { kind: "settlement", account: "user_cash", lines: 3, cents: 1500 },
    { kind: "settlement", account: "market_escrow", lines: 1, cents: -1500 },
  ]);
});

test("the resolution and a settlement of every position are recorded", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await resolve(id, "custom", 25);
  const rows = await exchange.query(
    `select r.outcome, r.yes_payout_cents as pays, r.position_count as positions,
       r.payout_cents as paid, r.reason, u.public_id as trader, s.side, s.quantity,
       s.payout_cents as payout, s.cost_cents as cost, s.fee_cents as fees,
       s.realised_cents as realised, r.created_at = m.resolved_at as "isDated"
     from trading.resolutions as r
     join catalog.markets as m on m.id = r.market_id
     join trading.settlements as s on s.resolution_id = r.id and s.market_id = m.id
     join identity.users as u on u.id = s.user_id
     where m.public_id = $1 order by s.side`,
    [id],
  );
  const resolution = { outcome: "custom", pays: 25, positions: 2, paid: 1000, reason: null };
  const settled = (trader: string, side: Side, rest: object) => ({
    ...resolution,
    trader,
    side,
    quantity: 10,
    isDated: true,
    ...rest,
  });
  t.deepEqual(rows, [
    settled(ann, "yes", { payout: 250, cost: 600, fees: 0, realised: -350 }),
    settled(bob, "no", { payout: 750, cost: 400, fees: 17, realised: 333 }),
  ]);
});

for (const status of ["open", "paused", "closed"]) {
  test.serial(
    `a market that is ${status} is closed first: its orders are cancelled, and their owners hear it`,
    async (t) => {
      const { id, ann } = await makeTwo();
      const [resting] = await rest(id, ann, buy("yes", 10, 30));
      const listener = await exchange.listen();
      if (status !== "open") await operate("set_market_status", { market_id: id, status });
      const before = await version(id);
      await resolve(id, "yes");
      t.like(await order(ann, resting), { status: "cancelled", cancelReason: "market_closed" });
      t.deepEqual(await book(id), { bids: [], asks: [] });
      t.is(await version(id), status === "closed" ? before : before + 1);
      const heard = (await listener.heard()).users;
      const told = heard.filter(
        ({ event }) => event.type === "order_cancelled" && event.marketId === id,
      );
      t.deepEqual(
        told.map(({ userId, event }) => [userId, event.orderId, event.cancelReason]),
        [[ann, resting, "market_closed"]],
      );
    },
  );
}

test("MARKET_NOT_OPEN: a resolved market takes no orders", async (t) => {
  const { id, ann } = await makeTwo();
  await resolve(id, "no");
  t.is(await refusal(id, ann, buy("yes", 1, 50)), "MARKET_NOT_OPEN");
  t.is(await refusal(id, ann, sell("yes", 1, 50)), "MARKET_NOT_OPEN");
});

test("INVALID_STATE: a market is resolved once, and stays resolved", async (t) => {
  const { id, ann } = await makeTwo();
  await resolve(id, "yes");
  const before = await balance(ann);
  for (const outcome of ["yes", "no"]) {
    await t.throwsAsync(resolve(id, outcome), { code: "EX019" });
  }
  for (const status of ["open", "paused", "closed"]) {
    const change = operate("set_market_status", { market_id: id, status });
    await t.throwsAsync(change, { code: "EX019" });
  }
  t.is(await balance(ann), before);
});

test("a market without positions is resolved without moving cash", async (t) => {
  const id = await makeMarket();
  const said = await resolve(id, "yes");
  t.deepEqual(said, {
    outcome: "yes",
    yesPayoutCents: 100,
    positions: 0,
    users: 0,
    payoutCents: 0,
  });
  t.like(await market(id), { status: "resolved", resolvedOutcome: "yes" });
});

test("INVALID_REQUEST: unknown outcomes, and payouts that contradict the outcome", async (t) => {
  const { id } = await makeTwo();
  for (const [outcome, payout] of [
    ["maybe", 50],
    ["", undefined],
    [null, 50],
    ["yes", 99],
    ["no", 1],
    ["custom", undefined],
    ["custom", -1],
    ["custom", 101],
  ] as const) {
    await t.throwsAsync(resolve(id, outcome, payout), { code: "EX001" }, `${outcome} ${payout}`);
  }
  t.like(await market(id), { status: "open", resolvedOutcome: null });
});

test("NOT_FOUND: an unknown market", async (t) => {
  await t.throwsAsync(resolve(nowhere, "yes"), { code: "EX017" });
});
