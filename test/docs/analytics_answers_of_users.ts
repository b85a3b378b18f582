import {
  Near,
  addDays,
  dayOf,
  perMarket,
  perUser,
  percent,
  quantityOf,
  rounded,
  inOrders,
} from "./analytics_answer.ts";
import type { Answer, Cell } from "./analytics_answer.ts";
import {
  bookAt,
  cash,
  heldAt,
  markPrice,
  netDeposits,
  openHoldings,
  sum,
  groupBy,
  yesPayout,
} from "./analytics_facts.ts";

/** What users made, did and ordered, worked out from what has happened. */

export const profitAndLoss: Record<string, Answer> = {
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

export const orders: Record<string, Answer> = {
  "Who makes and who takes?": (facts) =>
    perUser(facts, facts.fills, (own) => {
      const made = quantityOf(own.filter(({ role }) => role === "maker"));
      return [quantityOf(own), percent(made, quantityOf(own)), sum(own, ({ fee }) => fee)];
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
    const names: Record<string, string> = {
      ...{ self_excluded: "user_cancelled", loss_limit: "responsible_gaming" },
    };
    const shown = (reason: string) => names[reason] ?? reason;
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
