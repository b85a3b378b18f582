import test from "ava";
import {
  balance,
  chanceFrom,
  planPast,
  planQuotes,
  planTake,
  walk,
} from "../../src/local/demo_plans.ts";
import type { Plan, Quote, Shares, Terms } from "../../src/local/demo_plans.ts";
import { livingMarkets, livingTraders } from "../../src/local/living_catalogue.ts";
import { randomFrom } from "../helpers/random.ts";

const PLENTY_CENTS = 10_000_000;

const isMaker = (trader: number): boolean => "spacing" in livingTraders[trader]!;
const isBid = ({ side, orderType }: Terms): boolean => (side === "yes") === (orderType === "buy");
const yesPrice = ({ side, price }: Terms): number => (side === "yes" ? price! : 100 - price!);

/** The quotes that a maker has after its plan. */
function quotesAfter(quotes: Quote[], { cancelIds, orders }: Plan): Quote[] {
  const placed = orders.map((terms, index) => ({
    id: `${quotes.length}-${index}-${Math.random()}`,
    isBid: isBid(terms),
    isSell: terms.orderType === "sell",
    yesPrice: yesPrice(terms),
    quantity: terms.quantity!,
  }));
  return [...quotes.filter(({ id }) => !cancelIds.includes(id)), ...placed];
}

test("a price walks within 3 and 97, and returns to its home", (t) => {
  const chance = randomFrom("walk").next;
  for (const home of [5, 50, 95]) {
    let price = 100 - home;
    let sum = 0;
    for (let step = 0; step < 20_000; step++) {
      price = walk({ price, home }, 1.6, 1, chance);
      t.true(price >= 3 && price <= 97);
      sum += price;
    }
    t.true(Math.abs(sum / 20_000 - home) < 15, `${sum / 20_000} is far from ${home}`);
  }
});

test("the prices of an exclusive event sum to 100, with or without all of them known", (t) => {
  const of = livingMarkets.filter(({ event }) => event?.isExclusive === true);
  const sum = (prices: number[]) => prices.reduce((all, price) => all + price, 0);
  t.deepEqual(
    of.map(({ price }) => price),
    [46, 29, 17, 8],
  );
  const { event } = of[0]!;
  const prices = [60, 40, 20, 5];
  balance(prices, of, event);
  t.deepEqual(prices.map(Math.round), [48, 32, 16, 4]);

  // 8 of the last one leave 92 to what is known: that the sum is 128 takes a fifth and more of it.
  const known = [60, 40, 20, undefined];
  balance(known, of, event);
  t.deepEqual(
    known.map((price) => price && Math.round(price)),
    [47, 31, 16, undefined],
  );

  const { prices: last } = planPast(chanceFrom(7));
  const election = last.filter((_, place) => livingMarkets[place]!.event === event);
  t.true(Math.abs(sum(election) - 100) < 1, election.join(" + "));
  const single = livingMarkets.find((market) => market.event === undefined)!;
  const alone = [70];
  balance(alone, [single], single.event);
  t.deepEqual(alone, [70]);
});

test("a maker never crosses itself, has few quotes, and sells only what it has", (t) => {
  const random = randomFrom("quotes");
  for (const spacing of [1, 2]) {
    let quotes: Quote[] = [];
    for (let step = 0; step < 500; step++) {
      const price = 3 + 94 * random.next();
      const shares = { yes: random.between(0, 300), no: random.between(0, 300) };
      // Shares that were sold since are sold no more.
      quotes = quotes.filter(({ isSell }) => !isSell);
      const standing = { cashCents: PLENTY_CENTS, shares, quotes };
      const plan = planQuotes(spacing, price, standing, random.next);
      quotes = quotesAfter(quotes, plan);

      const bids = quotes.filter((quote) => quote.isBid);
      const asks = quotes.filter((quote) => !quote.isBid);
      t.true(quotes.length <= 8 && bids.length + asks.length > 0);
      t.true(
        Math.max(0, ...bids.map((quote) => quote.yesPrice)) <
          Math.min(100, ...asks.map((quote) => quote.yesPrice)),
      );
      t.true(quotes.every((quote) => quote.yesPrice >= 3 && quote.yesPrice <= 97));
      for (const side of ["yes", "no"] as const) {
        const sold = plan.orders.filter((o) => o.orderType === "sell" && o.side === side);
        t.true(sold.reduce((sum, { quantity }) => sum + quantity!, 0) <= shares[side]);
      }
    }
  }
});

test("a maker keeps the quotes that are right, and cancels the others", (t) => {
  const chance = randomFrom("kept").next;
  const nothing = { cashCents: PLENTY_CENTS, shares: { yes: 0, no: 0 } };
  const quotes = quotesAfter([], planQuotes(1, 50, { ...nothing, quotes: [] }, chance));
  t.deepEqual(
    quotes.map((quote) => quote.yesPrice).sort((a, b) => a - b),
    [46, 47, 48, 49, 51, 52, 53, 54],
  );
  t.deepEqual(planQuotes(1, 50.4, { ...nothing, quotes }, chance), { cancelIds: [], orders: [] });

  const moved = planQuotes(1, 51, { ...nothing, quotes }, chance);
  const priceOf = (id: string) => quotes.find((quote) => quote.id === id)!.yesPrice;
  t.deepEqual(moved.cancelIds.map(priceOf).sort(), [46, 51]);
  t.deepEqual(moved.orders.map(yesPrice).sort(), [50, 55]);
});

test("with little cash, or with many shares of a side, nobody buys more", (t) => {
  const chance = randomFrom("budget").next;
  const plans = (cashCents: number, shares: Shares): Terms[] => {
    const standing = { cashCents, shares, quotes: [] };
    return [
      ...planQuotes(1, 50, standing, chance).orders,
      ...Array.from({ length: 50 }, () => planTake(0.5, { price: 50, home: 60 }, standing, chance))
        .map(({ orders }) => orders)
        .flat(),
    ];
  };
  t.deepEqual(plans(499_999, { yes: 0, no: 0 }), []);
  t.true(plans(500_000, { yes: 0, no: 0 }).length > 0);
  const poor = plans(0, { yes: 900, no: 0 });
  t.true(poor.length > 0 && poor.every((o) => o.orderType === "sell" && o.side === "yes"));
  const full = plans(PLENTY_CENTS, { yes: 1000, no: 0 });
  t.true(full.length > 0 && full.every((order) => !isBid(order)));
});

test("a taker wants few shares at once, near what they are worth", (t) => {
  const chance = randomFrom("take").next;
  for (const price of [3, 20, 50, 97]) {
    const standing = { cashCents: PLENTY_CENTS, shares: { yes: 20, no: 0 }, quotes: [] };
    for (let step = 0; step < 100; step++) {
      const [order] = planTake(0.5, { price, home: 50 }, standing, chance).orders;
      t.is(order!.timeInForce, "ioc");
      t.true(order!.quantity! >= 3 && order!.quantity! <= 15);
      t.true(Math.abs(yesPrice(order!) - price) <= 3);
      t.true(yesPrice(order!) >= 3 && yesPrice(order!) <= 97);
    }
  }
});

test("a taker with sense trades toward the home of a price, and back when it has many shares", (t) => {
  const chance = randomFrom("sense").next;
  const bids = (sense: number, price: number, shares: Shares): boolean => {
    const standing = { cashCents: PLENTY_CENTS, shares, quotes: [] };
    return isBid(planTake(sense, { price, home: 50 }, standing, chance).orders[0]!);
  };
  for (let step = 0; step < 50; step++) {
    t.true(bids(1, 40, { yes: 250, no: 0 }));
    t.false(bids(1, 60, { yes: 0, no: 250 }));
    t.false(bids(1, 40, { yes: 251, no: 0 }));
    t.true(bids(1, 60, { yes: 0, no: 251 }));
    t.false(bids(0, 40, { yes: 0, no: 0 }));
  }
});

test("the past: the same for a seed, four weeks, each order filled by another trader", (t) => {
  const { steps, prices } = planPast(chanceFrom(7));
  t.deepEqual(planPast(chanceFrom(7)).steps, steps);
  t.notDeepEqual(planPast(chanceFrom(8)).steps, steps);
  t.is(prices.length, livingMarkets.length);

  const times = steps.map(({ hoursAgo }) => hoursAgo);
  t.deepEqual(
    times,
    [...new Set(times)].sort((a, b) => b - a),
  );
  t.true(times[0]! > 27 * 24 && times[0]! < 28 * 24 && times.at(-1)! > 0);

  const shares = livingMarkets.map(() => livingTraders.map(() => ({ yes: 0, no: 0 })));
  for (const { hoursAgo, orders, resolved } of steps) {
    t.is(orders.length % 2, 0);
    for (let index = 0; index < orders.length; index += 2) {
      const [made, taken] = [orders[index]!, orders[index + 1]!];
      t.true(isMaker(made.trader) && !isMaker(taken.trader));
      t.is(made.market, taken.market);
      t.is(made.terms.quantity, taken.terms.quantity);
      t.is(yesPrice(made.terms), yesPrice(taken.terms));
      t.not(isBid(made.terms), isBid(taken.terms));
      t.true(yesPrice(made.terms) >= 3 && yesPrice(made.terms) <= 97);
      const end = livingMarkets[made.market]!.resolved;
      t.true(end === undefined || hoursAgo >= end.daysAgo * 24);
      for (const { trader, market, terms } of [made, taken]) {
        const own = shares[market]![trader]!;
        own[terms.side] += terms.orderType === "sell" ? -terms.quantity! : terms.quantity!;
        t.true(own[terms.side] >= 0);
      }
    }
    for (const market of resolved) t.is(livingMarkets[market]!.resolved!.daysAgo * 24, hoursAgo);
  }
  t.deepEqual(
    steps.flatMap(({ resolved }) => resolved).sort(),
    livingMarkets.flatMap(({ resolved }, index) => (resolved ? [index] : [])),
  );
});
