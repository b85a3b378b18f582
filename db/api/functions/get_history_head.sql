create or replace function api.get_history_head()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select ledger.head()
$$;

comment on function api.get_history_head() is 'The body of GET /proofs/head: ledger.head().';
