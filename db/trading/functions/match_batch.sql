create or replace function trading.match_batch(
  context trading.market_context,
  requests trading.order_request[],
  has_keys boolean,
  holds_users boolean default false
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := match_batch.requests;
  v_slice trading.book_slice;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_money trading.market_money;
  v_result trading.match_result;
  v_depth int := 1;
  v_demand int[];
  v_shares_before_own bigint[];
begin
  select m.* into v_money
  from trading.read_money(context.market_id, context.category_id, context.at) as m;
  if context.live_delay_ms is null then
    select r.demand, r.shares_before_own into v_demand, v_shares_before_own
    from trading.read_reach(context, v_requests) as r;
  end if;
  loop
    if context.live_delay_ms is null then
      v_slice := trading.read_book_slice(context, v_requests, v_demand, v_depth);
      v_slice.shares_before_own := v_shares_before_own;
    else
      v_slice := ('{}', 0, 0, null);
    end if;
    if v_depth > 1 or match_batch.holds_users then
      perform trading.lock_more_traders(v_slice);
    end if;
    v_traders := trading.lock_traders(v_requests, v_slice, context.at);
    select h.* into v_holdings
    from trading.read_holdings(context.market_id, v_traders.user_ids) as h;
    if true = any (v_traders.limited) then
      v_limits := trading.read_limits(
        v_traders.user_ids, array(select r.user_id from unnest(v_requests) as r), context.at
      );
    end if;
    if match_batch.has_keys then
      v_requests := trading.read_replays(v_requests, context.at);
    end if;

    v_result := trading.match_orders(
      context, v_money, v_requests, v_slice, v_traders, v_holdings, v_limits
    );
    exit when not v_result.reached_floor;
    -- Dead makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;
  return (v_money, v_result)::trading.matched_batch;
end
$$;

comment on function trading.match_batch(
  trading.market_context, trading.order_request[], boolean, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. has_keys: some request '
  'has an idempotency key; holds_users: the takers are locked already. The caller holds the '
  'market''s lock; locks the takers and the makers they can reach, by ascending account.';
