import { setTimeout as delay } from "node:timers/promises";
import type { Client, Notification } from "pg";
import type { Logger } from "pino";
import { z } from "zod";

export interface ListenerOptions extends Hearers {
  /** A connection of its own that acts as exchange_api, straight to the database. */
  makeClient: () => Client;
  /** What a notification is about that carries only this id; undefined when it is gone. */
  readAnnouncement: (id: number) => Promise<string | undefined>;
  logger: Logger;
}

/** Who is told what. */
export interface Hearers {
  onMarketChanged: (about: z.infer<typeof marketChangedSchema>) => void;
  onUserEvent: (about: z.infer<typeof userEventSchema>) => void;
  onApiKeyRevoked: (about: z.infer<typeof apiKeyRevokedSchema>) => void;
  onSessionEnded: (about: z.infer<typeof sessionEndedSchema>) => void;
  /** Announcements may have been missed until now: what rests on them must be read anew. */
  onGap: () => void;
}

/** Hears what the database announces, over the one connection of the process that listens. */
export interface Listener {
  /** Settles when it listens, or when the first attempt failed: it goes on trying. */
  start: () => Promise<void>;
  isListening: () => boolean;
  close: () => Promise<void>;
}

const marketChangedSchema = z.object({ marketId: z.string(), version: z.number() });
const userEventSchema = z.object({ userId: z.string(), event: z.looseObject({}) });
const apiKeyRevokedSchema = z.object({ apiKeyId: z.string() });
const sessionEndedSchema = z.object({ sessionId: z.string() });

/** `about` is missing where it is too long for a notification. */
const announcementSchema = z.object({ id: z.number(), about: z.unknown().optional() });

const CHANNELS = ["market_changed", "user_event", "api_key_revoked", "session_ended"];

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 2000;
/** A connection that was cut without a word is noticed by asking. */
const CHECK_EVERY_MS = 5000;
const CHECK_TIMEOUT_MS = 5000;

/** Hears announcements as long as there is a database, and says when some may have been missed. */
export function createListener(options: ListenerOptions): Listener {
  const { logger, makeClient, onGap } = options;
  const hear = createHearing(options);
  const closing = new AbortController();
  let client: Client | undefined;
  let isListening = false;
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
        logger.warn({ error }, "the connection that listens for announcements was lost");
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
    try {
      await current.connect();
      current.on("notification", hear);
      await current.query(CHANNELS.map((name) => `listen ${name}`).join(";"));
      isListening = true;
      onGap();
      onListening();
      await Promise.race([lost, keepChecking(current, closing.signal)]);
    } finally {
      isListening = false;
      current.off("notification", hear);
      current.end().catch(() => undefined);
    }
  }

  return {
    start: () =>
      new Promise((resolve) => {
        running ??= run(resolve);
      }),
    isListening: () => isListening,
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
  // Until it is waited for, whatever else is tried with the client fails of itself.
  lost.catch(() => undefined);
  return lost;
}

async function keepChecking(client: Client, closing: AbortSignal): Promise<never> {
  for (;;) {
    await delay(CHECK_EVERY_MS, undefined, { signal: closing, ref: false });
    const check = { text: "select 1", query_timeout: CHECK_TIMEOUT_MS };
    await client.query(check);
  }
}

/** What becomes of a notification. Anybody with a login can send some; only ours are heard. */
function createHearing(
  options: Omit<ListenerOptions, "makeClient">,
): (notification: Notification) => void {
  const { logger, onGap, onUserEvent } = options;
  // While one event is being read, those behind it wait: a user's events keep their order.
  let waiting: Promise<void> | undefined;

  function hear({ channel, payload = "" }: Notification): void {
    const { id, about } = announcementSchema.parse(JSON.parse(payload));
    if (channel === "market_changed") options.onMarketChanged(marketChangedSchema.parse(about));
    if (channel === "api_key_revoked") options.onApiKeyRevoked(apiKeyRevokedSchema.parse(about));
    if (channel === "session_ended") options.onSessionEnded(sessionEndedSchema.parse(about));
    if (channel !== "user_event") return;
    if (about !== undefined && waiting === undefined) hearUserEvent(about);
    else waitFor(about === undefined ? readUserEvent(id) : Promise.resolve(about));
  }

  function waitFor(read: Promise<unknown>): void {
    const turn = Promise.all([read, waiting]).then(([about]) => {
      if (waiting === turn) waiting = undefined;
      guard(() => {
        if (about !== undefined) hearUserEvent(about);
      });
    });
    waiting = turn;
  }

  function hearUserEvent(about: unknown): void {
    onUserEvent(userEventSchema.parse(about));
  }

  async function readUserEvent(id: number): Promise<unknown> {
    try {
      const text = await options.readAnnouncement(id);
      if (text !== undefined) return JSON.parse(text);
      logger.warn({ id }, "an announcement was gone before it was read");
    } catch (error) {
      logger.warn({ error, id }, "an announcement could not be read");
    }
    // Whose event it was is not known.
    onGap();
    return undefined;
  }

  function guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      logger.warn({ error }, "a notification made no sense");
    }
  }

  return (notification) => {
    guard(() => {
      hear(notification);
    });
  };
}
