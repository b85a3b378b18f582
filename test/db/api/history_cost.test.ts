import test from "ava";
import type { ClientBase } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { rowsRead } from "../../helpers/database/plans.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/**
 * What fills, statements, history and candles read of a large table of trades: as much as they
 * show, and not the table. HISTORY_TRADES=1000000 tries it with a million.
 */

const TRADES = Number(process.env.HISTORY_TRADES ?? 30_000);

let exchange: Exchange;
let ann: string;
let market: string;

test.before("make many trades", async () => {
  exchange = await createExchange();
  const { makeMarket, makeTrader, operate, place, database } = exchange;
  const undone = await makeMarket();
  await place(undone, await makeTrader(), buy("no", 1, 50));
  const { fills } = await place(undone, await makeTrader(), buy("yes", 1, 50));
  await operate("void_trade", { trade_id: fills[0]!.id, reason: "the oldest trade is undone" });
  market = await makeMarket();
  ann = await makeTrader();
  const bob = await makeTrader();
  const others = [await makeMarket(), await makeMarket()];
  // One trade of each kind, of which the others are copies.
  await place(market, ann, buy("yes", 1, 50));
  await place(market, bob, buy("no", 1, 50));
  for (const one of [market, ...others]) {
    await place(one, bob, buy("no", 1, 50));
    await place(one, ann, buy("yes", 1, 50));
  }
  await database.pool.query(
    `insert into trading.trades
     select (t).* from (
       select jsonb_populate_record(t, jsonb_build_object(
         'id', nextval('ledger.journal_ids'),
         'public_id', core.uuid_v7(),
         'taker_version', t.taker_version + n * 4,
         'maker_version', t.maker_version + n * 4,
         'taker_order_id', t.taker_order_id + case when n % 5 > 0 or n > 5000 then n * 10 else 0 end,
         'created_at', t.created_at + n * interval '1 second'
       )) as t
       from generate_series(1, $1::int / 4) as n cross join trading.trades as t
       where t.id not in (select v.trade_id from trading.voids as v)
     ) as copies`,
    [TRADES],
  );
  await database.pool.query(
    `update trading.market_state as b set trade_count = (
       select count(*) from trading.trades as t where t.market_id = b.market_id
     )`,
  );
  await database.pool.query(
    `insert into trading.voids overriding system value
     select (jsonb_populate_record(v, jsonb_build_object(
       'id', v.id + t.number, 'trade_id', t.id
     ))).*
     from trading.voids as v
     cross join (
       select x.id, row_number() over (order by x.id) as number from trading.trades as x
       where x.id > (select max(y.trade_id) from trading.voids as y) limit 60
     ) as t`,
  );
  await database.pool.query("analyze trading.trades, trading.voids");
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

/** How many rows of trades a call reads. */
const tradesRead = (work: (client: ClientBase) => Promise<unknown>): Promise<number> =>
  rowsRead(exchange.api, ["trading.trades"], work);

const LIMIT = 50;

test.serial("fills and statement read what they show, on any page", async (t) => {
  const listed = { userId: ann, most: LIMIT };
  const middle = String(Math.round(TRADES / 2));
  for (const cursor of [undefined, middle]) {
    const fills = await tradesRead((client) => call(client, api.listFills, { ...listed, cursor }));
    t.true(fills <= 6 * LIMIT, `fills: ${fills}`);
  }
  for (const cursor of [undefined, `${middle}.${middle}`]) {
    const statement = await tradesRead((client) =>
      call(client, api.getStatement, { ...listed, cursor }),
    );
    t.true(statement <= 6 * LIMIT, `statement: ${statement}`);
  }
});

test.serial(
  "the statement of a year reads own trades, and the few of all that were undone",
  async (t) => {
    const stranger = await exchange.makeTrader();
    const { year } = (
      await exchange.database.pool.query("select date_part('year', core.now()) as year")
    ).rows[0];
    const read = await tradesRead((client) =>
      call(client, api.getYearStatement, { userId: stranger, year }),
    );
    t.true(read <= 80, `${read}`);
  },
);

test.serial("the statement of another year reads no trade of this one", async (t) => {
  const { rows } = await exchange.database.pool.query<{ first: number; last: number }>(
    `select date_part('year', min(created_at))::int as first,
       date_part('year', max(created_at))::int as last from trading.trades`,
  );
  for (const year of [rows[0]!.first - 1, rows[0]!.last + 1]) {
    const read = await tradesRead((client) =>
      call(client, api.getYearStatement, { userId: ann, year }),
    );
    t.true(read <= 80, `${year}: ${read}`);
  }
});

test.serial("a reality check reads what came since the visit began", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `insert into identity.sessions (user_id, cookie_hash, expires_at, visit_started_at)
     select id, sha256('a visit'), 'infinity', core.now() + interval '1 hour'
     from identity.users where public_id = $1
     returning public_id as session`,
    [ann],
  );
  const { session } = rows[0];
  const read = await rowsRead(exchange.api, ["trading.trades", "trading.voids"], (client) =>
    call(client, api.getRealityCheck, { userId: ann, sessionId: session }),
  );
  t.true(read <= 20, `${read}`);
});

test.serial("what is asked for one market or for long ago is bounded too", async (t) => {
  const listed = { userId: ann, most: LIMIT };
  const ofMarket = await tradesRead((client) =>
    call(client, api.listFills, { ...listed, marketId: market }),
  );
  t.true(ofMarket <= 20_000, `fills of a market: ${ofMarket}`);
  const until = "2020-01-01T00:00:00Z";
  const long = await tradesRead((client) => call(client, api.getStatement, { ...listed, until }));
  t.true(long <= 20_000, `statement: ${long}`);
});

test.serial("order history reads the fills that it shows", async (t) => {
  const history = await tradesRead((client) =>
    call(client, api.listOrderHistory, { userId: ann, most: LIMIT }),
  );
  t.true(history <= 4 * TRADES);
  const { rows } = await exchange.database.pool.query(
    `select coalesce(sum(n), 0) as fills from (
       select (select count(*) from trading.trades as t
         where o.id in (t.taker_order_id, t.maker_order_id)) as n
       from trading.orders as o join identity.users as u on u.id = o.user_id
       where u.public_id = $1
     ) as x`,
    [ann],
  );
  t.true(history <= 6 * Number(rows[0].fills), `history: ${history} of ${rows[0].fills}`);
});

test.serial(
  "a page of the history has 5,000 fills at most, unless one order has more",
  async (t) => {
    const counts: number[][] = [];
    for (let cursor: string | null = null, count = 0; count < 9; count++) {
      const body = await exchange.calls.listOrderHistory({ userId: ann, most: LIMIT, cursor });
      const page = JSON.parse(body);
      counts.push(page.data.map(({ fills }: any) => fills.length));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    const sums = counts.map((orders) => orders.reduce((sum, count) => sum + count));
    t.true(Math.max(...sums) > 5000, "one order has more");
    for (const [index, sum] of sums.entries()) t.true(sum <= 5000 || counts[index]!.length === 1);
  },
);

test.serial("candles read no trades but those since the job ran", async (t) => {
  const asked = { marketId: market, interval: "1d" };
  const before = await tradesRead((client) => call(client, api.listCandles, asked));
  t.true(before <= 20_000, `without a worker: ${before}`);
  await exchange.work("make_candles");
  t.is(await tradesRead((client) => call(client, api.listCandles, asked)), 0);
});
