create or replace function trading.orders_within(
  requests trading.order_request[], makers trading.resting_order[], most_makers int
)
returns int
language sql immutable
set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when cardinality(orders_within.requests) > 1
      then greatest(1, least(count(*) filter (where w.shares <= h.shares), count(*) * 3 / 4))
    else 0
  end::int
  from (
    select
      sum(
        case when r.book_price + b.book_price >= 100 then coalesce(r.quantity, 10000) else 0 end
      ) over (order by r.ordinality rows unbounded preceding) as shares
    from unnest(orders_within.requests) with ordinality as r
    left join (
      select k.market, k.book_side, max(k.book_price) as book_price
      from unnest(orders_within.makers) as k
      group by k.market, k.book_side
    ) as b on b.market = r.market and b.book_side <> r.book_side
  ) as w
  cross join (
    select sum(k.left_quantity) as shares
    from unnest(orders_within.makers[1 : orders_within.most_makers]) as k
  ) as h;
end;

comment on function trading.orders_within(
  trading.order_request[], trading.resting_order[], int
) is
  'How many of the requests, from the first one on, may be tried next when all of them could meet '
  'more than so many makers: about as many as these have shares for, at most three quarters of '
  'them, and at least one. A single one leaves 0.';
