import test from "ava";
import { makeEngine } from "../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../src/graphql/execution.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";
import { offerOnly } from "../helpers/database/offer_only.ts";

/** All statements of a request share its time: the one under way at its end is cancelled. */

const database = testDatabase(test);
let engine: GraphqlEngine;

test.serial.before("make an engine over functions that wait for a lock", async () => {
  await database.pool.query(`
    create function admin.wait_long(i integer) returns integer language plpgsql stable as $$
    begin
      perform pg_advisory_xact_lock(4711);
      return i;
    end $$;
    create function admin.change_long(i integer) returns integer language plpgsql as $$
    begin
      perform admin.create_category('slow-' || i, 'Slow ' || i);
      perform pg_advisory_xact_lock(4711);
      return i;
    end $$;`);
  const functions = ["wait_long", "change_long", "create_category"];
  await offerOnly(database.pool, { role: "exchange_operator", schema: "admin", functions });
  engine = await makeEngine({
    ...{ schema: "admin", mutations: true, requestTimeoutMs: 300 },
    pool: database.connectAs("exchange_operator"),
  });
  // The first one loads what later ones find: on a busy machine that may take all of its time.
  await engine.execute({ query: "{ waitLong(i: 0) }" }, { timezone: "UTC" });
});

/** How a request ends whose statements wait for a lock longer than it may take. */
async function askInVain(query: string): Promise<{ messages: string[]; active: number }> {
  return await database.withRollback(async (client) => {
    await client.query("select pg_advisory_lock(4711)");
    try {
      const settings = { statement_timeout: "60000", timezone: "UTC" };
      const { errors } = await engine.execute({ query }, settings);
      const { rows } = await client.query(`
        select count(*)::int as active from ${OWN_LOCKS}
        where locktype = 'advisory' and objid = 4711 and not granted`);
      const messages = (errors ?? []).map(
        ({ message, originalError }) => originalError?.message ?? message,
      );
      return { messages, active: rows[0].active };
    } finally {
      await client.query("select pg_advisory_unlock(4711)");
    }
  });
}

const cancelled = "canceling statement due to statement timeout";
const over = "The query took too long";

test.serial("a query of many statements ends in its time, and so does each of them", async (t) => {
  const parts = ["a: waitLong(i: 1)", "b: waitLong(i: 2)", "c: waitLong(i: 3)"];
  const { messages, active } = await askInVain(`{ ${parts.join(" ")} }`);
  t.deepEqual(messages, [cancelled, over, over]);
  t.is(active, 0);
  const { data } = await engine.execute({ query: `{ ${parts.join(" ")} }` }, { timezone: "UTC" });
  t.deepEqual({ ...data }, { a: 1, b: 2, c: 3 });
});

test.serial("a mutation that is cancelled, and those behind it, have no effect", async (t) => {
  const parts = [1, 2].map((i) => `a${i}: changeLong(input: { i: ${i} }) { result }`);
  const { messages, active } = await askInVain(`mutation { ${parts.join(" ")} }`);
  t.deepEqual(messages, [cancelled, over]);
  t.is(active, 0);
  const { rows } = await database.pool.query("select count(*)::int from catalog.categories");
  t.deepEqual(rows, [{ count: 0 }]);
});
