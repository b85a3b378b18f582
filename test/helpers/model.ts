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
  | "user_amended"
  | "market_closed"
  | "trading_paused"
  | "self_trade"
  | "post_only_would_cross"
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
  status: "scheduled" | "open" | "partially_filled" | "filled" | "cancelled";
  reason: Reason | null;
  expiresAt: number | null;
  fills: ModelFill[];
  budget: number | null;
  timeInForce: "gtc" | "ioc";
  postOnly: boolean;
  /** Came without a price. */
  isMarket: boolean;
  releaseAt: number | null;
  /** Its place among all that ever came to rest. */
  queued: number;
}

interface ModelFill {
  yesPrice: number;
  quantity: number;
  maker: number;
}

interface Market {
  status: "open" | "paused" | "closed";
  /** Of a live market. */
  delayMs: number | null;
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
  /** Of an amendment: whether anything changed, and which order was replaced. */
  amended?: boolean;
  replaced?: number | null;
}

/** What a user is told besides answers. */
export interface ModelEvent {
  trader: number;
  type: "order_pending" | "order_released" | "order_cancelled" | "maker_fill";
  orders: number[];
  status?: string;
  reason?: Reason | null;
  fills?: number;
  cents?: number | null;
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
  events: ModelEvent[];
  /** How many orders ever came to rest. */
  queued: number;
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
      status: "open",
      delayMs: null,
      version: 0,
      lastPrice: null,
      yesVolume: 0,
      noVolume: 0,
      revenue: 0,
    })),
    orders: [],
    holdings: new Map(),
    keys: new Map(),
    events: [],
    queued: 0,
  };
  const outcomes: ModelOutcome[] = [];
  for (const step of program) {
    if (step.kind === "batch") {
      for (const order of step.orders) {
        state = attempt(state, outcomes, (copy) => place(copy, step.market, order));
      }
    } else if (step.kind === "amend") {
      const order = openOf(state, step.trader)[step.place];
      if (order === undefined || (step.price === null && step.quantity === null)) continue;
      const { number } = order;
      state = attempt(state, outcomes, (copy) => amend(copy, number, step));
    } else if (step.kind === "release") {
      state.now += step.ms;
      state = releaseDue(state);
    } else {
      carryOut(state, step);
    }
  }
  return { outcomes, state };
}

/** Does something on a copy: the state afterwards, which is the one before if it is refused. */
function attempt(
  state: State,
  outcomes: ModelOutcome[],
  work: (copy: State) => ModelOutcome,
): State {
  const copy = structuredClone(state);
  try {
    outcomes.push(work(copy));
    return copy;
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    outcomes.push({ code: refused.code, replayed: false });
    return refused.keeping ?? state;
  }
}

type Event = Exclude<Step, { kind: "batch" | "amend" | "release" }>;

function carryOut(state: State, step: Event): void {
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
      const order = openOf(state, step.trader)[step.place];
      if (order === undefined) break;
      const expired = hasExpired(state, order);
      cancelOpen(state, [order], expired ? "expired" : "user_cancelled", expired);
      break;
    }
    case "setLive":
      state.markets[step.market]!.delayMs = step.delayMs;
      break;
    case "sweepExpired":
      for (const market of state.markets.keys()) {
        const expired = state.orders.filter(
          (order) => order.market === market && isResting(order) && hasExpired(state, order),
        );
        cancelOpen(state, expired, "expired", true);
      }
      break;
    case "pauseSite":
      state.isPaused = step.paused;
      break;
    case "setMarket":
      setMarket(state, step.market, step.status);
      break;
  }
}

function setMarket(state: State, index: number, status: Market["status"]): void {
  const market = state.markets[index]!;
  if (market.status === "closed" && status === "paused") return;
  if (market.status !== "closed" && status === "closed") {
    const open = state.orders.filter((order) => order.market === index && isOpen(order));
    cancelOpen(state, open, "market_closed", true);
  }
  market.status = status;
}

/** Orders of one market leave its book or their delay: one change of it, if any left the book. */
function cancelOpen(state: State, orders: ModelOrder[], reason: Reason, isTold: boolean): void {
  if (orders.some(isResting)) state.markets[orders[0]!.market]!.version += 1;
  for (const order of orders) {
    cancel(order, reason);
    if (isTold) tellCancelled(state, order);
  }
}

function tellCancelled(state: State, { number, trader, reason }: ModelOrder): void {
  state.events.push({ trader, type: "order_cancelled", orders: [number], reason });
}

function exclude(state: State, index: number, byHand: boolean): void {
  const trader = state.traders[index]!;
  if (trader.excludedUntil > state.now) return;
  trader.excludedUntil = state.now + 3_600_000;
  if (byHand) return;
  const orders = openOf(state, index);
  for (const market of new Set(orders.map((order) => order.market))) {
    const here = orders.filter((order) => order.market === market);
    cancelOpen(state, here, "self_excluded", true);
  }
}

function place(state: State, marketIndex: number, request: Order): ModelOutcome {
  if (isMalformed(request)) throw new Refused("INVALID_REQUEST");
  const trader = state.traders[request.trader]!;
  const replay = findReplay(state, request);
  if (replay) {
    const { order, fills } = replay;
    return { ...told(order, fills, []), replayed: true, cents: trader.cents, fee: null };
  }
  passGates(state, request.trader);
  const market = state.markets[marketIndex]!;
  if (market.status !== "open") throw new Refused("MARKET_NOT_OPEN");
  if (request.expiresIn !== null && request.expiresIn <= 0) throw new Refused("INVALID_REQUEST");

  const isBudget = request.budgetCents !== null;
  const order: ModelOrder = {
    number: state.orders.length,
    trader: request.trader,
    market: marketIndex,
    side: request.side,
    orderType: request.orderType,
    price: request.price ?? (request.orderType === "buy" ? 99 : 1),
    quantity: request.quantity ?? 0,
    filled: 0,
    status: "open",
    reason: null,
    expiresAt: request.expiresIn === null ? null : state.now + request.expiresIn,
    fills: [],
    budget: request.budgetCents,
    timeInForce: request.price === null || isBudget ? "ioc" : request.timeInForce,
    postOnly: request.postOnly,
    isMarket: request.price === null,
    releaseAt: null,
    queued: 0,
  };
  const { dead, fee } = takeOrder(state, order, null);
  if (request.key !== null) {
    state.keys.set(`${request.trader} ${request.key}`, { order: order.number, at: state.now });
  }
  return { ...told(order, order.fills, dead), cents: trader.cents, fee };
}

function passGates(state: State, trader: number): void {
  if (state.isPaused) throw new Refused("TRADING_PAUSED");
  if (state.traders[trader]!.excludedUntil > state.now) throw new Refused("SELF_EXCLUDED");
}

/** A new order: matched now, or scheduled on a live market. `replaced` is left out of the sums. */
function takeOrder(
  state: State,
  order: ModelOrder,
  replaced: ModelOrder | null,
): { dead: Dead[]; fee: number | null } {
  const { delayMs } = state.markets[order.market]!;
  if (delayMs === null) {
    const done = execute(state, order, replaced);
    state.orders.push(order);
    return done;
  }
  const trader = state.traders[order.trader]!;
  const isFunded =
    order.orderType === "buy"
      ? (order.budget ?? (order.isMarket ? 0 : order.quantity * order.price)) <= trader.cents
      : order.quantity <= holding(state, order.market, order.trader, order.side).quantity;
  if (!isFunded) throw new Refused("INSUFFICIENT_BALANCE");
  const cost = openCost(state, order.trader, replaced) + worstCost(order);
  if (order.orderType === "buy" && passesLimit(state, trader, cost)) {
    throw new Refused("LOSS_LIMIT");
  }
  order.status = "scheduled";
  order.releaseAt = state.now + delayMs;
  state.orders.push(order);
  state.events.push({ trader: order.trader, type: "order_pending", orders: [order.number] });
  return { dead: [], fee: null };
}

/** Matches an order and lets it rest, or refuses it. `relieved` is left out of the sums. */
function execute(
  state: State,
  order: ModelOrder,
  relieved: ModelOrder | null,
): { dead: Dead[]; fee: number } {
  const market = state.markets[order.market]!;
  const trader = state.traders[order.trader]!;
  const isBuy = order.orderType === "buy";
  const mayRest = order.timeInForce === "gtc";
  // What the order would find, before any of it happens.
  const met = meet(structuredClone(state), order);
  const bought = met.taken.reduce((sum, { quantity }) => sum + quantity, 0);
  const spent = met.taken.reduce((sum, match) => sum + match.quantity * match.price, 0);
  const fee = feeOf(met.taken);
  const remainder = mayRest ? order.quantity - bought : 0;
  const needed = spent + fee + remainder * order.price;

  if (met.own) throw new Refused("SELF_TRADE_BLOCKED");
  if (order.postOnly && bought > 0) throw new Refused("POST_ONLY_WOULD_CROSS");
  if (bought === 0 && !mayRest) {
    if (met.dead.length === 0) throw new Refused("INSUFFICIENT_LIQUIDITY");
    bury(state, met.dead);
    market.version += 1;
    throw new Refused("INSUFFICIENT_LIQUIDITY", state);
  }
  const isFunded = isBuy
    ? needed <= trader.cents
    : order.quantity <= holding(state, order.market, order.trader, order.side).quantity;
  if (!isFunded) throw new Refused("INSUFFICIENT_BALANCE");
  if (isBuy && passesLimit(state, trader, openCost(state, order.trader, relieved) + needed)) {
    throw new Refused("LOSS_LIMIT");
  }

  market.version += 1;
  bury(state, met.dead);
  for (const match of met.taken) trade(state, order, match);
  payFee(state, order, fee, met.taken);
  tellMakers(state, met.taken);
  if (order.budget !== null) order.quantity = bought;
  const isDone = order.budget !== null ? met.isSpent : bought === order.quantity;
  if (isDone) order.status = "filled";
  else if (!mayRest) cancel(order, "insufficient_liquidity");
  else {
    order.status = bought > 0 ? "partially_filled" : "open";
    order.queued = ++state.queued;
  }
  return { dead: met.dead, fee };
}

/** Each maker once, with all of their orders that were met. */
function tellMakers(state: State, matches: Match[]): void {
  const makers = new Map<number, number[]>();
  for (const { maker } of matches) {
    makers.set(maker.trader, [...(makers.get(maker.trader) ?? []), maker.number]);
  }
  for (const [trader, orders] of makers) {
    state.events.push({ trader, type: "maker_fill", orders, fills: orders.length });
  }
}

/** Scheduled orders whose time has come, those of each market in the order of release. */
function releaseDue(before: State): State {
  let state = before;
  const due = state.orders
    .filter(({ status, releaseAt }) => status === "scheduled" && releaseAt! <= state.now)
    .sort((a, b) => a.market - b.market || a.releaseAt! - b.releaseAt! || a.number - b.number);
  for (const { number } of due) state = release(state, number);
  return state;
}

function release(before: State, number: number): State {
  let state = structuredClone(before);
  let fee: number | null = null;
  let cents: number | null = null;
  try {
    const order = state.orders[number]!;
    passGates(state, order.trader);
    if (state.markets[order.market]!.status !== "open") throw new Refused("MARKET_NOT_OPEN");
    if (hasExpired(state, order)) throw new Refused("INVALID_REQUEST");
    fee = execute(state, order, order).fee;
    cents = state.traders[order.trader]!.cents;
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    state = refused.keeping ?? structuredClone(before);
    const order = state.orders[number]!;
    cancel(order, reasonOf(refused.code, order));
  }
  const { trader, status, reason, fills } = state.orders[number]!;
  const event = { trader, orders: [number], status, reason, fills: fills.length, cents, fee };
  state.events.push({ type: "order_released", ...event });
  return state;
}

function reasonOf(code: string, { orderType }: ModelOrder): Reason {
  switch (code) {
    case "TRADING_PAUSED":
      return "trading_paused";
    case "SELF_EXCLUDED":
      return "self_excluded";
    case "MARKET_NOT_OPEN":
      return "market_closed";
    case "INVALID_REQUEST":
      return "expired";
    case "SELF_TRADE_BLOCKED":
      return "self_trade";
    case "POST_ONLY_WOULD_CROSS":
      return "post_only_would_cross";
    case "INSUFFICIENT_LIQUIDITY":
      return "insufficient_liquidity";
    case "INSUFFICIENT_BALANCE":
      return orderType === "buy" ? "insufficient_funds" : "position_insufficient";
    case "LOSS_LIMIT":
      return "loss_limit";
    default:
      throw new Error(`no release is refused with ${code}`);
  }
}

function amend(
  state: State,
  number: number,
  { price, quantity }: Extract<Step, { kind: "amend" }>,
): ModelOutcome {
  const order = state.orders[number]!;
  passGates(state, order.trader);
  if (hasExpired(state, order)) {
    cancelOpen(state, [order], "expired", true);
    throw new Refused("ORDER_NOT_AMENDABLE", state);
  }
  if (quantity !== null && quantity <= order.filled) throw new Refused("BELOW_FILLED");
  if (order.budget !== null) throw new Refused("BUDGET_ORDER_NOT_AMENDABLE");
  const newPrice = price ?? order.price;
  const newQuantity = quantity ?? order.quantity;
  const answered = (changed: ModelOrder, amended: boolean): ModelOutcome => {
    const { number: which, quantity: total, filled, status, reason } = changed;
    const shown = { number: which, quantity: total, filled, status, reason };
    return { code: null, replayed: false, order: shown, amended, replaced: null };
  };
  if (newPrice === order.price && newQuantity === order.quantity) return answered(order, false);
  if (state.markets[order.market]!.status !== "open") throw new Refused("MARKET_NOT_OPEN");
  if (newPrice === order.price && newQuantity < order.quantity && order.status !== "scheduled") {
    order.quantity = newQuantity;
    state.markets[order.market]!.version += 1;
    return answered(order, true);
  }

  const wasResting = isResting(order);
  const replacement: ModelOrder = {
    ...structuredClone(order),
    number: state.orders.length,
    price: newPrice,
    quantity: newQuantity - order.filled,
    filled: 0,
    status: "open",
    fills: [],
    isMarket: order.isMarket && price === null,
    releaseAt: null,
  };
  let fee: number | null;
  try {
    ({ fee } = takeOrder(state, replacement, order));
  } catch (refused) {
    // Whatever a refused replacement met stays as well.
    throw refused instanceof Refused ? new Refused(refused.code) : refused;
  }
  cancel(order, "user_amended");
  if (fee === null && wasResting) state.markets[order.market]!.version += 1;
  return {
    ...answered(replacement, true),
    replaced: number,
    fills: [...replacement.fills],
    fee: fee ?? 0,
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
function meet(state: State, taker: ModelOrder): Met {
  const met: Met = { taken: [], dead: [], own: false, isSpent: false };
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
    .sort((a, b) => storedPrice(b) - storedPrice(a) || a.queued - b.queued);
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
  for (const { order, reason } of dead) {
    cancel(state.orders[order.number]!, reason);
    tellCancelled(state, state.orders[order.number]!);
  }
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

function openCost(state: State, trader: number, except: ModelOrder | null): number {
  return openOf(state, trader)
    .filter((order) => order.orderType === "buy" && !hasExpired(state, order))
    .filter((order) => order.number !== except?.number)
    .map((order) =>
      order.status === "scheduled"
        ? worstCost(order)
        : (order.quantity - order.filled) * order.price,
    )
    .reduce((sum, cents) => sum + cents, 0);
}

/** The most that a scheduled order could cost. */
function worstCost({ orderType, budget, quantity, price }: ModelOrder): number {
  if (orderType === "sell") return 0;
  return budget ?? quantity * price + Math.ceil((700 * quantity * price * (100 - price)) / 1e6);
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

/** A trader's orders, resting and scheduled ones. */
function openOf(state: State, trader: number): ModelOrder[] {
  return state.orders.filter((order) => order.trader === trader && isOpen(order));
}

function isOpen(order: ModelOrder): boolean {
  return order.status === "scheduled" || isResting(order);
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
