create or replace function analytics.now()
returns timestamptz
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.now()
$$;

comment on function analytics.now() is 'The time by the clock of the exchange.';
