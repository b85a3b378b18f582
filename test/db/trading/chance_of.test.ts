import test from "ava";
import { chanceOf } from "../../../src/website/components/market/chance.ts";
import { testDatabase } from "../../helpers/database/test_database.ts";

/** The chance that a market's prices say, by the database and by the website. */

const database = testDatabase(test);

test("the database and the website say the same of all prices", async (t) => {
  const { rows } = await database.pool.query(`
    select b.price as bid, a.price as ask, l.price as last, c.chance::float8 as chance, c.kind
    from (select nullif(i, 0) as price from generate_series(0, 98) as i) as b
    cross join (select nullif(i, 100) as price from generate_series(2, 100) as i) as a
    cross join (values (null::int), (1), (2), (37), (50), (51), (98), (99)) as l (price)
    cross join lateral trading.chance_of(b.price, a.price, l.price) as c
    where b.price is null or a.price is null or b.price < a.price`);
  t.true(rows.length > 30_000);
  const wrong = rows.filter(({ bid, ask, last, chance, kind }) => {
    const shown = chanceOf({ bestBid: bid, bestAsk: ask, lastTradePrice: last });
    // The page also says where the last price lay outside of bid and ask.
    const shownKind = shown.kind === "held" ? "last" : shown.kind;
    return shown.chance !== chance || shownKind !== kind;
  });
  t.deepEqual(wrong.slice(0, 5), []);
});
