import { randomUUID } from "node:crypto";
import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { fingerprintTables } from "../../helpers/database/tables.ts";
import {
  expectSamePlay,
  makeCast,
  oneByOne,
  outcomesOf,
  playAndUndo,
  readPlayed,
  together,
  undone,
} from "../../helpers/model/play.ts";
import type { Cast, PlacedRequest, PlacedRow, Placing } from "../../helpers/model/play.ts";
import { expectSame, expectSameTables, holds } from "../../helpers/model/laws.ts";

/**
 * The law of the atomic batch: it comes to what its orders would have come to one by one, if all
 * of them are accepted, and else to nothing.
 */

const exchange = testExchange(test);

const atomic: Placing = async (client, requests) =>
  (
    await client.query("select * from api.place_orders(orders => $1, atomic => true)", [
      JSON.stringify(requests),
    ])
  ).rows;

/** The same with a key; sent again, the answer is the first one, and nothing changes. */
const atomicOnce: Placing = async (client, requests) => {
  const key = [randomUUID(), randomUUID()];
  const send = async () => {
    const { rows } = await client.query(
      `select code, message, replayed, body
       from api.run_orders(
         user_id => $1, orders => $2, atomic => true, idempotency_key => $3,
         request_fingerprint => $4
       )`,
      [requests[0]!.userId, JSON.stringify(requests), ...key],
    );
    return rows[0];
  };
  const { code, replayed, body } = await send();
  expectSame("first answer", [code, replayed], [null, false]);
  const before = await fingerprintTables(client);
  expectSame(
    "repetition",
    Object.entries(await send()),
    Object.entries({ code, message: null, replayed: true, body }),
  );
  const after = await fingerprintTables(client);
  expectSame("table after a repetition", Object.entries(after), Object.entries(before));
  await client.query("delete from trading.idempotency_keys where key = $1", [key[0]]);
  return JSON.parse(body).results;
};

test("an atomic batch is carried out as a whole or not at all", async (t) => {
  const cast = await makeCast(exchange);
  const seen = new Map<string, number>();
  const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);

  /** Compares, and takes all of it back; the requests before the first that is rejected. */
  const compare = async (client: PoolClient, requests: PlacedRequest[]) => {
    const { rows, isAccepted } = await undone(client, () => untilRejected(client, requests));
    if (isAccepted) {
      const alone = await undone(client, () => placeAndRead(client, requests, oneByOne));
      const whole = await undone(client, () => placeAndRead(client, requests, atomic));
      expectSamePlay(whole, alone, cast);
      const once = await undone(client, () => placeAndRead(client, requests, atomicOnce));
      expectSamePlay(once, alone, cast);
      const markets = new Set(requests.map(({ marketId }) => marketId));
      if (requests.length > 1) count(markets.size > 1 ? "in several markets" : "in one market");
    } else {
      const before = await fingerprintTables(client);
      await undone(client, async () => {
        const found = await atomic(client, requests);
        expectSame(
          "row of a batch that is not carried out",
          found.slice(0, rows.length).map(({ code, replayed, body }) => [code, replayed, body]),
          rows.map(({ code }) => [code, false, null]),
        );
        expectSame(
          "body",
          found.map(({ body }) => body),
          requests.map(() => null),
        );
        const after = await fingerprintTables(client);
        expectSameTables(after, before);
      });
      count(`rejected with ${rows.at(-1)!.code}`);
      if (rows.length > 1) count("rejected behind an accepted order");
    }
    return requests.slice(0, isAccepted ? requests.length : rows.length - 1);
  };

  const placing: Placing = async (client, requests) => {
    const accepted = await compare(client, requests);
    if (accepted.length > 0 && accepted.length < requests.length) await compare(client, accepted);
    return together(client, requests);
  };
  await holds(t, 6, async (program) => {
    await playAndUndo(exchange, cast, program, placing);
  });
  t.log(JSON.stringify(Object.fromEntries(seen)));
  const ways = ["in several markets", "in one market", "rejected behind an accepted order", LIVE];
  for (const way of ways) t.true(seen.has(way), way);

  /**
   * One after the other, up to the first that is rejected. A new order on a live market comes
   * before everything else; one that was placed before the market was live is a replay.
   */
  async function untilRejected(client: PoolClient, requests: PlacedRequest[]) {
    const live = await liveMarkets(client, cast);
    const rows: Pick<PlacedRow, "code">[] = await oneByOne(client, requests);
    const isNew = (index: number) => !(rows[index] as PlacedRow).replayed;
    const firstLive = requests.findIndex(({ marketId }, i) => live.has(marketId) && isNew(i));
    if (firstLive >= 0) {
      count(LIVE);
      const before = requests.slice(0, firstLive).map(() => ({ code: null }));
      return { rows: [...before, { code: "INVALID_REQUEST" }], isAccepted: false };
    }
    const rejected = rows.findIndex(({ code }) => code !== null);
    return rejected < 0
      ? { rows, isAccepted: true }
      : { rows: rows.slice(0, rejected + 1), isAccepted: false };
  }
});

const LIVE = "an order on a live market";

async function placeAndRead(client: PoolClient, requests: PlacedRequest[], placing: Placing) {
  return readPlayed(client, outcomesOf(await placing(client, requests)));
}

async function liveMarkets(client: PoolClient, { events, markets }: Cast): Promise<Set<string>> {
  const { rows } = await client.query(
    "select public_id from catalog.events where public_id = any ($1) and live",
    [events],
  );
  const live = new Set(rows.map((row) => row.public_id));
  return new Set(markets.filter((_, index) => live.has(events[index])));
}
