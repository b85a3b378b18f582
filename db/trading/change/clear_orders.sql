create or replace function trading.clear_orders(
  market_id bigint, order_ids bigint[], at timestamptz
)
returns void
language plpgsql
as $$
begin
  perform trading.expire_orders(clear_orders.market_id, cardinality(clear_orders.order_ids));
  perform trading.cancel_open_orders(
    clear_orders.order_ids, 'market_closed', clear_orders.at,
    expires => false,
    announced => true
  );
end
$$;

comment on function trading.clear_orders(bigint, bigint[], timestamptz) is
  'Ends open orders of a market that closes, with events for their owners: as many as are given '
  'that are past their expiry expire, and the given ones are cancelled, for the reason of what has '
  'stopped them or market_closed. The caller holds the lock of the market.';
