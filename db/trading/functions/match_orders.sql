-- One long function on purpose: the arrays below are its state, and PL/pgSQL would copy them on
-- every call of a part. It reads and writes no table, so it can be tested on made-up books.
create or replace function trading.match_orders(
  context trading.market_context,
  money trading.market_money,
  requests trading.order_request[],
  slice trading.book_slice,
  traders trading.trader_arrays,
  holdings trading.holding_arrays,
  limits trading.limit_arrays
)
returns trading.match_result
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_shares constant int := 10000;
  -- So many makers are cancelled in one call; a request that meets more is to be placed again.
  c_most_dead constant int := 500;
  c_most_beyond constant int := trading.most_beyond();

  -- The book: resting orders in chains, one for each stored price. A chain is indexed by price
  -- for YES and by 100 + price for NO. Orders read from the table come first, those of this
  -- batch are linked behind them.
  v_resting trading.resting_order[] := slice.orders;
  v_read constant int := cardinality(v_resting);
  v_order_ids bigint[];
  v_place int[];
  v_left int[];
  v_next int[] := array_fill(0, array[v_read]);
  v_first int[] := array_fill(0, array[199]);
  v_last int[] := array_fill(0, array[199]);
  v_best_yes int := 0;
  v_best_no int := 0;
  v_chain int;

  -- The traders, by their place t; held shares by place and side (1 is YES, 2 is NO).
  v_user_ids bigint[] := traders.user_ids;
  v_balance bigint[] := traders.balance_cents;
  v_held bigint[] := holdings.quantity;
  v_open_cost bigint[] := limits.open_cost_cents;
  v_versions bigint[] := traders.account_versions;
  v_has_traded boolean[] := holdings.has_traded;
  v_cost bigint[] := holdings.cost_cents;
  v_fees bigint[] := holdings.fee_cents;
  v_realised bigint[] := holdings.realised_cents;
  v_touched boolean[] := array_fill(
    false, array[2 * coalesce(cardinality(traders.user_ids), 0)]
  );
  v_escrow bigint := money.escrow_cents;
  v_escrow_version bigint := money.escrow_version;
  v_revenue bigint := money.revenue_cents;
  v_revenue_version bigint := money.revenue_version;

  -- What comes out.
  v_outcomes trading.order_result[];
  v_fills trading.fill[];
  v_dead trading.cancelled_maker[];
  v_entries ledger.entry[];
  v_fill_count int := 0;
  v_dead_count int := 0;
  v_entry_count int := 0;
  v_new_orders int[];
  v_last_trade_price int;
  v_yes_volume bigint := 0;
  v_no_volume bigint := 0;
  v_new_traders int := 0;
  v_changes int := 0;

  -- The request at hand: its plan is a list of the makers it meets (quantity 0: found dead).
  k int;
  t int;
  m int;
  h int;
  n int;
  v_request trading.order_request;
  v_maker trading.resting_order;
  v_outcome trading.order_result;
  v_code text;
  v_status trading.order_status;
  v_order_id bigint;
  v_order_public_id uuid;
  v_is_buy boolean;
  v_opposite int;
  v_floor int;
  v_level int;
  v_worst int;
  v_price int;
  v_wanted int;
  v_bought int;
  v_spent bigint;
  v_weight bigint;
  v_cost_cents bigint;
  v_fee bigint;
  v_fee_so_far bigint;
  v_required bigint;
  v_own boolean;
  v_sated boolean;
  v_reason trading.cancel_reason;
  v_met_count int;
  v_met_dead_count int;
  v_is_unfinished boolean;
  v_held_side int;
  v_met int[];
  v_met_quantity int[];
  v_met_trader int[];
  v_met_reason trading.cancel_reason[];
  v_may_meet_own boolean;
  v_is_decided boolean;
  v_beyond int;
  v_is_cut boolean;
  v_rests_here boolean[] := array_fill(
    false, array[coalesce(cardinality(traders.user_ids), 0)]
  );
  v_yes_price int;
  v_journal_id bigint;
  v_amount bigint;
  v_escrow_amount bigint;
  v_cost_out bigint;
  v_fees_out bigint;
  v_taker_realised bigint;
  v_maker_realised bigint;
begin
  select
    array_agg(r.order_id order by r.ordinality),
    array_agg(width_bucket(r.user_id, traders.user_ids) order by r.ordinality)
  into v_order_ids, v_place
  from unnest(slice.orders) with ordinality as r;
  for p in 1 .. v_read loop
    v_maker := v_resting[p];
    v_left[p] := v_maker.quantity - v_maker.filled_quantity;
    if v_maker.book_side = 'yes' then
      v_chain := v_maker.book_price;
      v_best_yes := greatest(v_best_yes, v_maker.book_price);
    else
      v_chain := 100 + v_maker.book_price;
      v_best_no := greatest(v_best_no, v_maker.book_price);
    end if;
    if v_first[v_chain] = 0 then
      v_first[v_chain] := p;
    else
      v_next[v_last[v_chain]] := p;
    end if;
    v_last[v_chain] := p;
  end loop;

  <<next_request>>
  for i in 1 .. cardinality(requests) loop
    v_request := requests[i];
    t := array_position(v_user_ids, v_request.user_id);

    -- 1. Replays, and refusals that no book is needed for, in their order of precedence.
    if v_request.idempotency_key is not null then
      v_outcome := null;
      v_outcome.order_id := v_request.replay_of_order_id;
      if v_outcome.order_id is null then
        for j in 1 .. i - 1 loop
          if (requests[j]).user_id = v_request.user_id
            and (requests[j]).idempotency_key = v_request.idempotency_key
            and (v_outcomes[j]).code is null
          then
            v_outcome := v_outcomes[j];
            exit;
          end if;
        end loop;
      end if;
      if v_outcome.order_id is not null and v_request.problem is null then
        v_outcome.request := v_request;
        v_outcome.is_replay := true;
        v_outcome.user_public_id := traders.user_public_ids[t];
        v_outcome.balance_cents := v_balance[t];
        k := array_position(v_order_ids, v_outcome.order_id);
        if k is not null then
          v_outcome.quantity := (v_resting[k]).quantity;
          if v_left[k] >= 0 then
            v_outcome.filled_quantity := v_outcome.quantity - v_left[k];
            v_outcome.status := trading.filled_status(v_left[k], v_outcome.quantity);
          else
            select d.filled_quantity, d.reason, 'cancelled'::trading.order_status
            into v_outcome.filled_quantity, v_outcome.cancel_reason, v_outcome.status
            from unnest(v_dead) as d
            where d.resting = k;
          end if;
        end if;
        v_outcomes[i] := v_outcome;
        continue next_request;
      end if;
    end if;
    v_code := trading.request_rejection(
      v_request, context, t is not null, traders.blocked_by[t]
    );
    if v_code is not null then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcome.message := trading.rejection_message(v_code, v_request);
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;

    -- A live market takes it now and judges it against the book when it is released.
    if context.live_delay_ms is not null then
      v_cost_cents := trading.scheduled_cost_cents(
        v_request.order_type, v_request.price, v_request.quantity, v_request.budget_cents,
        money.taker_rate_bps
      );
      v_code := trading.funding_rejection(
        v_request,
        case
          when v_request.budget_cents is not null then v_request.budget_cents
          when v_request.is_market then 0
          else v_request.quantity * v_request.price
        end,
        v_cost_cents, v_balance[t],
        v_held[t][case v_request.side when 'yes' then 1 else 2 end],
        limits.limits[t], limits.untraded[t], v_open_cost[t] - v_request.relieved_cents
      );
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      if v_code is null then
        v_outcome.user_public_id := traders.user_public_ids[t];
        v_outcome.order_id := nextval('trading.orders_id_seq');
        v_outcome.order_public_id := core.uuid_v7();
        v_outcome.status := 'scheduled'::trading.order_status;
        v_outcome.quantity := coalesce(v_request.quantity, 0);
        v_outcome.filled_quantity := 0;
        v_outcome.balance_cents := v_balance[t];
        if traders.limited[t] then
          v_open_cost[t] := v_open_cost[t] - v_request.relieved_cents + v_cost_cents;
        end if;
      end if;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;
    if traders.limited[t] then
      v_open_cost[t] := v_open_cost[t] - v_request.relieved_cents;
    end if;

    -- 2. Plan: walk the other side from its best price, as far as the request wants and its
    -- price allows. Makers' cash and shares are moved as the plan goes, and moved back below.
    v_is_buy := v_request.order_type = 'buy';
    v_held_side := case v_request.side when 'yes' then 1 else 2 end;
    v_wanted := coalesce(v_request.quantity, c_most_shares);
    v_worst := 100 - v_request.book_price;
    v_bought := 0;
    v_required := 0;
    v_met_count := 0;
    v_met_dead_count := 0;
    v_own := false;
    v_is_unfinished := false;
    v_is_cut := false;
    if v_request.book_side = 'yes' then
      v_level := v_best_no;
    else
      v_level := v_best_yes;
    end if;
    if v_level >= v_worst then
      v_opposite := case v_request.book_side when 'yes' then 100 else 0 end;
      v_floor := case v_request.book_side when 'yes' then slice.no_floor else slice.yes_floor end;
      k := v_first[v_opposite + v_level];
      v_spent := 0;
      v_weight := 0;
      v_sated := false;
      v_may_meet_own := v_rests_here[t] or slice.shares_before_own[i] is not null;
      v_beyond := 0;
    end if;

    <<walk>>
    while v_level >= v_worst loop
      if v_level <= v_floor and (k = 0 or k > v_read) then
        return (
          true, null, null, null, null, null, null, null, null, null, null, null, null, null, null
        )::trading.match_result;
      end if;
      if k = 0 then
        v_level := v_level - 1;
        exit walk when v_level < v_worst;
        k := v_first[v_opposite + v_level];
        continue walk;
      end if;
      if v_left[k] < 0 then
        -- Found dead by a request before, which was not to be finished in this call.
        k := v_next[k];
        continue walk;
      end if;

      v_maker := v_resting[k];
      v_price := 100 - v_level;
      v_reason := null;
      m := v_place[k];
      if v_maker.expires_at <= context.at then
        n := 0;
        v_reason := 'expired'::trading.cancel_reason;
      else
        n := least(v_wanted - v_bought, v_left[k]);
        if v_request.budget_cents is not null then
          -- The most shares n with spent + n x price + fee(weight + n x price x level) in budget.
          n := least(n, (
            ((v_request.budget_cents - v_spent) * 1000000 - money.taker_rate_bps * v_weight)
            / (v_price * 1000000::bigint + money.taker_rate_bps * v_price * v_level)
          ));
          if n = 0 then
            v_sated := true;
            exit walk;
          end if;
        end if;
        if v_maker.user_id = v_request.user_id then
          v_own := true;
          exit walk;
        end if;

        if traders.excluded[m] then
          v_reason := 'self_excluded'::trading.cancel_reason;
        elsif v_maker.order_type = 'sell' then
          if v_held[m][case v_maker.side when 'yes' then 1 else 2 end] < n then
            v_reason := 'position_insufficient'::trading.cancel_reason;
          end if;
        elsif v_balance[m] < n * v_level then
          v_reason := 'insufficient_funds'::trading.cancel_reason;
        elsif traders.limited[m] and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], v_balance[m], n * v_level
        ) then
          v_reason := 'loss_limit'::trading.cancel_reason;
        end if;
        if v_reason is not null then
          n := 0;
        end if;
      end if;

      if v_reason is not null then
        if v_dead_count + v_met_dead_count = c_most_dead then
          v_is_unfinished := true;
          exit walk;
        end if;
        v_met_dead_count := v_met_dead_count + 1;
      end if;
      v_met_count := v_met_count + 1;
      v_met[v_met_count] := k;
      v_met_trader[v_met_count] := m;
      v_met_reason[v_met_count] := v_reason;
      v_met_quantity[v_met_count] := n;
      if v_reason is null then
        if v_maker.order_type = 'buy' then
          v_balance[m] := v_balance[m] - n * v_level;
        else
          v_balance[m] := v_balance[m] + n * v_price;
          h := case v_maker.side when 'yes' then 1 else 2 end;
          v_held[m][h] := v_held[m][h] - n;
        end if;
        v_bought := v_bought + n;
        v_spent := v_spent + n * v_price;
        v_weight := v_weight + n * v_price * v_level;
        exit walk when v_bought = v_wanted;
        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_is_decided := v_request.post_only
          or (v_is_buy and v_spent > v_balance[t])
          or (not v_is_buy and v_held[t][v_held_side] < v_wanted);
        exit walk when v_is_decided and not v_may_meet_own;
        if v_is_decided or (
          v_is_buy and traders.limited[t] and risk.exceeds_limits(
            limits.limits[t], limits.untraded[t], v_balance[t], v_open_cost[t] + v_spent
          )
        ) then
          v_beyond := v_beyond + 1;
          if v_beyond = c_most_beyond then
            v_own := v_may_meet_own and v_wanted > coalesce(slice.shares_before_own[i], 0);
            v_is_cut := true;
            exit walk;
          end if;
        end if;
        if n < v_left[k] then
          v_sated := true; -- the budget ends within this order
          exit walk;
        end if;
      end if;
      k := v_next[k];
    end loop walk;

    for p in 1 .. v_met_count loop
      n := v_met_quantity[p];
      if n > 0 then
        v_maker := v_resting[v_met[p]];
        m := v_met_trader[p];
        if v_maker.order_type = 'buy' then
          v_balance[m] := v_balance[m] + n * v_maker.book_price;
        else
          v_balance[m] := v_balance[m] - n * (100 - v_maker.book_price);
          h := case v_maker.side when 'yes' then 1 else 2 end;
          v_held[m][h] := v_held[m][h] + n;
        end if;
      end if;
    end loop;

    -- 3. Verdict.
    if v_is_cut then
      v_required := v_spent;
    elsif v_is_buy then
      v_required :=
        case when v_bought = 0 then 0
          else v_spent + trading.fee_cents(money.taker_rate_bps, v_weight) end
        + case when v_request.time_in_force = 'ioc' then 0
          else (v_wanted - v_bought) * v_request.price end;
    end if;
    v_code := case
      when v_is_unfinished then 'CONFLICT_RETRY'
      when v_own then 'SELF_TRADE_BLOCKED'
      when v_request.post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when v_request.time_in_force = 'ioc' and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
      else trading.funding_rejection(
        v_request, v_required, v_required, v_balance[t],
        v_held[t][case v_request.side when 'yes' then 1 else 2 end],
        limits.limits[t], limits.untraded[t], v_open_cost[t]
      )
    end;
    if v_code is not null
      and (v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') or v_met_dead_count = 0)
    then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;

    -- 4. Carry the plan out. What was met is a prefix of the other side: unlink it.
    v_changes := v_changes + 1;
    v_fee_so_far := 0;
    if v_code is null then
      v_order_id := v_request.order_id;
      v_order_public_id := v_request.order_public_id;
      if v_order_id is null then
        v_order_id := nextval('trading.orders_id_seq');
        v_order_public_id := core.uuid_v7();
      end if;
    end if;
    if v_met_count > 0 then
      v_weight := 0;
    end if;

    for p in 1 .. v_met_count loop
      v_maker := v_resting[v_met[p]];
      m := v_met_trader[p];
      n := v_met_quantity[p];
      continue when v_is_unfinished and n > 0;

      if n = 0 then
        v_dead_count := v_dead_count + 1;
        v_dead[v_dead_count] := (
          i, v_met[p], traders.user_public_ids[m], v_met_reason[p],
          v_maker.quantity - v_left[v_met[p]], v_maker
        )::trading.cancelled_maker;
        if traders.limited[m] and v_maker.order_type = 'buy' and v_met_reason[p] <> 'expired' then
          v_open_cost[m] := v_open_cost[m] - v_left[v_met[p]] * v_maker.price;
        end if;
        v_left[v_met[p]] := -1;
        continue;
      end if;

      v_price := 100 - v_maker.book_price;
      v_yes_price := case v_maker.book_side when 'yes' then v_maker.book_price else v_price end;
      v_weight := v_weight + n * v_price * v_maker.book_price;
      v_fee := trading.fee_cents(money.taker_rate_bps, v_weight) - v_fee_so_far;
      v_fee_so_far := v_fee_so_far + v_fee;
      v_journal_id := nextval('ledger.journals_id_seq');
      v_escrow_amount := 0;

      -- The taker's shares and cash.
      if v_is_buy then
        h := case v_request.side when 'yes' then 1 else 2 end;
        v_held[t][h] := v_held[t][h] + n;
        v_cost[t][h] := v_cost[t][h] + n * v_price;
        v_fees[t][h] := v_fees[t][h] + v_fee;
        v_amount := -(n * v_price) - v_fee;
        v_taker_realised := null;
        v_escrow_amount := n * v_price;
      else
        h := case v_request.side when 'yes' then 1 else 2 end;
        v_cost_out := core.half_up(v_cost[t][h] * n, v_held[t][h]);
        v_fees_out := core.half_up(v_fees[t][h] * n, v_held[t][h]);
        v_held[t][h] := v_held[t][h] - n;
        v_cost[t][h] := v_cost[t][h] - v_cost_out;
        v_fees[t][h] := v_fees[t][h] - v_fees_out;
        v_amount := n * v_maker.book_price - v_fee;
        v_taker_realised := v_amount - v_cost_out - v_fees_out;
        v_realised[t][h] := v_realised[t][h] + v_taker_realised;
        v_escrow_amount := -(n * v_maker.book_price);
      end if;
      v_touched[2 * t - 2 + h] := true;
      if v_amount <> 0 then
        v_versions[t] := v_versions[t] + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, traders.account_ids[t], v_amount,
          v_balance[t], v_balance[t] + v_amount, v_versions[t]
        )::ledger.entry;
        v_balance[t] := v_balance[t] + v_amount;
      end if;

      -- The maker's.
      h := case v_maker.side when 'yes' then 1 else 2 end;
      if v_maker.order_type = 'buy' then
        v_held[m][h] := v_held[m][h] + n;
        v_cost[m][h] := v_cost[m][h] + n * v_maker.book_price;
        v_amount := -(n * v_maker.book_price);
        v_maker_realised := null;
        if traders.limited[m] then
          v_open_cost[m] := v_open_cost[m] + v_amount;
        end if;
      else
        v_cost_out := core.half_up(v_cost[m][h] * n, v_held[m][h]);
        v_fees_out := core.half_up(v_fees[m][h] * n, v_held[m][h]);
        v_held[m][h] := v_held[m][h] - n;
        v_cost[m][h] := v_cost[m][h] - v_cost_out;
        v_fees[m][h] := v_fees[m][h] - v_fees_out;
        v_amount := n * v_price;
        v_maker_realised := v_amount - v_cost_out - v_fees_out;
        v_realised[m][h] := v_realised[m][h] + v_maker_realised;
      end if;
      v_touched[2 * m - 2 + h] := true;
      v_versions[m] := v_versions[m] + 1;
      v_entry_count := v_entry_count + 1;
      v_entries[v_entry_count] := (
        v_journal_id, traders.account_ids[m], v_amount,
        v_balance[m], v_balance[m] + v_amount, v_versions[m]
      )::ledger.entry;
      v_balance[m] := v_balance[m] + v_amount;

      -- The market's: pairs minted into escrow or burnt out of it, and the fee.
      v_escrow_amount := v_escrow_amount - v_amount;
      if v_escrow_amount <> 0 then
        v_escrow_version := v_escrow_version + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, money.escrow_account_id, v_escrow_amount,
          v_escrow, v_escrow + v_escrow_amount, v_escrow_version
        )::ledger.entry;
        v_escrow := v_escrow + v_escrow_amount;
      end if;
      if v_fee > 0 then
        v_revenue_version := v_revenue_version + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, money.revenue_account_id, v_fee,
          v_revenue, v_revenue + v_fee, v_revenue_version
        )::ledger.entry;
        v_revenue := v_revenue + v_fee;
      end if;

      v_left[v_met[p]] := v_left[v_met[p]] - n;
      v_last_trade_price := v_yes_price;
      v_yes_volume := v_yes_volume + n * v_yes_price;
      v_no_volume := v_no_volume + n * (100 - v_yes_price);
      if not v_has_traded[t] then
        v_has_traded[t] := true;
        v_new_traders := v_new_traders + 1;
      end if;
      if not v_has_traded[m] then
        v_has_traded[m] := true;
        v_new_traders := v_new_traders + 1;
      end if;
      v_fill_count := v_fill_count + 1;
      v_fills[v_fill_count] := (
        i, nextval('trading.trades_id_seq'), core.uuid_v7(), v_journal_id,
        v_order_id, v_order_public_id, v_request.user_id,
        traders.user_public_ids[t], v_request.book_side,
        v_maker.order_id, v_maker.order_public_id, v_maker.user_id,
        traders.user_public_ids[m], v_yes_price, n, v_fee, v_taker_realised, v_maker_realised
      )::trading.fill;
    end loop;

    if v_is_unfinished then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;
    if v_met_count > 0 then
      for p in v_level + 1 .. case v_opposite when 100 then v_best_no else v_best_yes end loop
        v_first[v_opposite + p] := 0;
      end loop;
      if v_level >= v_worst then
        v_first[v_opposite + v_level] := case when v_left[k] > 0 then k else v_next[k] end;
      end if;
      if v_opposite = 100 then
        v_best_no := v_level;
      else
        v_best_yes := v_level;
      end if;
      if v_code is not null then
        v_outcome := null;
        v_outcome.request := v_request;
        v_outcome.code := v_code;
        v_outcomes[i] := v_outcome;
        continue next_request;
      end if;
    end if;

    -- 5. The order as it now stands; what is left of it joins the book or is cancelled.
    v_reason := null;
    if v_request.budget_cents is null then
      v_status := trading.filled_status(v_wanted - v_bought, v_wanted);
    elsif v_sated or v_bought = c_most_shares or (
      (v_request.budget_cents - v_spent) * 1000000 - money.taker_rate_bps * v_weight
      < 1000000 + money.taker_rate_bps * 99
    ) then
      v_wanted := v_bought;
      v_status := 'filled'::trading.order_status;
    else
      v_wanted := v_bought;
      v_status := 'open'::trading.order_status;
    end if;
    if v_status <> 'filled' and v_request.time_in_force = 'ioc' then
      v_status := 'cancelled'::trading.order_status;
      v_reason := 'insufficient_liquidity'::trading.cancel_reason;
    end if;
    v_outcomes[i] := (
      v_request, traders.user_public_ids[t], null, null, v_order_id, v_order_public_id, null,
      v_status, v_wanted, v_bought, v_reason, v_fee_so_far, v_balance[t],
      v_status, v_bought, v_reason
    )::trading.order_result;

    if v_status in ('open', 'partially_filled') then
      k := coalesce(cardinality(v_left), 0) + 1;
      v_resting[k] := (
        v_order_id, v_order_public_id, v_request.user_id, v_request.side,
        v_request.order_type, v_request.price, v_request.quantity, v_bought,
        coalesce(v_request.created_at, context.at),
        v_request.expires_at, v_request.book_side, v_request.book_price,
        case when v_request.order_id is null then v_order_id
          else nextval('trading.orders_id_seq') end
      )::trading.resting_order;
      v_left[k] := v_wanted - v_bought;
      v_order_ids[k] := v_order_id;
      v_place[k] := t;
      v_rests_here[t] := true;
      v_new_orders[k - v_read] := i;
      v_next[k] := 0;
      if v_request.book_side = 'yes' then
        v_chain := v_request.book_price;
        v_best_yes := greatest(v_best_yes, v_request.book_price);
      else
        v_chain := 100 + v_request.book_price;
        v_best_no := greatest(v_best_no, v_request.book_price);
      end if;
      if v_first[v_chain] = 0 then
        v_first[v_chain] := k;
      else
        v_next[v_last[v_chain]] := k;
      end if;
      v_last[v_chain] := k;
      if v_is_buy and traders.limited[t] then
        v_open_cost[t] := v_open_cost[t] + v_left[k] * v_request.price;
      end if;
    end if;
  end loop next_request;

  -- Orders that came to rest may have been met by later requests of the batch.
  for p in 1 .. coalesce(cardinality(v_new_orders), 0) loop
    k := v_read + p;
    v_outcome := v_outcomes[v_new_orders[p]];
    v_maker := v_resting[k];
    if v_left[k] < 0 then
      select 'cancelled'::trading.order_status, d.filled_quantity, d.reason
      into v_outcome.end_status, v_outcome.end_filled_quantity, v_outcome.end_cancel_reason
      from unnest(v_dead) as d
      where d.resting = k;
    else
      v_outcome.end_filled_quantity := v_maker.quantity - v_left[k];
      v_outcome.end_status := trading.filled_status(v_left[k], v_maker.quantity);
    end if;
    v_outcomes[v_new_orders[p]] := v_outcome;
  end loop;

  if v_fill_count > 0 then
    holdings := (v_has_traded, v_held, v_cost, v_fees, v_realised, v_touched);
  end if;
  return (
    false, v_outcomes, v_fills, v_dead, v_resting, v_left, v_read, v_entries,
    v_user_ids, holdings,
    v_last_trade_price, v_yes_volume, v_no_volume, v_new_traders, v_changes
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.market_context, trading.market_money, trading.order_request[], trading.book_slice,
  trading.trader_arrays, trading.holding_arrays, trading.limit_arrays
) is
  'Matches a batch in memory: what each request comes to, and all that has to be written for it. '
  'Requests are taken in order, each as if it had come alone. A request that is refused leaves no '
  'trace, but for the makers it found dead when it is refused for want of liquidity, or because '
  'it met more of them than one call cancels (CONFLICT_RETRY).';
