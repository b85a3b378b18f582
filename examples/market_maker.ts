/** A market maker: it bids for YES below the middle of a book, and for NO as far above it. */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, createClient } from "pgmarkets/client";
import type { components, Level, LocalBook } from "pgmarkets/client";
type Order = components["schemas"]["OpenOrder"];
const { BASE = "http://127.0.0.1:3000", KEY = "", MARKET = "" } = process.env;
const MARGIN = 2; // cents between the middle and a bid
const TERMS = { quantity: 10, postOnly: true }; // of a bid
const BOUND = 100; // how many shares of one side it holds at most beyond those of the other side
const client = createClient({ url: BASE, key: KEY });
const stopping = new AbortController();
const { signal } = stopping;
const stop = (reason: unknown) => stopping.abort(reason);
let [isStale, safeUntil] = [true, 0]; // compare orders and books; until when the switch is set
const look = () => void (isStale = true);
const books = client.books(MARKET.split(","), { signal, onChange: look, onConnection: look });

/** Between what others bid and ask; if one is missing, the last price, but not beyond the other. */
function middleOf({ bids, asks, lastTradePrice = 50 }: LocalBook, own: Order[]): number {
  const yesPriceOf = ({ side, price }: Order) => (side === "yes" ? price : 100 - price);
  const isOfOthers = ({ price, quantity }: Level) =>
    !own.some((o) => yesPriceOf(o) === price && o.quantity - o.filledQuantity >= quantity);
  const [bid, ask] = [bids.find(isOfOthers)?.price ?? 0, asks.find(isOfOthers)?.price ?? 100];
  return bid > 0 && ask < 100 ? (bid + ask) / 2 : Math.min(Math.max(lastTradePrice, bid), ask);
}

/** Makes the order for a side have this price, while the dead man's switch is set. 0: no order. */
async function correct(marketId: string, side: "yes" | "no", price: number, own: Order[]) {
  const order = own.find((order) => order.side === side);
  if (price === (order?.price ?? 0)) return;
  look();
  if (price > 0 && performance.now() >= safeUntil) return;
  console.log(`${side} @ ${price}`);
  const path = { id: order?.id ?? "" };
  if (!order) await client.post("/api/v1/orders", { body: { ...TERMS, marketId, side, price } });
  else if (price > 0) await client.patch("/api/v1/orders/{id}", { path, body: { price } });
  else await client.delete("/api/v1/orders/{id}", { path });
}

/** A command that was rejected had no effect. Any other error ends the program. */
function note(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.isOutcomeUnknown) throw error;
  console.log(error.message);
}

/** Compares the orders with the books. Every two seconds is within the rate limits. */
async function quote(): Promise<void> {
  if (!isStale) return;
  isStale = false;
  const { openOrders, positions } = await client.get("/api/v1/me/portfolio");
  if (openOrders.length >= 200) throw new RangeError("There may be more orders than it can see");
  for (const book of MARKET.split(",").flatMap((id) => books.book(id) ?? [])) {
    const own = openOrders.filter(({ marketId }) => marketId === book.marketId);
    const held = positions.filter(({ marketId }) => marketId === book.marketId);
    for (const side of ["yes", "no"] as const) {
      const excess = held.reduce((sum, p) => sum + (p.side === side ? p.quantity : -p.quantity), 0);
      const mayBuy = book.isCurrent && book.status === "open" && excess + TERMS.quantity <= BOUND;
      const middle = side === "yes" ? middleOf(book, own) : 100 - middleOf(book, own);
      const price = mayBuy ? Math.max(0, Math.floor(middle - MARGIN)) : 0;
      await correct(book.marketId, side, price, own).catch(note);
    }
  }
}
async function repeat(everyMs: number, work: () => Promise<unknown>): Promise<void> {
  for (; !signal.aborted; await delay(everyMs, undefined, { signal }).catch(stop)) await work();
}
async function followEvents(): Promise<void> {
  for await (const _ of client.userStream({ include: ["fills", "markets"], signal })) look();
}
process.on("SIGINT", stop).on("SIGTERM", stop);
async function setDeadMan(timeoutMs = 30_000, until = performance.now() + timeoutMs) {
  const set = await client.put("/api/v1/orders/dead-man", { body: { timeoutMs } }).catch(note);
  safeUntil = set ? until : 0; // not renewed by then, the exchange cancels the orders
}
const working = [repeat(5000, setDeadMan), repeat(2000, quote), followEvents(), books.closed()];
await Promise.allSettled(working.map((work) => work.catch(stop)));
await client.post("/api/v1/orders/cancel-all", { body: {} });
await setDeadMan(0);
if (signal.reason instanceof Error) throw signal.reason;
