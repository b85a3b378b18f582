import { setTimeout as delay } from "node:timers/promises";
import type { Client, Notification } from "pg";
import type { Logger } from "pino";
import { z } from "zod";
import type { SentEvent } from "../database/calls.ts";

export interface ListenerOptions extends EventHandlers {
  /** Makes a connection that acts as exchange_api, without a transaction pooler in between. */
  makeClient: () => Client;
  /** Reads the events after an id. Without an id, returns where to begin. */
  readEvents: (client: Client, afterId: number | undefined, most: number) => Promise<SentEvent[]>;
  logger: Logger;
}

/** What is called with each kind of event. */
export interface EventHandlers {
  onMarketChanged: (about: z.infer<typeof marketChangedSchema>) => void;
  onUserEvent: (about: z.infer<typeof userEventSchema>) => void;
  /** There is something for these users' streams. */
  onNews: (kind: NewsKind, userIds: readonly string[]) => void;
  /** A market may have another status. */
  onMarketStatus: (about: z.infer<typeof marketStatusSchema>) => void;
  /** Nothing else happened up to this position of the user streams. */
  onTick: (position: number) => void;
  onApiKeyRevoked: (about: z.infer<typeof apiKeyRevokedSchema>) => void;
  onSessionEnded: (about: z.infer<typeof sessionEndedSchema>) => void;
  /** Events may have been missed: what depends on them must be read again. */
  onGap: () => void;
}

/** What a stream may be asked to include, by the kind of the event that has it. */
export type NewsKind = "fills" | "settlements" | "markets";

/** Reads the events of the database, on the connection of the process that listens. */
export interface Listener {
  /** Resolves when it listens, or when the first attempt failed. It continues to try. */
  start: () => Promise<void>;
  isListening: () => boolean;
  /** The id of the last event that was delivered, while it listens. */
  lastId: () => number | undefined;
  /** Delivers events that were read behind one that was delivered, but for those that came since. */
  take: (events: SentEvent[]) => void;
  close: () => Promise<void>;
}

const marketChangedSchema = z.object({ marketId: z.string(), version: z.number() });
const marketStatusSchema = z.object({ marketId: z.string() });
const userEventSchema = z.object({ userId: z.string(), event: z.looseObject({}) });
const apiKeyRevokedSchema = z.object({ apiKeyId: z.string() });
const sessionEndedSchema = z.object({ sessionId: z.string() });

const newsKinds: Record<string, NewsKind | undefined> = {
  market_changed: "fills",
  market_settled: "settlements",
  market_status: "markets",
};

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 2000;
/** Events are read this often without a notification. This also detects a lost connection. */
const READ_EVERY_MS = 1000;
/** The pause after a read without events: any login can notify. */
const PAUSE_AFTER_NOTHING_MS = 10;
/** How many events are read at once. */
export const MOST_EVENTS = 1000;

/**
 * Delivers the events of the database in their order, each once. A notification says up to which id
 * there are events, and they are read from the database: a forged one costs one read. Those that the
 * process sent itself come by `take`.
 */
export function createListener(options: ListenerOptions): Listener {
  const { logger, makeClient, readEvents } = options;
  const closing = new AbortController();
  let client: Client | undefined;
  let delivery: Delivery | undefined;
  let running: Promise<void> | undefined;

  const isClosing = (): boolean => closing.signal.aborted;

  async function run(onFirstAttempt: () => void): Promise<void> {
    let failures = 0;
    while (!isClosing()) {
      try {
        await listen(() => {
          failures = 0;
          onFirstAttempt();
        });
      } catch (error) {
        if (isClosing()) break;
        logger.warn({ error }, "the connection that listens for events was lost");
      }
      onFirstAttempt();
      const longestMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures++, LONGEST_BACKOFF_MS);
      const waitMs = longestMs * (0.5 + Math.random() / 2);
      await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  /** Listens until the connection is lost, which is an error. */
  async function listen(onListening: () => void): Promise<void> {
    const current = makeClient();
    client = current;
    const lost = untilLost(current);
    const bell = makeBell();
    const own = makeDelivery(options);
    let isOver = false;

    async function readMore(): Promise<number> {
      const events = await readEvents(current, own.lastId(), MOST_EVENTS);
      if (isOver) throw new Error("The connection is not used any more");
      own.take(events);
      return events.length;
    }

    function hear({ payload }: Notification): void {
      const isKnown = Number(payload) <= (own.lastId() ?? 0);
      if (payload === "" || !isKnown) bell.ring();
    }

    async function follow(): Promise<never> {
      for (;;) {
        await bell.rung(READ_EVERY_MS);
        const count = await readMore();
        if (count === MOST_EVENTS) bell.ring();
        if (count === 0) await delay(PAUSE_AFTER_NOTHING_MS);
      }
    }

    try {
      // A client that is ended while it connects leaves its connect() pending for ever.
      await Promise.race([lost, current.connect()]);
      current.on("notification", hear);
      await current.query("listen pgmarkets_events");
      await readMore();
      delivery = own;
      onListening();
      await Promise.race([lost, follow()]);
    } finally {
      isOver = true;
      delivery = undefined;
      current.off("notification", hear);
      current.end().catch(() => undefined);
    }
  }

  return {
    start: () =>
      new Promise((resolve) => {
        running ??= run(resolve);
      }),
    isListening: () => delivery !== undefined,
    lastId: () => delivery?.lastId(),
    take: (events) => {
      // What is missing is told by the connection's own reads.
      delivery?.take(events.filter(({ kind }) => kind !== null));
    },
    close: async () => {
      closing.abort();
      client?.end().catch(() => undefined);
      await running;
    },
  };
}

function untilLost(client: Client): Promise<never> {
  const lost = new Promise<never>((_resolve, reject) => {
    client.on("error", reject);
    client.on("end", () => {
      reject(new Error("The connection ended"));
    });
  });
  // Before the promise is awaited, other uses of the client fail by themselves.
  lost.catch(() => undefined);
  return lost;
}

interface Bell {
  ring: () => void;
  /** Resolves once it was rung since it resolved last, or after this time. */
  rung: (longestMs: number) => Promise<void>;
}

/** Several rings before a look count as one. */
function makeBell(): Bell {
  let isRung = false;
  let wake: () => void = () => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    rung: async (longestMs) => {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, longestMs).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isRung = false;
    },
  };
}

interface Delivery {
  /** The id of the last event that was read. */
  lastId: () => number | undefined;
  /** Delivers what was read and has not been delivered. */
  take: (events: SentEvent[]) => void;
}

function makeDelivery(options: EventHandlers & Pick<ListenerOptions, "logger">): Delivery {
  let lastId: number | undefined;

  function deliver({ id, position, kind, payload, userIds }: SentEvent): void {
    const isNext = lastId !== undefined && id === lastId + 1;
    lastId = id;
    if (!isNext || kind === null || payload === null) options.onGap();
    if (kind === null || payload === null) return;
    const about: unknown = JSON.parse(payload);
    if (kind === "tick") options.onTick(position);
    const news = newsKinds[kind];
    if (news !== undefined && userIds !== null) options.onNews(news, userIds);
    if (kind === "market_changed") options.onMarketChanged(marketChangedSchema.parse(about));
    if (kind === "market_status") options.onMarketStatus(marketStatusSchema.parse(about));
    if (kind === "user_event") options.onUserEvent(userEventSchema.parse(about));
    if (kind === "api_key_revoked") options.onApiKeyRevoked(apiKeyRevokedSchema.parse(about));
    if (kind === "session_ended") options.onSessionEnded(sessionEndedSchema.parse(about));
  }

  return {
    lastId: () => lastId,
    take: (events) => {
      for (const event of events) {
        // Another read was faster. Without a kind it says where to go on, which may be before.
        if (lastId !== undefined && event.kind !== null && event.id <= lastId) continue;
        try {
          deliver(event);
        } catch (error) {
          options.logger.warn({ error, id: event.id }, "an event could not be read");
        }
      }
    },
  };
}
