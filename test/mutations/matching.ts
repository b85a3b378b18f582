import type { Mutation } from "./mutation.ts";

const match = "trading/functions/match_orders";

/** What meets what, in which order, at which price, and who is found dead. */
export const matching: Mutation[] = [
  {
    name: "queue_reversed",
    breaks: "at one price, the order that came last is taken first",
    file: "trading/functions/read_book_slice",
    find: "order by x.queue_position\n",
    put: "order by x.queue_position desc\n",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "front_left_behind",
    breaks: "a batch that rests a better order leaves the front of the book where it was",
    file: "trading/functions/settle_orders",
    find: "front_yes_price = greatest(context.best_yes, r.best_yes)",
    put: "front_yes_price = context.best_yes",
    tests: ["db/api/place_orders_batches"],
  },
  {
    name: "front_runs_ahead",
    breaks: "a lone order behind the best becomes the front of its side",
    file: "trading/functions/rest_order",
    find: "when v_leads and request.book_side = 'no' then v_order_id else",
    put: "when request.book_side = 'no' then v_order_id else",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "queue_lost_in_a_batch",
    breaks: "what comes to rest in a batch goes before what rests there",
    file: match,
    find: `      if v_first[v_chain] = 0 then
        v_first[v_chain] := k;
      else
        v_next[v_last[v_chain]] := k;
      end if;
      v_last[v_chain] := k;
      if v_is_buy and`,
    put: `      v_next[k] := v_first[v_chain];
      v_first[v_chain] := k;
      if v_is_buy and`,
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_batches"],
  },
  {
    name: "improvement_kept",
    breaks: "a taker pays their own price, not the maker's",
    file: match,
    find: "      v_price := 100 - v_maker.book_price;\n",
    put: "      v_price := v_request.book_price;\n",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "improvement_to_the_maker",
    breaks: "the maker's price gives way to the taker's",
    file: match,
    find: "        v_amount := -(n * v_maker.book_price);\n        v_maker_realised := null;",
    put: "        v_amount := -(n * (100 - v_request.book_price));\n        v_maker_realised := null;",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "touching_prices_miss",
    breaks: "prices that add up to 100 do not meet",
    file: "trading/functions/crosses",
    find: "return 100 - (request).book_price <= case",
    put: "return 100 - (request).book_price < case",
    tests: ["db/api/place_orders_kinds", "db/api/place_orders_time_in_force"],
  },
  {
    name: "maker_lives_a_moment_longer",
    breaks: "a maker is taken at the moment of its expiry",
    file: match,
    find: "if v_maker.expires_at <= context.at then",
    put: "if v_maker.expires_at < context.at then",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_maker_kept",
    breaks: "an order found dead stays on the book",
    file: "trading/functions/settle_makers",
    find: "and v_left[width_bucket(b.order_id, v_ids)] <= 0",
    put: "and v_left[width_bucket(b.order_id, v_ids)] = 0",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "dead_makers_by_open_orders",
    breaks: "a maker is held against a limit with all that is open",
    file: match,
    find: "limits.limits[m], limits.untraded[m], v_balance[m], n * v_level",
    put: "limits.limits[m], limits.untraded[m], v_balance[m], v_open_cost[m]",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "maker_judged_by_the_whole_order",
    breaks: "a maker must pay for all of their order",
    file: match,
    find: "elsif v_balance[m] < n * v_level then",
    put: "elsif v_balance[m] < v_left[k] * v_level then",
    tests: ["db/api/place_orders_makers"],
  },
  {
    name: "plan_not_taken_back",
    breaks: "the shares that a maker sells in a plan are not given back before it is carried out",
    file: match,
    find: "v_held[m][h] := v_held[m][h] + n;\n        end if;\n      end if;\n    end loop;",
    put: "v_held[m][h] := v_held[m][h];\n        end if;\n      end if;\n    end loop;",
    tests: ["db/api/place_orders_kinds"],
  },
  {
    name: "self_trade_after_funding",
    breaks: "who can't pay is told so before they are told of a self-trade",
    file: match,
    find: "      when v_own then 'SELF_TRADE_BLOCKED'\n",
    put: `      when trading.funding_rejection(
        v_request, v_required, v_required, v_balance[t],
        v_held[t][case v_request.side when 'yes' then 1 else 2 end],
        limits.limits[t], limits.untraded[t], v_open_cost[t]
      ) is null and v_own then 'SELF_TRADE_BLOCKED'
`,
    tests: ["db/api/place_orders_self_trade", "db/api/place_orders_refusals"],
  },
  {
    name: "post_only_before_self_trade",
    breaks: "post-only is checked before self-trade",
    file: match,
    find: `      when v_own then 'SELF_TRADE_BLOCKED'
      when v_request.post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
`,
    put: `      when v_request.post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when v_own then 'SELF_TRADE_BLOCKED'
`,
    tests: ["db/api/place_orders_refusals"],
  },
  {
    name: "post_only_blocked_by_the_dead",
    breaks: "a post-only order is refused for a maker who is dead",
    file: match,
    find: "when v_request.post_only and v_bought > 0",
    put: "when v_request.post_only and v_met_count > 0",
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
    file: match,
    find: "((v_request.budget_cents - v_spent) * 1000000 - money.taker_rate_bps * v_weight)\n",
    put: "((v_request.budget_cents - v_spent) * 1000000)\n",
    tests: ["db/api/place_orders_budgets"],
  },
  {
    name: "trader_counted_twice",
    breaks: "the traders of a market are counted again with each trade",
    file: match,
    find: "      if not v_has_traded[m] then\n",
    put: "      if true then\n",
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
    file: match,
    find: `        case when v_request.order_id is null then v_order_id
          else nextval('trading.orders_id_seq') end
`,
    put: "        v_order_id\n",
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
    find: "select sum(e.quantity)\n",
    put: "select sum(0 * e.quantity)\n",
    tests: ["db/api/list_orders"],
  },
];
