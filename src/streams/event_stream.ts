import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { createGzipStream, shareFrame } from "./shared_frame.ts";
import type { SharedFrame } from "./shared_frame.ts";

/** Server-Sent Events to one client. */
export interface EventStream {
  /**
   * Sends a frame; drops a client for which too much waits. One that takes nothing from one ping to
   * the next is dropped too.
   */
  send: (frame: Buffer | SharedFrame) => void;
  /** Whether a good deal of what was sent still waits for the client. */
  isBehind: () => boolean;
  /** Calls back once the client has taken all that waits; never, if the stream ends before. */
  whenTaken: (callBack: () => void) => void;
  /** Ends it; the client may come back. */
  end: () => void;
}

export interface OpenOptions {
  headers?: Record<string, string>;
  /** Whether the client gets gzip. */
  isCompressed?: boolean;
  /** Called once, however the stream ends. */
  onClose: () => void;
}

/** A stream that is not opened: its client has too many, or the process has or is closing. */
export class StreamRejection extends Error {
  readonly limitOf: "client" | "process";

  constructor(limitOf: "client" | "process") {
    super("No more streams are opened");
    this.name = "StreamRejection";
    this.limitOf = limitOf;
  }
}

/** All event streams of the process. */
export interface EventStreams {
  /**
   * Answers with an event stream. Undefined when the client has left already. Throws a
   * {@link StreamRejection} when there are too many streams, or when the process is closing.
   */
  open: (response: ServerResponse, options: OpenOptions) => EventStream | undefined;
  /** How many are open. */
  count: () => number;
  /** How many clients were dropped because they did not take what they were sent. */
  droppedCount: () => number;
  /** Ends all streams; no more are opened. */
  close: () => void;
}

/** Runs some work at regular intervals until the returned function is called. */
export type Repeat = (work: () => void, everyMs: number) => () => void;

export interface EventStreamsOptions {
  logger: Logger;
  repeat?: Repeat;
  streamCap?: number;
}

const PING_EVERY_MS = 25_000;
/** Without it, a proxy may close a connection as idle. */
const ping = shareFrame(Buffer.from(": ping\n\n"));

/** A stream takes about 10 KB, and each frame of its market takes the time of a write. */
const DEFAULT_STREAM_CAP = 20_000;
/** How much may wait for a client besides the frame that is sent. */
const BACKLOG_CAP_BYTES = 256 * 1024;
/** A client with more to take is behind. Frames that can be read again later wait until then. */
const BEHIND_BYTES = 64 * 1024;

const headersOfAll = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  // Without it, nginx buffers frames.
  "X-Accel-Buffering": "no",
};

/** One frame: its data is one line. */
export function formatFrame(data: string, id?: number): Buffer {
  return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
}

/** A frame that only tells the client how far it has come, which no script sees. */
export function formatPosition(id: number): Buffer {
  return Buffer.from(`id: ${id}\n\n`);
}

/** Opens event streams, and counts those of the process. */
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { logger, repeat = repeatByTimer, streamCap = DEFAULT_STREAM_CAP } = options;
  const streams = new Set<EventStream>();
  let dropped = 0;
  let isClosing = false;

  function open(response: ServerResponse, { headers, isCompressed, onClose }: OpenOptions) {
    if (response.destroyed) return undefined;
    if (isClosing || streams.size >= streamCap) throw new StreamRejection("process");
    response.statusCode = 200;
    response.setHeaders(new Map(Object.entries({ ...headersOfAll, ...headers })));
    const gzip = isCompressed === true ? createGzipStream() : undefined;
    if (gzip !== undefined) {
      response.setHeader("Content-Encoding", "gzip");
      response.write(gzip.head);
    }
    const stream: EventStream = {
      send,
      isBehind: () => response.writableLength > BEHIND_BYTES,
      whenTaken: (callBack) => response.once("drain", callBack),
      end: () => {
        if (!response.writableEnded) response.end(gzip?.end());
      },
    };
    let isStuck = false;
    response.on("drain", () => (isStuck = false));
    const stopPings = repeat(() => {
      if (isStuck) drop();
      else send(ping);
      isStuck = response.writableNeedDrain;
    }, PING_EVERY_MS);
    streams.add(stream);
    response.once("close", () => {
      stopPings();
      streams.delete(stream);
      onClose();
    });
    // The answer to a HEAD is complete.
    if (response.req.method === "HEAD") response.end();

    function send(frame: Buffer | SharedFrame): void {
      if (response.writableEnded || response.destroyed) return;
      if (response.writableLength > BACKLOG_CAP_BYTES) drop();
      else if (Buffer.isBuffer(frame)) response.write(gzip ? gzip.add(shareFrame(frame)) : frame);
      else response.write(gzip ? gzip.add(frame) : frame.plain);
    }

    function drop(): void {
      dropped++;
      logger.debug("a stream was dropped: its client does not take what it is sent");
      response.destroy();
    }
    return stream;
  }

  function close(): void {
    isClosing = true;
    for (const stream of streams) stream.end();
  }

  return { open, count: () => streams.size, droppedCount: () => dropped, close };
}

/** By a timer that does not keep the process. */
export const repeatByTimer: Repeat = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => {
    clearInterval(timer);
  };
};
