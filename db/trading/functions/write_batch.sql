create or replace function trading.write_batch(batch trading.matched_batch)
returns trading.written_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_written trading.written_batch;
  v_accounted trading.accounted_batch;
begin
  select
    array_agg(x.order_id),
    array_agg(case when x.order_id is not null then coalesce(x.public_id, core.uuid_v7()) end)
  into v_written.order_ids, v_written.order_public_ids
  from (
    select
      case when o.status is not null and o.replay_of is null and o.replayed_order_id is null
        then coalesce(r.order_id, nextval('trading.orders_id_seq')) end as order_id,
      r.order_public_id as public_id
    from unnest(batch.requests) with ordinality as r (
      market, market_id, user_id, side, order_type, price, quantity, budget_cents,
      time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
      is_market, relieved_cents, order_id, order_public_id, created_at, place
    )
    join unnest((batch.result).results) with ordinality as o (
      code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
      fee_cents, balance_cents, maker, place
    ) on o.place = r.place
    order by r.place
    offset 0
  ) as x;
  if (batch.result).fills is not null then
    v_accounted := trading.account_fills(batch, v_written.order_ids);
    v_written.trades := v_accounted.trades;
    perform trading.write_trades(batch, v_accounted);
  end if;
  if (batch.result).fills is not null or (batch.result).cancelled_makers is not null then
    v_written.cancelled_orders := trading.write_makers(batch);
  end if;
  perform trading.write_orders(batch, v_written);
  perform trading.write_market_state(batch, v_written, v_accounted);
  perform trading.write_outbox(batch, v_written);
  return v_written;
end
$$;

comment on function trading.write_batch(trading.matched_batch) is
  'Writes what a batch came to, each table as one set, and its events to the outbox; nothing, if '
  'nothing changed. Rows of orders that were there before, scheduled ones that it releases, are '
  'the caller''s. The caller holds the locks of trading.match_batch.';
