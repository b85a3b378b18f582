create or replace function trading.order_detail_object(
  "order" trading.orders, shares_ahead bigint, at timestamptz
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select (
    -- The members of the list's form, and more of them.
    rtrim(l.listed::text, '} ') || ','
    || ltrim(
      json_build_object(
        'averagePrice', (
          select round(
            sum((x.fill ->> 'price')::bigint * (x.fill ->> 'quantity')::bigint)
              / nullif(sum((x.fill ->> 'quantity')::bigint), 0)::numeric,
            4
          )
          from json_array_elements(f.fills) as x (fill)
        ),
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
        'fills', f.fills
      )::text,
      '{ '
    )
  )::json
  from (
    select trading.listed_order_object(
      "order", order_detail_object.shares_ahead, order_detail_object.at
    ) as listed
  ) as l
  cross join (select trading.own_fills_of_order("order") as fills) as f
$$;

comment on function trading.order_detail_object(trading.orders, bigint, timestamptz) is
  'An order as lists show it, and its average price (of the own side), its fee, the orders that it '
  'replaces and that replaced it, and its fills.';
