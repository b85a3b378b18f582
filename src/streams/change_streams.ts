import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { FollowedMarket } from "../database/calls.ts";
import { singleFlightAfter } from "../single_flight.ts";
import { formatFrame } from "./event_stream.ts";
import type { EventStream, EventStreams } from "./event_stream.ts";
import { changeText, snapshotText, stateOf } from "./followed_market.ts";
import type { MarketState } from "./followed_market.ts";
import { createRefreshLoop, RETRY_MS } from "./refresh_loop.ts";
import type { RefreshLoop } from "./refresh_loop.ts";
import { shareFrame } from "./shared_frame.ts";
import type { SharedFrame } from "./shared_frame.ts";

export interface ChangeStreamsOptions {
  eventStreams: EventStreams;
  /** Reads a market as it is now, with the trades after one. Undefined for an unknown one. */
  readMarket: (question: {
    marketId: string;
    afterTradeId: number | undefined;
    withSnapshot: boolean;
  }) => Promise<FollowedMarket | undefined>;
  logger: Logger;
}

export interface ChangeStreamOptions {
  response: ServerResponse;
  isCompressed: boolean;
}

/** Streams of the changes of many markets. Each change is read and written once for all clients. */
export interface ChangeStreams {
  /** Opens a stream that begins with a snapshot of each market. False if one is unknown. */
  open: (marketIds: readonly string[], options: ChangeStreamOptions) => Promise<boolean>;
  /** There is something new about a market; its version, if that is what changed. */
  changed: (marketId: string, version?: number) => void;
  /** Any market may have changed. */
  allChanged: () => void;
  /** How many streams are open. */
  count: () => number;
}

/** One market, while it has clients. */
interface Channel {
  marketId: string;
  /** Those that have the latest state. */
  clients: Set<Client>;
  /** How many clients follow the market, with or without its latest state. */
  followers: number;
  latest: MarketState | undefined;
  /** Of the latest state, if a client has needed it. */
  snapshot: SharedFrame | undefined;
  refresh: () => Promise<void>;
  /** A client waits for a snapshot. */
  isSnapshotWanted: boolean;
  /** Calls refresh while the market may have changed since the latest state. */
  loop: RefreshLoop;
}

interface Client {
  stream: EventStream;
  /** Markets of which it needs a snapshot: at first all, later those whose changes it missed. */
  lacks: Set<Channel>;
  isServed: boolean;
  isClosed: boolean;
}

/** How many markets are read at once for a new client. */
const MOST_READS = 8;

/**
 * Reads a market once after a change, and sends what differs to all its clients. A client that is
 * slow to take its frames misses changes, and gets a snapshot instead once it has taken the others:
 * so little waits for it.
 */
export function createChangeStreams(options: ChangeStreamsOptions): ChangeStreams {
  const { eventStreams, logger } = options;
  const channels = new Map<string, Channel>();
  let count = 0;

  async function open(
    marketIds: readonly string[],
    { response, isCompressed }: ChangeStreamOptions,
  ): Promise<boolean> {
    const followed = [...new Set(marketIds)].map((id) => channelOf(id));
    for (const channel of followed) channel.followers++;
    let isOpen = false;
    try {
      await forEachOf(followed, readFirst);
      if (followed.some(({ latest }) => latest === undefined)) return false;
      const stream = eventStreams.open(response, {
        headers: { Vary: "Accept-Encoding" },
        isCompressed,
        onClose: () => {
          if (client === undefined) return;
          client.isClosed = true;
          count--;
          for (const { clients } of followed) clients.delete(client);
          leave(followed);
        },
      });
      const client: Client | undefined = stream && {
        stream,
        lacks: new Set(followed),
        isServed: false,
        isClosed: false,
      };
      if (client === undefined) return true;
      isOpen = true;
      count++;
      void serve(client);
      return true;
    } finally {
      if (!isOpen) leave(followed);
    }
  }

  function channelOf(marketId: string): Channel {
    const known = channels.get(marketId);
    if (known !== undefined) return known;
    const channel: Channel = {
      marketId,
      clients: new Set(),
      followers: 0,
      latest: undefined,
      snapshot: undefined,
      isSnapshotWanted: false,
      refresh: singleFlightAfter(() => refresh(channel, options.readMarket)),
      loop: createRefreshLoop({
        refresh: () => channel.refresh(),
        isNeeded: () => channel.followers > 0,
        onFailure: (error) => {
          logger.warn({ error }, "a market's changes could not be read");
        },
      }),
    };
    channels.set(marketId, channel);
    return channel;
  }

  function leave(followed: readonly Channel[]): void {
    for (const channel of followed) {
      if (--channel.followers === 0) channels.delete(channel.marketId);
    }
  }

  return {
    open,
    changed: (marketId, version) => {
      const channel = channels.get(marketId);
      if (channel === undefined) return;
      const known = channel.latest?.version;
      if (version === undefined || known === undefined || version > known) channel.loop.markStale();
    },
    allChanged: () => {
      for (const channel of channels.values()) channel.loop.markStale();
    },
    count: () => count,
  };
}

/** Sends a client the snapshots that it lacks, as fast as it takes them. */
async function serve(client: Client): Promise<void> {
  if (client.isServed) return;
  client.isServed = true;
  for (const channel of client.lacks) {
    if (client.isClosed) return;
    if (client.stream.isBehind()) {
      client.stream.whenTaken(() => {
        client.isServed = false;
        void serve(client);
      });
      return;
    }
    await sendSnapshot(client, channel);
  }
  client.isServed = false;
}

async function sendSnapshot(client: Client, channel: Channel): Promise<void> {
  while (channel.snapshot === undefined) {
    channel.isSnapshotWanted = true;
    await channel.refresh().catch(() => delay(RETRY_MS));
    if (client.isClosed) return;
  }
  client.lacks.delete(channel);
  channel.clients.add(client);
  client.stream.send(channel.snapshot);
}

/** Reads the market, and tells its clients what differs. */
async function refresh(
  channel: Channel,
  readMarket: ChangeStreamsOptions["readMarket"],
): Promise<void> {
  const { marketId, latest } = channel;
  const withSnapshot = channel.isSnapshotWanted || latest === undefined;
  channel.isSnapshotWanted = false;
  const read = await readMarket({ marketId, withSnapshot, afterTradeId: latest?.lastTradeId });
  if (read === undefined) {
    if (latest === undefined) return;
    throw new Error("The market is not there any more");
  }
  const state = stateOf(read);
  // A version goes back only when the database was restored: its clients must start again.
  if (latest !== undefined && state.version < latest.version) {
    for (const { stream } of channel.clients) stream.end();
  }
  const change = latest && changeText(marketId, { before: latest, after: state, read });
  const whole = snapshotText(marketId, read);
  channel.latest = state;
  if (whole !== undefined) channel.snapshot = shareFrame(formatFrame(whole));
  else if (change !== undefined) channel.snapshot = undefined;
  if (change !== undefined) sendChange(channel, change);
}

/** Those who cannot be told, or do not take what they are sent, get a snapshot later. */
function sendChange(channel: Channel, change: string | null): void {
  const began = performance.now();
  const frame = change === null ? undefined : shareFrame(formatFrame(change));
  for (const client of channel.clients) {
    if (frame !== undefined && !client.stream.isBehind()) {
      client.stream.send(frame);
      continue;
    }
    channel.clients.delete(client);
    client.lacks.add(channel);
    void serve(client);
  }
  channel.loop.noteFrame(began);
}

/** Reads a market that no other client follows, to see whether there is such a market. */
async function readFirst(channel: Channel): Promise<void> {
  if (channel.latest === undefined) await channel.refresh();
}

async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: MOST_READS }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
