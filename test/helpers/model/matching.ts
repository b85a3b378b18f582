import {
  MOST_SHARES,
  cancel,
  hasExpired,
  holding,
  isResting,
  passesLimit,
  pay,
  storedPrice,
  storedSide,
  tellCancelled,
} from "./state.ts";
import type { Holding, ModelOrder, Reason, State } from "./state.ts";

/** How an order meets the book in the plain rules of model.ts, and what a trade moves. */

export interface Match {
  maker: ModelOrder;
  quantity: number;
  /** What a share costs on the taker's stored side. */
  price: number;
}

export interface Dead {
  order: ModelOrder;
  reason: Reason;
  /** If the taker is rejected: it is the taker's own, or only the taker's trades have starved it. */
  stays?: boolean;
}

interface Met {
  taken: Match[];
  dead: Dead[];
  /** The caller's own order was reached. */
  own: boolean;
  /** The budget can't pay for one share more at the next price. */
  isSpent: boolean;
}

/** Walks the other side of the book; `state` is a copy, on which the makers are tried out. */
export function meet(state: State, taker: ModelOrder): Met {
  const met: Met = { taken: [], dead: [], own: false, isSpent: false };
  const before = structuredClone(state);
  const takerPrice = storedPrice(taker);
  const { budget } = taker;
  let wanted = budget === null ? taker.quantity : MOST_SHARES;
  for (const maker of otherSide(state, taker)) {
    if (wanted === 0 || takerPrice + storedPrice(maker) < 100) break;
    if (hasExpired(state, maker)) {
      met.dead.push({ order: maker, reason: "expired" });
      continue;
    }
    const price = 100 - storedPrice(maker);
    let quantity = Math.min(wanted, maker.quantity - maker.filled);
    if (budget !== null) {
      while (quantity > 0 && costOf([...met.taken, { maker, quantity, price }]) > budget) {
        quantity -= 1;
      }
      if (quantity === 0) {
        met.isSpent = true;
        break;
      }
    }
    if (maker.trader === taker.trader && taker.cancelsOwn) {
      met.dead.push({ order: maker, reason: "self_trade", stays: true });
      continue;
    }
    if (maker.trader === taker.trader) {
      met.own = true;
      break;
    }
    const reason = whyDead(state, maker, quantity);
    if (reason !== null) {
      const hasTraded = met.taken.some((match) => match.maker.trader === maker.trader);
      const stays = hasTraded && whyDead(before, maker, quantity) === null;
      met.dead.push({ order: maker, reason, stays });
      continue;
    }
    met.taken.push({ maker, quantity, price });
    wanted -= quantity;
    settleMaker(state, maker, quantity);
    if (budget !== null && quantity < maker.quantity - maker.filled) {
      met.isSpent = true;
      break;
    }
  }
  if (budget !== null && !met.isSpent) {
    // Nothing is left to buy: spent only if not even a share at 1 cent could be paid for.
    const cheapest = { maker: taker, quantity: 1, price: 1 };
    met.isSpent = wanted === 0 || costOf([...met.taken, cheapest]) > budget;
  }
  return met;
}

/** The resting orders of the other stored side, best price first, then the earliest. */
function otherSide(state: State, taker: ModelOrder): ModelOrder[] {
  return state.orders
    .filter((order) => order.market === taker.market && isResting(order))
    .filter((order) => storedSide(order) !== storedSide(taker))
    .sort((a, b) => storedPrice(b) - storedPrice(a) || a.queued - b.queued);
}

/** Whether an order that is filled as a whole asks for more than stands within its price. */
export function isShort(state: State, taker: ModelOrder): boolean {
  if (taker.timeInForce !== "fok" || taker.budget !== null) return false;
  const shares = otherSide(state, taker)
    .filter((maker) => storedPrice(taker) + storedPrice(maker) >= 100 && !hasExpired(state, maker))
    .reduce((sum, maker) => sum + maker.quantity - maker.filled, 0);
  return shares < taker.quantity;
}

function whyDead(state: State, maker: ModelOrder, quantity: number): Reason | null {
  const trader = state.traders[maker.trader]!;
  if (trader.excludedUntil > state.now) return "self_excluded";
  if (maker.orderType === "sell") {
    const { quantity: held } = holding(state, maker.market, maker.trader, maker.side);
    return held < quantity ? "position_insufficient" : null;
  }
  if (trader.cents < quantity * maker.price) return "insufficient_funds";
  return passesLimit(state, trader, quantity * maker.price) ? "loss_limit" : null;
}

export function bury(state: State, dead: Dead[]): void {
  for (const { order, reason } of dead) {
    cancel(state.orders[order.number]!, reason);
    tellCancelled(state, state.orders[order.number]!);
  }
}

export function trade(state: State, taker: ModelOrder, { maker, quantity, price }: Match): void {
  const market = state.markets[taker.market]!;
  const yesPrice = storedSide(taker) === "yes" ? price : 100 - price;
  market.lastPrice = yesPrice;
  market.yesVolume += quantity * yesPrice;
  market.noVolume += quantity * (100 - yesPrice);
  const resting = state.orders[maker.number]!;
  settleMaker(state, resting, quantity);
  resting.filled += quantity;
  resting.status = resting.filled === resting.quantity ? "filled" : "partially_filled";
  taker.filled += quantity;
  taker.fills.push({ yesPrice, quantity, maker: maker.number });
}

function settleMaker(state: State, maker: ModelOrder, quantity: number): void {
  const cents = maker.price * quantity;
  if (maker.orderType === "buy") take(state, maker, quantity, cents, 0);
  else give(state, maker, quantity, cents, 0);
}

/** The taker's side of all its matches, each with the part of the fee that it added. */
export function payFee(state: State, taker: ModelOrder, fee: number, matches: Match[]): void {
  state.markets[taker.market]!.revenue += fee;
  let charged = 0;
  matches.forEach(({ quantity, price }, index) => {
    const added = feeOf(matches.slice(0, index + 1)) - charged;
    charged += added;
    if (taker.orderType === "buy") take(state, taker, quantity, quantity * price, added);
    else give(state, taker, quantity, quantity * (100 - price), added);
  });
}

/** Shares for cash. */
function take(state: State, order: ModelOrder, quantity: number, cents: number, fee: number) {
  pay(state, order.trader, -cents - fee);
  const held = holding(state, order.market, order.trader, order.side);
  held.quantity += quantity;
  held.cost += cents;
  held.fees += fee;
}

/** Cash for shares: their part of cost and fees goes with them, rounded half up. */
function give(state: State, order: ModelOrder, quantity: number, cents: number, fee: number) {
  pay(state, order.trader, cents - fee);
  giveUp(holding(state, order.market, order.trader, order.side), quantity, cents - fee);
}

export function giveUp(held: Holding, quantity: number, proceeds: number): void {
  const cost = Math.floor((held.cost * quantity) / held.quantity + 0.5);
  const fees = Math.floor((held.fees * quantity) / held.quantity + 0.5);
  held.quantity -= quantity;
  held.cost -= cost;
  held.fees -= fees;
  held.realised += proceeds - cost - fees;
}

export function feeOf(matches: Match[]): number {
  const weight = matches.reduce(
    (sum, { quantity, price }) => sum + quantity * price * (100 - price),
    0,
  );
  return Math.ceil((700 * weight) / 1_000_000);
}

function costOf(matches: Match[]): number {
  return matches.reduce((sum, match) => sum + match.quantity * match.price, 0) + feeOf(matches);
}
