import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { MarketView } from "../database/calls.ts";
import { singleFlightAfter } from "../single_flight.ts";
import { formatFrame } from "./event_stream.ts";
import type { EventStream, EventStreams } from "./event_stream.ts";
import { createRefreshLoop } from "./refresh_loop.ts";
import type { RefreshLoop } from "./refresh_loop.ts";

export interface MarketStreamsOptions {
  eventStreams: EventStreams;
  /** Reads the market as it is now. Undefined for an unknown one. */
  readSnapshot: (marketId: string) => Promise<MarketView | undefined>;
  logger: Logger;
}

/** Streams of snapshots of markets. Each snapshot is read once for all clients. */
export interface MarketStreams {
  /** Opens a stream that begins with a fresh snapshot. False for an unknown market. */
  open: (marketId: string, response: ServerResponse) => Promise<boolean>;
  /** A market is at this version now. */
  changed: (marketId: string, version: number) => void;
  /** Any market may have changed. */
  allChanged: () => void;
  /** How many streams are open. */
  count: () => number;
}

/** One market, while it has clients. */
interface Channel {
  marketId: string;
  clients: Set<EventStream>;
  /** Clients that wait for their first snapshot. */
  opening: number;
  latest: Snapshot | undefined;
  /** Reads the market, and sends the clients what is new. */
  refresh: () => Promise<Snapshot | undefined>;
  /** Calls refresh while the market may have changed since the latest snapshot. */
  loop: RefreshLoop;
}

interface Snapshot extends MarketView {
  frame: Buffer;
}

/** Reads a market once after a change, and sends the same bytes to all its clients. */
export function createMarketStreams(options: MarketStreamsOptions): MarketStreams {
  const { eventStreams, logger, readSnapshot } = options;
  const channels = new Map<string, Channel>();

  async function open(marketId: string, response: ServerResponse): Promise<boolean> {
    const channel = channelOf(marketId);
    channel.opening++;
    try {
      const snapshot = await channel.refresh();
      if (snapshot === undefined) return false;
      const stream = eventStreams.open(response, {
        headers: { "X-Market-Version": String(snapshot.version) },
        onClose: () => {
          if (stream !== undefined) channel.clients.delete(stream);
          forgetIfUnwatched(channel);
        },
      });
      if (stream === undefined) return true;
      channel.clients.add(stream);
      stream.send(snapshot.frame);
      // A change since the read was not sent: the client was not in the list yet.
      channel.loop.resume();
      return true;
    } finally {
      channel.opening--;
      forgetIfUnwatched(channel);
    }
  }

  function channelOf(marketId: string): Channel {
    const known = channels.get(marketId);
    if (known !== undefined) return known;
    const channel: Channel = {
      marketId,
      clients: new Set(),
      opening: 0,
      latest: undefined,
      refresh: singleFlightAfter(async () => take(channel, await readSnapshot(marketId))),
      loop: createRefreshLoop({
        refresh: () => channel.refresh(),
        isNeeded: () => channel.clients.size > 0,
        onFailure: (error) => {
          logger.warn({ error }, "a market's snapshot could not be read");
        },
      }),
    };
    channels.set(marketId, channel);
    return channel;
  }

  function forgetIfUnwatched({ marketId, clients, opening }: Channel): void {
    if (clients.size === 0 && opening === 0) channels.delete(marketId);
  }

  function changed(marketId: string, version: number): void {
    const channel = channels.get(marketId);
    if (channel === undefined) return;
    if (channel.latest !== undefined && version <= channel.latest.version) return;
    channel.loop.markStale();
  }

  function allChanged(): void {
    for (const channel of channels.values()) channel.loop.markStale();
  }

  return {
    open,
    changed,
    allChanged,
    count: () => [...channels.values()].reduce((sum, { clients }) => sum + clients.size, 0),
  };
}

/** Keeps what was read of a market, and sends it if it is new. */
function take(channel: Channel, view: MarketView | undefined): Snapshot | undefined {
  const { clients, latest } = channel;
  if (view === undefined) return undefined;
  if (view.version === latest?.version && view.body === latest.body) return latest;
  // A version goes back only when the database was restored, or a lagging standby was promoted.
  // Versions never go back within a stream, so its clients must start again.
  if (latest !== undefined && view.version < latest.version) {
    for (const client of clients) client.end();
  }
  const snapshot = { ...view, frame: formatFrame(view.body, view.version) };
  channel.latest = snapshot;
  const began = performance.now();
  for (const client of clients) client.send(snapshot.frame);
  channel.loop.noteFrame(began);
  return snapshot;
}
