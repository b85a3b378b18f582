import type { PoolClient } from "pg";

/**
 * What has happened, from the rows that say so and from nothing that adds them up: orders, trades,
 * conversions, resolutions and cash movements. Shares, cost, profit and cash are worked out here.
 */

export type Side = "yes" | "no";

export interface Fill {
  trade: number;
  market: number;
  role: "taker" | "maker";
  order: number;
  user: number;
  counterparty: number;
  side: Side;
  type: "buy" | "sell";
  /** Of the user's side. */
  price: number;
  quantity: number;
  fee: number;
  at: number;
}

export interface Holding {
  market: number;
  user: number;
  side: Side;
  quantity: number;
  cost: number;
  fees: number;
  realised: number;
}

/** What one event brought to a user beyond what the shares had cost. */
interface Profit {
  of: Holding;
  user: number;
  at: number;
  kind: "sale" | "merge" | "settlement";
  cents: number;
}

/** Cash that trading moved from or to a user. */
interface Flow {
  user: number;
  at: number;
  kind: "trade" | "split" | "merge" | "settlement" | "correction";
  cents: number;
}

export interface Facts {
  now: number;
  users: any[];
  markets: any[];
  orders: any[];
  reductions: any[];
  replacements: any[];
  limits: any[];
  trades: any[];
  conversions: any[];
  resolutions: any[];
  movements: any[];
  schedules: any[];
  /** How many lines the ledger has for each kind of journal and account. */
  lines: any[];
  fills: Fill[];
  holdings: Holding[];
  profits: Profit[];
  flows: Flow[];
}

const queries = {
  users: `
    select u.id, u.public_id, u.handle, u.private, r.day_limit_cents, r.week_limit_cents,
      r.month_limit_cents, r.next_day_limit_cents, r.next_week_limit_cents,
      r.next_month_limit_cents, r.day_limit_changes_at, r.week_limit_changes_at,
      r.month_limit_changes_at
    from identity.users as u left join trading.traders as r on r.user_id = u.id order by u.id`,
  markets: `
    select m.id, m.public_id, m.title, m.status, c.slug as category, m.category_id
    from catalog.markets as m join catalog.categories as c on c.id = m.category_id order by m.id`,
  orders: `
    select *, false as archived from trading.orders
    union all
    select *, true from trading.archived_orders order by id`,
  reductions: "select * from trading.order_reductions order by order_id, at",
  replacements: "select * from trading.order_replacements",
  limits: "select * from risk.limit_changes order by id",
  trades: "select * from trading.trades order by id",
  conversions: "select * from trading.set_conversions order by id",
  resolutions: "select * from trading.resolutions order by id",
  movements: `
    select c.user_id, c.kind, c.amount_cents, j.created_at as at
    from ledger.cash_movements as c join ledger.posted_journals as j on j.id = c.journal_id`,
  schedules: "select * from trading.fee_schedules order by id",
  lines: `
    select j.kind, a.kind as account, count(*) as lines from ledger.entries as e
    join ledger.journals as j on j.id = e.journal_id
    join ledger.accounts as a on a.id = e.account_id group by 1, 2`,
};

export async function readFacts(client: PoolClient): Promise<Facts> {
  const read: Record<string, any[]> = {};
  for (const [name, query] of Object.entries(queries))
    read[name] = (await client.query(query)).rows;
  const { rows } = await client.query("select core.now() as now");
  const facts = { ...read, now: rows[0].now.getTime() } as Facts;
  return { ...facts, ...keepBooks(facts) };
}

/** Rounded half up; both are at least 0. */
function share(amount: number, part: number, whole: number): number {
  return Math.floor((2 * amount * part + whole) / (2 * whole));
}

/** Carries out every trade, conversion and resolution once more. */
function keepBooks(facts: Facts): Pick<Facts, "fills" | "holdings" | "profits" | "flows"> {
  const holdings = new Map<string, Holding>();
  const fills: Fill[] = [];
  const profits: Profit[] = [];
  const flows: Flow[] = [];
  const orders = new Map(facts.orders.map((order) => [order.id, order]));

  const holding = (market: number, user: number, side: Side): Holding => {
    const key = `${market} ${user} ${side}`;
    const known = holdings.get(key);
    if (known !== undefined) return known;
    const made = { market, user, side, quantity: 0, cost: 0, fees: 0, realised: 0 };
    holdings.set(key, made);
    return made;
  };
  const earn = (of: Holding, at: Date, kind: Profit["kind"], cents: number): void => {
    of.realised += cents;
    profits.push({ of, user: of.user, at: at.getTime(), kind, cents });
  };
  const pay = (user: number, at: Date, kind: Flow["kind"], cents: number): void => {
    flows.push({ user, at: at.getTime(), kind, cents });
  };
  const giveUp = (of: Holding, quantity: number): number => {
    const cost = share(of.cost, quantity, of.quantity);
    const fees = share(of.fees, quantity, of.quantity);
    of.quantity -= quantity;
    of.cost -= cost;
    of.fees -= fees;
    return cost + fees;
  };

  const trade = (row: any, role: Fill["role"]): void => {
    const other = role === "taker" ? "maker" : "taker";
    const order = orders.get(row[`${role}_order_id`]);
    const { side, order_type: type } = order;
    const price: number = side === "yes" ? row.price : 100 - row.price;
    const { quantity, created_at: at }: { quantity: number; created_at: Date } = row;
    const fee: number = role === "taker" ? row.fee_cents : 0;
    const user = row[`${role}_user_id`];
    fills.push({
      ...{ trade: row.id, market: row.market_id, role, order: order.id, user },
      ...{ counterparty: row[`${other}_user_id`], side, type, price, quantity, fee },
      at: at.getTime(),
    });
    const held = holding(row.market_id, user, side);
    if (type === "buy") {
      held.quantity += quantity;
      held.cost += quantity * price;
      held.fees += fee;
      pay(user, at, "trade", -quantity * price - fee);
    } else {
      const proceeds = quantity * price - fee;
      earn(held, at, "sale", proceeds - giveUp(held, quantity));
      pay(user, at, "trade", proceeds);
    }
  };

  const convert = ({ market_id, user_id, kind, created_at: at, ...row }: any): void => {
    const quantity: number = row.quantity;
    for (const side of ["yes", "no"] as const) {
      const held = holding(market_id, user_id, side);
      if (kind === "merge") {
        earn(held, at, "merge", 50 * quantity - giveUp(held, quantity));
      } else {
        held.quantity += quantity;
        held.cost += 50 * quantity;
      }
    }
    pay(user_id, at, kind, kind === "merge" ? 100 * quantity : -100 * quantity);
  };

  const happened = [
    ...facts.trades.map((row) => ({
      journal: row.id,
      carryOut: () => {
        trade(row, "taker");
        trade(row, "maker");
      },
    })),
    ...facts.conversions.map((row) => ({
      journal: row.journal_id,
      carryOut: () => {
        convert(row);
      },
    })),
  ];
  happened.sort((a, b) => a.journal - b.journal);
  for (const { carryOut } of happened) carryOut();

  // No share moves once a market is resolved.
  const paid = new Map<number, number>();
  for (const { market_id, yes_payout_cents: yes, created_at: at } of facts.resolutions) {
    const before = paid.get(market_id);
    paid.set(market_id, yes);
    for (const held of holdings.values()) {
      if (held.market !== market_id || held.quantity === 0) continue;
      const payout = (cents: number) => held.quantity * (held.side === "yes" ? cents : 100 - cents);
      if (before === undefined) {
        earn(held, at, "settlement", payout(yes) - held.cost - held.fees);
        pay(held.user, at, "settlement", payout(yes));
      } else {
        earn(held, at, "settlement", payout(yes) - payout(before));
        pay(held.user, at, "correction", payout(yes) - payout(before));
      }
    }
  }
  return { fills, holdings: [...holdings.values()], profits, flows };
}

export function sum<T>(things: T[], amount: (thing: T) => number): number {
  return things.reduce((total, thing) => total + amount(thing), 0);
}

export function groupBy<T>(things: T[], key: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const name = key(thing);
    groups.set(name, [...(groups.get(name) ?? []), thing]);
  }
  return groups;
}

export function netDeposits(facts: Facts, user: number, before = Infinity): number {
  return sum(
    facts.movements.filter((it) => it.user_id === user && it.at < before),
    ({ kind, amount_cents }) => (kind === "withdrawal" ? -amount_cents : amount_cents),
  );
}

/** Cash, from deposits and from what trading moved. */
export function cash(facts: Facts, user: number, before = Infinity): number {
  const own = facts.flows.filter((flow) => flow.user === user && flow.at < before);
  return netDeposits(facts, user, before) + sum(own, ({ cents }) => cents);
}

/** Shares before a time, in a market that is not resolved then. */
export function heldAt(
  facts: Facts,
  market: number,
  user: number,
  side: Side,
  before: number,
): number {
  const fills = facts.fills.filter(
    (it) => it.market === market && it.user === user && it.side === side && it.at < before,
  );
  const conversions = facts.conversions.filter(
    (it) => it.market_id === market && it.user_id === user && it.created_at < before,
  );
  return (
    sum(fills, ({ type, quantity }) => (type === "buy" ? quantity : -quantity)) +
    sum(conversions, ({ kind, quantity }) => (kind === "split" ? quantity : -quantity))
  );
}

export function isResolved(facts: Facts, market: number): boolean {
  return facts.resolutions.some(({ market_id }) => market_id === market);
}

/** The shares that users still hold. */
export function openHoldings(facts: Facts): Holding[] {
  return facts.holdings.filter((it) => it.quantity > 0 && !isResolved(facts, it.market));
}

/** What a share of unresolved markets is worth: by the last trade, else half of a pair. */
export function markPrice(facts: Facts, { market, side }: Holding): number {
  const yes = facts.trades.findLast(({ market_id }) => market_id === market)?.price ?? 50;
  return side === "yes" ? yes : 100 - yes;
}

/** What the resolution that holds pays for a YES share. */
export function yesPayout(facts: Facts, market: number): any {
  return facts.resolutions.findLast(({ market_id }) => market_id === market);
}

/** Orders that something can still happen to. */
export function openOrders(facts: Facts): any[] {
  return facts.orders.filter(
    ({ status, expires_at: end }) =>
      ["scheduled", "open", "partially_filled"].includes(status) &&
      (end === null || end.getTime() > facts.now),
  );
}

/** What an open order could still cost. */
export function worstCost(facts: Facts, order: any): number {
  const { price, quantity, filled_quantity: filled, budget_cents: budget } = order;
  if (order.order_type === "sell") return 0;
  if (order.status !== "scheduled") return (quantity - filled) * price;
  if (budget !== null) return budget;
  const rate = feeRate(facts, order.market_id);
  return quantity * price + Math.ceil((rate * quantity * price * (100 - price)) / 1_000_000);
}

function feeRate(facts: Facts, market: number): number {
  const { category_id } = facts.markets.find(({ id }) => id === market);
  const inForce = facts.schedules
    .filter(({ effective_from: from }) => from === -Infinity || from.getTime() <= facts.now)
    .sort((a, b) => Number(a.effective_from) - Number(b.effective_from) || a.id - b.id);
  const found =
    inForce.findLast((it) => it.market_id === market) ??
    inForce.findLast((it) => it.market_id === null && it.category_id === category_id) ??
    inForce.findLast((it) => it.market_id === null && it.category_id === null);
  return found.taker_rate_bps;
}

export interface Level {
  side: "bid" | "ask";
  price: number;
  quantity: number;
  orders: number;
}

interface Resting {
  order: any;
  side: "bid" | "ask";
  price: number;
  left: number;
}

/** The orders in the book of a market once everything of a moment had happened. */
export function restingAt(facts: Facts, market: number, at: number): Resting[] {
  const resting: Resting[] = [];
  for (const order of facts.orders) {
    const rested = order.release_at === null ? order.created_at : order.released_at;
    if (order.market_id !== market || rested === null || rested.getTime() > at) continue;
    if ([order.cancelled_at, order.expires_at].some((end) => end !== null && end.getTime() <= at)) {
      continue;
    }
    const taken = facts.reductions.filter((it) => it.order_id === order.id);
    const later = taken.filter((it) => it.at.getTime() > at);
    const ordered = Math.max(order.quantity, ...later.map((it) => it.quantity_before));
    const filled = facts.fills.filter((it) => it.order === order.id && it.at <= at);
    const left = ordered - sum(filled, ({ quantity }) => quantity);
    if (left <= 0) continue;
    const side = (order.side === "yes") === (order.order_type === "buy") ? "bid" : "ask";
    const price = order.side === "yes" ? order.price : 100 - order.price;
    resting.push({ order, side, price, left });
  }
  return resting;
}

/** The book of a market once everything of a moment had happened. */
export function bookAt(facts: Facts, market: number, at: number): Level[] {
  const levels = new Map<string, Level>();
  for (const { side, price, left } of restingAt(facts, market, at)) {
    const level = levels.get(`${side} ${price}`) ?? { side, price, quantity: 0, orders: 0 };
    level.quantity += left;
    level.orders += 1;
    levels.set(`${side} ${price}`, level);
  }
  return [...levels.values()];
}
