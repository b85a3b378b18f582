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
