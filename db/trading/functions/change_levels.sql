create or replace function trading.change_levels(
  market_id bigint, changes trading.level_change[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_updated int;
begin
  update trading.book_levels as l set
    quantity = l.quantity + c.quantity,
    order_count = l.order_count + c.order_count
  from unnest(change_levels.changes) as c
  where l.market_id = change_levels.market_id
    and l.book_side = c.book_side
    and l.book_price = c.book_price;
  get diagnostics v_updated = row_count;

  if v_updated < cardinality(change_levels.changes) then
    insert into trading.book_levels (market_id, book_side, book_price, quantity, order_count)
    select change_levels.market_id, c.book_side, c.book_price, c.quantity, c.order_count
    from unnest(change_levels.changes) as c
    where not exists (
      select from trading.book_levels as l
      where l.market_id = change_levels.market_id
        and l.book_side = c.book_side
        and l.book_price = c.book_price
    );
  end if;
end
$$;

comment on function trading.change_levels(bigint, trading.level_change[]) is
  'Adds to the depth of a market, at most one change for each side and price. The caller holds '
  'the market''s lock.';
