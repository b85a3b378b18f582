import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { balance, book, cancel, clock, makeMarketWith, operate, order, place, rest } = exchange;

const nothing = "01900000-0000-7000-8000-000000000000";

async function makeResting() {
  const [market, ann, bob] = await makeMarketWith(2);
  const [id] = await rest(market, ann, buy("no", 10, 40));
  return { market, ann, bob, id };
}

test("an open order is cancelled: user_cancelled, off the book, the balance as it was", async (t) => {
  const { market, ann, id } = await makeResting();
  const { code, answer } = await cancel(ann, id);
  t.is(code, null);
  t.like(answer!.order, {
    id,
    userId: ann,
    marketId: market,
    side: "no",
    price: 40,
    quantity: 10,
    filledQuantity: 0,
    status: "cancelled",
    cancelReason: "user_cancelled",
  });
  t.deepEqual(answer!.balance, { total: 100_000, available: 100_000 });
  t.deepEqual(await book(market), { bids: [], asks: [] });
  t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
});

test("a partially filled order is cancelled and keeps what it has", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await rest(market, bob, buy("no", 5, 40));
  await place(market, bob, buy("yes", 4, 60));
  const { answer } = await cancel(ann, id);
  t.like(answer!.order, { status: "cancelled", quantity: 10, filledQuantity: 4 });
  t.is(answer!.balance.total, 100_000 - 160);
  t.deepEqual(await book(market), { bids: [], asks: ["5 @ 60"] });
});

test("a cancelled order never fills", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await cancel(ann, id);
  t.is((await place(market, bob, buy("yes", 10, 60))).order.status, "open");
  t.is(await balance(ann), 100_000);
});

test("ORDER_NOT_FOUND: an unknown order, or another user's", async (t) => {
  const { ann, bob, id } = await makeResting();
  t.is((await cancel(ann, nothing)).code, "ORDER_NOT_FOUND");
  t.is((await cancel(bob, id)).code, "ORDER_NOT_FOUND");
  t.is((await cancel(nothing, id)).code, "ORDER_NOT_FOUND");
  t.is((await order(ann, id)).status, "open");
});

test("ORDER_NOT_CANCELLABLE: filled and cancelled orders, by their status", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  const { order: taker } = await place(market, bob, buy("yes", 12, 60, ioc));
  for (const [who, what, status] of [
    [ann, id, "filled"],
    [bob, taker.id, "cancelled"],
  ] as const) {
    t.deepEqual(await cancel(who, what), {
      code: "ORDER_NOT_CANCELLABLE",
      message: `Cannot cancel order with status: ${status}`,
      answer: null,
    });
  }
  const [other] = await rest(market, ann, buy("no", 10, 30));
  await cancel(ann, other);
  t.is((await cancel(ann, other)).message, "Cannot cancel order with status: cancelled");
});

test.serial("ORDER_NOT_CANCELLABLE: an order past its expiry expires instead", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [id] = await rest(market, ann, buy("no", 10, 40, { expiresAt }));
  await clock.advance(60_000);
  const { code, message } = await cancel(ann, id);
  t.is(code, "ORDER_NOT_CANCELLABLE");
  t.is(message, "Cannot cancel order with status: cancelled");
  t.like(await order(ann, id), { status: "cancelled", cancelReason: "expired" });
});

test("cancels work in a paused market", async (t) => {
  const { market, ann, id } = await makeResting();
  await operate("set_market_status", { market_id: market, status: "paused" });
  t.is((await cancel(ann, id)).code, null);
});

test.serial("cancels work while the whole site is paused", async (t) => {
  const { ann, id } = await makeResting();
  await operate("set_trading_pause", { paused: true });
  const { code } = await cancel(ann, id);
  await operate("set_trading_pause", { paused: false });
  t.is(code, null);
});

test("orders behind a cancelled one move up", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  const [behind] = await rest(market, bob, buy("no", 5, 40));
  t.is((await order(bob, behind)).sharesAhead, 10);
  await cancel(ann, id);
  t.is((await order(bob, behind)).sharesAhead, 0);
});
