create or replace function trading.verify_trades()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'fill belongs to an order', 'trade ' || t.public_id, 'two orders', 'not both'
  from trading.trades as t
  where not exists (select from trading.orders as o where o.id = t.taker_order_id)
    or not exists (select from trading.orders as o where o.id = t.maker_order_id)

  union all
  select 'trade repeats its orders', 'trade ' || f.trade_id || ' order ' || o.id,
    concat_ws(' ', o.market_id, o.user_id,
      case when (o.order_type = 'buy') = (o.side = 'yes') then 'yes' else 'no' end,
      case o.order_type when 'buy' then 'buys' else 'sells' end),
    concat_ws(' ', f.market_id, f.user_id, f.book_side,
      case when f.realised_cents is null then 'buys' else 'sells' end)
  from trading.fill_sides() as f
  join trading.orders as o on o.id = f.order_id
  where (o.market_id, o.user_id) <> (f.market_id, f.user_id)
    or (o.order_type = 'buy') <> (o.side = f.book_side)
    or (o.order_type = 'buy') <> (f.realised_cents is null)

  union all
  select 'trade is at the price of its maker', 'trade ' || t.id,
    o.price::text, (case o.side when 'yes' then t.price else 100 - t.price end)::text
  from trading.trades as t
  join trading.orders as o on o.id = t.maker_order_id
  where o.price <> case o.side when 'yes' then t.price else 100 - t.price end

  union all
  select 'fill is within the limit of its order', 'trade ' || t.id || ' order ' || o.id,
    case o.order_type when 'buy' then '<= ' else '>= ' end || o.price,
    (case o.side when 'yes' then t.price else 100 - t.price end)::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where case o.order_type when 'buy' then 1 else -1 end
    * (case o.side when 'yes' then t.price else 100 - t.price end - o.price) > 0

  union all
  select 'post-only order never takes', 'trade ' || t.id || ' order ' || o.id, 'a maker', 'a taker'
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where o.post_only

  union all
  select 'maker is an order that may rest', 'trade ' || t.id || ' order ' || o.id,
    'gtc', o.time_in_force::text
  from trading.trades as t
  join trading.orders as o on o.id = t.maker_order_id
  where o.time_in_force <> 'gtc'

  -- A taker that waited for its release may be older than its maker.
  union all
  select 'maker was placed before its taker', 'trade ' || t.id,
    '< ' || t.taker_order_id, t.maker_order_id::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where o.release_at is null
    and t.maker_order_id > t.taker_order_id

  union all
  select 'order takes when it is placed or released', 'trade ' || t.id || ' order ' || o.id,
    coalesce(o.released_at, o.created_at)::text, t.created_at::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where t.created_at <> coalesce(o.released_at, o.created_at)
$$;

comment on function trading.verify_trades() is
  'The part of ledger.verify() about single trades: each agrees with its two orders and was '
  'allowed by them. One row for each broken invariant.';
