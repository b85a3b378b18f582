create or replace function api.list_trades(market_id uuid, page int, page_size int)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
begin
  return query
    select
      b.version,
      core.page_object(t.trades, b.trade_count, list_trades.page, list_trades.page_size)
    from catalog.markets as m
    join trading.market_state as b on b.market_id = m.id
    cross join lateral (
      select json_agg(
        json_build_object(
          'id', p.public_id,
          'price', p.price,
          'quantity', p.quantity,
          'createdAt', core.iso8601(p.created_at)
        )
        order by p.id desc
      ) as trades
      from (
        select x.id, x.public_id, x.price, x.quantity, x.created_at
        from (
          -- Of the pages before this one only the index is read, and of those after the end none.
          -- The market is given as a range: an equality would let the planner walk the primary key,
          -- past the trades of all others.
          select t.id
          from trading.trades as t
          where (t.market_id, t.id) <= (m.id, 9223372036854775807)
            and t.market_id >= m.id
          order by t.market_id desc, t.id desc
          limit case
            when (list_trades.page - 1)::bigint * list_trades.page_size < b.trade_count
            then list_trades.page_size
            else 0
          end
          offset (list_trades.page - 1)::bigint * list_trades.page_size
        ) as i
        cross join lateral (
          select t.* from trading.trades as t where t.id = i.id limit 1
        ) as x
      ) as p
    ) as t
    where m.public_id = list_trades.market_id;
end
$$;

comment on function api.list_trades(uuid, int, int) is
  'The body of GET /markets/:id/trades, newest first, and the version of the market; no row for '
  'an unknown market. page counts from 1; a page costs an entry of an index for each trade that is '
  'newer.';
