import test from "ava";
import type { ExecutionContext } from "ava";
import { makeEngine } from "../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../src/graphql/execution.ts";
import { camelCase } from "../../src/website/operator/api/values.ts";
import { standInForViews } from "../helpers/database/stand_ins.ts";
import type { StandIn } from "../helpers/database/stand_ins.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { asManyOf, randomFrom } from "../helpers/random.ts";

/** Cursors lead to each row once, and in order, by every order of every collection. */

const database = testDatabase(test);
const { anyOf, between, shuffled } = randomFrom("pages");

const ROWS = 8;
/** As many walks take a step by one query. To plan it takes longer than to run it. */
const WALKS_AT_ONCE = 4;

type Order = string[];

interface Collection {
  field: string;
  /** The type of its orders, and their names. */
  orderBy: string;
  orders: string[];
}

interface Walk {
  order: Order;
  /** The keys of the rows that came. */
  rows: string[];
  cursor: string | null;
  goesOn: boolean;
}

async function ask(engine: GraphqlEngine, query: string, variables = {}): Promise<any> {
  const { data, errors } = await engine.execute({ query, variables }, { timezone: "UTC" });
  if (errors !== undefined) throw errors[0]!;
  return data;
}

/** The collections that can be ordered, by the types of their rows. */
async function collectionsOf(engine: GraphqlEngine): Promise<Map<string, Collection>> {
  const { root } = await ask(
    engine,
    `{ root: __type(name: "Query") { fields {
      name
      type { name }
      args { name type { ofType { ofType { name enumValues { name } } } } }
    } } }`,
  );
  return new Map(
    root.fields.flatMap(({ name: field, type, args }: any): [string, Collection][] => {
      const enumType = args.find(({ name }: any) => name === "orderBy")?.type.ofType.ofType;
      if (enumType === undefined) return [];
      const orders = enumType.enumValues.map(({ name }: any) => name);
      return [[type.name.replace(/Connection$/, ""), { field, orderBy: enumType.name, orders }]];
    }),
  );
}

/** The names that the type of a view's rows may have: `FeeRevenue`, `AuditEntry`, `Trade`. */
function typesOf(view: string): string[] {
  const singular = [view, view.replace(/ies$/, "y"), view.replace(/s$/, ""), view.slice(0, -2)];
  return singular.map((name) => camelCase(`_${name}`));
}

/** A step of several walks by one query. */
async function step(
  engine: GraphqlEngine,
  { field, orderBy }: Collection,
  { key, walks, size, back }: { key: string[]; walks: Walk[]; size: number; back: boolean },
): Promise<void> {
  const [count, cursor] = back ? ["last", "before"] : ["first", "after"];
  const [hasMore, end] = back
    ? (["hasPreviousPage", "startCursor"] as const)
    : (["hasNextPage", "endCursor"] as const);
  const declared = walks.map((_, i) => `$order${i}: [${orderBy}!], $cursor${i}: Cursor`);
  const fields = walks.map(
    (_, i) => `walk${i}: ${field}(${count}: $size, ${cursor}: $cursor${i}, orderBy: $order${i}) {
      nodes { ${key.map(camelCase).join(" ")} }
      pageInfo { ${hasMore} ${end} }
    }`,
  );
  const query = `query($size: Int!, ${declared.join(", ")}) { ${fields.join("\n")} }`;
  const variables = walks.flatMap((walk, i) => [
    [`order${i}`, walk.order],
    [`cursor${i}`, walk.cursor],
  ]);
  const answer = await ask(engine, query, { size, ...Object.fromEntries(variables) });
  for (const [i, walk] of walks.entries()) {
    if (!walk.goesOn) continue;
    const { nodes, pageInfo } = answer[`walk${i}`];
    const keys = nodes.map((node: any) => key.map((column) => node[camelCase(column)]).join());
    walk.rows = back ? [...keys, ...walk.rows] : [...walk.rows, ...keys];
    walk.goesOn = pageInfo[hasMore];
    walk.cursor = pageInfo[end];
  }
}

/** The ranks of each row's values among those of their columns, by its key. A null is the greatest. */
async function ranksOf(
  schema: string,
  { view, columns, key }: StandIn,
): Promise<Map<string, Record<string, number>>> {
  const texts = key.map((column) => `to_json(${column}) #>> '{}'`);
  const ranks = columns.map((column) => `dense_rank() over (order by ${column})::int as ${column}`);
  const { rows } = await database.pool.query(
    `select array[${texts.join(", ")}] as row_key, ${ranks.join(", ")} from ${schema}.${view}`,
  );
  return new Map(rows.map(({ row_key, ...ranks }) => [row_key.join(), ranks]));
}

/** The columns of an order, and whether they descend. */
function columnsOf(order: Order, key: string[]): [column: string, descends: boolean][] {
  return order
    .filter((name) => name !== "NATURAL")
    .flatMap((name) => {
      const column = name.replace(/_(ASC|DESC)$/, "").toLowerCase();
      const columns = column === "primary_key" ? key : [column];
      return columns.map((one): [string, boolean] => [one, name.endsWith("_DESC")]);
    });
}

async function walkAll(
  t: ExecutionContext,
  schema: "analytics" | "admin",
  role: "exchange_analyst" | "exchange_operator",
): Promise<void> {
  const standIns = await standInForViews(database.pool, schema, ROWS);
  const pool = database.connectAs(role, { max: WALKS_AT_ONCE });
  const engine = await makeEngine({ pool, schema, mutations: schema === "admin" });
  const collections = await collectionsOf(engine);
  t.is(collections.size, standIns.length);
  for (const standIn of standIns) {
    const { view, key } = standIn;
    const type = typesOf(view).find((name) => collections.has(name));
    const collection = collections.get(type ?? "");
    if (collection === undefined) throw new Error(`There is no collection of ${view}`);
    const ranks = await ranksOf(schema, standIn);

    function check({ order, rows, goesOn }: Walk, how: string): void {
      const about = `${collection!.field} by ${order.join(", ")}, ${how}`;
      t.false(goesOn, `${about}, ends`);
      t.deepEqual(rows.toSorted(), [...ranks.keys()].sort(), about);
      const compared = columnsOf(order, key);
      for (const [i, row] of rows.slice(1).entries()) {
        const [before, after] = [ranks.get(rows[i]!)!, ranks.get(row)!];
        const differing = compared.find(([column]) => before[column] !== after[column]);
        if (differing === undefined) continue;
        const [column, descends] = differing;
        t.is(before[column]! > after[column]!, descends, `${about}: ${before[column]}`);
      }
    }

    const { orders } = collection;
    const all: Order[] = orders.map((order) => [order]);
    // All queries have the same number of walks, so that they are planned once.
    do all.push([anyOf(orders), anyOf(orders)]);
    while (all.length % WALKS_AT_ONCE > 0);
    const mixed = shuffled(all);
    const batches = Array.from({ length: Math.ceil(all.length / WALKS_AT_ONCE) }, (_, i) =>
      mixed.slice(i * WALKS_AT_ONCE, (i + 1) * WALKS_AT_ONCE),
    ).flatMap((some) => [true, false].map((back) => ({ some, back })));
    for (const { some, back } of asManyOf(shuffled(batches))) {
      const size = between(2, 3);
      const walks = some.map((order): Walk => ({ order, rows: [], cursor: null, goesOn: true }));
      for (let pages = 0; pages < ROWS / size && walks.some(({ goesOn }) => goesOn); pages++) {
        await step(engine, collection, { key, walks, size, back });
      }
      for (const walk of walks) check(walk, `${size} ${back ? "backward" : "forward"}`);
    }
  }
}

test("pages of analysts by cursors", (t) => walkAll(t, "analytics", "exchange_analyst"));

test("pages of operators by cursors", (t) => walkAll(t, "admin", "exchange_operator"));
