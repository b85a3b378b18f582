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
 * A call that does not wait: orders of markets whose lock is held are AGAIN. If it skips users who
 * are locked, their orders are AGAIN, and all of a market where they meet one. The others come to
 * what they would have come to without these.
 */

const { chance } = randomFrom("busy markets");

test("AGAIN: orders of locked markets are left out, the others are carried out", async (t) => {
  const seen = new Map<string, number>();
  const ways = ["none", "some", "all"];
  await playPrograms(
    t,
    (exchange, cast) => comparing(exchange, cast, seen),
    () => ways.every((way) => seen.has(way)),
  );
  t.log(JSON.stringify(Object.fromEntries(seen)));
  for (const way of ways) t.true(seen.has(way), way);
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

const BUSY: PlacedRow = { code: "AGAIN", message: null, replayed: false, body: null };

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

test("AGAIN: a call that skips locked users places the orders that meet none of them", async (t) => {
  const seen = new Map<string, number>();
  const ways = ["placed", "taker is locked", "maker is locked"];
  await playPrograms(
    t,
    (exchange, cast) => skipping(exchange, cast, seen),
    () => ways.every((way) => seen.has(way)),
  );
  t.log(JSON.stringify(Object.fromEntries(seen)));
  for (const way of ways) t.true(seen.has(way), way);
});

/** Compares, takes that back, and then places all of them for good. */
function skipping(exchange: Exchange, cast: Cast, seen: Map<string, number>): Placing {
  return async (client, requests) => {
    const holder = await exchange.database.pool.connect();
    try {
      const locked = new Set(cast.traders.filter(() => chance(0.2)));
      await holder.query("begin");
      await holder.query(
        `select from trading.traders where public_id = any ($1) order by user_id
         for no key update`,
        [[...locked]],
      );
      for (const way of await compareSkipped(client, cast, requests, locked)) {
        seen.set(way, (seen.get(way) ?? 0) + 1);
      }
    } finally {
      await holder.query("rollback");
      holder.release();
    }
    return together(client, requests);
  };
}

/** What became of each request, or whose lock kept it. A wait for a locked user is an error. */
async function compareSkipped(
  client: PoolClient,
  cast: Cast,
  requests: PlacedRequest[],
  locked: Set<string>,
): Promise<string[]> {
  const before = await fingerprintTables(client);
  const resting = await marketsOfMakers(client, locked);
  const [rows, played] = await takenBack(client, async () => {
    const all = await placeSkipping(client, requests, chance(0.5));
    const placed = all.filter(({ code }) => !isLeftOut(code));
    const after = await fingerprintTables(client);
    if (placed.length === 0) expectSameTables(after, before);
    return [all, await readPlayed(client, outcomesOf(placed))] as const;
  });
  const isBusy = rows.map(({ code }) => isLeftOut(code));
  const free = requests.filter((_, index) => !isBusy[index]);
  await takenBack(client, async () => {
    const alone = free.length > 0 ? await together(client, free) : [];
    expectSamePlay(played, await readPlayed(client, outcomesOf(alone)), cast);
  });
  return requests.map(({ marketId, userId }, index) => {
    const isOfLocked = locked.has(userId);
    if (isOfLocked) expectSame("taker is locked", [isBusy[index]], [true]);
    else if (!resting.has(marketId)) expectSame("nobody is locked", [isBusy[index]], [false]);
    if (!isBusy[index]) return "placed";
    return isOfLocked ? "taker is locked" : "maker is locked";
  });
}

const isLeftOut = (code: string | null) => code === "AGAIN";

/** The markets in which one of these users has a resting order. */
async function marketsOfMakers(client: PoolClient, userIds: Set<string>): Promise<Set<string>> {
  const { rows } = await client.query(
    `select distinct m.public_id as id
     from trading.active_orders as a
     join trading.traders as t on t.user_id = a.user_id
     join catalog.markets as m on m.id = a.market_id
     where t.public_id = any ($1)`,
    [[...userIds]],
  );
  return new Set(rows.map(({ id }) => id as string));
}

async function placeSkipping(
  client: PoolClient,
  requests: PlacedRequest[],
  waits: boolean,
): Promise<PlacedRow[]> {
  const { rows } = await client.query(
    `select code, message, replayed, body
     from api.run_orders(orders => $1, waits => $2, skips => true)`,
    [JSON.stringify(requests), waits],
  );
  return rows;
}

/** In a transaction that is rolled back, in which every wait for a lock is an error, as is a call without end. */
async function takenBack<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    await client.query("set local lock_timeout = 1");
    await client.query("set local statement_timeout = '10s'");
    return await work();
  } finally {
    await client.query("rollback");
  }
}
