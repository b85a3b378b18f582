import { randomUUID } from "node:crypto";
import test from "ava";
import type { ClientBase } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { readingOf } from "../../helpers/database/plans.ts";
import { buy, placeOrders } from "../../helpers/exchange/orders.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";

/**
 * A session keeps the plans that it made on the first day, when PostgreSQL had seen the tables
 * empty. They read no more rows when the exchange has grown.
 */

const tables = [
  "catalog.markets",
  "trading.active_orders",
  "trading.ended_orders",
  "trading.holdings",
  "trading.market_state",
  "trading.trades",
  "trading.traders",
];

const MARKETS = 40;
const TRADERS = 30;
const TRADES = 30_000;
const KEY = randomUUID();

let exchange: Exchange;
let market: string;
let taker: string;
let maker: string;

// One exchange for each test: its tables must be empty when they are analyzed.
test.serial.beforeEach(async () => {
  exchange = await createExchange();
  const { pool } = exchange.database;
  await pool.query("vacuum (analyze)");
  // Nothing is planned anew while they grow.
  for (const table of tables)
    await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  market = await exchange.makeMarket();
  [taker, maker] = await exchange.makeTraders(2);
});
test.serial.afterEach.always(async () => {
  await exchange.database.drop();
});

/** Each trader holds shares of each market and has an order in its book. */
async function grow(): Promise<void> {
  const traders = await exchange.makeTraders(TRADERS);
  for (const traded of await exchange.makeMarkets(MARKETS)) {
    const batch = traders.map((trader, place) => [trader, buy(place % 2 ? "yes" : "no", 1, 50)]);
    await exchange.placeBatch(traded, batch as Parameters<Exchange["placeBatch"]>[1]);
    await exchange.placeBatch(
      traded,
      traders.map((trader) => [trader, buy("yes", 1, 10)]),
    );
  }
  // Copies of a trade, of other users. Each of their indexes has some hundred pages.
  await exchange.database.pool.query(
    `insert into trading.trades
     select c.*
     from (select x.* from trading.trades as x order by x.id limit 1) as t,
       generate_series(1, ${TRADES}) as n,
       jsonb_populate_record(null::trading.trades, to_jsonb(t) || jsonb_build_object(
         'id', nextval('ledger.journal_ids'), 'public_id', core.uuid_v7(),
         'taker_user_id', t.taker_user_id - n, 'maker_user_id', t.maker_user_id - n
       )) as c`,
  );
}

/** What a call reads after the growth, in a session that made it before. */
function readAfterGrowth(work: (client: ClientBase) => Promise<unknown>) {
  return readingOf(exchange.database.pool, tables, work, grow);
}

/** Orders of the maker rest, and as many of the taker take them. */
async function trade(client: ClientBase, takers = 2): Promise<void> {
  await placeOrders(
    client,
    Array.from({ length: 2 + takers }, (_, place) => ({
      marketId: market,
      userId: place < 2 ? maker : taker,
      ...buy(place < 2 ? "no" : "yes", 1, 50),
    })),
  );
}

test.serial("orders that trade", async (t) => {
  let calls = 0;
  // The first call plans while there is no trade.
  const { rows, pages } = await readAfterGrowth((client) => trade(client, calls++ === 0 ? 0 : 2));
  t.true(rows <= 60, `${rows} rows`);
  t.true(pages <= 250, `${pages} pages`);
});

test.serial("an order that is sent again", async (t) => {
  const order = { marketId: market, userId: maker, ...buy("no", 1, 50) };
  const again = (client: ClientBase) => placeOrders(client, [{ ...order, idempotencyKey: KEY }]);
  const { rows, pages } = await readAfterGrowth(again);
  t.true(rows <= 30, `${rows} rows`);
  t.true(pages <= 60, `${pages} pages`);
});

test.serial("a portfolio", async (t) => {
  await exchange.split(market, maker, 1);
  await exchange.place(market, maker, buy("yes", 1, 10));
  const { rows } = await readAfterGrowth((client) =>
    call(client, api.getPortfolio, { userId: maker }),
  );
  t.true(rows <= 20, `${rows} rows`);
});

test.serial("an account's orders", async (t) => {
  await exchange.place(market, maker, buy("yes", 1, 10));
  const { rows } = await readAfterGrowth(async (client) => {
    for (const status of ["open", "all"]) {
      const given = { userId: maker, status, page: 1, pageSize: 20 };
      await call(client, api.listAccountOrders, given);
    }
  });
  t.true(rows <= 20, `${rows} rows`);
});
