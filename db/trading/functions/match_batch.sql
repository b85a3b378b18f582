create or replace function trading.match_batch(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  locks boolean default true,
  is_final boolean default false,
  most_makers int default null,
  skips boolean default false
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch trading.matched_batch;
  v_plan constant trading.reading_plan := trading.plan_reading(
    match_batch.markets, match_batch.requests
  );
  v_slice trading.book_slice;
  v_limits trading.limit_arrays;
  v_replays bigint[];
  v_depth int := 1;
  v_demand int[];
  v_shares_before_own bigint[];
  v_user_ids bigint[];
begin
  v_batch.at := match_batch.at;
  v_batch.markets := match_batch.markets;
  v_batch.requests := match_batch.requests;
  v_batch.market_arrays := v_plan.market_arrays;

  if v_plan.meets_makers and v_plan.is_large then
    select r.demand, r.shares_before_own into v_demand, v_shares_before_own
    from trading.read_reach(match_batch.markets, match_batch.requests) as r;
  elsif v_plan.meets_makers then
    v_demand := v_plan.quantities;
    v_shares_before_own := array_fill(0::bigint, array[cardinality(match_batch.requests)]);
  end if;
  loop
    if not v_plan.meets_makers then
      v_slice := (
        '{}', array_fill(0, array[cardinality(match_batch.markets)]),
        array_fill(0, array[cardinality(match_batch.markets)])
      );
    else
      v_slice := null;
      if v_plan.is_single and not v_plan.is_large and v_depth = 1 then
        v_slice := trading.read_best_queue(match_batch.markets[1], match_batch.requests[1]);
      end if;
      if v_slice.makers is null then
        v_slice := trading.read_book_slice(
          match_batch.markets, match_batch.requests, v_demand, v_depth, match_batch.most_makers
        );
      end if;
    end if;
    v_batch.makers := v_slice.makers;
    exit when cardinality(v_slice.makers) > match_batch.most_makers;
    v_user_ids := v_plan.user_ids;
    if cardinality(v_slice.makers) > 0 then
      v_user_ids := v_user_ids || array(select k.user_id from unnest(v_slice.makers) as k);
    end if;
    if match_batch.skips and v_depth = 1 then
      exit when cardinality(trading.lock_free_traders(v_user_ids)) > 0; -- mutant: locked_trader_matched
    elsif match_batch.locks and v_depth = 1 and not match_batch.is_final then
      perform trading.lock_traders(v_user_ids); -- mutant: makers_before_the_taker
    elsif match_batch.locks then
      perform trading.lock_more_traders(v_user_ids);
    end if;
    v_batch.traders := trading.read_traders(v_user_ids, match_batch.at);
    if v_plan.may_sell or v_plan.meets_makers or cardinality(match_batch.requests) > 1 then
      v_batch.holdings := trading.read_holdings(
        match_batch.markets, match_batch.requests, v_slice.makers,
        (v_batch.traders).user_ids
      );
      v_batch.shares := trading.read_share_arrays(v_batch.holdings);
    end if;
    if true = any ((v_batch.traders).limited) then
      v_limits := trading.read_limits(
        (v_batch.traders).user_ids, v_plan.user_ids, match_batch.at
      );
    end if;
    if v_plan.has_keys then
      v_replays := trading.read_replays(match_batch.requests, match_batch.at);
    end if;

    v_batch.request_arrays := trading.read_request_arrays(v_batch, v_slice, v_plan.has_keys);
    if cardinality(v_slice.makers) > 0 then
      v_batch.maker_arrays := trading.read_maker_arrays(v_batch);
    end if;
    v_batch.result := trading.match_orders(
      v_batch, v_limits, v_replays, v_shares_before_own,
      trading.most_cancelled(), match_batch.locks, match_batch.is_final
    );
    exit when not (v_batch.result).reached_floor;
    -- Cancelled makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;
  return v_batch;
end
$$;

comment on function trading.match_batch(
  trading.market_context[], trading.order_request[], timestamptz, boolean, boolean, int, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. The caller holds the '
  'markets'' locks. Locks the takers and the makers they can reach, by ascending user id; not '
  'with locks => false, for a preview, which is always finished. is_final: a request that would '
  'not be finished (CONFLICT_RETRY) ends where it has come; the caller has locked users before. '
  'most_makers: a batch that could meet more is not matched; it comes back with these, at least as '
  'many of each market as show that, and without a result. skips: nor is it matched if another '
  'transaction has locked one of its users; it waits for none of them.';
