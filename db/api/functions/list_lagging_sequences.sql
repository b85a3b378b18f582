create or replace function api.list_lagging_sequences()
returns table (sequence_name text, last_id bigint, highest_id bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.sequence_name, s.last_id, s.highest_id
  from core.lagging_sequences() as s
$$;

comment on function api.list_lagging_sequences() is
  'The sequences that would give out an id again, see core.lagging_sequences(). With one of them, '
  'no server is ready. Locks: none.';
