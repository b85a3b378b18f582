import { randomUUID } from "node:crypto";
import test from "ava";
import { restUntilExpiry, scatterOrders } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, codesOf, sell, shown } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { balance, book, clock, giveShares, makeLiveMarket, makeMarketWith } = exchange;
const { makeTrader, makeTraders, operate, order, place, placeBatch, refusal, rest } = exchange;

const nobody = "01900000-0000-7000-8000-000000000000";
const frozen = "EX024";

const freeze = (user_id: string, more: { reason?: string | null; cancel_orders?: unknown } = {}) =>
  operate("freeze_user", { user_id, reason: "fraud check", ...more });
const unfreeze = (user_id: string, reason: string | null = "checked") =>
  operate("unfreeze_user", { user_id, reason });
const withdraw = (user_id: string, reference: string) =>
  operate("withdraw", { user_id, amount_cents: 100, reference });

async function shownToOperators(user_id: string) {
  const rows = await exchange.look(
    "select frozen_at, frozen_by, frozen_reason from admin.users where user_id = $1",
    [user_id],
  );
  return rows[0];
}

test("all open orders end with trading_paused, in every market; other users' stay", async (t) => {
  const { one, two, ann, orders } = await scatterOrders(exchange);
  t.is(await freeze(ann), 5);
  for (const id of orders) {
    t.like(await order(ann, id), { status: "cancelled", cancelReason: "trading_paused" });
  }
  t.deepEqual(await book(one), { bids: ["4 @ 40"], asks: [] });
  t.deepEqual(await book(two), { bids: [], asks: [] });
});

test("the owner gets order_cancelled for each of them", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const ids = await rest(market, ann, buy("yes", 1, 40), buy("no", 2, 40));
  const listener = await exchange.listen();
  await freeze(ann);
  const { users } = await listener.heard();
  t.deepEqual(
    users
      .filter(({ userId }) => userId === ann)
      .map(({ event }) => [event.type, event.orderId, event.cancelReason]),
    ids.map((id) => ["order_cancelled", id, "trading_paused"]),
  );
});

test("ACCOUNT_FROZEN: orders, amendments, splits and withdrawals, until it is unfrozen", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 5);
  const [id] = await rest(market, ann, buy("yes", 10, 40));
  t.is(await freeze(ann, { cancel_orders: false }), 0);
  await rest(market, bob, buy("no", 1, 45));

  // An order that would rest, one that a single order fills, one of a batch.
  t.is(await refusal(market, ann, buy("yes", 1, 40)), "ACCOUNT_FROZEN");
  t.is(await refusal(market, ann, buy("yes", 1, 60)), "ACCOUNT_FROZEN");
  t.is(await refusal(market, ann, sell("yes", 5, 70)), "ACCOUNT_FROZEN");
  const batch = await placeBatch(market, [
    [ann, buy("yes", 1, 40)],
    [bob, buy("no", 1, 41)],
  ]);
  t.deepEqual(codesOf(batch), ["ACCOUNT_FROZEN", null]);
  t.is((await exchange.amend(ann, id, { quantity: 5 })).code, "ACCOUNT_FROZEN");
  t.is((await exchange.amend(ann, id, { price: 41 })).code, "ACCOUNT_FROZEN");
  t.is((await exchange.split(market, ann, 1)).code, "ACCOUNT_FROZEN");
  const cents = await balance(ann);
  await t.throwsAsync(withdraw(ann, "out"), { code: frozen });
  t.is(await balance(ann), cents);

  await unfreeze(ann);
  t.is((await exchange.amend(ann, id, { price: 41 })).code, null);
  t.is((await exchange.split(market, ann, 1)).code, null);
  await withdraw(ann, "out");
  await rest(market, ann, buy("yes", 1, 40));
});

test("cancelling, merging, reading and deposits work in a frozen account", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await exchange.split(market, ann, 2);
  const [id] = await rest(market, ann, buy("yes", 10, 40));
  await freeze(ann, { cancel_orders: false });
  t.is((await exchange.orders(ann)).data.length, 1);
  t.is((await exchange.cancel(ann, id)).answer!.order.cancelReason, "user_cancelled");
  t.is((await exchange.merge(market, ann, 2)).code, null);
  await operate("deposit", { user_id: ann, amount_cents: 50, reference: "in" });
  t.is(await balance(ann), 100_050);
});

test("cancel_orders => false: resting orders stay, and may match", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  await rest(market, ann, buy("no", 10, 40), buy("no", 10, 39));
  await freeze(ann, { cancel_orders: false });
  // By the fast path of a single maker, and by the general one.
  t.deepEqual(shown((await place(market, bob, buy("yes", 4, 60))).fills), ["4 @ 60"]);
  t.deepEqual(shown((await place(market, cid, buy("yes", 16, 61))).fills), ["6 @ 60", "10 @ 61"]);
  t.is((await exchange.position(market, ann, "no")).quantity, 20);
});

test("a replay is answered in a frozen account, of an order and of a withdrawal", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const request = buy("yes", 1, 50, { idempotencyKey: randomUUID() });
  const [id] = await rest(market, ann, request);
  await withdraw(ann, "out");
  await freeze(ann);
  const [outcome] = await placeBatch(market, [[ann, request]]);
  t.like(outcome, { code: null, replayed: true });
  t.like(outcome!.answer!.order, { id, cancelReason: "trading_paused" });
  t.is(await withdraw(ann, "out"), 99_900);
  t.is(await balance(ann), 99_900);
});

test.serial("scheduled orders: cancelled at once, or else at their release", async (t) => {
  await clock.freeze("2040-03-01T12:00:00Z");
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const first = (await place(market, ann, buy("yes", 1, 40))).order.id;
  const second = (await place(market, bob, buy("yes", 1, 40))).order.id;
  t.is(await freeze(ann), 1);
  t.is((await order(ann, first)).cancelReason, "trading_paused");
  t.is(await freeze(bob, { cancel_orders: false }), 0);
  t.is((await order(bob, second)).status, "scheduled");
  t.is((await exchange.amend(bob, second, { quantity: 2 })).code, "ACCOUNT_FROZEN");

  const listener = await exchange.listen();
  await listener.heard();
  await clock.advance(3000);
  t.is(await exchange.release(market), 1);
  t.like(await order(bob, second), { status: "cancelled", cancelReason: "trading_paused" });
  const { users } = await listener.heard();
  t.deepEqual(
    users.map(({ userId, event }) => [userId, event.type, event.cancelReason]),
    [[bob, "order_released", "trading_paused"]],
  );
  t.is(await refusal(market, ann, buy("yes", 1, 40)), "ACCOUNT_FROZEN");
  await clock.release();
});

test.serial("an order past its expiry expires, and is not counted", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const { due, open } = await restUntilExpiry(exchange, market, ann);
  t.is(await freeze(ann), 1);
  t.is((await order(ann, due)).cancelReason, "expired");
  t.is((await order(ann, open)).cancelReason, "trading_paused");
  await clock.release();
});

test.serial("frozen again, an account keeps the time and takes the new reason", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  t.deepEqual(await shownToOperators(ann), {
    frozen_at: null,
    frozen_by: null,
    frozen_reason: null,
  });
  await rest(market, ann, buy("yes", 1, 40));
  await clock.freeze("2040-01-10T12:00:00Z");
  await freeze(ann, { reason: "fraud check", cancel_orders: false });
  await clock.freeze("2040-01-10T13:00:00Z");
  t.is(await freeze(ann, { reason: "court order" }), 1);
  const rows = await exchange.query("select session_user as login");
  t.deepEqual(await shownToOperators(ann), {
    frozen_at: new Date("2040-01-10T12:00:00Z"),
    frozen_by: rows[0].login,
    frozen_reason: "court order",
  });
  await unfreeze(ann);
  t.is((await shownToOperators(ann)).frozen_at, null);
  await clock.release();
});

test("unfreezing an account that is not frozen is no change and no error", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await unfreeze(ann);
  t.is((await rest(market, ann, buy("yes", 1, 40))).length, 1);
});

test("unfreezing leaves a self-exclusion as it is", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await operate("self_exclude", { user_id: ann });
  await freeze(ann);
  t.is(await refusal(market, ann, buy("yes", 1, 40)), "SELF_EXCLUDED");
  await unfreeze(ann);
  t.is(await refusal(market, ann, buy("yes", 1, 40)), "SELF_EXCLUDED");
});

test("INVALID_REQUEST: without a reason, or without cancel_orders", async (t) => {
  const ann = await makeTrader();
  for (const reason of [null, "", " \n"]) {
    await t.throwsAsync(freeze(ann, { reason }), { code: "EX001", message: /reason/ });
    await t.throwsAsync(unfreeze(ann, reason), { code: "EX001", message: /reason/ });
  }
  await t.throwsAsync(freeze(ann, { cancel_orders: null }), {
    code: "EX001",
    message: /cancel_orders/,
  });
});

test("NOT_FOUND: an unknown user", async (t) => {
  for (const cancel_orders of [true, false]) {
    await t.throwsAsync(freeze(nobody, { cancel_orders }), {
      code: "EX017",
      message: /There is no user/,
    });
  }
  await t.throwsAsync(unfreeze(nobody), { code: "EX017", message: /There is no user/ });
});

test("analysts see neither the state nor the reason", async (t) => {
  const rows = await exchange.query(
    `select c.table_name || '.' || c.column_name as name
     from information_schema.columns as c
     where c.table_schema = 'analytics' and c.column_name ~ 'fr[eo]+ze'`,
  );
  t.deepEqual(rows, []);
});

test.serial(
  "who is frozen again an hour after an unfreezing is frozen as was called for",
  async (t) => {
    const ann = await makeTrader();
    await freeze(ann);
    await unfreeze(ann);
    await clock.advance(2 * 3_600_000);
    await freeze(ann);
    t.deepEqual(await exchange.verify(), []);
    await clock.release();
  },
);
