import { queryObjects } from "node:v8";
import test from "ava";
import { OperationPlan } from "postgraphile/grafast";
import { getIntrospectionQuery, Source } from "postgraphile/graphql";
import { makeEngine } from "../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../src/graphql/execution.ts";
import { rememberLast } from "../../src/graphql/remember.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { offerOnly } from "../helpers/database/offer_only.ts";

/** What queries may leave in the memory of the process, and make there. */

const database = testDatabase(test);
let engine: GraphqlEngine;

test.serial.before("make the engine", async () => {
  const role = "exchange_analyst";
  await offerOnly(database.pool, { role, schema: "analytics", views: ["markets", "trades"] });
  const pool = database.connectAs(role, { max: 1 });
  engine = await makeEngine({ pool, schema: "analytics", mutations: false });
});

/** The objects of this class that are in use, after a collection of garbage. */
const count = (kind: typeof OperationPlan | typeof Source) =>
  queryObjects(kind, { format: "count" });

async function ask(query: string, variables: Record<string, unknown> = {}): Promise<void> {
  const { errors } = await engine.execute({ query, variables }, { timezone: "UTC" });
  if (errors !== undefined) throw errors[0]!;
}

test.serial("no answer about the schema is kept, and no plan for it", async (t) => {
  await ask(getIntrospectionQuery());
  await ask('{ __type(name: "Market") { fields { name } } }');
  t.is(count(OperationPlan), 0);
});

test.serial("of faults of the variables, the first five are looked for", async (t) => {
  const query =
    "query ($a: [Int!]!) { allTrades(filter: { quantity: { in: $a } }) { totalCount } }";
  const faults = async (count: number) => {
    const request = { query, variables: { a: Array<string>(count).fill("") } };
    return (await engine.execute(request, {})).errors?.map(({ message }) => message) ?? [];
  };
  t.is((await faults(5)).length, 5);
  const many = await faults(5000);
  t.is(many.length, 6);
  t.regex(many[0]!, /^Variable "\$a" got invalid value "" at "a\[0\]"/);
  t.regex(many[5]!, /error limit reached/);
});

test.serial("the last 20 queries are remembered, with their plans", async (t) => {
  const query = (i: number) => `query q${i} { allMarkets { nodes { title } } }`;
  for (let i = 0; i < 24; i++) await ask(query(i));
  t.is(count(OperationPlan), 20);
  t.is(count(Source), 20);
});

test("a text that comes again is among the last, and takes no place of another", (t) => {
  const made: string[] = [];
  const remember = rememberLast(3, (text) => {
    made.push(text);
    return `${text}!`;
  });
  const use = (texts: string) => {
    for (const text of texts.split(" ")) t.is(remember(text), `${text}!`);
    return made.splice(0);
  };
  t.deepEqual(use("a b c c c c"), ["a", "b", "c"]);
  t.deepEqual(use("c b a"), []);
  // Since c was used again, b goes for d, and is made anew.
  t.deepEqual(use("c d c a b"), ["d", "b"]);
});

test.serial("of one query, the last two plans for its variables are kept", async (t) => {
  const named = ["a", "b", "c", "d"];
  const fields = named.map((name) => `${name}: title @include(if: $${name})`).join(" ");
  const types = named.map((name) => `$${name}: Boolean!`).join(", ");
  for (let bits = 0; bits < 16; bits++) {
    await ask(
      `query (${types}) { allMarkets { nodes { key: title ${fields} } } }`,
      Object.fromEntries(named.map((name, i) => [name, ((bits >> i) & 1) === 1])),
    );
  }
  // Its first plan took the place of another query.
  t.is(count(OperationPlan), 20 + 1);
});
