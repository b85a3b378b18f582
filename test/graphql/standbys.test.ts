import test from "ava";
import type { Pool } from "pg";
import type { Standbys } from "../../src/database/standbys.ts";
import { makeEngine } from "../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../src/graphql/execution.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { offerOnly } from "../helpers/database/offer_only.ts";

/** Who answers analysts. The standby is another database, without the category. */

const primary = testDatabase(test);
const standby = testDatabase(test);
const state: { pool: Pool | undefined; failures: unknown[] } = { pool: undefined, failures: [] };
let engine: GraphqlEngine;

/** Gives the primary a category, and an engine. */
async function makeEngineOnBoth(): Promise<void> {
  await primary.pool.query("select admin.create_category(slug => 'sport', name => 'Sport')");
  const standbys = {
    find: async () =>
      state.pool && { pool: state.pool, fail: (error: unknown) => state.failures.push(error) },
  } as unknown as Standbys;
  const role = "exchange_analyst";
  await offerOnly(primary.pool, { role, schema: "analytics", views: ["categories"] });
  const pool = primary.connectAs(role);
  engine = await makeEngine({ pool, standbys, schema: "analytics", mutations: false });
}

async function countCategories(): Promise<unknown> {
  const query = "{ allCategories { totalCount } }";
  const settings = { timezone: "UTC", transaction_read_only: "on" };
  const { data, errors } = await engine.execute({ query }, settings);
  if (errors?.[0] !== undefined) throw errors[0];
  return (data as { allCategories: { totalCount: number } }).allCategories.totalCount;
}

test.serial("a fit standby answers, and the primary where there is none", async (t) => {
  await makeEngineOnBoth();
  t.is(await countCategories(), 1);
  state.pool = standby.connectAs("exchange_analyst");
  t.is(await countCategories(), 0);
});

test.serial("the primary answers what a standby does not, and the standby is left", async (t) => {
  const lost = new Error("Connection terminated unexpectedly");
  state.pool = { connect: () => Promise.reject(lost) } as unknown as Pool;
  t.is(await countCategories(), 1);
  t.deepEqual(state.failures, [lost]);
});

test.serial("the primary answers what a standby refuses, which is asked again", async (t) => {
  await standby.pool.query("revoke select on analytics.categories from exchange_analyst");
  state.pool = standby.connectAs("exchange_analyst");
  state.failures = [];
  t.is(await countCategories(), 1);
  t.deepEqual(state.failures, []);
});
