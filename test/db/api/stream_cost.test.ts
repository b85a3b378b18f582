import test from "ava";
import type { PoolClient } from "pg";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { findPosition, relayAll } from "../../helpers/exchange/user_events.ts";
import { pagesRead, rowsHandled } from "../../helpers/database/plans.ts";

/**
 * What it costs to send and to read events: as much as is sent or shown, whatever one user did
 * before, and also when the statements were planned while the tables were empty. Autovacuum empties
 * the outbox again and again, and sessions then plan anew.
 */

const PAGE = 200;
const SWEEP = 10_000;
const CANCELS = 2000;
const OTHERS = 10_000;

let exchange: Exchange;
/** Its statements were planned while there were no events and no trades. */
let early: PoolClient;
let ann: string;
/** Where the parts of the history begin: what ann did. */
let from: Record<"sweep" | "singles" | "cancels" | "others" | "crossed", number>;

async function relay(): Promise<number> {
  await relayAll(exchange.api);
  return (await findPosition(exchange.api))!;
}

/** The statement that reads a page of ann's stream. */
function page(position: number, include: { fills: boolean; all?: boolean }): string {
  const { fills, all = false } = include;
  return `select * from api.read_user_events(
    array['${ann}'::uuid], array[${position}::bigint], array[${fills}], array[${all}], array[${all}],
    ${PAGE}
  )`;
}

test.before("plan on empty tables, and make a history", async () => {
  exchange = await createExchange();
  const { database, makeMarket, makeTrader, place, operate } = exchange;
  const [market, bob] = [await makeMarket(), await makeTrader()];
  ann = await makeTrader();
  const start = await relay();
  // What follows is of the next day: its partition is there, and empty.
  await exchange.work("make_event_partitions");
  await database.pool.query("vacuum (analyze)");
  early = await database.pool.connect();
  await early.query(page(start, { fills: true, all: true }));
  await early.query("select * from api.follow_events(0)");

  await exchange.clock.advance(86_400_000);
  await place(market, bob, buy("no", 1, 50));
  await place(market, ann, buy("yes", 1, 50));
  const begin = await relay();
  /** Copies of that trade: in so many transactions, with so many trades in each. */
  const write = async (events: number, each: number, seconds: number, taker = ann) => {
    await database.pool.query(
      `insert into trading.trades
       select (t).* from (
         select jsonb_populate_record(t, jsonb_build_object(
           'id', nextval('ledger.journal_ids'),
           'public_id', core.uuid_v7(),
           'taker_user_id', (select u.id from identity.users as u where u.public_id = $4),
           'created_at', t.created_at + make_interval(secs => $3) + e * interval '1 millisecond'
         )) as t
         from generate_series(1, $1::int) as e, generate_series(1, $2::int) as n,
           trading.trades as t
         where t.id = (select min(x.id) from trading.trades as x)
       ) as copies`,
      [events, each, seconds, taker],
    );
  };
  const announce = async (seconds: number) => {
    await database.pool.query(
      `insert into trading.outbox (channel, payload, trade_ids, traded_at)
       select 'market_changed', json_build_object('marketId', $2::text, 'version', 1),
         array_agg(t.id order by t.id), t.created_at
       from trading.trades as t, (select min(x.created_at) as first from trading.trades as x) as f
       where t.created_at > f.first + make_interval(secs => $1)
         and t.created_at <= f.first + make_interval(secs => $1 + 1)
       group by t.created_at order by t.created_at`,
      [seconds, market],
    );
    return await relay();
  };
  const trade = async (events: number, each: number, seconds: number) => {
    await write(events, each, seconds);
    return await announce(seconds);
  };
  const singles = await trade(1, SWEEP, 1);
  const cancels = await trade(2 * PAGE, 1, 2);
  await database.pool.query(
    `insert into trading.outbox (channel, payload)
     select 'user_event', json_build_object('userId', $1::text, 'event', json_build_object(
       'type', 'order_cancelled', 'orderId', core.uuid_v7(), 'marketId', $2::text, 'reason', 'expired'
     ))
     from generate_series(1, $3::int)`,
    [ann, market, CANCELS],
  );
  // Many of another user, and one of ann.
  const others = await relay();
  await database.pool.query(
    `insert into trading.outbox (channel, payload)
     select 'user_event', json_build_object(
       'userId', case n when $3 then $1 else $2 end, 'event', json_build_object('type', 'x')
     )
     from generate_series(1, $3::int) as n`,
    [ann, bob, OTHERS],
  );
  await relay();
  for (let turn = 0; turn < 10; turn++) {
    await operate("set_market_status", { market_id: market, status: "paused" });
    await operate("set_market_status", { market_id: market, status: "open" });
  }
  const crossed = await trade(1, SWEEP, 3);
  // A sweep that is sent after a trade of others with a later id.
  await write(1, SWEEP, 4);
  await write(1, 1, 5, await makeTrader());
  await announce(5);
  await announce(4);
  from = { sweep: begin, singles, cancels, others, crossed };
});
test.after.always("drop the exchange", async () => {
  early.release();
  await exchange.database.drop();
});

for (const backlog of [1000, 10_000]) {
  test.serial(`a backlog of ${backlog} events is sent in linear time`, async (t) => {
    const { pool } = exchange.database;
    await pool.query("vacuum (analyze) trading.outbox");
    const client = await pool.connect();
    try {
      await client.query("discard plans");
      await client.query("select api.relay_outbox()");
      await pool.query(
        `insert into trading.outbox (channel, payload)
         select 'session_ended', '{}' from generate_series(1, $1::int)`,
        [backlog],
      );
      for (let sent = 0; sent < backlog; sent += 1000) {
        const rows = await rowsHandled(client, "select api.relay_outbox()");
        t.true(rows <= 20 * 1000, `${rows} rows for 1,000 events`);
      }
      t.is((await client.query("select from trading.outbox")).rowCount, 0);
    } finally {
      client.release();
    }
  });
}

test.serial("a page that was planned without events and trades reads what it shows", async (t) => {
  for (const position of [...Object.values(from), from.sweep + SWEEP / 2]) {
    const statement = page(position, { fills: true, all: true });
    t.is((await early.query(statement)).rowCount, PAGE);
    const rows = await rowsHandled(early, statement);
    t.true(rows <= 100 * PAGE, `${rows} rows`);
    const pages = await pagesRead(early, statement);
    t.log({ rows, pages });
    t.true(pages <= 25 * PAGE, `${pages} pages`);
  }
});

test.serial("events are followed in linear time, those with many trades too", async (t) => {
  const { rows: events } = await early.query(
    "select id from trading.sent_events where position > $1 order by id",
    [from.sweep],
  );
  const before = Number(events[0].id) - 1;
  const statement = `select * from api.follow_events(${before}, 1)`;
  const sweep = await rowsHandled(early, statement);
  t.true(sweep <= 20 * SWEEP, `${sweep} rows for ${SWEEP} trades`);
  const pages = await pagesRead(early, statement);
  t.log({ sweep, pages });
  t.true(pages <= 4 * SWEEP, `${pages} pages for ${SWEEP} trades`);
  const after = Number(events[0].id);
  const others = await rowsHandled(early, `select * from api.follow_events(${after}, 100)`);
  t.log({ others });
  t.true(others <= 50 * 100, `${others} rows for 100 events`);
});

test.serial("a page of fills costs as much, however many trades their event has", async (t) => {
  const cost = (position: number) => pagesRead(early, page(position, { fills: true }));
  const single = await cost(from.singles);
  for (const place of [0, SWEEP / 2, SWEEP - PAGE]) {
    const pages = await cost(from.sweep + place);
    t.log({ single, pages });
    t.true(pages <= 2 * single, `${pages} pages instead of ${single}`);
  }
});

test.serial("fills behind what a page shows are not read", async (t) => {
  for (const position of [from.cancels, from.cancels + CANCELS - 2 * PAGE]) {
    const without = await pagesRead(early, page(position, { fills: false }));
    const pages = await pagesRead(early, page(position, { fills: true }));
    t.log({ without, pages });
    t.true(pages <= without + PAGE, `${pages} pages instead of ${without}`);
  }
});
