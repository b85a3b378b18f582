import { openOrders, sum, worstCost } from "./analytics_facts.ts";
import type { Facts, Fill } from "./analytics_facts.ts";

/** What the answers to the questions of docs/analytics.md are made with. */

/** What a test puts in the place of the page's market, traders and times. */
export interface Asked {
  market: string;
  handles: string[];
  /** The first of the days, and the day after the last. */
  days: [string, string];
  bookAt: number;
  spreads: { since: number; until: number; stepMs: number };
  candles: { since: number; until: number; widthMs: number };
}

/** A number that has been rounded more than once on its way. */
export class Near {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type Cell = string | number | null | Near;
export type Answer = (facts: Facts, asked: Asked) => Cell[][];

export const DAY_MS = 86_400_000;
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
export const addDays = (day: string, days: number): string =>
  dayOf(Date.parse(day) + days * DAY_MS);

/** A fraction with so many decimals, rounded half away from zero. */
export function rounded(numerator: number, denominator: number, decimals: number): string {
  const scale = 10n ** BigInt(decimals);
  const [above, below] = [BigInt(Math.abs(numerator)) * scale, BigInt(Math.abs(denominator))];
  const whole = (2n * above + below) / (2n * below);
  const sign = whole !== 0n && numerator < 0 !== denominator < 0 ? "-" : "";
  const digits = whole.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export const percent = (part: number, whole: number): string => rounded(100 * part, whole, 1);
export const quantityOf = (fills: { quantity: number }[]): number =>
  sum(fills, (it) => it.quantity);
export const handleOf = (facts: Facts, user: number): string =>
  facts.users.find(({ id }) => id === user).handle;
export const titleOf = (facts: Facts, market: number): string =>
  facts.markets.find(({ id }) => id === market).title;
export const marketNamed = (facts: Facts, title: string): number =>
  facts.markets.find((it) => it.title === title).id;
/** Buying YES and selling NO are one direction. */
export const isTowardYes = ({ side, type }: Fill): boolean => (side === "yes") === (type === "buy");

/** One row for each user, from the fills or the like of theirs. */
export function perUser<T extends { user: number }>(
  facts: Facts,
  things: T[],
  row: (own: T[], user: number) => Cell[],
): Cell[][] {
  return facts.users.flatMap(({ id, handle }) => {
    const own = things.filter(({ user }) => user === id);
    return own.length === 0 ? [] : [[handle, ...row(own, id)]];
  });
}

/** One row for each market, from the fills or the like in it. */
export function perMarket<T>(
  facts: Facts,
  things: T[],
  market: (thing: T) => number,
  row: (own: T[]) => Cell[],
): Cell[][] {
  return facts.markets.flatMap(({ id, title }) => {
    const own = things.filter((it) => market(it) === id);
    return own.length === 0 ? [] : [[title, ...row(own)]];
  });
}

/** What a user's open orders may cost. */
export function inOrders(facts: Facts, user: number): number {
  const own = openOrders(facts).filter(({ user_id }) => user_id === user);
  return sum(own, (order) => worstCost(facts, order));
}
