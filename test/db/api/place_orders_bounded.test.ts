import { randomUUID } from "node:crypto";
import test from "ava";
import type { PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { ALL_ORDERS, api } from "../../../src/database/calls.ts";
import type { OrderRequest } from "../../../src/database/calls.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { fingerprintTables } from "../../helpers/database/tables.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Answer } from "../../helpers/exchange/test_exchange.ts";
import { expectSame, expectSameTables } from "../../helpers/model/laws.ts";
import { expectSamePlay, outcomesOf, readPlayed, together } from "../../helpers/model/play.ts";
import type { Cast, PlacedRequest, PlacedRow, Placing } from "../../helpers/model/play.ts";
import { playPrograms } from "../../helpers/model/play_programs.ts";

/**
 * Calls whose orders may meet a bounded number of makers: what does not fit has no effect, and the
 * rest comes to what it would have come to alone.
 */

const exchange = testExchange(test);
const { makeMarkets, makeTraders, rest } = exchange;

/** What a bounded call meets at most. */
const MOST = 3;

test("what a bounded call places is what a call with these orders alone places", async (t) => {
  const seen = new Map<string, number>();
  await playPrograms(
    t,
    (_random, cast) => comparing(cast, seen),
    () => seen.has("placed") && seen.has("AGAIN"),
  );
  t.log(JSON.stringify(Object.fromEntries(seen)));
  for (const code of ["placed", "AGAIN"]) t.true(seen.has(code), code);
});

/** Compares, takes that back, and then places all of them for good. */
function comparing(cast: Cast, seen: Map<string, number>): Placing {
  return async (client, requests) => {
    for (const waits of [true, false]) {
      const rows = await compare(client, cast, requests, waits);
      checkLeft(requests, rows, waits);
      for (const { code } of rows) {
        const kind = isLeft({ code }) ? String(code) : "placed";
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    return together(client, requests);
  };
}

const isLeft = ({ code }: Pick<PlacedRow, "code">) => code === "AGAIN";

/** The rows of a bounded call; those that it places are as a call with these orders has them. */
async function compare(
  client: PoolClient,
  cast: Cast,
  requests: PlacedRequest[],
  waits: boolean,
): Promise<PlacedRow[]> {
  const before = await fingerprintTables(client);
  await client.query("begin");
  const rows = await placeBounded(client, requests, waits);
  const placed = rows.filter((row) => !isLeft(row));
  const played = await readPlayed(client, outcomesOf(placed));
  const after = await fingerprintTables(client);
  await client.query("rollback");

  const alone = requests.filter((_, index) => !isLeft(rows[index]!));
  if (alone.length === 0) {
    expectSameTables(after, before);
    return rows;
  }
  await client.query("begin");
  const expected = await readPlayed(client, outcomesOf(await together(client, alone)));
  await client.query("rollback");
  expectSamePlay(played, expected, cast);
  return rows;
}

/** What is left out, and that the others met no more makers than allowed. */
function checkLeft(requests: PlacedRequest[], rows: PlacedRow[], waits: boolean): void {
  const left = rows.map(isLeft);
  const makers = makersOf(rows.filter((row) => !isLeft(row) && !row.replayed));
  expectSame("more than one maker", [...makers].slice(1), []);
  if (waits) {
    const length = left.includes(true) ? left.indexOf(true) : rows.length;
    expectSame(
      "order left out",
      left,
      rows.map((_, index) => index >= length),
    );
  } else {
    const markets = new Set(requests.filter((_, index) => left[index]).map((it) => it.marketId));
    expectSame(
      "order left out",
      left,
      requests.map(({ marketId }) => markets.has(marketId)),
    );
  }
}

/** The orders on the book that were met and traded with. */
function makersOf(rows: PlacedRow[]): Set<string> {
  const answers = rows.flatMap(({ body }) => (body === null ? [] : [JSON.parse(body) as Answer]));
  const takers = new Set(answers.map(({ order }) => order.id));
  const traded = answers.flatMap(({ fills = [] }) =>
    fills.flatMap(({ buyOrderId, sellOrderId }) => [buyOrderId, sellOrderId]),
  );
  return new Set(traded.filter((id) => !takers.has(id)));
}

async function placeBounded(
  client: PoolClient,
  requests: PlacedRequest[],
  waits: boolean,
): Promise<PlacedRow[]> {
  const { rows } = await client.query(
    `select code, message, replayed, body
     from api.run_orders(orders => $1, waits => $2, most_makers => 1)`,
    [JSON.stringify(requests), waits],
  );
  return rows;
}

/** Markets with so many one-share orders each on the NO side, and a trader who made none of them. */
async function makeBooks(...lengths: number[]) {
  const markets = await makeMarkets(lengths.length);
  const [maker, taker] = await makeTraders(2);
  for (const [index, length] of lengths.entries()) {
    const orders = Array.from({ length }, () => buy("no", 1, 50));
    await rest(markets[index]!, maker, ...orders);
  }
  return { markets, taker };
}

async function codesOf(orders: OrderRequest[], waits: boolean, bounded = true) {
  const rows = await withClient(exchange.api, (client) =>
    call(client, api.runOrders, {
      ...ALL_ORDERS,
      ...{ orders, waits, mostMakers: bounded ? MOST : null },
    }),
  );
  return rows.map(({ code }) => code);
}

const fingerprint = () => withClient(exchange.database.pool, fingerprintTables);

const taking = (marketId: string, userId: string, quantity: number): OrderRequest => ({
  ...{ marketId, userId },
  ...buy("yes", quantity, 50),
});

test.serial(
  "AGAIN: a deep book displaces no order of a market that meets few makers",
  async (t) => {
    const { markets, taker } = await makeBooks(10, 10, 10, 10, 0, 1, 2, 2);
    const codes = await codesOf(
      markets.map((market) => taking(market, taker, 10)),
      false,
    );
    t.deepEqual(codes.slice(0, 4), Array(4).fill("AGAIN"));
    t.deepEqual(codes.slice(4, 6), [null, null]);
    t.is(codes.slice(6).filter((code) => code === null).length, 1, "1 and 2 makers are 3");
    t.deepEqual(await codesOf([taking(markets[0]!, taker, 3)], false), [null]);
  },
);

test.serial(
  "a call that waits places the first half of its orders, and of these, until they fit",
  async (t) => {
    const { markets, taker } = await makeBooks(12);
    const orders = Array.from({ length: 4 }, () => taking(markets[0]!, taker, 1));
    t.deepEqual(await codesOf(orders, true), [null, null, "AGAIN", "AGAIN"]);
    const larger = orders.map((order) => ({ ...order, quantity: 2 }));
    t.deepEqual(await codesOf(larger, true), [null, ...Array(3).fill("AGAIN")]);
    t.deepEqual(await codesOf([taking(markets[0]!, taker, 3)], true), [null]);
  },
);

test.serial(
  "AGAIN: an order that meets too many makers changes nothing until it goes unbounded",
  async (t) => {
    const { markets, taker } = await makeBooks(5);
    const order = taking(markets[0]!, taker, 5);
    const before = await fingerprint();
    t.deepEqual(await codesOf([order, taking(markets[0]!, taker, 1)], true), ["AGAIN", "AGAIN"]);
    t.deepEqual(await codesOf([order], false), ["AGAIN"]);
    t.deepEqual(await fingerprint(), before);
    t.deepEqual(await codesOf([order], true, false), [null]);
  },
);

test.serial("AGAIN: an amendment that meets too many makers changes nothing, either", async (t) => {
  const { markets, taker } = await makeBooks(5);
  const [id] = await rest(markets[0]!, taker, buy("yes", 5, 10));
  const before = await fingerprint();
  const amend = (quantity: number) =>
    withClient(exchange.api, (client) =>
      call(client, api.runCommand, {
        ...{ command: "amend", userId: taker, orderId: id, price: 50, quantity },
        mostMakers: MOST,
      }),
    );
  t.is((await amend(5)).code, "AGAIN");
  t.deepEqual(await fingerprint(), before);
  const { body } = await amend(3);
  t.is(JSON.parse(body).fills.length, 3);
});

for (const [name, more] of Object.entries({
  "an atomic batch": { atomic: true },
  "a batch with a key": { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() },
})) {
  test.serial(
    `AGAIN: ${name} that meets too many makers is not placed, also not in part`,
    async (t) => {
      const { markets, taker } = await makeBooks(2, 5);
      const place = (quantity: number, mostMakers: number | null) =>
        withClient(exchange.api, (client) =>
          call(client, api.runOrders, {
            ...{ ...ALL_ORDERS, ...more, mostMakers },
            ...("atomic" in more ? {} : { userId: taker }),
            orders: [taking(markets[0]!, taker, 1), taking(markets[1]!, taker, quantity)],
          }),
        );
      const before = await fingerprint();
      t.deepEqual([...new Set((await place(5, MOST)).map(({ code }) => code))], ["AGAIN"]);
      t.deepEqual(await fingerprint(), before);
      t.true((await place(5, null)).every(({ code }) => code === null));
      t.deepEqual((await exchange.book(markets[1]!)).asks, []);
    },
  );
}

test.serial("an amendment without the bound meets any number of makers", async (t) => {
  const { markets, taker } = await makeBooks(5);
  const [id] = await rest(markets[0]!, taker, buy("yes", 5, 10));
  const { body } = await withClient(exchange.api, (client) =>
    call(client, api.runCommand, { command: "amend", userId: taker, orderId: id, price: 50 }),
  );
  t.is(JSON.parse(body).fills.length, 5);
});
