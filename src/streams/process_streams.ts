import type { Pool } from "pg";
import type { Logger } from "pino";
import { call, callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import { makeLoneClient } from "../database/pools.ts";
import type { PublicReads } from "../database/public_reads.ts";
import { createChangeStreams } from "./change_streams.ts";
import type { ChangeStreams } from "./change_streams.ts";
import { createEventStreams, repeatByTimer } from "./event_stream.ts";
import { createListener } from "./listener.ts";
import type { Listener } from "./listener.ts";
import { createMarketStreams } from "./market_streams.ts";
import type { MarketStreams } from "./market_streams.ts";
import { createStreamSlots } from "./stream_slots.ts";
import type { StreamSlots } from "./stream_slots.ts";
import { createUserStreams } from "./user_streams.ts";
import type { UserStreams } from "./user_streams.ts";

export interface StreamsOptions {
  pool: Pool;
  /** Reads the states of markets. */
  publicReads: Pick<PublicReads, "followMarket" | "getMarketSnapshot">;
  logger: Logger;
  rememberedKeys: RememberedKeys;
  /** Where to listen, if not where the pool connects to. */
  listenUrl?: string | undefined;
}

/** API keys that the process takes for valid without asking the database. */
export interface RememberedKeys {
  forget: (apiKeyId: string) => void;
  forgetAll: () => void;
}

/** The event streams of a process, and the connection by which it hears of events. */
export interface Streams {
  market: MarketStreams;
  changes: ChangeStreams;
  user: UserStreams;
  /** Take one before a stream is opened. */
  slots: StreamSlots;
  /** For monitoring. */
  counts: () => StreamCounts;
  /** Gets the events that this process sent. */
  listener: Pick<Listener, "lastId" | "take">;
  /** Listens to the database. Settles after the first attempt; if that failed, more follow. */
  start: () => Promise<void>;
  /** Ends the streams, so that their connections can close. */
  end: () => void;
  /** Stops listening, and what is done from time to time. */
  close: () => Promise<void>;
}

/** What monitoring shows of the streams. */
export interface StreamCounts {
  /** 1 while the process listens, else 0. */
  listeners: number;
  marketStreams: number;
  changeStreams: number;
  userStreams: number;
  /** Clients that were dropped because they did not take what they were sent. */
  dropped: number;
}

/** Connects the streams of markets and users to the events of the database. */
export function createStreams(options: StreamsOptions): Streams {
  const { pool, publicReads, logger, rememberedKeys, listenUrl } = options;
  const calls = callsOn(pool, api);
  const eventStreams = createEventStreams({ logger });
  const market = createMarketStreams({
    eventStreams,
    logger,
    readSnapshot: (marketId) => publicReads.getMarketSnapshot({ marketId }),
  });
  const changes = createChangeStreams({
    eventStreams,
    logger,
    readMarket: (question) => publicReads.followMarket(question),
  });
  const user = createUserStreams({
    eventStreams,
    logger,
    repeat: repeatByTimer,
    listCredentialEnds: (credentialIds) => calls.listCredentialEnds({ credentialIds }),
    findPosition: (lastEventId) => calls.findUserPosition({ lastEventId }),
    readEvents: (streams, most) =>
      calls.readUserEvents({
        userIds: streams.map(({ userId }) => userId),
        positions: streams.map(({ position }) => position),
        withFills: streams.map(({ include }) => include.has("fills")),
        withSettlements: streams.map(({ include }) => include.has("settlements")),
        withMarkets: streams.map(({ include }) => include.has("markets")),
        most,
      }),
  });
  const slots = createStreamSlots({ pool, logger, repeat: repeatByTimer });
  const listener = createListener({
    logger,
    makeClient: () => makeLoneClient(pool, "pgmarkets listener", listenUrl),
    readEvents: (client, afterId, most) => call(client, api.followEvents, { afterId, most }),
    onMarketChanged: ({ marketId, version }) => {
      market.changed(marketId, version);
      changes.changed(marketId, version);
    },
    onMarketStatus: ({ marketId }) => {
      changes.changed(marketId);
    },
    onUserEvent: ({ userId }) => {
      user.changed([userId]);
    },
    onNews: (kind, userIds) => {
      user.changed(userIds, kind);
    },
    onTick: (position) => {
      user.passed(position);
    },
    onApiKeyRevoked: ({ apiKeyId }) => {
      rememberedKeys.forget(apiKeyId);
      user.credentialEnded(apiKeyId);
    },
    onSessionEnded: ({ sessionId }) => {
      user.credentialEnded(sessionId);
    },
    onGap: () => {
      rememberedKeys.forgetAll();
      market.allChanged();
      changes.allChanged();
      user.allChanged();
    },
  });
  return {
    market,
    changes,
    user,
    slots,
    listener,
    counts: () => ({
      listeners: listener.isListening() ? 1 : 0,
      marketStreams: market.count(),
      changeStreams: changes.count(),
      userStreams: user.count(),
      dropped: eventStreams.droppedCount(),
    }),
    start: listener.start,
    end: eventStreams.close,
    close: async () => {
      await listener.close();
      user.close();
      await slots.close();
    },
  };
}
