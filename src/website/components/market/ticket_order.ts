import type { PlaceOrder, Side } from "../../api/types.ts";
import { parseCount, parseEuros } from "../../format.ts";

/** What the user filled in. */
export interface Ticket {
  orderType: "buy" | "sell";
  side: Side;
  kind: "limit" | "market" | "budget";
  price: string;
  quantity: string;
  budget: string;
  expiresAt: string;
  postOnly: boolean;
  immediateOrCancel: boolean;
}

export const emptyTicket: Ticket = {
  orderType: "buy",
  side: "yes",
  kind: "limit",
  price: "",
  quantity: "",
  budget: "",
  expiresAt: "",
  postOnly: false,
  immediateOrCancel: false,
};

export type TicketField = "price" | "quantity" | "budget" | "expiresAt";

/** The order of a ticket, or what is missing from it. Whether it is possible, the server says. */
export type Filled =
  | { order: PlaceOrder; errors?: never }
  | { order?: never; errors: Partial<Record<TicketField, string>> };

/** Reads a ticket. */
export function orderOf(ticket: Ticket, marketId: string): Filled {
  const { orderType, side, kind } = ticket;
  const errors: Partial<Record<TicketField, string>> = {};
  const price = parseCount(ticket.price);
  const quantity = parseCount(ticket.quantity);
  const budgetCents = parseEuros(ticket.budget);
  if (kind === "limit" && (price === undefined || price < 1 || price > 99)) {
    errors.price = "Give a price from 1 to 99 cents.";
  }
  if (kind !== "budget" && (quantity === undefined || quantity < 1 || quantity > 10_000)) {
    errors.quantity = "Give a whole number of shares, from 1 to 10,000.";
  }
  if (kind === "budget" && (budgetCents === undefined || budgetCents < 1)) {
    errors.budget = "Give an amount in euros, such as 25 or 25.50.";
  }
  const expiry = expiryOf(ticket);
  if (expiry === "wrong") errors.expiresAt = "Give a date and a time.";
  if (Object.keys(errors).length > 0) return { errors };

  const common = { marketId, side, orderType } as const;
  if (kind === "market") return { order: { ...common, price: null, quantity } };
  if (kind === "budget") return { order: { ...common, price: null, budgetCents } };
  return {
    order: {
      ...common,
      price,
      quantity,
      ...(ticket.postOnly && { postOnly: true }),
      ...(ticket.immediateOrCancel && { timeInForce: "ioc" as const }),
      ...(expiry !== undefined && expiry !== "wrong" && { expiresAt: expiry }),
    },
  };
}

/** The browser's field for times has no zone: it means the reader's. */
function expiryOf({ kind, expiresAt }: Ticket): string | undefined {
  if (kind !== "limit" || expiresAt === "") return undefined;
  const time = new Date(expiresAt);
  return Number.isNaN(time.getTime()) ? "wrong" : time.toISOString();
}
