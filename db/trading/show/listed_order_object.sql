create or replace function trading.listed_order_object(
  "order" trading.orders, shares_ahead bigint, at timestamptz
)
returns json
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
begin
  return (
    select json_build_object(
      'id', ("order").public_id,
      'userId', u.public_id,
      'marketId', m.public_id,
      'marketTitle', m.title,
      'side', ("order").side,
      'price', ("order").price,
      'quantity', ("order").quantity,
      'filledQuantity', ("order").filled_quantity,
      'status', ("order").status,
      'orderType', ("order").order_type,
      'timeInForce', ("order").time_in_force,
      'cancelReason', ("order").cancel_reason,
      'expiresAt', core.iso8601(("order").expires_at),
      'releaseAt', core.iso8601(("order").release_at),
      'releaseInMs', case when ("order").status = 'scheduled'
        then trading.release_in_ms(("order").release_at, listed_order_object.at) end,
      'budgetCents', case when ("order").status = 'scheduled' then ("order").budget_cents end,
      'createdAt', core.iso8601(("order").created_at),
      'sharesAhead', coalesce(listed_order_object.shares_ahead, 0)
    )
    from identity.users as u, catalog.markets as m
    where u.id = ("order").user_id
      and m.id = ("order").market_id
  );
end
$$;

comment on function trading.listed_order_object(trading.orders, bigint, timestamptz) is
  'An order as lists show it. shares_ahead is that of trading.shares_ahead, null for an order that '
  'does not rest.';
