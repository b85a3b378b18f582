import type { Mutation } from "./mutation.ts";

/** Which orders meet, in which order, at which price, and which makers fail revalidation. */
export const matching: Mutation[] = [
  {
    name: "starved_makers_cleared",
    breaks: "a request that is not finished cancels makers that only its fills would have starved",
    from: "k_end_reason[k] is null and t_traded_with[m] = i",
    to: "false",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "starved_without_bound",
    breaks: "one call cancels any number of makers that its own fills leave without cash",
    from: "in (v_starved_count, v_cancelled_count - v_starved_count)",
    to: "= v_cancelled_count - v_starved_count",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "starved_makers_met_again",
    breaks: "a request that leaves many makers without cash is never finished",
    from: "v_is_starved[1 : v_cancelled_count], v_cancelled,",
    to: "v_is_starved[1 : v_cancelled_count], null,",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "starved_for_nothing",
    breaks: "a request that will be rejected costs makers their orders",
    from: "v_verdict is not null",
    to: "false",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "unfinished_overtaken",
    breaks: "an order is placed before the one that it waits for",
    from: "if r.code is null and v_held && array[r.book, -t] then",
    to: "if false then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "atomic_clears_nothing",
    breaks: "an atomic batch that meets many makers without cash is never finished",
    from: "if v_unfinished is null then",
    to: "if true then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "best_queue_forgets_expiry",
    breaks: "a single order meets orders past their expiry",
    from: "k.available = 0",
    to: "false",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "queue_reversed",
    breaks: "at one price, the order that came last is taken first",
    from: "order by x.queue_position",
    to: "order by x.queue_position desc",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_not_raised",
    breaks: "a better order comes to rest and the best price stays",
    from: "greatest(b.best_yes_price, b.highest_yes)",
    to: "b.best_yes_price",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_runs_ahead",
    breaks: "the search at the best price begins behind an order that is left",
    from: "then first_left",
    to: "then first_left + 1",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_kept_at_another_price",
    breaks: "the best price of a side moves, and its search begins where it did",
    from: "when best = best_before then",
    to: "when true then",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_of_the_other_side",
    breaks: "the best price of a side is looked for among the shares of the other",
    from: "'yes' then 0 else 99",
    to: "'yes' then 99 else 0",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "best_price_one_below",
    breaks: "the best price is looked for below the price that it is at most",
    from: "reverse best_in_depth.from_price ..",
    to: "reverse best_in_depth.from_price - 1 ..",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "queue_lost_in_a_batch",
    breaks: "what comes to rest in a batch goes before what rests there",
    from: "if coalesce(k_price[b_first[r.book]], 0) < r.book_price then",
    to: "if coalesce(k_price[b_first[r.book]], 0) <= r.book_price then",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_batches"],
  },
  {
    name: "improvement_kept",
    breaks: "a taker pays their own price, not the maker's",
    from: "v_price := 100 - v_maker_price;",
    to: "v_price := r_book_price[i];",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "improvement_to_the_maker",
    breaks: "the maker's price gives way to the taker's",
    from: "v_trade.maker_cents := -(n * v_maker_price);",
    to: "v_trade.maker_cents := -(n * (100 - r_book_price[i]));",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "touching_prices_miss",
    breaks: "prices that add up to 100 do not meet",
    from: "100 - (request).book_price,",
    to: "101 - (request).book_price,",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "touching_prices_not_read",
    breaks: "orders that can be met only at a sum of 100 are not read",
    from: "end >= 100",
    to: "end > 100",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "maker_lives_a_moment_longer",
    breaks: "a maker is taken at the moment of its expiry",
    from: "coalesce(k.expires_at <= k.at, false)",
    to: "coalesce(k.expires_at < k.at, false)",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_maker_kept",
    breaks: "a maker that fails revalidation stays on the book",
    from: "v_left[width_bucket(b.order_id, v_ids)] <= 0",
    to: "v_left[width_bucket(b.order_id, v_ids)] = 0",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_their_whole_order",
    breaks: "a maker is held against a limit with all of their order",
    mark: "dead_maker",
    from: "if v_reason is not null then",
    to: `if v_reason is null and k_cents[k] < 0 and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], t_balance[m], -k_left[k] * k_cents[k]
        ) then
          v_reason := 'loss_limit';
        end if;
        if v_reason is not null then`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_open_orders",
    breaks: "a maker is held against a limit with all that is open",
    mark: "dead_maker",
    from: "if v_reason is not null then",
    to: `if v_reason is null and k_cents[k] < 0 and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], t_balance[m], t_open_cost[m] - n * k_cents[k]
        ) then
          v_reason := 'loss_limit';
        end if;
        if v_reason is not null then`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "maker_judged_by_the_whole_order",
    breaks: "a maker must pay for all of their order",
    from: "n, n * k_cents[k],",
    to: "n, k_left[k] * k_cents[k],",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_shares_not_given_back",
    breaks: "makers do not get back the shares that they sold to a request that is then rejected",
    from: "h_quantity[k_shares[j]] - n * k_gain[j];",
    to: "h_quantity[k_shares[j]];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "met_quantity_not_given_back",
    breaks: "what a rejected request would have taken of a resting order is gone",
    from: "k_left[j] := k_left[j] + n;",
    to: "k_left[j] := k_left[j];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_cash_not_given_back",
    breaks: "makers do not get back the cash that they paid to a request that is then rejected",
    from: "t_balance[m] - n * k_cents[j];",
    to: "t_balance[m];",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "self_trade_after_funding",
    breaks: "INSUFFICIENT_BALANCE comes before SELF_TRADE_BLOCKED",
    mark: "self_trade",
    from: "v_code := 'SELF_TRADE_BLOCKED';",
    to: `v_code := coalesce(trading.funding_rejection(
            r.is_buy, r.quantity, v_spent + (v_wanted - v_bought) * r.price,
            v_spent + (v_wanted - v_bought) * r.price, t_balance[t], h_quantity[r.shares],
            limits.limits[t], limits.untraded[t], t_open_cost[t]
          ), 'SELF_TRADE_BLOCKED');`,
    tests: ["db/api/place_orders_self_trade", "db/api/place_orders_refusals"],
  },
  {
    name: "post_only_before_self_trade",
    breaks: "post-only is checked before self-trade",
    mark: "self_trade",
    from: "v_code := 'SELF_TRADE_BLOCKED';",
    to: `v_code := case when r.is_post_only and v_bought > 0
            then 'POST_ONLY_WOULD_CROSS' else 'SELF_TRADE_BLOCKED' end;`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "post_only_blocked_by_the_dead",
    breaks: "a post-only order is rejected for a maker that fails revalidation",
    from: "when r.is_post_only and v_bought > 0",
    to: "when r.is_post_only and v_met < 100",
    tests: ["db/api/place_orders_makers", "db/api/place_orders_refusals"],
  },
  {
    name: "limit_before_balance",
    breaks: "the loss limit is checked before the balance",
    from: "when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'",
    to: `when risk.exceeds_limits(
    limits, untraded, balance_cents, open_cost_cents + cost_cents
  ) then 'LOSS_LIMIT'
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "exclusion_before_pause",
    breaks: "SELF_EXCLUDED comes before TRADING_PAUSED",
    from: "when site_paused then 'TRADING_PAUSED'",
    to: `when blocked_by is not null then blocked_by
  when site_paused then 'TRADING_PAUSED'`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "frozen_before_excluded",
    breaks: "ACCOUNT_FROZEN comes before SELF_EXCLUDED",
    mark: "excluded",
    from: "when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'",
    to: `when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "past_expiry_behind_the_gates",
    breaks: "an expiry in the past is looked at only after the site's pause and the trader's gates",
    mark: "past_expiry",
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "release_expires_first",
    breaks:
      "a late release ends an order as expired that a late closing would end as market_closed",
    mark: "past_expiry",
    from: "(request).order_id is null and (request).expires_at",
    to: "(request).expires_at",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "late_closing_forgotten",
    breaks: "a paused market past its close time is opened with its orders",
    from: "and v_market.close_time <= v_at",
    to: "and false",
    tests: ["db/admin/set_market_status"],
  },
  {
    name: "passed_close_time_moved",
    breaks: "a market is kept open by an edit after its close time",
    from: "and v_market.close_time <= core.now()",
    to: "and false",
    tests: ["db/admin/edit_market"],
  },
  {
    name: "budget_forgets_its_fee",
    breaks: "a budget buys what fits without the fee",
    from: "((budget_cents - spent_cents) * 1000000 - rate_bps * weight)",
    to: "((budget_cents - spent_cents) * 1000000)",
    tests: ["db/api/place_orders_budgets"],
  },
  {
    name: "taker_counted_twice",
    breaks: "the takers of a market are counted again with each trade",
    from: "if not h_has_traded[(s + 1) / 2] then",
    to: "if true then",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "maker_not_counted",
    breaks: "makers are not counted among the traders of a market",
    from: "if not h_has_traded[(g + 1) / 2] then",
    to: "if false then",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "amend_forgets_fills",
    breaks: "a replacement orders again what is filled already",
    from: 'v_request.quantity := replace_order.quantity - ("order").filled_quantity;',
    to: "v_request.quantity := replace_order.quantity;",
    tests: ["db/api/amend_order"],
  },
  {
    name: "amend_to_what_is_filled",
    breaks: "an order may be amended to just what is filled",
    from: 'when quantity <= ("order").filled_quantity',
    to: 'when quantity < ("order").filled_quantity',
    tests: ["db/api/amend_order"],
  },
  {
    name: "released_to_the_front",
    breaks: "a released order queues by its acceptance",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "release_out_of_order",
    breaks: "due orders are released by id, whatever their time",
    from: "order by d.release_at, d.order_id",
    to: "order by d.order_id",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "shares_ahead_with_its_own",
    breaks: "an order counts among the shares ahead of it",
    from: "rows between unbounded preceding and 1 preceding",
    to: "rows between unbounded preceding and current row",
    tests: ["db/api/list_orders"],
  },
  {
    name: "shares_ahead_with_expired",
    breaks: "better-priced orders that have expired count among the shares ahead",
    from: "and e.book_price > q.book_price",
    to: "and false",
    tests: ["db/api/list_orders"],
  },
  {
    name: "version_of_two_books",
    breaks: "a read shows a book without an expired order at the version of the book with it",
    from: "if not exists",
    to: "if true or not exists",
    tests: ["db/api/book_versions"],
  },
];
