import type { Mutation } from "./mutation.ts";

const match = "trading/functions/match_orders";

/** What meets what, in which order, at which price, and who is found dead. */
export const matching: Mutation[] = [
  {
    name: "starved_makers_cleared",
    breaks: "a request that is not finished cancels makers that only its fills would have starved",
    file: match,
    find: "v_reason <> 'expired' and t_traded_with[m] = i",
    put: "false",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "atomic_clears_nothing",
    breaks: "an atomic batch in front of many dead makers is never finished",
    file: "trading/functions/clear_way",
    find: "if v_unfinished is null then",
    put: "if true then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "best_queue_forgets_expiry",
    breaks: "a single order meets orders past their expiry",
    file: "trading/functions/read_best_queue",
    find: "k.available = 0",
    put: "false",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "queue_reversed",
    breaks: "at one price, the order that came last is taken first",
    file: "trading/functions/read_book_slice",
    find: "order by x.queue_position\n",
    put: "order by x.queue_position desc\n",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_not_raised",
    breaks: "a better order comes to rest and the best price stays",
    file: "trading/functions/write_market_state",
    find: "greatest(s.best_yes_price, n.highest_yes)",
    put: "s.best_yes_price",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_runs_ahead",
    breaks: "the search at the best price begins behind an order that is left",
    file: "trading/functions/first_position",
    find: "then first_left\n",
    put: "then first_left + 1\n",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_kept_at_another_price",
    breaks: "the best price of a side moves, and its search begins where it did",
    file: "trading/functions/first_position",
    find: "when best = best_before then",
    put: "when true then",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_of_the_other_side",
    breaks: "the best price of a side is looked for among the shares of the other",
    file: "trading/functions/best_in_depth",
    find: "'yes' then 0 else 99",
    put: "'yes' then 99 else 0",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "best_price_one_below",
    breaks: "the best price is looked for below the price that it is at most",
    file: "trading/functions/best_in_depth",
    find: "reverse best_in_depth.from_price ..",
    put: "reverse best_in_depth.from_price - 1 ..",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "queue_lost_in_a_batch",
    breaks: "what comes to rest in a batch goes before what rests there",
    file: match,
    find: "if coalesce(k_price[b_first[r.book]], 0) < r.book_price then",
    put: "if coalesce(k_price[b_first[r.book]], 0) <= r.book_price then",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_batches"],
  },
  {
    name: "improvement_kept",
    breaks: "a taker pays their own price, not the maker's",
    file: "trading/functions/account_fills",
    find: "v_price := 100 - v_maker_price;",
    put: "v_price := r_book_price[i];",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "improvement_to_the_maker",
    breaks: "the maker's price gives way to the taker's",
    file: "trading/functions/account_fills",
    find: "v_trade.maker_cents := -(n * v_maker_price);",
    put: "v_trade.maker_cents := -(n * (100 - r_book_price[i]));",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "touching_prices_miss",
    breaks: "prices that add up to 100 do not meet",
    file: "trading/functions/match_request",
    find: "  100 - (request).book_price,",
    put: "  101 - (request).book_price,",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "touching_prices_not_read",
    breaks: "orders that can be met only at a sum of 100 are not read",
    file: "trading/functions/read_book_slice",
    find: "end >= 100",
    put: "end > 100",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "maker_lives_a_moment_longer",
    breaks: "a maker is taken at the moment of its expiry",
    file: "trading/functions/read_book_slice",
    find: "coalesce(k.expires_at <= k.at, false)",
    put: "coalesce(k.expires_at < k.at, false)",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_maker_kept",
    breaks: "an order found dead stays on the book",
    file: "trading/functions/write_makers",
    find: "v_left[width_bucket(b.order_id, v_ids)] <= 0",
    put: "v_left[width_bucket(b.order_id, v_ids)] = 0",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_their_whole_order",
    breaks: "a maker is held against a limit with all of their order",
    file: match,
    find: "        if v_reason is not null then\n",
    put: `        if v_reason is null and k_cents[k] < 0 and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], t_balance[m], -k_left[k] * k_cents[k]
        ) then
          v_reason := 'loss_limit';
        end if;
        if v_reason is not null then
`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_open_orders",
    breaks: "a maker is held against a limit with all that is open",
    file: match,
    find: "        if v_reason is not null then\n",
    put: `        if v_reason is null and k_cents[k] < 0 and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], t_balance[m], t_open_cost[m] - n * k_cents[k]
        ) then
          v_reason := 'loss_limit';
        end if;
        if v_reason is not null then
`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "maker_judged_by_the_whole_order",
    breaks: "a maker must pay for all of their order",
    file: match,
    find: "n, n * k_cents[k],",
    put: "n, k_left[k] * k_cents[k],",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_shares_not_given_back",
    breaks: "makers do not get back the shares that they sold to a request that is then rejected",
    file: match,
    find: "h_quantity[k_shares[j]] - n * k_gain[j];",
    put: "h_quantity[k_shares[j]];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "met_quantity_not_given_back",
    breaks: "what a rejected request would have taken of a resting order is gone",
    file: match,
    find: "k_left[j] := k_left[j] + n;",
    put: "k_left[j] := k_left[j];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_cash_not_given_back",
    breaks: "makers do not get back the cash that they paid to a request that is then rejected",
    file: match,
    find: "t_balance[m] - n * k_cents[j];",
    put: "t_balance[m];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "self_trade_after_funding",
    breaks: "who can't pay is told so before they are told of a self-trade",
    file: match,
    find: "v_code := 'SELF_TRADE_BLOCKED';",
    put: `v_code := coalesce(trading.funding_rejection(
            r.is_buy, r.quantity, v_spent + (v_wanted - v_bought) * r.price,
            v_spent + (v_wanted - v_bought) * r.price, t_balance[t], h_quantity[r.shares],
            limits.limits[t], limits.untraded[t], t_open_cost[t]
          ), 'SELF_TRADE_BLOCKED');`,
    tests: ["db/api/place_orders_self_trade", "db/api/place_orders_refusals"],
  },
  {
    name: "post_only_before_self_trade",
    breaks: "post-only is checked before self-trade",
    file: match,
    find: "v_code := 'SELF_TRADE_BLOCKED';",
    put: `v_code := case when r.is_post_only and v_bought > 0
            then 'POST_ONLY_WOULD_CROSS' else 'SELF_TRADE_BLOCKED' end;`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "post_only_blocked_by_the_dead",
    breaks: "a post-only order is refused for a maker who is dead",
    file: match,
    find: "when r.is_post_only and v_bought > 0",
    put: "when r.is_post_only and v_met < 100",
    tests: ["db/api/place_orders_makers", "db/api/place_orders_refusals"],
  },
  {
    name: "limit_before_balance",
    breaks: "the loss limit is checked before the balance",
    file: "trading/functions/funding_rejection",
    find: "  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'\n",
    put: `  when risk.exceeds_limits(
    limits, untraded, balance_cents, open_cost_cents + cost_cents
  ) then 'LOSS_LIMIT'
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'
`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "exclusion_before_pause",
    breaks: "an excluded trader is told so before the site's pause",
    file: "trading/functions/trader_rejection",
    find: "  when site_paused then 'TRADING_PAUSED'\n",
    put: "  when blocked_by is not null then blocked_by\n  when site_paused then 'TRADING_PAUSED'\n",
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "frozen_before_excluded",
    breaks: "an excluded trader whose account is frozen is told of the freeze",
    file: "risk/functions/blocked_by",
    find: "  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'\n",
    put: `  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'
`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "past_expiry_behind_the_gates",
    breaks: "an expiry in the past is looked at only after the site's pause and the trader's gates",
    file: "trading/functions/request_rejection",
    find: `  when (request).order_id is null and (request).expires_at <= (context).at
    then 'INVALID_REQUEST'
`,
    put: "",
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "release_expires_first",
    breaks:
      "a late release ends an order as expired that a late closing would end as market_closed",
    file: "trading/functions/request_rejection",
    find: "(request).order_id is null and (request).expires_at",
    put: "(request).expires_at",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "late_closing_forgotten",
    breaks: "a paused market past its close time is opened with its orders",
    file: "trading/functions/change_market_status",
    find: "    and v_market.close_time <= v_at\n",
    put: "    and false\n",
    tests: ["db/admin/set_market_status"],
  },
  {
    name: "passed_close_time_moved",
    breaks: "a market is kept open by an edit after its close time",
    file: "admin/functions/edit_market",
    find: "    and v_market.close_time <= core.now()\n",
    put: "    and false\n",
    tests: ["db/admin/edit_market"],
  },
  {
    name: "budget_forgets_its_fee",
    breaks: "a budget buys what fits without the fee",
    file: "trading/functions/affordable_quantity",
    find: "((budget_cents - spent_cents) * 1000000 - rate_bps * weight)",
    put: "((budget_cents - spent_cents) * 1000000)",
    tests: ["db/api/place_orders_budgets"],
  },
  {
    name: "taker_counted_twice",
    breaks: "the takers of a market are counted again with each trade",
    file: "trading/functions/account_fills",
    find: "if not h_has_traded[(s + 1) / 2] then",
    put: "if true then",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "maker_not_counted",
    breaks: "makers are not counted among the traders of a market",
    file: "trading/functions/account_fills",
    find: "if not h_has_traded[(g + 1) / 2] then",
    put: "if false then",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "amend_forgets_fills",
    breaks: "a replacement orders again what is filled already",
    file: "trading/functions/replace_order",
    find: 'v_request.quantity := replace_order.quantity - ("order").filled_quantity;',
    put: "v_request.quantity := replace_order.quantity;",
    tests: ["db/api/amend_order"],
  },
  {
    name: "amend_to_what_is_filled",
    breaks: "an order may be amended to just what is filled",
    file: "trading/functions/amend_rejection",
    find: 'when quantity <= ("order").filled_quantity',
    put: 'when quantity < ("order").filled_quantity',
    tests: ["db/api/amend_order"],
  },
  {
    name: "released_to_the_front",
    breaks: "a released order queues by its acceptance",
    file: "trading/functions/write_orders",
    find: "      when o.was_scheduled then nextval('trading.orders_id_seq')\n",
    put: "",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "release_out_of_order",
    breaks: "due orders are released by id, whatever their time",
    file: "trading/functions/due_requests",
    find: "order by b.release_at, b.order_id",
    put: "order by b.order_id",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "shares_ahead_with_its_own",
    breaks: "an order counts among the shares ahead of it",
    file: "trading/functions/shares_ahead",
    find: `order by x.queue_position
        rows between unbounded preceding and 1 preceding`,
    put: `order by x.queue_position
        rows between unbounded preceding and current row`,
    tests: ["db/api/list_orders"],
  },
  {
    name: "shares_ahead_with_expired",
    breaks: "better-priced orders that have expired count among the shares ahead",
    file: "trading/functions/shares_ahead",
    find: "and e.book_price > q.book_price",
    put: "and false",
    tests: ["db/api/list_orders"],
  },
];
