import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "./database/call.ts";
import { createCallLimiter } from "./database/call_limiter.ts";
import { commandLimits, connectionsOf, createUserTurns } from "./database/call_limits.ts";
import type { UserTurns } from "./database/call_limits.ts";
import { api } from "./database/calls.ts";
import type { ApiCalls } from "./database/calls.ts";
import { createOpenDoors, gaugeOpenDoors } from "./database/privileges.ts";
import type { OpenDoors } from "./database/privileges.ts";
import { createReadiness } from "./database/readiness.ts";
import type { Readiness } from "./database/readiness.ts";
import { asServerPools } from "./database/server_pools.ts";
import type { ServerPools } from "./database/server_pools.ts";
import type { GraphqlEndpoint } from "./graphql/endpoint.ts";
import { makeAccess } from "./http/access.ts";
import type { Access } from "./http/access.ts";
import { createAuthenticator } from "./http/authentication.ts";
import type { Authenticator } from "./http/authentication.ts";
import { makeSite } from "./http/own_origin.ts";
import type { Site } from "./http/own_origin.ts";
import { createRequestLimiter } from "./http/request_limiter.ts";
import { createMetrics } from "./metrics.ts";
import type { Metrics } from "./metrics.ts";
import { createOutboxRelay } from "./streams/outbox_relay.ts";
import type { OutboxRelay } from "./streams/outbox_relay.ts";
import { gaugeStreams } from "./streams/metrics.ts";
import { createStreams } from "./streams/streams.ts";
import type { Streams } from "./streams/streams.ts";
import { createOrderGatherer } from "./engine/order_gatherer.ts";
import type { OrderGatherer } from "./engine/order_gatherer.ts";

/** What the routes share in one process. */
export interface Services {
  /** The functions of the database, on the connections for reads. */
  reads: ApiCalls;
  /** Likewise, on the connections for commands. */
  commands: ApiCalls;
  /** For what one user has these two do, so that the others find connections. */
  turns: UserTurns;
  logger: Logger;
  metrics: Metrics;
  readiness: Readiness;
  openDoors: OpenDoors;
  authenticator: Authenticator;
  access: Access;
  site: Site;
  outboxRelay: OutboxRelay;
  orderGatherer: OrderGatherer;
  streams: Streams;
  graphql: GraphqlEndpoints;
}

/** GraphQL for those who are served it. */
export interface GraphqlEndpoints {
  analysts?: GraphqlEndpoint | undefined;
  operators?: GraphqlEndpoint | undefined;
}

/** What a process may add to what it needs. */
export interface ServicesOptions {
  /** Where to listen for events, if not where the pool connects to. */
  listenUrl?: string | undefined;
  graphql?: GraphqlEndpoints | undefined;
  /** The address of the website, if it is not the one that requests are sent to. */
  publicUrl?: string | undefined;
}

/** Makes what the routes share, on pools that act as exchange_api, or on one for everything. */
export function makeServices(
  given: Pool | ServerPools,
  logger: Logger,
  { listenUrl, graphql = {}, publicUrl }: ServicesOptions = {},
): Services {
  const pools = "orders" in given ? given : asServerPools(given);
  const { orders, reads, gates, monitoring } = pools;
  const limiter = createCallLimiter({ limits: commandLimits(connectionsOf(orders)) });
  const metrics = createMetrics(pools);
  const authenticator = createAuthenticator({ pool: gates, logger });
  const outboxRelay = createOutboxRelay({ pool: monitoring, logger });
  const streams = createStreams({ pool: reads, logger, authenticator, listenUrl });
  gaugeStreams(metrics.registry, streams.counts);
  const openDoors = createOpenDoors(monitoring);
  gaugeOpenDoors(metrics.registry, openDoors);
  return {
    reads: callsOn(reads, api),
    commands: callsOn(orders, api),
    turns: createUserTurns(limiter, reads),
    logger,
    metrics,
    readiness: createReadiness(monitoring),
    openDoors,
    authenticator,
    access: makeAccess({ authenticator, limiter: createRequestLimiter({ pool: gates }) }),
    site: makeSite(publicUrl),
    outboxRelay,
    orderGatherer: createOrderGatherer({
      pool: orders,
      limiter,
      onCommitted: (outcomes) => {
        outboxRelay.ring();
        metrics.countBatch(outcomes);
      },
    }),
    streams,
    graphql,
  };
}
