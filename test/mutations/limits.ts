import type { Mutation } from "./mutation.ts";

const match = "trading/functions/match_orders";

/** Loss limits, exclusion, and how often somebody may ask. */
export const limits: Mutation[] = [
  {
    name: "week_of_eight_days",
    breaks: "the week of a loss limit has eight days",
    file: "trading/functions/read_limits",
    find: "v_today - 6)",
    put: "v_today - 7)",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "month_of_29_days",
    breaks: "the month of a loss limit has 29 days",
    file: "trading/functions/read_limits",
    find: "v_today - 29)",
    put: "v_today - 28)",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "limits_of_others",
    breaks: "traders get each other's limits",
    file: "trading/functions/read_limits",
    find: "array_agg(t.limits order by t.place)",
    put: "array_agg(t.limits order by t.place desc)",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "window_from_the_day_after",
    breaks: "what was traded on the first day of a window does not count",
    file: "risk/functions/net_spent_since",
    find: "and o.day >= net_spent_since.day",
    put: "and o.day > net_spent_since.day",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "limit_excludes_itself",
    breaks: "a limit can't be used up to its last cent",
    file: "risk/functions/exceeds_limits",
    find: "+ cost_cents > (limits).day_cents, false",
    put: "+ cost_cents >= (limits).day_cents, false",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "winnings_raise_the_limit",
    breaks: "what was won may be lost again",
    file: "risk/functions/exceeds_limits",
    find: "    greatest(0, (untraded).day_cents - balance_cents)",
    put: "    ((untraded).day_cents - balance_cents)",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "raise_at_once",
    breaks: "a higher limit holds a minute later",
    file: "risk/functions/change_limit",
    find: "interval := '24 hours'",
    put: "interval := '1 minute'",
    tests: ["db/risk/change_limit"],
  },
  {
    name: "raise_a_moment_late",
    breaks: "a higher limit does not hold at the moment from which it should",
    file: "risk/functions/limits_in_force",
    find: "case when at >= (trader).day_limit_changes_at",
    put: "case when at > (trader).day_limit_changes_at",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "replaced_order_counts",
    breaks: "an order that is replaced counts beside its replacement",
    file: match,
    find: "t_open_cost[t] := t_open_cost[t] - r.relieved_cents;",
    put: "t_open_cost[t] := t_open_cost[t];",
    tests: ["db/api/amend_order", "db/trading/release_orders"],
  },
  {
    name: "replaced_schedule_counts",
    breaks: "a scheduled order that is replaced counts beside its replacement",
    file: match,
    find: "    if r.scheduled_cost_cents is not null then\n",
    put: `    if r.scheduled_cost_cents is not null then
      t_open_cost[t] := t_open_cost[t] + r.relieved_cents;
`,
    tests: ["db/api/amend_order"],
  },
  {
    name: "expired_order_counts",
    breaks: "an order past its expiry counts toward the limits",
    file: "trading/functions/active_order_cost_cents",
    find: "(open_order).order_type = 'sell' or (open_order).expires_at <= at then 0",
    put: "(open_order).order_type = 'sell' then 0",
    tests: ["db/api/place_orders_limits"],
  },
  {
    name: "scheduled_without_fee",
    breaks: "the worst case of a scheduled order has no fee",
    file: "trading/functions/scheduled_cost_cents",
    find: `  else quantity::bigint * price
    + trading.fee_cents(taker_rate_bps, quantity::bigint * price * (100 - price))
`,
    put: "  else quantity::bigint * price\n",
    tests: ["db/api/place_orders_live"],
  },
  {
    name: "exclusion_a_moment_longer",
    breaks: "an exclusion still holds at its end",
    file: "risk/functions/blocked_by",
    find: "(trader).excluded_until > blocked_by.at",
    put: "(trader).excluded_until >= blocked_by.at",
    tests: ["db/admin/self_exclude"],
  },
  {
    name: "exclusion_shortened",
    breaks: "an exclusion can be shortened",
    file: "risk/functions/exclude",
    find: "  if v_excluded_until > exclude.until then",
    put: "  if false then",
    tests: ["db/admin/self_exclude"],
  },
  {
    name: "bucket_refills_twice_as_fast",
    breaks: "spent requests come back twice as fast",
    file: "rate_limits/functions/read_allowance",
    find: "v_spent := greatest(v_spent - v_rate * v_microseconds, 0);",
    put: "v_spent := greatest(v_spent - 2 * v_rate * v_microseconds, 0);",
    tests: ["db/rate_limits/take_requests"],
  },
  {
    name: "refused_requests_count",
    breaks: "a request that one counter refuses is counted by the others",
    file: "api/functions/take_requests",
    find: "      if allowed then\n",
    put: "      if v_free[v_checks.checked[i]] > 0 then\n",
    tests: ["db/rate_limits/take_requests"],
  },
];
