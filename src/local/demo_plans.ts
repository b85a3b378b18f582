import type { OrderTerms } from "../database/calls.ts";
import { at } from "./demo_commands.ts";
import { livingMarkets, livingTraders } from "./living_catalogue.ts";
import type { LivingMarket } from "./living_catalogue.ts";

/** What the demo traders do next. Only numbers go in and come out, so a seed repeats everything. */

/** From 0 up to but not including 1. */
export type Chance = () => number;

/** An order whose trader and market the caller knows. */
export type Terms = Omit<OrderTerms, "userId">;

export interface Shares {
  yes: number;
  no: number;
}

/** An order of a trader in a market. `isBid`: in the book it is a bid for YES, at this YES price. */
export interface Quote {
  id: string;
  isBid: boolean;
  yesPrice: number;
  isSell: boolean;
  quantity: number;
}

/** What a trader has in a market. */
export interface Standing {
  cashCents: number;
  shares: Shares;
  quotes: Quote[];
}

export interface Plan {
  cancelIds: string[];
  orders: Terms[];
}

const LEAST_PRICE = 3;
const GREATEST_PRICE = 97;
const LEVELS = 4;
/** With less cash, or with more shares of one side, a trader only sells. */
const LEAST_CASH_CENTS = 500_000;
const MOST_SHARES = 1000;
/** How far from its own opinion a taker trades, in cents. */
const PATIENCE = 3;

/** What a YES share is worth now, and what it returns to, in cents. */
export interface Worth {
  price: number;
  home: number;
}

/** With their places in the catalogue. */
const indexed = livingTraders.map((trader, index) => ({ ...trader, index }));
export const livingMakers = indexed.filter((trader) => "spacing" in trader);
const livingTakers = indexed.filter((trader) => "sense" in trader);

/** A generator of random numbers: Mulberry32. */
export function chanceFrom(seed: number): Chance {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function anyOf<T>(things: readonly T[], chance: Chance): T {
  const thing = things[Math.floor(chance() * things.length)];
  if (thing === undefined) throw new RangeError("There is nothing to choose from");
  return thing;
}

/** The price after some hours: a random walk that returns to `home` within about a week. */
export function walk(
  { price, home }: Worth,
  liveliness: number,
  hours: number,
  chance: Chance,
): number {
  const pull = (home - price) * (1 - Math.exp(-hours / 150));
  // The sum of three is nearly normal; its deviation is a half.
  const shock = (chance() + chance() + chance() - 1.5) * 2 * liveliness * Math.sqrt(hours);
  return within(price + pull + shock);
}

/**
 * Of the markets of an exclusive event one resolves YES: the prices that are known of them are changed
 * in proportion, so that all sum to 100. One that is not known counts as what it returns to.
 */
export function balance(
  prices: (number | undefined)[],
  markets: LivingMarket[],
  event: LivingMarket["event"],
): void {
  if (event?.isExclusive !== true) return;
  const places = [...markets.keys()].filter((place) => at(markets, place).event === event);
  const sum = places.reduce((all, place) => all + (prices[place] ?? at(markets, place).price), 0);
  for (const place of places) {
    const price = prices[place];
    if (price !== undefined) prices[place] = within((price * 100) / sum);
  }
}

/** A maker's quotes around a price: the bids below it and the asks above it that are missing. */
export function planQuotes(
  spacing: number,
  price: number,
  { cashCents, shares, quotes }: Standing,
  chance: Chance,
): Plan {
  const middle = Math.round(price);
  const steps = Array.from({ length: LEVELS }, (_, level) => spacing * (level + 1));
  const wanted = steps
    .flatMap((step) => [
      { isBid: true, yesPrice: middle - step },
      { isBid: false, yesPrice: middle + step },
    ])
    .filter(({ yesPrice }) => yesPrice >= LEAST_PRICE && yesPrice <= GREATEST_PRICE)
    .map((level) => ({
      ...level,
      kept: quotes.find((q) => q.isBid === level.isBid && q.yesPrice === level.yesPrice),
    }));
  const kept = wanted.flatMap((level) => level.kept ?? []);
  const forSale = { ...shares };
  for (const quote of kept) if (quote.isSell) forSale[quote.isBid ? "no" : "yes"] -= quote.quantity;
  const orders = wanted.flatMap((level) => {
    const quantity = 10 * (2 + Math.floor(chance() * 7));
    const order = orderToward(level, quantity, { cashCents, shares }, forSale);
    if (level.kept !== undefined || order === undefined) return [];
    if (order.orderType === "sell") forSale[order.side] -= quantity;
    return order;
  });
  return { cancelIds: quotes.filter((q) => !kept.includes(q)).map(({ id }) => id), orders };
}

/** A taker's order: a few shares, at once or not at all, near what it thinks they are worth. */
export function planTake(
  sense: number,
  { price, home }: Worth,
  { cashCents, shares, quotes }: Standing,
  chance: Chance,
): Plan {
  const isBid = isNextBid(sense, { price, home }, shares, chance);
  const yesPrice = within(Math.round(price) + (isBid ? PATIENCE : -PATIENCE));
  const quantity = 3 + Math.floor(chance() * 13);
  const order = orderToward({ isBid, yesPrice }, quantity, { cashCents, shares });
  return {
    cancelIds: quotes.map(({ id }) => id),
    orders: order === undefined ? [] : [{ ...order, timeInForce: "ioc" }],
  };
}

/** Trades of a moment before the first start: a maker's order, and a taker's that fills it. */
export interface PastStep {
  hoursAgo: number;
  orders: { market: number; trader: number; terms: Terms }[];
  /** Markets to resolve then. */
  resolved: number[];
}

export const PAST_HOURS = 28 * 24;

/** Four weeks of trades in the living markets, and the price at which each market stands then. */
export function planPast(chance: Chance): { steps: PastStep[]; prices: number[] } {
  const prices = livingMarkets.map(({ price }) => within(price - 12 + 24 * chance()));
  const events = new Set(livingMarkets.map(({ event }) => event));
  const shares = livingMarkets.map(() => livingTraders.map(() => ({ yes: 0, no: 0 })));
  const steps = hoursOfPast().map(({ hours, hoursAgo }) => {
    const step: PastStep = { hoursAgo, orders: [], resolved: [] };
    livingMarkets.forEach(({ price: home, liveliness }, market) => {
      prices[market] = walk({ price: at(prices, market), home }, liveliness, hours, chance);
    });
    for (const event of events) balance(prices, livingMarkets, event);
    livingMarkets.forEach(({ price: home, resolved }, market) => {
      const endedAgo = (resolved?.daysAgo ?? 0) * 24;
      if (hoursAgo < endedAgo) return;
      if (hoursAgo === endedAgo) step.resolved.push(market);
      const price = at(prices, market);
      if (chance() < 0.3) return;
      const orders = planTrade({ price, home }, at(shares, market), chance);
      step.orders.push(...orders.map((order) => ({ ...order, market })));
    });
    return step;
  });
  return { steps, prices };
}

/** Every four hours, and in the last day every quarter of an hour. */
function hoursOfPast(): { hours: number; hoursAgo: number }[] {
  const days = Array.from({ length: (PAST_HOURS - 24) / 4 }, (_, i) => PAST_HOURS - 4 * (i + 1));
  const lastDay = Array.from({ length: 95 }, (_, i) => 24 - (i + 1) / 4);
  return [
    ...days.map((hoursAgo) => ({ hours: 4, hoursAgo })),
    ...lastDay.map((hoursAgo) => ({ hours: 0.25, hoursAgo })),
  ];
}

/** A maker's order and a taker's that fills it, if both may trade. Keeps account of `shares`. */
function planTrade(
  worth: Worth,
  shares: Shares[],
  chance: Chance,
): { trader: number; terms: Terms }[] {
  const { index: maker } = anyOf(livingMakers, chance);
  const { index: taker, sense } = anyOf(livingTakers, chance);
  const isBid = isNextBid(sense, worth, at(shares, taker), chance);
  const yesPrice = within(Math.round(worth.price) + (isBid ? 1 : -1));
  const quantity = 5 + Math.floor(chance() * 45);
  const orders = [
    { trader: maker, isBid: !isBid },
    { trader: taker, isBid },
  ].flatMap(({ trader, ...level }) => {
    const own = { shares: at(shares, trader) };
    const terms = orderToward({ ...level, yesPrice }, quantity, own);
    return terms === undefined ? [] : [{ trader, terms }];
  });
  if (orders.length < 2) return [];
  for (const { trader, terms } of orders) {
    at(shares, trader)[terms.side] += terms.orderType === "sell" ? -quantity : quantity;
  }
  return orders;
}

/** Whether a taker bids for YES next. With many shares of one side it always goes back. */
function isNextBid(
  sense: number,
  { price, home }: Worth,
  { yes, no }: Shares,
  chance: Chance,
): boolean {
  const isBid = chance() < sense === price < home;
  return Math.abs(yes - no) > MOST_SHARES / 4 ? no > yes : isBid;
}

/**
 * A bid or an ask for YES. A trader who has enough shares of the other side for sale sells them.
 * Undefined if the trader must not buy more.
 */
function orderToward(
  { isBid, yesPrice }: Pick<Quote, "isBid" | "yesPrice">,
  quantity: number,
  { cashCents = LEAST_CASH_CENTS, shares }: { cashCents?: number; shares: Shares },
  forSale = shares,
): Terms | undefined {
  const [side, other] = isBid ? (["yes", "no"] as const) : (["no", "yes"] as const);
  const priceOf = { yes: yesPrice, no: 100 - yesPrice };
  if (forSale[other] >= quantity) {
    return { orderType: "sell", side: other, price: priceOf[other], quantity };
  }
  if (cashCents < LEAST_CASH_CENTS || shares[side] >= MOST_SHARES) return undefined;
  return { orderType: "buy", side, price: priceOf[side], quantity };
}

function within(price: number): number {
  return Math.min(GREATEST_PRICE, Math.max(LEAST_PRICE, price));
}
