import type { Ticket } from "../components/market/ticket_order.ts";
import { isSignedIn, session } from "./session.ts";
import { readStored, writeStored } from "./stored.ts";

/**
 * The ticket that somebody filled in before they could trade. It is there again when they come back
 * from signing up, signing in, or setting their limits.
 */

const NAME = "pgmarkets.ticket";

interface Draft {
  marketId: string;
  ticket: Ticket;
  /** Whose it is: a session, or "" while it is a visitor's. */
  session: string;
}

/** Keeps a ticket, and forgets the one before. */
export function keepTicket(marketId: string, ticket: Ticket): void {
  const draft: Draft = { marketId, ticket, session: owner() };
  writeStored("sessionStorage", NAME, JSON.stringify(draft));
}

export function forgetTicket(): void {
  writeStored("sessionStorage", NAME, undefined);
}

/** The ticket that was kept for this market. What was a visitor's is the first user's from now on. */
export function keptTicket(marketId: string): Ticket | undefined {
  const draft = read();
  if (draft?.marketId !== marketId) return undefined;
  if (draft.session === "" && isSignedIn.peek()) keepTicket(marketId, draft.ticket);
  else if (draft.session !== owner()) return undefined;
  return draft.ticket;
}

function owner(): string {
  return isSignedIn.peek() ? session.peek() : "";
}

function read(): Draft | undefined {
  const text = readStored("sessionStorage", NAME);
  return text === undefined ? undefined : (JSON.parse(text) as Draft);
}
