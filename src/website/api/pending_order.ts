import { signal } from "@preact/signals";
import type { Problem } from "./result.ts";
import { readStored, writeStored } from "./stored.ts";
import type { PlaceOrder } from "./types.ts";

/** Orders that were sent and whose answer is not here yet. They outlast the page they are from. */

export interface PendingOrder {
  idempotencyKey: string;
  marketTitle: string;
  order: PlaceOrder;
  /** Who sent it: others who sign in to this tab neither see it nor send it again. */
  userId?: string | undefined;
  /** When it was sent first. */
  sentAt?: number | undefined;
  /** The session in which it was sent, for as long as the user is not known. */
  session?: string | undefined;
}

export type PendingState =
  | "sending"
  /** There is no answer yet, and it is sent again. */
  | "waiting"
  /** A reload cut it off. */
  | "left"
  /** There was no answer, or the user wanted to wait no longer. */
  | "unknown"
  | "placed"
  | "refused";

/** An order on its way, or what became of one that no page waited for any more. */
export interface PendingEntry {
  pending: PendingOrder;
  state: PendingState;
  /** Whether the page that sent it still shows what becomes of it. */
  isWatched: boolean;
  problem?: Problem | undefined;
}

const NAME = "pgmarkets.pending-orders";

export const pendingOrders = signal<readonly PendingEntry[]>(readLeft());

/** The exchange knows a key for 24 hours. An hour is for clocks that differ. */
const KNOWN_FOR_MS = 23 * 3_600_000;

/** Whether an order can be sent again without being placed twice. */
export function isKnownThere({ sentAt }: PendingOrder): boolean {
  return sentAt !== undefined && Date.now() - sentAt < KNOWN_FOR_MS;
}

const isOf =
  (key: string) =>
  ({ pending }: PendingEntry): boolean =>
    pending.idempotencyKey === key;

/** Notes how an order is doing. Each key has one place. */
export function notePending(entry: PendingEntry): void {
  const { idempotencyKey } = entry.pending;
  const entries = pendingOrders.peek();
  const isKnown = entries.some(isOf(idempotencyKey));
  pendingOrders.value = isKnown
    ? entries.map((known) => (isOf(idempotencyKey)(known) ? entry : known))
    : [...entries, entry];
  keep();
}

/** Changes what is known of an order, if anything is. */
export function changePending(key: string, change: Partial<Omit<PendingEntry, "pending">>): void {
  const known = pendingOrders.peek().find(isOf(key));
  if (known !== undefined) notePending({ ...known, ...change });
}

/** Whether an order was sent before, and nobody knows what became of it. */
export function isInDoubt(key: string): boolean {
  const entry = pendingOrders.peek().find(isOf(key));
  return entry?.state === "left" || entry?.state === "unknown";
}

/** The answer is here, and was seen. */
export function forgetPending(key: string): void {
  pendingOrders.value = pendingOrders.peek().filter((entry) => !isOf(key)(entry));
  keep();
}

/** Keeps orders, with their keys, over a reload of this tab. */
function keep(): void {
  const open = pendingOrders
    .peek()
    .filter(({ state }) => state !== "placed" && state !== "refused");
  const kept = open.map(({ pending, state }) => ({
    pending,
    state: state === "unknown" ? "unknown" : "left",
  }));
  writeStored("sessionStorage", NAME, kept.length === 0 ? undefined : JSON.stringify(kept));
}

function readLeft(): PendingEntry[] {
  try {
    const kept = JSON.parse(readStored("sessionStorage", NAME) ?? "[]") as PendingEntry[];
    return kept.map(({ pending, state }) => ({ pending, state, isWatched: false }));
  } catch {
    // An earlier build of the pages may have kept something else.
    return [];
  }
}
