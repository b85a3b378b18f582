import type { Mutation } from "./mutation.ts";

/** Which orders meet, in which order, at which price, and which makers fail revalidation. */
export const matching: Mutation[] = [
  {
    name: "plain_without_cash",
    breaks: "a plain order is placed that its user cannot pay",
    file: "trading/plain/is_plain_trader.sql",
    from: "(trader).balance_cents >= cost_cents",
    to: "(trader).balance_cents >= 0",
    tests: ["db/trading/place_plain_order"],
  },
  {
    name: "plain_past_own_order",
    breaks: "a plain order trades with an order of its own user",
    file: "trading/plain/place_plain_order.sql",
    from: "or v_maker.user_id = v_taker.user_id",
    to: "or v_maker.user_id is null",
    tests: ["db/trading/place_plain_order"],
  },
  {
    name: "plain_key_used_again",
    breaks: "a plain order is placed although its key is there",
    file: "trading/plain/place_plain_order.sql",
    from: `if not found then
      return null;
    end if;
  end if;
  return (`,
    to: `end if;
  return (`,
    tests: ["db/trading/place_plain_order"],
  },
  {
    name: "starved_makers_cleared",
    breaks: "a request that is rejected cancels makers that only its fills would have starved",
    file: "trading/match/match_orders.sql",
    from: "then i else -1 end",
    to: "then -1 else -1 end",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "dead_makers_spared",
    breaks: "makers that were without cash before count as starved",
    file: "trading/match/match_orders.sql",
    from: "t_untraded[u]) is not null then 0",
    to: "t_untraded[u]) is not null then -1",
    tests: ["db/api/run_command"],
  },
  {
    name: "starved_without_bound",
    breaks: "one request cancels any number of makers that its own fills leave without cash",
    file: "trading/match/match_orders.sql",
    from: "when v_starved_count = c_most_cancelled then",
    to: "when false then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "call_without_bound",
    breaks: "the requests of one call together cancel any number of makers",
    file: "trading/match/match_orders.sql",
    from: "or c_before > 0 and c_count",
    to: "or false and c_count",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "uncovered_clears",
    breaks: "an order that no cash covers cancels makers before it is rejected",
    file: "trading/match/match_orders.sql",
    from: `t_limits[t], t_untraded[t], t_open_cost[t]),
      case when v_stop`,
    to: `t_limits[t], t_untraded[t], t_open_cost[t])
        || case when v_stop is not null then null else '' end,
      case when v_stop`,
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "cut_order_rests",
    breaks: "an order that ends among makers without cash rests in front of them",
    file: "trading/match/match_orders.sql",
    from: "when v_is_ioc or v_stop = 'ends' then 'cancelled'",
    to: "when v_is_ioc then 'cancelled'",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "unfinished_overtaken",
    breaks: "an order is placed before the one that it waits for",
    file: "trading/match/match_orders.sql",
    from: "if v_code is null and v_held && array[v_book, -t] then",
    to: "if false then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "atomic_clears_nothing",
    breaks: "an atomic batch that meets many makers without cash is rejected",
    file: "trading/place/place_as_one.sql",
    from: "if found then",
    to: "if false then",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "rejected_batch_clears",
    breaks: "an atomic batch that is rejected anyway cancels makers first",
    file: "trading/place/place_as_one.sql",
    from: `
    and not (place_as_one.atomic and 'CONFLICT_RETRY' <> any (v_codes))`,
    to: "",
    tests: ["db/api/place_orders_long_queues"],
  },
  {
    name: "live_makers_cleared",
    breaks: "a batch that is not finished cancels makers that only its fills would have starved",
    file: "trading/place/place_as_one.sql",
    from: "where c.starved_by[p] = 0",
    to: "where true",
    tests: ["db/api/run_command"],
  },
  {
    name: "never_final",
    breaks: "a batch whose own fills leave many makers without cash is never finished",
    file: "trading/place/place_as_one.sql",
    from: "is_final => true",
    to: "is_final => false",
    tests: ["db/api/run_command"],
  },
  {
    name: "queue_reversed",
    breaks: "at one price, the order that came last is taken first",
    file: "trading/read/read_makers.sql",
    from: `            and x.queue_position >= s.first_position
          order by x.queue_position
`,
    to: `            and x.queue_position >= s.first_position
          order by x.queue_position desc
`,
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_not_raised",
    breaks: "a better order comes to rest and the best price stays",
    file: "trading/write/write_market_state.sql",
    from: "greatest(b.best_yes_price, b.highest_yes)",
    to: "b.best_yes_price",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_runs_ahead",
    breaks: "the search at the best price begins behind an order that is left",
    file: "trading/write/first_position.sql",
    from: "then first_left",
    to: "then first_left + 1",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "first_position_kept_at_another_price",
    breaks: "the best price of a side moves, and its search begins where it did",
    file: "trading/write/first_position.sql",
    from: "when best = best_before then",
    to: "when true then",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "best_price_of_the_other_side",
    breaks: "the best price of a side is looked for among the shares of the other",
    file: "trading/write/best_in_depth.sql",
    from: "trading.depth_place(book_side, p)",
    to: "trading.depth_place(case book_side when 'yes' then 'no' else 'yes' end::trading.side, p)",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "best_price_one_below",
    breaks: "the best price is looked for below the price that it is at most",
    file: "trading/write/best_in_depth.sql",
    from: "reverse best_in_depth.from_price ..",
    to: "reverse best_in_depth.from_price - 1 ..",
    tests: ["db/trading/write_depth"],
  },
  {
    name: "queue_lost_in_a_batch",
    breaks: "what comes to rest in a batch goes before what rests there",
    file: "trading/match/match_orders.sql",
    from: "if coalesce(k_price[b_first[v_book]], 0) < v_level then",
    to: "if coalesce(k_price[b_first[v_book]], 0) <= v_level then",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_batches"],
  },
  {
    name: "improvement_kept",
    breaks: "a taker pays their own price, not the maker's",
    file: "trading/match/match_orders.sql",
    from: "a_cost[s] := a_cost[s] + n * (100 - v_level);",
    to: "a_cost[s] := a_cost[s] + n * r.book_price[i];",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "improvement_to_the_maker",
    breaks: "the maker's price gives way to the taker's",
    file: "trading/match/match_orders.sql",
    from: "w := case when k_is_buy[k] then -v_level",
    to: "w := case when k_is_buy[k] then r.book_price[i] - 100",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "touching_prices_miss",
    breaks: "prices that add up to 100 do not meet",
    file: "trading/match/match_orders.sql",
    from: "v_worst := 100 - r.book_price[i];",
    to: "v_worst := 101 - r.book_price[i];",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "touching_prices_not_read",
    breaks: "orders that can be met only at a sum of 100 are not read",
    file: "trading/read/read_batch.sql",
    from: "if r.book_price[i] + v_best >= 100 and",
    to: "if r.book_price[i] + v_best > 100 and",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "maker_lives_a_moment_longer",
    breaks: "a maker is taken at the moment of its expiry",
    file: "trading/read/read_makers.sql",
    from: "case when k.expires_at <= read_makers.at then 'expired' end",
    to: "case when k.expires_at < read_makers.at then 'expired' end",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_maker_kept",
    breaks: "a maker that fails revalidation stays on the book",
    file: "trading/write/write_makers.sql",
    from: "and k_left[v_places[width_bucket(b.order_id, v_ids)]] <= 0",
    to: "and k_left[v_places[width_bucket(b.order_id, v_ids)]] = 0",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_their_whole_order",
    breaks: "a maker is held against a limit with all of their order",
    file: "trading/match/match_orders.sql",
    from: `      if v_reason is not null then
        -- It ends`,
    to: `      if v_reason is null and w < 0 and risk.exceeds_limits(
        t_limits[u], t_untraded[u], t_balance[u], -k_left[k] * w
      ) then
        v_reason := 'loss_limit';
      end if;
      if v_reason is not null then
        -- It ends`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_open_orders",
    breaks: "a maker is held against a limit with all that is open",
    file: "trading/match/match_orders.sql",
    from: `      if v_reason is not null then
        -- It ends`,
    to: `      if v_reason is null and w < 0 and risk.exceeds_limits(
        t_limits[u], t_untraded[u], t_balance[u], t_open_cost[u] - n * w
      ) then
        v_reason := 'loss_limit';
      end if;
      if v_reason is not null then
        -- It ends`,
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "maker_judged_by_the_whole_order",
    breaks: "a maker must pay for all of their order",
    file: "trading/match/match_orders.sql",
    from: "n, n * w, s_quantity[k_share[k]],",
    to: "n, k_left[k] * w, s_quantity[k_share[k]],",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_shares_not_given_back",
    breaks: "makers do not get back the shares that they sold to a request that is then rejected",
    file: "trading/match/match_orders.sql",
    from: "s_quantity[k_share[j]] := s_quantity[k_share[j]] - case when k_is_buy[j] then n else -n end;",
    to: "null;",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "met_quantity_not_given_back",
    breaks: "what a rejected request would have taken of a resting order is gone",
    file: "trading/match/match_orders.sql",
    from: "k_left[j] := k_left[j] + n;",
    to: "null;",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "planned_cash_not_given_back",
    breaks: "makers do not get back the cash that they paid to a request that is then rejected",
    file: "trading/match/match_orders.sql",
    from: "t_balance[u] := t_balance[u] - n * w;",
    to: "null;",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "self_trade_after_funding",
    breaks: "INSUFFICIENT_BALANCE comes before SELF_TRADE_BLOCKED",
    file: "trading/match/match_orders.sql",
    from: `v_code := 'SELF_TRADE_BLOCKED';
        exit;`,
    to: `v_code := coalesce(trading.funding_rejection(
          v_is_buy, r_quantity[i], v_spent + (v_wanted - v_bought) * v_price,
          v_spent + (v_wanted - v_bought) * v_price, t_balance[t], s_quantity[s],
          t_limits[t], t_untraded[t], t_open_cost[t]
        ), 'SELF_TRADE_BLOCKED');
        exit;`,
    tests: ["db/api/place_orders_self_trade", "db/api/place_orders_refusals"],
  },
  {
    name: "post_only_before_self_trade",
    breaks: "post-only is checked before self-trade",
    file: "trading/match/match_orders.sql",
    from: `v_code := 'SELF_TRADE_BLOCKED';
        exit;`,
    to: `v_code := case when r.post_only[i] and v_bought > 0
          then 'POST_ONLY_WOULD_CROSS' else 'SELF_TRADE_BLOCKED' end;
        exit;`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "post_only_blocked_by_the_dead",
    breaks: "a post-only order is rejected for a maker that fails revalidation",
    file: "trading/match/match_orders.sql",
    from: `when r.post_only[i] and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when v_stop`,
    to: `when r.post_only[i] and v_met < 100 then 'POST_ONLY_WOULD_CROSS'
      when v_stop`,
    tests: ["db/api/place_orders_makers", "db/api/place_orders_refusals"],
  },
  {
    name: "limit_before_balance",
    breaks: "the loss limit is checked before the balance",
    file: "trading/check/funding_rejection.sql",
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
    file: "trading/check/trader_rejection.sql",
    from: "when site_paused then 'TRADING_PAUSED'",
    to: `when blocked_by is not null then blocked_by
  when site_paused then 'TRADING_PAUSED'`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "frozen_before_excluded",
    breaks: "ACCOUNT_FROZEN comes before SELF_EXCLUDED",
    file: "risk/functions/blocked_by.sql",
    from: "when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'",
    to: `when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "past_expiry_behind_the_gates",
    breaks: "an expiry in the past is looked at only after the site's pause and the trader's gates",
    file: "trading/check/request_rejection.sql",
    from: `  when not is_release and expires_at <= at then 'INVALID_REQUEST'
`,
    to: "",
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "release_expires_first",
    breaks:
      "a late release ends an order as expired that a late closing would end as market_closed",
    file: "trading/check/request_rejection.sql",
    from: "when not is_release and expires_at",
    to: "when expires_at",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "late_closing_forgotten",
    breaks: "a paused market past its close time is opened with its orders",
    file: "trading/settle/change_market_status.sql",
    from: "and v_market.close_time <= v_at",
    to: "and false",
    tests: ["db/admin/set_market_status"],
  },
  {
    name: "passed_close_time_moved",
    breaks: "a market is kept open by an edit after its close time",
    file: "admin/functions/edit_market.sql",
    from: "and v_market.close_time <= core.now()",
    to: "and false",
    tests: ["db/admin/edit_market"],
  },
  {
    name: "budget_forgets_its_fee",
    breaks: "a budget buys what fits without the fee",
    file: "trading/match/affordable_quantity.sql",
    from: "((budget_cents - spent_cents) * 1000000 - rate_bps * weight)",
    to: "((budget_cents - spent_cents) * 1000000)",
    tests: ["db/api/place_orders_budgets"],
  },
  {
    name: "taker_counted_twice",
    breaks: "the takers of a market are counted again with each trade",
    file: "trading/write/write_market_state.sql",
    from: "where not h.has_traded[i]",
    to: "where true",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "maker_not_counted",
    breaks: "makers are not counted among the traders of a market",
    file: "trading/write/write_market_state.sql",
    from: "where not h.has_traded[i]",
    to: "where not h.has_traded[i] and h.user_id[i] = any (r.user_id)",
    tests: ["db/ledger/verify", "db/api/place_orders_kinds"],
  },
  {
    name: "amend_forgets_fills",
    breaks: "a replacement orders again what is filled already",
    file: "trading/change/replace_order.sql",
    from: `array[replace_order.quantity - ("order").filled_quantity]`,
    to: "array[replace_order.quantity]",
    tests: ["db/api/amend_order"],
  },
  {
    name: "amend_to_what_is_filled",
    breaks: "an order may be amended to just what is filled",
    file: "trading/check/amend_rejection.sql",
    from: `when quantity <= ("order").filled_quantity`,
    to: `when quantity < ("order").filled_quantity`,
    tests: ["db/api/amend_order"],
  },
  {
    name: "released_to_the_front",
    breaks: "a released order queues by its acceptance",
    file: "trading/write/write_orders.sql",
    from: "queue_position = nextval('trading.order_ids'),",
    to: "queue_position = b.order_id,",
    tests: ["db/trading/release_orders"],
  },
  {
    name: "release_out_of_order",
    breaks: "due orders are released by id, whatever their time",
    file: "trading/place/due_requests.sql",
    from: `    order by b.release_at, b.order_id
`,
    to: `    order by b.order_id
`,
    tests: ["db/trading/release_orders"],
  },
  {
    name: "shares_ahead_with_its_own",
    breaks: "an order counts among the shares ahead of it",
    file: "trading/show/shares_ahead.sql",
    from: "rows between unbounded preceding and 1 preceding",
    to: "rows between unbounded preceding and current row",
    tests: ["db/api/list_orders"],
  },
  {
    name: "shares_ahead_with_expired",
    breaks: "better-priced orders that have expired count among the shares ahead",
    file: "trading/show/shares_ahead.sql",
    from: "and e.book_price > q.book_price",
    to: "and false",
    tests: ["db/api/list_orders"],
  },
  {
    name: "version_of_two_books",
    breaks: "a read shows a book without an expired order at the version of the book with it",
    file: "trading/show/time_of_book.sql",
    from: "if not exists",
    to: "if true or not exists",
    tests: ["db/api/book_versions"],
  },
  {
    name: "fok_counts_expired",
    breaks: "a fok order counts shares of orders past their expiry, which it meets and cancels",
    file: "trading/read/shares_within.sql",
    from: "where e.expires_at <= shares_within.at",
    to: "where false",
    tests: ["db/api/place_orders_model"],
  },
  {
    name: "fok_walks_a_short_book",
    breaks: "a fok order that the book cannot fill cancels makers that fail",
    file: "trading/match/match_orders.sql",
    from: "v_is_short := batch.fok_shares[i] + n < v_wanted;",
    to: "v_is_short := false;",
    tests: ["db/api/place_orders_model"],
  },
  {
    name: "short_fok_overlooks_own",
    breaks: "a fok order that the book cannot fill is not blocked by an own order in reach",
    file: "trading/match/match_orders.sql",
    from: "v_may_meet_own := batch.shares_before_own[i] is not null;",
    to: "v_may_meet_own := false;",
    tests: ["db/api/place_orders_fok"],
  },
  {
    name: "order_in_two_tables",
    breaks: "an order that is filled stays among the open ones",
    file: "trading/write/write_makers.sql",
    from: `    delete from trading.active_orders as b
    where b.order_id = any (v_ids)
`,
    to: `    update trading.active_orders as b set left_quantity = 1
    where b.order_id = any (v_ids)
`,
    tests: ["db/ledger/verify"],
  },
];
