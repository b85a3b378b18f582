import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource, Frame } from "../helpers/http/event_source.ts";

/** Clients of user streams that come back behind the last event that they have. */

export interface StreamClient {
  userId: string;
  /** What it got, `connected` left out. */
  frames: Frame[];
  /** How often it came back. */
  returns: () => number;
  /** What a client must never meet. */
  faults: string[];
  /** Settles when this event has come. */
  until: (isLast: (event: any) => boolean) => Promise<void>;
  stop: () => Promise<void>;
}

export interface StreamClientOptions {
  userId: string;
  apiKey: string;
  urls: readonly string[];
}

const PATIENCE_MS = 60_000;
const RETRY_MS = 50;
/** A client leaves by itself, too. */
const MOST_FRAMES = 200;

/** Follows a user's stream on any of the servers, until it is stopped. */
export function startStreamClient({ userId, apiKey, urls }: StreamClientOptions): StreamClient {
  const frames: Frame[] = [];
  const faults: string[] = [];
  let lastId: string | undefined;
  let returns = 0;
  let isStopping = false;
  let source: EventSource | undefined;
  let onFrame: () => void = () => undefined;

  /** Takes frames until the stream breaks or the client has had enough. */
  async function follow(): Promise<void> {
    const url = urls[randomInt(urls.length)] ?? "";
    source = await openEvents(`${url}/api/v1/user/stream?include=fills,settlements,markets`, {
      authorization: `Bearer ${apiKey}`,
      ...(lastId !== undefined && { "last-event-id": lastId }),
    });
    // It was stopped meanwhile, when there was another stream to close.
    if (isStopping) return;
    if (source.status === 409) faults.push(`the events after ${lastId ?? "the start"} are gone`);
    if (source.status !== 200) throw new Error(String(source.status));
    const greeting = await source.next();
    if (lastId !== undefined) returns++;
    if (lastId !== undefined && greeting.id !== lastId) faults.push("it begins at another place");
    lastId = greeting.id;
    for (let most = randomInt(1, MOST_FRAMES); most > 0; most--) {
      const frame = await source.next();
      frames.push(frame);
      lastId = frame.id;
      onFrame();
    }
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        await follow();
      } catch {
        await delay(RETRY_MS);
      }
      source?.close();
    }
  }

  const running = run();
  return {
    userId,
    frames,
    faults,
    returns: () => returns,
    until: async (isLast) => {
      const deadline = Date.now() + PATIENCE_MS;
      while (!frames.some(({ data }) => isLast(data))) {
        if (Date.now() > deadline) throw new Error(`${userId} did not get its last event`);
        await Promise.race([new Promise<void>((resolve) => (onFrame = resolve)), delay(1000)]);
      }
    },
    stop: async () => {
      isStopping = true;
      source?.close();
      await running;
    },
  };
}

/** The users that `seed` made, in the order of their keys. */
export async function readUserIds(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    "select public_id as id from identity.users order by substr(handle, 7)::int",
  );
  return rows.map(({ id }) => id);
}

/** An event for each user that is none of the exchange's. */
export async function sendMarks(client: Client, userIds: string[], type: string): Promise<void> {
  await client.query(
    `insert into trading.outbox (channel, payload)
     select 'user_event', json_build_object('userId', u.id, 'event', json_build_object('type', $2::text))
     from unnest($1::uuid[]) as u (id)`,
    [userIds, type],
  );
}
