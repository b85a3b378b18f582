create or replace function jobs.history_head()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select ledger.head()
$$;

comment on function jobs.history_head() is 'What the worker publishes: ledger.head().';
