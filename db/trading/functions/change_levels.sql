create or replace function trading.change_levels(
  market_id bigint, changes trading.level_change[]
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- A level that is there already is left to the update: the row proposed for insertion has to
  -- pass the constraints too, and a change may be negative.
  with changed as (
    update trading.book_levels as l set
      quantity = l.quantity + c.quantity,
      order_count = l.order_count + c.order_count
    from unnest(change_levels.changes) as c
    where l.market_id = change_levels.market_id
      and l.book_side = c.book_side
      and l.book_price = c.book_price
    returning l.book_side, l.book_price
  )
  insert into trading.book_levels (market_id, book_side, book_price, quantity, order_count)
  select change_levels.market_id, c.book_side, c.book_price, c.quantity, c.order_count
  from unnest(change_levels.changes) as c
  where (c.book_side, c.book_price) not in (select d.book_side, d.book_price from changed as d);
end
$$;

comment on function trading.change_levels(bigint, trading.level_change[]) is
  'Adds to the depth of a market, at most one change for each side and price. The caller holds '
  'the market''s lock.';
