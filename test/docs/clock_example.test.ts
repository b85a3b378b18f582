import test from "ava";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";

const exchange = testExchange(test);

test.serial("an order counts until it expires, and not afterwards", async (t) => {
  const { book, clock, makeMarket, makeTrader, rest } = exchange;
  const market = await makeMarket();
  const trader = await makeTrader();

  await clock.freeze("2030-01-01T12:00:00Z");
  await rest(market, trader, buy("yes", 10, 40, { expiresAt: "2030-01-01T12:00:05Z" }));
  await clock.advance(4999);
  t.deepEqual((await book(market)).bids, ["10 @ 40"]);
  await clock.advance(1);
  t.deepEqual((await book(market)).bids, []);
});
