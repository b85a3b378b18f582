import pg from "pg";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { ExecutionResult } from "postgraphile/graphql";
import type { StaffRole } from "../database/calls.ts";
import { plainProblem, ProblemError, refusal } from "../errors.ts";
import type { GraphqlEngine, GraphqlRequest } from "./engine.ts";

/** GraphQL for one kind of staff. */
export interface GraphqlEndpoint {
  /** Whose keys are accepted. */
  role: StaffRole;
  /** What the query of somebody with a key of this name comes to, errors fit to be shown. */
  execute: (keyName: string, request: GraphqlRequest) => Promise<ExecutionResult>;
  /** Prepares what the first query would have to wait for. Never fails. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

export interface EndpointOptions {
  role: StaffRole;
  /** Acts as the role's own; closed with the endpoint. */
  pool: Pool;
  logger: Logger;
  /** How long one statement may take. */
  statementTimeoutMs?: number;
}

/** After a schema could not be read, it is tried again no sooner than this. */
const RETRY_AFTER_MS = 5000;
/** Analysts who ask for more have SQL. Operators also wait for markets and users. */
const STATEMENT_TIMEOUT_MS = { analyst: 10_000, operator: 25_000 };

/**
 * GraphQL over schema `analytics`, which only reads, or over schema `admin`, whose functions are
 * its mutations. The schema is read once, when it is first wanted.
 */
export function createEndpoint(options: EndpointOptions): GraphqlEndpoint {
  const { role, pool, logger, statementTimeoutMs = STATEMENT_TIMEOUT_MS[role] } = options;
  const isOperator = role === "operator";
  let engine: Promise<GraphqlEngine> | undefined;

  function getEngine(): Promise<GraphqlEngine> {
    engine ??= import("./engine.ts")
      .then(({ makeEngine }) =>
        makeEngine({ pool, schema: isOperator ? "admin" : "analytics", mutations: isOperator }),
      )
      .catch((error: unknown) => {
        logger.warn({ error, role }, "there is no GraphQL");
        setTimeout(() => (engine = undefined), RETRY_AFTER_MS).unref();
        throw new ProblemError(
          isTemporary(error)
            ? refusal("CONFLICT_RETRY")
            : plainProblem(503, "GraphQL is not available: the log of the server says why"),
        );
      });
    return engine;
  }

  async function execute(keyName: string, request: GraphqlRequest): Promise<ExecutionResult> {
    const [{ execute: run }, { showError }] = await Promise.all([
      getEngine(),
      import("./errors.ts"),
    ]);
    const result = await run(request, {
      statement_timeout: String(statementTimeoutMs),
      timezone: "UTC",
      ...(isOperator ? { "exchange.operator": keyName } : { transaction_read_only: "on" }),
    });
    if (result.errors === undefined) return result;
    const errors = result.errors.map((error) => {
      const { shown, unforeseen } = showError(error);
      if (unforeseen) logger.error({ error: error.originalError, role }, "a query failed");
      return shown;
    });
    return { ...result, errors };
  }

  return {
    role,
    execute,
    prepare: async () => {
      await getEngine().catch(() => undefined);
    },
    close: async () => {
      await engine?.catch(() => undefined);
      await pool.end();
    },
  };
}

/** Whether trying again may help: nobody is there, or there is a conflict. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || /^(08|40|53[03]|55|57P)/.test(error.code ?? "");
}
