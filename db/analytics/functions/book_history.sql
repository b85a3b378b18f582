create or replace function analytics.book_history(
  market_id uuid, step interval, since timestamptz, until timestamptz
)
returns table (
  at timestamptz, side text, yes_price_cents int, quantity bigint, order_count bigint
)
language sql stable parallel safe
begin atomic
  with moments as (
    select s.at
    from generate_series(book_history.since, book_history.until, book_history.step) as s (at)
  ),
  -- Once, however many moments there are.
  resting as materialized (
    select
      o.order_key,
      o.book_side,
      o.yes_price_cents,
      o.quantity,
      o.filled_quantity,
      coalesce(o.released_at, o.created_at) as rested_at,
      least(o.cancelled_at, o.expires_at) as left_at
    from analytics.markets as m
    join analytics.orders as o on o.market_key = m.market_key
    where m.market_id = book_history.market_id
      and o.created_at between m.created_at and book_history.until
      and (o.release_at is null or o.released_at <= book_history.until)
  ),
  later_fills as (
    select n.at, f.order_key, sum(f.quantity) as quantity
    from analytics.markets as m
    join analytics.fills as f on f.market_key = m.market_key
    join moments as n on n.at < f.created_at
    where m.market_id = book_history.market_id
      and f.created_at > book_history.since
    group by n.at, f.order_key
  )
  select b.at, b.book_side, b.yes_price_cents, sum(b.left_quantity)::bigint, count(*)
  from (
    select
      n.at,
      o.book_side,
      o.yes_price_cents,
      coalesce(r.quantity, o.quantity) - o.filled_quantity + coalesce(f.quantity, 0)
        as left_quantity
    from moments as n
    join resting as o on o.rested_at <= n.at and (o.left_at is null or o.left_at > n.at)
    left join later_fills as f on f.at = n.at and f.order_key = o.order_key
    left join lateral (
      select max(x.quantity_before) as quantity
      from analytics.order_reductions as x
      where x.order_key = o.order_key
        and x.reduced_at > n.at
    ) as r on true
  ) as b
  where b.left_quantity > 0
  group by b.at, b.book_side, b.yes_price_cents;
end;

comment on function analytics.book_history(uuid, interval, timestamptz, timestamptz) is
  'The book of a market at a time, and at each step after it until another: bids and asks in YES '
  'prices, once everything of that moment had happened. It goes back from the orders as they are '
  'now, by the trades and amendments since, and reads the orders once for all moments. A moment '
  'with an empty book has no row.';
