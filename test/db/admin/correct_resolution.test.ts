import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { accounts, balance, makeMarket, makeMarketWith, makeTrader, market, operate } = exchange;
const { order, place, position, refusal, rest } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

const resolve = (market_id: string, outcome: string) =>
  operate("resolve_market", { market_id, outcome });

const correct = (
  market_id: string,
  outcome: string | null,
  yes_payout_cents: number | null = null,
  reason: string | null = "the source was wrong",
) => operate("correct_resolution", { market_id, outcome, reason, yes_payout_cents });

const withdraw = (user_id: string, amount_cents: number) =>
  operate("withdraw", { user_id, amount_cents, reference: `of ${amount_cents}` });

/** Ann holds 100 YES and Bob 100 NO, bought at 50; both have 20 EUR left. Ann paid a fee of 175. */
async function makeTwo() {
  const id = await makeMarket();
  const [ann, bob] = [await makeTrader({ cents: 7175 }), await makeTrader({ cents: 7000 })];
  await rest(id, bob, buy("no", 100, 50));
  await place(id, ann, buy("yes", 100, 50));
  return { id, ann, bob };
}

async function lines(id: string) {
  const rows = await exchange.query(
    `select j.kind, u.public_id as trader, e.amount_cents as cents
     from catalog.markets as m
     join trading.resolutions as r on r.market_id = m.id
     join ledger.journals as j on j.id = r.journal_id
     join ledger.entries as e on e.journal_id = j.id
     join ledger.accounts as a on a.id = e.account_id
     left join identity.users as u on u.id = a.user_id
     where m.public_id = $1 order by j.id, a.id`,
    [id],
  );
  return rows.map(({ kind, trader, cents }) => [kind, trader, cents]);
}

test("the difference is moved from user to user, and history stays", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await resolve(id, "yes");
  t.is(await balance(ann), 12_000);
  const said = await correct(id, "custom", 30);
  t.deepEqual(said, {
    outcome: "custom",
    yesPayoutCents: 30,
    positions: 2,
    users: 2,
    payoutCents: 10_000,
    movedCents: 7000,
    usersBelowZero: 0,
  });
  t.is(await balance(ann), 5000);
  t.is(await balance(bob), 9000);
  t.is((await accounts(id)).escrow, 0);
  t.like(await position(id, ann, "yes"), { quantity: 100, cost: 5000, fees: 175 });
  t.is((await position(id, ann, "yes")).realised, 3000 - 5000 - 175);
  t.is((await position(id, bob, "no")).realised, 7000 - 5000);
  t.like(await market(id), { status: "resolved", resolvedOutcome: "custom" });
  const all = await lines(id);
  const ofTraders = all.filter(([, trader]) => trader !== null);
  t.deepEqual(ofTraders.slice(0, 1), [["settlement", ann, 10_000]]);
  // One journal, whose lines have no order.
  const byCents = (a: unknown[], b: unknown[]) => Number(a[2]) - Number(b[2]);
  t.deepEqual(ofTraders.slice(1).sort(byCents), [
    ["correction", ann, -7000],
    ["correction", bob, 7000],
  ]);
});

test("a correction can be corrected, also back to the first outcome", async (t) => {
  const { id, ann, bob } = await makeTwo();
  await resolve(id, "yes");
  await correct(id, "no");
  t.deepEqual([await balance(ann), await balance(bob)], [2000, 12_000]);
  await correct(id, "custom", 99);
  t.deepEqual([await balance(ann), await balance(bob)], [11_900, 2100]);
  await correct(id, "yes");
  t.deepEqual([await balance(ann), await balance(bob)], [12_000, 2000]);
  const rows = await exchange.query(
    `select r.outcome, r.yes_payout_cents as pays, r.reason, before.outcome as corrects,
       (select count(*)::int from trading.settlements as s where s.resolution_id = r.id) as settled
     from trading.resolutions as r
     join catalog.markets as m on m.id = r.market_id
     left join trading.resolutions as before on before.id = r.corrects_resolution_id
     where m.public_id = $1 order by r.id`,
    [id],
  );
  const reason = "the source was wrong";
  t.deepEqual(rows, [
    { outcome: "yes", pays: 100, reason: null, corrects: null, settled: 2 },
    { outcome: "no", pays: 0, reason, corrects: "yes", settled: 2 },
    { outcome: "custom", pays: 99, reason, corrects: "no", settled: 2 },
    { outcome: "yes", pays: 100, reason, corrects: "custom", settled: 2 },
  ]);
});

test("a user with equal shares of both sides is paid the same; an equal payout changes nothing", async (t) => {
  const { id, ann } = await makeTwo();
  await rest(id, await makeTrader(), buy("yes", 100, 90));
  await place(id, ann, buy("no", 100, 10));
  await resolve(id, "yes");
  const before = await balance(ann);
  t.like(await correct(id, "no"), { users: 3, movedCents: 10_000 });
  t.is(await balance(ann), before);
  t.like(await correct(id, "custom", 0), { movedCents: 0 });
  t.is((await lines(id)).filter(([kind]) => kind === "correction").length, 2);
  t.like(await market(id), { resolvedOutcome: "custom" });
});

test("the time of the resolution stays that of the first", async (t) => {
  const { id } = await makeTwo();
  await resolve(id, "yes");
  const times = async () =>
    await exchange.query(
      "select resolved_at::text as at from catalog.markets where public_id = $1",
      [id],
    );
  const before = await times();
  await correct(id, "no");
  t.deepEqual(await times(), before);
});

test("INSUFFICIENT_BALANCE: a user below zero can't buy, split or withdraw until it is covered", async (t) => {
  const { id, ann, bob } = await makeTwo();
  const [elsewhere, third] = [await makeMarket(), await makeTrader()];
  await rest(elsewhere, third, buy("no", 50, 50));
  const [bid] = await rest(elsewhere, ann, buy("yes", 10, 40));
  await resolve(id, "yes");
  await withdraw(ann, 11_000);
  t.like(await correct(id, "no"), { movedCents: 10_000, usersBelowZero: 1 });
  t.is(await balance(ann), -9000);
  t.is(await balance(bob), 12_000);

  for (const request of [
    buy("yes", 1, 1),
    buy("yes", 1, 50),
    buy("yes", 1),
    { side: "yes" as const, budgetCents: 60, price: null },
  ]) {
    t.is(await refusal(elsewhere, ann, request), "INSUFFICIENT_BALANCE");
  }
  await t.throwsAsync(withdraw(ann, 1), { code: "EX011" });

  // Her order that rests is dead, and found so.
  const { cancelledOrders } = await place(elsewhere, bob, buy("no", 10, 70));
  t.deepEqual(
    cancelledOrders.map(({ id: dead, cancelReason }) => [dead, cancelReason]),
    [[bid, "insufficient_funds"]],
  );
  t.like(await order(ann, bid), { status: "cancelled" });

  // A deposit goes against the debt first.
  await operate("deposit", { user_id: ann, amount_cents: 8999, reference: "part" });
  t.is(await balance(ann), -1);
  t.is(await refusal(elsewhere, ann, buy("yes", 1, 1)), "INSUFFICIENT_BALANCE");
  await operate("deposit", { user_id: ann, amount_cents: 101, reference: "rest" });
  t.is((await place(elsewhere, ann, buy("yes", 1, 50))).order.status, "filled");
});

test("a sale covers a debt, and so does the next correction", async (t) => {
  const { id, ann, bob } = await makeTwo();
  const elsewhere = await makeMarket();
  await exchange.giveShares(elsewhere, ann, "yes", 10);
  await resolve(id, "yes");
  await withdraw(ann, await balance(ann));
  await correct(id, "no");
  t.is(await balance(ann), -10_000);
  await rest(elsewhere, bob, buy("yes", 10, 50));
  await place(elsewhere, ann, sell("yes", 10, 50)); // fee 17.5
  t.is(await balance(ann), -10_000 + 500 - 18);
  const rows = await exchange.query(
    `select t.overdraft_cents::bigint as cents from trading.traders as t where t.public_id = $1`,
    [ann],
  );
  t.deepEqual(rows, [{ cents: 10_000 - 482 }]);
  await correct(id, "yes");
  t.is(await balance(ann), 482);
});

test("INVALID_STATE: a market without a resolution, or with the same one", async (t) => {
  const { id } = await makeTwo();
  await t.throwsAsync(correct(id, "yes"), { code: "EX019" });
  await operate("set_market_status", { market_id: id, status: "closed" });
  await t.throwsAsync(correct(id, "yes"), { code: "EX019" });
  await resolve(id, "yes");
  await t.throwsAsync(correct(id, "yes"), { code: "EX019" });
  await correct(id, "custom", 40);
  await t.throwsAsync(correct(id, "custom", 40), { code: "EX019" });
  await correct(id, "custom", 41);
  t.like(await market(id), { resolvedOutcome: "custom" });
});

test("INVALID_REQUEST: no reason, no outcome, a payout that contradicts it", async (t) => {
  const { id } = await makeTwo();
  await resolve(id, "yes");
  for (const reason of [null, "", " ", "x".repeat(1001)]) {
    await t.throwsAsync(correct(id, "no", null, reason), { code: "EX001" });
  }
  await t.throwsAsync(correct(id, null), { code: "EX001" });
  await t.throwsAsync(correct(id, "custom"), { code: "EX001" });
  await t.throwsAsync(correct(id, "no", 1), { code: "EX001" });
  await t.throwsAsync(correct(nowhere, "no"), { code: "EX017" });
  t.like(await market(id), { resolvedOutcome: "yes" });
});

test("corrections count toward loss limits on the day they are made", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, bob, buy("no", 100, 50));
  await place(id, ann, buy("yes", 100, 50));
  await resolve(id, "yes");
  const limits = { user_id: ann, day_cents: 1000, week_cents: null, month_cents: null };
  await operate("set_loss_limits", { ...limits, immediate: true });
  const elsewhere = await makeMarket();
  await rest(elsewhere, ann, buy("yes", 10, 50)); // what came out is more than went in
  await exchange.cancel(ann, (await exchange.orders(ann)).data[0]!.id);
  await correct(id, "no");
  t.is(await refusal(elsewhere, ann, buy("yes", 10, 50)), "LOSS_LIMIT");
});
