create or replace function api.get_order_book(market_id uuid)
returns table (version bigint, body json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_order_book.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
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
  from trading.market_state as b
  left join lateral trading.depth(b.market_id, v_at) as d on true
  where b.market_id = v_market_id
  group by b.version;
end
$$;

comment on function api.get_order_book(uuid) is
  'The body of GET /markets/:id/orderbook, in YES prices, and the version of the market; no row '
  'for an unknown market. Locks: those of trading.time_of_book().';
