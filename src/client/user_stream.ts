import { ApiError, parseJson } from "./api_error.ts";
import { keepOpen, readFrames } from "./connection.ts";
import type { OnConnection, StreamMeans } from "./connection.ts";
import type { components } from "./schema.d.ts";

/** What happens to the caller: see UserEvent in `/docs`. */
export type UserEvent = components["schemas"]["UserEvent"];

export interface UserStreamOptions {
  /** Events besides those of the caller's orders. */
  include?: readonly ("fills" | "settlements" | "markets")[];
  /** From an earlier stream, at most 24 hours ago: this one goes on behind it. */
  lastEventId?: string | undefined;
  /** Ends the iteration when it is aborted. */
  signal?: AbortSignal | undefined;
  onConnection?: OnConnection | undefined;
}

/**
 * The events of the caller, each once and in order, over all connections. The first one is
 * `connected`: read your state then. Iterated again, it goes on. Iterating throws an {@link ApiError} with EVENTS_GONE when
 * events were lost. Then read your state, and iterate again.
 */
export interface UserStream extends AsyncIterable<UserEvent> {
  /** Where the stream has come to: the id of the event that was handed out last, or of a later one. */
  readonly lastEventId: string | undefined;
  /** Ends the iteration. */
  close: () => void;
}

/** The stream at an address. It is opened when it is iterated. */
export function openUserStream(
  { url, headers }: { url: string; headers: Record<string, string> },
  options: UserStreamOptions,
  means: StreamMeans,
): UserStream {
  const closing = new AbortController();
  const close = () => {
    closing.abort();
  };
  if (options.signal?.aborted === true) close();
  options.signal?.addEventListener("abort", close, { once: true });
  let lastEventId = options.lastEventId;
  let isRead = false;
  let hasBegun = false;

  async function* eventsOfConnection(
    onOpen: () => void,
  ): AsyncGenerator<UserEvent, void, undefined> {
    const resume = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
    const place = { url, headers: { ...headers, ...resume } };
    for await (const { id, data } of readFrames(place, means, { signal: closing.signal, onOpen })) {
      const event = data === undefined ? undefined : eventIn(data);
      lastEventId = id ?? lastEventId;
      // One that goes on is not a beginning.
      if (event === undefined || (event.type === "connected" && hasBegun)) continue;
      hasBegun = true;
      yield event;
    }
  }

  async function* events(): AsyncGenerator<UserEvent, void, undefined> {
    if (isRead) throw new TypeError("The stream is being iterated already");
    isRead = true;
    try {
      const { onConnection } = options;
      yield* keepOpen(eventsOfConnection, means, { signal: closing.signal, onConnection });
    } catch (error) {
      if (error instanceof ApiError && error.code === "EVENTS_GONE") {
        lastEventId = undefined;
        hasBegun = false;
      }
      throw error;
    } finally {
      isRead = false;
    }
  }

  return {
    [Symbol.asyncIterator]: events,
    get lastEventId() {
      return lastEventId;
    },
    close,
  };
}

function eventIn(data: string): UserEvent {
  const event = parseJson(data);
  if (event !== undefined && "type" in event) return event as UserEvent;
  throw new ApiError({ status: 200, code: "BAD_ANSWER", message: "A frame is not an event" });
}
