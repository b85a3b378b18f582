import { ApiError, badAnswer, failureOf } from "./api_error.ts";
import { isTemporary, reasonOf } from "./attempts.ts";
import { makeFrameParser } from "./sse_parser.ts";
import type { Frame } from "./sse_parser.ts";
import { backoffMs } from "./timing.ts";
import type { Timing } from "./timing.ts";

/** Server-Sent Events over fetch, which can send an Authorization header. */

/** How streams are opened and watched. */
export interface StreamMeans {
  fetch: typeof globalThis.fetch;
  timing: Timing;
  /** How long the server may take to open a stream, or to say in full why it does not. */
  timeoutMs: number;
  /** A stream on which nothing comes for so long, not even a ping, is opened again. */
  idleMs: number;
}

/**
 * What becomes of the connection of a stream. The error is why it was lost, if there was one. Each
 * attempt that fails is reported as lost, too.
 */
export type OnConnection = (state: "open" | "lost", error?: ApiError) => void;

/** The frames of one connection, until the server ends it. Throws an {@link ApiError}. */
export async function* readFrames(
  { url, headers }: { url: string; headers: Record<string, string> },
  { fetch, timeoutMs, idleMs }: StreamMeans,
  { signal, onOpen }: { signal: AbortSignal; onOpen: () => void },
): AsyncGenerator<Frame, void, undefined> {
  signal.throwIfAborted();
  const controller = new AbortController();
  let lateMs: number | undefined;
  const abort = () => {
    controller.abort();
  };
  const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => {
      lateMs = ms;
      controller.abort();
    }, ms);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  };
  signal.addEventListener("abort", abort);
  try {
    const init = { headers, signal: controller.signal, redirect: "manual" } as const;
    const opening = fetch(url, { ...init, cache: "no-store" }).then(readerOf);
    const reader = await within(timeoutMs, opening);
    onOpen();
    const parse = makeFrameParser();
    for (;;) {
      const { done, value } = await within(idleMs, reader.read());
      if (done) return;
      yield* parse(value);
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const code = lateMs === undefined ? "NO_ANSWER" : "TIMEOUT";
    const message =
      lateMs === undefined
        ? `The stream broke: ${reasonOf(cause)}`
        : `Nothing came on the stream for ${lateMs} ms`;
    throw new ApiError({ status: 0, code, message, cause });
  } finally {
    signal.removeEventListener("abort", abort);
    controller.abort();
  }
}

async function readerOf(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const { status, headers, body } = response;
  if (status !== 200) {
    const failure = failureOf({ status, headers, text: await response.text() });
    throw new ApiError(failure ?? badAnswer(`Status ${status} is not that of a stream`, response));
  }
  const isStream = headers.get("Content-Type")?.startsWith("text/event-stream") === true;
  if (!isStream || body === null) {
    throw new ApiError(badAnswer("The answer is not an event stream", response));
  }
  return body.getReader();
}

/** A connection that lasted so long was a good one: the waits begin anew after it. */
const STEADY_MS = 10_000;

/**
 * What comes on a stream, over all its connections: `open` makes one. It ends when the signal is
 * aborted, and throws what a new connection cannot repair, such as a key that was revoked.
 */
export async function* keepOpen<Item>(
  open: (onOpen: () => void) => AsyncIterable<Item>,
  { timing }: StreamMeans,
  { signal, onConnection }: { signal: AbortSignal; onConnection?: OnConnection | undefined },
): AsyncGenerator<Item, void, undefined> {
  for (let failures = 0; !signal.aborted; failures++) {
    let error: ApiError | undefined;
    let openedAt = Infinity;
    const onOpen = () => {
      openedAt = timing.now();
      onConnection?.("open");
    };
    try {
      for await (const item of open(onOpen)) yield item;
    } catch (cause) {
      if (isAborted(signal)) return;
      if (!(cause instanceof ApiError) || !canComeBack(cause)) throw cause;
      error = cause;
    }
    if (isAborted(signal)) return;
    if (timing.now() - openedAt > STEADY_MS) failures = 0;
    onConnection?.("lost", error);
    const waitMs = backoffMs(failures, error?.retryAfter, timing.random);
    await timing.sleep(waitMs, signal).catch(() => undefined);
  }
}

/** Asked again, since it changes while others wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function canComeBack(error: ApiError): boolean {
  return isTemporary(error) || error.status === 500 || error.code === "OUT_OF_STEP";
}
