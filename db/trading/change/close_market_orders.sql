create or replace function trading.close_market_orders(
  market_id bigint, order_ids bigint[], at timestamptz
)
returns void
language plpgsql
as $$
declare
  v_close_time constant timestamptz := (
    select m.close_time from catalog.markets as m where m.id = close_market_orders.market_id
  );
begin
  perform trading.end_orders(
    array(
      select b.order_id
      from trading.active_orders as b
      where b.order_id = any (close_market_orders.order_ids)
        and b.queue_position is not null
        and b.expires_at < coalesce(v_close_time, 'infinity')
    ),
    null,
    close_market_orders.at
  );
  perform trading.end_orders(
    close_market_orders.order_ids, 'market_closed', close_market_orders.at
  );
end
$$;

comment on function trading.close_market_orders(bigint, bigint[], timestamptz) is
  'Ends active orders of a market that closes, with events for their owners: resting ones that '
  'were past their expiry before it closed expire, the others are cancelled, for the reason of '
  'what has stopped them or market_closed. The caller holds the lock of the market.';
