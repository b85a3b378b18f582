create or replace function trading.clear_orders(
  market_id bigint, order_ids bigint[], at timestamptz
)
returns void
language plpgsql
as $$
declare
  v_close_time constant timestamptz := (
    select m.close_time from catalog.markets as m where m.id = clear_orders.market_id
  );
begin
  perform trading.cancel_active_orders(
    array(
      select b.order_id
      from unnest(clear_orders.order_ids) as u (order_id)
      cross join lateral (
        select x.order_id, x.expires_at
        from trading.active_orders as x
        where x.order_id = u.order_id
          and x.queue_position is not null
        limit 1
      ) as b
      where b.expires_at <= clear_orders.at
        and b.expires_at < coalesce(v_close_time, 'infinity')
    ),
    'expired',
    clear_orders.at
  );
  perform trading.cancel_open_orders(
    clear_orders.order_ids, 'market_closed', clear_orders.at,
    expires => false,
    announced => true
  );
end
$$;

comment on function trading.clear_orders(bigint, bigint[], timestamptz) is
  'Ends open orders of a market that closes, with events for their owners: resting ones that were '
  'past their expiry before it closed expire, the others are cancelled, for the reason of what has '
  'stopped them or market_closed. The caller holds the lock of the market.';
