import type { ClientBase } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import type { OrderRequest, OrderTerms, CommandResult } from "../../../src/database/calls.ts";

export type Side = "yes" | "no";

/** An order without its trader. */
export type Request = Omit<OrderTerms, "userId">;

/** At a limit, or at the market's price when there is none. */
export function buy(side: Side, quantity: number, price?: number, more: Partial<Request> = {}) {
  return { side, quantity, price: price ?? null, ...more };
}

/** At a limit, or at the market's price when there is none. */
export function sell(side: Side, quantity: number, price?: number, more: Partial<Request> = {}) {
  return { side, quantity, price: price ?? null, orderType: "sell" as const, ...more };
}

/** Buys as many shares as the budget pays for, fee included. */
export function spend(side: Side, budgetCents: number, more: Partial<Request> = {}) {
  return { side, budgetCents, ...more };
}

/** What `api.place_orders` takes: orders, all of them for one market, as JSON text. */
export function ordersIn(marketId: string, orders: readonly object[]): string {
  return JSON.stringify(orders.map((order) => ({ marketId, ...order })));
}

/** Places orders that each stand alone, in one call that waits for locks. */
export function placeOrders(client: ClientBase, orders: OrderRequest[]): Promise<CommandResult[]> {
  return call(client, api.placeOrders, { orders, atomic: false, waits: true });
}

export const ioc = { timeInForce: "ioc" } as const;
export const postOnly = { postOnly: true } as const;

/** Fills as "quantity @ YES price", in the order of execution. */
export function shown(fills: { quantity: number; price: number }[]): string[] {
  return fills.map(({ quantity, price }) => `${quantity} @ ${price}`);
}

/** The code of each result; null where it is no rejection. */
export const codesOf = (results: { code: string | null }[]) => results.map(({ code }) => code);

export const idsOf = (list: { id: string }[]): string[] => list.map(({ id }) => id);
