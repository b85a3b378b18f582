import pg from "pg";
import type { Pool } from "pg";
import type { WithPgClient } from "postgraphile/@dataplan/pg";
import type { ExecutionResult, GraphQLError } from "postgraphile/graphql";
import type { Standby, Standbys } from "../database/standbys.ts";
import { hasCode } from "../has_code.ts";
import { rememberLast } from "./remember.ts";
import {
  CONFLICTS,
  connectionFailure,
  READ_ONLY,
  showError,
  TEMPORARY_FILES,
} from "./shown_errors.ts";

export interface EngineOptions {
  /** Acts as a role that may use the schema. */
  pool: Pool;
  /** Where queries go while one is fit; then sessions there act as that role, too. */
  standbys?: Standbys | undefined;
  schema: "analytics" | "admin";
  /** Whether functions are offered as mutations. */
  mutations: boolean;
  /** Where mutations run, so that none waits for queries. Without it, on the pool of queries. */
  commands?: Pool | undefined;
  /** How long all statements of a request may take together. */
  requestTimeoutMs?: number;
}

/** A request, as GraphQL over HTTP has it. */
export interface GraphqlRequest {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** Runs queries on one schema of the database. */
export interface GraphqlEngine {
  /**
   * Runs a query with these settings of PostgreSQL in its transactions. Without `data`, nothing was
   * run. Errors are not edited.
   */
  execute: (request: GraphqlRequest, settings: Record<string, string>) => Promise<ExecutionResult>;
}

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Reads the schema of the database and makes an engine. It imports PostGraphile only now, since that
 * takes longer than the rest of a start.
 */
export async function makeEngine({
  pool,
  standbys,
  schema,
  mutations,
  commands,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
}: EngineOptions): Promise<GraphqlEngine> {
  const [
    { makePgAdaptorWithPgClient },
    grafast,
    { readGraphqlSchema, REMEMBERED_QUERIES },
    limits,
    introspection,
    reads,
    { execute: executePlainly, getOperationAST, OperationTypeNode },
  ] = await Promise.all([
    import("postgraphile/adaptors/pg"),
    import("postgraphile/grafast"),
    import("./schema.ts"),
    import("./limits.ts"),
    import("./introspection.ts"),
    import("./bounded_reads.ts"),
    import("postgraphile/graphql"),
  ]);
  const { graphqlSchema, resolvedPreset } = await readGraphqlSchema({ pool, schema, mutations });
  const check = rememberLast(REMEMBERED_QUERIES, (query) =>
    limits.checkQuery(graphqlSchema, query),
  );

  async function execute(
    request: GraphqlRequest,
    settings: Record<string, string>,
  ): Promise<ExecutionResult> {
    const variableValues = request.variables ?? {};
    const result = check(request.query);
    if ("errors" in result) return result;
    const { document } = result;
    const { operationName } = request;
    const operation = getOperationAST(document, operationName);
    const isMutation = operation?.operation === OperationTypeNode.MUTATION;
    const errors =
      operation && limits.findExcess(graphqlSchema, document, operation, variableValues);
    if (errors && errors.length > 0) return { errors };
    if (operation && introspection.asksForSchema(document, operation)) {
      // Grafast would keep the answer with its plan.
      return await executePlainly({
        schema: graphqlSchema,
        document,
        operationName,
        variableValues,
      });
    }
    const end = performance.now() + requestTimeoutMs;
    const run = async (standby?: Standby): Promise<ExecutionResult> => {
      const args = {
        schema: graphqlSchema,
        document,
        rootValue: null,
        contextValue: {},
        variableValues,
        operationName,
        resolvedPreset,
        requestContext: { settings } as object,
      };
      await grafast.hookArgs(args);
      const context = args.contextValue as { withPgClient: WithPgClient };
      const place = isMutation ? commands : standby?.pool;
      const access = (place && makePgAdaptorWithPgClient(place)) as WithPgClient | undefined;
      return await reads.withOneConnection(access ?? context.withPgClient, end, async (own) => {
        context.withPgClient = own;
        return (await grafast.execute(args)) as ExecutionResult;
      });
    };
    const standby = await standbys?.find();
    const answer = await run(standby);
    const failed = standby && answer.errors?.find(isOfStandby);
    if (failed === undefined) return answer;
    if (!(failed.originalError instanceof pg.DatabaseError)) standby?.fail(failed.originalError);
    return await run();
  }

  return { execute };
}

/** SQLSTATEs of a standby: what it does not run, and reads that its replay cancels or locks out. */
const passesElsewhere = [READ_ONLY, TEMPORARY_FILES, ...CONFLICTS];

/** Whether the primary may answer what failed on a standby. */
function isOfStandby(error: GraphQLError): boolean {
  const { originalError: cause } = error;
  if (cause !== undefined && connectionFailure(cause) !== undefined) return true;
  return showError(error, false).unforeseen || hasCode(cause, ...passesElsewhere);
}
