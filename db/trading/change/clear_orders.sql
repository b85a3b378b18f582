create or replace function trading.clear_orders(
  order_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language plpgsql
as $$
begin
  perform trading.expire_orders(clear_orders.order_ids);
  return trading.cancel_open_orders(
    clear_orders.order_ids, clear_orders.reason, clear_orders.at,
    expires => false,
    announced => true
  );
end
$$;

comment on function trading.clear_orders(bigint[], trading.cancel_reason, timestamptz) is
  'Ends open orders, with events for their owners: those past their expiry expire, the others are '
  'cancelled for a reason, or for that of what has stopped them; returns how many were cancelled '
  'for the reason given. The caller holds the locks of the markets.';
