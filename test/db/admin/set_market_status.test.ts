import test from "ava";
import { restUntilExpiry } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, clock, makeMarket, makeMarketWith, makeTrader, market, operate } = exchange;
const { order, place, refusal, rest, version } = exchange;

const set = (market_id: string, status: string | null, close_time: string | null = null) =>
  operate("set_market_status", { market_id, status, close_time });

test("pausing leaves orders resting; reopened, they trade", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 40));
  await set(id, "paused");
  t.is((await market(id)).status, "paused");
  t.deepEqual((await book(id)).asks, ["10 @ 60"]);
  t.is(await refusal(id, bob, buy("yes", 10, 60)), "MARKET_NOT_OPEN");
  await set(id, "open");
  t.is((await place(id, bob, buy("yes", 10, 60))).order.status, "filled");
});

for (const status of ["open", "paused"]) {
  test(`closing a market that is ${status} cancels its orders with market_closed`, async (t) => {
    const [id, ann, bob] = await makeMarketWith(2);
    const [first] = await rest(id, ann, buy("no", 10, 40));
    await place(id, bob, buy("yes", 4, 60));
    const [second] = await rest(id, bob, buy("yes", 10, 40));
    await set(id, status);
    await set(id, "closed");
    t.is((await market(id)).status, "closed");
    t.like(await order(ann, first), {
      status: "cancelled",
      cancelReason: "market_closed",
      filledQuantity: 4,
    });
    t.like(await order(bob, second), { status: "cancelled", cancelReason: "market_closed" });
    t.deepEqual(await book(id), { bids: [], asks: [] });
    t.like(await market(id), { bestBid: null, bestAsk: null });
    t.is(await refusal(id, bob, buy("yes", 10, 60)), "MARKET_NOT_OPEN");
  });
}

test.serial("an order past its expiry expires when its market is closed", async (t) => {
  const [id, ann] = await makeMarketWith(1);
  const { due, open } = await restUntilExpiry(exchange, id, ann);
  await set(id, "closed");
  t.is((await order(ann, due)).cancelReason, "expired");
  t.is((await order(ann, open)).cancelReason, "market_closed");
  await clock.release();
});

test("setting the same status changes nothing and is no error", async (t) => {
  const id = await makeMarket({ close_time: "2090-01-01T00:00:00Z" });
  for (const status of ["open", "paused", "closed"]) {
    await set(id, status);
    const before = [await version(id), await market(id)];
    await set(id, status);
    await set(id, status, "2090-01-01T00:00:00Z");
    t.deepEqual([await version(id), await market(id)], before);
  }
});

test("INVALID_REQUEST: a close time that would have no effect", async (t) => {
  const id = await makeMarket({ close_time: "2090-01-01T00:00:00Z" });
  const other = { code: "EX001", message: /admin\.edit_market/ };
  for (const [status, next] of [
    ["open", "open"],
    ["open", "paused"],
    ["paused", "paused"],
    ["paused", "closed"],
    ["closed", "closed"],
  ] as const) {
    await set(id, status);
    const before = [await version(id), await market(id)];
    await t.throwsAsync(set(id, next, "2091-01-01T00:00:00Z"), other);
    t.deepEqual([await version(id), await market(id)], before);
  }
  const never = await makeMarket();
  await t.throwsAsync(set(never, "open", "2091-01-01T00:00:00Z"), other);
});

test.serial("past its close time a market is closed, even if the job is late", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const id = await makeMarket({ close_time: "2040-01-02T00:00:00Z" });
  const ann = await makeTrader();
  const [first] = await rest(id, ann, buy("yes", 1, 40));
  await set(id, "paused");
  await clock.freeze("2040-01-02T00:00:00Z");
  await t.throwsAsync(set(id, "paused"), { code: "EX019" });
  await set(id, "open", "2040-01-03T00:00:00Z");
  t.is((await order(ann, first)).cancelReason, "market_closed");
  t.like(await market(id), { status: "open", closeTime: "2040-01-03T00:00:00.000Z" });

  await rest(id, ann, buy("yes", 1, 40));
  await clock.freeze("2040-01-03T00:00:00Z");
  await set(id, "open");
  t.deepEqual((await book(id)).bids, []);
  t.like(await market(id), { status: "open", closeTime: null });
  await clock.release();
});

test("INVALID_STATE: a closed market can be reopened but not paused", async (t) => {
  const id = await makeMarket();
  await set(id, "closed");
  await t.throwsAsync(set(id, "paused"), { code: "EX019" });
  await set(id, "open");
  const ann = await makeTrader();
  t.is((await rest(id, ann, buy("no", 10, 40))).length, 1);
});

test("a reopened market closes at the time given, or at none", async (t) => {
  const id = await makeMarket({ close_time: "2090-01-01T00:00:00Z" });
  t.is((await market(id)).closeTime, "2090-01-01T00:00:00.000Z");
  await set(id, "closed");
  await set(id, "open");
  t.is((await market(id)).closeTime, null);
  await set(id, "closed");
  await set(id, "open", "2091-01-01T00:00:00Z");
  t.is((await market(id)).closeTime, "2091-01-01T00:00:00.000Z");
});

test("a paused market keeps its close time when it opens, unless given another", async (t) => {
  const id = await makeMarket({ close_time: "2090-01-01T00:00:00Z" });
  await set(id, "paused");
  await set(id, "open");
  t.is((await market(id)).closeTime, "2090-01-01T00:00:00.000Z");
  await set(id, "paused");
  await set(id, "open", "2091-01-01T00:00:00Z");
  t.is((await market(id)).closeTime, "2091-01-01T00:00:00.000Z");
});

test.serial("INVALID_REQUEST: a close time that is not in the future", async (t) => {
  const id = await makeMarket();
  await set(id, "closed");
  await clock.freeze("2040-01-01T00:00:00Z");
  await t.throwsAsync(set(id, "open", "2040-01-01T00:00:00Z"), { code: "EX001" });
  await set(id, "open", "2040-01-01T00:00:00.001Z");
  await clock.release();
  t.is((await market(id)).status, "open");
});

test("INVALID_REQUEST: a status other than open, paused and closed", async (t) => {
  const id = await makeMarket();
  for (const status of ["resolved", "halted", "", null]) {
    await t.throwsAsync(set(id, status), { code: "EX001" });
  }
});

test("NOT_FOUND: an unknown market", async (t) => {
  await t.throwsAsync(set("01900000-0000-7000-8000-000000000000", "open"), { code: "EX017" });
});
