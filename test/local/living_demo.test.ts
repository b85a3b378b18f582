import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import { pino } from "pino";
import { callsOn } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { prepareDemo } from "../../src/local/demo.ts";
import type { Demo } from "../../src/local/demo.ts";
import { demoMarkets } from "../../src/local/demo_catalogue.ts";
import { makeDemoTraders, startDemoTraders } from "../../src/local/demo_traders.ts";
import { livingMarkets, livingTraders } from "../../src/local/living_catalogue.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { randomFrom } from "../helpers/random.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";

interface World {
  prepare: (isEmbedded?: boolean) => Promise<Demo | undefined>;
  /** The rows of a query, as the login that owns everything. */
  rows: (query: string, values?: unknown[]) => Promise<any[]>;
  /** One step of the traders. */
  stepOf: (demo: Demo | undefined) => () => Promise<void>;
  connectionString: string;
  /** Does what is due so much later. */
  later: (ms: number) => Promise<void>;
}

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-living-"));
  const { connectionString, pool } = database;
  const rows: World["rows"] = async (query, values) => (await pool.query(query, values)).rows;
  try {
    await work({
      connectionString,
      rows,
      prepare: (isEmbedded = true) =>
        prepareDemo(connectionString, { isEmbedded, keyFile: join(directory, "demo.json") }),
      stepOf: (demo) =>
        makeDemoTraders(
          callsOn(database.connectAs("exchange_api"), api),
          demo!.living!,
          randomFrom("living demo").next,
        ),
      later: async (ms) => {
        await testClock(pool).advance(ms);
        await rows("select admin.run_due()");
      },
    });
  } finally {
    await database.drop();
    await rm(directory, { recursive: true });
  }
}

const clock = `select pg_get_functiondef('core.now()'::regprocedure) as now,
  pg_get_functiondef('core.uuid_v7()'::regprocedure) as uuid`;
const tradeCounts = `select m.title, b.trade_count as count from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id order by m.id`;
const handles = livingTraders.map(({ handle }) => handle);
const renewedTitles = livingMarkets.flatMap(({ isRenewed, title }) => (isRenewed ? [title] : []));

test("the first start makes four weeks of sound history", async (t) => {
  await withWorld(async ({ prepare, rows }) => {
    const [clockBefore] = await rows(clock);
    const demo = await prepare();
    t.deepEqual(await rows("select * from ledger.verify()"), []);
    t.deepEqual((await rows(clock))[0], clockBefore);
    t.deepEqual(
      await rows("select from core.now() as n where abs(extract(epoch from n - now())) > 10"),
      [],
    );

    // Times rise with ids, over all markets, and none is in the future.
    t.deepEqual(
      await rows(
        `select t.id from (
           select t.id, t.created_at, lag(t.created_at) over (order by t.id) as before
           from trading.trades as t
         ) as t
         where t.created_at < t.before or t.created_at > now()`,
      ),
      [],
    );

    while ((await rows("select jobs.make_candles() as made"))[0].made > 0);
    const [{ long }] = await rows(
      `select count(*) filter (where c.days >= 21)::int as long
       from (
         select count(*) as days from trading.candles as c
         where c.width_minutes = 1440 group by c.market_id
       ) as c`,
    );
    t.true(long >= 5, `${long} markets have candles of three weeks`);

    const kinds = await rows("select distinct c.kind from analytics.cash_movements as c");
    t.deepEqual(kinds, [{ kind: "bonus" }], "play money is no deposit");

    t.deepEqual(await rows("select * from leaderboard.verify()"), []);
    const [{ board }] = await rows("select api.get_leaderboard('all', 'week', 10) as board");
    const listed = board.entries.map((entry: any) => entry.handle);
    t.deepEqual([...handles].sort(), listed.sort());
    const [{ paid }] = await rows("select count(*)::int as paid from trading.settlements");
    t.true(paid > 0);

    // The books of markets that are not live have quotes at once.
    for (const { id, market } of demo!.living!.markets) {
      if (market.event?.isLive) continue;
      const [{ body }] = await rows("select body from api.get_order_book($1)", [id]);
      t.true(body.bids.length >= 4 && body.asks.length >= 4, market.title);
    }
  });
});

test("later starts make no more history", async (t) => {
  await withWorld(async ({ prepare, rows }) => {
    const demo = await prepare();
    const before = await rows(tradeCounts);
    t.deepEqual(await prepare(), demo);
    t.deepEqual(await rows(tradeCounts), before);
  });
});

test("a start that is killed in the middle leaves nothing, and the next makes all", async (t) => {
  await withWorld(async ({ connectionString, prepare, rows }) => {
    const [clockBefore] = await rows(clock);
    // The history comes to a stop at its first resolution.
    const holder = new pg.Client({ connectionString });
    await holder.connect();
    await holder.query("begin; lock table trading.resolutions in share mode");
    const killed = t.throwsAsync(prepare());
    const waiting = `select pg_terminate_backend(l.pid) from ${OWN_LOCKS}
      where not l.granted and l.relation = 'trading.resolutions'::regclass`;
    while ((await rows(waiting)).length === 0) await delay(20);
    await killed;
    await holder.end();

    t.deepEqual((await rows(clock))[0], clockBefore);
    t.deepEqual(await rows("select from identity.users"), []);
    t.deepEqual(await rows("select from catalog.categories"), []);

    t.truthy((await prepare())?.living);
    t.deepEqual(await rows("select * from ledger.verify()"), []);
    const counts = await rows(tradeCounts);
    t.is(counts.length, demoMarkets.length + livingMarkets.length);
    t.true(counts.every(({ count }) => count > 0));
  });
});

test("a database of DATABASE_URL gets the catalogue, but no play money and no traders", async (t) => {
  const signUp = "select api.get_sign_up() as of";
  const catalogue = "select count(*)::int as n from catalog.markets";
  await withWorld(async ({ prepare, rows }) => {
    const demo = await prepare(false);
    t.is(demo!.living, undefined);
    t.is((await prepare(false))!.marketId, demo!.marketId);
    t.deepEqual((await rows(signUp))[0].of, {
      policy: "closed",
      minimumAge: null,
      playMoneyCents: 0,
    });
    t.is((await rows(catalogue))[0].n, demoMarkets.length);
    t.deepEqual(await rows("select from identity.users where handle = any ($1)", [handles]), []);

    // As the embedded one of a version without living markets: they are added.
    await rows("select admin.refresh_leaderboard()");
    t.is((await prepare())!.marketId, demo!.marketId);
    t.deepEqual((await rows(signUp))[0].of, {
      policy: "open",
      minimumAge: null,
      playMoneyCents: 100_000,
    });
    t.is((await rows(catalogue))[0].n, demoMarkets.length + livingMarkets.length);
    t.deepEqual(await rows("select * from ledger.verify()"), []);
    t.deepEqual(await rows("select * from leaderboard.verify()"), []);
  });
});

test("an embedded database with a catalogue of its own is left alone", async (t) => {
  await withWorld(async ({ prepare, rows }) => {
    await rows("select admin.create_category(slug => 'own', name => 'Own')");
    t.is(await prepare(), undefined);
    t.deepEqual(await rows("select from identity.users"), []);
    t.is((await rows("select api.get_sign_up() as of"))[0].of.policy, "closed");
  });
});

test("200 steps: the ledger is sound, quotes are few, documented markets stand still", async (t) => {
  await withWorld(async ({ later, prepare, rows, stepOf }) => {
    const demo = await prepare();
    const still = `select m.title, b.version, book.body as book
      from catalog.markets as m join trading.market_state as b on b.market_id = m.id
      cross join lateral api.get_order_book(m.public_id) as book
      where m.title = any ($1) order by m.id`;
    const titles = demoMarkets.map(({ title }) => title);
    const before = await rows(still, [titles]);
    const countsBefore = await rows(tradeCounts);
    const [closed] = demo!.living!.markets;
    await rows("select admin.set_market_status($1, 'closed')", [closed!.id]);
    const ofClosed = `select count(*)::int as n from trading.orders as o
      join catalog.markets as m on m.id = o.market_id where m.public_id = $1`;
    const [{ n: ordersOfClosed }] = await rows(ofClosed, [closed!.id]);

    const step = stepOf(demo);
    for (let done = 0; done < 200; done++) {
      await step();
      if (done % 10 === 0) await later(3000);
    }

    t.deepEqual(await rows("select * from ledger.verify()"), []);
    t.deepEqual(await rows(still, [titles]), before);
    t.is((await rows(ofClosed, [closed!.id]))[0].n, ordersOfClosed);
    const counts = await rows(tradeCounts);
    const traded = counts.filter(({ count }, index) => count > countsBefore[index].count);
    t.true(traded.length >= 6);
    t.true(traded.some(({ title }) => title.includes("Lakeside")));
    const open = await rows(
      `select count(*)::int as n, min(price) as least, max(price) as greatest
       from trading.orders as o join identity.users as u on u.id = o.user_id
       where u.handle = any ($1) and o.status in ('open', 'partially_filled', 'scheduled')
       group by o.user_id, o.market_id`,
      [handles],
    );
    t.true(open.length > 8);
    t.true(open.every(({ n, least, greatest }) => n <= 10 && least >= 3 && greatest <= 97));
  });
});

test("a user's order trades with the demo traders at a fair price", async (t) => {
  await withWorld(async ({ prepare, rows, stepOf }) => {
    const demo = await prepare();
    const { id: marketId } = demo!.living!.markets.find(({ market }) => !market.event?.isLive)!;
    const [user] = await rows("select public_id as id from identity.users where handle = $1", [
      "demo-trader",
    ]);
    const [{ body }] = await rows("select body from api.get_market($1)", [marketId]);
    const order = { marketId, userId: user.id, side: "yes", price: null, quantity: 10 };
    const [result] = await rows("select code, body from api.place_orders($1)", [
      JSON.stringify([order]),
    ]);
    t.is(result.code, null);
    const { fills } = JSON.parse(result.body);
    t.true(fills.length > 0);
    for (const { price } of fills) t.true(Math.abs(price - body.lastTradePrice) <= 3);
    // Quotes that were taken come again.
    const step = stepOf(demo);
    for (let done = 0; done < 100; done++) await step();
    t.deepEqual(await rows("select * from ledger.verify()"), []);
  });
});

test("a start renews the live markets and those that end, and pays what has ended", async (t) => {
  await withWorld(async ({ later, prepare, rows }) => {
    const first = await prepare();
    const openOf = `select m.public_id as id, m.title from catalog.markets as m
      where m.status = 'open' and m.title = any ($1) order by m.id`;
    const before = await rows(openOf, [renewedTitles]);
    t.deepEqual(
      before.map(({ title }) => title),
      renewedTitles,
    );
    const ended = before.at(-1)!.id;
    await rows("select admin.set_market_status($1, 'closed')", [ended]);
    for (const { id } of before.slice(0, -1)) {
      await rows("select admin.edit_market($1, close_time => core.now() + interval '3 hours')", [
        id,
      ]);
    }

    const second = await prepare();
    const [{ status }] = await rows("select status from catalog.markets where public_id = $1", [
      ended,
    ]);
    t.is(status, "resolved");
    const known = first!.living!.markets.map(({ id }) => id);
    const fresh = second!.living!.markets.filter(({ id }) => !known.includes(id));
    t.deepEqual(
      fresh.map(({ market }) => market.title),
      renewedTitles,
    );

    // Orders of live markets wait; then their books have two sides.
    const liveIds = fresh.filter(({ market }) => market.event?.isLive).map(({ id }) => id);
    t.is(liveIds.length, 2);
    const book = "select body from api.get_order_book($1)";
    t.deepEqual((await rows(book, [liveIds[0]]))[0].body, { bids: [], asks: [] });
    await later(3000);
    for (const { id } of fresh) {
      const [{ body }] = await rows(book, [id]);
      t.true(body.bids.length >= 4 && body.asks.length >= 4);
    }
    t.deepEqual(await rows("select * from ledger.verify()"), []);
    t.deepEqual((await prepare())!.living!.markets, second!.living!.markets);
  });
});

test("without a database the traders say so once, go on trying, and end at once", async (t) => {
  let attempts = 0;
  const database = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  await once(database.listen(0, "127.0.0.1"), "listening");
  const { port } = database.address() as AddressInfo;
  const lines: string[] = [];
  const traders = startDemoTraders({
    connectionString: `postgres://127.0.0.1:${port}/none`,
    living: { traderIds: handles, markets: [{ id: "x", market: livingMarkets[0]! }] },
    logger: pino({ level: "warn" }, { write: (line) => lines.push(line) }),
    onTraded: () => t.fail(),
    pauseMs: 0,
  });
  // A step makes five attempts at most.
  while (attempts <= 10) await delay(20);
  await traders.close();
  database.close();
  t.is(lines.length, 1);
  t.is(JSON.parse(lines[0]!).msg, "the demo traders cannot trade");
});

test("the traders trade by themselves, also when a session was lost, and leave none", async (t) => {
  await withWorld(async ({ connectionString, prepare, rows }) => {
    const demo = await prepare();
    let traded = 0;
    const traders = startDemoTraders({
      connectionString,
      living: demo!.living!,
      logger: pino({ level: "silent" }),
      onTraded: () => (traded += 1),
      pauseMs: 0,
    });
    const afterSteps = async (most: number) => {
      for (const before = traded; traded < before + most;) await delay(20);
    };
    const ofTraders = "application_name = 'pgmarkets demo' and datname = current_database()";
    await afterSteps(10);
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where ${ofTraders}`;
    t.is((await rows(end)).length, 1);
    await afterSteps(10);
    await traders.close();
    while ((await rows(`select from pg_stat_activity where ${ofTraders}`)).length > 0) {
      await delay(20);
    }
    t.deepEqual(await rows("select * from ledger.verify()"), []);
  });
});
