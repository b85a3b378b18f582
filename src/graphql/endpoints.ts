import type { Logger } from "pino";
import type { ReadStandbys } from "../config.ts";
import type { StaffRole } from "../database/calls.ts";
import { makePool } from "../database/pools.ts";
import { openReadStandbys, timeLimits } from "../database/server_pools.ts";
import { hasCode } from "../has_code.ts";
import { createEndpoint, noCredential } from "./endpoint.ts";
import type { GraphqlEndpoint } from "./endpoint.ts";
import { startThread } from "./thread.ts";

/** The endpoints of a server: GraphQL for those whose login is given. */
export interface GraphqlEndpoints {
  analysts?: GraphqlEndpoint | undefined;
  operators?: GraphqlEndpoint | undefined;
}

export interface GraphqlEndpointsOptions {
  /** A login that is or may become exchange_analyst. */
  analystConnectionString?: string | undefined;
  /** A login that is or may become exchange_operator. */
  operatorConnectionString?: string | undefined;
  /** They answer analysts, if their login may become exchange_analyst. */
  readStandbys?: ReadStandbys | undefined;
  logger: Logger;
}

/** A standby that has not answered an analyst after this time, which no statement may take, is left. */
const queryTimeoutMs = 12_000;

/** Analysts and operators are few, and get a few connections each. */
const POOL_SIZE = 4;
/** Of those of operators. As many are left for queries, of which two run at a time, each on one. */
const FOR_COMMANDS = 2;

/** Makes the endpoints, each on a thread of its own. */
export function makeGraphqlEndpoints(options: GraphqlEndpointsOptions): GraphqlEndpoints {
  const { logger, analystConnectionString, operatorConnectionString, readStandbys } = options;
  const make = (role: StaffRole, connectionString: string | undefined) => {
    if (connectionString === undefined) return undefined;
    return startThread({ role, connectionString, readStandbys }, logger);
  };
  return {
    analysts: make("analyst", analystConnectionString),
    operators: make("operator", operatorConnectionString),
  };
}

export interface OpenEndpointOptions {
  role: StaffRole;
  connectionString: string;
  /** They answer analysts. */
  readStandbys?: ReadStandbys | undefined;
  logger: Logger;
}

/** Opens an endpoint on pools of its own. */
export function openEndpoint(options: OpenEndpointOptions): GraphqlEndpoint {
  const { role, connectionString, readStandbys, logger } = options;
  const sessions = {
    role: `exchange_${role}`,
    applicationName: `pgmarkets graphql ${role}`,
    max: POOL_SIZE,
    logger,
    // Of a thread that ended, no statement goes on.
    settings: { client_connection_check_interval: "1s", ...(role === "operator" && noCredential) },
  } as const;
  const makeOwn = (max: number) => makePool({ ...timeLimits, connectionString, ...sessions, max });
  const commands = role === "operator" ? makeOwn(FOR_COMMANDS) : undefined;
  const pool = makeOwn(commands === undefined ? POOL_SIZE : POOL_SIZE - FOR_COMMANDS);
  const given = role === "analyst" ? readStandbys : undefined;
  const standbys = openReadStandbys({ given, primary: pool, queryTimeoutMs, ...sessions });
  return createEndpoint({ role, logger, pool, commands, standbys });
}

/** Reads the schemas, one after the other: each keeps a processor busy for a while. */
export async function prepareEndpoints({ analysts, operators }: GraphqlEndpoints): Promise<void> {
  await analysts?.prepare();
  await operators?.prepare();
}

/** Closes the endpoints and their pools. */
export async function closeEndpoints({ analysts, operators }: GraphqlEndpoints): Promise<void> {
  await Promise.all([analysts?.close(), operators?.close()]);
}

/** The login of the whole service if it may also serve GraphQL for this role, else undefined. */
export async function loginForGraphql(
  connectionString: string,
  role: StaffRole,
  logger: Logger,
): Promise<string | undefined> {
  const pool = makePool({ connectionString, role: `exchange_${role}`, max: 1 });
  try {
    await pool.query("select");
    return connectionString;
  } catch (error) {
    if (!hasCode(error, "42501", "22023")) return connectionString;
    const because = (error as Error).message;
    logger.info({ because }, `no GraphQL for ${role}s: set ${role.toUpperCase()}_DATABASE_URL`);
    return undefined;
  } finally {
    await pool.end();
  }
}
