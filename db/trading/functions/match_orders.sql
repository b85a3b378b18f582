-- One loop over arrays of numbers, in which PL/pgSQL is fast, and which it would copy on every call
-- of a part. It reads and writes no table, so it can be tested on made-up books.
--
--   chain the makers
--   each request, in order:
--     1. a replay, or rejected before any book is looked at
--     2. a live market: judged by its worst case, and scheduled
--     3. plan: walk the other side of the book, by the makers it would meet
--     4. verdict: rejected, or carried out
--     5. the plan is carried out
--     6. what is left of the order joins the book or is cancelled
create or replace function trading.match_orders(
  batch trading.matched_batch,
  slice trading.book_slice,
  limits trading.limit_arrays,
  replays bigint[],
  shares_before_own bigint[]
)
returns trading.match_result
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_shares constant int := 10000;
  -- So many makers are cancelled in one call; a request that meets more is to be placed again.
  c_most_cancelled constant int := 500;
  c_most_beyond constant int := trading.most_beyond();

  -- The requests and the markets.
  r_market constant int[] := (batch.request_arrays).markets;
  r_trader constant int[] := (batch.request_arrays).traders;
  r_holding constant int[] := (batch.request_arrays).holdings;
  r_is_buy constant boolean[] := (batch.request_arrays).is_buy;
  r_is_yes constant boolean[] := (batch.request_arrays).is_yes;
  r_book_is_yes constant boolean[] := (batch.request_arrays).book_is_yes;
  r_book_price constant int[] := (batch.request_arrays).book_prices;
  r_price constant int[] := (batch.request_arrays).prices;
  r_quantity constant int[] := (batch.request_arrays).quantities;
  r_budget constant int[] := (batch.request_arrays).budgets_cents;
  r_is_ioc constant boolean[] := (batch.request_arrays).is_ioc;
  r_is_post_only constant boolean[] := (batch.request_arrays).is_post_only;
  r_is_market constant boolean[] := (batch.request_arrays).is_market;
  r_is_malformed constant boolean[] := (batch.request_arrays).is_malformed;
  r_relieved constant bigint[] := (batch.request_arrays).relieved_cents;
  r_code constant text[] := (batch.request_arrays).codes;
  r_twin int[] := (batch.request_arrays).twins;
  m_rate constant int[] := (batch.market_arrays).taker_rates_bps;
  m_delay constant int[] := (batch.market_arrays).live_delays_ms;

  -- The makers: those of the slice, and behind them the requests that come to rest. They are
  -- chained by price; a market's chains of YES are at its base + price, those of NO at + 100.
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  k_market constant int[] := (batch.maker_arrays).markets;
  k_book_is_yes constant boolean[] := (batch.maker_arrays).book_is_yes;
  k_trader int[] := (batch.maker_arrays).traders;
  k_shares int[] := (batch.maker_arrays).shares;
  k_is_buy boolean[] := (batch.maker_arrays).is_buy;
  k_price int[] := (batch.maker_arrays).prices;
  k_left int[] := (batch.maker_arrays).left_quantities;
  k_has_expired boolean[] := (batch.maker_arrays).has_expired;
  k_read constant int := cardinality(batch.makers);
  k_next int[] := array_fill(0, array[k_read]);
  k_reason trading.cancel_reason[];
  k_cancelled_left int[];
  v_first int[] := array_fill(0, array[200 * cardinality(batch.markets)]);
  v_last int[] := array_fill(0, array[200 * cardinality(batch.markets)]);
  v_best int[] := array_fill(0, array[2 * cardinality(batch.markets)]);

  -- The traders and their shares: a holding has two places, YES and NO.
  t_balance bigint[] := (batch.traders).balances_cents;
  t_excluded constant boolean[] := (batch.traders).excluded;
  t_limited constant boolean[] := (batch.traders).limited;
  t_open_cost bigint[] := limits.open_cost_cents;
  h_quantity bigint[];
  v_rests_here boolean[];

  -- What comes out.
  v_results trading.order_result[];
  v_result trading.order_result;
  f_count int := 0;
  f_request int[];
  f_maker int[];
  f_quantity int[];
  f_fee bigint[];
  c_count int := 0;
  c_request int[];
  c_maker int[];
  v_rested int[];
  v_rested_count int := 0;

  -- The request at hand.
  k int;
  t int;
  m int;
  h int;
  n int;
  v_base int;
  v_side int; -- place of the best price that it meets
  v_code text;
  v_is_buy boolean;
  v_rate int;
  v_floor int;
  v_level int;
  v_worst int;
  v_price int;
  v_wanted int;
  v_budget bigint;
  v_bought int;
  v_spent bigint;
  v_weight bigint;
  v_cost_cents bigint;
  v_fee bigint;
  v_fee_so_far bigint;
  v_required bigint;
  v_status trading.order_status;
  v_reason trading.cancel_reason;
  v_meets_own boolean;
  v_may_meet_own boolean;
  v_is_sated boolean;
  v_is_unfinished boolean;
  v_is_decided boolean;
  v_is_cut boolean;
  v_beyond int;
  v_met_count int;
  v_met_cancelled int;
  v_met int[];
  v_met_quantity int[];
  v_met_reason trading.cancel_reason[];
begin
  -- 0. Chain the makers.
  for p in 1 .. k_read loop
    v_base := 200 * (k_market[p] - 1) + k_price[p];
    v_side := 2 * k_market[p] - 1;
    if not k_book_is_yes[p] then
      v_base := v_base + 100;
      v_side := v_side + 1;
    end if;
    if v_first[v_base] = 0 then
      v_first[v_base] := p;
    else
      k_next[v_last[v_base]] := p;
    end if;
    v_last[v_base] := p;
    if v_best[v_side] < k_price[p] then
      v_best[v_side] := k_price[p];
    end if;
  end loop;
  if batch.holdings is not null then
    select array_agg(q.quantity)
    into h_quantity
    from unnest((batch.holdings).holdings) as x
    cross join lateral (values (x.yes_quantity::bigint), (x.no_quantity)) as q (quantity);
  end if;
  v_rests_here := array_fill(false, array[coalesce(cardinality((batch.holdings).keys), 0)]);

  <<next_request>>
  for i in 1 .. cardinality(r_market) loop
    t := r_trader[i];
    v_code := r_code[i];

    -- 1. Replays, and rejections that no book is needed for.
    if replays is not null then
      v_result := null;
      if replays[i] is not null then
        v_result.replayed_order_id := replays[i];
        v_result.maker := array_position(k_order_ids, replays[i]);
      elsif r_twin[i] < i then
        v_result := v_results[r_twin[i]];
        v_result.replay_of := r_twin[i];
      end if;
      if (replays[i] is not null or v_result.replay_of is not null)
        and v_result.code is null
        and not r_is_malformed[i]
      then
        k := v_result.maker;
        if k is not null then
          v_result.left_quantity := coalesce(k_cancelled_left[k], k_left[k]);
          v_result.cancel_reason := k_reason[k];
          if k > k_read then
            v_result.status := case
              when k_left[k] < 0 then 'cancelled'::trading.order_status
              else trading.filled_status(k_left[k], v_result.quantity)
            end;
          end if;
        end if;
        v_result.balance_cents := t_balance[t];
        v_results[i] := v_result;
        continue next_request;
      elsif v_result.code is not null then
        -- Its twin was rejected: it stands for the key from now on.
        for j in i + 1 .. cardinality(r_market) loop
          if r_twin[j] = r_twin[i] then
            r_twin[j] := i;
          end if;
        end loop;
      end if;
    end if;
    if v_code is not null then
      v_result := null;
      v_result.code := v_code;
      v_results[i] := v_result;
      continue next_request;
    end if;
    v_is_buy := r_is_buy[i];
    v_rate := m_rate[r_market[i]];
    h := 2 * r_holding[i] - case when r_is_yes[i] then 1 else 0 end;

    -- 2. A live market takes it now and judges it against the book when it is released.
    if m_delay[r_market[i]] is not null then
      v_cost_cents := trading.scheduled_cost_cents(
        case when v_is_buy then 'buy' else 'sell' end::trading.order_type, r_price[i],
        r_quantity[i], r_budget[i], v_rate
      );
      v_code := trading.funding_rejection(
        v_is_buy, r_quantity[i],
        case
          when r_budget[i] is not null then r_budget[i]
          when r_is_market[i] then 0
          else r_quantity[i] * r_price[i]
        end,
        v_cost_cents, t_balance[t], h_quantity[h],
        limits.limits[t], limits.untraded[t], t_open_cost[t] - r_relieved[i]
      );
      v_result := null;
      v_result.code := v_code;
      if v_code is null then
        v_result.status := 'scheduled';
        v_result.quantity := coalesce(r_quantity[i], 0);
        v_result.left_quantity := v_result.quantity;
        v_result.balance_cents := t_balance[t];
        if t_limited[t] then
          t_open_cost[t] := t_open_cost[t] - r_relieved[i] + v_cost_cents;
        end if;
      end if;
      v_results[i] := v_result;
      continue next_request;
    end if;
    if t_limited[t] then
      t_open_cost[t] := t_open_cost[t] - r_relieved[i];
    end if;

    -- 3. Plan: walk the other side from its best price, as far as the request wants and its price
    -- allows. Makers' cash and shares are moved as the plan goes, and moved back below.
    v_wanted := coalesce(r_quantity[i], c_most_shares);
    v_budget := r_budget[i];
    v_worst := 100 - r_book_price[i];
    v_base := 200 * (r_market[i] - 1);
    v_side := 2 * r_market[i] - 1;
    if r_book_is_yes[i] then
      v_base := v_base + 100;
      v_side := v_side + 1;
    end if;
    v_level := v_best[v_side];
    v_bought := 0;
    v_spent := 0;
    v_weight := 0;
    v_required := 0;
    v_met_count := 0;
    v_met_cancelled := 0;
    v_meets_own := false;
    v_is_sated := false;
    v_is_unfinished := false;
    v_is_cut := false;
    if v_level >= v_worst then
      v_floor := case when r_book_is_yes[i]
        then slice.no_floors[r_market[i]] else slice.yes_floors[r_market[i]] end;
      k := v_first[v_base + v_level];
      v_may_meet_own := v_rests_here[r_holding[i]] or shares_before_own[i] is not null;
      v_beyond := 0;
    end if;

    <<walk>>
    while v_level >= v_worst loop
      if v_level <= v_floor and (k = 0 or k > k_read) then
        return (true, null, null, null, null, null)::trading.match_result;
      end if;
      if k = 0 then
        v_level := v_level - 1;
        exit walk when v_level < v_worst;
        k := v_first[v_base + v_level];
        continue walk;
      end if;
      if k_left[k] < 0 then
        -- Cancelled by a request before, which was not to be finished in this call.
        k := k_next[k];
        continue walk;
      end if;

      v_price := 100 - v_level;
      v_reason := null;
      m := k_trader[k];
      if k_has_expired[k] then
        n := 0;
        v_reason := 'expired';
      else
        n := least(v_wanted - v_bought, k_left[k]);
        if v_budget is not null then
          -- The most shares n with spent + n x price + fee(weight + n x price x level) in budget.
          n := least(n, (
            ((v_budget - v_spent) * 1000000 - v_rate * v_weight)
            / (v_price * 1000000::bigint + v_rate * v_price * v_level)
          ));
          if n = 0 then
            v_is_sated := true;
            exit walk;
          end if;
        end if;
        if m = t then
          v_meets_own := true;
          exit walk;
        end if;

        if t_excluded[m] then
          v_reason := 'self_excluded';
        elsif not k_is_buy[k] then
          if h_quantity[k_shares[k]] < n then
            v_reason := 'position_insufficient';
          end if;
        elsif t_balance[m] < n * v_level then
          v_reason := 'insufficient_funds';
        elsif t_limited[m] then
          if risk.exceeds_limits(
            limits.limits[m], limits.untraded[m], t_balance[m], n * v_level
          ) then
            v_reason := 'loss_limit';
          end if;
        end if;
        if v_reason is not null then
          n := 0;
        end if;
      end if;

      if v_reason is not null then
        if c_count + v_met_cancelled = c_most_cancelled then
          v_is_unfinished := true;
          exit walk;
        end if;
        v_met_cancelled := v_met_cancelled + 1;
        v_met_reason[v_met_count + 1] := v_reason;
      end if;
      v_met_count := v_met_count + 1;
      v_met[v_met_count] := k;
      v_met_quantity[v_met_count] := n;
      if n > 0 then
        if k_is_buy[k] then
          t_balance[m] := t_balance[m] - n * v_level;
        else
          t_balance[m] := t_balance[m] + n * v_price;
          h_quantity[k_shares[k]] := h_quantity[k_shares[k]] - n;
        end if;
        v_bought := v_bought + n;
        v_spent := v_spent + n * v_price;
        v_weight := v_weight + n * v_price * v_level;
        exit walk when v_bought = v_wanted;
        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_is_decided := r_is_post_only[i]
          or (v_is_buy and v_spent > t_balance[t])
          or (not v_is_buy and h_quantity[h] < v_wanted);
        exit walk when v_is_decided and not v_may_meet_own;
        if v_is_decided or (
          v_is_buy and t_limited[t] and risk.exceeds_limits(
            limits.limits[t], limits.untraded[t], t_balance[t], t_open_cost[t] + v_spent
          )
        ) then
          v_beyond := v_beyond + 1;
          if v_beyond = c_most_beyond then
            v_meets_own := v_may_meet_own and v_wanted > coalesce(shares_before_own[i], 0);
            v_is_cut := true;
            exit walk;
          end if;
        end if;
        if n < k_left[k] then
          v_is_sated := true; -- the budget ends within this order
          exit walk;
        end if;
      end if;
      k := k_next[k];
    end loop walk;

    for p in 1 .. v_met_count loop
      n := v_met_quantity[p];
      if n > 0 then
        m := k_trader[v_met[p]];
        if k_is_buy[v_met[p]] then
          t_balance[m] := t_balance[m] + n * k_price[v_met[p]];
        else
          t_balance[m] := t_balance[m] - n * (100 - k_price[v_met[p]]);
          h_quantity[k_shares[v_met[p]]] := h_quantity[k_shares[v_met[p]]] + n;
        end if;
      end if;
    end loop;

    -- 4. Verdict.
    if v_is_cut then
      v_required := v_spent;
    elsif v_is_buy then
      v_required :=
        case when v_bought = 0 then 0 else v_spent + trading.fee_cents(v_rate, v_weight) end
        + case when r_is_ioc[i] then 0 else (v_wanted - v_bought) * r_price[i] end;
    end if;
    v_code := case
      when v_is_unfinished then 'CONFLICT_RETRY'
      when v_meets_own then 'SELF_TRADE_BLOCKED'
      when r_is_post_only[i] and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when r_is_ioc[i] and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
      else trading.funding_rejection(
        v_is_buy, r_quantity[i], v_required, v_required, t_balance[t], h_quantity[h],
        limits.limits[t], limits.untraded[t], t_open_cost[t]
      )
    end;
    if v_code is not null
      and (v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') or v_met_cancelled = 0)
    then
      v_result := null;
      v_result.code := v_code;
      v_results[i] := v_result;
      continue next_request;
    end if;

    -- 5. Carry the plan out: what was met is a prefix of the other side.
    v_fee_so_far := 0;
    v_weight := 0;
    for p in 1 .. v_met_count loop
      k := v_met[p];
      n := v_met_quantity[p];
      m := k_trader[k];
      if n = 0 then
        c_count := c_count + 1;
        c_request[c_count] := i;
        c_maker[c_count] := k;
        k_reason[k] := v_met_reason[p];
        k_cancelled_left[k] := k_left[k];
        if t_limited[m] and k_is_buy[k] and v_met_reason[p] <> 'expired' then
          t_open_cost[m] := t_open_cost[m] - k_left[k] * k_price[k];
        end if;
        k_left[k] := -1;
        continue;
      end if;
      continue when v_is_unfinished;

      v_level := k_price[k];
      v_price := 100 - v_level;
      v_weight := v_weight + n * v_price * v_level;
      v_fee := trading.fee_cents(v_rate, v_weight) - v_fee_so_far;
      v_fee_so_far := v_fee_so_far + v_fee;
      if v_is_buy then
        t_balance[t] := t_balance[t] - n * v_price - v_fee;
        h_quantity[h] := h_quantity[h] + n;
      else
        t_balance[t] := t_balance[t] + n * v_level - v_fee;
        h_quantity[h] := h_quantity[h] - n;
      end if;
      if k_is_buy[k] then
        t_balance[m] := t_balance[m] - n * v_level;
        h_quantity[k_shares[k]] := h_quantity[k_shares[k]] + n;
        if t_limited[m] then
          t_open_cost[m] := t_open_cost[m] - n * v_level;
        end if;
      else
        t_balance[m] := t_balance[m] + n * v_price;
        h_quantity[k_shares[k]] := h_quantity[k_shares[k]] - n;
      end if;
      k_left[k] := k_left[k] - n;
      f_count := f_count + 1;
      f_request[f_count] := i;
      f_maker[f_count] := k;
      f_quantity[f_count] := n;
      f_fee[f_count] := v_fee;
    end loop;
    if v_met_count > 0 and not v_is_unfinished then
      -- The last one met may have shares left: the chain of its price begins with it, or behind.
      k := v_met[v_met_count];
      for p in k_price[k] + 1 .. v_best[v_side] loop
        v_first[v_base + p] := 0;
      end loop;
      v_first[v_base + k_price[k]] := case when k_left[k] > 0 then k else k_next[k] end;
      v_best[v_side] := k_price[k];
    end if;
    if v_code is not null then
      v_result := null;
      v_result.code := v_code;
      v_results[i] := v_result;
      continue next_request;
    end if;

    -- 6. The order as it now stands; what is left of it joins the book or is cancelled.
    v_reason := null;
    if v_budget is null then
      v_status := trading.filled_status(v_wanted - v_bought, v_wanted);
    elsif v_is_sated or v_bought = c_most_shares or (
      (v_budget - v_spent) * 1000000 - v_rate * v_weight < 1000000 + v_rate * 99
    ) then
      v_wanted := v_bought;
      v_status := 'filled';
    else
      v_wanted := v_bought;
      v_status := 'open';
    end if;
    if v_status <> 'filled' and r_is_ioc[i] then
      v_status := 'cancelled';
      v_reason := 'insufficient_liquidity';
    end if;
    k := null;
    if v_status in ('open', 'partially_filled') then
      v_rested_count := v_rested_count + 1;
      v_rested[v_rested_count] := i;
      k := k_read + v_rested_count;
      k_trader[k] := t;
      k_shares[k] := h;
      k_is_buy[k] := v_is_buy;
      k_price[k] := r_book_price[i];
      k_left[k] := v_wanted - v_bought;
      k_has_expired[k] := false;
      k_next[k] := 0;
      if cardinality(r_market) > 1 then
        v_rests_here[r_holding[i]] := true;
      end if;
      v_base := 200 * (r_market[i] - 1) + r_book_price[i];
      v_side := 2 * r_market[i] - 1;
      if not r_book_is_yes[i] then
        v_base := v_base + 100;
        v_side := v_side + 1;
      end if;
      if v_first[v_base] = 0 then
        v_first[v_base] := k;
      else
        k_next[v_last[v_base]] := k;
      end if;
      v_last[v_base] := k;
      if v_best[v_side] < r_book_price[i] then
        v_best[v_side] := r_book_price[i];
      end if;
      if v_is_buy and t_limited[t] then
        t_open_cost[t] := t_open_cost[t] + k_left[k] * r_price[i];
      end if;
    end if;
    v_results[i] := (
      null, null, null, v_status, v_wanted, v_wanted - v_bought, v_reason, v_fee_so_far,
      t_balance[t], k
    )::trading.order_result;
  end loop next_request;

  return (
    false,
    v_results,
    case when f_count > 0 then array(
      select f::trading.fill
      from unnest(f_request, f_maker, f_quantity, f_fee) as f (request, maker, quantity, fee)
    ) end,
    case when c_count > 0 then array(
      select (
        c.request, c.maker, k_reason[c.maker], k_cancelled_left[c.maker]
      )::trading.cancelled_maker
      from unnest(c_request, c_maker) as c (request, maker)
    ) end,
    v_rested,
    k_left
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.matched_batch, trading.book_slice, trading.limit_arrays, bigint[], bigint[]
) is
  'Matches a batch in memory: what each request comes to. Requests are taken in order, each as if '
  'it had come alone. A request that is rejected has no effect, but for the makers it found that '
  'must be cancelled when it is rejected for want of liquidity, or because it met more of them '
  'than one call cancels (CONFLICT_RETRY). replays are by trading.read_replays, null without any '
  'key; shares_before_own is by trading.read_reach.';
