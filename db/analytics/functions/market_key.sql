create or replace function analytics.market_key(market_id uuid)
returns bigint
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_key bigint;
begin
  select m.market_key into v_market_key
  from analytics.markets as m
  where m.market_id = market_key.market_id;
  if not found then
    raise exception using
      errcode = 'EX017',
      message = format('There is no market %s', coalesce(market_key.market_id::text, 'null')),
      detail = 'NOT_FOUND',
      hint = 'analytics.markets has the ids of all markets.';
  end if;
  return v_market_key;
end
$$;

comment on function analytics.market_key(uuid) is
  'The internal key of the market with this public id. Errors: NOT_FOUND.';
