import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { callsOn } from "../database/call.ts";
import { gaugeCommits, watchCommits } from "../database/commit_watch.ts";
import type { CommitWatch } from "../database/commit_watch.ts";
import { createCallLimiter } from "../database/call_limiter.ts";
import { createUserTurns } from "../engine/user_turns.ts";
import type { UserTurns } from "../engine/user_turns.ts";
import { api } from "../database/calls.ts";
import type { ApiCalls } from "../database/calls.ts";
import { measureDatabase } from "../database/database_metrics.ts";
import { makePublicReads } from "../database/public_reads.ts";
import type { PublicReads } from "../database/public_reads.ts";
import { gaugeStandbys } from "../database/standby_metrics.ts";
import type { Standbys } from "../database/standbys.ts";
import { createPrivilegeCheck, gaugePrivilegeWarnings } from "../database/privileges.ts";
import type { PrivilegeCheck } from "../database/privileges.ts";
import { createReadiness } from "../database/readiness.ts";
import type { Readiness } from "../database/readiness.ts";
import type { ServerPools } from "../database/server_pools.ts";
import { commandLimits } from "../engine/ladder.ts";
import { createOrderGatherer } from "../engine/order_gatherer.ts";
import type { OrderGatherer } from "../engine/order_gatherer.ts";
import { makeOrderCounter } from "../engine/order_metrics.ts";
import type { GraphqlEndpoints } from "../graphql/endpoints.ts";
import { makeAccess } from "../http/access.ts";
import type { Access } from "../http/access.ts";
import { createAuthenticator } from "../http/authentication.ts";
import type { Authenticator } from "../http/authentication.ts";
import { makeSite } from "../http/own_origin.ts";
import type { Site } from "../http/own_origin.ts";
import { createRequestLimiter } from "../http/request_limiter.ts";
import { createTradingTokens } from "../http/trading_tokens.ts";
import { makeRequestCounter } from "../http/request_metrics.ts";
import type { RequestCounter } from "../http/request_metrics.ts";
import { createSharedAnswers } from "../http/shared_answers.ts";
import type { SharedAnswers } from "../http/shared_answers.ts";
import { makeRegistry } from "../process_metrics.ts";
import { singleFlight } from "../single_flight.ts";
import { createOutboxRelay } from "../streams/outbox_relay.ts";
import type { OutboxRelay } from "../streams/outbox_relay.ts";
import { createStreams } from "../streams/process_streams.ts";
import type { Streams } from "../streams/process_streams.ts";
import { gaugeStreams } from "../streams/stream_metrics.ts";
import type { Answer } from "./route.ts";

/** What the routes of one process share. */
export interface Context {
  /** The functions of the database, on the connections for reads. */
  reads: ApiCalls;
  /** Those of what everybody may see, which standbys may answer. */
  publicReads: PublicReads;
  /** What `reads` has, on the connections for commands. */
  commands: ApiCalls;
  /** Limit what one user's calls on these connections hold, so that other users find some. */
  turns: UserTurns;
  logger: Logger;
  metrics: Metrics;
  readiness: Readiness;
  commits: CommitWatch;
  privilegeCheck: PrivilegeCheck;
  authenticator: Authenticator;
  access: Access;
  sharedAnswers: SharedAnswers<Answer>;
  site: Site;
  outboxRelay: OutboxRelay;
  orderGatherer: OrderGatherer;
  streams: Streams;
  graphql: GraphqlEndpoints;
  /** Where READ_DATABASE_URL names some. */
  standbys: Standbys | undefined;
}

/**
 * What `/metrics` shows. No label holds a user, an order or a key: labels must be few, and everybody
 * who monitors may see them.
 */
export interface Metrics {
  registry: Registry;
  countRequest: RequestCounter;
  /** Everything, in the text format of Prometheus. Made at most once a second. */
  render: () => Promise<string>;
}

export interface ContextOptions {
  /** Where to listen for events, if not where the pool connects to. */
  listenUrl?: string | undefined;
  graphql?: GraphqlEndpoints | undefined;
  standbys?: Standbys | undefined;
  /** The address of the website, if it is not the one that requests are sent to. */
  publicUrl?: string | undefined;
  /** How long the answer of a public read is given again. A second unless given. */
  answersKeptMs?: number | undefined;
}

/** Scrapes by several monitors at once cost one. */
const METRICS_HOLD_FOR_MS = 1000;

/** Makes the context on pools that act as exchange_api. */
export function makeContext(
  pools: ServerPools,
  logger: Logger,
  { listenUrl, graphql = {}, standbys, publicUrl, answersKeptMs }: ContextOptions = {},
): Context {
  const { orders, reads, checks, monitoring } = pools;
  const registry = makeRegistry();
  const limiter = createCallLimiter({ limits: commandLimits(orders.options.max) });
  const authenticator = createAuthenticator({ pool: checks, logger });
  const readCalls = callsOn(reads, api);
  const publicReads = standbys === undefined ? readCalls : makePublicReads(readCalls, standbys);
  const streams = createStreams({
    ...{ pool: reads, publicReads, logger, listenUrl },
    rememberedKeys: authenticator,
  });
  const { listener } = streams;
  const outboxRelay = createOutboxRelay({ pool: monitoring, logger, listener });
  const privilegeCheck = createPrivilegeCheck(monitoring);
  const commits = watchCommits();
  const countOrders = makeOrderCounter(registry);
  const site = makeSite(publicUrl);
  const tokens = createTradingTokens({ pool: checks });
  gaugeStreams(registry, streams.counts);
  if (standbys !== undefined) gaugeStandbys(registry, standbys);
  gaugePrivilegeWarnings(registry, privilegeCheck);
  gaugeCommits(registry, commits);
  return {
    reads: readCalls,
    publicReads,
    commands: callsOn(orders, api),
    turns: createUserTurns(limiter, reads, standbys?.count),
    logger,
    metrics: makeMetrics(pools, registry),
    readiness: createReadiness(monitoring, commits),
    commits,
    privilegeCheck,
    authenticator,
    access: makeAccess({
      ...{ authenticator, tokens, site },
      limiter: createRequestLimiter({ pool: checks }),
    }),
    sharedAnswers: createSharedAnswers({
      ...(answersKeptMs !== undefined && { keptMs: answersKeptMs }),
      bytesOf: (answer) => (typeof answer === "string" ? 2 * answer.length : Infinity),
    }),
    site,
    outboxRelay,
    orderGatherer: createOrderGatherer({
      pool: orders,
      limiter,
      whilePaying: tokens.during,
      onCommitted: (results) => {
        outboxRelay.ring();
        countOrders(results);
      },
    }),
    streams,
    graphql,
    standbys,
  };
}

function makeMetrics(pools: ServerPools, registry: Registry): Metrics {
  const readDatabase = measureDatabase(pools, registry);
  return {
    registry,
    countRequest: makeRequestCounter(registry),
    render: singleFlight(async () => {
      await readDatabase();
      return await registry.metrics();
    }, METRICS_HOLD_FOR_MS),
  };
}
