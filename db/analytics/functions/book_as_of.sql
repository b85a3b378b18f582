create or replace function analytics.book_as_of(market_id uuid, at timestamptz)
returns table (side text, yes_price_cents int, quantity bigint, order_count bigint)
language sql stable
begin atomic
  select b.book_side, b.yes_price_cents, sum(b.left_quantity)::bigint, count(*)
  from (
    select
      o.book_side,
      o.yes_price_cents,
      coalesce(r.quantity, o.quantity) - o.filled_quantity + coalesce(f.quantity, 0)
        as left_quantity
    from analytics.markets as m
    join analytics.orders as o on o.market_key = m.market_key
    left join (
      select x.order_key, max(x.quantity_before) as quantity
      from analytics.order_reductions as x
      where x.reduced_at > book_as_of.at
      group by x.order_key
    ) as r on r.order_key = o.order_key
    left join (
      select x.order_key, sum(x.quantity) as quantity
      from analytics.markets as n
      join analytics.fills as x on x.market_key = n.market_key
      where n.market_id = book_as_of.market_id
        and x.created_at > book_as_of.at
      group by x.order_key
    ) as f on f.order_key = o.order_key
    where m.market_id = book_as_of.market_id
      and o.created_at between m.created_at and book_as_of.at
      and (o.release_at is null or o.released_at <= book_as_of.at)
      and (o.cancelled_at is null or o.cancelled_at > book_as_of.at)
      and (o.expires_at is null or o.expires_at > book_as_of.at)
  ) as b
  where b.left_quantity > 0
  group by b.book_side, b.yes_price_cents;
end;

comment on function analytics.book_as_of(uuid, timestamptz) is
  'The book of a market as it was once everything of that moment had happened: bids and asks in '
  'YES prices. It goes back from the orders as they are now, by the trades and amendments since.';
