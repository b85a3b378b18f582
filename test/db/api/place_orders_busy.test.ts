import test from "ava";
import type { PoolClient } from "pg";
import { fingerprintTables } from "../../helpers/database/tables.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { expectSamePlay, outcomesOf, readPlayed, together } from "../../helpers/model/play.ts";
import type { Cast, PlacedRequest, PlacedRow, Placing } from "../../helpers/model/play.ts";
import { playPrograms } from "../../helpers/model/play_programs.ts";
import { expectSame, expectSameTables } from "../../helpers/model/laws.ts";
import { randomFrom } from "../../helpers/random.ts";

/**
 * A call that does not wait: orders of markets whose lock is held are MARKET_BUSY, and the others
 * come to what they would have come to without these.
 */

const { chance } = randomFrom("busy markets");

test("orders of locked markets get MARKET_BUSY, the others are carried out", async (t) => {
  t.timeout(240_000);
  const seen = new Map<string, number>();
  await playPrograms(t, (exchange, cast) => comparing(exchange, cast, seen));
  t.log(JSON.stringify(Object.fromEntries(seen)));
  for (const way of ["none", "some", "all"]) t.true(seen.has(way), way);
});

/** Compares, takes that back, and then places all of them for good. */
function comparing(exchange: Exchange, cast: Cast, seen: Map<string, number>): Placing {
  return async (client, requests) => {
    const holder = await exchange.database.pool.connect();
    try {
      const busy = new Set(cast.markets.filter(() => chance(0.4)));
      await holder.query("begin");
      await holder.query(
        "select trading.lock_market(id) from catalog.markets where public_id = any ($1) order by id",
        [[...busy]],
      );
      const busyCount = await compare(client, cast, requests, busy);
      const way = busyCount === 0 ? "none" : busyCount === requests.length ? "all" : "some";
      seen.set(way, (seen.get(way) ?? 0) + 1);
    } finally {
      await holder.query("rollback");
      holder.release();
    }
    return together(client, requests);
  };
}

/** How many of the requests were busy. */
async function compare(
  client: PoolClient,
  cast: Cast,
  requests: PlacedRequest[],
  busy: Set<string>,
): Promise<number> {
  const isBusy = requests.map(({ marketId }) => busy.has(marketId));
  const free = requests.filter((_, index) => !isBusy[index]);
  const before = await fingerprintTables(client);

  const expected = await takenBack(client, async () =>
    readPlayed(client, outcomesOf(free.length > 0 ? await together(client, free) : [])),
  );
  await takenBack(client, async () => {
    const rows = await placeWithoutWaiting(client, requests, false);
    expectSame(
      "row of a busy market",
      rows.filter((_, index) => isBusy[index]),
      isBusy.filter(Boolean).map(() => BUSY),
    );
    const others = rows.filter((_, index) => !isBusy[index]);
    expectSamePlay(await readPlayed(client, outcomesOf(others)), expected, cast);
    if (free.length === 0) {
      expectSameTables(await fingerprintTables(client), before);
    }
  });
  if (free.length < requests.length) {
    await takenBack(client, async () => {
      const rows = await placeWithoutWaiting(client, requests, true);
      expectSame(
        "row of an atomic batch",
        rows,
        requests.map(() => BUSY),
      );
      expectSameTables(await fingerprintTables(client), before);
    });
  }
  return requests.length - free.length;
}

const BUSY: PlacedRow = { code: "MARKET_BUSY", message: null, replayed: false, body: null };

async function placeWithoutWaiting(
  client: PoolClient,
  requests: PlacedRequest[],
  atomic: boolean,
): Promise<PlacedRow[]> {
  const { rows } = await client.query(
    "select * from api.place_orders(orders => $1, atomic => $2, waits => false)",
    [JSON.stringify(requests), atomic],
  );
  return rows;
}

/** In a transaction that is rolled back, in which every wait for a lock is an error. */
async function takenBack<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    await client.query("set local lock_timeout = 1");
    return await work();
  } finally {
    await client.query("rollback");
  }
}
