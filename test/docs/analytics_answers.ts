import {
  bookAt,
  cash,
  groupBy,
  heldAt,
  markPrice,
  netDeposits,
  openHoldings,
  openOrders,
  restingAt,
  sum,
  worstCost,
  yesPayout,
} from "./analytics_facts.ts";
import type { Facts, Fill } from "./analytics_facts.ts";

/** The answers to the questions of docs/analytics.md, worked out from what has happened. */

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

type Cell = string | number | null | Near;
type Answer = (facts: Facts, asked: Asked) => Cell[][];

const DAY_MS = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const addDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);

/** A fraction with so many decimals, rounded half away from zero. */
function rounded(numerator: number, denominator: number, decimals: number): string {
  const scale = 10n ** BigInt(decimals);
  const [above, below] = [BigInt(Math.abs(numerator)) * scale, BigInt(Math.abs(denominator))];
  const whole = (2n * above + below) / (2n * below);
  const sign = whole !== 0n && numerator < 0 !== denominator < 0 ? "-" : "";
  const digits = whole.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const percent = (part: number, whole: number): string => rounded(100 * part, whole, 1);
const quantityOf = (fills: { quantity: number }[]): number => sum(fills, (it) => it.quantity);
const handleOf = (facts: Facts, user: number): string =>
  facts.users.find(({ id }) => id === user).handle;
const titleOf = (facts: Facts, market: number): string =>
  facts.markets.find(({ id }) => id === market).title;
const marketNamed = (facts: Facts, title: string): number =>
  facts.markets.find((it) => it.title === title).id;
/** Buying YES and selling NO are one direction. */
const isTowardYes = ({ side, type }: Fill): boolean => (side === "yes") === (type === "buy");

/** One row for each user, from the fills or the like of theirs. */
function perUser<T extends { user: number }>(
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
function perMarket<T>(
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

const profitAndLoss: Record<string, Answer> = {
  "Who made what?": (facts) =>
    perUser(facts, facts.holdings, (own, user) => {
      const open = openHoldings(facts).filter((it) => it.user === user);
      const value = sum(open, (it) => it.quantity * markPrice(facts, it));
      const total = cash(facts, user) + value - netDeposits(facts, user);
      const realised = sum(own, (it) => it.realised);
      return [realised, total - realised, total];
    }),

  "On which day?": (facts, { handles, days: [since, until] }) =>
    facts.users
      .filter(({ handle }) => handles.includes(handle))
      .flatMap(({ id, handle }) => {
        const fills = facts.fills.filter(({ user }) => user === id);
        const profits = facts.profits.filter(({ user }) => user === id);
        const days = new Set([...fills, ...profits].map(({ at }) => dayOf(at)));
        // A merge and a settlement count also where they brought nothing.
        return [...days].flatMap((day) => {
          if (day < since || day >= until) return [];
          const of = (kind: string) =>
            sum(
              profits.filter((it) => it.kind === kind && dayOf(it.at) === day),
              ({ cents }) => cents,
            );
          const [sales, merges, settlements] = [of("sale"), of("merge"), of("settlement")];
          const count = fills.filter(({ at }) => dayOf(at) === day).length;
          return [[day, handle, count, sales, merges, settlements, sales + merges + settlements]];
        });
      }),

  "Where is the cash?": (facts) => {
    const moved = (kind: string) =>
      sum(
        facts.movements.filter((it) => it.kind === kind),
        (it) => it.amount_cents,
      );
    const flowed = (kind: string) =>
      sum(
        facts.flows.filter((it) => it.kind === kind),
        ({ cents }) => cents,
      );
    const fees = sum(facts.trades, (it) => it.fee_cents);
    const amounts: Record<string, number> = {
      "deposit outside_world": -moved("deposit"),
      "deposit user_cash": moved("deposit"),
      "withdrawal outside_world": moved("withdrawal"),
      "withdrawal user_cash": -moved("withdrawal"),
      "trade user_cash": flowed("trade"),
      "trade fee_revenue": fees,
      "trade market_escrow": -flowed("trade") - fees,
      "correction user_cash": flowed("correction"),
    };
    for (const kind of ["split", "merge", "settlement"]) {
      amounts[`${kind} user_cash`] = flowed(kind);
      amounts[`${kind} market_escrow`] = -flowed(kind);
    }
    return facts.lines.map(({ kind, account, lines }) => [
      ...[kind, account, lines],
      amounts[`${kind} ${account}`]!,
    ]);
  },

  "What was an account worth at the end of a day?": (facts, { handles, days: [since, until] }) => {
    const rows: Cell[][] = [];
    for (let day = since; day < until; day = addDays(day, 1)) {
      const end = Date.parse(addDays(day, 1));
      if (end > facts.now) continue;
      for (const { id, handle } of facts.users.filter((it) => handles.includes(it.handle))) {
        const deposits = netDeposits(facts, id, end);
        const balance = cash(facts, id, end);
        let [mark, bid] = [0, 0];
        for (const market of facts.markets) {
          const ended = facts.resolutions.find((it) => it.market_id === market.id);
          if (ended !== undefined && ended.created_at.getTime() < end) continue;
          const last = facts.trades.findLast(
            (it) => it.market_id === market.id && it.created_at.getTime() < end,
          );
          for (const side of ["yes", "no"] as const) {
            const held = heldAt(facts, market.id, id, side, end);
            mark += held * (side === "yes" ? (last?.price ?? 50) : 100 - (last?.price ?? 50));
            const wanted = side === "yes" ? "bid" : "ask";
            const levels = bookAt(facts, market.id, end - 1).filter((it) => it.side === wanted);
            const offers = levels.map(({ price }) => (side === "yes" ? price : 100 - price));
            bid += held * Math.max(0, ...offers);
          }
        }
        rows.push([day, handle, deposits, balance, mark, bid, balance + mark]);
      }
    }
    return rows;
  },

  "What did settlements bring to makers and takers?": (facts) => {
    const parts = facts.holdings.flatMap((holding) => {
      const { market, user, side, quantity } = holding;
      if (quantity === 0 || yesPayout(facts, market) === undefined) return [];
      const own = facts.fills.filter(
        (it) => it.market === market && it.user === user && it.side === side && it.type === "buy",
      );
      const split = quantityOf(
        facts.conversions.filter(
          (it) => it.market_id === market && it.user_id === user && it.kind === "split",
        ),
      );
      const acquired: Record<string, number> = {
        maker: quantityOf(own.filter(({ role }) => role === "maker")),
        taker: quantityOf(own.filter(({ role }) => role === "taker")),
        split,
      };
      const realised = sum(
        facts.profits.filter((it) => it.kind === "settlement" && it.of === holding),
        ({ cents }) => cents,
      );
      return Object.entries(acquired).flatMap(([source, shares]) => {
        const cents = (realised * shares) / (quantityOf(own) + split);
        return shares === 0 ? [] : [{ source, user, shares, cents }];
      });
    });
    return [...groupBy(parts, ({ source }) => source)].map(([source, own]) => [
      ...[source, new Set(own.map(({ user }) => user)).size],
      sum(own, ({ shares }) => shares),
      new Near(sum(own, ({ cents }) => cents)),
    ]);
  },

  "What money is at risk?": (facts) => {
    const open = openHoldings(facts);
    return facts.users.map(({ id, handle }) => [
      handle,
      cash(facts, id),
      sum(
        open.filter(({ user }) => user === id),
        ({ cost, fees }) => cost + fees,
      ),
      inOrders(facts, id),
    ]);
  },
};

function inOrders(facts: Facts, user: number): number {
  const own = openOrders(facts).filter(({ user_id }) => user_id === user);
  return sum(own, (order) => worstCost(facts, order));
}

const orders: Record<string, Answer> = {
  "Who makes and who takes?": (facts) =>
    perUser(facts, facts.fills, (own) => {
      const made = quantityOf(own.filter(({ role }) => role === "maker"));
      return [
        quantityOf(own),
        made === 0 ? null : percent(made, quantityOf(own)),
        sum(own, ({ fee }) => fee),
      ];
    }),

  "How much of what is ordered gets filled, and how much is cancelled?": (facts) => {
    const over = facts.orders
      .filter(({ status }) => status === "filled" || status === "cancelled")
      .map((order) => ({ ...order, user: order.user_id }));
    return perUser(facts, over, (own) => {
      const ended = own.filter((it) => it.cancel_reason !== "user_amended");
      const counted = own.filter((it) => it.budget_cents === null);
      const ordered = sum(counted, ({ id, cancel_reason, quantity, filled_quantity }) => {
        if (cancel_reason === "user_amended") return filled_quantity;
        const reductions = facts.reductions.filter((it) => it.order_id === id);
        return sum(reductions, (it) => it.quantity_before - it.quantity_after) + Number(quantity);
      });
      const filled = sum(counted, (it) => it.filled_quantity);
      const cancelled = ended.filter(({ status }) => status === "cancelled").length;
      return [
        ended.length,
        ordered === 0 ? null : percent(filled, ordered),
        ended.length === 0 ? null : percent(cancelled, ended.length),
      ];
    });
  },

  "Why were they cancelled?": (facts) => {
    const shown = (reason: string) =>
      ["loss_limit", "self_excluded"].includes(reason) ? "responsible_gaming" : reason;
    const cancelled = facts.orders.filter(({ status }) => status === "cancelled");
    return [...groupBy(cancelled, (it) => shown(it.cancel_reason))].map(([reason, own]) => [
      ...[reason, own.length],
      own.filter((it) => it.filled_quantity > 0).length,
    ]);
  },

  "How far do amendments move the price?": (facts) => {
    const orderOf = (key: number) => facts.orders.find(({ id }) => id === key);
    const moves = facts.replacements.map(({ order_id, replaced_order_id }) => ({
      user: orderOf(order_id).user_id,
      cents: orderOf(order_id).price - orderOf(replaced_order_id).price,
      again: facts.replacements.some((it) => it.replaced_order_id === order_id),
    }));
    return perUser(facts, moves, (own) => {
      const moved = sum(own, ({ cents }) => cents);
      return [own.length, rounded(moved, own.length, 2), own.filter(({ again }) => again).length];
    });
  },

  "How long does a resting order wait for its first fill?": (facts) => {
    const made = facts.fills.filter(({ role }) => role === "maker");
    const waits = [...groupBy(made, ({ order }) => String(order)).values()].map((own) => {
      const order = facts.orders.find(({ id }) => id === own[0]!.order);
      const rested = (order.released_at ?? order.created_at).getTime();
      return { market: order.market_id, ms: Math.min(...own.map(({ at }) => at)) - rested };
    });
    return perMarket(
      facts,
      waits,
      ({ market }) => market,
      (own) => {
        const sorted = own.map(({ ms }) => ms).sort((a, b) => a - b);
        const decile = (tenths: number) => sorted[Math.ceil((tenths * sorted.length) / 10) - 1]!;
        return [own.length, decile(5), decile(9)];
      },
    );
  },

  "How late are releases in live markets?": (facts) =>
    perMarket(
      facts,
      facts.orders.filter((it) => it.released_at !== null),
      (it) => it.market_id,
      (own) => {
        const late = own.map((it) => it.released_at - it.release_at);
        return [
          own.length,
          rounded(
            sum(late, (ms) => ms),
            late.length,
            0,
          ),
          Math.max(...late),
        ];
      },
    ),

  "What does it cost to take more than the best price has?": (facts) => {
    const taken = facts.fills.filter(({ role }) => role === "taker");
    const slips = [...groupBy(taken, ({ order }) => String(order)).values()]
      .filter((own) => own.some(({ price }) => price !== own[0]!.price))
      .map((own) => {
        const average = sum(own, ({ price, quantity }) => price * quantity) / quantityOf(own);
        const worse = average - own[0]!.price;
        return { market: own[0]!.market, cents: own[0]!.type === "buy" ? worse : -worse };
      });
    return perMarket(
      facts,
      slips,
      ({ market }) => market,
      (own) => [own.length, new Near(sum(own, ({ cents }) => cents) / own.length)],
    );
  },
};

const market: Record<string, Answer> = {
  "What did the book look like at that moment?": (facts, asked) =>
    bookAt(facts, marketNamed(facts, asked.market), asked.bookAt).map((level) => [
      ...[level.side, level.price, level.quantity, level.orders],
    ]),

  "How wide was the spread over the day?": (facts, { market, spreads }) => {
    const rows: Cell[][] = [];
    for (let at = spreads.since; at <= spreads.until; at += spreads.stepMs) {
      const levels = bookAt(facts, marketNamed(facts, market), at);
      const prices = (side: string) =>
        levels.filter((level) => level.side === side).map(({ price }) => price);
      const [bids, asks] = [prices("bid"), prices("ask")];
      const bid = bids.length === 0 ? null : Math.max(...bids);
      const ask = asks.length === 0 ? null : Math.min(...asks);
      const spread = bid === null || ask === null ? null : ask - bid;
      if (levels.length > 0)
        rows.push([new Date(at).toISOString().slice(11, 19), bid, ask, spread]);
    }
    return rows;
  },

  "How stale is the top of each book?": (facts) =>
    facts.markets.flatMap(({ id, title }) =>
      (["ask", "bid"] as const).flatMap((side) => {
        const levels = bookAt(facts, id, facts.now).filter((level) => level.side === side);
        const prices = levels.map(({ price }) => price);
        if (prices.length === 0) return [];
        const best = side === "bid" ? Math.max(...prices) : Math.min(...prices);
        const there = openOrders(facts).filter(
          (it) =>
            it.market_id === id &&
            it.status !== "scheduled" &&
            ((it.side === "yes") === (it.order_type === "buy")) === (side === "bid") &&
            (it.side === "yes" ? it.price : 100 - it.price) === best,
        );
        const newest = Math.max(...there.map((it) => (it.released_at ?? it.created_at).getTime()));
        return [[title, side, best, new Date(newest).toISOString(), facts.now - newest]];
      }),
    ),

  "Who stood at the best price, and how long?": (facts, { market, spreads: { since, until } }) => {
    const id = marketNamed(facts, market);
    const times = facts.orders
      .filter((it) => it.market_id === id)
      .flatMap((it) => [it.created_at, it.released_at, it.cancelled_at, it.expires_at])
      .flatMap((at) => (at === null ? [] : [at.getTime()]));
    const trades = facts.fills.filter((it) => it.market === id).map(({ at }) => at);
    const end = Math.min(until, facts.now);
    const moments = [...new Set([since, end, ...times, ...trades])]
      .filter((at) => at >= since && at <= end)
      .sort((a, b) => a - b);
    const stood = new Map<string, number>();
    moments.slice(0, -1).forEach((at, index) => {
      const resting = restingAt(facts, id, at);
      for (const side of ["bid", "ask"] as const) {
        const own = resting.filter((it) => it.side === side);
        const prices = own.map(({ price }) => price);
        const best = side === "bid" ? Math.max(...prices) : Math.min(...prices);
        const there = own.filter(({ price }) => price === best);
        for (const user of new Set(there.map(({ order }) => String(order.user_id)))) {
          const key = `${user} ${side}`;
          stood.set(key, (stood.get(key) ?? 0) + (moments[index + 1]! - at));
        }
      }
    });
    return [...stood].map(([key, ms]) => {
      const [user, side] = key.split(" ");
      const { handle } = facts.users.find((it) => String(it.id) === user);
      return [handle, side!, ms, percent(ms, 7 * 3_600_000)];
    });
  },

  "What was the average price, by volume?": (facts) =>
    [...groupBy(facts.trades, (it) => `${dayOf(it.created_at)} ${it.market_id}`).values()].map(
      (own) => [
        ...[dayOf(own[0].created_at), titleOf(facts, own[0].market_id), quantityOf(own)],
        rounded(
          sum(own, ({ price, quantity }) => price * quantity),
          quantityOf(own),
          2,
        ),
      ],
    ),

  "How did the price go, by candles?": (facts, { market, candles }) => {
    const { since, until, widthMs } = candles;
    const traded = facts.trades.filter(
      (it) =>
        it.market_id === marketNamed(facts, market) &&
        it.created_at >= since &&
        it.created_at < until,
    );
    const origin = Date.UTC(2000, 0, 1);
    const binOf = (at: number) => origin + Math.floor((at - origin) / widthMs) * widthMs;
    const bins = groupBy(traded, (it) => new Date(binOf(it.created_at.getTime())).toISOString());
    return [...bins].map(([opened, own]) => {
      const prices = own.map(({ price }) => price);
      return [
        ...[opened, prices[0], Math.max(...prices), Math.min(...prices), prices.at(-1)],
        quantityOf(own),
      ];
    });
  },

  "Does a trade move the price?": (facts) => {
    const moves = facts.trades.flatMap((trade) => {
      const taken = facts.fills.find((it) => it.trade === trade.id && it.role === "taker")!;
      const next = facts.trades.find(
        (it) =>
          it.market_id === trade.market_id &&
          it.id > trade.id &&
          it.created_at - trade.created_at >= 30 * 60_000,
      );
      if (next === undefined) return [];
      const size = trade.quantity <= 10 ? "up to 10" : trade.quantity <= 30 ? "up to 30" : "more";
      const moved = next.price - trade.price;
      return [{ size, cents: isTowardYes(taken) ? moved : -moved }];
    });
    return [...groupBy(moves, ({ size }) => size)].map(([size, own]) => [
      ...[size, own.length],
      rounded(
        sum(own, ({ cents }) => cents),
        own.length,
        2,
      ),
    ]);
  },

  "How did open interest grow?": (facts) => {
    const changes: { day: string; pairs: number }[] = [];
    const isBuy = (order: number) =>
      facts.orders.find(({ id }) => id === order).order_type === "buy";
    for (const trade of facts.trades) {
      const buyers = [trade.taker_order_id, trade.maker_order_id].filter(isBuy).length;
      // Two buyers make pairs, two sellers burn them.
      changes.push({ day: dayOf(trade.created_at), pairs: (buyers - 1) * trade.quantity });
    }
    for (const { created_at, kind, quantity } of facts.conversions) {
      changes.push({ day: dayOf(created_at), pairs: kind === "split" ? quantity : -quantity });
    }
    for (const { id } of facts.markets) {
      const first = facts.resolutions.find(({ market_id }) => market_id === id);
      const settled = facts.holdings.filter(
        (it) => it.market === id && it.side === "yes" && it.quantity > 0,
      );
      if (first !== undefined && settled.length > 0) {
        changes.push({ day: dayOf(first.created_at), pairs: -quantityOf(settled) });
      }
    }
    const days = [...new Set(changes.map(({ day }) => day))];
    return days.map((day) => [
      day,
      sum(
        changes.filter((it) => it.day <= day),
        ({ pairs }) => pairs,
      ),
    ]);
  },

  "Who holds most?": (facts) => {
    const open = openHoldings(facts);
    const place = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
    return open
      .map((it) => ({ ...it, title: titleOf(facts, it.market), handle: handleOf(facts, it.user) }))
      .sort(
        (a, b) =>
          b.quantity - a.quantity ||
          place(a.title, b.title) ||
          a.market - b.market ||
          place(a.side, b.side) ||
          place(a.handle, b.handle),
      )
      .slice(0, 6)
      .map(({ title, market, side, handle, quantity }) => {
        const pairs = quantityOf(open.filter((it) => it.market === market && it.side === "yes"));
        return [title, side, handle, quantity, percent(quantity, pairs)];
      });
  },
};

function decided(facts: Facts): { trade: any; payout: number }[] {
  return facts.trades.flatMap((trade) => {
    const resolution = yesPayout(facts, trade.market_id);
    return ["yes", "no"].includes(resolution?.outcome)
      ? [{ trade, payout: resolution.yes_payout_cents }]
      : [];
  });
}

const prices: Record<string, Answer> = {
  "Do prices come true?": (facts) =>
    [...groupBy(decided(facts), ({ trade }) => String(10 * Math.floor(trade.price / 10)))].map(
      ([from, own]) => {
        const quantity = sum(own, ({ trade }) => trade.quantity);
        const byVolume = (cents: (it: (typeof own)[number]) => number) =>
          rounded(
            sum(own, (it) => it.trade.quantity * cents(it)),
            quantity,
            1,
          );
        return [from, quantity, byVolume(({ trade }) => trade.price), byVolume((it) => it.payout)];
      },
    ),

  "How good are they, by category?": (facts) => {
    const categoryOf = (id: number) => facts.markets.find((it) => it.id === id).category;
    return [...groupBy(decided(facts), ({ trade }) => categoryOf(trade.market_id))].map(
      ([category, own]) => [
        ...[category, new Set(own.map(({ trade }) => trade.market_id)).size],
        rounded(
          sum(own, ({ trade, payout }) => trade.quantity * (trade.price - payout) ** 2),
          10_000 * sum(own, ({ trade }) => trade.quantity),
          4,
        ),
      ],
    );
  },
};

const house: Record<string, Answer> = {
  "What did each fee schedule bring?": (facts) =>
    facts.schedules.flatMap(({ id, market_id, category_id, taker_rate_bps }) => {
      const own = facts.trades.filter((it) => it.fee_schedule_id === id);
      if (own.length === 0) return [];
      const { category } = facts.markets.find((it) => it.category_id === category_id) ?? {};
      const name = market_id === null ? (category ?? "default") : titleOf(facts, market_id);
      return [[name, taker_rate_bps, own.length, sum(own, (it) => it.fee_cents)]];
    }),

  "Who came, and who came back?": (facts) => {
    const came = groupBy(facts.orders, (it) => dayOf(it.created_at));
    const usersOf = (day: string) => new Set((came.get(day) ?? []).map((it) => it.user_id));
    return [...came.keys()].map((day) => {
      const users = [...usersOf(day)];
      const before = [...came.keys()].filter((it) => it < day);
      const fresh = users.filter((user) => !before.some((it) => usersOf(it).has(user)));
      const next = addDays(day, 1);
      const back = users.filter((user) => usersOf(next).has(user));
      return [
        ...[day, users.length, fresh.length],
        next < dayOf(facts.now) ? rounded(100 * back.length, users.length, 0) : null,
      ];
    });
  },

  "Who is close to a loss limit?": (facts) => {
    const periods = { day: 1, week: 7, month: 30 };
    return facts.users.flatMap((user) =>
      Object.entries(periods).flatMap(([period, days]) => {
        const changesAt = user[`${period}_limit_changes_at`];
        const isNext = changesAt !== null && facts.now >= changesAt.getTime();
        const limit = user[`${isNext ? "next_" : ""}${period}_limit_cents`];
        if (limit === null) return [];
        const since = addDays(dayOf(facts.now), 1 - days);
        const spent = -sum(
          facts.flows.filter((it) => it.user === user.id && dayOf(it.at) >= since),
          ({ cents }) => cents,
        );
        const used = Math.max(spent, 0) + inOrders(facts, user.id);
        return [[user.handle, period, limit, used, limit === 0 ? null : percent(used, limit)]];
      }),
    );
  },

  "What were the loss limits at that moment?": (facts, { bookAt: at }) =>
    facts.users.flatMap(({ id, handle }) => {
      const last = facts.limits.findLast(
        (it) => it.user_id === id && it.created_at.getTime() <= at,
      );
      return ["day", "week", "month"].flatMap((period) => {
        const changes = last?.[`${period}_limit_changes_at`] ?? null;
        const isNext = changes !== null && changes.getTime() <= at;
        const limit = last?.[`${isNext ? "next_" : ""}${period}_limit_cents`] ?? null;
        if (limit === null) return [];
        return [[handle, period, limit, (isNext ? changes : last.created_at).toISOString()]];
      });
    }),

  "Who trades with whom, and back again?": (facts) =>
    facts.users.flatMap((one) =>
      facts.users.flatMap((other) => {
        if (one.id >= other.id) return [];
        const between = facts.fills.filter(
          (it) => it.user === one.id && it.counterparty === other.id,
        );
        const netOf = (own: Fill[]) =>
          Math.abs(quantityOf(own.filter(isTowardYes)) * 2 - quantityOf(own));
        const markets = [...groupBy(between, ({ market }) => String(market)).values()];
        const row = (title: string, own: Fill[], net: number, all: Fill[]): Cell[][] => {
          const shares = quantityOf(own);
          const [its, others] = [one, other].map(({ id }) =>
            quantityOf(all.filter(({ user }) => user === id)),
          ) as [number, number];
          const most = Math.max(its, others);
          const isFar = shares * quantityOf(all) >= 3 * its * others;
          if (shares < 40 || 5 * net > shares || 4 * shares < most) return [];
          if (!isFar && 10 * shares < 8 * most) return [];
          return [
            [
              ...[one.handle, other.handle, title, shares, net],
              ...[percent(shares, its), percent(shares, others)],
              rounded(shares * quantityOf(all), its * others, 1),
            ],
          ];
        };
        return [
          ...row("(all markets)", between, sum(markets, netOf), facts.fills),
          ...markets.flatMap((own) => {
            const { market } = own[0]!;
            const all = facts.fills.filter((it) => it.market === market);
            return row(titleOf(facts, market), own, netOf(own), all);
          }),
        ];
      }),
    ),
};

/** By the heading under which the page asks. */
export const answers: Record<string, Answer> = {
  ...profitAndLoss,
  ...orders,
  ...market,
  ...prices,
  ...house,
};
