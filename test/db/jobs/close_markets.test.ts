import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, clock, listen, makeMarket, makeTrader, makeTraders, market, operate } = exchange;
const { order, rest, version, work } = exchange;

const NOON = "2030-01-01T12:00:00Z";
const CLOSE = "2030-01-01T12:01:00Z";

test.serial.beforeEach(() => clock.freeze(NOON));

for (const status of ["open", "paused"]) {
  test.serial(`a market that is ${status} closes at its close time`, async (t) => {
    const id = await makeMarket({ close_time: CLOSE });
    const ann = await makeTrader();
    const [resting] = await rest(id, ann, buy("no", 10, 40));
    await operate("set_market_status", { market_id: id, status });
    const { heard } = await listen();
    await heard();
    await clock.advance(59_999);
    t.is(await work("close_markets"), 0);
    t.is((await market(id)).status, status);
    await clock.advance(1);
    t.is(await work("close_markets"), 2, "one order and the market");
    t.is((await market(id)).status, "closed");
    t.like(await order(ann, resting), { status: "cancelled", cancelReason: "market_closed" });
    t.deepEqual(await book(id), { bids: [], asks: [] });
    const { users } = await heard();
    t.deepEqual(
      users.map(({ userId, event }) => [userId, event.orderId, event.cancelReason]),
      [[ann, resting, "market_closed"]],
    );
  });
}

test.serial("a deep book is cancelled piece by piece, then the market closes", async (t) => {
  const id = await makeMarket({ close_time: CLOSE });
  const ann = await makeTrader();
  await rest(id, ann, ...[1, 2, 3, 4, 5].map((price) => buy("no", 1, price)));
  await clock.advance(60_000);
  const before = await version(id);
  t.is(await work("close_markets", { most: 2 }), 6);
  t.is((await market(id)).status, "closed");
  t.is(await version(id), before + 3);
});

test.serial(
  "piece by piece, what was past its expiry expires, wherever it stands in the book",
  async (t) => {
    const id = await makeMarket({ close_time: CLOSE });
    const [ann, bob] = await makeTraders(2);
    const until = (second: number) => ({ expiresAt: `2030-01-01T12:00:${second}Z` });
    // The pieces begin at the best price; those of bob have waited longest.
    const ofAnn = await rest(id, ann, ...[5, 4, 3].map((price) => buy("no", 1, price, until(50))));
    const ofBob = await rest(id, bob, buy("no", 1, 2, until(10)), buy("no", 1, 1));
    const { heard } = await listen();
    await heard();
    await clock.advance(60_000);
    t.is(await work("close_markets", { most: 2 }), 6);
    const reasons = [
      ...ofAnn.map((each) => order(ann, each)),
      ...ofBob.map((each) => order(bob, each)),
    ];
    t.deepEqual(
      (await Promise.all(reasons)).map(({ cancelReason }) => cancelReason),
      ["expired", "expired", "expired", "expired", "market_closed"],
    );
    const { users } = await heard();
    t.deepEqual(
      users.map(({ userId, event }) => [userId, event.orderId]),
      [...ofAnn.map((each) => [ann, each]), ...ofBob.map((each) => [bob, each])],
    );
  },
);

test.serial("a market without a close time, reopened or resting, is left alone", async (t) => {
  const never = await makeMarket();
  const reopened = await makeMarket({ close_time: CLOSE });
  await operate("set_market_status", { market_id: reopened, status: "closed" });
  await operate("set_market_status", { market_id: reopened, status: "open" });
  await clock.advance(86_400_000);
  t.is(await work("close_markets"), 0);
  for (const id of [never, reopened]) t.is((await market(id)).status, "open");
});
