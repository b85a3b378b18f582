import type { Pool } from "pg";
import type { OrderTerms } from "../../src/database/calls.ts";
import { drawId, idIn, publicId } from "./catalogue.ts";
import { ordersIn } from "../helpers/exchange/orders.ts";

/**
 * The orders that the targets place. Each that is timed has an idempotency key, as clients are
 * advised to give.
 */

/** What is offered to the takers, on either side of the book, and what they give at most. */
const MAKER_PRICE = 45;
const TAKER_PRICE = 55;

/** As large as an order may be, so that there is always something to take. */
const MOST_SHARES = 10_000;

/** The call, with an expression of the market's id and one of the JSON text of the requests. */
export function placeOrders(requests: string, from = ""): string {
  return (
    "select o.code, o.message, o.replayed, o.body, o.market_version " +
    `from ${from}api.run_orders(orders => (${requests})::jsonb) as o`
  );
}

/**
 * The SQL expression of the JSON text of one request with a key of its own. Spaces keep pgbench
 * from seeing variables.
 */
export function requestText(price: string, quantity: number): string {
  const side = `case (:side)::int when 0 then 'yes' else 'no' end`;
  return (
    `'[{"marketId": "' || ${idIn("market")} || '", "userId": "' || ${idIn("trader")} || ` +
    `'", "side": "' || ${side} || '", "price": ' || ${price} || ', "quantity": ${quantity}, ` +
    `"idempotencyKey": "' || gen_random_uuid() || '"}]'`
  );
}

/** A call that places one order which rests: both sides stay below 50, and so never meet. */
export function restingScript(markets: [number, number], traders: [number, number]): string[] {
  return [
    drawId("market", ...markets),
    drawId("trader", ...traders),
    "\\set side random(0, 1)",
    "\\set price random(1, 40)",
    `${placeOrders(requestText(":price", 10))};`,
  ];
}

/** A call that takes one share of what {@link restLiquidity} has laid out. */
export function takingScript(markets: [number, number], traders: [number, number]): string[] {
  return [
    drawId("market", ...markets),
    drawId("trader", ...traders),
    "\\set side random(0, 1)",
    `${placeOrders(requestText(String(TAKER_PRICE), 1))};`,
  ];
}

/** In each of the first markets the trader of the same number offers both sides. */
export async function restLiquidity(
  pool: Pool,
  markets: number,
  price = MAKER_PRICE,
): Promise<void> {
  for (let market = 1; market <= markets; market++) {
    const offer = { userId: publicId(market), price, quantity: MOST_SHARES };
    await place(pool, market, [
      { ...offer, side: "yes" },
      { ...offer, side: "no" },
    ]);
  }
}

/** Places orders without keys to begin with, and throws unless each is accepted. */
export async function place(pool: Pool, market: number, requests: OrderTerms[]): Promise<void> {
  const { rows } = await pool.query(
    `select distinct code from api.place_orders(orders => $1)
     where code is not null`,
    [ordersIn(publicId(market), requests)],
  );
  if (rows.length > 0) throw new Error(`A seeded order was refused: ${rows[0].code}`);
}

/** The orders of one call when many are placed. */
const PLACED_AT_ONCE = 500;

/** The same for any number of orders. */
export async function placeMany(pool: Pool, market: number, requests: OrderTerms[]): Promise<void> {
  for (let first = 0; first < requests.length; first += PLACED_AT_ONCE) {
    await place(pool, market, requests.slice(first, first + PLACED_AT_ONCE));
  }
}

/** How many shares an order is for. */
export type DrawQuantity = () => number;

/** All orders alike, so that each that crosses is filled by one match. */
export const fiveShares: DrawQuantity = () => 5;

/** Orders of many sizes: one that crosses is filled by about two. */
export const upToTenShares: DrawQuantity = () => randomBetween(1, 10);

/** An order that rests, last in the queue of the only price of its side. */
export function makerOrder(draw = upToTenShares): Omit<OrderTerms, "userId"> {
  return { side: randomSide(), price: MAKER_PRICE, quantity: draw() };
}

/** An order as large, which takes the first in that queue: they rested long before. */
export function takerOrder(draw = upToTenShares): Omit<OrderTerms, "userId"> {
  return { side: randomSide(), price: TAKER_PRICE, quantity: draw() };
}

/** Enough orders on both sides for the takers never to run out while as many makers come. */
export async function restDepth(
  pool: Pool,
  market: number,
  makers: number,
  draw = upToTenShares,
): Promise<void> {
  for (let batch = 0; batch < 20; batch++) {
    await place(
      pool,
      market,
      Array.from({ length: 200 }, () => ({
        userId: publicId(randomBetween(1, makers)),
        ...makerOrder(draw),
      })),
    );
  }
}

export function randomBetween(first: number, last: number): number {
  return first + Math.floor(Math.random() * (last - first + 1));
}

function randomSide(): "yes" | "no" {
  return Math.random() < 0.5 ? "yes" : "no";
}
