-- What a call reads, each by one statement: how far it reaches, the resting orders in reach, the
-- traders (locked, in ascending order), their shares, their limits, and the orders that keys stand
-- for. The last four need the locks of the traders.
create or replace function trading.read_batch(
  batch trading.batch, factor int, locks text, most_makers int
)
returns trading.batch
language plpgsql volatile
as $$
declare
  r constant trading.requests := batch.requests;
  m constant trading.markets_read := batch.markets;
  r_count constant int := cardinality(r.user_id);
  v_taker_ids bigint[] := '{}';
  v_user_ids bigint[];
  v_meets_makers boolean := false;
  v_is_large boolean := false;
  v_best int;
  g int;
begin
  for i in 1 .. r_count loop
    continue when r.code[i] is not null;
    if r.user_id[i] is not null then
      v_taker_ids := v_taker_ids || r.user_id[i];
    end if;
    g := r.market_place[i];
    v_best := case when r.is_yes[i] then m.best_no_price[g] else m.best_yes_price[g] end;
    if r.book_price[i] + v_best >= 100 and m.live_delay_ms[g] is null then
      v_meets_makers := true;
      v_is_large := v_is_large or trading.is_large(r.quantity[i]);
    end if;
  end loop;
  if batch.demand is null then -- the first look
    if v_is_large or 'fok' = any (r.time_in_force) then
      batch := trading.read_reach(batch);
    else
      batch.demand := r.quantity;
      batch.shares_before_own := array_fill(0::bigint, array[r_count]);
    end if;
  end if;

  if v_meets_makers then
    batch.makers := trading.read_makers(batch, read_batch.factor, read_batch.most_makers);
    if cardinality((batch.makers).order_id) > read_batch.most_makers then
      batch.is_too_deep := true;
      return batch;
    end if;
  end if;
  v_user_ids := v_taker_ids || (batch.makers).user_id;

  case read_batch.locks
    when 'wait' then perform trading.lock_traders(v_user_ids);
    when 'skip' then
      batch.locked_user_ids := nullif(trading.lock_free_traders(v_user_ids), '{}');
      if batch.locked_user_ids is not null then
        return batch;
      end if;
    when 'fail' then
      if trading.lock_free_traders(v_user_ids) <> '{}' then
        raise exception using errcode = 'lock_not_available';
      end if;
    else null;
  end case;
  batch.traders := trading.read_traders(v_user_ids, batch.at);
  -- A field, where a variable would be copied for each row: PL/pgSQL keeps its arrays taken apart.
  batch.trader_place := array(
    select width_bucket(u.id, (batch.traders).user_ids)
    from unnest(r.user_id) with ordinality as u (id, place)
    order by u.place
  );
  if (batch.makers).order_id is not null then
    batch.makers.trader_place := array(
      select width_bucket(u.id, (batch.traders).user_ids)
      from unnest((batch.makers).user_id) with ordinality as u (id, place)
      order by u.place
    );
    if (batch.traders).last_stopped_orders is not null then
      batch.makers.end_reason := array(
        select coalesce(k.end_reason[i], s.reason)
        from (select (batch.makers).*) as k
        cross join generate_subscripts(k.order_id, 1) as i
        left join lateral trading.stop_of(k.user_id[i], k.order_id[i], batch.at) as s
          on k.order_id[i] <= (batch.traders).last_stopped_orders[k.trader_place[i]]
        order by i
      );
    end if;
  end if;

  -- Orders of one market may meet each other. A release may name markets that have no order.
  if v_meets_makers or 'sell' = any (r.order_type) or r_count > cardinality(r.market_ids)
    or r.order_id is not null and r_count > 1
  then
    batch := trading.read_holdings(batch);
  end if;
  if true = any ((batch.traders).limited) then
    batch.limits := trading.read_limits(
      (batch.traders).user_ids, v_taker_ids, batch.at,
      replaced => case when r.relieved_cents is null then 0 else 1 end
    );
  end if;
  if array_remove(r.idempotency_key, null) <> '{}' then
    batch := trading.read_replays(batch);
  end if;
  return batch;
end
$$;

comment on function trading.read_batch(trading.batch, int, text, int) is
  'Reads all that a call can reach: of each book, factor times the demand of its requests '
  '(trading.read_reach). It locks the traders that it can touch. locks: what it does about one who '
  'is locked elsewhere. "wait"; "fail" with 55P03, where users are locked already and waiting '
  'could deadlock; "skip", then it stops with locked_user_ids; "none" locks nobody, for a preview. '
  'It stops with is_too_deep if the makers are more than most_makers. The caller holds the locks '
  'of the markets.';
