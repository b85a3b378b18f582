import test from "ava";
import { rowsHandled } from "../../helpers/database/plans.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** More days cost rows of the answer and shares held on them, and not all orders and trades anew. */

const exchange = testExchange(test);
const { clock, makeMarketWith, place, rest } = exchange;

const ORDERS = 300;
const DAY_MS = 86_400_000;

test("a day more of daily_equity does not read all orders again", async (t) => {
  const start = Date.parse("2030-01-01T12:00Z");
  await clock.freeze(new Date(start));
  const [market, ann, bob, cid] = await makeMarketWith(3);
  // As many orders as there are rest all the time, and as many more ended long ago.
  const low = Array.from({ length: ORDERS }, (_, index) => buy("yes", 1, 1 + (index % 20)));
  for (let first = 0; first < ORDERS; first += 100) {
    await rest(market, ann, ...low.slice(first, first + 100));
  }
  await rest(market, ann, ...Array.from({ length: 50 }, () => buy("yes", 1, 50)));
  await place(market, bob, buy("no", 50, 50));
  await rest(market, cid, buy("no", 5, 40));
  await clock.freeze(new Date(start + 400 * DAY_MS));
  await withClient(exchange.database.pool, async (client) => {
    await client.query("analyze");
    const handled = (until: string) =>
      rowsHandled(client, `select from analytics.daily_equity('2030-01-01', '${until}')`);
    const [month, year] = [await handled("2030-01-31"), await handled("2030-12-27")];
    const each = (year - month) / 330;
    t.true(each < ORDERS / 3, `${each} rows for each day more`);
  });
});
