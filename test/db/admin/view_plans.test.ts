import test from "ava";
import { withClient } from "../../helpers/database/test_database.ts";
import { copies } from "../../helpers/database/copies.ts";
import { rowsHandled } from "../../helpers/database/plans.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** Queries of the views by a user, a market or an id read what they show, and not whole tables. */

const USERS = 400;
const ROWS = 6000;

let exchange: Exchange;
const ids: Record<string, string> = {};

test.before("fill the tables", async () => {
  exchange = await createExchange({ idsAscend: true });
  const { makeMarketWith, place, split, database } = exchange;
  const [market, ann, bob] = await makeMarketWith(2);
  await split(market, ann, 5);
  await place(market, bob, buy("no", 1, 50));
  const { fills } = await place(market, ann, buy("yes", 1, 50));
  await place(market, ann, sell("yes", 1, 90));
  const next = (column: string, table: string) => `(select max(${column}) from ${table}) + n`;
  await withClient(database.pool, async (client) => {
    // As a subscriber: triggers and references are those of the copied rows.
    await client.query("set session_replication_role = replica");
    for (const [table, changes] of [
      [
        "identity.users",
        {
          ...{ id: next("id", "identity.users"), public_id: "gen_random_uuid()" },
          ...{ email: "n || '@copies.example'", handle: "'copy-' || n" },
        },
      ],
      [
        "trading.traders",
        { user_id: next("user_id", "trading.traders"), public_id: "gen_random_uuid()" },
      ],
      ["catalog.markets", { id: next("id", "catalog.markets"), public_id: "gen_random_uuid()" }],
      [
        "trading.trades",
        {
          ...{ id: "nextval('ledger.journal_ids')", public_id: "core.uuid_v7()" },
          ...{ market_id: "m", taker_user_id: "u1", maker_user_id: "u2" },
        },
      ],
      [
        "trading.ended_orders",
        {
          ...{ id: next("id", "trading.ended_orders"), public_id: "core.uuid_v7()" },
          ...{ market_id: "m", user_id: "u1" },
        },
      ],
      ["trading.holdings", { market_id: "m", user_id: "u2" }],
      [
        "trading.set_conversions",
        {
          ...{ id: next("id", "trading.set_conversions"), public_id: "core.uuid_v7()" },
          ...{ market_id: "m", user_id: "u1", journal_id: "nextval('ledger.journal_ids')" },
        },
      ],
      [
        "ledger.posted_journals",
        { id: "nextval('ledger.journal_ids')", kind: "'split'", market_id: "m" },
      ],
      [
        "ledger.posted_entries",
        {
          journal_id: next("id", "ledger.posted_journals") + ` - ${ROWS}`,
          account_id: "u1 * 4",
          account_version: "n + 100",
        },
      ],
      [
        "admin.audit_log",
        {
          id: next("id", "admin.audit_log"),
          arguments: `case when n % 2 = 0
            then jsonb_build_object('user_id', ('{' || n % ${USERS} || '}')::text)
            else jsonb_build_object('arguments', jsonb_build_object('market_id', n % ${USERS} || ''))
            end`,
        },
      ],
    ] as [string, Record<string, string>][]) {
      await client.query(copies(table, changes, { rows: ROWS, users: USERS }));
    }
    await client.query("reset session_replication_role; analyze");
  });
  const { rows } = await database.pool.query("select taker_order_id from analytics.trades limit 1");
  Object.assign(ids, { market_id: market, user_id: ann, taker_user_id: ann, maker_user_id: bob });
  Object.assign(ids, {
    trade_id: fills[0]!.id,
    order_id: rows[0].taker_order_id,
  });
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

const columns: Record<string, string[]> = {
  journal_entries: ["user_id", "market_id", "trade_id"],
  trades: ["taker_user_id", "maker_user_id", "market_id", "trade_id"],
  orders: ["user_id", "order_id"],
  positions: ["user_id", "market_id"],
  set_conversions: ["user_id"],
  settlements: ["user_id", "market_id"],
  cash_movements: ["user_id"],
};
const views = [
  ...["admin", "analytics"].map((schema) => [schema, columns] as const),
  ["analytics", { fills: ["user_id", "market_id", "trade_id"] }] as const,
];

for (const [column, other] of [
  ["user_id", "staff_id is null and"],
  ["market_id", ""],
] as const) {
  test.serial(`the last calls about a ${column} go by an index of the audit log`, async (t) => {
    const rows = `select * from admin.audit_entries where ${other} ${column} = '${ids[column]}'`;
    await withClient(exchange.database.pool, async (client) => {
      t.true(((await client.query(rows)).rowCount ?? 0) > 0, "there is a row");
      for (const statement of [
        `${rows} order by audit_key desc limit 25`,
        `select count(*) from (${rows}) as x`,
      ]) {
        const handled = await rowsHandled(client, statement);
        t.true(handled < ROWS / 100, `${handled} rows`);
      }
    });
  });
}

test.serial(
  "surveillance reads each trade of the last days once, and each pair of users",
  async (t) => {
    const { rows } = await exchange.database.pool.query(
      `select count(distinct (t.first_user_key, t.second_user_key))::int as pairs
     from admin.recent_trades as t`,
    );
    const count = Number(rows[0].pairs);
    await withClient(exchange.database.pool, async (client) => {
      const trades = await rowsHandled(client, "select t.trade_key from admin.recent_trades as t");
      // And not the time for each of them.
      t.true(trades >= ROWS && trades < 1.1 * ROWS, `${trades} rows of trades`);
      const pairs = await rowsHandled(client, "select p.* from admin.trading_pairs as p");
      // And not all users for each pair.
      const most = 3 * ROWS + 20 * (count + USERS);
      t.true(count >= USERS / 2 && pairs < most, `${pairs} rows of ${count} pairs`);
    });
  },
);

for (const [schema, ofViews] of views) {
  for (const [view, filters] of Object.entries(ofViews)) {
    for (const column of filters) {
      test.serial(`${schema}.${view} by ${column} goes by an index`, async (t) => {
        const statement = `select * from ${schema}.${view} where ${column} = '${ids[column]}'`;
        await withClient(exchange.database.pool, async (client) => {
          const found = (await client.query(statement)).rowCount ?? 0;
          if (!["settlements"].includes(view)) t.true(found > 0, "there is a row");
          const handled = await rowsHandled(client, statement);
          t.true(handled < ROWS / 10, `${handled} rows`);
        });
      });
    }
  }
}
