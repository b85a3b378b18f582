import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** admin.reverse_deposit: a deposit goes back, and what was spent of it is owed. */

const exchange = testExchange(test);
const { balance, giveShares, makeMarket, makeTrader, operate, order, place, refusal, rest } =
  exchange;

const deposit = (user_id: string, amount_cents: number, reference: string) =>
  operate("deposit", { user_id, amount_cents, reference });
const reverse = (reference: unknown, reason: unknown = "not covered", user_id?: string) =>
  operate("reverse_deposit", { reference, reason, ...(user_id && { user_id }) });
const rowsAs = async (role: "exchange_operator" | "exchange_analyst", query: string, id: string) =>
  (await exchange.database.connectAs(role, { max: 1 }).query(query, [id])).rows;
const receivables = (user: string) =>
  rowsAs(
    "exchange_operator",
    `select amount_cents, kind, market_id, reference, reason from admin.receivables
     where user_id = $1`,
    user,
  );

test("the deposit goes back once; the others of the user stay", async (t) => {
  const ann = await makeTrader({ cents: 1000 });
  await deposit(ann, 300, "bank 1");
  await deposit(ann, 50, "bank 2");
  t.is(await reverse("bank 1"), 1050);
  t.is(await reverse("bank 1"), 1050);
  t.is(await reverse("bank 1", "another reason"), 1050);
  t.is(await deposit(ann, 300, "bank 1"), 1050, "its reference stays used");
  t.is(await balance(ann), 1050);
  t.deepEqual(await receivables(ann), []);
});

test("INSUFFICIENT_BALANCE: what is spent is owed: no buy, split or withdrawal until it is covered", async (t) => {
  const [market, bob] = [await makeMarket(), await makeTrader()];
  const ann = await makeTrader({ cents: 0 });
  await deposit(ann, 900, "bank 3");
  const [bid] = await rest(market, ann, buy("yes", 10, 40));
  await operate("withdraw", { user_id: ann, amount_cents: 700, reference: "out" });
  t.is(await reverse("bank 3", "charged back"), -700);
  const owed = { kind: "reversal", market_id: null, reference: "bank 3", reason: "charged back" };
  t.deepEqual(await receivables(ann), [{ amount_cents: 700, ...owed }]);

  t.is(await refusal(market, ann, buy("yes", 1, 1)), "INSUFFICIENT_BALANCE");
  t.is((await exchange.split(market, ann, 1)).code, "INSUFFICIENT_BALANCE");
  const withdrawal = { user_id: ann, amount_cents: 1, reference: "more" };
  await t.throwsAsync(operate("withdraw", withdrawal), { code: "EX011" });
  const { cancelledOrders } = await place(market, bob, buy("no", 10, 60));
  t.deepEqual(
    cancelledOrders.map(({ id, cancelReason }) => [id, cancelReason]),
    [[bid, "insufficient_funds"]],
  );
  t.like(await order(ann, bid), { status: "cancelled" });

  await deposit(ann, 699, "bank 4");
  t.deepEqual(await receivables(ann), [{ amount_cents: 1, ...owed }]);
  t.is(await deposit(ann, 61, "bank 5"), 60);
  t.deepEqual(await receivables(ann), []);
});

test("a sale and a payout cover what is owed; a second reversal adds to it", async (t) => {
  const [market, bob] = [await makeMarket(), await makeTrader()];
  const ann = await makeTrader({ cents: 0 });
  await deposit(ann, 1000, "bank 6");
  await deposit(ann, 500, "bank 7");
  await giveShares(market, ann, "yes", 20);
  await operate("withdraw", { user_id: ann, amount_cents: await balance(ann), reference: "out" });
  t.is(await reverse("bank 7"), -500);
  t.is(await reverse("bank 6"), -1500);
  t.like((await receivables(ann))[0], { amount_cents: 1500, reference: "bank 7" });
  await rest(market, bob, buy("yes", 10, 50));
  await place(market, ann, sell("yes", 10, 50)); // fee 17.5
  t.is(await balance(ann), -1500 + 500 - 18);
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  t.is(await balance(ann), -1500 + 500 - 18 + 1000);
  t.like((await receivables(ann))[0], { amount_cents: 18 });
});

test("frozen and self-excluded users are no exception", async (t) => {
  for (const [stop, values] of [
    ["freeze_user", { reason: "a test" }],
    ["self_exclude", {}],
  ] as const) {
    const ann = await makeTrader({ cents: 10 });
    await deposit(ann, 500, `before ${stop}`);
    await operate("withdraw", { user_id: ann, amount_cents: 400, reference: "out" });
    await operate(stop, { user_id: ann, ...values });
    t.is(await reverse(`before ${stop}`), -390, stop);
  }
});

test("a reversal neither hides a loss from the loss limit nor makes one", async (t) => {
  const market = await makeMarket();
  await rest(market, await makeTrader(), buy("no", 30, 50));
  // 10 at 50 cost 500 and a fee of 17.5, rounded up.
  const ann = await makeTrader({ cents: 10_000, limits: [518, null, null] });
  await deposit(ann, 9000, "bank 8");
  await reverse("bank 8");
  t.is((await place(market, ann, buy("yes", 10, 50))).order.status, "filled");
  t.is(await refusal(market, ann, buy("yes", 1, 1)), "LOSS_LIMIT");
});

test("INVALID_REQUEST: a reference of several users needs user_id, and then takes from that one", async (t) => {
  const [ann, bob] = await exchange.makeTraders(2, { cents: 100 });
  for (const user of [ann, bob]) await deposit(user, 40, "shared");
  await t.throwsAsync(reverse("shared"), {
    code: "EX001",
    message: "The reference is that of a deposit of 2 users: user_id must say whose",
  });
  t.is(await reverse("shared", "wrong account", bob), 100);
  t.deepEqual([await balance(ann), await balance(bob)], [140, 100]);
});

test("INVALID_REQUEST, NOT_FOUND: no reason, and references that are no deposit's", async (t) => {
  const ann = await makeTrader({ cents: 100 });
  await deposit(ann, 40, "bank 9");
  for (const reason of [null, "", " \n", "x".repeat(1001)]) {
    await t.throwsAsync(reverse("bank 9", reason), { code: "EX001", message: /^A reason/ });
  }
  await operate("withdraw", { user_id: ann, amount_cents: 5, reference: "bank 10" });
  for (const reference of [null, "", "bank 10", "nowhere"]) {
    await t.throwsAsync(reverse(reference), { code: "EX017" }, String(reference));
  }
  await t.throwsAsync(reverse("bank 9", "wrong", await makeTrader()), { code: "EX017" });
  t.is(await balance(ann), 135);
});

test("operators see reference and reason; analysts the kind and the sum that is owed", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  await deposit(ann, 80, "bank 11");
  await operate("withdraw", { user_id: ann, amount_cents: 80, reference: "out" });
  await reverse("bank 11", "charged back");
  const movements = (schema: string) =>
    `select * from ${schema}.cash_movements where user_id = $1 and kind = 'reversal'`;
  const [seen] = await rowsAs("exchange_operator", movements("admin"), ann);
  t.like(seen, { amount_cents: 80, reference: "bank 11", reason: "charged back" });
  const [shown] = await rowsAs("exchange_analyst", movements("analytics"), ann);
  t.is(shown.amount_cents, 80);
  t.false("reference" in shown || "reason" in shown);
  const figures =
    "select balance_cents, overdraft_cents, net_deposits_cents from analytics.users " +
    "where user_id = $1";
  t.deepEqual(await rowsAs("exchange_analyst", figures, ann), [
    { balance_cents: -80, overdraft_cents: 80, net_deposits_cents: -80 },
  ]);
});
