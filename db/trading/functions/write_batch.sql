create or replace function trading.write_batch(batch trading.matched_batch)
returns trading.written_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_orders constant trading.placed_order[] := trading.placed_orders(batch);
  v_order_ids bigint[];
  v_public_ids uuid[];
  v_accounted trading.accounted_batch;
  v_written trading.written_batch;
begin
  v_written.orders := v_orders;
  if (batch.result).fills is not null or (batch.result).cancelled_makers is not null then
    select array_agg(o.id), array_agg(o.public_id) into v_order_ids, v_public_ids
    from unnest(v_orders) as o;
    v_written.cancelled_orders := trading.write_makers(batch, v_orders);
  end if;
  if (batch.result).fills is not null then
    v_accounted := trading.account_fills(batch, v_order_ids);
    v_written.trades := v_accounted.trades;
    v_written.maker_public_ids := trading.maker_public_ids(batch, v_public_ids);
    perform trading.write_trades(batch, v_accounted);
  end if;
  perform trading.write_orders(
    v_orders, batch.at, (batch.request_arrays).twins is not null
  );
  perform trading.write_market_state(batch, v_orders, v_accounted);
  perform trading.write_outbox(batch, v_written);
  return v_written;
end
$$;

comment on function trading.write_batch(trading.matched_batch) is
  'Writes the results of a batch, each table as one set, and its events to the outbox; nothing, if '
  'nothing changed. The rows of scheduled orders that it releases are written by the caller. The '
  'caller holds the locks of trading.match_batch.';
