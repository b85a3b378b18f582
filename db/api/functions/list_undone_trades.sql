create or replace function api.list_undone_trades(user_id uuid, market_ids uuid[])
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  -- Voids of a market looked at, at most: operators make them one by one.
  c_window constant int := 1000;
  v_user_id constant bigint := (
    select u.id from identity.users as u where u.public_id = list_undone_trades.user_id
  );
begin
  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          json_build_object(
            'marketId', m.public_id,
            'tradeId', t.public_id,
            'undoneAt', core.iso8601(v.created_at)
          )
          order by v.id desc
        ),
        '[]'
      )
    )
    from catalog.markets as m
    cross join lateral (
      select x.id, x.trade_id, x.created_at
      from trading.voids as x
      where x.market_id = m.id
      order by x.id desc
      limit c_window
    ) as v
    left join lateral (
      select y.public_id, y.taker_user_id, y.maker_user_id
      from trading.trades as y
      where y.id between v.trade_id and v.trade_id -- as in trading.own_fills
      order by y.id
      limit 1
    ) as t on v_user_id in (t.taker_user_id, t.maker_user_id)
    where m.public_id = any (list_undone_trades.market_ids)
      and (v.trade_id is null or t.public_id is not null)
  );
end
$$;

comment on function api.list_undone_trades(uuid, uuid[]) is
  'What operators undid in these markets, the newest first: the user''s trades, and whole markets, '
  'where tradeId is null. Cost: the 1,000 newest voids of each market, and their trades.';
