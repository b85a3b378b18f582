import test from "ava";
import type { ClientBase } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { rowsRead } from "../../helpers/database/plans.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { until } from "../../helpers/until.ts";

/**
 * What a search reads of many markets, an account of many open orders, and monitoring of many
 * mails: what it is about, and not the tables.
 */

const MARKETS = 100_000;
/** One of so many has the rare word. */
const RARE = 1000;
const ORDERS = 10_000;

let exchange: Exchange;
let busy: string;
let other: string;
let idle: string;

test.before("make many markets and many open orders", async () => {
  exchange = await createExchange();
  const { makeMarket, makeTraders, place, database } = exchange;
  const { pool } = database;
  const market = await makeMarket({ title: "Will it rain?" });
  [busy, other, idle] = await makeTraders(3);
  await place(market, busy, buy("yes", 1, 10));
  await place(market, other, buy("yes", 1, 10));

  // Counted at once: the trigger would do it 100,000 times in one transaction.
  await pool.query(
    `alter table catalog.markets disable trigger markets_are_counted;
     alter table catalog.markets disable trigger markets_are_listed`,
  );
  await pool.query(
    `with made as (
       insert into catalog.markets (category_id, title)
       select c.id, 'Will number ' || n || case when n % $2 = 0 then ' win the cup?' else '?' end
       from generate_series(1, $1::int) as n cross join catalog.categories as c
       returning id
     )
     insert into trading.market_state (market_id) select id from made`,
    [MARKETS, RARE],
  );
  await pool.query(
    `alter table catalog.markets enable trigger markets_are_counted;
     alter table catalog.markets enable trigger markets_are_listed;
     update catalog.categories set open_market_count = (select count(*) from catalog.markets);
     insert into catalog.market_listings (category_id, list, market_id, close_time, volume_cents)
     select x.category_id, l.list, m.id, 'infinity', 0
     from catalog.markets as m
     cross join lateral (values (0), (m.category_id)) as x (category_id)
     cross join (values ('open'), ('all')) as l (list)
     where m.title like 'Will number%'`,
  );

  // Copies of the order of each of the two: ten times as many of the other one.
  await pool.query(
    `insert into trading.active_orders
     select (c).* from (
       select jsonb_populate_record(o, jsonb_build_object(
         'order_id', 1000 + row_number() over (), 'order_public_id', gen_random_uuid(),
         'queue_position', 1000 + row_number() over ()
       )) as c
       from trading.active_orders as o
       join identity.users as u on u.id = o.user_id
       cross join lateral generate_series(
         1, case when u.public_id = $2 then $1::int else 10 * $1::int end - 1
       ) as n
     ) as copies`,
    [ORDERS, busy],
  );
  // Until a page is known to be visible to all, a scan of an index reads its rows as well.
  const lists = "catalog.markets, catalog.market_listings";
  await until("no page of the lists is new", async () => {
    await pool.query(`vacuum analyze ${lists}, trading.market_state, trading.active_orders`);
    const { rows } = await pool.query(
      `select from pg_class as c
       where c.oid = any ($1::regclass[]) and c.relallvisible < c.relpages`,
      [lists.split(", ")],
    );
    return rows.length === 0;
  });
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

const tables = ["catalog.markets", "catalog.market_listings", "trading.market_state"];
const asked = { page: 1, pageSize: 20, status: "open" };

for (const sort of ["volume", "newest", "closing"]) {
  test.serial(`a search by ${sort} reads the markets that have the words`, async (t) => {
    const found = MARKETS / RARE;
    const search = async (query: string, total: number) =>
      await rowsRead(exchange.api, tables, async (client) => {
        const body = await call(client, api.listMarkets, { ...asked, sort, query });
        t.is(JSON.parse(body!).meta.total, total, query);
      });
    const read = await search("cup", found);
    t.true(read <= 10 * found, `${read} rows for ${found} markets`);
    // 4711 and those that begin with it, 47110 to 47119.
    t.true((await search("number 4711", 11)) <= 110);
    t.true((await search("unheard-of", 0)) <= 10);
  });
}

for (const sort of ["volume", "newest", "closing"]) {
  test.serial(`a page by ${sort} reads its markets, wherever it is`, async (t) => {
    for (const category of [undefined, "tests"]) {
      for (const page of [1, 2, MARKETS / 20 - 1, MARKETS, 2_147_483_647]) {
        for (const status of ["open", "all", "closed"]) {
          const given = { ...asked, category, page, status, sort };
          const read = await rowsRead(exchange.api, tables, (client) =>
            call(client, api.listMarkets, given),
          );
          t.true(read <= 100, `${read} rows for ${JSON.stringify(given)}`);
        }
      }
    }
  });

  test.serial(`a search by ${sort} for a word of all markets reads some of them`, async (t) => {
    const read = await rowsRead(exchange.api, tables, async (client) => {
      const body = await call(client, api.listMarkets, { ...asked, sort, query: "number" });
      const { data, meta } = JSON.parse(body!);
      t.deepEqual([data.length, meta.total], [20, 1000]);
    });
    t.true(read <= 2500, `${read} rows`);
  });
}

test.serial("loss limits read each open order of the user once, and none of others", async (t) => {
  const profile = (userId: string) => (client: ClientBase) =>
    call(client, api.getOwnProfile, { userId });
  const read = await rowsRead(exchange.api, ["trading.active_orders"], profile(busy));
  t.true(read >= ORDERS && read <= 1.1 * ORDERS, `${read} rows for ${ORDERS} orders`);
  t.true((await rowsRead(exchange.api, ["trading.active_orders"], profile(idle))) <= 10);
});

test.serial("own positions read each open order of the user once", async (t) => {
  for (const held of await exchange.makeMarkets(5)) {
    await exchange.split(held, busy, 1);
    await exchange.place(held, idle, buy("yes", 1, 10));
  }
  const read = await rowsRead(exchange.api, ["trading.active_orders"], (client) =>
    call(client, api.getOwnPositions, { userId: busy, marketId: null }),
  );
  t.true(read >= ORDERS && read <= 1.1 * ORDERS, `${read} rows for ${ORDERS} orders`);
});

test.serial(
  "figures of mails read those that wait or were given up, and none that was sent",
  async (t) => {
    await exchange.database.pool.query(
      `insert into identity.mails (kind, address, due_at, sent_at)
     select 'invitation', 'user@mails.example',
       case when n % 10000 = 0 then core.now() end, case when n % 10000 > 1 then core.now() end
     from generate_series(1, 50000) as n`,
    );
    await exchange.database.pool.query("analyze identity.mails");
    const read = await rowsRead(exchange.api, ["identity.mails"], async (client) => {
      const figures = await call(client, api.getMailMetrics, {});
      t.like(figures, { waitingMails: 5, failedMails: 5 });
    });
    t.true(read <= 10, `${read} rows`);
  },
);

test.serial("a page of events reads its events, and counts 10,000 at most", async (t) => {
  const { pool } = exchange.database;
  await pool.query(
    `with made as (
       insert into catalog.events (category_id, title)
       select c.id, 'Event ' || n from generate_series(1, 30000) as n
       cross join catalog.categories as c
       returning id
     )
     insert into catalog.event_listings (event_id, list, close_time, volume_cents)
     select id, 'open', 'infinity', 0 from made`,
  );
  await pool.query("vacuum analyze catalog.events, catalog.event_listings");
  const read = async (given: object, total: number) =>
    await rowsRead(exchange.api, ["catalog.events", "catalog.event_listings"], async (client) => {
      const body = await call(client, api.searchEvents, { ...asked, sort: "volume", ...given });
      t.is(JSON.parse(body).meta.total, total);
    });
  for (const sort of ["volume", "newest", "closing"]) {
    for (const page of [1, 400, 2_147_483_647]) {
      const rows = await read({ sort, page }, 10_000);
      t.true(rows <= 10_000 + page * 20 + 100 && rows <= 20_100, `${rows} rows by ${sort}`);
    }
  }
  t.true((await read({ status: "closed" }, 0)) <= 100);
  t.true((await read({ query: "unheard-of" }, 0)) <= 100);
});
