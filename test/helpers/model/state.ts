/** What the plain rules of model.ts are about. */

export const DAY_MS = 86_400_000;
export const MOST_SHARES = 10_000;

type Side = "yes" | "no";
export type Reason =
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

export interface Holding {
  quantity: number;
  cost: number;
  fees: number;
  realised: number;
}

interface Trader {
  cents: number;
  excludedUntil: number;
  isFrozen: boolean;
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
  timeInForce: "gtc" | "ioc" | "fok";
  cancelsOwn: boolean;
  postOnly: boolean;
  /** Came without a price. */
  isMarket: boolean;
  releaseAt: number | null;
  /** Its place among all orders that ever rested. */
  queued: number;
}

export interface ModelFill {
  yesPrice: number;
  quantity: number;
  maker: number;
}

export interface Market {
  status: "open" | "paused" | "closed" | "resolved";
  /** What a YES share was paid. */
  yesCents: number | null;
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
  /** Of a cancel of all orders. */
  count?: number;
  /** Of a batch with a key. */
  results?: ModelOutcome[];
}

/** What a key stands for: an order, or the first answer of a command. */
export interface ModelKey {
  order: number | null;
  answer: ModelOutcome | null;
  /** What was asked for; null: anything with this key is the same order. */
  request: string | null;
  at: number;
}

/** The events of a user. */
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

export interface State {
  now: number;
  isPaused: boolean;
  traders: Trader[];
  markets: Market[];
  orders: ModelOrder[];
  /** By market, trader and side. */
  holdings: Map<string, Holding>;
  /** By trader and key. */
  keys: Map<string, ModelKey>;
  events: ModelEvent[];
  /** How many orders ever rested. */
  queued: number;
}

export interface Model {
  outcomes: ModelOutcome[];
  state: State;
}

/** A rejection: the effects of the request so far are undone, except `keeping`. */
export class Refused extends Error {
  readonly code: string;
  readonly keeping: State | undefined;
  constructor(code: string, keeping?: State) {
    super(code);
    this.code = code;
    this.keeping = keeping;
  }
}

export function pay(state: State, index: number, cents: number): void {
  const trader = state.traders[index]!;
  const today = Math.floor(state.now / DAY_MS);
  trader.cents += cents;
  trader.spent.set(today, (trader.spent.get(today) ?? 0) - cents);
}

export function passesLimit(state: State, { limit, spent }: Trader, cents: number): boolean {
  if (limit === null) return false;
  const today = Math.floor(state.now / DAY_MS);
  let used = 0;
  for (const [day, net] of spent) if (day > today - limit.days) used += net;
  return Math.max(0, used) + cents > limit.cents;
}

export function openCost(state: State, trader: number, except: ModelOrder | null): number {
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
export function worstCost({ orderType, budget, quantity, price }: ModelOrder): number {
  if (orderType === "sell") return 0;
  return budget ?? quantity * price + Math.ceil((700 * quantity * price * (100 - price)) / 1e6);
}

export function holding(state: State, market: number, trader: number, side: Side): Holding {
  const name = `${market} ${trader} ${side}`;
  const held = state.holdings.get(name) ?? { quantity: 0, cost: 0, fees: 0, realised: 0 };
  state.holdings.set(name, held);
  return held;
}

/** A trader's orders, resting and scheduled ones. */
export function openOf(state: State, trader: number): ModelOrder[] {
  return state.orders.filter((order) => order.trader === trader && isOpen(order));
}

export function isOpen(order: ModelOrder): boolean {
  return order.status === "scheduled" || isResting(order);
}

export function isResting({ status }: ModelOrder): boolean {
  return status === "open" || status === "partially_filled";
}

export function hasExpired({ now }: State, { expiresAt }: ModelOrder): boolean {
  return expiresAt !== null && expiresAt <= now;
}

export function storedSide({ side, orderType }: ModelOrder): Side {
  if (orderType === "buy") return side;
  return side === "yes" ? "no" : "yes";
}

export function storedPrice({ price, orderType }: ModelOrder): number {
  return orderType === "buy" ? price : 100 - price;
}

export function cancel(order: ModelOrder, reason: Reason): void {
  order.status = "cancelled";
  order.reason = reason;
}

export function tellCancelled(state: State, { number, trader, reason }: ModelOrder): void {
  state.events.push({ trader, type: "order_cancelled", orders: [number], reason });
}

/** What stops every command but a cancel. */
export function passGates(state: State, trader: number): void {
  if (state.isPaused) throw new Refused("TRADING_PAUSED");
  if (state.traders[trader]!.excludedUntil > state.now) throw new Refused("SELF_EXCLUDED");
  if (state.traders[trader]!.isFrozen) throw new Refused("ACCOUNT_FROZEN");
}
