import type { Pool } from "pg";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { jsonPgSmartTags } from "postgraphile/utils";
import { ordersForPages } from "./page_orders.ts";
import { filtersAndGroups } from "./plugins.ts";
import { relationsOf } from "./relations.ts";

export interface SchemaOptions {
  /** Acts as a role that may use the schema. */
  pool: Pool;
  schema: "analytics" | "admin";
  /** Whether functions are offered as mutations. */
  mutations: boolean;
}

/** How many of the last queries are remembered, with their plans, which have up to 3 MB each. */
export const REMEMBERED_QUERIES = 20;
/** Of one query: `@skip` and `@include` make others. Grafast needs two at least. */
const PLANS_OF_QUERY = 2;
/**
 * The dearest query that the limits allow takes a second to plan where the processor is free. One that
 * was not planned in time is refused for a minute.
 */
const PLANNING_TIMEOUT_MS = 10_000;

const unusedPlugins = [
  // Reads in a command's payload would be within the limits of commands.
  "MutationPayloadQueryPlugin",
  // The root within the root.
  "QueryQueryPlugin",
  // Rows by global ids: a field of any type is planned for each of them.
  "NodePlugin",
  "NodeAccessorPlugin",
  "NodeIdCodecBase64JSONPlugin",
  "NodeIdCodecPipeStringPlugin",
  "RegisterQueryNodePlugin",
  "AddNodeInterfaceToSuitableTypesPlugin",
  "PgTableNodePlugin",
  "PgNodeIdAttributesPlugin",
];

/** Reads the schema of the database. */
export async function readGraphqlSchema({ pool, schema, mutations }: SchemaOptions): Promise<{
  graphqlSchema: GraphQLSchema;
  resolvedPreset: GraphileConfig.ResolvedPreset;
}> {
  const tags = relationsOf(schema, await listViews(pool, schema));
  const { schema: graphqlSchema, resolvedPreset } = await makeSchema({
    extends: [PostGraphileAmberPreset, filtersAndGroups],
    plugins: [jsonPgSmartTags({ version: 1, config: { class: tags } }), ordersForPages],
    disablePlugins: [...unusedPlugins, ...(mutations ? [] : ["MutationPlugin"])],
    pgServices: [makePgService({ pool, schemas: [schema], pgSettings: settingsOf })],
    grafast: { timeouts: { planning: PLANNING_TIMEOUT_MS } },
  });
  Object.assign(graphqlSchema.extensions, {
    grafast: {
      ...graphqlSchema.extensions.grafast,
      operationsCacheMaxLength: REMEMBERED_QUERIES,
      operationOperationPlansCacheMaxLength: PLANS_OF_QUERY,
    },
  });
  return { graphqlSchema, resolvedPreset };
}

/** The settings given to `execute`, for PostGraphile. */
function settingsOf(context: object): Record<string, string> {
  return (context as { settings?: Record<string, string> }).settings ?? {};
}

async function listViews(pool: Pool, schema: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name
     from pg_catalog.pg_class as c
     where c.relnamespace = to_regnamespace($1)
       and c.relkind = 'v'
       and has_table_privilege(c.oid, 'select')`,
    [schema],
  );
  return new Set(rows.map(({ name }) => name));
}
