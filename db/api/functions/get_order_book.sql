create or replace function api.get_order_book(market_id uuid)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    json_build_object(
      'bids', coalesce(
        json_agg(
          json_build_object('price', d.book_price, 'quantity', d.quantity)
          order by d.book_price desc
        ) filter (where d.book_side = 'yes'),
        '[]'
      ),
      'asks', coalesce(
        json_agg(
          json_build_object('price', 100 - d.book_price, 'quantity', d.quantity)
          order by d.book_price desc
        ) filter (where d.book_side = 'no'),
        '[]'
      )
    )
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join lateral trading.depth(m.id, v_at) as d on true
  where m.public_id = get_order_book.market_id
  group by b.version;
end
$$;

comment on function api.get_order_book(uuid) is
  'The body of GET /markets/:id/orderbook, in YES prices, and the version of the market; no row '
  'for an unknown market.';
