import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, makeMarketWith, operate, place, refusal, rest } = exchange;

test("TRADING_PAUSED: no market takes orders while the site is paused; resting orders stay", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40));
  await operate("set_trading_pause", { paused: true, reason: "an incident" });
  t.is(await refusal(market, bob, buy("yes", 10, 60)), "TRADING_PAUSED");
  t.is(await refusal(market, ann, buy("no", 10, 40)), "TRADING_PAUSED");
  t.deepEqual((await book(market)).asks, ["10 @ 60"]);
  await operate("set_trading_pause", { paused: true });
  t.is(await refusal(market, bob, buy("yes", 10, 60)), "TRADING_PAUSED");
  await operate("set_trading_pause", { paused: false });
  t.is((await place(market, bob, buy("yes", 10, 60))).order.status, "filled");
});
