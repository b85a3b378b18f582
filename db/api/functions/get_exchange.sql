create or replace function api.get_exchange(version text)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'status', case when s.trading_paused then 'paused' else 'trading' end,
    'reason', case when s.trading_paused then s.trading_pause_reason end,
    'time', core.iso8601(core.now()),
    'version', get_exchange.version
  )
  from core.settings as s
$$;

comment on function api.get_exchange(text) is
  'The body of GET /exchange: whether trading is paused, why, and the time of the database, to '
  'the millisecond. version is that of the server that asks.';
