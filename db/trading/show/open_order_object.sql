create or replace function trading.open_order_object("order" trading.orders)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case ("order").status
    when 'scheduled' then json_build_object(
      'id', ("order").public_id,
      'marketId', m.public_id,
      'marketTitle', m.title,
      'side', ("order").side,
      'price', ("order").price,
      'quantity', ("order").quantity,
      'filledQuantity', ("order").filled_quantity,
      'status', ("order").status,
      'orderType', ("order").order_type,
      'createdAt', core.iso8601(("order").created_at),
      'releaseAt', core.iso8601(("order").release_at),
      'budgetCents', ("order").budget_cents
    )
    else json_build_object(
      'id', ("order").public_id,
      'marketId', m.public_id,
      'marketTitle', m.title,
      'side', ("order").side,
      'price', ("order").price,
      'quantity', ("order").quantity,
      'filledQuantity', ("order").filled_quantity,
      'status', ("order").status,
      'orderType', ("order").order_type,
      'createdAt', core.iso8601(("order").created_at)
    )
  end
  from catalog.markets as m
  where m.id = ("order").market_id
$$;

comment on function trading.open_order_object(trading.orders) is
  'An open order as the portfolio shows it; a scheduled one also says when it is released.';
