import type { Timing } from "../../src/client/timing.ts";
import { randomFrom } from "../helpers/random.ts";

/** A request that a fake server got. */
export interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: any;
  /** When it came, by the fake clock. */
  at: number;
}

/** What a fake server does with a request. */
export type Reaction =
  | { status: number; body?: unknown; headers?: Record<string, string>; text?: string }
  /** Its answer gets lost: there is none, it is cut or stalls in its middle, or it does not come. */
  | "lost"
  | "cut"
  | "stalled"
  | "silent";

/** A server in place of the network, and a clock that moves when something waits. */
export interface FakeServer {
  fetch: typeof globalThis.fetch;
  timing: Timing;
  sent: Sent[];
  /** How long the client waited, each time. */
  waits: number[];
}

/** Reacts to each request in turn; after the last reaction, as that says. */
export function fakeServer(name: string, reactions: readonly Reaction[]): FakeServer {
  const random = randomFrom(name);
  const sent: Sent[] = [];
  const waits: number[] = [];
  let now = 0;
  const timing: Timing = {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      now += ms;
    },
    random: random.next,
  };
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const reaction = reactions[Math.min(sent.length, reactions.length - 1)]!;
    sent.push({
      method: init.method ?? "GET",
      url: String(url),
      headers: new Headers(init.headers),
      body: typeof init.body === "string" ? JSON.parse(init.body) : undefined,
      at: now,
    });
    if (reaction === "lost") throw new TypeError("fetch failed");
    if (reaction === "silent") return await neverUntil(init.signal!);
    if (reaction === "cut" || reaction === "stalled") {
      const chunks = [new TextEncoder().encode('{"order":')];
      const body = new ReadableStream({
        pull: async (controller) => {
          const chunk = chunks.pop();
          if (chunk !== undefined) controller.enqueue(chunk);
          else if (reaction === "cut") controller.error(new TypeError("terminated"));
          else await neverUntil(init.signal!);
        },
      });
      return new Response(body, { status: 201 });
    }
    const { status, headers = {}, body = {}, text = JSON.stringify(body) } = reaction;
    return new Response(text, { status, headers });
  };
  return { fetch, timing, sent, waits };
}

function neverUntil(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
    });
  });
}
