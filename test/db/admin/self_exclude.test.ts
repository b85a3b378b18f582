import test from "ava";
import { restUntilExpiry, scatterOrders } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, clock, giveShares, makeMarketWith, makeTrader, operate } = exchange;
const { order, place, refusal, rest } = exchange;

const exclude = (user_id: string, until?: string) =>
  operate("self_exclude", until === undefined ? { user_id } : { user_id, until });

test("all open orders go, of every market and side; others' stay", async (t) => {
  const { one, two, ann, orders } = await scatterOrders(exchange);
  t.is(await exclude(ann), 5);
  for (const id of orders) {
    t.like(await order(ann, id), { status: "cancelled", cancelReason: "self_excluded" });
  }
  t.deepEqual(await book(one), { bids: ["4 @ 40"], asks: [] });
  t.deepEqual(await book(two), { bids: [], asks: [] });
});

test.serial("an order past its expiry expires, and is not counted as cancelled", async (t) => {
  const [one, ann] = await makeMarketWith(1);
  const { due, open } = await restUntilExpiry(exchange, one, ann);
  t.is(await exclude(ann), 1);
  t.is((await order(ann, due)).cancelReason, "expired");
  t.is((await order(ann, open)).cancelReason, "self_excluded");
  await clock.release();
});

test("SELF_EXCLUDED: no order is accepted from then on, to buy or to sell", async (t) => {
  const [one, ann] = await makeMarketWith(1);
  await giveShares(one, ann, "yes", 5);
  t.is(await exclude(ann), 0);
  t.is(await refusal(one, ann, buy("yes", 1, 40)), "SELF_EXCLUDED");
  t.is(await refusal(one, ann, sell("yes", 5, 40)), "SELF_EXCLUDED");
});

test("INVALID_REQUEST: it can't be shortened, nor end in the past; it can be prolonged", async (t) => {
  const ann = await makeTrader();
  await exclude(ann, "2090-01-02T00:00:00Z");
  t.is(await exclude(ann, "2090-01-02T00:00:00Z"), 0);
  await t.throwsAsync(exclude(ann, "2090-01-01T23:59:59Z"), { code: "EX001" });
  await t.throwsAsync(exclude(ann, "2020-01-01T00:00:00Z"), { code: "EX001" });
  t.is(await exclude(ann, "2091-01-01T00:00:00Z"), 0);
  await exclude(ann);
  await t.throwsAsync(exclude(ann, "2091-01-01T00:00:00Z"), { code: "EX001" });
});

test("INVALID_REQUEST: an exclusion without an end", async (t) => {
  const ann = await makeTrader();
  await t.throwsAsync(operate("self_exclude", { user_id: ann, until: null }), { code: "EX001" });
});

test("NOT_FOUND: an unknown user", async (t) => {
  await t.throwsAsync(exclude("01900000-0000-7000-8000-000000000000"), { code: "EX017" });
});

test.serial("it ends by itself at its end, and not before", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const [one, ann, bob] = await makeMarketWith(2);
  await exclude(ann, "2040-01-02T00:00:00Z");
  await clock.freeze("2040-01-01T23:59:59.999Z");
  t.is(await refusal(one, ann, buy("yes", 1, 40)), "SELF_EXCLUDED");
  await clock.freeze("2040-01-02T00:00:00Z");
  await rest(one, ann, buy("yes", 1, 40));
  t.is((await place(one, bob, buy("no", 1, 60))).fills.length, 1);
  // Another one may then end whenever it likes.
  t.is(await exclude(ann, "2040-01-02T00:00:01Z"), 0);
});
