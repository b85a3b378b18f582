import { signal } from "@preact/signals";
import { publicApi } from "./client.ts";
import { resultOf } from "./result.ts";

/** A pause of the whole exchange. */
export interface Pause {
  /** In the operator's words. */
  reason: string | null;
}

/** The pause of the whole exchange, as far as it is known; undefined while it trades. */
export const pause = signal<Pause | undefined>(undefined);

/** An address may ask only so often, with all its windows. */
export const READ_EXCHANGE_EVERY_MS = 60_000;
let readAt = -Infinity;

/** Asks whether the exchange trades, unless it was asked a moment ago. */
export async function readExchange(): Promise<void> {
  if (performance.now() - readAt < READ_EXCHANGE_EVERY_MS / 2) return;
  await askExchange();
}

/** To be called with the code of a rejection. */
export function notePaused(code: string | undefined): void {
  if (code === "TRADING_PAUSED" && pause.peek() === undefined) void askExchange();
}

async function askExchange(): Promise<void> {
  readAt = performance.now();
  const result = await resultOf(publicApi.GET("/api/v1/exchange"));
  if (!result.ok) return;
  const { status, reason } = result.data;
  pause.value = status === "paused" ? { reason } : undefined;
}
