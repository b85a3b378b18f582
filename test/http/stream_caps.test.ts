import test from "ava";
import { pino } from "pino";
import { createStreamSlots } from "../../src/streams/stream_slots.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";

/** How many event streams an address and a user hold open at once, over all servers. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders, operate } = service;
const opened: EventSource[] = [];
const logger = pino({ level: "silent" });

test.afterEach.always("close the streams", async () => {
  for (const stream of opened.splice(0)) stream.close();
  await until("none is counted", async () => (await counted()) === 0);
});

const counted = async (): Promise<number> => {
  const { rows } = await service.database.pool.query(
    "select coalesce(sum(stream_count), 0) as count from rate_limits.open_streams",
  );
  return Number(rows[0].count);
};

const cap = (holder: string, max_streams: number) =>
  operate("set_stream_cap", { holder, max_streams });

async function open(path: string, key?: string, url = service.url): Promise<void> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  opened.push(await openEvents(`${url}${path}`, headers));
}

test.serial(
  "429: a user's streams over all servers are limited, before the stream opens",
  async (t) => {
    const otherUrl = await service.serveBeside(t);
    const [ann, bob] = await makeTraders(2);
    await cap("user", 2);
    await open("/api/v1/user/stream", ann.key);
    await open("/api/v1/user/stream", ann.key, otherUrl);
    const refused = await call("GET", "/api/v1/user/stream", { key: ann.key });
    t.is(refused.status, 429);
    t.deepEqual(refused.body, { error: "Too many requests" });
    t.true(Number(refused.headers.get("retry-after")) > 0);
    await open("/api/v1/user/stream", bob.key);

    opened.shift()!.close();
    await until("it is counted off", async () => (await counted()) === 2 * 2);
    await open("/api/v1/user/stream", ann.key);
    await cap("user", 3);
    await open("/api/v1/user/stream", ann.key);
    for (const stream of opened.splice(0)) stream.close();
    await cap("user", 1_000_000);
  },
);

test.serial("429: an address's streams of all kinds are limited together", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await cap("address", 3);
  await open(`/api/v1/markets/${market}/stream`);
  await open(`/api/stream/market/${market}`);
  await open("/api/v1/user/stream", ann.key);
  for (const path of [`/api/v1/markets/${market}/stream`, `/api/stream/market/${market}`]) {
    t.is((await call("GET", path)).status, 429);
  }
  t.is((await call("GET", "/api/v1/user/stream", { key: ann.key })).status, 429);
  await cap("address", 1_000_000);
});

test.serial(
  "429: a stream of changes holds a slot for each 20 markets, on all servers",
  async (t) => {
    const markets: string[] = [];
    for (let number = 0; number < 41; number++) markets.push(await makeMarket());
    const of = (count: number) => `/api/v1/stream?markets=${markets.slice(0, count).join()}`;
    const status = async (count: number) => (await call("GET", of(count))).status;
    await cap("address", 6);
    await open(of(20));
    t.is(await counted(), 1);
    await open(of(41));
    t.is(await counted(), 4);
    t.is(await status(41), 429);
    await open(of(21));
    t.is(await status(1), 429);

    // Its process counts them again when its lease is gone.
    await service.database.pool.query(
      "truncate rate_limits.stream_leases, rate_limits.open_streams",
    );
    t.is(await status(20), 429);
    t.is(await counted(), 6);
    opened.splice(1, 1)[0]!.close();
    await until("it is counted off", async () => (await counted()) === 3);
    await open(of(41));
    await cap("address", 1_000_000);
  },
);

test.serial("requests that open no stream are not counted: 404, HEAD", async (t) => {
  const market = await makeMarket();
  const nowhere = "01900000-0000-7000-8000-000000000000";
  t.is((await call("GET", `/api/v1/markets/${nowhere}/stream`)).status, 404);
  t.is((await call("HEAD", `/api/v1/markets/${market}/stream`)).status, 200);
  await until("none is counted", async () => (await counted()) === 0);
});

test.serial("streams that open at the same time stay within the cap", async (t) => {
  const ann = await makeTrader();
  await cap("user", 5);
  const ending = new AbortController();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      fetch(`${service.url}/api/v1/user/stream`, {
        headers: { authorization: `Bearer ${ann.key}` },
        signal: ending.signal,
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  t.deepEqual(statuses, [...Array(5).fill(200), ...Array(7).fill(429)]);
  t.is(await counted(), 5 * 2);
  ending.abort();
  await cap("user", 1_000_000);
});

test.serial("the streams of a killed process no longer count after 30 s", async (t) => {
  const { pool } = service.database;
  const ann = await makeTrader();
  await cap("user", 1);
  const lost = "01900000-0000-7000-8000-000000000001";
  const held = JSON.stringify([{ address: "192.0.2.1", userId: ann.userId }]);
  await pool.query("select api.lease_streams($1, $2)", [lost, held]);
  t.is((await call("GET", "/api/v1/user/stream", { key: ann.key })).status, 429);
  await pool.query(
    "update rate_limits.stream_leases set seen_at = core.now() - interval '30 s' where lease_id = $1",
    [lost],
  );
  await open("/api/v1/user/stream", ann.key);
  await pool.query(
    "update rate_limits.stream_leases set seen_at = core.now() - interval '5 min' where lease_id = $1",
    [lost],
  );
  await pool.query("select jobs.remove_counters()");
  t.is(await counted(), 2);
  await cap("user", 1_000_000);
});

test.serial("a process whose lease is gone takes another for its open streams", async (t) => {
  const { pool } = service.database;
  const ann = await makeTrader();
  await open("/api/v1/user/stream", ann.key);
  await pool.query("truncate rate_limits.stream_leases, rate_limits.open_streams");
  await open("/api/v1/user/stream", ann.key);
  t.is(await counted(), 2 * 2);
});

test.serial("the lease is renewed, and ends with the process", async (t) => {
  const { database } = service;
  let renew: () => void = () => undefined;
  const slots = createStreamSlots({
    pool: database.connectAs("exchange_api"),
    logger,
    repeat: (work) => {
      renew = work;
      return () => undefined;
    },
  });
  const response: any = { destroyed: false, once: () => undefined, setHeader: () => undefined };
  const before = await leases();
  await slots.take({ address: "192.0.2.7", slots: 1 }, response);
  t.is((await leases()).length, before.length + 1);
  await database.pool.query(
    "update rate_limits.stream_leases set seen_at = core.now() - interval '1 hour'",
  );
  renew();
  await until("it is renewed", async () => (await leases()).some((age) => age < 60));
  await slots.close();
  t.is((await leases()).length, before.length);
});

async function leases(): Promise<number[]> {
  const { rows } = await service.database.pool.query(
    "select extract(epoch from core.now() - seen_at)::float8 as age from rate_limits.stream_leases",
  );
  return rows.map((row) => row.age);
}
