import type { PlaceOrder, Side } from "../../api/types.ts";
import { formatDateTime, parseCount, parseEuros } from "../../format.ts";
import { bestPriceOf } from "./best_price.ts";
import type { BestPrices } from "./best_price.ts";
import { sharesFor } from "./shares_for.ts";

/** What the user filled in. */
export interface Ticket {
  orderType: "buy" | "sell";
  side: Side;
  kind: "limit" | "market" | "budget";
  price: string;
  /** Whether the user chose the price; else it is the best one. */
  hasOwnPrice: boolean;
  quantity: string;
  budget: string;
  /** As the browser's field has it, which may be half a time. */
  expiresAt: string;
  postOnly: boolean;
  immediateOrCancel: boolean;
}

export const emptyTicket: Ticket = {
  orderType: "buy",
  side: "yes",
  kind: "budget",
  price: "",
  hasOwnPrice: false,
  quantity: "",
  budget: "",
  expiresAt: "",
  postOnly: false,
  immediateOrCancel: false,
};

/** A new ticket in a market, at the best price of its side. */
export function newTicket(market: BestPrices, side: Ticket["side"] = "yes"): Ticket {
  const ticket = { ...emptyTicket, side };
  return { ...ticket, price: bestPriceOf(market, ticket) };
}

/**
 * A ticket as it is shown: its price follows the best one until the user chooses another. A limit
 * stays once an amount or shares are filled in: what is about to be sent does not become dearer.
 */
export function followingTicket(ticket: Ticket, market: BestPrices): Ticket {
  const { kind, hasOwnPrice, quantity, budget } = ticket;
  const isFilled = kind === "limit" && (quantity !== "" || budget !== "");
  if (hasOwnPrice || isFilled) return ticket;
  const price = bestPriceOf(market, ticket);
  return price === "" ? ticket : { ...ticket, price };
}

/**
 * A ticket after a change by the user. A price is meant for a side and a direction: for another one
 * the best price is taken.
 */
export function changedTicket(before: Ticket, change: Partial<Ticket>, market: BestPrices): Ticket {
  const shown = followingTicket(before, market);
  if (change.price !== undefined) return { ...shown, hasOwnPrice: true, ...change };
  const next = { ...shown, ...change };
  if (next.side === before.side && next.orderType === before.orderType) return next;
  return { ...next, hasOwnPrice: false, price: bestPriceOf(market, next) };
}

/** Of a limit order too: an amount, of which the shares follow. */
function amountOf({ orderType, kind, budget }: Ticket): number | "wrong" | undefined {
  if (orderType === "sell" || kind === "market" || budget === "") return undefined;
  return inRange(parseEuros(budget), 1, 1_000_000) ?? "wrong";
}

/** A ticket with the shares that its amount pays for at its limit, if an amount was given. */
export function withShares(ticket: Ticket, feeRateBps: number): Ticket {
  const cents = amountOf(ticket);
  if (ticket.kind !== "limit" || cents === undefined) return ticket;
  const price = inRange(parseCount(ticket.price), 1, 99);
  const isKnown = price !== undefined && cents !== "wrong";
  return { ...ticket, quantity: isKnown ? String(sharesFor(cents, price, feeRateBps)) : "" };
}

export type TicketField = "price" | "quantity" | "budget" | "expiresAt";

/** The order of a ticket, or what is missing from it. Whether it is possible, the server says. */
export type Filled =
  { order: PlaceOrder; errors?: never } | { order?: never; errors: TicketErrors };

export type TicketErrors = Partial<Record<TicketField, string>>;

/**
 * Reads a ticket. What is missing is said beside its field, before anything is sent; the bounds are
 * those of the API, which test/website/ticket_order.test.ts compares.
 */
export function orderOf(ticket: Ticket, marketId: string): Filled {
  const { orderType, side, kind } = ticket;
  const common = { marketId, side, orderType } as const;
  const quantity = inRange(parseCount(ticket.quantity), 1, 10_000);
  const price = inRange(parseCount(ticket.price), 1, 99);
  const amount = amountOf(ticket);
  const expiresAt = expiryOf(ticket);

  if (kind === "budget") {
    if (typeof amount !== "number") return { errors: { budget: messages.budget } };
    return { order: { ...common, price: null, budgetCents: amount } };
  }
  if (kind === "market") {
    if (quantity === undefined) return { errors: { quantity: messages.quantity } };
    return { order: { ...common, price: null, quantity } };
  }
  if (price === undefined || quantity === undefined || expiresAt === "wrong") {
    if (amount === "wrong") return { errors: { budget: messages.budget } };
    return {
      errors: {
        ...(price === undefined && { price: messages.price }),
        ...(quantity === undefined &&
          (amount === undefined
            ? { quantity: messages.quantity }
            : price !== undefined && { budget: messages.tooLittle })),
        ...(expiresAt === "wrong" && { expiresAt: messages.expiresAt }),
      },
    };
  }
  return {
    order: {
      ...{ ...common, price, quantity },
      ...(ticket.postOnly && { postOnly: true }),
      ...(ticket.immediateOrCancel && { timeInForce: "ioc" as const }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
  };
}

/** The field that says how much an order is for. */
export function amountField(ticket: Ticket): "budget" | "quantity" {
  return typeof amountOf(ticket) === "number" ? "budget" : "quantity";
}

/**
 * What is wrong with what is typed, and not what is only missing yet. While a time is typed, it is
 * half a time for a while.
 */
export function typedErrors(ticket: Ticket, errors: TicketErrors): TicketErrors {
  const fields = ["price", "quantity", "budget"] as const;
  const typed = fields.filter((field) => field in errors && ticket[field] !== "");
  return Object.fromEntries(typed.map((field) => [field, errors[field]]));
}

/**
 * The options that are set, in words: "Post only, until 2 Jan 2030, 03:04". They hold for the next
 * order as well, so they are to be seen while their fields are folded.
 */
export function optionWords({ postOnly, immediateOrCancel, expiresAt }: Ticket): string {
  const time = new Date(expiresAt);
  const words = [
    postOnly && "Post only",
    immediateOrCancel && "Immediate or cancel",
    !Number.isNaN(time.getTime()) && `until ${formatDateTime(time.toISOString())}`,
  ];
  return words.filter((word) => word !== false).join(", ");
}

const messages: Record<TicketField | "tooLittle", string> = {
  price: "Give a price from 1 to 99 cents.",
  quantity: "Give a whole number of shares, from 1 to 10,000.",
  budget: "Give an amount up to €10,000, such as 25 or 25.50.",
  tooLittle: "This does not pay for one share at this price, with its fee.",
  expiresAt: "Give a date and a time.",
};

/** A number within bounds, both included; undefined for any other. */
export function inRange(
  value: number | undefined,
  least: number,
  most: number,
): number | undefined {
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

/** The browser's field for times has no zone: it means the reader's. */
function expiryOf({ kind, expiresAt }: Ticket): string | undefined {
  if (kind !== "limit" || expiresAt === "") return undefined;
  const time = new Date(expiresAt);
  return Number.isNaN(time.getTime()) ? "wrong" : time.toISOString();
}
