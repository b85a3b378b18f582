import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { rowsRead } from "../../helpers/database/plans.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";

let exchange: Exchange;
test.before("make an exchange whose orders are written by hand", async () => {
  exchange = await createExchange();
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

const ORDERS = 5000;
const SHOWN = 200;

test("a list of a user with many orders reads those that it shows, where most have few", async (t) => {
  const { pool } = exchange.database;
  const market = await exchange.makeMarket();
  const [ann, bob] = await exchange.makeTraders(2);
  await exchange.place(market, ann, buy("yes", 1, 50));
  await exchange.place(market, bob, buy("no", 1, 50));
  await exchange.place(market, ann, buy("yes", 1, 10));
  for (const [table, id] of [
    ["ended_orders", ["id", "public_id"]],
    ["active_orders", ["order_id", "order_public_id", "queue_position"]],
  ] as const) {
    const made = id.map((column) =>
      column.endsWith("public_id") ? `'${column}', gen_random_uuid()` : `'${column}', 1000 + n`,
    );
    // The history shows ended ones, which wait in no queue.
    const offset = table === "ended_orders" ? ORDERS : 0;
    await pool.query(
      `insert into trading.${table}
       select (jsonb_populate_record(o, jsonb_build_object(${made.join(", ")}))).*
       from trading.${table} as o
       join trading.traders as u on u.user_id = o.user_id
       cross join generate_series(${offset} + 1, ${offset} + ${ORDERS}) as n
       where u.public_id = $1`,
      [ann],
    );
    // As among thousands of users who have a few orders each.
    await pool.query(
      `alter table trading.${table} alter column user_id set (n_distinct = -0.2);
       analyze trading.${table}`,
    );
  }
  const tables = ["trading.ended_orders", "trading.active_orders"];
  const read = (work: Parameters<typeof rowsRead>[2]) => rowsRead(exchange.api, tables, work);
  const history = await read((client) =>
    call(client, api.listOrderHistory, { userId: ann, most: SHOWN }),
  );
  t.true(history <= 10 * SHOWN, `${history} rows of the history`);
  const open = await read(async (client) => {
    const body = await call(client, api.listOrders, {
      userId: ann,
      marketId: market,
      status: "open",
    });
    t.is(JSON.parse(body).data.length, SHOWN);
  });
  // Where each waits in its queue is read from the queue.
  t.true(open <= 2 * ORDERS, `${open} rows for open orders`);
});
