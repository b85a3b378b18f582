import {
  addDays,
  dayOf,
  handleOf,
  isTowardYes,
  marketNamed,
  percent,
  perUser,
  quantityOf,
  rounded,
  titleOf,
  inOrders,
} from "./analytics_answer.ts";
import type { Answer, Cell } from "./analytics_answer.ts";
import {
  bookAt,
  groupBy,
  heldAt,
  openHoldings,
  openOrders,
  restingAt,
  sum,
  yesPayout,
} from "./analytics_facts.ts";
import type { Facts, Fill } from "./analytics_facts.ts";

const HOUR_MS = 3_600_000;

/** What happened in markets and to the house, worked out from what has happened. */

export const market: Record<string, Answer> = {
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

  "What did makers win or lose after a fill?": (facts) => {
    const made = facts.fills.filter((it) => it.role === "maker" && it.at <= facts.now - HOUR_MS);
    const moves = made.map((fill) => {
      const { price } = facts.trades.find(({ id }) => id === fill.trade);
      const later = facts.trades.filter(
        (it) => it.market_id === fill.market && it.created_at.getTime() <= fill.at + HOUR_MS,
      );
      const moved = later.at(-1).price - price;
      const { user, quantity } = fill;
      return { user, quantity, cents: quantity * (isTowardYes(fill) ? moved : -moved) };
    });
    return perUser(facts, moves, (own) => [
      ...[own.length, quantityOf(own)],
      rounded(
        sum(own, ({ cents }) => cents),
        quantityOf(own),
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

  "Who held what at that moment?": (facts, { market, bookAt: at }) => {
    const id = marketNamed(facts, market);
    const resolved = facts.resolutions.find(({ market_id }) => market_id === id);
    if (resolved !== undefined && resolved.created_at.getTime() <= at) return [];
    return facts.users.flatMap(({ id: user, handle }) =>
      (["yes", "no"] as const).flatMap((side) => {
        const held = heldAt(facts, id, user, side, at + 1);
        return held === 0 ? [] : [[handle, side, held]];
      }),
    );
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

export const prices: Record<string, Answer> = {
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

export const house: Record<string, Answer> = {
  "What did each fee schedule bring?": (facts) =>
    facts.schedules.flatMap(({ id, market_id, category_id, taker_rate_bps }) => {
      const own = facts.trades.filter((it) => it.fee_schedule_id === id);
      if (own.length === 0) return [];
      const { category } = facts.markets.find((it) => it.category_id === category_id) ?? {};
      const name = market_id === null ? (category ?? "default") : titleOf(facts, market_id);
      return [[name, taker_rate_bps, own.length, sum(own, (it) => it.fee_cents)]];
    }),

  // Nothing is voided there: see analytics_voids.test.ts.
  "What was earned in a month?": (facts) => {
    const charged = facts.trades.filter((it) => it.fee_cents > 0);
    const months = groupBy(charged, (it) => `${dayOf(it.created_at).slice(0, 7)}-01`);
    return [...months].map(([month, own]) => [month, sum(own, (it) => it.fee_cents)]);
  },

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
