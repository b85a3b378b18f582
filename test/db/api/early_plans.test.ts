import test from "ava";
import type { ClientBase } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { rowsRead } from "../../helpers/database/plans.ts";
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
}

/** The rows that a call reads after the growth, in a session that made it before. */
function rowsAfterGrowth(work: (client: ClientBase) => Promise<unknown>): Promise<number> {
  return rowsRead(exchange.database.pool, tables, work, grow);
}

/** Two orders that rest and two that take them. */
const trade = (client: ClientBase) =>
  placeOrders(
    client,
    [0, 1, 2, 3].map((place) => ({
      marketId: market,
      userId: place < 2 ? maker : taker,
      ...buy(place < 2 ? "no" : "yes", 1, 50),
    })),
  );

test.serial("orders that trade", async (t) => {
  const rows = await rowsAfterGrowth(trade);
  t.true(rows <= 60, `${rows} rows`);
});

test.serial("a portfolio", async (t) => {
  await exchange.split(market, maker, 1);
  await exchange.place(market, maker, buy("yes", 1, 10));
  const rows = await rowsAfterGrowth((client) => call(client, api.getPortfolio, { userId: maker }));
  t.true(rows <= 20, `${rows} rows`);
});

test.serial("an account's orders", async (t) => {
  await exchange.place(market, maker, buy("yes", 1, 10));
  const rows = await rowsAfterGrowth(async (client) => {
    for (const status of ["open", "all"]) {
      const given = { userId: maker, status, page: 1, pageSize: 20 };
      await call(client, api.listAccountOrders, given);
    }
  });
  t.true(rows <= 20, `${rows} rows`);
});
