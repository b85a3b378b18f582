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
  select 'order is in one table at a time', 'order ' || b.order_public_id,
    'open', 'open and ended'
  from trading.active_orders as b
  where exists (select from trading.ended_orders as e where e.id = b.order_id)
    or exists (select from trading.ended_orders as e where e.public_id = b.order_public_id)

  union all
  select 'ended order was filled or cancelled', 'order ' || e.public_id,
    'one of the two', e.status::text
  from trading.ended_orders as e
  where e.status not in ('filled', 'cancelled')

  union all
  select 'open order is stored as its trader gave it', 'order ' || b.order_public_id,
    concat_ws(' ', b.order_type, b.side, b.price),
    concat_ws(' ', b.book_side, b.book_price)
  from trading.active_orders as b
  where (b.book_side = b.side) <> (b.order_type = 'buy')
    or b.book_price <> case b.order_type when 'buy' then b.price else 100 - b.price end

  union all
  select 'open order rests or waits for its release', 'order ' || b.order_public_id,
    'one of the two', case when b.queue_position is null then 'waiting' else 'resting' end
  from trading.active_orders as b
  where case
    when b.queue_position is null
      then b.release_at is null or b.released_at is not null
        or b.left_quantity <> b.quantity or b.fee_cents <> 0
    else b.left_quantity <= 0
      or (b.release_at is null) <> (b.released_at is null) or b.budget_cents is not null
  end

  -- A released order queues up by a number that was drawn at its release.
  union all
  select 'place in the queue is that of placing or release', 'order ' || b.order_public_id,
    case when b.release_at is null then '' else '> ' end || b.order_id, b.queue_position::text
  from trading.active_orders as b
  where case
    when b.release_at is null then b.queue_position <> b.order_id
    else b.queue_position <= b.order_id
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
  select 'depth has a place for each price of both sides', 'market ' || b.market_id,
    '198', cardinality(b.depth)::text
  from trading.market_state as b
  where cardinality(b.depth) <> 198

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
