import http from "node:http";
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "./load.ts";

/** Clients who send more than they may, through all servers, and what came through. */

export interface FloodOptions {
  urls: readonly string[];
  apiKey: string;
  /** What is sent, again and again. */
  method: "GET" | "POST";
  path: string;
  body?: object;
}

/** A request that reached a server. By `Date.now()`. */
export interface Sent {
  sentAt: number;
  answeredAt: number;
  /** `unknown`: there was no answer, or one that says neither. */
  outcome: "through" | "limited" | "unknown";
}

export interface Flood {
  stop: () => Promise<Sent[]>;
}

const CLIENTS = 4;
const PAUSE_MS = 30;
/** All rest at the same moments, for long enough that a bucket is full again. */
const WORK_MS = 6000;
const REST_MS = 6000;

export function startFlood({ urls, apiKey, method, path, body }: FloodOptions): Flood {
  const state = { isStopping: false };
  const all: Sent[] = [];

  async function run(): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (!state.isStopping) {
      if (Date.now() % (WORK_MS + REST_MS) > WORK_MS) {
        await delay(PAUSE_MS);
        continue;
      }
      const url = `${urls[randomInt(urls.length)] ?? ""}${path}`;
      const sentAt = Date.now();
      const { kind, told } = await request({ url, method, agent, apiKey, body });
      const answeredAt = Date.now();
      if (kind !== "unsent") all.push({ sentAt, answeredAt, outcome: outcomeOf(kind, told) });
      await delay(PAUSE_MS);
    }
    agent.destroy();
  }

  const running = Array.from({ length: CLIENTS }, run);
  return {
    stop: async () => {
      state.isStopping = true;
      await Promise.all(running);
      return all.sort((a, b) => a.sentAt - b.sentAt);
    },
  };
}

function outcomeOf(kind: string, told: string): Sent["outcome"] {
  if (told.startsWith("429")) return "limited";
  return kind === "accepted" || kind === "refused" ? "through" : "unknown";
}

/** What is wrong with what came through: at most `most(ms)` may within any so many milliseconds. */
export function tooMany(sent: Sent[], most: (ms: number) => number): string[] {
  const through = sent.filter(({ outcome }) => outcome === "through");
  for (const [index, { sentAt }] of through.entries()) {
    // Sorted by when they were answered, each answer ends an interval that has all before it.
    const later = through.slice(index).sort((a, b) => a.answeredAt - b.answeredAt);
    for (const [place, { answeredAt }] of later.entries()) {
      const allowed = most(answeredAt - sentAt);
      if (place + 1 > allowed) {
        return [`${place + 1} came through within ${answeredAt - sentAt} ms, not ${allowed}`];
      }
    }
  }
  return [];
}
