--! Previous: sha1:dad2d40df1d543e8c8d6bf769cfc86353df0c627
--! Hash: sha1:0e8612d8e8d24aa0c7870b38cf781f7adec2401e
--! Message: Place a batch once, and always get further

set local lock_timeout = '2s';
set local role exchange_owner;
alter type trading.cancelled_maker add attribute traded_with int;
comment on type trading.cancelled_maker is
  'A resting order that a request met and that could not go through with the match. traded_with '
  'is the request itself if its fills starved it of cash or shares, or if it is an own order; 0 if '
  'it could not have gone through with the match before the call either; else -1.';
drop function trading.match_batch(
  trading.market_context[], trading.order_request[], timestamptz, boolean
);
-- Calls under way may still call these. They end as by a conflict then, and are made again.
create or replace function trading.match_orders(
  batch trading.matched_batch,
  limits trading.limit_arrays,
  replays bigint[],
  shares_before_own bigint[],
  most_cleared int
)
returns trading.match_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise serialization_failure using message = 'An upgrade overtook this call';
end
$$;
create or replace function trading.without_starved(
  cancelled trading.cancelled_maker[], is_starved boolean[], before int
)
returns trading.cancelled_maker[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise serialization_failure using message = 'An upgrade overtook this call';
end
$$;
create or replace function trading.starved_that_stay(
  is_starved boolean[], cancelled trading.cancelled_maker[], is_hopeless boolean
)
returns boolean[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise serialization_failure using message = 'An upgrade overtook this call';
end
$$;
create or replace function trading.clear_way(
  markets trading.market_context[],
  requests trading.order_request[],
  batch trading.matched_batch
)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise serialization_failure using message = 'An upgrade overtook this call';
end
$$;
create or replace function trading.atomic_rejections(batch trading.matched_batch)
returns api.result[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise serialization_failure using message = 'An upgrade overtook this call';
end
$$;
--! Included trading/functions/without_starved.sql
create or replace function trading.without_starved(
  cancelled trading.cancelled_maker[], before int
)
returns trading.cancelled_maker[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(without_starved.cancelled), 0) <= without_starved.before then
    return without_starved.cancelled;
  end if;
  return array(
    select (c.request, c.maker, c.reason, c.left_quantity, c.traded_with)::trading.cancelled_maker
    from unnest(without_starved.cancelled) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where c.place <= without_starved.before or c.traded_with <> c.request
    order by c.place
  );
end
$$;

comment on function trading.without_starved(trading.cancelled_maker[], int) is
  'Cancelled makers without those, behind so many that were there before, that only the fills of '
  'the request that met them would have starved of cash or shares, and without its own orders.';
--! EndIncluded trading/functions/without_starved.sql
--! Included trading/functions/most_cancelled.sql
create or replace function trading.most_cancelled()
returns int
language sql immutable parallel safe
return 500;

comment on function trading.most_cancelled() is
  'How many makers a request, and a call, cancels before it stops: see trading.stop_at_bound.';
--! EndIncluded trading/functions/most_cancelled.sql
--! Included trading/functions/stop_at_bound.sql
create or replace function trading.stop_at_bound(
  cancelled_count int,
  cancelled_before int,
  starved_count int,
  most int,
  bounds_dead boolean,
  is_final boolean
)
returns text
language sql immutable parallel safe
return case
  when starved_count = most then 'ends' -- mutant: starved_without_bound
  when not bounds_dead then null
  when cancelled_count - cancelled_before - starved_count = most
    or cancelled_before > 0 and cancelled_count >= case when is_final then 3 * most else most end -- mutant: call_without_bound
    then case when is_final then 'ends' else 'comes_again' end
end;

comment on function trading.stop_at_bound(int, int, int, int, boolean, boolean) is
  'Whether a request stops at a maker that must be cancelled, null if it goes on: it ends there '
  '(ends) when its own fills have starved so many makers, and is to be placed again (comes_again) '
  'when it has met so many others, or when all requests of the call together have cancelled so '
  'many. cancelled_count is that of the call, cancelled_before of it when the request began, '
  'starved_count of the request, own orders included. bounds_dead: false for a preview. is_final: '
  'a request that would be placed again ends, too, and all together may cancel three times as '
  'many.';
--! EndIncluded trading/functions/stop_at_bound.sql
--! Included trading/functions/required_cents.sql
create or replace function trading.required_cents(
  spent_cents bigint,
  fee_cents bigint,
  left_quantity int,
  price int,
  next_price int,
  may_rest boolean,
  is_whole boolean,
  stop text,
  is_far_beyond boolean
)
returns bigint
language sql immutable parallel safe
return spent_cents + case
  when is_far_beyond then 0
  when stop = 'comes_again'
    then case when may_rest or is_whole then left_quantity * next_price else 0 end
  else fee_cents + case when may_rest then left_quantity * price else 0 end
end;

comment on function trading.required_cents(
  bigint, bigint, int, int, int, boolean, boolean, text, boolean
) is
  'What a buy must be covered with: what it has spent and its fee, and what is left of it if that '
  'rests. If it stopped to be placed again (trading.stop_at_bound): what it costs at least, since '
  'no price behind next_price is better; without the rest unless it may rest or is filled as a '
  'whole. is_far_beyond: it has met makers far beyond its cash.';
--! EndIncluded trading/functions/required_cents.sql
--! Included trading/functions/match_orders.sql
-- Price-time priority, in memory: no table is read or written.
--
--   link the makers of each side of each book in the order in which they are met
--   each request, in order:
--     1. a replay is answered; what is wrong without a look at the book is rejected
--     2. a live market judges the order by its worst case and schedules it
--     3. the order meets the other side, maker by maker, as far as it wants and its price allows
--     4. verdict: self-trade, post-only, liquidity, funding, loss limits
--     5. rejected: the makers get back what they traded; accepted: the taker pays or is paid
--     6. what is left of the order joins its side of the book, or is cancelled
--
-- It is one loop over arrays of numbers: PL/pgSQL changes these in place, but copies them on each
-- call of a part. So functions take what needs only the numbers at hand. The first letter of an
-- array says what has a place in it: k_ makers, which are those that were read and behind them the
-- requests that come to rest, b_ sides of books, t_ traders, h_ shares.
create or replace function trading.match_orders(
  batch trading.matched_batch,
  limits trading.limit_arrays,
  replays bigint[],
  shares_before_own bigint[],
  most_cancelled int,
  bounds_dead boolean,
  is_final boolean
)
returns trading.match_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_beyond constant int := trading.most_beyond();
  k_read constant int := cardinality(batch.makers);
  k_book constant int[] := (batch.maker_arrays).books;
  k_trader int[] := (batch.maker_arrays).traders;
  k_shares int[] := (batch.maker_arrays).shares;
  k_price int[] := (batch.maker_arrays).prices;
  k_cents int[] := (batch.maker_arrays).cents;
  k_gain int[] := (batch.maker_arrays).gains;
  k_end_reason trading.cancel_reason[] := (batch.maker_arrays).end_reasons;
  k_left int[] := (batch.maker_arrays).left_quantities; -- - its place in v_cancelled, once there
  k_next int[] := array_fill(0, array[k_read]);
  b_first int[] := array_fill(0, array[2 * cardinality(batch.markets)]);
  b_last int[] := array_fill(0, array[2 * cardinality(batch.markets), 99]); -- at each price
  t_balance bigint[] := (batch.traders).balances_cents;
  t_excluded constant boolean[] := (batch.traders).excluded;
  t_limited constant boolean[] := (batch.traders).limited;
  t_traded_with int[] := array_fill(0, array[coalesce(cardinality(t_balance), 0)]); -- last request
  t_open_cost bigint[] := limits.open_cost_cents; -- looked at only of those with limits
  h_quantity bigint[] := (batch.shares).quantities;
  v_rests_here boolean[]; -- whether an order of the batch rests, by holding
  v_for_key int[] := (batch.request_arrays).twins; -- at the first twin: the one that has the key
  v_results trading.order_result[];
  v_fills trading.fill[];
  v_fill_count int := 0;
  v_cancelled trading.cancelled_maker[];
  v_cancelled_count int := 0;
  v_held int[]; -- of requests that were not finished: their books, and their traders below 0
  v_rested int[];
  v_rested_count int := 0;
  r trading.match_request;
  i int := 0; -- its place
  t int; -- its trader
  k int; -- a maker
  m int; -- the maker's trader
  n int; -- shares of a match
  j int;
begin
  for p in 1 .. k_read loop
    b_first[k_book[p]] := coalesce(nullif(b_first[k_book[p]], 0), p);
    k_next[p] := case when k_book[p + 1] = k_book[p] then p + 1 else 0 end;
    b_last[k_book[p]][k_price[p]] := p;
  end loop;

  <<next_request>>
  foreach r in array (batch.request_arrays).requests loop
    i := i + 1;
    t := r.trader;

    -- 1. A replay is answered with the order as it stands now, unless that order was rejected.
    if replays is not null and not r.is_malformed then -- mutant: replay_after_the_gates
      j := v_for_key[(batch.request_arrays).twins[i]];
      if replays[i] is not null or (j < i and (v_results[j]).code is null) then -- mutant: key_of_a_refusal
        v_results[i] := trading.replay_or_reuse(
          batch, i, j, v_results[j], replays[i], k_left, v_cancelled, t_balance[t]);
        continue next_request;
      end if;
      v_for_key[(batch.request_arrays).twins[i]] := i; -- mutant: key_of_the_first_refusal
    end if;
    -- What stands behind an unfinished request, of its trader or in its market, waits for it.
    if r.code is null and v_held && array[r.book, -t] then -- mutant: unfinished_overtaken
      r.code := 'CONFLICT_RETRY';
      v_held := v_held || array[r.book, r.opposite, -t];
    end if;
    if r.code is not null then
      v_results[i] := trading.order_rejected(r.code);
      continue next_request;
    end if;

    -- 2. A live market takes the order now and judges it against the book when it is released.
    t_open_cost[t] := t_open_cost[t] - r.relieved_cents; -- mutant: replaced_order_counts
    if r.scheduled_cost_cents is not null then -- mutant: replaced_schedule_counts
      v_results[i] := trading.scheduled_result(
        r, t_balance[t], h_quantity[r.shares], limits.limits[t], limits.untraded[t],
        t_open_cost[t]);
      t_open_cost[t] := t_open_cost[t]
        + case when (v_results[i]).code is null then r.scheduled_cost_cents else 0 end;
      continue next_request;
    end if;

    declare
      v_wanted int := r.wanted;
      v_bought int := 0;
      v_spent bigint := 0;
      v_weight bigint := 0;
      v_fee bigint := 0;
      v_level int; -- price of a maker
      v_met int := 100; -- the last one at which it met a maker
      v_fills_before int := v_fill_count;
      v_cancelled_before int := v_cancelled_count;
      v_may_meet_own boolean := not r.cancels_own
        and (shares_before_own[i] is not null or coalesce(v_rests_here[r.holding], false));
      v_starved_count int := 0; -- of the makers that it cancels: starved by its fills, or its own
      v_stop text; -- why it goes no further, if that is for the number of cancelled makers
      v_open_cost bigint := t_open_cost[t]; -- with own orders that it cancels
      v_is_done boolean;
      v_so_far text; -- what it would be rejected with, as far as it has come
      v_beyond int := 0;
      v_own int := 0; -- own orders in its way
      v_required bigint;
      v_code text;
      v_status trading.order_status;
      v_reason trading.cancel_reason;
    begin
      -- 3. Meet the other side: the best price first, and at each price the order that came first.
      k := b_first[r.opposite];
      loop
        v_level := coalesce(k_price[k], 0);
        if r.floor_price >= greatest(v_level, r.worst_price) and (k = 0 or k > k_read) then
          return (true, null, null, null, null, null)::trading.match_result;
        end if;
        exit when v_level < r.worst_price;
        v_met := v_level;
        if k_left[k] < 0 then -- cancelled by a request that was not finished
          k := k_next[k];
          continue;
        end if;
        m := k_trader[k];
        n := least(v_wanted - v_bought, k_left[k], trading.affordable_quantity(
          r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 100 - v_level));
        if k_end_reason[k] is not null then
          v_reason := k_end_reason[k];
        elsif n = 0 then -- the budget ends here
          v_wanted := v_bought;
          exit;
        elsif m = t and r.cancels_own and v_own < c_most_beyond then -- mutant: others_cancelled, own_orders_without_bound
          v_reason := 'self_trade';
        elsif m = t then
          v_code := 'SELF_TRADE_BLOCKED'; -- mutant: self_trade
          exit;
        else
          v_reason := trading.maker_cancel_reason(
            n, n * k_cents[k], h_quantity[k_shares[k]], t_balance[m], t_excluded[m], -- mutant: maker_judged_by_the_whole_order
            t_limited[m], limits.limits[m], limits.untraded[m]);
        end if;
        if v_reason is not null then -- mutant: dead_maker
          v_stop := trading.stop_at_bound(v_cancelled_count, v_cancelled_before, v_starved_count,
            most_cancelled, bounds_dead, is_final);
          exit when v_stop is not null;
          if v_reason = 'self_trade' then
            v_own := v_own + 1;
            t_traded_with[t] := i; -- it stays if the request is rejected -- mutant: own_order_lost
            t_open_cost[t] := t_open_cost[t] + k_left[k] * least(0, k_cents[k]); -- mutant: cancelled_own_order_counts
          end if;
          j := case
            when k_end_reason[k] is not null or m <> t and trading.maker_cancel_reason(
              n, n * k_cents[k], (batch.shares).quantities[k_shares[k]],
              (batch.traders).balances_cents[m], t_excluded[m], t_limited[m], limits.limits[m],
              limits.untraded[m]) is not null then 0 -- mutant: dead_makers_spared
            when t_traded_with[m] = i then i else -1 end; -- mutant: starved_makers_cleared
          v_starved_count := v_starved_count + (j = i)::int;
          v_cancelled_count := v_cancelled_count + 1;
          v_cancelled[v_cancelled_count] := (i, k, v_reason, k_left[k], j)::trading.cancelled_maker;
          k := k_next[k];
          continue;
        end if;
        t_traded_with[m] := i;
        k_left[k] := k_left[k] - n;
        t_balance[m] := t_balance[m] + n * k_cents[k];
        h_quantity[k_shares[k]] := h_quantity[k_shares[k]] + n * k_gain[k];
        t_open_cost[m] := t_open_cost[m] + n * least(0, k_cents[k]);
        v_bought := v_bought + n;
        v_spent := v_spent + n * (100 - v_level);
        v_weight := v_weight + n * v_level * (100 - v_level);
        v_fill_count := v_fill_count + 1;
        v_fills[v_fill_count] := (
          i, k, n, trading.fee_cents(r.taker_rate_bps, v_weight) - v_fee)::trading.fill; -- mutant: fee_rounded_for_each_fill
        v_fee := trading.fee_cents(r.taker_rate_bps, v_weight);
        k := case when k_left[k] = 0 then k_next[k] else k end;
        exit when v_bought = v_wanted;
        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_so_far := case when r.is_post_only then 'POST_ONLY_WOULD_CROSS' else
          trading.funding_rejection(
            r.is_buy, v_wanted, v_spent, v_spent, t_balance[t], h_quantity[r.shares],
            limits.limits[t], limits.untraded[t], t_open_cost[t]) end;
        v_beyond := v_beyond + (v_so_far is not null)::int;
        exit when v_beyond = c_most_beyond
          or (v_so_far <> 'LOSS_LIMIT' and not v_may_meet_own and not r.is_fok); -- mutant: fok_not_tried_to_its_end
      end loop;
      -- 4. Verdict. A buy must be covered with its fee, and with what is left of it if that rests.
      v_is_done := v_bought = v_wanted -- or the budget is spent
        or 0 = trading.affordable_quantity(r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 1);
      v_required := trading.required_cents(v_spent, v_fee, v_wanted - v_bought, r.price,
        100 - v_level, not r.is_ioc, r.is_fok, v_stop, v_beyond = c_most_beyond);
      v_code := coalesce(v_code, case
        when v_beyond = c_most_beyond and v_may_meet_own
          and v_wanted > coalesce(shares_before_own[i], 0) then 'SELF_TRADE_BLOCKED'
        when r.is_post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS' -- mutant: post_only_blocked_by_the_dead
        when v_stop = 'comes_again' then null
        when v_bought = 0 and (r.is_ioc or v_stop = 'ends')
          or r.is_fok and v_is_done is not true and v_beyond < c_most_beyond -- mutant: fok_in_part
          then 'INSUFFICIENT_LIQUIDITY' end,
        trading.funding_rejection(
          r.is_buy, r.quantity, v_required, v_required, t_balance[t], h_quantity[r.shares],
          limits.limits[t], limits.untraded[t], t_open_cost[t]), -- mutant: uncovered_clears
        case when v_stop = 'comes_again' then 'CONFLICT_RETRY' end);
      -- 5. A rejected order has no effect, but for makers that had to be cancelled to know that.
      if v_code is not null then
        for p in v_fills_before + 1 .. v_fill_count loop
          j := (v_fills[p]).maker;
          n := (v_fills[p]).quantity;
          m := k_trader[j];
          k_left[j] := k_left[j] + n; -- mutant: met_quantity_not_given_back
          t_balance[m] := t_balance[m] - n * k_cents[j]; -- mutant: planned_cash_not_given_back
          h_quantity[k_shares[j]] := h_quantity[k_shares[j]] - n * k_gain[j]; -- mutant: planned_shares_not_given_back
          t_open_cost[m] := t_open_cost[m] - n * least(0, k_cents[j]);
        end loop;
        v_fill_count := v_fills_before;
        t_open_cost[t] := v_open_cost;
        v_results[i] := trading.order_rejected(v_code);
        if v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') then
          v_cancelled_count := v_cancelled_before;
          continue next_request;
        end if;
        v_held := v_held
          || case v_code when 'CONFLICT_RETRY' then array[r.book, r.opposite, -t] end;
        v_cancelled := trading.without_starved(
          v_cancelled[1 : v_cancelled_count], v_cancelled_before);
        v_cancelled_count := coalesce(cardinality(v_cancelled), 0);
      elsif v_bought > 0 then
        t_balance[t] := t_balance[t] - v_spent - v_fee -- mutant: answered_without_the_fee
          + case when r.is_buy then 0 else 100 * v_bought end;
        h_quantity[r.shares] := h_quantity[r.shares] + r.gain * v_bought;
      end if;
      for p in v_cancelled_before + 1 .. v_cancelled_count loop
        j := (v_cancelled[p]).maker;
        m := k_trader[j];
        t_open_cost[m] := t_open_cost[m] + case when (v_cancelled[p]).reason
          in ('expired', 'self_trade') then 0 else k_left[j] * least(0, k_cents[j]) end;
        k_left[j] := -p;
      end loop;
      continue next_request when v_code = 'CONFLICT_RETRY'
        or (v_code is not null and (r.is_fok or r.cancels_own)); -- mutant: book_lost_by_a_rejected_fok
      -- What it met is gone, but for the rest of the last one: the other side begins there.
      for p in greatest(v_met, k_price[k] + 1) .. coalesce(k_price[b_first[r.opposite]], 0) loop
        b_last[r.opposite][p] := 0;
      end loop;
      b_first[r.opposite] := k;
      continue next_request when v_code is not null;
      -- 6. What is left joins the book, or is cancelled.
      v_status := case
        when v_is_done then 'filled' when r.is_ioc or v_stop = 'ends' then 'cancelled' -- mutant: cut_order_rests
        else trading.filled_status(v_wanted - v_bought, v_wanted) end;
      v_wanted := case when r.budget_cents is null then v_wanted else v_bought end;
      k := null;
      if v_status in ('open', 'partially_filled') then
        v_rested_count := v_rested_count + 1;
        v_rested[v_rested_count] := i;
        k := k_read + v_rested_count;
        k_trader[k] := t;
        k_shares[k] := r.shares;
        k_price[k] := r.book_price;
        k_cents[k] := r.cents;
        k_gain[k] := r.gain;
        k_left[k] := v_wanted - v_bought;
        t_open_cost[t] := t_open_cost[t] - k_left[k] * least(0, r.cents);
        v_rests_here[coalesce(r.holding, 0)] := true;
        -- Its place is behind all at its price, or else behind the next better price.
        if coalesce(k_price[b_first[r.book]], 0) < r.book_price then -- mutant: queue_lost_in_a_batch
          k_next[k] := b_first[r.book];
          b_first[r.book] := k;
        else
          v_level := r.book_price;
          while b_last[r.book][v_level] = 0 loop
            v_level := v_level + 1;
          end loop;
          j := b_last[r.book][v_level];
          k_next[k] := k_next[j];
          k_next[j] := k;
        end if;
        b_last[r.book][r.book_price] := k;
      end if;
      v_results[i] := trading.order_accepted(
        status => v_status, quantity => v_wanted, left_quantity => v_wanted - v_bought,
        cancel_reason => case when v_status = 'cancelled'
          then 'insufficient_liquidity'::trading.cancel_reason end,
        fee_cents => v_fee, balance_cents => t_balance[t], maker => k);
    end;
  end loop;

  return (
    false, v_results, case when v_fill_count > 0 then v_fills[1 : v_fill_count] end,
    case when v_cancelled_count > 0 then v_cancelled[1 : v_cancelled_count] end, v_rested, k_left
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.matched_batch, trading.limit_arrays, bigint[], bigint[], int, boolean, boolean
) is
  'Matches a batch in memory: what each request comes to. Requests are taken in order, each as if '
  'it had come alone. A request that is rejected has no effect, but for the makers it found that '
  'must be cancelled when it is rejected for want of liquidity. A request that stops because too '
  'many makers must be cancelled (trading.stop_at_bound; most_cancelled, bounds_dead and is_final '
  'are as there) either ends there: what it filled stands, the rest is cancelled. Or it is to be '
  'placed again (CONFLICT_RETRY), has no effect but for the makers that it did not starve itself, '
  'and further requests of its trader and for its market wait for it. replays are by '
  'trading.read_replays, null without any key; shares_before_own is by trading.read_reach.';
--! EndIncluded trading/functions/match_orders.sql
--! Included trading/functions/read_book_slice.sql
create or replace function trading.read_book_slice(
  markets trading.market_context[],
  requests trading.order_request[],
  demand int[],
  depth int
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slice trading.book_slice;
  v_factor bigint := 1;
  v_is_enough boolean;
begin
  loop
    with sides as materialized (
      -- What takers ask of each side of each book that some of them cross.
      select
        m.market, m.market_id, m.at,
        case r.book_side when 'yes' then 'no' else 'yes' end::trading.side as book_side,
        case r.book_side when 'yes' then m.best_no_price else m.best_yes_price end as best_price,
        case r.book_side
          when 'yes' then m.first_no_position else m.first_yes_position
        end as first_position,
        100 - max(r.book_price) as worst_price,
        sum(read_book_slice.demand[r.place]) * read_book_slice.depth as shares,
        (16 + 2 * count(*)) * v_factor as most_orders
      from unnest(read_book_slice.requests) with ordinality as r (
        market, market_id, user_id, side, order_type, price, quantity, budget_cents, time_in_force,
        post_only, expires_at, idempotency_key, book_side, book_price, problem, is_market,
        relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
        cancels_own, place
      )
      join (
        select c.*, c.ordinality::int as market
        from unnest(read_book_slice.markets) with ordinality as c
      ) as m on m.market = r.market
      where m.live_delay_ms is null
        and r.problem is null
        and r.book_price + case r.book_side
          when 'yes' then m.best_no_price else m.best_yes_price
        end >= 100 -- mutant: touching_prices_not_read
      group by
        m.market, m.market_id, m.at, r.book_side, m.best_yes_price, m.best_no_price,
        m.first_yes_position, m.first_no_position
    ),
    read as materialized (
      select
        s.market, s.shares, s.most_orders, s.at, b.*,
        row_number() over queue as number,
        sum(a.available) over queue - a.available as shares_before,
        count(*) over side as side_orders,
        sum(a.available) over side as side_shares
      from sides as s
      cross join lateral (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price = s.best_price
            and x.queue_position >= s.first_position
          order by x.queue_position -- mutant: queue_reversed
          limit s.most_orders
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price < s.best_price
            and x.book_price >= s.worst_price
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
          limit s.most_orders
        )
        limit s.most_orders
      ) as b
      cross join lateral (
        select case when b.expires_at <= s.at then 0 else b.left_quantity end as available
      ) as a
      window
        side as (partition by s.market, b.book_side),
        queue as (
          side order by b.book_price desc, b.queue_position rows unbounded preceding
        )
    ),
    kept as materialized (
      select r.* from read as r where r.shares_before < r.shares
    ),
    floors as (
      -- A side goes on if not all that was read is needed, or if there may be more to read.
      select
        k.market, k.book_side, min(k.book_price) as floor_price,
        max(k.side_orders) = max(k.most_orders)
          and max(k.side_shares) < max(k.shares)
          -- A call that meets more does not get further.
          and count(*) filter (where k.expires_at <= k.at)
            <= trading.most_cancelled() * read_book_slice.depth
          as is_cut_short,
        max(k.number) < max(k.side_orders) or max(k.side_orders) = max(k.most_orders)
          as goes_on
      from kept as k
      group by k.market, k.book_side
    )
    select
      (
        select array_agg(
          (
            k.order_id, k.order_public_id, k.market, k.user_id, k.order_type, k.book_side,
            k.book_price, k.queue_position, k.left_quantity, coalesce(k.expires_at <= k.at, false) -- mutant: maker_lives_a_moment_longer
          )::trading.resting_order
          order by k.market, k.book_side, k.number
        )
        from kept as k
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'yes' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'no' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      not exists (select from floors as f where f.is_cut_short)
    into v_slice.makers, v_slice.yes_floors, v_slice.no_floors, v_is_enough
    from generate_series(1, cardinality(read_book_slice.markets)) as u (place);
    exit when v_is_enough;
    v_factor := v_factor * 8;
  end loop;
  v_slice.makers := coalesce(v_slice.makers, '{}');
  return v_slice;
end
$$;

comment on function trading.read_book_slice(
  trading.market_context[], trading.order_request[], int[], int
) is
  'The resting orders that a batch can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were depth times as large. Nothing else can '
  'change the books meanwhile: the caller holds the markets'' locks.';
--! EndIncluded trading/functions/read_book_slice.sql
--! Included trading/functions/match_batch.sql
create or replace function trading.match_batch(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  locks boolean default true,
  is_final boolean default false
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
          match_batch.markets, match_batch.requests, v_demand, v_depth
        );
      end if;
    end if;
    v_batch.makers := v_slice.makers;
    v_user_ids := v_plan.user_ids;
    if cardinality(v_slice.makers) > 0 then
      v_user_ids := v_user_ids || array(select k.user_id from unnest(v_slice.makers) as k);
    end if;
    if match_batch.locks and v_depth = 1 and not match_batch.is_final then
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
  trading.market_context[], trading.order_request[], timestamptz, boolean, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. The caller holds the '
  'markets'' locks. Locks the takers and the makers they can reach, by ascending user id; not '
  'with locks => false, for a preview, which is always finished. is_final: a request that would '
  'not be finished (CONFLICT_RETRY) ends where it has come; the caller has locked users before.';
--! EndIncluded trading/functions/match_batch.sql
--! Included trading/functions/write_makers.sql
create or replace function trading.write_makers(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns trading.cancelled_order[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k_read constant int := cardinality(batch.makers);
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  v_rested constant int[] := (batch.result).rested;
  v_ids bigint[];
  v_left int[];
  v_cancelled trading.cancelled_order[];
begin
  select array_agg(k.id order by k.id), array_agg(k.left_after order by k.id)
  into v_ids, v_left
  from unnest(
    k_order_ids, (batch.maker_arrays).left_quantities,
    (batch.result).left_quantities[1 : k_read]
  ) as k (id, left_before, left_after)
  where k.left_after < k.left_before;

  if v_ids is not null then
    -- By their ids and not by a join: no plan can do worse than look each up.
    with gone as (
      delete from trading.active_orders as b
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] <= 0 -- mutant: dead_maker_kept
    ),
    smaller as (
      update trading.active_orders as b
      set left_quantity = v_left[width_bucket(b.order_id, v_ids)]
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] > 0
    )
    update trading.orders as o set
      filled_quantity = o.quantity - v_left[width_bucket(o.id, v_ids)],
      status = trading.filled_status(v_left[width_bucket(o.id, v_ids)], o.quantity)
    where o.id = any (v_ids)
      and v_left[width_bucket(o.id, v_ids)] >= 0;
  end if;
  if (batch.result).cancelled_makers is null then
    return null;
  end if;

  with cancelled as (
    update trading.orders as o set
      filled_quantity = o.quantity - c.left_quantity,
      status = 'cancelled',
      cancel_reason = c.reason,
      cancelled_at = batch.at
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where o.id = k_order_ids[c.maker]
    returning
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, o.created_at
  ),
  all_cancelled as (
    select c.* from cancelled as c
    union all
    -- Orders of the batch itself.
    select
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, batch.at
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    cross join lateral (
      select (write_makers.orders[v_rested[c.maker - k_read]]).*
    ) as o
    where c.maker > k_read
  )
  select array_agg(
    (
      a.request, a.public_id, a.market_id, a.user_id, a.side, a.order_type, a.price, a.quantity,
      a.left_quantity, a.reason, a.expires_at, a.created_at
    )::trading.cancelled_order
    order by a.place
  )
  into v_cancelled
  from all_cancelled as a;
  return v_cancelled;
end
$$;

comment on function trading.write_makers(trading.matched_batch, trading.placed_order[]) is
  'Writes what became of the orders that rested before the batch; returns those that it '
  'cancelled, in their order.';
--! EndIncluded trading/functions/write_makers.sql
--! Included trading/functions/cancel_dead_makers.sql
create or replace function trading.cancel_dead_makers(batch trading.matched_batch)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead constant trading.cancelled_maker[] := array(
    select (c.request, c.maker, c.reason, c.left_quantity, 0)::trading.cancelled_maker
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where c.traded_with = 0 -- mutant: live_makers_cleared
      and c.maker <= cardinality(batch.makers)
    order by c.place
  );
  v_left int[] := (batch.maker_arrays).left_quantities;
begin
  for p in 1 .. cardinality(v_dead) loop
    v_left[(v_dead[p]).maker] := -p;
  end loop;
  if cardinality(v_dead) = 0 then
    return false;
  end if;

  batch.result := (
    false,
    array_fill(trading.order_rejected('CONFLICT_RETRY'), array[cardinality(batch.requests)]),
    null, v_dead, null, v_left
  )::trading.match_result;
  perform trading.write_batch(batch);
  return true;
end
$$;

comment on function trading.cancel_dead_makers(trading.matched_batch) is
  'Cancels the makers that a matched batch met and that were dead before it, and writes nothing '
  'else of it. Returns whether there were any. The caller holds the locks of trading.match_batch.';
--! EndIncluded trading/functions/cancel_dead_makers.sql
--! Included trading/functions/match_as_one.sql
create or replace function trading.match_as_one(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  atomic boolean
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch trading.matched_batch;
  v_codes text[];
begin
  v_batch := trading.match_batch(
    match_as_one.markets, match_as_one.requests, match_as_one.at
  );
  v_codes := array(
    select r.code from unnest((v_batch.result).results) as r where r.code is not null
  );
  if not 'CONFLICT_RETRY' = any (v_codes) -- mutant: unfinished_batch_in_part
    or match_as_one.atomic and 'CONFLICT_RETRY' <> any (v_codes) -- mutant: rejected_batch_clears
  then
    return v_batch;
  end if;
  if trading.cancel_dead_makers(v_batch) then -- mutant: atomic_clears_nothing
    return null;
  end if;
  return trading.match_batch(
    match_as_one.markets, match_as_one.requests, match_as_one.at, is_final => true -- mutant: never_final
  );
end
$$;

comment on function trading.match_as_one(
  trading.market_context[], trading.order_request[], timestamptz, boolean
) is
  'Matches a batch of which all is written or nothing. Null: it meets too many dead makers, some '
  'were cancelled, nothing else may be written, and the batch is to be placed again. If there were '
  'none to cancel, since only its own fills left them so, its requests end where they have come. '
  'atomic: a rejection of one request is that of the batch, whatever is left to do. Locks as '
  'trading.match_batch does.';
--! EndIncluded trading/functions/match_as_one.sql
--! Included trading/functions/atomic_rejections.sql
create or replace function trading.atomic_rejections(batch trading.matched_batch, requests int)
returns api.result[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if batch.requests is null then
    return array_fill(
      ('CONFLICT_RETRY', null, false, null)::api.result, array[atomic_rejections.requests]
    );
  end if;
  return (
    select case when bool_or(x.is_live or x.code is not null) then
      array_agg(
        (
          -- What waits for another request does not say why the batch is rejected.
          case
            when x.is_live then 'INVALID_REQUEST'
            when not x.is_any_live then nullif(x.code, 'CONFLICT_RETRY')
          end,
          case
            when x.is_live then 'atomic: not for orders on live markets'
            when not x.is_any_live then trading.rejection_message(x.code, x.problem)
          end,
          false, null
        )::api.result
        order by x.place
      )
    end
    from (
      select y.*, bool_or(y.is_live) over () as is_any_live
      from (
        select
          o.ordinality as place, o.code, o.problem,
          (batch.market_arrays).live_delays_ms[o.market] is not null -- mutant: atomic_on_a_live_market
          and o.replay_of is null and o.replayed_order_id is null as is_live
        from rows from (unnest(batch.requests), unnest((batch.result).results))
        with ordinality as o (
          market, market_id, user_id, side, order_type, price, request_quantity, budget_cents,
          time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
          is_market, relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
          cancels_own,
          code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
          fee_cents, balance_cents, maker, ordinality
        )
      ) as y
    ) as x
  );
end
$$;

comment on function trading.atomic_rejections(trading.matched_batch, int) is
  'What keeps an atomic batch from being placed, a row for each of so many requests; null when '
  'nothing does; CONFLICT_RETRY for all if trading.match_as_one gave no batch. New orders on live '
  'markets come before everything else, since they are a fault of the whole request; what was '
  'placed before the market went live is a replay.';
--! EndIncluded trading/functions/atomic_rejections.sql
--! Included trading/functions/release_orders.sql
create or replace function trading.release_orders(market_ids bigint[], most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_ids bigint[];
  v_markets trading.market_context[];
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
  v_orders trading.placed_order[];
begin
  v_requests := trading.due_requests(release_orders.market_ids, release_orders.most, v_at);
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  v_market_ids := array(
    select distinct r.market_id from unnest(v_requests) as r order by r.market_id
  );
  v_requests := trading.requests_of_markets(v_requests, v_market_ids);
  v_markets := trading.read_markets(v_market_ids, v_at);
  for i in 1 .. cardinality(v_markets) loop
    v_markets[i].live_delay_ms := null; -- the orders have waited
  end loop;
  v_batch := trading.match_batch(v_markets, v_requests, v_at);
  v_orders := trading.placed_orders(v_batch);
  perform trading.write_released(v_batch, v_orders);
  perform trading.announce_released(v_batch, v_orders);
  perform trading.write_batch(v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets, at most so many, in the order of '
  'their release time and then of their acceptance: each is judged and matched as if it had just '
  'been placed, and a rejection cancels it. Returns how many, with those that are not finished and '
  'stay due. The caller holds the locks of the markets. Locks the users of the orders and the '
  'makers they can reach, by ascending user id.';
--! EndIncluded trading/functions/release_orders.sql
--! Included trading/functions/verify_orders.sql
-- One query for each invariant, in this order:
--
--   what trades say of an order: filled quantity, fee, budget, taking before making
--   that it is somewhere, once: its user and market, the archive, the sum of all ids of a market
--   what it may look like: form, status, times, the reason of its end
--   what it leads to: the order that replaced it, its reductions, its idempotency key
create or replace function trading.verify_orders()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  fills as (
    select
      f.order_id,
      sum(f.quantity) as quantity,
      sum(f.fee_cents) as fee_cents,
      sum(f.quantity * case f.book_side when 'yes' then f.price else 100 - f.price end)
        as value_cents,
      max(f.trade_id) filter (where f.is_taker) as last_taken,
      min(f.trade_id) filter (where not f.is_taker) as first_made
    from trading.fill_sides() as f
    group by f.order_id
  ),
  all_orders as not materialized (
    select o.* from trading.orders as o
    union all
    select a.* from trading.archived_orders as a
  ),
  met as not materialized (
    select x.user_id, x.market_id, x.created_at, x.released_at, x.cancelled_at, x.cancel_reason,
      x.public_id, (x.side = 'yes') = (x.order_type = 'buy') as is_yes
    from all_orders as x
  )
  select 'filled quantity equals the trades', 'order ' || o.public_id,
    coalesce(f.quantity, 0)::text, o.filled_quantity::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.filled_quantity <> coalesce(f.quantity, 0)

  union all
  select 'order fee equals the fees of its trades', 'order ' || o.public_id,
    coalesce(f.fee_cents, 0)::text, o.fee_cents::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.fee_cents <> coalesce(f.fee_cents, 0)

  -- Only buys have a budget, so the stored side is their own.
  union all
  select 'fills are within the budget of their order', 'order ' || o.public_id,
    '<= ' || o.budget_cents, (f.value_cents + f.fee_cents)::text
  from trading.orders as o
  join fills as f on f.order_id = o.id
  where f.value_cents + f.fee_cents > o.budget_cents

  union all
  select 'order takes before it makes', 'order ' || f.order_id,
    'trades after ' || f.last_taken, 'trade ' || f.first_made
  from fills as f
  where f.first_made < f.last_taken

  union all
  select 'order has its user and market', 'order ' || o.public_id, 'both', 'not both'
  from trading.orders as o
  where not exists (select from identity.users as u where u.id = o.user_id)
    or not exists (select from trading.market_state as b where b.market_id = o.market_id)

  union all
  select 'archived order has its user and market', 'order ' || a.public_id, 'both', 'not both'
  from trading.archived_orders as a
  where not exists (select from identity.users as u where u.id = a.user_id)
    or not exists (select from trading.market_state as b where b.market_id = a.market_id)

  union all
  select 'archived order is nowhere else', 'order ' || a.public_id, 'archived', 'archived and not'
  from trading.archived_orders as a
  where exists (select from trading.orders as o where o.id = a.id)
    or exists (select from trading.orders as o where o.public_id = a.public_id)
    or exists (select from trading.active_orders as b where b.order_id = a.id)

  union all
  select 'orders are those that were placed', 'market ' || b.market_id,
    b.placed_count || ' with ids that sum to ' || b.placed_id_sum,
    coalesce(o.order_count, 0) || ' with ids that sum to ' || coalesce(o.id_sum, 0)
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as order_count, sum(x.id) as id_sum
    from all_orders as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.placed_count <> coalesce(o.order_count, 0)
    or b.placed_id_sum <> coalesce(o.id_sum, 0)

  union all
  select 'order is of a form that can be placed', 'order ' || o.public_id, 'one of the forms',
    concat_ws(' ', o.order_type, o.time_in_force,
      case when o.post_only then 'post-only' end, 'budget ' || o.budget_cents)
  from all_orders as o
  where o.post_only and o.time_in_force <> 'gtc'
    or o.budget_cents is not null and (o.order_type = 'sell' or o.time_in_force = 'gtc')

  union all
  select 'order has the status that fits what it is', 'order ' || o.public_id, 'another status',
    concat_ws(' ', o.status, o.time_in_force, o.filled_quantity || ' of ' || o.quantity,
      'release at ' || o.release_at, 'released at ' || o.released_at)
  from all_orders as o
  where case
    when o.status in ('open', 'partially_filled')
      then o.time_in_force <> 'gtc' or (o.release_at is null) <> (o.released_at is null)
    when o.status = 'scheduled' then o.released_at is not null
    when o.status = 'filled' then (o.release_at is null) <> (o.released_at is null)
    else o.budget_cents is null and o.filled_quantity >= o.quantity
  end
    or o.budget_cents is not null and o.filled_quantity <> o.quantity
    or o.released_at is not null and (o.release_at is null or o.released_at < o.release_at)
    or o.release_at < o.created_at

  -- The public id has the time in which it was drawn, a moment after that of the order. Both are of
  -- one transaction, so a clock that is set between transactions changes nothing here.
  union all
  select 'order has the time of its public id', 'order ' || o.public_id,
    'within an hour of ' || core.uuid_v7_time(o.public_id), o.created_at::text
  from all_orders as o
  where o.created_at not between core.uuid_v7_time(o.public_id) - interval '1 hour'
    and core.uuid_v7_time(o.public_id) + interval '1 hour'

  union all
  select 'order expires after it was placed', 'order ' || o.public_id,
    '> ' || o.created_at, o.expires_at::text
  from all_orders as o
  where o.expires_at <= o.created_at

  union all
  select 'order waits no longer than an event may ask for', 'order ' || o.public_id,
    '<= ' || o.created_at + interval '1 minute', o.release_at::text
  from all_orders as o
  where o.release_at > o.created_at + interval '1 minute'

  -- What can end an order depends on where it is: in its delay, at its placing or release, or on
  -- the book. An order that may not rest ends at its placing or release, or in its delay. A dead
  -- man's switch can end it at its release.
  union all
  select 'order is cancelled for a reason that fits it', 'order ' || o.public_id, 'another reason',
    concat_ws(' ', o.cancel_reason, o.order_type, o.time_in_force,
      o.filled_quantity || ' of ' || o.quantity, 'at ' || o.cancelled_at,
      'placed at ' || o.created_at, 'release at ' || o.release_at, 'released at ' || o.released_at,
      'expires at ' || o.expires_at)
  from all_orders as o
  cross join lateral (
    select
      o.release_at is not null and o.released_at is null as is_waiting,
      coalesce(o.released_at, o.created_at) as taken_at
  ) as x
  where o.status = 'cancelled'
    and (
      case o.cancel_reason
        when 'expired' then o.expires_at is null or o.expires_at > o.cancelled_at
        when 'user_amended' then o.budget_cents is not null or o.expires_at <= o.cancelled_at
        when 'self_trade' then o.time_in_force <> 'gtc'
          and (o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at)
        when 'post_only_would_cross' then not o.post_only
          or o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'insufficient_liquidity' then o.time_in_force = 'gtc' and not (
          -- It ended where it, or its batch, had cancelled as many makers as may be.
          o.filled_quantity > 0
          and o.cancelled_at = x.taken_at
          and trading.most_cancelled() <= (
            select count(*)
            from all_orders as c
            where c.cancelled_at = o.cancelled_at
              and c.cancel_reason in (
                'insufficient_funds', 'position_insufficient', 'loss_limit', 'self_trade'
              )
          )
        )
        when 'position_insufficient' then o.order_type = 'buy'
        when 'insufficient_funds' then o.order_type = 'sell'
        when 'loss_limit' then o.order_type = 'sell'
        else false
      end
      or x.is_waiting and o.cancel_reason not in (
        'user_cancelled', 'user_amended', 'market_closed', 'expired', 'trading_paused',
        'self_excluded'
      )
      or o.time_in_force = 'fok' and o.filled_quantity > 0
      or o.time_in_force <> 'gtc' and not x.is_waiting and (
        o.cancelled_at <> x.taken_at
        or o.cancel_reason = 'user_amended'
        or o.cancel_reason = 'user_cancelled' and not exists (
          select from trading.dead_man_switches as s where s.user_id = o.user_id
        )
        or o.filled_quantity > 0 and o.cancel_reason <> 'insufficient_liquidity'
        or o.released_at is null and o.filled_quantity = 0
      )
    )

  -- At its release an order ends by itself; on the book it makes way for one that takes then.
  union all
  select 'order that ended for a self-trade met an order of its user', 'order ' || o.public_id,
    'an order of the other side, matched at ' || o.cancelled_at, 'none'
  from met as o
  where o.cancel_reason = 'self_trade'
    and o.cancelled_at is distinct from o.released_at
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.created_at = o.cancelled_at
    )
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.released_at = o.cancelled_at
    )

  union all
  select 'amended order has its replacement', 'order ' || o.public_id,
    concat_ws(' ', 'an order of the same form, made at', o.cancelled_at), 'none'
  from all_orders as o
  where o.cancel_reason = 'user_amended'
    and not exists (
      select from all_orders as n
      where n.market_id = o.market_id
        and n.user_id = o.user_id
        and n.side = o.side
        and n.order_type = o.order_type
        and n.time_in_force = o.time_in_force
        and n.post_only = o.post_only
        and n.created_at = o.cancelled_at
        and n.expires_at is not distinct from o.expires_at
        and n.budget_cents is null
        and n.id > o.id
    )

  union all
  select 'replacement takes the place of an amended order', 'order ' || r.order_id,
    'an order of its user and market, amended when it was made', 'order ' || r.replaced_order_id
  from trading.order_replacements as r
  left join all_orders as n on n.id = r.order_id
  left join all_orders as o on o.id = r.replaced_order_id
  where (o.market_id, o.user_id, o.cancel_reason, o.cancelled_at)
    is distinct from (n.market_id, n.user_id, 'user_amended'::trading.cancel_reason, n.created_at)

  union all
  select 'reductions of an order lead to its quantity', 'order ' || r.order_id,
    coalesce(r.expected::text, 'an order'), r.quantity_after::text
  from (
    select x.order_id, x.quantity_after,
      coalesce(
        lead(x.quantity_before) over (partition by x.order_id order by x.quantity_after desc),
        o.quantity
      ) as expected
    from trading.order_reductions as x
    left join all_orders as o on o.id = x.order_id
  ) as r
  where r.expected is distinct from r.quantity_after

  union all
  select 'idempotency key stands for an order of its user', 'key ' || k.key,
    'an order of user ' || k.user_id, coalesce('of user ' || o.user_id, 'none')
  from trading.idempotency_keys as k
  left join all_orders as o on o.id = k.order_id
  where k.order_id is not null
    and o.user_id is distinct from k.user_id

  union all
  select 'idempotency key is as old as its order', 'key ' || k.key,
    o.created_at::text, k.created_at::text
  from trading.idempotency_keys as k
  join all_orders as o on o.id = k.order_id
  where k.created_at <> o.created_at
$$;

comment on function trading.verify_orders() is
  'The part of ledger.verify() about orders, archived ones included: none is missing, each is what '
  'its trades made of it, and could have been placed and ended that way. One row for each broken '
  'invariant.';
--! EndIncluded trading/functions/verify_orders.sql
--! Included api/functions/place_orders.sql
-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns setof api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  v_requests trading.order_request[];
  v_market_ids bigint[];
  v_locked_ids bigint[];
  v_busy boolean[];
  v_markets trading.market_context[];
  v_at timestamptz;
  v_batch trading.matched_batch;
  v_rejections api.result[];
begin
  v_requests := array(select r from trading.read_requests(place_orders.orders) as r);
  if cardinality(v_requests) = 1 then
    v_market_ids := array[(v_requests[1]).market_id];
  else
    v_market_ids := array(
      select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last -- mutant: markets_in_another_order
    );
  end if;
  v_locked_ids := v_market_ids;
  if place_orders.waits then -- mutant: busy_market_waited_for
    perform trading.lock_markets(v_market_ids);
  else
    v_locked_ids := trading.lock_free_markets(v_market_ids);
    if cardinality(v_locked_ids) < cardinality(v_market_ids) then
      v_busy := array(
        select array_position(v_locked_ids, r.market_id) is null from unnest(v_requests) as r
      );
      v_requests := trading.requests_of_markets(v_requests, v_locked_ids);
    end if;
  end if;
  if v_busy is not null and (place_orders.atomic or cardinality(v_requests) = 0) then -- mutant: atomic_beside_a_busy_market
    return query
      select 'MARKET_BUSY', null::text, false, null::text
      from unnest(v_busy);
    return;
  end if;
  if cardinality(v_requests) > 0 then
    v_at := core.now();
    v_markets := trading.read_markets(v_locked_ids, v_at);
    if not place_orders.atomic then -- mutant: atomic_in_part
      v_batch := trading.match_batch(v_markets, v_requests, v_at);
    else
      v_batch := trading.match_as_one(v_markets, v_requests, v_at, atomic => true);
      v_rejections := trading.atomic_rejections(v_batch, cardinality(v_requests));
    end if;
  end if;

  if v_rejections is not null then
    return query select r.* from unnest(v_rejections) as r;
  elsif v_busy is null and cardinality(v_requests) > 0 then
    return query
      select a.* from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a;
  elsif v_busy is not null then
    return query
      select
        case when b.is_busy then 'MARKET_BUSY' else a.code end,
        a.message,
        coalesce(a.replayed, false),
        a.body
      from (
        select
          u.is_busy, u.place, count(*) filter (where not u.is_busy) over (order by u.place) as nth
        from unnest(v_busy) with ordinality as u (is_busy, place)
      ) as b
      left join (
        select x.*
        from trading.order_answers(v_batch, trading.write_batch(v_batch))
          with ordinality as x (code, message, replayed, body, place)
      ) as a on a.place = b.nth and not b.is_busy -- mutant: answers_beside_a_busy_market
      order by b.place;
  end if;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction. One row for each element of orders, in their '
  'order. An element is {marketId, userId, side, price, quantity, budgetCents, orderType, '
  'timeInForce, selfTrade, idempotencyKey, requestFingerprint, expiresAt, postOnly}, as '
  'trading.read_requests has it. Each stands alone: its rejection is its row; atomic: if one is '
  'rejected, no order is placed, and the rows of the others have neither code nor body, unless all '
  'are CONFLICT_RETRY. waits => '
  'false: orders of markets whose lock is held are MARKET_BUSY, and must be placed again; in an '
  'atomic call all of them are. CONFLICT_RETRY: the call cancelled as many makers as one call '
  'may, and the request must be placed again. Locks: the markets, ascending; then the takers and '
  'the makers they can reach, by ascending user id. May fail as a whole with 40001, 40P01 or '
  '55P03: call it again.';
--! EndIncluded api/functions/place_orders.sql
--! Included api/functions/place_batch.sql
create or replace function api.place_batch(
  user_id uuid,
  orders jsonb,
  atomic boolean,
  idempotency_key uuid,
  request_fingerprint uuid
)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = place_batch.user_id
  );
  v_requests constant trading.order_request[] := array(
    select r from trading.read_requests(place_batch.orders) as r
  );
  v_market_ids constant bigint[] := array(
    select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last
  );
  v_kept api.result;
  v_at timestamptz;
  v_batch trading.matched_batch;
  v_results api.result[];
  v_reply text;
begin
  v_kept := trading.find_reply(
    v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_markets(v_market_ids);
    v_kept := trading.find_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;

  if cardinality(v_requests) > 0 then
    v_at := core.now();
    v_batch := trading.match_as_one(
      trading.read_markets(v_market_ids, v_at), v_requests, v_at, place_batch.atomic
    );
    if v_batch.requests is null then
      return ('CONFLICT_RETRY', null, false, null)::api.result;
    end if;
    if place_batch.atomic then
      v_results := trading.atomic_rejections(v_batch, cardinality(v_requests));
    end if;
    if v_results is null then
      v_results := array(
        select a from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a
      );
    end if;
  end if;

  v_reply := (
    select json_build_object(
      'results', coalesce(
        json_agg(
          json_build_object(
            'code', r.code, 'message', r.message, 'replayed', r.replayed, 'body', r.body
          )
          order by r.place
        ),
        '[]'
      ),
      'balance', (
        select trading.balance_object(t.balance_cents)::json
        from trading.traders as t
        where t.user_id = v_user_id
      )
    )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
  )::text;
  if not place_batch.atomic
    or not exists (select from unnest(v_results) as r where r.code is not null)
  then
    perform trading.lock_traders(array[v_user_id]);
    perform trading.keep_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint, v_reply
    );
  end if;
  return (null, null, false, v_reply)::api.result;
end
$$;

comment on function api.place_batch(uuid, jsonb, boolean, uuid, uuid) is
  'Places the orders of a batch with an idempotency key, as api.place_orders does, in one '
  'transaction that also keeps the answer: a JSON object of results ({code, message, replayed, '
  'body} for each order) and balance. The same request gets it again for 24 hours (replayed); '
  'another request with the key is rejected with IDEMPOTENCY_KEY_REUSED. CONFLICT_RETRY: makers '
  'were cancelled, no order is placed, and the batch is to be placed again. The answer of an '
  'atomic batch that is rejected is not kept. May fail with 40001, 40P01 or 55P03: call it again. '
  'Locks: the markets, ascending; then the users as api.place_orders does.';
--! EndIncluded api/functions/place_batch.sql
--! Included jobs/functions/release_orders.sql
create or replace function jobs.release_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
begin
  if not trading.try_lock_market(release_orders.market_id, release_orders.waits) then
    return null;
  end if;
  return trading.release_orders(array[release_orders.market_id], release_orders.most);
end
$$;

comment on function jobs.release_orders(bigint, int, boolean) is
  'Releases what is due of the scheduled orders of a market, at most so many, in the order of '
  'their release time. Returns how many it took up, with those that stay due because too many '
  'makers in their way had to be cancelled (CONFLICT_RETRY): call it again for these. Null when '
  'the market is locked: passed over, at once or, if it waits, after 250 ms. May fail with 40001, '
  '40P01 or 55P03: call it again. Locks: the market, if it is free; then the users of the orders '
  'and the makers they can reach, for each of whom it waits 250 ms at most.';
--! EndIncluded jobs/functions/release_orders.sql
--! Included jobs/functions/due_release_groups.sql
create or replace function jobs.due_release_groups(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  c_most_together constant int := 25; -- due orders of a market that shares its group
  v_at constant timestamptz := core.now();
  v_market_ids bigint[];
  v_count int;
begin
  -- Mostly few orders are due, and these are all of them.
  select array_agg(distinct a.market_id), count(*) into v_market_ids, v_count
  from (
    select b.market_id
    from trading.active_orders as b
    where b.queue_position is null
      and b.release_at <= v_at
    order by b.release_at
    limit due_release_groups.most
  ) as a;
  if v_count = 0 then
    return;
  end if;

  -- Otherwise they may all be of one market, so the first order of each market is looked up.
  if v_count = due_release_groups.most then
    with recursive scheduled (market_id, first_at) as (
      (
        select b.market_id, b.release_at
        from trading.active_orders as b
        where b.queue_position is null
        order by b.market_id, b.release_at
        limit 1
      )
      union all
      select n.market_id, n.release_at
      from scheduled as s
      cross join lateral (
        select b.market_id, b.release_at
        from trading.active_orders as b
        where b.queue_position is null
          and b.market_id > s.market_id
        order by b.market_id, b.release_at
        limit 1
      ) as n
    )
    select array_agg(s.market_id) into v_market_ids
    from scheduled as s
    where s.first_at <= v_at;
  end if;

  return query
    select array_agg(n.market_id order by n.market_id)
    from (
      select
        d.market_id, d.is_alone, d.first_at,
        (row_number() over (partition by d.is_alone order by d.first_at, d.market_id) - 1)
          / case when d.is_alone then 1 else 8 end as nth_group
      from (
        select u.id as market_id, l.first_at, l.is_alone
        from unnest(v_market_ids) as u (id)
        cross join lateral (
          select
            min(a.release_at) as first_at,
            -- Their release takes long. A budget has no quantity yet, and may take many orders.
            count(*) > c_most_together
              or bool_or(a.left_quantity = 0 or trading.is_large(a.left_quantity)) as is_alone
          from (
            select b.release_at, b.left_quantity
            from trading.active_orders as b
            where b.market_id = u.id
              and b.queue_position is null
              and b.release_at <= v_at
            order by b.release_at
            limit c_most_together + 1
          ) as a
        ) as l
        where u.id <> all (due_release_groups.passing_over)
          and l.first_at is not null -- released meanwhile
        order by l.first_at, u.id
        limit due_release_groups.most
      ) as d
    ) as n
    group by n.is_alone, n.nth_group
    order by min(n.first_at);
end
$$;

comment on function jobs.due_release_groups(int, bigint[]) is
  'The markets of the scheduled orders whose release is due, in groups for jobs.release_group. A '
  'group has eight markets. A market is alone in its group if a large order, a budget or more than '
  '25 orders are due there. Groups that have waited longest come first. most: only so many markets '
  'are listed, those that have waited longest, however many orders are due in one of them. '
  'passing_over: markets that are left out. Locks: none.';
--! EndIncluded jobs/functions/due_release_groups.sql
--! Included admin/functions/process_due_markets.sql
create or replace function admin.process_due_markets(
  out released int, out expired int, out closed int, out passed_over int
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_id bigint;
  v_first_state bigint[]; -- of a market: its version, and how many orders are scheduled
  v_state bigint[];
  v_last_state bigint[];
  v_released int;
  v_expired int;
  v_closed int;
begin
  released := 0;
  expired := 0;
  closed := 0;
  passed_over := 0;
  -- All of it is one transaction, so the users of one market stay locked when those of the next
  -- are locked: the caller's lock timeout is below the time after which PostgreSQL looks for
  -- deadlocks, and a market that runs into it unlocks its own users.
  for v_market_id in
    select b.market_id
    from trading.active_orders as b
    where b.queue_position is null and b.release_at <= v_at
    union
    select b.market_id
    from trading.active_orders as b
    where b.expires_at <= v_at
    union
    select m.id
    from catalog.markets as m
    where m.status in ('open', 'paused') and m.close_time <= v_at
    order by 1
  loop
    if not trading.try_lock_market(v_market_id) then
      passed_over := passed_over + 1;
      continue;
    end if;
    begin
      -- A call also returns the orders that stay due, so its number neither counts those that were
      -- released nor ends the loop. When a call changes nothing, the next one would not either.
      v_first_state := null;
      v_last_state := null;
      loop
        select array[s.version, count(b.order_id)] into v_state
        from trading.market_state as s
        left join trading.active_orders as b
          on b.market_id = s.market_id and b.queue_position is null
        where s.market_id = v_market_id
        group by s.version;
        v_first_state := coalesce(v_first_state, v_state);
        exit when v_state = v_last_state;
        v_last_state := v_state;
        perform jobs.release_orders(v_market_id);
      end loop;
      v_released := v_first_state[2] - v_state[2];
      v_expired := trading.expire_orders(
        v_market_id, trading.active_orders_of_market(v_market_id)
      );
      v_closed := (trading.close_market(v_market_id) > 0)::int;

      -- Only now: what a market did before it failed is undone, and does not count.
      released := released + v_released;
      expired := expired + v_expired;
      closed := closed + v_closed;
    exception when lock_not_available or deadlock_detected then
      passed_over := passed_over + 1;
    end;
  end loop;
end
$$;

comment on function admin.process_due_markets() is
  'Releases, expires and closes what is due, market by market in this order: how many orders, '
  'orders and markets, and how many markets it passed over because they, a user or a row of the '
  'catalogue were locked. An order counts once, however many calls its release takes; one whose '
  'release gets no further stays due and does not count. Private to the schema. Locks: the markets '
  'that are free, by ascending id, then what each job locks.';
--! EndIncluded admin/functions/process_due_markets.sql
reset role;
