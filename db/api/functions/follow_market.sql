-- Without sequential scans every look-up goes by a key, also in plans made on empty tables.
create or replace function api.follow_market(
  market_id uuid, after_trade_id bigint default null, with_snapshot boolean default false
)
returns table (
  version bigint, status text, levels json, trades json, last_trade_id bigint, snapshot text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  c_most_trades constant int := 200;
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = follow_market.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query
  select
    b.version,
    m.status::text,
    (
      select format('[%s]', string_agg(
        format('["%s",%s,%s]', d.book_side, d.book_price, d.quantity), ','
      ))::json
      from trading.depth(m.id, v_at) as d
    ),
    case when n.count <= c_most_trades then n.trades end,
    coalesce(l.id, n.last_id, follow_market.after_trade_id, 0),
    s.body
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  cross join lateral (
    select
      count(*) as count,
      max(r.id) as last_id,
      format('[%s]', string_agg(
        format(
          '{"id":"%s","price":%s,"quantity":%s,"side":"%s","createdAt":"%s"}',
          r.public_id, r.price, r.quantity, r.taker_side, core.iso8601(r.created_at)
        ),
        ',' order by r.id
      ))::json as trades
    from (
      select t.*
      from trading.trades as t
      where t.market_id = m.id
        and t.id > follow_market.after_trade_id
      order by t.id
      limit c_most_trades + 1
    ) as r
  ) as n
  left join lateral (
    select t.id
    from trading.trades as t
    where t.market_id = m.id
      and (n.count > c_most_trades or follow_market.after_trade_id is null)
    order by t.id desc
    limit 1
  ) as l on true
  left join lateral trading.market_snapshot(m.id, v_at) as s on follow_market.with_snapshot
  where m.id = v_market_id;
end
$$;

comment on function api.follow_market(uuid, bigint, boolean) is
  'A market as it is now: its version and status, the levels of its book ([stored side, price, '
  'shares]), the trades after one, oldest first (null when there are more than 200), the id of the '
  'last trade and, if asked for, what api.get_market_snapshot() returns. All of one moment. No row '
  'for an unknown market. Locks: those of trading.time_of_book().';
