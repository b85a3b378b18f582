create or replace function trading.write_orders(batch trading.batch)
returns void
language plpgsql
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  k_left constant int[] := batch.makers_left;
  k_end_reason constant trading.cancel_reason[] := (batch.makers).end_reason;
  m_id constant bigint[] := (batch.markets).id;
  v_is_release constant boolean := r.order_id is not null;
  v_released_at constant timestamptz := case when v_is_release then batch.at end;
  v_ended int[]; -- requests whose order has ended, and how
  v_left int[] := o.left_quantity;
  v_status trading.order_status[] := o.status;
  v_reason trading.cancel_reason[] := o.cancel_reason;
  v_active int[];
  l int;
begin
  -- How each order stands at the end of the call: later requests may have met it.
  for i in 1 .. cardinality(o.code) loop
    if o.order_id[i] is not null then
      if o.maker_place[i] is not null then
        l := k_left[o.maker_place[i]];
        v_left[i] := abs(l);
        v_status[i] := case when l < 0 then 'cancelled'
          else trading.filled_status(l, o.quantity[i]) end;
        v_reason[i] := k_end_reason[o.maker_place[i]];
      end if;
      if v_status[i] in ('filled', 'cancelled') then
        v_ended := v_ended || i;
      else
        v_active := v_active || i;
      end if;
    end if;
  end loop;

  if v_is_release then
    delete from trading.active_orders as b
    where b.order_id = any (o.order_id);
  end if;
  if v_active is not null then
    -- A released order joins the book behind all that are there.
    insert into trading.active_orders (
      market_id, user_id, order_id, queue_position, order_public_id, created_at, quantity,
      left_quantity, fee_cents, price, book_price, book_side, side, order_type, time_in_force,
      post_only, cancels_own, budget_cents, expires_at, release_at, released_at
    )
    select
      m_id[r.market_place[i]], r.user_id[i], o.order_id[i],
      case when v_is_release then nextval('trading.order_ids')
        when v_status[i] <> 'scheduled' then o.order_id[i] end,
      o.public_id[i], coalesce(r.created_at[i], batch.at), o.quantity[i], v_left[i],
      coalesce(o.fee_cents[i], 0), r.price[i], r.book_price[i],
      case when r.is_yes[i] then 'yes' else 'no' end::trading.side, r.side[i], r.order_type[i],
      r.time_in_force[i], r.post_only[i], r.cancels_own[i], r.budget_cents[i],
      r.expires_at[i], coalesce(o.release_at[i], r.release_at[i]), v_released_at
    from unnest(v_active) as i;
  end if;

  if v_ended is not null then
    insert into trading.ended_orders (
      market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
      price, side, order_type, time_in_force, status, post_only, cancel_reason, budget_cents,
      expires_at, release_at, released_at
    )
    select
      m_id[r.market_place[i]], r.user_id[i], o.order_id[i], o.public_id[i],
      coalesce(r.created_at[i], batch.at), batch.at, o.quantity[i], o.quantity[i] - v_left[i],
      coalesce(o.fee_cents[i], 0), r.price[i], r.side[i], r.order_type[i], r.time_in_force[i],
      v_status[i], r.post_only[i], v_reason[i], r.budget_cents[i], r.expires_at[i],
      r.release_at[i], v_released_at
    from unnest(v_ended) as i;
  end if;

  if batch.old_keys is not null then
    delete from trading.idempotency_keys as x
    using unnest(batch.old_keys) as i
    where x.user_id = r.user_id[i]
      and x.key = r.idempotency_key[i]
      and o.order_id[i] is not null;
  end if;
  if batch.twin is not null then
    insert into trading.idempotency_keys (
      user_id, key, order_id, created_at, request_fingerprint
    )
    select r.user_id[i], r.idempotency_key[i], o.order_id[i], batch.at, r.request_fingerprint[i]
    from generate_subscripts(o.order_id, 1) as i
    where o.order_id[i] is not null
      and r.idempotency_key[i] is not null;
  end if;
end
$$;

comment on function trading.write_orders(trading.batch) is
  'Writes the orders of a call: those that rest or are scheduled, those that have ended, and their '
  'idempotency keys. Scheduled orders that it releases leave their delay and are written anew.';
