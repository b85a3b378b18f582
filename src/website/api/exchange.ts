import { computed, signal } from "@preact/signals";
import { publicApi } from "./client.ts";
import { resultOf } from "./result.ts";
import { isSignedIn } from "./session.ts";

/** A pause of the whole exchange. */
export interface Pause {
  /** In the operator's words. */
  reason: string | null;
}

/** The pause of the whole exchange, as far as it is known; undefined while it trades. */
export const pause = signal<Pause | undefined>(undefined);

/** An address may ask only so often, with all its windows. */
const READ_EVERY_MS = 60_000;
/** A user's own questions count for the user. */
const READ_PAUSE_EVERY_MS = 5_000;
/** What shows that the state is another one may come many times a second. */
const LEAST_BETWEEN_MS = 1000;
let readAt = -Infinity;
let isToAsk = false;

/** How often to ask whether the exchange trades: users wait for the end of a pause. */
export const readExchangeEveryMs = computed(() =>
  pause.value !== undefined && isSignedIn.value ? READ_PAUSE_EVERY_MS : READ_EVERY_MS,
);

/** Asks whether the exchange trades, unless it was asked a moment ago. */
export async function readExchange(): Promise<void> {
  if (performance.now() - readAt < readExchangeEveryMs.peek() / 2) return;
  await askExchange();
}

/** Rejections of orders that are only looked for when the exchange is not paused. */
const afterPause = new Set([
  "SELF_EXCLUDED",
  "ACCOUNT_FROZEN",
  "LIMITS_SETUP_REQUIRED",
  "MARKET_NOT_FOUND",
  "MARKET_NOT_OPEN",
  "SELF_TRADE_BLOCKED",
  "POST_ONLY_WOULD_CROSS",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_BALANCE",
  "LOSS_LIMIT",
]);

/** To be called with the code of a rejection. */
export function notePaused(code: string | undefined): void {
  if (code === "TRADING_PAUSED") noteState("paused");
  else if (code !== undefined && afterPause.has(code)) noteState("trading");
}

/** To be called when an order is possible, or would be. */
export function noteTrading(): void {
  noteState("trading");
}

/** Asks for the state if it is not the one that is known. */
function noteState(state: "paused" | "trading"): void {
  const known = pause.peek() === undefined ? "trading" : "paused";
  if (state === known || isToAsk) return;
  isToAsk = true;
  const wait = readAt + LEAST_BETWEEN_MS - performance.now();
  setTimeout(() => {
    isToAsk = false;
    void askExchange();
  }, wait);
}

async function askExchange(): Promise<void> {
  readAt = performance.now();
  const result = await resultOf(publicApi.GET("/api/v1/exchange"));
  if (!result.ok) return;
  const { status, reason } = result.data;
  pause.value = status === "paused" ? { reason } : undefined;
}
