create or replace function trading.order_detail_object(
  "order" trading.orders, shares_ahead bigint, at timestamptz
)
returns json
language plpgsql stable
as $$
begin
  return (
    select (
      -- The members of the list's form, and more of them.
      rtrim(l.listed::text, '} ') || ','
      || ltrim(
        json_build_object(
          'averagePrice', f.average_price,
          'feeCents', ("order").fee_cents,
          'replaces', (
            select o.public_id
            from trading.order_replacements as r
            cross join lateral trading.pick_orders(
              ("order").user_id, array[r.replaced_order_id]
            ) as o
            where r.order_id = ("order").id
          ),
          'replacedBy', (
            select o.public_id
            from trading.order_replacements as r
            cross join lateral trading.pick_orders(("order").user_id, array[r.order_id]) as o
            where r.replaced_order_id = ("order").id
          ),
          'fills', coalesce(f.fills, '[]')
        )::text,
        '{ '
      )
    )::json
    from (
      select trading.listed_order_object(
        "order", order_detail_object.shares_ahead, order_detail_object.at
      ) as listed
    ) as l
    cross join (
      select
        round(sum(x.price * x.quantity) / sum(x.quantity)::numeric, 4) as average_price,
        json_agg(x.fill order by x.trade_id) as fills
      from trading.own_fills(
        array(
          select t.id from trading.trades as t where t.taker_order_id = ("order").id
          union all
          select t.id from trading.trades as t where t.maker_order_id = ("order").id
        ),
        ("order").user_id
      ) as x
    ) as f
  );
end
$$;

comment on function trading.order_detail_object(trading.orders, bigint, timestamptz) is
  'An order as lists show it, and its average price (of the own side), its fee, the orders that it '
  'replaces and that replaced it, and its fills in the order in which they happened. Cost: a trade '
  'for each fill, at most one for each share.';
