import test from "ava";
import type { ExecutionResult } from "postgraphile/graphql";
import { makeEngine } from "../../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../../src/graphql/execution.ts";
import { conditionOf, orderBy } from "../../../src/website/operator/api/filters.ts";
import { camelCase, snakeCase } from "../../../src/website/operator/api/values.ts";
import { commands, withoutForm } from "../../../src/website/operator/commands/all.ts";
import type { Command } from "../../../src/website/operator/commands/command.ts";
import { mutationOf } from "../../../src/website/operator/commands/mutation.ts";
import { listed, views } from "../../../src/website/operator/views/all.ts";
import { PAGE_ROWS, rowsQuery, usersQuery } from "../../../src/website/operator/views/query.ts";
import { userDetails } from "../../../src/website/operator/views/user_details.ts";
import type { Filter, View } from "../../../src/website/operator/views/view.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { listFiles, readText } from "../../helpers/repository.ts";

/** The declarations of the pages of staff against the schema of the operators' GraphQL. */

const exchange = testExchange(test);
let engine: GraphqlEngine;

test.serial.before("read the schema", async () => {
  const pool = exchange.database.connectAs("exchange_operator");
  engine = await makeEngine({ pool, schema: "admin", mutations: true });
});

const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<any> => {
  const { data, errors }: ExecutionResult = await engine.execute(
    { query, variables },
    { timezone: "UTC" },
  );
  if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join("; "));
  return data;
};

const someId = "0193d0a0-0000-7000-8000-000000000000";

/** Something that fits a filter. */
function fit({ kind, options }: Filter): string {
  switch (kind) {
    case "uuid":
      return someId;
    case "choice":
      return options?.[0]?.[0] ?? "";
    case "key":
      return "7";
    case "flag":
    case "isSet":
    case "isSome":
      return "yes";
    case "from":
    case "until":
      return "2030-01-01T00:00";
    case "day":
      return "2030-01-01";
    case "equals":
    case "contains":
    case "keyPrefix":
    case "search":
      return "text";
  }
}

const declared: [name: string, view: View][] = Object.entries({ ...views, userDetails });

for (const [name, view] of declared) {
  test(`the list ${name} has fields, filters and orders of the schema`, async (t) => {
    const variables = { first: PAGE_ROWS, offset: 0, orderBy: [view.order] };
    const { rows } = await ask(rowsQuery(view, undefined), variables);
    t.true(Array.isArray(rows.nodes));
    // A row after the other by a cursor, as a file asks for them.
    if (rows.nodes.length > 0 && rows.pageInfo.endCursor !== null) {
      const after = { ...variables, first: 1, after: rows.pageInfo.endCursor };
      t.deepEqual((await ask(rowsQuery(view, undefined), after)).rows.nodes, []);
    }
    // The schema refuses each filter and each order that it does not have, by its name.
    for (const filter of view.filters) {
      t.truthy(conditionOf(view, { [filter.name]: fit(filter) }), filter.name);
    }
    const typed = Object.fromEntries(view.filters.map((filter) => [filter.name, fit(filter)]));
    const condition = conditionOf(view, typed);
    const orders = view.columns
      .filter(({ isSorted }) => isSorted === true)
      .flatMap(({ field }) => [orderBy(field, true), orderBy(field, false)]);
    await ask(rowsQuery(view, condition), { ...variables, filter: condition, orderBy: orders });
    t.is(new Set(view.columns.map(({ field }) => field)).size, view.columns.length);
    t.is(new Set(view.filters.map((filter) => filter.name)).size, view.filters.length);
  });
}

test("filters offer the values that the columns have", async (t) => {
  const enums: [view: View, field: string, type: string][] = [
    [views.orders, "status", "trading.order_status"],
    [views.orders, "orderType", "trading.order_type"],
    [views.conversions, "kind", "trading.conversion_kind"],
    [views.markets, "status", "catalog.market_status"],
    [views.resolutions, "outcome", "catalog.outcome"],
    [views.closedFigures, "accountKind", "ledger.account_kind"],
  ];
  for (const [view, field, type] of enums) {
    const { rows } = await exchange.database.pool.query<{ value: string }>(
      `select unnest(enum_range(null::${type}))::text as value`,
    );
    const options = view.filters.find((filter) => filter.field === field)?.options ?? [];
    t.deepEqual(
      [...new Set(options.flatMap(([value]) => value.split(",")))].sort(),
      rows.map(({ value }) => value).sort(),
      `${view.title}: ${field}`,
    );
  }
});

test("users are found by their handles and addresses", async (t) => {
  const userId = await exchange.makeTrader();
  const { users } = await ask(
    "query User($id: UUID) { users: allUsers(filter: { userId: { equalTo: $id } }) { nodes { userId handle email } } }",
    { id: userId },
  );
  const [user] = users.nodes;
  for (const name of [user.handle, user.email]) {
    const found = await ask(usersQuery, { first: 500, names: [name, "nobody"] });
    t.deepEqual(found.users.nodes, [user]);
  }
});

test("the question for a book as it was fits the schema", async (t) => {
  const source = readText("src/website/operator/components/book_as_of.tsx");
  t.regex(source, /bookAsOf\(marketId: \$marketId, at: \$at, first: 198\)/);
  const { book } = await ask(
    `query BookAsOf($marketId: UUID!, $at: Datetime!) {
      book: bookAsOf(marketId: $marketId, at: $at, first: 198) {
        nodes { side yesPriceCents quantity orderCount }
      }
    }`,
    { marketId: await exchange.makeMarket(), at: new Date().toISOString() },
  );
  t.deepEqual(book.nodes, []);
});

interface Declared {
  command: string;
  role: string | null;
  arguments: string[];
  needed: string[];
  returns_nothing: boolean;
}

const all: Command[] = Object.values(commands);

test("forms have the arguments, the roles and the results of the functions", async (t) => {
  const { rows } = await exchange.database.pool.query<Declared>(`
    select c.command, c.role, coalesce(p.proargnames[:p.pronargs], '{}') as arguments,
      coalesce(p.proargnames[:p.pronargs - p.pronargdefaults], '{}') as needed,
      p.prorettype = 'void'::regtype as returns_nothing
    from admin.commands as c
    join pg_catalog.pg_proc as p
      on p.proname = c.command and p.pronamespace = 'admin'::regnamespace`);
  const functions = new Map(rows.map((row) => [row.command, row]));
  for (const { name, role, fields, returns } of all) {
    const known = functions.get(name);
    t.truthy(known, name);
    const given = fields
      .flatMap(({ argument, emptied = {} }) => [argument, ...Object.keys(emptied)])
      .map(snakeCase);
    t.deepEqual(
      given.filter((argument) => !known!.arguments.includes(argument)),
      [],
      `${name} has no such arguments`,
    );
    const needed = fields
      .filter(({ isRequired, isNullable, kind }) =>
        [isRequired, isNullable, kind === "flag"].includes(true),
      )
      .map(({ argument }) => snakeCase(argument));
    t.deepEqual(
      known!.needed.filter((argument) => !needed.includes(argument)),
      [],
      `${name} needs these arguments`,
    );
    t.is(role, known!.role as typeof role, name);
    t.is(returns === "nothing", known!.returns_nothing, name);
  }
  t.deepEqual(
    [...functions.keys()].sort(),
    [...all.map(({ name }) => name), ...Object.keys(withoutForm)].sort(),
  );
});

test("the mutations of forms fit the schema", async (t) => {
  const { __schema: schema } = await ask("{ __schema { types { name inputFields { name } } } }");
  const inputs = new Map<string, string[]>(
    schema.types.map((type: any) => [
      type.name,
      (type.inputFields ?? []).map((field: { name: string }) => field.name),
    ]),
  );
  for (const command of all) {
    const field = camelCase(command.name);
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
    const names = inputs.get(type);
    t.truthy(names, type);
    for (const { argument } of command.fields)
      t.true(names!.includes(argument), `${field}.${argument}`);
    // A mutation with a variable of another shape is refused by the schema before it runs.
    const { errors } = await engine.execute(
      { query: mutationOf(command), variables: { input: { nothing: 1 } } },
      { timezone: "UTC" },
    );
    t.regex(errors?.[0]?.message ?? "", /nothing/, command.name);
  }
});

test("every command has a form on a page, and every list a page", (t) => {
  const sources = listFiles("src/website/operator")
    .filter((path) => path.endsWith(".tsx"))
    .map(readText)
    .join("\n");
  const shown = (names: string[], object: string) =>
    names.filter((name) => !new RegExp(`\\b${object}\\.${name}\\b`).test(sources));
  t.deepEqual(shown(Object.keys(commands), "commands"), []);
  const withPage = new Set<View>(Object.values(listed));
  const others = Object.entries(views).filter(([, view]) => !withPage.has(view));
  t.deepEqual(
    shown(
      others.map(([name]) => name),
      "views",
    ),
    [],
  );
});
