import test from "ava";
import { callsOn } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { makeMarket, makeTraders, operate, place, rest } = exchange;

test("of the trades that were undone a user is told the own ones, and whole markets", async (t) => {
  const [ann, bob, cem] = await makeTraders(3, { cents: 10_000 });
  const [first, second] = [await makeMarket(), await makeMarket()];
  const trade = async (market: string, taker: string): Promise<string> => {
    await rest(market, bob, buy("no", 5, 40));
    return (await place(market, taker, buy("yes", 5, 60))).fills[0]!.id;
  };
  const [anns, cems] = [await trade(first, ann), await trade(first, cem)];
  await trade(second, ann);
  for (const trade_id of [anns, cems]) await operate("void_trade", { trade_id, reason: "a test" });
  await operate("void_market", { market_id: second, reason: "a test" });
  const reads = callsOn(exchange.api, api);
  const undone = async (userId: string, marketIds: string[]): Promise<unknown[]> => {
    const { data } = JSON.parse(await reads.listUndoneTrades({ userId, marketIds }));
    return data.map((one: { marketId: string; tradeId: string | null }) => [
      one.marketId,
      one.tradeId,
    ]);
  };
  t.deepEqual(await undone(ann, [first, second]), [
    [second, null],
    [first, anns],
  ]);
  t.deepEqual(await undone(cem, [first]), [[first, cems]]);
  t.deepEqual(await undone(bob, [first]), [
    [first, cems],
    [first, anns],
  ]);
});
