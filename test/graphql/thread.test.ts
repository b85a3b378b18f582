import test from "ava";
import type { Logger } from "pino";
import type { GraphqlEndpoint } from "../../src/graphql/endpoint.ts";
import { startThread } from "../../src/graphql/thread.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { until } from "../helpers/until.ts";
import { offerOnly } from "../helpers/database/offer_only.ts";

/** GraphQL on a thread of its own: the same answers, and an end that is no end of the process. */

const database = testDatabase(test);
const lines: string[] = [];
const note = (_fields: object, line: string) => lines.push(line);
const logger = { level: "silent", error: note, warn: note } as unknown as Logger;
const query = (text: string) => ({ credential: "", isMutation: false, request: { query: text } });

const analysts = () => ({ role: "analyst", connectionString: database.connectionString }) as const;
/** Of analysts. */
let thread: GraphqlEndpoint;

test.serial.before("offer little, and a function that waits", async () => {
  const { pool } = database;
  const [views, functions] = [["categories"], ["create_category"]];
  await offerOnly(pool, { role: "exchange_operator", schema: "admin", views, functions });
  await pool.query(`
    create function analytics.wait_long() returns integer language plpgsql stable
    set lock_timeout = 0 as $$
    begin
      perform pg_advisory_xact_lock(4711);
      return 1;
    end $$`);
  const role = "exchange_analyst";
  await offerOnly(pool, { role, schema: "analytics", functions: ["wait_long"] });
});

const textOf = (json: string | Uint8Array) => Buffer.from(json).toString();

/** The calls that wait for what `whileLocked` holds. */
async function waiting(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int as count from ${OWN_LOCKS} where objid = 4711 and not granted`,
  );
  return rows[0].count;
}

async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
  return await database.withRollback(async (client) => {
    await client.query("select pg_advisory_xact_lock(4711)");
    return await work();
  });
}

test.serial("a thread answers, by the key of the caller, and says what is wrong", async (t) => {
  const { connectionString } = database;
  const operators = startThread({ role: "operator", connectionString }, logger);
  const { rows } = await database.pool.query(
    "select encode(sha256(convert_to(admin.create_staff_key('Otto', 'operator'), 'utf8')), 'hex') as key",
  );
  const { key } = rows[0];
  const ask = async (text: string, variables?: Record<string, unknown>): Promise<unknown[]> => {
    const answer = await operators.answer({
      ...{ credential: key, isMutation: text.startsWith("mutation") },
      request: { query: text, ...(variables && { variables }) },
    });
    if (!("json" in answer)) throw new Error(answer.rejection);
    const { data, errors = [] } = JSON.parse(textOf(answer.json));
    return [answer.status, data, ...errors.map(({ message }: Error) => message)];
  };
  const make =
    "mutation ($a: String!) { createCategory(input: { slug: $a, name: $a }) { result } }";
  t.like(await ask(make, { a: "new" }), [200, { createCategory: { result: "new" } }]);
  t.deepEqual(await ask("{ allCategories { nodes { name } } }"), [
    200,
    { allCategories: { nodes: [{ name: "new" }] } },
  ]);
  t.deepEqual(await ask('{ __type(name: "Category") { name } }'), [
    200,
    { __type: { name: "Category" } },
  ]);
  const unknown = await ask("{ none }");
  t.deepEqual(unknown, [400, undefined, 'Cannot query field "none" on type "Query".']);
  await operators.close();
  t.deepEqual(lines, []);
});

test.serial(
  "calls run at the same time; a late one ends the thread, and another begins",
  async (t) => {
    thread = startThread(analysts(), logger, 8000);
    await thread.prepare();
    const json = new TextEncoder().encode('{"data":{"waitLong":1}}');
    const one = { status: 200, json, codes: [] };
    const both = await whileLocked(async () => {
      const calls = [query("{ waitLong }"), query("{ waitLong }")].map((call) =>
        thread.answer(call),
      );
      await until("both wait in the database", async () => (await waiting()) === 2);
      return { calls };
    });
    t.deepEqual(await Promise.all(both.calls), [one, one]);

    await whileLocked(async () => {
      const late = [query("{ waitLong }"), { ...query("{ waitLong }"), isMutation: true }];
      const answers = await Promise.all(late.map((call) => thread.answer(call)));
      t.deepEqual(answers, [{ rejection: "CONFLICT_RETRY" }, { rejection: "OUTCOME_UNKNOWN" }]);
      await until("its statements have ended", async () => (await waiting()) === 0);
    });
    t.deepEqual(
      new Set(lines.splice(0)),
      new Set(["the thread of GraphQL ended, and another begins"]),
    );
    await thread.prepare();
    t.deepEqual(await thread.answer(query("{ waitLong }")), one);
    t.deepEqual(lines, []);
  },
);

test.serial("a thread that is closed does not wait for what it is doing", async (t) => {
  await whileLocked(async () => {
    const answer = thread.answer(query("{ waitLong }"));
    await until("it waits in the database", async () => (await waiting()) === 1);
    await thread.close();
    t.deepEqual(await answer, { rejection: "CONFLICT_RETRY" });
    await until("its statement has ended", async () => (await waiting()) === 0);
  });
  t.deepEqual(lines, []);
});

test.serial("a thread whose login is wrong answers that it is not available", async (t) => {
  const connectionString = database.connectionString.replace(/\/[^/?]+(\?|$)/, "/none$1");
  const lost = startThread({ role: "analyst", connectionString }, logger);
  await lost.prepare();
  t.deepEqual(await lost.answer(query("{ a: __typename }")), { rejection: "UNAVAILABLE" });
  await lost.close();
});
