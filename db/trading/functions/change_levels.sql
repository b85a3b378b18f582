create or replace function trading.change_levels(
  market_id bigint, quantity_change bigint[], order_change int[]
)
returns void
language sql
set search_path = ''
as $$
  insert into trading.book_levels as l (market_id, book_side, book_price, quantity, order_count)
  select
    change_levels.market_id,
    case when c.chain > 100 then 'no' else 'yes' end::trading.side,
    case when c.chain > 100 then c.chain - 100 else c.chain end,
    c.quantity,
    c.orders
  from unnest(change_levels.quantity_change, change_levels.order_change)
    with ordinality as c (quantity, orders, chain)
  where c.quantity <> 0 or c.orders <> 0
  on conflict (market_id, book_side, book_price) do update set
    quantity = l.quantity + excluded.quantity,
    order_count = l.order_count + excluded.order_count
$$;

comment on function trading.change_levels(bigint, bigint[], int[]) is
  'Adds to the depth of a market: shares and orders, indexed by price for YES and by 100 + price '
  'for NO.';
