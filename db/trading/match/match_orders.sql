-- Price-time priority, in memory: no table is read or written.
--
--   link the makers of each side of each book in the order in which they are met
--   each request, in order:
--     1. a replay is answered; what is wrong without a look at the book is rejected
--     2. a live market judges the order by its worst case and schedules it
--     3. the order meets the other side, maker by maker, as far as it wants and its price allows
--     4. verdict: self-trade, post-only, liquidity, funding, loss limits
--     5. rejected: the makers get back what they traded; accepted: the order has what it filled
--     6. what is left of the order joins its side of the book, or is cancelled
--
-- It is one loop over arrays of numbers: PL/pgSQL changes these in place, but copies them on each
-- call of a part. So functions take what needs only the numbers at hand. The first letter of an
-- array says what has a place in it: r_ requests, m_ markets, k_ makers, which are those that were
-- read and behind them the requests that come to rest, b_ sides of books, t_ traders, s_ shares,
-- h_ holdings, f_ fills, c_ cancelled makers, o_ results. A holding has its YES shares at its own
-- place of s_, its NO shares h_count places behind. Maker 0 is the end of a side: k_next and
-- b_first name it, and its k_left and k_price are null. t_balance and s_quantity are what is left
-- while a request is tried.
create or replace function trading.match_orders(
  batch trading.batch, is_preview boolean, is_final boolean
)
returns trading.batch
language plpgsql immutable
as $$
declare
  v_most_beyond constant int := trading.most_beyond();
  v_most_cancelled constant int := trading.most_cancelled();
  v_most_undone constant int := 500; -- fills of rejected requests
  v_at constant timestamptz := batch.at;
  r constant trading.requests := batch.requests;
  r_count constant int := cardinality(r.user_id);
  r_market constant int[] := r.market_place;
  r_quantity constant int[] := r.quantity;
  r_trader constant int[] := batch.trader_place;
  r_share constant int[] := batch.share_place;
  m constant trading.markets_read := batch.markets;
  m_delay constant int[] := m.live_delay_ms;
  m_rate constant int[] := m.taker_rate_bps;
  k_all trading.makers := batch.makers;
  k_read constant int := coalesce(cardinality(k_all.order_id), 0);
  k_left_before constant int[] := k_all.left_quantity;
  k_book int[] := k_all.book_place;
  k_trader int[] := k_all.trader_place;
  k_share int[] := k_all.share_place;
  k_price int[] := k_all.book_price;
  k_is_buy boolean[] := k_all.is_buy;
  k_end_reason trading.cancel_reason[] := k_all.end_reason;
  k_left int[] := k_left_before; -- below 0 once cancelled
  k_next int[] := array_fill(0, array[k_read]);
  k_goes_on constant boolean[] := k_all.goes_on;
  b_floor int[] := array_fill(0, array[2 * cardinality(m.id)]); -- 0: all in reach was read
  b_first int[] := array_fill(0, array[2 * cardinality(m.id)]);
  b_last int[] := array_fill(0, array[2 * cardinality(m.id), 99]); -- at each price
  t_balance bigint[] := (batch.traders).balances_cents;
  t_blocked_by constant text[] := (batch.traders).blocked_by;
  t_limits constant risk.loss_limits[] := (batch.limits).limits;
  t_untraded constant risk.loss_limits[] := (batch.limits).untraded;
  t_traded_with int[] := array_fill(0, array[coalesce(cardinality(t_balance), 0)]); -- last moved by
  t_open_cost bigint[] := (batch.limits).open_cost_cents; -- looked at only of those with limits
  s_quantity bigint[] := (batch.holdings).quantity;
  h_count constant int := coalesce(cardinality((batch.holdings).key), 0);
  v_rests_here boolean[]; -- whether an order of the call rests, by holding
  v_for_key int[] := batch.twin; -- at the first twin: the one that has the key
  m_changes int[] := array_fill(0, array[cardinality(m.id)]);
  o_code text[];
  o_replay_of int[];
  o_status trading.order_status[];
  o_quantity int[];
  o_left int[];
  o_reason trading.cancel_reason[];
  o_fee bigint[];
  o_balance bigint[];
  o_maker int[];
  o_release_at timestamptz[];
  f_count int := 0;
  f_request int[];
  f_maker int[];
  f_quantity int[];
  f_fee bigint[];
  c_count int := 0;
  c_request int[];
  c_maker int[];
  c_reason trading.cancel_reason[];
  c_starved_by int[];
  v_unfinished int[]; -- of requests that come again the books, and the traders as -t
  v_barred int[]; -- books that further requests may not meet
  v_rested_count int := 0;
  g int; -- the market
  t int; -- the taker
  s int; -- its shares
  h int; -- and their holding
  k int; -- a maker
  u int; -- the maker's trader
  n int; -- shares of a match
  w int; -- what a share brings the maker, in cents
  j int;
  v_is_stopped boolean;
  v_is_buy boolean;
  v_is_fok boolean;
  v_is_ioc boolean;
  v_cancels_own boolean;
  v_price int;
  v_book int; -- the side that it would rest on
  v_opposite int; -- the side that it meets
  v_worst int; -- the lowest price there that it meets
  v_rate int;
  v_budget int;
  v_wanted int;
  v_bought int;
  v_spent bigint;
  v_weight bigint;
  v_fee bigint;
  v_cents bigint;
  v_level int; -- price of a maker
  f_before int;
  v_undone int := 0;
  c_before int;
  v_may_meet_own boolean;
  v_within bigint; -- shares within the price of a fok order
  v_starved_count int; -- of the makers that it cancels: starved by its fills, or its own
  v_halt text; -- why it goes no further, if that is for the number of cancelled makers
  v_open_cost bigint; -- without own orders that it cancels
  v_is_done boolean;
  v_so_far text; -- what it would be rejected with, as far as it has come
  v_beyond int; -- makers that it has met since it was sure to be rejected
  v_own_count int; -- own orders that it cancels
  v_required bigint;
  v_code text;
  v_status trading.order_status;
  v_reason trading.cancel_reason;
begin
  for p in 1 .. k_read loop
    if b_first[k_book[p]] = 0 then
      b_first[k_book[p]] := p;
    else
      k_next[p - 1] := p;
    end if;
    b_last[k_book[p]][k_price[p]] := p;
    if k_goes_on[p] then
      b_floor[k_book[p]] := k_price[p];
    end if;
  end loop;

  <<next_request>>
  for i in 1 .. r_count loop
    t := r_trader[i];
    g := r_market[i];
    v_book := 2 * g - case when r.is_yes[i] then 1 else 0 end;
    v_opposite := 4 * g - 1 - v_book; -- of the books 2g - 1 and 2g the other one
    o_code[i] := r.code[i];
    continue when o_code[i] is not null;

    -- 1. A replay is answered with the order as it stands now, unless that order was rejected.
    if batch.replay is not null and r.problem[i] is null then
      j := v_for_key[batch.twin[i]];
      if batch.replay[i] is not null or (j < i and o_code[j] is null) then
        if batch.replay[i] = -1
          or batch.replay[i] is null and coalesce(
            r.request_fingerprint[j] <> r.request_fingerprint[i],
            r.request_fingerprint[i] is not null and not trading.same_terms(
              r, i, m.id[r_market[j]], r.side[j], r.order_type[j], r.price[j], r_quantity[j],
              r.budget_cents[j], r.time_in_force[j], r.post_only[j], r.expires_at[j])
          )
        then
          o_code[i] := 'IDEMPOTENCY_KEY_REUSED';
          continue next_request;
        end if;
        o_balance[i] := t_balance[t];
        if batch.replay[i] is not null then
          k := array_position(k_all.order_id, batch.replay[i]);
        else
          o_replay_of[i] := j;
          k := o_maker[j];
        end if;
        if k is not null then
          o_left[i] := abs(k_left[k]);
          o_reason[i] := case when k_left[k] < 0 then k_end_reason[k] end;
        end if;
        continue next_request;
      end if;
      v_for_key[batch.twin[i]] := i;
    end if;

    -- Of a release or a replacement: the order that it was does not count any more.
    if r.relieved_cents[i] is not null then
      t_open_cost[t] := t_open_cost[t] - r.relieved_cents[i];
    end if;
    v_is_stopped := r.order_id[i] <= (batch.traders).last_stopped_orders[t];
    v_code := trading.request_rejection(
      r.problem[i], r.order_id[i] is not null, r.expires_at[i], v_at,
      m.site_paused and v_is_stopped is not true, -- what stopped it gives the reason
      t is not null,
      case when (batch.traders).missed_switch[t] or v_is_stopped then 'DEAD_MAN_FIRED'
        else t_blocked_by[t] end,
      m.id[g] is not null, m.is_open[g]);
    -- What stands behind an unfinished request, of its trader or in its market, waits for it.
    if v_code is null and v_unfinished && array[v_book, -t] then
      v_code := 'CONFLICT_RETRY';
      v_unfinished := v_unfinished || array[v_book, v_opposite, -t];
    elsif v_code is null and v_book = any (v_barred) then
      v_code := 'CONFLICT_RETRY';
    end if;
    if v_code is not null then
      o_code[i] := v_code;
      continue next_request;
    end if;

    v_is_buy := r.order_type[i] = 'buy';
    v_price := r.price[i];
    v_budget := r.budget_cents[i];
    v_rate := m_rate[g];
    s := r_share[i];
    h := case when s > h_count then s - h_count else s end;

    -- 2. A live market takes the order now and judges it against the book when it is released.
    if m_delay[g] is not null then
      v_spent := trading.scheduled_cost_cents(
        r.order_type[i], v_price, r_quantity[i], v_budget, v_rate);
      v_code := trading.funding_rejection(
        v_is_buy, r_quantity[i],
        coalesce(v_budget, case when r.is_market[i] then 0 else r_quantity[i] * v_price end),
        v_spent, t_balance[t], s_quantity[s], t_limits[t], t_untraded[t], t_open_cost[t]);
      o_code[i] := v_code;
      if v_code is null then
        t_open_cost[t] := t_open_cost[t] + v_spent;
        o_status[i] := 'scheduled';
        o_release_at[i] := v_at + m_delay[g] * interval '1 millisecond';
        o_quantity[i] := coalesce(r_quantity[i], 0);
        o_left[i] := o_quantity[i];
        o_balance[i] := t_balance[t];
      end if;
      continue next_request;
    end if;

    v_is_fok := r.time_in_force[i] = 'fok';
    v_is_ioc := r.time_in_force[i] <> 'gtc';
    v_cancels_own := r.cancels_own[i];
    v_worst := 100 - r.book_price[i];
    v_wanted := coalesce(r_quantity[i], 10000);
    v_bought := 0;
    v_spent := 0;
    v_weight := 0;
    v_fee := 0;
    f_before := f_count;
    c_before := c_count;
    v_may_meet_own := not v_cancels_own
      and (batch.shares_before_own[i] is not null or coalesce(v_rests_here[h], false));
    v_starved_count := 0;
    v_halt := null;
    v_open_cost := t_open_cost[t];
    v_beyond := 0;
    v_own_count := 0;

    -- A fok order for more than stands within its price needs no walk through the orders. Its
    -- figures are of the moment before the call: what the call has changed since is added.
    if batch.fok_shares[i] is not null then
      v_within := batch.fok_shares[i];
      n := batch.own_orders[i];
      for p in 1 .. k_read + v_rested_count loop
        continue when k_book[p] <> v_opposite or k_price[p] < v_worst
          or k_end_reason[p] = 'expired';
        v_within := v_within + greatest(k_left[p], 0) - coalesce(k_left_before[p], 0);
        if k_trader[p] = t then
          n := n + (k_left[p] > 0)::int - (p <= k_read)::int;
        end if;
      end loop;
      if v_within < v_wanted then
        o_code[i] := case when n > 0 and not v_cancels_own then 'SELF_TRADE_BLOCKED'
          else 'INSUFFICIENT_LIQUIDITY' end;
        continue next_request;
      end if;
    end if;

    -- 3. Meet the other side: the best price first, and at each price the order that came first.
    k := b_first[v_opposite];
    while k_left[k] <= 0 loop -- the book begins behind what is gone
      if b_last[v_opposite][k_price[k]] = k then
        b_last[v_opposite][k_price[k]] := 0;
      end if;
      k := k_next[k];
    end loop;
    b_first[v_opposite] := k;
    loop
      while k_left[k] <= 0 loop
        k := k_next[k];
      end loop;
      v_level := coalesce(k_price[k], 0);
      -- Nothing that was read is left: the end of the queue, or an order of this call. Without
      -- results, the caller reads more and matches all requests anew.
      if b_floor[v_opposite] >= greatest(v_level, v_worst) and (k = 0 or k > k_read) then
        return batch;
      end if;
      exit when v_level < v_worst;
      u := k_trader[k];
      w := case when k_is_buy[k] then -v_level else 100 - v_level end;
      n := least(v_wanted - v_bought, k_left[k], trading.affordable_quantity(
        v_budget, v_spent, v_rate, v_weight, 100 - v_level));
      if k_end_reason[k] is not null then
        v_reason := k_end_reason[k];
      elsif n = 0 then -- the budget ends here
        v_wanted := v_bought;
        exit;
      elsif u = t and v_cancels_own and v_own_count < v_most_beyond then
        v_reason := 'self_trade';
      elsif u = t then
        v_code := 'SELF_TRADE_BLOCKED';
        exit;
      else
        v_reason := trading.maker_cancel_reason(
          n, n * w, s_quantity[k_share[k]], t_balance[u], t_blocked_by[u],
          t_limits[u], t_untraded[u]);
      end if;
      if v_reason is not null then
        -- It ends when its own fills have starved too many, and is to be placed again when it has
        -- met too many others, or when all requests of the call have cancelled too many.
        v_halt := case
          when v_starved_count = v_most_cancelled then 'ends'
          when is_preview then null
          when c_count - c_before - v_starved_count = v_most_cancelled
            or c_before > 0 and c_count >= v_most_cancelled * case when is_final then 3 else 1 end
            then case when is_final then 'ends' else 'comes_again' end
        end;
        exit when v_halt is not null;
        if v_reason = 'self_trade' then
          v_own_count := v_own_count + 1;
          v_open_cost := v_open_cost + k_left[k] * least(0, w);
        end if;
        j := case
          when k_end_reason[k] is not null or u <> t and trading.maker_cancel_reason(
            n, n * w, (batch.holdings).quantity[k_share[k]],
            (batch.traders).balances_cents[u], t_blocked_by[u], t_limits[u],
            t_untraded[u]) is not null then 0
          when u = t or t_traded_with[u] = i then i else -1 end;
        v_starved_count := v_starved_count + (j = i)::int;
        c_count := c_count + 1;
        c_maker[c_count] := k;
        c_reason[c_count] := v_reason;
        c_starved_by[c_count] := j;
        k := k_next[k];
        continue;
      end if;
      t_traded_with[u] := i;
      k_left[k] := k_left[k] - n;
      t_balance[u] := t_balance[u] + n * w;
      s_quantity[k_share[k]] := s_quantity[k_share[k]] + case when k_is_buy[k] then n else -n end;
      t_open_cost[u] := t_open_cost[u] + n * least(0, w);
      v_bought := v_bought + n;
      v_spent := v_spent + n * (100 - v_level);
      v_weight := v_weight + n * v_level * (100 - v_level);
      f_count := f_count + 1;
      f_request[f_count] := i;
      f_maker[f_count] := k;
      f_quantity[f_count] := n;
      v_cents := trading.fee_cents(v_rate, v_weight);
      f_fee[f_count] := v_cents - v_fee;
      v_fee := v_cents;
      exit when v_bought = v_wanted;
      -- Once it is sure to be rejected, only the reason can still change: by the user's own
      -- order, or by cash that ends after the loss limit. It is not looked for far away.
      v_so_far := case when r.post_only[i] then 'POST_ONLY_WOULD_CROSS' else
        trading.funding_rejection(
          v_is_buy, v_wanted, v_spent, v_spent, t_balance[t], s_quantity[s],
          t_limits[t], t_untraded[t], v_open_cost) end;
      v_beyond := v_beyond + (v_so_far is not null)::int;
      exit when v_beyond = v_most_beyond
        or (v_so_far <> 'LOSS_LIMIT' and not v_may_meet_own and not v_is_fok);
    end loop;

    -- 4. Verdict. A buy must be covered with its fee, and with what is left of it if that rests.
    v_is_done := v_bought = v_wanted -- or the budget is spent
      or 0 = trading.affordable_quantity(v_budget, v_spent, v_rate, v_weight, 1);
    v_required := v_spent + case
      when v_beyond = v_most_beyond then 0 -- it has met makers far beyond its cash
      when v_halt = 'comes_again' then -- at least this: no price behind is better
        case when v_is_ioc and not v_is_fok then 0 else (v_wanted - v_bought) * (100 - v_level) end
      else v_fee + case when v_is_ioc then 0 else (v_wanted - v_bought) * v_price end
    end;
    v_code := coalesce(v_code, case
      when v_beyond = v_most_beyond and v_may_meet_own
        and v_wanted > coalesce(batch.shares_before_own[i], 0) then 'SELF_TRADE_BLOCKED'
      when r.post_only[i] and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when v_halt = 'comes_again' then null
      when v_bought = 0 and (v_is_ioc or v_halt = 'ends')
        or v_is_fok and v_is_done is not true and v_beyond < v_most_beyond
        then 'INSUFFICIENT_LIQUIDITY' end,
      trading.funding_rejection(
        v_is_buy, r_quantity[i], v_required, v_required, t_balance[t], s_quantity[s],
        t_limits[t], t_untraded[t], v_open_cost),
      case when v_halt = 'comes_again' then 'CONFLICT_RETRY' end);

    -- 5. A rejected order has no effect, but for makers that had to be cancelled to know that.
    if v_code is not null then
      for p in f_before + 1 .. f_count loop
        k := f_maker[p];
        n := f_quantity[p];
        u := k_trader[k];
        w := case when k_is_buy[k] then -k_price[k] else 100 - k_price[k] end;
        k_left[k] := k_left[k] + n;
        t_balance[u] := t_balance[u] - n * w;
        s_quantity[k_share[k]] := s_quantity[k_share[k]] - case when k_is_buy[k] then n else -n end;
        t_open_cost[u] := t_open_cost[u] - n * least(0, w);
      end loop;
      v_undone := v_undone + f_count - f_before;
      if v_undone > v_most_undone then
        v_barred := v_barred || array[v_book, v_opposite];
      end if;
      f_count := f_before;
      o_code[i] := v_code;
      if v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') then
        c_count := c_before;
        continue next_request;
      end if;
      v_unfinished := v_unfinished
        || case v_code when 'CONFLICT_RETRY' then array[v_book, v_opposite, -t] end;
    elsif v_bought > 0 then
      t_balance[t] := t_balance[t] - v_spent - v_fee
        + case when v_is_buy then 0 else 100 * v_bought end;
      s_quantity[s] := s_quantity[s] + case when v_is_buy then v_bought else -v_bought end;
    end if;
    n := c_count;
    c_count := c_before;
    for p in c_before + 1 .. n loop
      -- Those that only fills of a rejected request have starved stay.
      continue when v_code is not null and c_starved_by[p] = i;
      k := c_maker[p];
      u := k_trader[k];
      if c_reason[p] <> 'expired' and k_is_buy[k] then
        t_open_cost[u] := t_open_cost[u] - k_left[k] * k_price[k];
      end if;
      k_left[k] := -k_left[k];
      k_end_reason[k] := c_reason[p];
      c_count := c_count + 1;
      c_request[c_count] := i;
      c_maker[c_count] := k;
      c_starved_by[c_count] := c_starved_by[p];
    end loop;
    if v_code is null or c_count > c_before then
      m_changes[g] := m_changes[g] + 1;
    end if;
    continue next_request when v_code is not null;

    -- 6. What is left joins the book, or is cancelled.
    v_status := case
      when v_is_done then 'filled' when v_is_ioc or v_halt = 'ends' then 'cancelled'
      else trading.filled_status(v_wanted - v_bought, v_wanted) end;
    v_wanted := case when v_budget is null then v_wanted else v_bought end;
    if v_status in ('open', 'partially_filled') then
      v_rested_count := v_rested_count + 1;
      v_level := r.book_price[i];
      k := k_read + v_rested_count;
      k_book[k] := v_book;
      k_trader[k] := t;
      k_share[k] := s;
      k_price[k] := v_level;
      k_is_buy[k] := v_is_buy;
      k_left[k] := v_wanted - v_bought;
      if v_is_buy then
        t_open_cost[t] := t_open_cost[t] + k_left[k] * v_price;
      end if;
      v_rests_here[coalesce(h, 0)] := true;
      -- Its place is behind all at its price, or else behind the next better price.
      if coalesce(k_price[b_first[v_book]], 0) < v_level then
        k_next[k] := b_first[v_book];
        b_first[v_book] := k;
      else
        n := v_level;
        while b_last[v_book][n] = 0 loop
          n := n + 1;
        end loop;
        j := b_last[v_book][n];
        k_next[k] := k_next[j];
        k_next[j] := k;
      end if;
      b_last[v_book][v_level] := k;
      o_maker[i] := k;
    end if;
    o_status[i] := v_status;
    o_quantity[i] := v_wanted;
    o_left[i] := v_wanted - v_bought;
    if v_status = 'cancelled' then
      o_reason[i] := 'insufficient_liquidity';
    end if;
    o_fee[i] := v_fee;
    o_balance[i] := t_balance[t];
  end loop;

  batch.results := (
    o_code, o_replay_of, o_status, o_quantity, o_left, o_reason, o_fee, o_balance, o_maker,
    o_release_at, null, null
  )::trading.results;
  k_all.trader_place := k_trader;
  k_all.share_place := k_share;
  k_all.book_price := k_price;
  k_all.is_buy := k_is_buy;
  k_all.end_reason := k_end_reason;
  batch.makers := k_all;
  batch.makers_left := k_left;
  batch.changes := m_changes;
  if f_count > 0 then
    batch.fills := (
      f_request[1 : f_count], f_maker, f_quantity, f_fee, null, null, null, null, null, null
    )::trading.fills;
  end if;
  if c_count > 0 then
    batch.cancelled := (
      c_request[1 : c_count], c_maker, c_starved_by
    )::trading.cancelled_makers;
  end if;
  batch.is_unfinished := v_unfinished is not null;
  return batch;
end
$$;

comment on function trading.match_orders(trading.batch, boolean, boolean) is
  'Matches a call in memory: what each request comes to, and its fills. Requests are '
  'taken in order, each as if it had come alone. A request that is rejected has no effect, but '
  'for the makers it found that must be cancelled when it is rejected for want of liquidity. A '
  'request that halts because too many makers must be cancelled (trading.most_cancelled) either '
  'ends there: what it filled stands, the rest is cancelled. Or it is to be placed again '
  '(CONFLICT_RETRY, is_unfinished), has no effect but for the makers that it did not starve '
  'itself, and further requests of its trader and for its market wait for it. Once rejected '
  'requests of the call have met more than 500 makers, further ones for the market of the last '
  'wait, too. is_preview: it is never placed again. '
  'is_final: what would be placed again ends, and all together may cancel three times as many. '
  'Without results it came to the end of what was read of a book, and must be done again with '
  'more.';
