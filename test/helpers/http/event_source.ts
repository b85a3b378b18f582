import http from "node:http";
import { createGunzip } from "node:zlib";
import type { TestFn } from "ava";

/** One frame of an event stream. */
export interface Frame {
  id: string | undefined;
  /** Parsed. */
  data: any;
}

/** A client of an event stream. */
export interface EventSource {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The body of an answer that is no stream, parsed when it is JSON. */
  body: any;
  /** The next frame, when it is there; an error if the stream ends instead. */
  next: () => Promise<Frame>;
  /** Frames until one fulfils the condition, that one included. */
  until: (condition: (frame: Frame) => boolean) => Promise<Frame[]>;
  /** Frames that have come and have not been taken. */
  waiting: () => Frame[];
  /** Comments so far, without their colon. */
  comments: string[];
  /** Settles when the stream is over, however it ends. */
  ended: Promise<void>;
  /** Whether what came can be read to its end. */
  isWhole: () => boolean;
  /** How much has come of a compressed stream. */
  compressedBytes: () => number;
  /** Whether it was cut instead of ended. */
  failed: () => boolean;
  /** Stops or starts taking what is sent. */
  pause: () => void;
  resume: () => void;
  close: () => void;
}

/** Opens a stream and settles when the head of the answer is there. */
export async function openEvents(
  url: string,
  headers: Record<string, string> = {},
): Promise<EventSource> {
  const request = http.request(url, { agent: false, headers });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    request.end();
  });
  request.on("error", () => undefined);
  const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  const { push, ...reader } = makeReader();
  const ended = new Promise<void>((resolve) => {
    response.on("error", () => undefined);
    response.on("close", () => {
      reader.end();
      resolve();
    });
  });
  let text = "";
  const isCompressed = response.headers["content-encoding"] === "gzip";
  const body = isCompressed ? response.pipe(createGunzip()) : response;
  let bytes = 0;
  let isWhole = false;
  if (isCompressed) response.on("data", (chunk: Buffer) => (bytes += chunk.length));
  body.on("error", () => undefined);
  body.on("end", () => (isWhole = true));
  body.setEncoding("utf8");
  body.on("data", (chunk: string) => {
    text += chunk;
    if (!isStream) return;
    const pieces = text.split("\n\n");
    text = pieces.pop()!;
    for (const piece of pieces) push(piece);
  });
  if (!isStream) await ended;
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: isStream || text === "" ? undefined : JSON.parse(text),
    ...reader,
    ended,
    failed: () => !response.complete,
    isWhole: () => isWhole,
    compressedBytes: () => bytes,
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => request.destroy(),
  };
}

/** For a test file: as `openEvents`, but after each test the streams that are open are closed. */
export function testEvents(test: TestFn): typeof openEvents {
  const opened: EventSource[] = [];
  test.afterEach.always("close the streams", () => {
    for (const stream of opened.splice(0)) stream.close();
  });
  return async (url, headers) => {
    const stream = await openEvents(url, headers);
    opened.push(stream);
    return stream;
  };
}

function makeReader() {
  const frames: Frame[] = [];
  const comments: string[] = [];
  let isOver = false;
  let wake = () => {};

  function push(piece: string): void {
    const fields = piece.split("\n").map((line) => line.split(/: ?(.*)/s));
    const valueOf = (name: string) => fields.find(([field]) => field === name)?.[1];
    const data = valueOf("data");
    const comment = valueOf("");
    if (comment !== undefined) comments.push(comment);
    if (data !== undefined) frames.push({ id: valueOf("id"), data: JSON.parse(data) });
    wake();
  }

  const next = async (): Promise<Frame> => {
    for (;;) {
      const frame = frames.shift();
      if (frame !== undefined) return frame;
      if (isOver) throw new Error("The stream ended");
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };

  return {
    push,
    next,
    until: async (condition: (frame: Frame) => boolean) => {
      const taken: Frame[] = [];
      for (;;) {
        const frame = await next();
        taken.push(frame);
        if (condition(frame)) return taken;
      }
    },
    waiting: () => [...frames],
    comments,
    end: () => {
      isOver = true;
      wake();
    },
  };
}
