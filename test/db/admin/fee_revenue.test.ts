import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.fee_revenue: the fees of 31 UTC days, to the cent. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, operate, place, rest } = exchange;

test("fees by day, market and schedule are those of each trade, from midnight to midnight", async (t) => {
  await clock.freeze("2030-02-01T00:00:00Z");
  const markets = [await makeMarket(), await makeMarket()] as const;
  const [maker, taker] = await makeTraders(2);

  /** Trades at 50: a share costs 1.75 cents at 700 basis points, 0.5 at 200, rounded up in all. */
  const trade = async (at: string, market: string, quantity: number): Promise<string> => {
    await clock.freeze(at);
    await rest(market, maker, buy("no", quantity, 50));
    const { fills } = await place(market, taker, buy("yes", quantity, 50));
    return fills[0]!.id;
  };
  await trade("2030-02-28T23:59:59.999Z", markets[0], 1);
  await trade("2030-03-01T00:00:00Z", markets[0], 10);
  await trade("2030-03-15T23:59:59.999Z", markets[0], 20);
  await trade("2030-03-16T00:00:00Z", markets[0], 30);
  const undone = await trade("2030-03-16T00:30:00Z", markets[0], 1);
  await trade("2030-03-16T11:59:59Z", markets[1], 3);
  await operate("set_fee_schedule", {
    taker_rate_bps: 200,
    effective_from: "2030-03-16T12:00:00Z",
  });
  await trade("2030-03-16T12:00:00Z", markets[1], 5);
  await trade("2030-03-31T23:00:00Z", markets[1], 7);
  await operate("void_trade", { trade_id: undone, reason: "a test" });

  const { rows } = await exchange.database.connectAs("exchange_operator").query({
    text: `select f.day::text, f.market_id, s.taker_rate_bps, f.trade_count::int, f.quantity::int,
        f.fee_cents::int, f.voided_fee_cents::int
      from admin.fee_revenue as f join admin.fee_schedules as s using (fee_schedule_key)
      order by f.day, f.market_id = $1, s.taker_rate_bps desc`,
    values: [markets[1]],
    rowMode: "array",
  });
  t.deepEqual(rows, [
    ["2030-03-01", markets[0], 700, 1, 10, 18, 0],
    ["2030-03-15", markets[0], 700, 1, 20, 35, 0],
    ["2030-03-16", markets[0], 700, 2, 31, 53 + 2, 2],
    ["2030-03-16", markets[1], 700, 1, 3, 6, 0],
    ["2030-03-16", markets[1], 200, 1, 5, 3, 0],
    ["2030-03-31", markets[1], 200, 1, 7, 4, 0],
  ]);
});
