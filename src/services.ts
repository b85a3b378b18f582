import type { Pool } from "pg";
import type { Logger } from "pino";
import { createOpenDoors, gaugeOpenDoors } from "./database/privileges.ts";
import type { OpenDoors } from "./database/privileges.ts";
import { createReadiness } from "./database/readiness.ts";
import type { Readiness } from "./database/readiness.ts";
import type { GraphqlEndpoint } from "./graphql/endpoint.ts";
import { makeAccess } from "./http/access.ts";
import type { Access } from "./http/access.ts";
import { createAuthenticator } from "./http/authentication.ts";
import type { Authenticator } from "./http/authentication.ts";
import { createRequestLimiter } from "./http/request_limiter.ts";
import { createMetrics } from "./metrics.ts";
import type { Metrics } from "./metrics.ts";
import { gaugeStreams } from "./streams/metrics.ts";
import { createStreams } from "./streams/streams.ts";
import type { Streams } from "./streams/streams.ts";
import { createAnnouncer } from "./trading/announcer.ts";
import type { Announcer } from "./trading/announcer.ts";
import { createOrderBatcher } from "./trading/order_batcher.ts";
import type { OrderBatcher } from "./trading/order_batcher.ts";

/** What the routes share in one process. */
export interface Services {
  /** Acts as exchange_api. */
  pool: Pool;
  logger: Logger;
  metrics: Metrics;
  readiness: Readiness;
  openDoors: OpenDoors;
  authenticator: Authenticator;
  access: Access;
  announcer: Announcer;
  orderBatcher: OrderBatcher;
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
}

/** Makes what the routes share, on a pool that acts as exchange_api. */
export function makeServices(
  pool: Pool,
  logger: Logger,
  { listenUrl, graphql = {} }: ServicesOptions = {},
): Services {
  const metrics = createMetrics(pool);
  const authenticator = createAuthenticator({ pool, logger });
  const announcer = createAnnouncer({ pool, logger });
  const streams = createStreams({ pool, logger, authenticator, listenUrl });
  gaugeStreams(metrics.registry, streams.counts);
  const openDoors = createOpenDoors(pool);
  gaugeOpenDoors(metrics.registry, openDoors);
  return {
    pool,
    logger,
    metrics,
    readiness: createReadiness(pool),
    openDoors,
    authenticator,
    access: makeAccess({ authenticator, limiter: createRequestLimiter({ pool }) }),
    announcer,
    orderBatcher: createOrderBatcher({
      pool,
      onCommitted: (outcomes) => {
        announcer.ring();
        metrics.countBatch(outcomes);
      },
    }),
    streams,
    graphql,
  };
}
