import pg from "pg";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { StaffRole } from "../database/calls.ts";
import type { Standbys } from "../database/standbys.ts";
import { answerOf } from "./answers.ts";
import type { GraphqlAnswer } from "./answers.ts";
import type { GraphqlEngine, GraphqlRequest } from "./execution.ts";

/** GraphQL for one kind of staff. */
export interface GraphqlEndpoint {
  /** Who may use it. */
  role: StaffRole;
  answer: (call: GraphqlCall) => Promise<GraphqlAnswer>;
  /** Does what the first query would otherwise wait for. Never fails. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

/** A request, and who sends it. */
export interface GraphqlCall {
  /** The SHA-256 of a key or a session of staff, in hexadecimal. */
  credential: string;
  isMutation: boolean;
  request: GraphqlRequest;
}

export interface EndpointOptions {
  role: StaffRole;
  /** Acts as the role's own; closed with the endpoint. */
  pool: Pool;
  /** Where mutations run, if not there; closed with the endpoint. */
  commands?: Pool | undefined;
  /** Where queries go while one is fit; closed with the endpoint. */
  standbys?: Standbys | undefined;
  logger: Logger;
  /** How long one statement may take. */
  statementTimeoutMs?: number;
}

/** After a schema could not be read, the next attempt comes no sooner than this. */
const RETRY_AFTER_MS = 5000;
/** Analysts can use SQL for longer queries. Operators also wait for locks of markets and users. */
const STATEMENT_TIMEOUT_MS = { analyst: 10_000, operator: 25_000 };

/** Sessions of operators' pools: a command without the credential of its caller is refused. */
export const noCredential = { "exchange.credential": "none" };

/**
 * GraphQL over schema `analytics`, which only reads, or over schema `admin`, whose functions are
 * its mutations. The schema is read once, at the first use.
 */
export function createEndpoint(options: EndpointOptions): GraphqlEndpoint {
  const { role, pool, commands, standbys, logger } = options;
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS[role] } = options;
  const isOperator = role === "operator";
  let engine: Promise<GraphqlEngine> | undefined;

  function getEngine(): Promise<GraphqlEngine> {
    // Without it, Grafast writes a warning to standard error when it is first imported.
    process.env.GRAPHILE_ENV ??= "production";
    engine ??= import("./execution.ts")
      .then(({ makeEngine }) =>
        makeEngine({
          ...{ pool, commands, standbys, mutations: isOperator },
          schema: isOperator ? "admin" : "analytics",
        }),
      )
      .catch((error: unknown) => {
        logger.warn({ error, role }, "the schema for GraphQL can't be read");
        setTimeout(() => (engine = undefined), RETRY_AFTER_MS).unref();
        throw error;
      });
    return engine;
  }

  async function execute(
    engine: GraphqlEngine,
    { credential, isMutation, request }: GraphqlCall,
  ): Promise<GraphqlAnswer> {
    const { showError } = await import("./shown_errors.ts");
    const { data, errors } = await engine.execute(request, {
      statement_timeout: String(statementTimeoutMs),
      timezone: "UTC",
      ...(isOperator ? { "exchange.credential": credential } : { transaction_read_only: "on" }),
    });
    const shownErrors = errors?.map((error) => {
      const { shown, unforeseen } = showError(error, isMutation);
      if (unforeseen) logger.error({ error: error.originalError, role }, "a query failed");
      return shown;
    });
    return answerOf({
      ...(data !== undefined && { data }),
      ...(shownErrors && { errors: shownErrors }),
    });
  }

  return {
    role,
    answer: async (call) => {
      let engine: GraphqlEngine;
      try {
        engine = await getEngine();
      } catch (error) {
        return { rejection: isTemporary(error) ? "CONFLICT_RETRY" : "UNAVAILABLE" };
      }
      return await execute(engine, call);
    },
    prepare: async () => {
      await getEngine().catch(() => undefined);
    },
    close: async () => {
      await engine?.catch(() => undefined);
      await standbys?.close();
      await commands?.end();
      await pool.end();
    },
  };
}

/** Whether another attempt to read the schema may help: the database is away, or has a conflict. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || /^(08|40|53[03]|55|57P)/.test(error.code ?? "");
}
