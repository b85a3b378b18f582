import type { Ticket } from "../components/market/ticket_order.ts";
import { isSignedIn, session } from "./session.ts";

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
  write({ marketId, ticket, session: owner() });
}

export function forgetTicket(): void {
  write(undefined);
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
  try {
    const text = sessionStorage.getItem(NAME);
    return text === null ? undefined : (JSON.parse(text) as Draft);
  } catch {
    return undefined;
  }
}

function write(draft: Draft | undefined): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // Without storage the ticket begins anew.
  }
}
