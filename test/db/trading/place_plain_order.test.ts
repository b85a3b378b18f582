import { randomUUID } from "node:crypto";
import test from "ava";
import type { PoolClient } from "pg";
import { fingerprintTables } from "../../helpers/database/tables.ts";
import { buy, ioc, postOnly, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { expectSameTables } from "../../helpers/model/laws.ts";
import { expectSamePlay, oneByOne, outcomesOf, readPlayed } from "../../helpers/model/play.ts";
import type { Cast, PlacedRequest, PlacedRow, Placing } from "../../helpers/model/play.ts";
import { playPrograms } from "../../helpers/model/play_programs.ts";
import { effort } from "../../helpers/random.ts";

/**
 * The fast path of a plain order: it comes to what the general way comes to, and is taken by plain
 * orders and no others.
 */

const exchange = testExchange(test);
const { clock, makeMarket, makeTrader, rest, operate, withRollback } = exchange;

const unlimited = { limits: [null, null, null] as [null, null, null] };

/** The body of the answer, or null where the order is not plain. */
async function placePlainly(client: PoolClient, order: object, waits = true) {
  const { rows } = await client.query(
    'select body from trading.place_plain_order("order" => $1, waits => $2)',
    [JSON.stringify(order), waits],
  );
  return rows[0].body as string | null;
}

/** With `skips` an order goes the general way. */
async function placeGenerally(client: PoolClient, order: object): Promise<PlacedRow[]> {
  const { rows } = await client.query(
    `select code, message, replayed, body from unnest(trading.place_batch(
       orders => $1, atomic => false, waits => true, skips => true, most_makers => null))`,
    [JSON.stringify([order])],
  );
  return rows;
}

test.serial("orders of random programs come to the same by both ways", async (t) => {
  const seen = { plainly: 0, filled: 0, otherwise: 0 };
  const hasSeenEnough = () =>
    seen.plainly > effort(25) && seen.filled > effort(5) && seen.otherwise > effort(25);
  await playPrograms(t, (_random, cast) => comparing(cast, seen), hasSeenEnough);
  t.true(hasSeenEnough(), JSON.stringify(seen));
});

/** Places each order of a step by both ways, and then for good. */
function comparing(
  cast: Cast,
  seen: { plainly: number; filled: number; otherwise: number },
): Placing {
  return async (client, requests) => {
    const rows: PlacedRow[] = [];
    for (const request of requests) {
      await client.query("begin");
      const body = await placePlainly(client, request);
      if (body === null) {
        seen.otherwise++;
      } else {
        seen.plainly++;
        const isFilled = body.includes('"status":"filled"');
        if (isFilled) seen.filled++;
        // A comparison reads and proves all tables twice.
        if (isFilled || seen.plainly % 4 === 0) await compare(client, request, body, cast);
      }
      await client.query("rollback");
      rows.push(...(await oneByOne(client, [request])));
    }
    return rows;
  };
}

/** Compares what a call has come to by the fast path with what it comes to by the general one. */
async function compare(
  client: PoolClient,
  request: PlacedRequest,
  body: string,
  cast: Cast,
): Promise<void> {
  const row = { code: null, message: null, replayed: false, body };
  const found = await readPlayed(client, outcomesOf([row]));
  await client.query("rollback");
  await client.query("begin");
  const general = await placeGenerally(client, request);
  expectSamePlay(found, await readPlayed(client, outcomesOf(general)), cast);
}

interface Scene {
  market: string;
  taker: string;
  maker: string;
}

/** A market in which 10 NO shares are bid for at 40, by traders without limits. */
async function makeScene(makerOrder: Request = buy("no", 10, 40)): Promise<Scene> {
  const [market, taker, maker] = [
    await makeMarket(),
    await makeTrader(unlimited),
    await makeTrader(unlimited),
  ];
  await rest(market, maker, makerOrder);
  // The first cash of the day is moved by the general way.
  const other = await makeMarket();
  await rest(other, maker, buy("no", 1, 50));
  await exchange.place(other, taker, buy("yes", 1, 50));
  return { market, taker, maker };
}

const orderOf = ({ market, taker }: Scene, request: Request, more: object = {}) => ({
  ...{ marketId: market, userId: taker, idempotencyKey: randomUUID() },
  ...request,
  ...more,
});

const plain: [title: string, request: Request, filled: number][] = [
  ["rests", buy("yes", 10, 59), 0],
  ["rests on the other side, without a key", buy("no", 1, 99, { idempotencyKey: null }), 0],
  ["rests post-only", buy("yes", 1, 59, postOnly), 0],
  ["rests until it expires", buy("yes", 1, 59, { expiresAt: "2999-01-01T00:00:00Z" }), 0],
  ["is filled by a part of the first order", buy("yes", 9, 60), 9],
  ["is filled by all of it", buy("yes", 10, 99), 10],
  ["is filled, ioc", buy("yes", 10, 60, ioc), 10],
  ["is filled, fok", buy("yes", 10, 60, { timeInForce: "fok" }), 10],
];

for (const [title, request, filled] of plain) {
  test.serial(`a plain order ${title}`, async (t) => {
    const scene = await makeScene();
    await withRollback(async (client) => {
      const body = await placePlainly(client, orderOf(scene, request));
      t.truthy(body);
      t.is(JSON.parse(body!).order.filledQuantity, filled);
    });
  });
}

const otherwise: [title: string, request: Request][] = [
  ["a sell", sell("yes", 1, 60)],
  ["an order without a price", buy("yes", 1)],
  ["a budget", spend("yes", 100)],
  ["an order for more than the first one has", buy("yes", 11, 60)],
  ["an ioc order that meets nothing", buy("yes", 1, 59, ioc)],
  ["a fok order that meets nothing", buy("yes", 1, 59, { timeInForce: "fok" })],
  ["a post-only order that would cross", buy("yes", 1, 60, postOnly)],
  ["an order that costs more than its user has", buy("yes", 10_000, 59)],
  ["an order that has expired", buy("yes", 1, 59, { expiresAt: "2001-01-01T00:00:00Z" })],
  ["an order that is malformed", buy("yes", 0, 59)],
];

for (const [title, request] of otherwise) {
  test.serial(`${title} is not plain, and nothing is written`, async (t) => {
    const scene = await makeScene();
    await withRollback(async (client) => {
      const before = await fingerprintTables(client);
      t.is(await placePlainly(client, orderOf(scene, request)), null);
      expectSameTables(await fingerprintTables(client), before);
    });
  });
}

test.serial("a key that is there already is for the general way", async (t) => {
  const scene = await makeScene();
  const order = orderOf(scene, buy("yes", 1, 59));
  await withRollback(async (client) => {
    t.truthy(await placePlainly(client, order));
    const before = await fingerprintTables(client);
    t.is(await placePlainly(client, order), null);
    expectSameTables(await fingerprintTables(client), before);
  });
});

test.serial(
  "an order that meets one of its own user, a sell or an expired one is not plain",
  async (t) => {
    const scene = await makeScene();
    await rest(scene.market, scene.taker, buy("no", 1, 41));
    await withRollback(async (client) => {
      t.is(await placePlainly(client, orderOf(scene, buy("yes", 1, 60))), null);
    });

    const other = await makeScene();
    await exchange.giveShares(other.market, other.maker, "yes", 1);
    await rest(other.market, other.maker, sell("yes", 1, 55));
    await withRollback(async (client) => {
      t.is(await placePlainly(client, orderOf(other, buy("yes", 1, 60))), null);
    });

    await clock.freeze("2030-01-01T12:00:00Z");
    const late = await makeScene(buy("no", 10, 40, { expiresAt: "2030-01-01T12:00:01Z" }));
    await withRollback(async (client) => {
      t.truthy(await placePlainly(client, orderOf(late, buy("yes", 1, 60))));
    });
    await clock.freeze("2030-01-01T12:00:01Z");
    await withRollback(async (client) => {
      t.is(await placePlainly(client, orderOf(late, buy("yes", 1, 60))), null);
    });
    await clock.release();
  },
);

test.serial(
  "orders of users with loss limits, and of those who may not trade, are not plain",
  async (t) => {
    const scene = await makeScene();
    const limited = await makeTrader({ limits: [100, null, null] });
    await withRollback(async (client) => {
      t.is(
        await placePlainly(client, orderOf({ ...scene, taker: limited }, buy("yes", 1, 59))),
        null,
      );
    });
    await operate("freeze_user", { user_id: scene.taker, reason: "test" });
    await withRollback(async (client) => {
      t.is(await placePlainly(client, orderOf(scene, buy("yes", 1, 59))), null);
    });
  },
);

test.serial("without waiting, a market whose lock is held is not touched", async (t) => {
  const scene = await makeScene();
  await withRollback(async (holder) => {
    t.truthy(await placePlainly(holder, orderOf(scene, buy("yes", 1, 59))));
    await withRollback(async (client) => {
      t.is(await placePlainly(client, orderOf(scene, buy("yes", 1, 59)), false), null);
    });
  });
});
