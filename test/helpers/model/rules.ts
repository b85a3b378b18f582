import { cancelAll, cancelOne, cancelOpen, endOpen, endOpenOf, exclude } from "./cancels.ts";
import { merge, split } from "./conversions.ts";
import { bury, feeOf, isShort, meet, payFee, trade } from "./matching.ts";
import type { Dead, Match } from "./matching.ts";
import {
  DAY_MS,
  MOST_SHARES,
  Refused,
  cancel,
  hasExpired,
  holding,
  isOpen,
  isResting,
  openCost,
  openOf,
  passGates,
  passesLimit,
  pay,
  worstCost,
} from "./state.ts";
import type {
  Market,
  Model,
  ModelFill,
  ModelKey,
  ModelOrder,
  ModelOutcome,
  Reason,
  State,
} from "./state.ts";
import { marketOf, sentBefore, sentOf } from "./programs.ts";
import type { Limit, Order, Sent, Step } from "./programs.ts";
import { effective, mayBe } from "./terms.ts";

/**
 * The rules of the exchange once more, as plainly as they can be said: one order after another,
 * everything in lists that are looked through from end to end, no thought for speed. What the
 * database answers to a random program is held against this.
 */

export function runModel(
  start: { now: number; cents: number[]; limits: (Limit | null)[]; markets: number },
  program: Step[],
): Model {
  let state: State = {
    now: start.now,
    isPaused: false,
    traders: start.cents.map((cents, index) => ({
      cents,
      excludedUntil: 0,
      isFrozen: false,
      limit: limitOf(start.limits[index] ?? null),
      spent: new Map(),
    })),
    markets: Array.from({ length: start.markets }, () => ({
      status: "open",
      yesCents: null,
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
  const sent: Sent<number>[] = [];
  for (const step of program) {
    if (step.kind === "batch") {
      state = placeEach(state, outcomes, step);
      sent.push(...sentOf(step));
    } else if (step.kind === "keyed") {
      const target = targetOf(state, step);
      if (target === undefined) continue;
      sent.push({ ...step, target });
      state = carryOutOnce(state, outcomes, { ...step, target });
    } else if (step.kind === "repeat") {
      const again = sentBefore(sent, step);
      if (again?.kind === "batch") state = placeEach(state, outcomes, again);
      else if (again !== undefined) state = carryOutOnce(state, outcomes, again);
    } else if (step.kind === "amend") {
      const order = openOf(state, step.trader)[step.place];
      if (order === undefined || (step.price === null && step.quantity === null)) continue;
      const { number } = order;
      state = attempt(state, outcomes, (copy) => amend(copy, number, step));
    } else if (step.kind === "split") {
      state = attempt(state, outcomes, (copy) => split(copy, step));
    } else if (step.kind === "merge") {
      state = attempt(state, outcomes, (copy) => merge(copy, step));
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

/** The orders of a call, one after the other. */
function placeEach(
  before: State,
  outcomes: ModelOutcome[],
  batch: { market: number; orders: Order[] },
): State {
  let state = before;
  for (const order of batch.orders) {
    const market = marketOf(batch, order);
    state = attempt(state, outcomes, (copy) => place(copy, market, order));
  }
  return state;
}

/** The order that a command is about; null if it is about none, undefined if it is not there. */
function targetOf(
  state: State,
  { trader, command }: Extract<Step, { kind: "keyed" }>,
): number | null | undefined {
  if (command.kind === "amend") {
    if (command.price === null && command.quantity === null) return undefined;
    return openOf(state, trader)[command.place]?.number;
  }
  return command.kind === "cancel" ? openOf(state, trader)[command.place]?.number : null;
}

/** A command with a key: it happens once, and only if it is accepted does the key stand for it. */
function carryOutOnce(
  state: State,
  outcomes: ModelOutcome[],
  sent: Extract<Sent<number>, { kind: "keyed" }>,
): State {
  const { trader, key, command, target } = sent;
  const request = JSON.stringify([command, target]);
  const known = keyOf(state, trader, key);
  if (known !== undefined) {
    const isSame = known.answer !== null && known.request === request;
    outcomes.push(
      isSame
        ? { ...known.answer!, replayed: true }
        : { code: "IDEMPOTENCY_KEY_REUSED", replayed: false },
    );
    return state;
  }
  const made: ModelOutcome[] = [];
  let after = state;
  if (command.kind === "placeBatch") {
    after = placeEach(state, made, command);
    const { cents } = after.traders[trader]!;
    made.splice(0, made.length, { code: null, replayed: false, results: [...made], cents });
  } else {
    after = attempt(state, made, (copy) => {
      if (command.kind === "amend") return amend(copy, target!, { ...command, trader });
      if (command.kind === "cancel") return cancelOne(copy, target!);
      if (command.kind === "cancelAll") {
        const count = cancelAll(copy, { ...command, trader, isGone: false });
        return { code: null, replayed: false, count, cents: copy.traders[trader]!.cents };
      }
      return command.kind === "split"
        ? split(copy, { ...command, kind: "split", trader })
        : merge(copy, { ...command, kind: "merge", trader });
    });
  }
  const answer = made[0]!;
  outcomes.push(answer);
  if (answer.code === null) {
    after = structuredClone(after);
    after.keys.set(`${trader} ${key}`, { order: null, answer, request, at: after.now });
  }
  return after;
}

/** What a key of a trader stands for; after 24 hours nothing. */
function keyOf({ keys, now }: State, trader: number, key: number): ModelKey | undefined {
  const known = keys.get(`${trader} ${key}`);
  return known !== undefined && now - known.at < DAY_MS ? known : undefined;
}

type Event = Exclude<
  Step,
  { kind: "batch" | "keyed" | "repeat" | "amend" | "split" | "merge" | "release" }
>;

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
      if (!trader.isFrozen) trader.cents = Math.min(trader.cents, step.leave);
      break;
    }
    case "limit": {
      const { window, cents } = step;
      state.traders[step.trader]!.limit = limitOf(cents === null ? null : { window, cents });
      break;
    }
    case "exclude":
      exclude(state, step.trader, step.byHand);
      break;
    case "freeze":
      state.traders[step.trader]!.isFrozen = step.frozen;
      if (step.frozen && step.cancels) endOpenOf(state, step.trader, null, "trading_paused");
      break;
    case "cancelOrders":
      endOpenOf(state, step.trader, step.market, "user_cancelled");
      break;
    case "cancelAll":
      cancelAll(state, step);
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
    case "resolve":
      resolve(state, step.market, step.yesCents);
      break;
  }
}

function setMarket(state: State, index: number, status: Market["status"]): void {
  const market = state.markets[index]!;
  if (market.status === "resolved" || (market.status === "closed" && status === "paused")) return;
  if (market.status !== "closed" && status === "closed") {
    const open = state.orders.filter((order) => order.market === index && isOpen(order));
    endOpen(state, open, "market_closed");
  }
  market.status = status;
}

/** Pays every share; paid before, the difference. */
function resolve(state: State, index: number, yesCents: number): void {
  const market = state.markets[index]!;
  const isFirst = market.yesCents === null;
  if (isFirst) setMarket(state, index, "closed");
  for (const [name, held] of state.holdings) {
    const [where, trader, side] = name.split(" ");
    if (Number(where) !== index || held.quantity === 0) continue;
    const worth = (cents: number) => held.quantity * (side === "yes" ? cents : 100 - cents);
    const moved = worth(yesCents) - (isFirst ? 0 : worth(market.yesCents!));
    pay(state, Number(trader), moved);
    held.realised += moved - (isFirst ? held.cost + held.fees : 0);
  }
  market.status = "resolved";
  market.yesCents = yesCents;
}

function place(state: State, marketIndex: number | null, request: Order): ModelOutcome {
  if (isMalformed(request)) throw new Refused("INVALID_REQUEST");
  const trader = state.traders[request.trader]!;
  const requested = request.isStrict ? JSON.stringify([marketIndex, request]) : null;
  const known = request.key === null ? undefined : keyOf(state, request.trader, request.key);
  if (known !== undefined) {
    if (known.order === null) throw new Refused("IDEMPOTENCY_KEY_REUSED");
    const order = state.orders[known.order]!;
    const isKnown =
      known.request === null
        ? mayBe(state, order, marketIndex, request)
        : known.request === requested;
    if (requested !== null && !isKnown) throw new Refused("IDEMPOTENCY_KEY_REUSED");
    return { ...told(order, order.fills, []), replayed: true, cents: trader.cents, fee: null };
  }
  if (request.expiresIn !== null && request.expiresIn <= 0) throw new Refused("INVALID_REQUEST");
  passGates(state, request.trader);
  if (marketIndex === null) throw new Refused("MARKET_NOT_FOUND");
  const market = state.markets[marketIndex]!;
  if (market.status !== "open") throw new Refused("MARKET_NOT_OPEN");

  const { price, timeInForce } = effective(request);
  const order: ModelOrder = {
    number: state.orders.length,
    trader: request.trader,
    market: marketIndex,
    side: request.side,
    orderType: request.orderType,
    price,
    quantity: request.quantity ?? 0,
    filled: 0,
    status: "open",
    reason: null,
    expiresAt: request.expiresIn === null ? null : state.now + request.expiresIn,
    fills: [],
    budget: request.budgetCents,
    timeInForce,
    cancelsOwn: request.cancelsOwn,
    postOnly: request.postOnly,
    isMarket: request.price === null,
    releaseAt: null,
    queued: 0,
  };
  const { dead, fee } = takeOrder(state, order, null);
  if (request.key !== null) {
    state.keys.set(`${request.trader} ${request.key}`, {
      ...{ order: order.number, answer: null, request: requested, at: state.now },
    });
  }
  return { ...told(order, order.fills, dead), cents: trader.cents, fee };
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
  // The depth of the book says so: no maker is met, and none cancelled.
  if (isShort(state, order)) throw new Refused("INSUFFICIENT_LIQUIDITY");
  if (order.postOnly && bought > 0) throw new Refused("POST_ONLY_WOULD_CROSS");
  const isDone = order.budget !== null ? met.isSpent : bought === order.quantity;
  if (!mayRest && (bought === 0 || (order.timeInForce === "fok" && !isDone))) {
    const gone = met.dead.filter(({ stays }) => stays !== true);
    if (gone.length === 0) throw new Refused("INSUFFICIENT_LIQUIDITY");
    bury(state, gone);
    market.version += 1;
    throw new Refused("INSUFFICIENT_LIQUIDITY", state);
  }
  const isFunded = isBuy
    ? needed <= trader.cents
    : order.quantity <= holding(state, order.market, order.trader, order.side).quantity;
  if (!isFunded) throw new Refused("INSUFFICIENT_BALANCE");
  const own = met.dead.filter(({ reason }) => reason === "self_trade");
  const withoutOwn = structuredClone(state);
  for (const { order: resting, reason } of own) cancel(withoutOwn.orders[resting.number]!, reason);
  const open = openCost(withoutOwn, order.trader, relieved);
  if (isBuy && passesLimit(state, trader, open + needed)) throw new Refused("LOSS_LIMIT");

  market.version += 1;
  bury(state, met.dead);
  for (const match of met.taken) trade(state, order, match);
  payFee(state, order, fee, met.taken);
  tellMakers(state, met.taken);
  if (order.budget !== null) order.quantity = bought;
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

/** Scheduled orders whose time has come, in the order of release over all markets. */
function releaseDue(before: State): State {
  let state = before;
  const due = state.orders
    .filter(({ status, releaseAt }) => status === "scheduled" && releaseAt! <= state.now)
    .sort((a, b) => a.releaseAt! - b.releaseAt! || a.number - b.number);
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
    case "ACCOUNT_FROZEN":
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
  if (!isOpen(order)) throw new Refused("ORDER_NOT_AMENDABLE");
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
  return postOnly && (timeInForce !== "gtc" || price === null || budgetCents !== null);
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

function limitOf(limit: Limit | null): { days: number; cents: number } | null {
  if (limit === null) return null;
  return { days: { day: 1, week: 7, month: 30 }[limit.window], cents: limit.cents };
}
