create or replace function core.set_sequences()
returns table (sequence_name text, last_id bigint)
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select s.sequence_name, setval(s.sequence_name::regclass, s.highest_id)
  from core.lagging_sequences() as s
$$;

comment on function core.set_sequences() is
  'Sets each sequence that stands below an id of its tables to the highest id, and returns these '
  'with their new values. For a copy by logical replication, by the owner, before a server starts '
  'on it. Other sequences stay.';
