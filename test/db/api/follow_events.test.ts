import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** Servers read the events that api.relay_outbox() has sent, each once, in the order of the commits. */

const exchange = testExchange(test, { sessions: 6 });
const { cancel, makeMarket, makeMarkets, makeTrader, makeTraders, rest } = exchange;

interface Row {
  id: number;
  kind: string | null;
  payload: any;
}

const read = async (afterId: number | null, most = 1000): Promise<Row[]> =>
  (
    await exchange.api.query(
      "select id, kind, payload from api.follow_events(after_id => $1, most => $2)",
      [afterId, most],
    )
  ).rows;

async function announceAll(): Promise<void> {
  while ((await exchange.api.query("select api.relay_outbox() as count")).rows[0].count > 0);
}

async function lastId(): Promise<number> {
  const [row] = await read(null);
  return row!.id;
}

test.serial(
  "without an id it returns where to begin; after the last id there are no events",
  async (t) => {
    const [market, ann] = [await makeMarket(), await makeTrader()];
    await rest(market, ann, buy("yes", 1, 40));
    await announceAll();
    const [row, ...others] = await read(null);
    t.like(row, { kind: null, payload: null });
    t.deepEqual(others, []);
    t.deepEqual(await read(row!.id), []);
  },
);

test.serial(
  "events are numbered one by one, and read from any place, as many as asked",
  async (t) => {
    const [market, ann] = [await makeMarket(), await makeTrader()];
    await announceAll();
    const from = await lastId();
    for (let turn = 0; turn < 5; turn++) {
      await rest(market, ann, buy("yes", 1, 40));
      if (turn % 2 === 0) await announceAll();
    }
    const versions = (rows: Row[]) => rows.map(({ id, payload }) => [id - from, payload.version]);
    t.deepEqual(versions(await read(from)), [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ]);
    t.deepEqual(versions(await read(from + 1, 2)), [
      [2, 2],
      [3, 3],
    ]);
  },
);

test.serial("one row is for all markets of a transaction; each has an id", async (t) => {
  const [markets, ann] = [await makeMarkets(3), await makeTrader()];
  await rest(markets[1], ann, buy("yes", 1, 40));
  await announceAll();
  const from = await lastId();
  const orders = markets.map((marketId) => ({ marketId, userId: ann, ...buy("yes", 1, 30) }));
  await exchange.api.query("select from api.place_orders(orders => $1)", [JSON.stringify(orders)]);
  await rest(markets[2], ann, buy("yes", 1, 31));
  const { rows } = await exchange.api.query("select api.relay_outbox() as count");
  t.deepEqual(rows, [{ count: 2 }]);
  const all = await read(from);
  t.deepEqual(
    all.map(({ id, kind }) => [id - from, kind]),
    [1, 2, 3, 4].map((place) => [place, "market_changed"]),
  );
  const versions = markets.map((market) =>
    all.filter(({ payload }) => payload.marketId === market).map(({ payload }) => payload.version),
  );
  t.deepEqual(versions, [[1], [2], [1, 2]]);
  for (const after of [1, 2, 3, 4]) {
    t.deepEqual(await read(from + after), all.slice(after));
    t.deepEqual(await read(from + after - 1, 1), all.slice(after - 1, after));
  }
  t.is(await lastId(), from + 4);
});

test.serial(
  "each reader sees each event once, a market's in the order of its commits",
  async (t) => {
    const markets = await makeMarkets(4);
    const traders = await makeTraders(4);
    await announceAll();
    const from = await lastId();
    let isOver = false;
    const relays = Array.from({ length: 3 }, async () => {
      while (!isOver) await exchange.api.query("select api.relay_outbox()");
    });
    const readers = Array.from({ length: 3 }, async () => {
      const seen: Row[] = [];
      let after = from;
      for (;;) {
        const wasOver = isOver;
        const rows = await read(after, 7);
        seen.push(...rows);
        after = rows.at(-1)?.id ?? after;
        if (wasOver && rows.length === 0) return seen;
      }
    });
    await Promise.all(
      markets.map(async (market, place) => {
        for (let turn = 0; turn < 40; turn++) {
          const [order] = await rest(market, traders[place]!, buy("yes", 1, 40));
          await cancel(traders[place]!, order);
        }
      }),
    );
    await announceAll();
    isOver = true;
    await Promise.all(relays);
    for (const seen of await Promise.all(readers)) {
      t.deepEqual(
        seen.map(({ id }) => id - from),
        Array.from({ length: 4 * 80 }, (_, index) => index + 1),
      );
      for (const market of markets) {
        t.deepEqual(
          seen
            .filter(({ payload }) => payload.marketId === market)
            .map((row) => row.payload.version),
          Array.from({ length: 80 }, (_, index) => index + 1),
        );
      }
    }
  },
);

test.serial("events that are not kept any more are a gap", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await announceAll();
  const from = await lastId();
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
  await announceAll();
  await exchange.clock.advance(3 * 86_400_000);
  t.true((await exchange.work("remove_sent_events")) > 0);
  t.deepEqual(await read(from), [{ id: from + 2, kind: null, payload: null }]);
  t.deepEqual(await read(from + 2), []);
  await rest(market, ann, buy("yes", 1, 42));
  await announceAll();
  await exchange.clock.release();
  t.like((await read(from + 2))[0], { id: from + 3, kind: "market_changed" });
});

test.serial("after a restore and on a promoted standby, ids go on far above", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await rest(market, ann, buy("yes", 1, 40));
  await announceAll();
  const before = await lastId();
  t.true(before > 0);
  await exchange.query("update trading.outbox_relay set cluster = 'another'");
  await rest(market, ann, buy("yes", 1, 41));
  await announceAll();
  const [event, ...others] = await read(before);
  t.like(event, { kind: "market_changed" });
  t.true(event!.id > before + 1_000_000, "a server sees that events may be missing");
  t.deepEqual(others, []);
  await rest(market, ann, buy("yes", 1, 42));
  await announceAll();
  t.is(await lastId(), event!.id + 1, "and then one by one again");
});

test.serial("an hour without an event ends with a tick, a year with one", async (t) => {
  await announceAll();
  const from = await lastId();
  await exchange.clock.advance(3_000_000);
  await announceAll();
  t.deepEqual(await read(from), []);
  await exchange.clock.advance(365 * 86_400_000);
  await announceAll();
  await announceAll();
  await exchange.clock.release();
  t.deepEqual(await read(from), [{ id: from + 1, kind: "tick", payload: {} }]);
});

test.serial("a database that was set back is a gap", async (t) => {
  const id = await lastId();
  t.deepEqual(await read(id + 5), [{ id, kind: null, payload: null }]);
});

test.serial("a notification names the last event, and each call sends one", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await announceAll();
  const heard: unknown[] = [];
  const client = await exchange.database.pool.connect();
  try {
    client.on("notification", ({ channel, payload }) => heard.push([channel, payload]));
    const { rows } = await client.query(`select pg_listening_channels() as channel`);
    t.deepEqual(rows, []);
    for (const channel of [
      ...["pgmarkets_events", "market_changed", "user_event", "api_key_revoked", "session_ended"],
    ]) {
      await client.query(`listen ${channel}`);
    }
    await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
    await announceAll();
    await announceAll();
    await client.query("notify pgmarkets_events, 'last'");
    while (heard.length < 2) await client.query("select");
    t.deepEqual(heard, [
      ["pgmarkets_events", String(await lastId())],
      ["pgmarkets_events", "last"],
    ]);
  } finally {
    client.release(true);
  }
});

test.serial("what sends events returns those behind an id", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await announceAll();
  const from = await lastId();
  const send = async (afterId: number | null) =>
    (
      await exchange.api.query("select id, kind, payload from api.send_events(after_id => $1)", [
        afterId,
      ])
    ).rows;
  t.deepEqual(await send(from), []);
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
  const sent = await send(from);
  t.deepEqual(
    sent.map(({ id, kind, payload }) => [id - from, kind, payload.version]),
    [
      [1, "market_changed", 1],
      [2, "market_changed", 2],
    ],
  );
  t.deepEqual(await send(from), sent, "they are sent, and read again");
  t.deepEqual(await send(from + 2), []);
  t.deepEqual(await send(null), await read(null));
});
