create or replace function trading.verify_books()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  resting as (
    select b.*
    from trading.active_orders as b
    where b.queue_position is not null
  )
  select 'order is open while its status says so', 'order ' || coalesce(o.public_id::text, '?'),
    coalesce(o.status::text, 'an order'),
    case when b.order_id is null then 'not open'
      when b.queue_position is null then 'scheduled' else 'resting' end
  from trading.orders as o
  full join trading.active_orders as b on b.order_id = o.id
  where case
    when o.status = 'scheduled' then b.order_id is null or b.queue_position is not null
    when o.status in ('open', 'partially_filled') then b.queue_position is null
    else b.order_id is not null
  end

  union all
  select 'open order repeats its order', 'order ' || o.public_id,
    concat_ws(' ', o.market_id, o.user_id, o.public_id, o.side, o.order_type, o.price,
      o.quantity - o.filled_quantity, o.expires_at, o.release_at),
    concat_ws(' ', b.market_id, b.user_id, b.order_public_id, b.book_side, b.order_type,
      b.book_price, b.left_quantity, b.expires_at, b.release_at)
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where (b.market_id, b.user_id, b.order_public_id, b.order_type, b.left_quantity)
      <> (o.market_id, o.user_id, o.public_id, o.order_type, o.quantity - o.filled_quantity)
    or (b.book_side = o.side) <> (o.order_type = 'buy')
    or b.book_price <> case o.order_type when 'buy' then o.price else 100 - o.price end
    or b.expires_at is distinct from o.expires_at
    or b.release_at is distinct from case when b.queue_position is null then o.release_at end

  -- A released order queues up by a number that was drawn at its release.
  union all
  select 'place in the queue is that of placing or release', 'order ' || o.public_id,
    case when o.release_at is null then '' else '> ' end || o.id, b.queue_position::text
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where case
    when o.release_at is null then b.queue_position <> o.id
    else b.queue_position <= o.id
  end

  union all
  select 'order is open in a market that is open or paused', 'order ' || b.order_id,
    'open or paused', m.status::text
  from trading.active_orders as b
  join catalog.markets as m on m.id = b.market_id
  where m.status not in ('open', 'paused')

  union all
  select 'depth equals the resting orders',
    'market ' || coalesce(l.market_id, r.market_id) || ' '
      || coalesce(l.book_side, r.book_side) || ' ' || coalesce(l.book_price, r.book_price),
    coalesce(r.quantity, 0)::text, coalesce(l.quantity, 0)::text
  from (
    select x.*
    from trading.book_levels as x
    where x.quantity <> 0
  ) as l
  full join (
    select g.market_id, g.book_side, g.book_price::int as book_price,
      sum(g.left_quantity) as quantity
    from resting as g
    group by g.market_id, g.book_side, g.book_price
  ) as r
    on r.market_id = l.market_id
    and r.book_side = l.book_side
    and r.book_price = l.book_price
  where l.quantity is distinct from r.quantity

  union all
  select 'best price is that of the resting orders', 'market ' || b.market_id,
    concat_ws(' ', coalesce(r.yes_price, 0), coalesce(r.no_price, 0)),
    concat_ws(' ', b.best_yes_price, b.best_no_price)
  from trading.market_state as b
  left join (
    select g.market_id,
      max(g.book_price) filter (where g.book_side = 'yes') as yes_price,
      max(g.book_price) filter (where g.book_side = 'no') as no_price
    from resting as g
    group by g.market_id
  ) as r on r.market_id = b.market_id
  where (b.best_yes_price, b.best_no_price)
    <> (coalesce(r.yes_price, 0), coalesce(r.no_price, 0))

  union all
  select 'book is not crossed', 'market ' || r.market_id,
    'below 100',
    (max(r.book_price) filter (where r.book_side = 'yes')
      + max(r.book_price) filter (where r.book_side = 'no'))::text
  from resting as r
  group by r.market_id
  having max(r.book_price) filter (where r.book_side = 'yes')
    + max(r.book_price) filter (where r.book_side = 'no') >= 100

  union all
  select 'no order stands before the front of its book', 'order ' || r.order_id,
    concat_ws(' ', 'behind', f.price, f.queue_position),
    concat_ws(' ', r.book_side, r.book_price, r.queue_position)
  from resting as r
  join trading.market_state as b on b.market_id = r.market_id
  cross join lateral (
    values
      ('yes'::trading.side, b.best_yes_price, b.first_yes_position),
      ('no', b.best_no_price, b.first_no_position)
  ) as f (side, price, queue_position)
  where f.side = r.book_side
    and r.book_price = f.price
    and r.queue_position < f.queue_position
$$;

comment on function trading.verify_books() is
  'The part of ledger.verify() about open orders: which are open, where they stand, and the depth '
  'and best prices that are kept of them. One row for each broken invariant.';
