create or replace function trading.best_price(
  market_id bigint, book_side trading.side, at timestamptz
)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_sort = off
as $$
begin
  return (
    select x.book_price
    from (
      select
        s.market_id,
        case best_price.book_side when 'yes' then s.best_yes_price
          else s.best_no_price end as price,
        case best_price.book_side when 'yes' then s.first_yes_position
          else s.first_no_position end as first_position
      from trading.market_state as s
      where s.market_id = best_price.market_id
    ) as m
    cross join lateral (
      (
        select b.book_price::int as book_price
        from trading.active_orders as b
        where b.market_id = m.market_id
          and b.book_side = best_price.book_side
          and b.book_price = m.price
          and b.queue_position >= m.first_position
          and (b.expires_at is null or b.expires_at > best_price.at)
        order by b.queue_position
        limit 1
      )
      union all
      (
        select b.book_price::int
        from trading.active_orders as b
        where b.market_id = m.market_id
          and b.book_side = best_price.book_side
          and b.book_price < m.price
          and b.queue_position is not null
          and (b.expires_at is null or b.expires_at > best_price.at)
        order by b.book_price desc, b.queue_position
        limit 1
      )
      limit 1
    ) as x
    where m.price > 0
  );
end
$$;

comment on function trading.best_price(bigint, trading.side, timestamptz) is
  'Highest stored price of a side of a market''s book at a time, null when it is empty. Looks from '
  'where the book begins (trading.market_state.first_yes_position) for an order that has not '
  'expired.';
