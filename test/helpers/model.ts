import type { Order, Step } from "./programs.ts";

/**
 * The rules of the exchange once more, as plainly as they can be said: one order after another,
 * everything in lists that are looked through from end to end, no thought for speed. What the
 * database answers to a random program is held against this.
 */

const DAY_MS = 86_400_000;
const MOST_SHARES = 10_000;

type Side = "yes" | "no";
type Reason =
  | "user_cancelled"
  | "expired"
  | "self_excluded"
  | "insufficient_funds"
  | "position_insufficient"
  | "loss_limit"
  | "insufficient_liquidity";

interface Holding {
  quantity: number;
  cost: number;
  fees: number;
  realised: number;
}

interface Trader {
  cents: number;
  excludedUntil: number;
  limit: { days: number; cents: number } | null;
  /** Net cash put into trading by UTC day. */
  spent: Map<number, number>;
}

export interface ModelOrder {
  number: number;
  trader: number;
  market: number;
  side: Side;
  orderType: "buy" | "sell";
  price: number;
  quantity: number;
  filled: number;
  status: "open" | "partially_filled" | "filled" | "cancelled";
  reason: Reason | null;
  expiresAt: number | null;
  fills: ModelFill[];
}

interface ModelFill {
  yesPrice: number;
  quantity: number;
  maker: number;
}

interface Market {
  isOpen: boolean;
  version: number;
  lastPrice: number | null;
  yesVolume: number;
  noVolume: number;
  revenue: number;
}

export interface ModelOutcome {
  code: string | null;
  replayed: boolean;
  order?: Pick<ModelOrder, "number" | "quantity" | "filled" | "status" | "reason">;
  fills?: ModelFill[];
  cancelled?: { order: number; reason: Reason | null; filled: number }[];
  cents?: number;
  fee?: number | null;
}

interface State {
  now: number;
  isPaused: boolean;
  traders: Trader[];
  markets: Market[];
  orders: ModelOrder[];
  /** By market, trader and side. */
  holdings: Map<string, Holding>;
  keys: Map<string, { order: number; at: number }>;
}

export interface Model {
  outcomes: ModelOutcome[];
  state: State;
}

/** A refusal: whatever was done for the request so far is forgotten, but for `keeping`. */
class Refused extends Error {
  readonly code: string;
  readonly keeping: State | undefined;
  constructor(code: string, keeping?: State) {
    super(code);
    this.code = code;
    this.keeping = keeping;
  }
}

export function runModel(
  start: { now: number; cents: number[]; markets: number },
  program: Step[],
): Model {
  let state: State = {
    now: start.now,
    isPaused: false,
    traders: start.cents.map((cents) => ({
      cents,
      excludedUntil: 0,
      limit: null,
      spent: new Map(),
    })),
    markets: Array.from({ length: start.markets }, () => ({
      isOpen: true,
      version: 0,
      lastPrice: null,
      yesVolume: 0,
      noVolume: 0,
      revenue: 0,
    })),
    orders: [],
    holdings: new Map(),
    keys: new Map(),
  };
  const outcomes: ModelOutcome[] = [];
  for (const step of program) {
    if (step.kind !== "batch") {
      carryOut(state, step);
      continue;
    }
    for (const order of step.orders) {
      const attempt = structuredClone(state);
      try {
        outcomes.push(place(attempt, step.market, order));
        state = attempt;
      } catch (refused) {
        if (!(refused instanceof Refused)) throw refused;
        outcomes.push({ code: refused.code, replayed: false });
        state = refused.keeping ?? state;
      }
    }
  }
  return { outcomes, state };
}

function carryOut(state: State, step: Exclude<Step, { kind: "batch" }>): void {
  switch (step.kind) {
    case "advance":
      state.now += step.ms;
      break;
    case "deposit":
      state.traders[step.trader]!.cents += step.cents;
      break;
    case "withdraw": {
      const trader = state.traders[step.trader]!;
      trader.cents = Math.min(trader.cents, step.leave);
      break;
    }
    case "limit": {
      const days = { day: 1, week: 7, month: 30 }[step.window];
      state.traders[step.trader]!.limit = step.cents === null ? null : { days, cents: step.cents };
      break;
    }
    case "exclude":
      exclude(state, step.trader, step.byHand);
      break;
    case "cancel": {
      const order = restingOf(state, step.trader)[step.place];
      if (order === undefined) break;
      cancel(order, hasExpired(state, order) ? "expired" : "user_cancelled");
      state.markets[order.market]!.version += 1;
      break;
    }
    case "pauseSite":
      state.isPaused = step.paused;
      break;
    case "setMarket":
      state.markets[step.market]!.isOpen = step.status === "open";
      break;
  }
}

function exclude(state: State, index: number, byHand: boolean): void {
  const trader = state.traders[index]!;
  if (trader.excludedUntil > state.now) return;
  trader.excludedUntil = state.now + 3_600_000;
  if (byHand) return;
  const orders = restingOf(state, index);
  for (const market of new Set(orders.map((order) => order.market))) {
    state.markets[market]!.version += 1;
  }
  for (const order of orders) cancel(order, "self_excluded");
}

function place(state: State, marketIndex: number, request: Order): ModelOutcome {
  if (isMalformed(request)) throw new Refused("INVALID_REQUEST");
  const trader = state.traders[request.trader]!;
  const replay = findReplay(state, request);
  if (replay) {
    const { order, fills } = replay;
    return { ...told(order, fills, []), replayed: true, cents: trader.cents, fee: null };
  }
  const market = state.markets[marketIndex]!;
  if (state.isPaused) throw new Refused("TRADING_PAUSED");
  if (trader.excludedUntil > state.now) throw new Refused("SELF_EXCLUDED");
  if (!market.isOpen) throw new Refused("MARKET_NOT_OPEN");
  if (request.expiresIn !== null && request.expiresIn <= 0) throw new Refused("INVALID_REQUEST");

  const isBuy = request.orderType === "buy";
  const mayRest =
    request.price !== null && request.budgetCents === null && request.timeInForce === "gtc";
  const order: ModelOrder = {
    number: state.orders.length,
    trader: request.trader,
    market: marketIndex,
    side: request.side,
    orderType: request.orderType,
    price: request.price ?? (isBuy ? 99 : 1),
    quantity: request.quantity ?? MOST_SHARES,
    filled: 0,
    status: "open",
    reason: null,
    expiresAt: request.expiresIn === null ? null : state.now + request.expiresIn,
    fills: [],
  };
  // What the request would find, before any of it happens.
  const before = structuredClone(state);
  const met = meet(before, order, request.budgetCents);
  const bought = met.taken.reduce((sum, { quantity }) => sum + quantity, 0);
  const spent = met.taken.reduce((sum, match) => sum + match.quantity * match.price, 0);
  const fee = feeOf(met.taken);
  const remainder = mayRest ? order.quantity - bought : 0;
  const needed = spent + fee + remainder * order.price;

  if (met.own) throw new Refused("SELF_TRADE_BLOCKED");
  if (request.postOnly && bought > 0) throw new Refused("POST_ONLY_WOULD_CROSS");
  if (bought === 0 && !mayRest) {
    if (met.dead.length === 0) throw new Refused("INSUFFICIENT_LIQUIDITY");
    bury(state, met.dead);
    market.version += 1;
    throw new Refused("INSUFFICIENT_LIQUIDITY", state);
  }
  const isFunded = isBuy
    ? needed <= trader.cents
    : order.quantity <= holding(state, marketIndex, request.trader, request.side).quantity;
  if (!isFunded) throw new Refused("INSUFFICIENT_BALANCE");
  if (isBuy && passesLimit(state, trader, openCost(state, request.trader) + needed)) {
    throw new Refused("LOSS_LIMIT");
  }

  market.version += 1;
  bury(state, met.dead);
  for (const match of met.taken) trade(state, order, match);
  payFee(state, order, fee, met.taken);
  if (request.budgetCents !== null) order.quantity = bought;
  const isDone = request.budgetCents !== null ? met.isSpent : bought === order.quantity;
  if (isDone) order.status = "filled";
  else if (!mayRest) cancel(order, "insufficient_liquidity");
  else order.status = bought > 0 ? "partially_filled" : "open";
  state.orders.push(order);
  if (request.key !== null) {
    state.keys.set(`${request.trader} ${request.key}`, { order: order.number, at: state.now });
  }
  return {
    ...told(order, order.fills, met.dead),
    cents: trader.cents,
    fee,
  };
}

function isMalformed({ quantity, postOnly, timeInForce, price, budgetCents }: Order): boolean {
  if (quantity !== null && (quantity < 1 || quantity > MOST_SHARES)) return true;
  return postOnly && (timeInForce === "ioc" || price === null || budgetCents !== null);
}

function findReplay(state: State, { trader, key }: Order) {
  const known = key === null ? undefined : state.keys.get(`${trader} ${key}`);
  if (known === undefined || state.now - known.at >= DAY_MS) return undefined;
  const order = state.orders[known.order]!;
  return { order, fills: order.fills };
}

function told(
  { number, quantity, filled, status, reason }: ModelOrder,
  fills: ModelFill[],
  dead: Dead[],
): ModelOutcome {
  return {
    code: null,
    replayed: false,
    order: { number, quantity, filled, status, reason },
    fills: [...fills],
    cancelled: dead.map(({ order, reason: why }) => ({
      order: order.number,
      reason: why,
      filled: order.filled,
    })),
  };
}

interface Match {
  maker: ModelOrder;
  quantity: number;
  /** What a share costs on the taker's stored side. */
  price: number;
}

interface Dead {
  order: ModelOrder;
  reason: Reason;
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
function meet(state: State, taker: ModelOrder, budget: number | null): Met {
  const met: Met = { taken: [], dead: [], own: false, isSpent: false };
  const takerPrice = storedPrice(taker);
  let wanted = taker.quantity;
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
    if (maker.trader === taker.trader) {
      met.own = true;
      break;
    }
    const reason = whyDead(state, maker, quantity);
    if (reason !== null) {
      met.dead.push({ order: maker, reason });
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
    .sort((a, b) => storedPrice(b) - storedPrice(a) || a.number - b.number);
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

function bury(state: State, dead: Dead[]): void {
  for (const { order, reason } of dead) cancel(state.orders[order.number]!, reason);
}

function trade(state: State, taker: ModelOrder, { maker, quantity, price }: Match): void {
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
function payFee(state: State, taker: ModelOrder, fee: number, matches: Match[]): void {
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
  const held = holding(state, order.market, order.trader, order.side);
  const cost = Math.floor((held.cost * quantity) / held.quantity + 0.5);
  const fees = Math.floor((held.fees * quantity) / held.quantity + 0.5);
  held.quantity -= quantity;
  held.cost -= cost;
  held.fees -= fees;
  held.realised += cents - fee - cost - fees;
}

function pay(state: State, index: number, cents: number): void {
  const trader = state.traders[index]!;
  const today = Math.floor(state.now / DAY_MS);
  trader.cents += cents;
  trader.spent.set(today, (trader.spent.get(today) ?? 0) - cents);
}

function passesLimit(state: State, { limit, spent }: Trader, cents: number): boolean {
  if (limit === null) return false;
  const today = Math.floor(state.now / DAY_MS);
  let used = 0;
  for (const [day, net] of spent) if (day > today - limit.days) used += net;
  return Math.max(0, used) + cents > limit.cents;
}

function openCost(state: State, trader: number): number {
  return restingOf(state, trader)
    .filter((order) => order.orderType === "buy" && !hasExpired(state, order))
    .reduce((sum, order) => sum + (order.quantity - order.filled) * order.price, 0);
}

function feeOf(matches: Match[]): number {
  const weight = matches.reduce(
    (sum, { quantity, price }) => sum + quantity * price * (100 - price),
    0,
  );
  return Math.ceil((700 * weight) / 1_000_000);
}

function costOf(matches: Match[]): number {
  return matches.reduce((sum, match) => sum + match.quantity * match.price, 0) + feeOf(matches);
}

function holding(state: State, market: number, trader: number, side: Side): Holding {
  const name = `${market} ${trader} ${side}`;
  const held = state.holdings.get(name) ?? { quantity: 0, cost: 0, fees: 0, realised: 0 };
  state.holdings.set(name, held);
  return held;
}

function restingOf(state: State, trader: number): ModelOrder[] {
  return state.orders.filter((order) => order.trader === trader && isResting(order));
}

function isResting({ status }: ModelOrder): boolean {
  return status === "open" || status === "partially_filled";
}

function hasExpired({ now }: State, { expiresAt }: ModelOrder): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function storedSide({ side, orderType }: ModelOrder): Side {
  if (orderType === "buy") return side;
  return side === "yes" ? "no" : "yes";
}

function storedPrice({ price, orderType }: ModelOrder): number {
  return orderType === "buy" ? price : 100 - price;
}

function cancel(order: ModelOrder, reason: Reason): void {
  order.status = "cancelled";
  order.reason = reason;
}
