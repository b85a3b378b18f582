/** A market maker: it bids for YES below the last price, and for NO as far above it. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

type Snapshot = components["schemas"]["MarketSnapshot"];
const { BASE = "http://127.0.0.1:3000", KEY = "", MARKET = "" } = process.env;
const MARGIN = 2; // cents between the last price and a quote
const TERMS = { marketId: MARKET, quantity: 10, postOnly: true };

const headers = { Authorization: `Bearer ${KEY}` };
const client = createClient<paths>({ baseUrl: BASE, headers, fetch: send });
const stopping = new AbortController();
const { signal } = stopping;
let wanted: { yes?: number; no?: number } = {}; // the prices of the quotes
let isStale = false; // whether the orders are to be compared with them

/** Repeats a request that gets no answer, or one with Retry-After. Its idempotency key stays. */
async function send(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const { signal } = request; // a clone may lose it
    const response = await fetch(request.clone(), { signal }).catch(() => Response.error());
    const seconds = response.type === "error" ? 1 : Number(response.headers.get("Retry-After"));
    if (seconds === 0 || attempt === 5 || signal.aborted) return response;
    await Promise.all([response.body?.cancel(), delay(seconds * 1000)]);
  }
}

/** Calls `take` with the data of each event of a stream. Opens it again when the server ends it. */
async function follow<Data>(path: keyof paths, take: (data: Data) => void): Promise<void> {
  while (!signal.aborted) {
    const request = new Request(BASE + path.replace("{id}", MARKET), { headers, signal });
    const { body, status } = await send(request);
    if (status !== 200 || !body) throw new Error(`${request.url} answers with ${status}`);
    let rest = "";
    for await (const chunk of body.pipeThrough(new TextDecoderStream(), { signal })) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: ")) take(JSON.parse(line.slice(6)));
    }
  }
}

/** Cancels the orders that are not wanted, and places the quotes that are missing. */
async function quote(): Promise<void> {
  isStale = false;
  const { data } = await client.GET("/api/v1/orders", { params: { query: { marketId: MARKET } } });
  if (!data) throw new Error("the open orders can't be read");
  const orderIds = data.data.filter((o) => o.price !== wanted[o.side]).map(({ id }) => id);
  if (orderIds.length > 0) await client.POST("/api/v1/orders/cancel-batch", { body: { orderIds } });
  isStale ||= orderIds.length > 0; // it will look again
  for (const side of ["yes", "no"] as const) {
    const price = wanted[side] ?? 0;
    if (price < 1 || data.data.some((o) => o.side === side && o.price === price)) continue;
    const expiresAt = new Date(Date.now() + 600_000).toISOString(); // should the bot be killed
    const body = { ...TERMS, side, price, expiresAt, idempotencyKey: randomUUID() };
    const placed = await client.POST("/api/v1/orders", { body });
    isStale ||= !placed.data;
    console.log(`${side} @ ${price}: ${placed.data?.order.status ?? placed.error?.error}`);
  }
}

const stop = (reason: unknown) => stopping.abort(reason);
process.on("SIGINT", stop).on("SIGTERM", stop);
follow("/api/v1/user/stream", () => (isStale = true)).catch(stop);
follow<Snapshot>("/api/v1/markets/{id}/stream", ({ recentTrades: [last = { price: 50 }] }) => {
  isStale ||= wanted.yes !== last.price - MARGIN;
  wanted = { yes: last.price - MARGIN, no: 100 - last.price - MARGIN };
}).catch(stop);
while (!signal.aborted) {
  if (isStale) await quote().catch(stop);
  await delay(2000, undefined, { signal }).catch(() => undefined); // within the rate limits
}
wanted = {};
do {
  await quote(); // until nothing is left to cancel
} while (isStale);
if (signal.reason instanceof Error) throw signal.reason;
