create or replace function trading.exit_value(
  market_id bigint, user_id bigint, side trading.side, shares bigint, at timestamptz
)
returns table (quantity bigint, cents bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with bids as (
    select
      d.book_price as price,
      d.quantity - coalesce(o.quantity, 0) as quantity,
      sum(d.quantity - coalesce(o.quantity, 0))
        over (order by d.book_price desc) as up_to
    from trading.depth(exit_value.market_id, exit_value.at) as d
    left join (
      select a.book_price, sum(a.left_quantity) as quantity
      from trading.active_orders as a
      where a.user_id = exit_value.user_id
        and a.market_id = exit_value.market_id
        and a.book_side = exit_value.side
        and a.queue_position is not null
        and (a.expires_at is null or a.expires_at > exit_value.at)
      group by a.book_price
    ) as o on o.book_price = d.book_price
    where d.book_side = exit_value.side
  ),
  met as (
    select
      b.price,
      greatest(0, least(b.quantity, exit_value.shares - (b.up_to - b.quantity))) as quantity
    from bids as b
  )
  select
    s.quantity,
    s.cents - coalesce(trading.fee_cents(f.taker_rate_bps, s.weight), 0)
  from (
    select
      coalesce(sum(m.quantity), 0)::bigint as quantity,
      coalesce(sum(m.quantity * m.price), 0)::bigint as cents,
      coalesce(sum(m.quantity * m.price * (100 - m.price)), 0)::bigint as weight
    from met as m
  ) as s
  join catalog.markets as k on k.id = exit_value.market_id
  left join trading.fee_in_force(k.id, k.category_id, exit_value.at) as f on true
$$;

comment on function trading.exit_value(bigint, bigint, trading.side, bigint, timestamptz) is
  'What selling shares at once would pay at a time, after the fee, in cents, and how many of them '
  'the book would take: the depth of the market without the user''s own orders. It is what a '
  'market order would do, unless a maker fails when it is met.';
