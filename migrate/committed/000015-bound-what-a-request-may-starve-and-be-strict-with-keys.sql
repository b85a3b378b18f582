--! Previous: sha1:41b120f3b38857830bd56af587382dfaae93521d
--! Hash: sha1:dad2d40df1d543e8c8d6bf769cfc86353df0c627
--! Message: Bound what a request may starve and be strict with keys

set local lock_timeout = '2s';
set local role exchange_owner;
--! Included trading/functions/has_terms.sql
create or replace function trading.has_terms(
  request trading.order_request,
  market_id bigint,
  side trading.side,
  order_type trading.order_type,
  price int,
  quantity int,
  budget_cents int,
  time_in_force trading.time_in_force,
  post_only boolean,
  expires_at timestamptz
)
returns boolean
language sql immutable parallel safe
return (request).market_id = market_id
  and (request).side = side
  and (request).order_type = order_type
  and (request).price = price
  and (request).time_in_force = time_in_force
  and (request).post_only = post_only
  and (request).budget_cents is not distinct from budget_cents
  and (request).expires_at is not distinct from expires_at
  and (budget_cents is not null or (request).quantity >= quantity);

comment on function trading.has_terms(
  trading.order_request, bigint, trading.side, trading.order_type, int, int, int,
  trading.time_in_force, boolean, timestamptz
) is
  'Whether a request asks for an order of these terms, which may have been made smaller since.';
--! EndIncluded trading/functions/has_terms.sql
--! Included trading/functions/is_order_of.sql
create or replace function trading.is_order_of(order_id bigint, request trading.order_request)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from trading.orders as o
    where o.id = is_order_of.order_id
      and trading.has_terms(
        is_order_of.request, o.market_id, o.side, o.order_type, o.price, o.quantity,
        o.budget_cents, o.time_in_force, o.post_only, o.expires_at
      )
  )
$$;

comment on function trading.is_order_of(bigint, trading.order_request) is
  'Whether an order can be the one that this request asks for.';
--! EndIncluded trading/functions/is_order_of.sql
--! Included trading/functions/read_replays.sql
create or replace function trading.read_replays(
  requests trading.order_request[], at timestamptz
)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (
      select case
        -- The key of another command, or of an order that was sent otherwise.
        when x.order_id is null or x.request_fingerprint <> r.request_fingerprint then -1 -- mutant: order_of_another_request
        when x.request_fingerprint is null and r.request_fingerprint is not null
          and not trading.is_order_of(x.order_id, r) then -1 -- mutant: key_of_a_body_not_strict
        else x.order_id
      end
      from trading.idempotency_keys as x
      where x.user_id = r.user_id -- mutant: order_of_another_user
        and x.key = r.idempotency_key -- mutant: order_key_ignored
        and x.created_at > read_replays.at - trading.key_lifetime() -- mutant: key_age
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null; -1 where the '
  'key is of another request, and the request is to be rejected. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
--! EndIncluded trading/functions/read_replays.sql
--! Included trading/functions/replay_or_reuse.sql
create or replace function trading.replay_or_reuse(
  batch trading.matched_batch,
  request int,
  twin int,
  twin_result trading.order_result,
  replay bigint,
  left_quantities int[],
  cancelled trading.cancelled_maker[],
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request constant trading.order_request := batch.requests[request];
  v_twin constant trading.order_request := batch.requests[twin];
begin
  if replay = -1
    or (replay is null and v_twin.request_fingerprint <> v_request.request_fingerprint) -- mutant: twin_of_another_request
    or (
      replay is null
      and v_twin.request_fingerprint is null
      and v_request.request_fingerprint is not null
      and not trading.has_terms(
        v_request, v_twin.market_id, v_twin.side, v_twin.order_type, v_twin.price,
        v_twin.quantity, v_twin.budget_cents, v_twin.time_in_force, v_twin.post_only,
        v_twin.expires_at
      )
    )
  then
    return trading.order_rejected('IDEMPOTENCY_KEY_REUSED');
  end if;
  return trading.replayed_result(
    twin, twin_result, replay, (batch.maker_arrays).order_ids, left_quantities, cancelled,
    balance_cents
  );
end
$$;

comment on function trading.replay_or_reuse(
  trading.matched_batch, int, int, trading.order_result, bigint, int[], trading.cancelled_maker[],
  bigint
) is
  'The result of a request whose idempotency key was used before, by an order from before (replay, '
  'see trading.read_replays) or by an earlier request of the batch (twin, with its result): a '
  'replay, or IDEMPOTENCY_KEY_REUSED if that was another request. The rest is as in '
  'trading.replayed_result.';
--! EndIncluded trading/functions/replay_or_reuse.sql
--! Included trading/functions/starved_that_stay.sql
create or replace function trading.starved_that_stay(
  is_starved boolean[], cancelled trading.cancelled_maker[], is_hopeless boolean
)
returns boolean[]
language sql immutable parallel safe
return case
  when is_hopeless or false = any (is_starved) then is_starved
  else array(
    select c.reason = 'self_trade'
    from unnest(cancelled) with ordinality as c (request, maker, reason, left_quantity, place)
    where c.place <= cardinality(is_starved)
    order by c.place
  )
end;

comment on function trading.starved_that_stay(
  boolean[], trading.cancelled_maker[], boolean
) is
  'Which of the makers that a call has cancelled stay after all, since only fills of the request '
  'that is not finished starved them: none but own orders, if the call would else cancel nobody '
  'and its repetition get no further. is_hopeless: the request will be rejected whoever goes.';
--! EndIncluded trading/functions/starved_that_stay.sql
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
  most_cleared int
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
  v_is_starved boolean[]; -- of these: only by fills of the request that cancels it
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
        r, t_balance[t], h_quantity[r.shares], limits.limits[t], limits.untraded[t], t_open_cost[t]
      );
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
      v_starved_count int := 0; -- of the makers that it cancels
      v_open_cost bigint := t_open_cost[t]; -- with own orders that it cancels
      v_is_done boolean;
      v_so_far text; -- what it would be rejected with, as far as it has come
      v_beyond int := 0;
      v_own int := 0; -- own orders in its way
      v_required bigint;
      v_verdict text;
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
          r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 100 - v_level
        ));
        if k_end_reason[k] is not null then
          v_reason := k_end_reason[k];
        elsif n = 0 then -- the budget ends here
          v_wanted := v_bought;
          exit;
        elsif m = t and r.cancels_own and v_own < c_most_beyond then -- mutant: others_cancelled, own_orders_without_bound
          v_own := v_own + 1;
          v_reason := 'self_trade';
          t_traded_with[t] := i; -- it stays if the request is rejected -- mutant: own_order_lost
          t_open_cost[t] := t_open_cost[t] + k_left[k] * least(0, k_cents[k]); -- mutant: cancelled_own_order_counts
        elsif m = t then
          v_code := 'SELF_TRADE_BLOCKED'; -- mutant: self_trade
          exit;
        else
          v_reason := trading.maker_cancel_reason(
            n, n * k_cents[k], h_quantity[k_shares[k]], t_balance[m], t_excluded[m], -- mutant: maker_judged_by_the_whole_order
            t_limited[m], limits.limits[m], limits.untraded[m]);
        end if;
        if v_reason is not null then -- mutant: dead_maker
          v_code := case when most_cleared in (v_starved_count, v_cancelled_count - v_starved_count) -- mutant: starved_without_bound
            then 'CONFLICT_RETRY' end;
          exit when v_code is not null;
          v_cancelled_count := v_cancelled_count + 1;
          v_is_starved[v_cancelled_count] := k_end_reason[k] is null and t_traded_with[m] = i; -- mutant: starved_makers_cleared
          v_starved_count := v_starved_count + v_is_starved[v_cancelled_count]::int;
          v_cancelled[v_cancelled_count] := (i, k, v_reason, k_left[k])::trading.cancelled_maker;
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
          i, k, n, trading.fee_cents(r.taker_rate_bps, v_weight) - v_fee -- mutant: fee_rounded_for_each_fill
        )::trading.fill;
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
      v_required := v_spent + case when v_beyond = c_most_beyond then 0 else v_fee + case
        when not r.is_ioc then (v_wanted - v_bought) * r.price
        when v_code is null then 0 -- else it was not finished
        else least((v_wanted - v_bought) * (100 - v_level), r.budget_cents - v_spent - v_fee)
      end end;
      v_verdict := case
        when v_beyond = c_most_beyond and v_may_meet_own
          and v_wanted > coalesce(shares_before_own[i], 0) then 'SELF_TRADE_BLOCKED'
        when r.is_post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS' -- mutant: post_only_blocked_by_the_dead
        when r.is_ioc and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
        when r.is_fok and v_is_done is not true and v_beyond < c_most_beyond -- mutant: fok_in_part
          then 'INSUFFICIENT_LIQUIDITY'
        else trading.funding_rejection(
          r.is_buy, r.quantity, v_required, v_required, t_balance[t], h_quantity[r.shares],
          limits.limits[t], limits.untraded[t], t_open_cost[t]
        ) end;
      v_code := coalesce(v_code, v_verdict);
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
        if v_code = 'CONFLICT_RETRY' then
          v_held := v_held || array[r.book, r.opposite, -t];
          v_is_starved := trading.starved_that_stay(
            v_is_starved[1 : v_cancelled_count], v_cancelled, v_verdict is not null); -- mutant: starved_makers_met_again, starved_for_nothing
        end if;
        v_cancelled := trading.without_starved(
          v_cancelled[1 : v_cancelled_count], v_is_starved, v_cancelled_before);
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
      v_status := case when v_is_done then 'filled' when r.is_ioc then 'cancelled'
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
        fee_cents => v_fee, balance_cents => t_balance[t], maker => k
      );
    end;
  end loop;

  return (
    false, v_results, case when v_fill_count > 0 then v_fills[1 : v_fill_count] end,
    case when v_cancelled_count > 0 then v_cancelled[1 : v_cancelled_count] end, v_rested, k_left
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.matched_batch, trading.limit_arrays, bigint[], bigint[], int
) is
  'Matches a batch in memory: what each request comes to. Requests are taken in order, each as if '
  'it had come alone. A request that is rejected has no effect, but for the makers it found that '
  'must be cancelled when it is rejected for want of liquidity, or because it met more of them '
  'than most_cleared (CONFLICT_RETRY; null: any number). Then further requests of its trader and '
  'for its market wait for it (CONFLICT_RETRY). Makers that only an earlier match of the same '
  'request starved of cash or shares stay if it is rejected, unless there were most_cleared of '
  'them alone. replays are by trading.read_replays, null without any key; shares_before_own is by '
  'trading.read_reach.';
--! EndIncluded trading/functions/match_orders.sql
--! Included jobs/functions/take_mail.sql
create or replace function jobs.take_mail()
returns table (mail_id bigint, kind text, address text, details json, token text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_mail identity.mails;
  v_owner_id bigint;
  v_owner_email text;
  v_is_claimed boolean;
begin
  perform core.check_session();
  loop
    -- Somebody waits for a mail with a link.
    select m.* into v_mail
    from identity.mails as m
    where m.due_at <= v_at
      and m.kind in ('confirm_email', 'password_reset', 'invitation') -- mutant: notices_before_links
    order by m.due_at
    limit 1
    for update skip locked; -- mutant: locked_mail_waited_for
    if not found then
      select m.* into v_mail
      from identity.mails as m
      where m.due_at <= v_at
      order by m.due_at
      limit 1
      for update skip locked;
    end if;
    if not found then
      return;
    end if;
    select u.id, u.email into v_owner_id, v_owner_email
    from identity.users as u
    where lower(u.email collate "C") = lower(v_mail.address collate "C")
      and identity.is_confirmed(u);
    v_is_claimed := exists (
      select
      from identity.email_claims as c
      where c.user_id = v_mail.user_id
        and c.email = v_mail.address
    );
    exit when case v_mail.kind
      when 'confirm_email' then v_is_claimed
      when 'password_reset' then v_owner_id is not null
      else true
    end;
    -- Nothing to send: no user has the address, or the user asked for another one meanwhile.
    delete from identity.mails as m
    where m.id = v_mail.id;
  end loop;

  update identity.mails as m set
    attempts = m.attempts + 1,
    due_at = case
      when m.attempts < 9 then v_at + least(power(2, m.attempts), 60) * interval '1 minute'
    end
  where m.id = v_mail.id;

  mail_id := v_mail.id;
  kind := v_mail.kind;
  address := v_mail.address;
  details := v_mail.details;
  if kind = 'confirm_email' and v_owner_id is not null then -- mutant: link_to_a_taken_address
    -- Only the owner of the address learns that it has an account.
    kind := 'address_taken';
  elsif kind = 'confirm_email' then
    -- Of a sign-up: so that the owner of the address sees whether it is the own one.
    select json_build_object('handle', c.handle, 'displayName', u.display_name) into details
    from identity.email_claims as c
    join identity.users as u on u.id = c.user_id
    where c.user_id = v_mail.user_id
      and c.handle is not null;
    details := coalesce(details, v_mail.details);
    token := identity.make_link(kind, v_mail.user_id, address, interval '3 days');
  elsif kind = 'password_reset' then
    address := v_owner_email; -- in other letters it may be another mailbox
    token := identity.make_link(kind, v_owner_id, null, interval '1 hour');
  elsif kind = 'invitation' then
    token := identity.make_link(kind, null, address, interval '14 days');
  end if;
  return next;
end
$$;

comment on function jobs.take_mail() is
  'The next mail to send, those with links first: one row, or none. A mail with a link has the '
  'link''s token, which is made for this attempt and not kept. Unless jobs.finish_mail is called, '
  'the mail is due again after a minute, and then after ever longer, 10 times. Errors: '
  'UNFIT_SESSION. Locks: the mail, none that it would wait for.';
--! EndIncluded jobs/functions/take_mail.sql
--! Included admin/functions/freeze_user.sql
create or replace function admin.freeze_user(
  user_id uuid, reason text, cancel_orders boolean default true
)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_market_ids bigint[] := '{}';
  v_at timestamptz;
  v_cancelled int;
begin
  if freeze_user.reason is null or freeze_user.reason !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;
  if freeze_user.cancel_orders is null then
    perform core.raise_error('INVALID_REQUEST', 'The argument cancel_orders must be true or false');
  end if;

  if freeze_user.cancel_orders then
    v_market_ids := trading.lock_user_with_markets(freeze_user.user_id);
  end if;
  v_user_id := identity.lock_user(freeze_user.user_id);
  v_at := core.now();
  update trading.traders as t set
    frozen_at = coalesce(t.frozen_at, v_at),
    -- The login is certain; the name of a key is what the login says.
    frozen_by = session_user || coalesce(
      ' (' || nullif(current_setting('exchange.operator', true), '') || ')', ''
    ),
    frozen_reason = freeze_user.reason
  where t.user_id = v_user_id;
  v_cancelled := trading.clear_orders_of_user(v_user_id, v_market_ids, 'trading_paused', v_at);

  perform admin.audit('freeze_user', jsonb_build_object(
    'user_id', freeze_user.user_id,
    'reason', freeze_user.reason,
    'cancel_orders', freeze_user.cancel_orders,
    'cancelled', v_cancelled
  ));
  return v_cancelled;
end
$$;

comment on function admin.freeze_user(uuid, text, boolean) is
  'Stops an account until admin.unfreeze_user: orders, amendments, splits and withdrawals are '
  'rejected (ACCOUNT_FROZEN); cancelling, merging, reading and deposits are not. Cancels the open '
  'orders (trading_paused) and returns how many; with cancel_orders => false they stay and may '
  'still match, and scheduled ones end at their release. Freezing a frozen account keeps its time '
  'and changes its reason. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the markets of those orders '
  'in ascending id, then the user.';
--! EndIncluded admin/functions/freeze_user.sql
--! Included admin/functions/unfreeze_user.sql
create or replace function admin.unfreeze_user(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
begin
  if unfreeze_user.reason is null or unfreeze_user.reason !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;

  v_user_id := identity.lock_user(unfreeze_user.user_id);
  update trading.traders as t set
    frozen_at = null,
    frozen_by = null,
    frozen_reason = null
  where t.user_id = v_user_id;
  perform admin.audit('unfreeze_user', jsonb_build_object(
    'user_id', unfreeze_user.user_id,
    'reason', unfreeze_user.reason
  ));
end
$$;

comment on function admin.unfreeze_user(uuid, text) is
  'Ends what admin.freeze_user began; orders that it cancelled stay cancelled. An account that is '
  'not frozen stays as it is. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the user.';
--! EndIncluded admin/functions/unfreeze_user.sql
--! Included analytics/views/orders.sql
create or replace view analytics.orders as
select
  o.id as order_key,
  o.public_id as order_id,
  o.market_id as market_key,
  m.public_id as market_id,
  o.user_id as user_key,
  u.public_id as user_id,
  o.side::text as side,
  o.order_type::text as order_type,
  o.price::int as price_cents,
  case
    when (o.side = 'yes') = (o.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when o.side = 'yes' then o.price::int
    else 100 - o.price::int
  end as yes_price_cents,
  coalesce(
    (
      select max(x.quantity_before::int)
      from trading.order_reductions as x
      where x.order_id = o.id
    ),
    o.quantity::int
  ) as original_quantity,
  o.quantity::int as quantity,
  o.filled_quantity,
  o.budget_cents::int as budget_cents,
  o.time_in_force::text as time_in_force,
  o.post_only as is_post_only,
  o.status::text as status,
  case
    when o.cancel_reason in ('self_excluded', 'loss_limit') then 'responsible_gaming'
    else o.cancel_reason::text
  end as cancel_reason,
  o.fee_cents::bigint as fee_cents,
  o.created_at,
  o.expires_at,
  o.release_at,
  o.released_at,
  o.cancelled_at,
  o.is_archived
from (
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at, x.cancelled_at,
    false as is_archived
  from trading.orders as x
  union all
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at, x.cancelled_at,
    true as is_archived
  from trading.archived_orders as x
) as o
left join catalog.markets as m on m.id = o.market_id
left join identity.users as u on u.id = o.user_id;

comment on view analytics.orders is
  'Every order that was accepted, archived ones too, in the form its trader gave it.';
comment on column analytics.orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
comment on column analytics.orders.order_id is 'Public id.';
comment on column analytics.orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.orders.market_id is 'The market: public id.';
comment on column analytics.orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.orders.user_id is 'The user: public id.';
comment on column analytics.orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.orders.order_type is 'buy or sell.';
comment on column analytics.orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.orders.original_quantity is
  'Shares ordered at first, before amendments that kept the order''s place.';
comment on column analytics.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column analytics.orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
comment on column analytics.orders.is_post_only is
  'Whether it is rejected rather than matched on arrival.';
comment on column analytics.orders.status is
  'scheduled, open, partially_filled, filled or cancelled. An order past its expiry may still '
  'be open here until it is swept.';
comment on column analytics.orders.cancel_reason is
  'Why it was cancelled; else null. responsible_gaming is a loss limit or a self-exclusion: which '
  'of them is for operators, in admin.orders.';
comment on column analytics.orders.fee_cents is 'Taker fee paid.';
comment on column analytics.orders.created_at is 'When it was accepted.';
comment on column analytics.orders.expires_at is 'From then on it counts nowhere; null is never.';
comment on column analytics.orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.orders.released_at is
  'When it was released; null if it was not delayed, or not released.';
comment on column analytics.orders.cancelled_at is 'When it was cancelled; else null.';
comment on column analytics.orders.is_archived is
  'Whether it was moved to the archive: 30 days after it was cancelled without a fill.';
--! EndIncluded analytics/views/orders.sql
--! Included analytics/views/open_orders.sql
create or replace view analytics.open_orders as
select
  o.id as order_key,
  o.public_id as order_id,
  o.market_id as market_key,
  m.public_id as market_id,
  o.user_id as user_key,
  u.public_id as user_id,
  o.side::text as side,
  o.order_type::text as order_type,
  o.price::int as price_cents,
  case
    when (o.side = 'yes') = (o.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when o.side = 'yes' then o.price::int
    else 100 - o.price::int
  end as yes_price_cents,
  o.quantity::int as quantity,
  o.filled_quantity,
  o.budget_cents::int as budget_cents,
  o.time_in_force::text as time_in_force,
  o.post_only as is_post_only,
  o.status::text as status,
  o.created_at,
  o.expires_at,
  o.release_at,
  o.released_at,
  case
    when o.order_type = 'sell' then 0
    when b.queue_position is not null
      then (o.quantity::int - o.filled_quantity)::bigint * o.price::int
    when o.budget_cents is not null then o.budget_cents::bigint
    -- The fee of a buy of all of it at its price, at the schedule in force.
    else o.quantity::bigint * o.price::int + (
      select
        (s.taker_rate_bps * (o.quantity::bigint * o.price::int * (100 - o.price::int)) + 999999)
          / 1000000
      from trading.fee_schedules as s
      where s.effective_from <= analytics.now()
        and (
          (s.market_id = o.market_id and s.category_id is null)
          or (s.market_id is null and s.category_id = m.category_id)
          or (s.market_id is null and s.category_id is null)
        )
      order by s.market_id is null, s.category_id is null, s.effective_from desc, s.id desc
      limit 1
    )
  end as worst_cost_cents
from trading.active_orders as b
join trading.orders as o on o.id = b.order_id
left join catalog.markets as m on m.id = o.market_id
left join identity.users as u on u.id = o.user_id
where b.expires_at is null
  or b.expires_at > analytics.now();

comment on view analytics.open_orders is
  'The orders of analytics.orders that are on a book or scheduled, without those past their '
  'expiry. A query reads only these, however many orders there were.';
comment on column analytics.open_orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
comment on column analytics.open_orders.order_id is 'Public id.';
comment on column analytics.open_orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.open_orders.market_id is 'The market: public id.';
comment on column analytics.open_orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.open_orders.user_id is 'The user: public id.';
comment on column analytics.open_orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.open_orders.order_type is 'buy or sell.';
comment on column analytics.open_orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.open_orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.open_orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.open_orders.quantity is
  'Shares ordered; 0 of a budget order, which is scheduled.';
comment on column analytics.open_orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.open_orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.open_orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
comment on column analytics.open_orders.is_post_only is
  'Whether it is rejected rather than matched on arrival.';
comment on column analytics.open_orders.status is 'scheduled, open or partially_filled.';
comment on column analytics.open_orders.created_at is 'When it was accepted.';
comment on column analytics.open_orders.expires_at is
  'From then on it counts nowhere; null is never.';
comment on column analytics.open_orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.open_orders.released_at is
  'When it was released; null if it was not delayed, or not yet released.';
comment on column analytics.open_orders.worst_cost_cents is
  'The most that it could still cost, as it counts toward loss limits: a resting buy what is left '
  'of it at its price; a scheduled buy all of it at its price with the fee, or its budget; a sell '
  'nothing.';
--! EndIncluded analytics/views/open_orders.sql
reset role;
