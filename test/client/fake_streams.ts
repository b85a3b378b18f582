import type { Timing } from "../../src/client/timing.ts";
import { randomFrom } from "../helpers/random.ts";

/** How a connection ends: as the server ends it, broken, or never. */
type End = "end" | "break" | "hang";

/** What a fake server answers when a stream is opened. */
export interface FakeConnection {
  status?: number;
  headers?: Record<string, string>;
  /** Frames as they are sent, or the body of an error. */
  text?: string;
  end?: End;
}

/** A server that has streams only. */
export interface FakeStreams {
  fetch: typeof globalThis.fetch;
  timing: Timing;
  opened: { url: string; headers: Headers }[];
  waits: number[];
}

/** Answers each opening in turn, and later ones as the last. */
export function fakeStreams(name: string, connections: readonly FakeConnection[]): FakeStreams {
  const random = randomFrom(name);
  const opened: FakeStreams["opened"] = [];
  const waits: number[] = [];
  const timing: Timing = {
    now: () => 0,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      // The others get a turn, as they do while a client waits.
      await new Promise((resolve) => setTimeout(resolve));
    },
    random: random.next,
  };
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const connection = connections[Math.min(opened.length, connections.length - 1)]!;
    opened.push({ url: String(url), headers: new Headers(init.headers) });
    const { status = 200, text = "", end = "end" } = connection;
    const headers = { "Content-Type": "text/event-stream", ...connection.headers };
    const bytes = [...new TextEncoder().encode(text)];
    const body = new ReadableStream({
      start: (controller) => {
        init.signal?.addEventListener("abort", () => {
          controller.error(init.signal?.reason);
        });
      },
      pull: (controller) => {
        if (bytes.length > 0) {
          controller.enqueue(Uint8Array.from(bytes.splice(0, random.between(1, 40))));
        } else if (end === "end") controller.close();
        else if (end === "break") controller.error(new TypeError("terminated"));
        else return new Promise<void>(() => undefined);
        return undefined;
      },
    });
    return new Response(body, { status, headers });
  };
  return { fetch, timing, opened, waits };
}

/** A frame as the server writes it. */
export function frame(data: object, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
