import test from "ava";
import { makeEngine } from "../../src/graphql/execution.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

/** What PostGraphile makes of the two schemas of the database. */

const database = testDatabase(test);

interface Described {
  kind: string;
  name: string;
  fields: { name: string }[] | null;
}

for (const schema of ["analytics", "admin"] as const) {
  // A field of an abstract type is planned once for each type that it may have.
  test(`${schema}: each field has one type, and no row is found by a global id`, async (t) => {
    const mutations = schema === "admin";
    const pool = database.connectAs(mutations ? "exchange_operator" : "exchange_analyst");
    const engine = await makeEngine({ pool, schema, mutations });
    const query = "{ __schema { types { kind name fields { name } } } }";
    const { data, errors } = await engine.execute({ query }, { timezone: "UTC" });
    t.is(errors, undefined);
    const { types } = (data as unknown as { __schema: { types: Described[] } }).__schema;
    const isAbstract = ({ kind }: Described) => kind === "INTERFACE" || kind === "UNION";
    t.deepEqual(types.filter(isAbstract), []);
    t.false(types.some(({ name }) => name === "ID"));
    const root = types.find(({ name }) => name === "Query")?.fields?.map(({ name }) => name) ?? [];
    t.true(root.includes("allMarkets"));
    // The root in the root would be a way around limits of its fields.
    t.false(root.includes("query"));
  });
}
