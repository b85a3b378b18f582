import test from "ava";
import pg from "pg";
import type { Pool, PoolClient } from "pg";
import { routes } from "../../src/api/routes.ts";
import { call } from "../../src/database/call.ts";
import type { DatabaseFunction, Fields } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import type { ApiCalls, MarketView } from "../../src/database/calls.ts";
import { makePublicReads, publicReadNames } from "../../src/database/public_reads.ts";
import type { Standbys } from "../../src/database/standbys.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { publicArguments } from "../helpers/exchange/public_arguments.ts";

/** Which reads may go to standbys, and who answers them. */

const database = testDatabase(test);

test("the public reads of routes go to standbys, and nothing else does", (t) => {
  const named = new Set(["followMarket", "getMarketSnapshot"]);
  for (const { operationId, auth, rateLimit, method, handler } of routes) {
    const text = handler.toString();
    for (const [, name = ""] of text.matchAll(/\bpublicReads\.(\w+)/g)) named.add(name);
    const isPublicRead = auth === "public" && rateLimit === "read" && method === "get";
    t.is(/\bpublicReads\b/.test(text), isPublicRead, operationId);
    if (isPublicRead) t.notRegex(text, /\b(?:reads|commands)\b/, operationId);
  }
  t.deepEqual([...named].sort(), [...publicReadNames].sort());
});

for (const name of publicReadNames) {
  test(`${name} neither writes nor locks rows`, async (t) => {
    await database.withRollback(async (client) => {
      await client.query("set transaction read only");
      const called = api[name] as unknown as DatabaseFunction<Fields, unknown>;
      await t.notThrowsAsync(call(client, called, publicArguments(called)));
    }, "exchange_api");
  });
}

const MARKET = { marketId: "01900000-0000-7000-8000-000000000000" };

/** The book of a market, at these versions one after the other; the last one stays. */
function versions(...given: number[]): () => Promise<MarketView> {
  return async () => {
    const version = given.length > 1 ? given.shift() : given[0];
    return { version: version ?? 0, body: "{}" };
  };
}

/** Standbys of which one is fit while there is an answer for it. */
function fakes(ofPrimary: () => Promise<MarketView>) {
  const state: {
    answer: (() => Promise<MarketView>) | undefined;
    primaryReads: number;
    failures: number;
  } = {
    answer: undefined,
    primaryReads: 0,
    failures: 0,
  };
  const client = {
    query: async () => ({ rows: [await state.answer?.()] }),
    release: () => undefined,
  } as unknown as PoolClient;
  const pool = { connect: async () => client } as unknown as Pool;
  const standbys = {
    find: async () =>
      state.answer && { pool, count: () => undefined, fail: () => state.failures++ },
    countPrimary: () => {
      state.primaryReads++;
    },
  } as unknown as Standbys;
  const primary = Object.fromEntries(publicReadNames.map((name) => [name, ofPrimary]));
  return { state, reads: makePublicReads(primary as unknown as ApiCalls, standbys) };
}

test("a fit standby answers, and the primary where there is none", async (t) => {
  const { state, reads } = fakes(versions(1));
  t.is((await reads.getOrderBook(MARKET))?.version, 1);
  state.answer = versions(1);
  t.is((await reads.getOrderBook(MARKET))?.version, 1);
  t.is(state.primaryReads, 1);
});

test("the primary answers what a standby fails to, and one that gave no answer is left", async (t) => {
  const { state, reads } = fakes(versions(3));
  const conflict = new pg.DatabaseError("conflict with recovery", 0, "error");
  conflict.code = "40001";
  state.answer = () => Promise.reject(conflict);
  t.is((await reads.getOrderBook(MARKET))?.version, 3);
  t.is(state.failures, 0, "it has answered");
  state.answer = () => Promise.reject(new Error("Query read timeout"));
  t.is((await reads.getOrderBook(MARKET))?.version, 3);
  t.is(state.failures, 1);
  t.is(state.primaryReads, 2);
});

test("the primary is asked again while it shows less than a standby has shown", async (t) => {
  const { state, reads } = fakes(versions(7, 7, 7, 8));
  state.answer = versions(8);
  t.is((await reads.getOrderBook(MARKET))?.version, 8);
  state.answer = undefined;
  t.is((await reads.getMarket(MARKET))?.version, 8);
});

test("a primary that lost what a standby has shown answers all the same, soon at once", async (t) => {
  let asked = 0;
  const { state, reads } = fakes(() => {
    asked++;
    return versions(7)();
  });
  state.answer = versions(8);
  await reads.getOrderBook(MARKET);
  state.answer = undefined;
  t.is((await reads.getOrderBook(MARKET))?.version, 7);
  const before = asked;
  t.is((await reads.getOrderBook(MARKET))?.version, 7);
  t.is(asked - before, 1);
});

test("an answer that comes late does not lower what was shown", async (t) => {
  const { state, reads } = fakes(versions(7, 8));
  state.answer = versions(8, 7);
  await reads.getOrderBook(MARKET);
  await reads.getOrderBook(MARKET);
  state.answer = undefined;
  t.is((await reads.getOrderBook(MARKET))?.version, 8);
});
