import test from "ava";
import { buildClientSchema, buildSchema, getIntrospectionQuery } from "postgraphile/graphql";
import type { IntrospectionOptions, IntrospectionQuery } from "postgraphile/graphql";
import { makeEngine } from "../../src/graphql/execution.ts";
import { checkQuery } from "../../src/graphql/limits.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

/** Queries about the schema: its whole description, and never more. */

const database = testDatabase(test);

const schema = buildSchema(`
  type Query { things(first: Int): [Thing!]! }
  type Thing { name: String }
`);

function messageOf(query: string): string | undefined {
  const checked = checkQuery(schema, query);
  return "errors" in checked ? (checked.errors[0]?.message ?? "") : undefined;
}

const many = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(" ");
const comesAgain = (name: string) =>
  `A selection in __schema or __type may have each field once, "${name}" comes again`;

test("no alias, copy or fragment repeats a part of the schema", (t) => {
  const args = "fields { args { name type { name } } name }";
  const repeats = {
    aliases: `{ __schema { types { ${many(200, (i) => `f${i}: ${args}`)} } } }`,
    "one alias": "{ __schema { types { name also: name } } }",
    copies: `{ __schema { ${many(170, () => "types { fields { name } }")} } }`,
    "parts of one answer": "{ __schema { types { name } types { kind } } }",
    "a fragment beside a field":
      "{ __schema { ...f types { name } } } fragment f on __Schema { types { kind } }",
    "a fragment twice": "{ __schema { types { ...f ...f } } } fragment f on __Type { name }",
    "two fragments": `{ __schema { types { ...f ...g } } }
      fragment f on __Type { name }
      fragment g on __Type { ... { name } }`,
    conditions: `query ($a: Boolean!) {
      __schema { types { name @include(if: $a) name @skip(if: $a) } }
    }`,
    "one type": '{ __type(name: "Thing") { fields { name } also: fields { name } } }',
    "by a fragment of the query":
      "{ ...f } fragment f on Query { __schema { types { name name } } }",
    "an operation that is not run":
      "query a { __typename } query b { __schema { types { name name } } }",
    "an unused fragment": "{ __typename } fragment f on Query { __schema { types { name name } } }",
    "where there is no __schema": "{ things { __schema { types { name name } } } }",
  };
  for (const [name, query] of Object.entries(repeats)) {
    t.regex(messageOf(query) ?? "", /may have each field once, "\w+" comes again$/, name);
  }
  t.is(messageOf(repeats.copies), comesAgain("types"));
  t.is(messageOf(repeats["one alias"]), comesAgain("name"));
});

test("a query asks for the schema once, and then for nothing else", (t) => {
  const once = "A query may ask for __schema once, and for each __type under a name of its own";
  t.is(messageOf("{ __schema { types { name } } also: __schema { types { name } } }"), once);
  t.is(messageOf("{ ...f ...f } fragment f on Query { __schema { types { name } } }"), once);
  t.is(messageOf('{ __type(name: "Thing") { name } __type(name: "Thing") { kind } }'), once);
  const nothingElse = "A query with __schema or __type may ask for nothing else";
  t.is(messageOf("{ __schema { types { name } } things { name } }"), nothingElse);
  t.is(
    messageOf('{ ...f things { name } } fragment f on Query { __type(name: "Thing") { name } }'),
    nothingElse,
  );
  const types = many(2, (i) => `t${i}: __type(name: "Thing") { name fields { name } }`);
  t.is(messageOf(`{ __typename ${types} __schema { queryType { name } } }`), undefined);
  t.is(messageOf("{ a: things { name also: name } b: things { name name } }"), undefined);
});

/** All that a tool may ask for by the function of GraphQL's own library. */
const variants: IntrospectionOptions[] = [
  {},
  { descriptions: false },
  {
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    experimentalDirectiveDeprecation: false,
    oneOf: true,
  },
];

for (const name of ["analytics", "admin"] as const) {
  test(`${name}: the tools of GraphQL get the whole schema, in each of their variants`, async (t) => {
    const mutations = name === "admin";
    const pool = database.connectAs(mutations ? "exchange_operator" : "exchange_analyst");
    const engine = await makeEngine({ pool, schema: name, mutations });
    for (const options of variants) {
      const query = getIntrospectionQuery(options);
      const { data, errors } = await engine.execute({ query }, {});
      t.is(errors, undefined, JSON.stringify(options));
      const described = buildClientSchema(data as unknown as IntrospectionQuery);
      t.truthy(described.getQueryType()?.getFields().allMarkets);
      t.is(described.getMutationType()?.getFields().deposit !== undefined, mutations);
    }
  });
}
