create or replace function api.get_chance(market_id uuid)
returns table (version bigint, body json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_chance.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query
  select
    s.version,
    json_build_object('chance', c.chance, 'chanceKind', c.kind)
  from catalog.markets as m
  join trading.market_state as s on s.market_id = m.id
  cross join lateral trading.chance_of(
    best_bid => trading.best_price(m.id, 'yes', v_at),
    best_ask => 100 - trading.best_price(m.id, 'no', v_at),
    last_price => case when m.status <> 'resolved' then s.last_trade_price end
  ) as c
  where m.id = v_market_id;
end
$$;

comment on function api.get_chance(uuid) is
  'The body of GET /markets/:id/chance, by trading.chance_of, and the version of the market; no '
  'row for an unknown market. A resolved market has none. Locks: those of trading.time_of_book().';
