import test from "ava";
import type { PoolClient } from "pg";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** Functions return rows in the order of a key, whatever the plan: pages by offset go over them. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, place, rest } = exchange;

const HOUR_MS = 3_600_000;
const firstDay = Date.parse("2030-03-01T00:00Z");
let market: string;

test.before("trade on some days", async () => {
  await clock.freeze(new Date(firstDay));
  market = await makeMarket();
  const traders = await makeTraders(12);
  for (let hour = 1; hour < 72; hour += 3) {
    await clock.freeze(new Date(firstDay + hour * HOUR_MS));
    const [maker, taker] = [traders[(hour * 5) % 6]!, traders[6 + ((hour * 7) % 6)]!];
    await rest(market, maker, buy("yes", 4, 30 + (hour % 11)), buy("yes", 3, 20 + (hour % 7)));
    await place(market, taker, buy("no", 2, 80 - (hour % 11)));
    await place(market, taker, buy("no", 1, 40 + (hour % 9)));
  }
  await clock.freeze(new Date(firstDay + 96 * HOUR_MS));
});

const calls: Record<string, { call: string; key: string }> = {
  daily_trader_results: {
    ...{ call: "daily_trader_results('2030-03-01', '2030-03-05')", key: "day, user_key" },
  },
  daily_equity: { call: "daily_equity('2030-03-01', '2030-03-05')", key: "day, user_key" },
  book_history: {
    call: "book_history($1, '6 hours', '2030-03-01Z', '2030-03-04Z')",
    key: "at, side, yes_price_cents",
  },
  book_as_of: { call: "book_as_of($1, '2030-03-03Z')", key: "side, yes_price_cents" },
  time_at_best: {
    ...{ call: "time_at_best($1, '2030-03-01Z', '2030-03-05Z')", key: "order_key, from_at" },
  },
  candles: { call: "candles($1, '6 hours', '-infinity', 'infinity')", key: "opened_at" },
};

/** Plans that group, join and sort in different ways. */
const plans = ["", "enable_hashagg", "enable_sort", "enable_hashjoin", "enable_nestloop"];

for (const [name, { call, key }] of Object.entries(calls)) {
  test(`${name} returns its rows in the order of ${key}`, async (t) => {
    await withClient(exchange.database.connectAs("exchange_analyst"), async (client) => {
      for (const plan of plans) {
        if (plan) await client.query(`set ${plan} = off`);
        const found = await rowsOf(client, call);
        t.true(found.length > 5, "there are rows");
        t.is(
          new Set(
            found.map((row) =>
              key
                .split(", ")
                .map((column) => row[column])
                .join(),
            ),
          ).size,
          found.length,
          "the key is one",
        );
        t.deepEqual(found, await rowsOf(client, `${call} order by ${key}`), plan);
        if (plan) await client.query(`reset ${plan}`);
      }
    });
  });
}

async function rowsOf(client: PoolClient, call: string): Promise<any[]> {
  const { rows } = await client.query(
    `select * from analytics.${call}`,
    call.includes("$1") ? [market] : [],
  );
  return rows;
}
