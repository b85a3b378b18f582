create or replace function core.set_sequences()
returns table (sequence_name text, last_id bigint)
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  -- A released order has a place in its queue above its id, from the same sequence.
  select s.sequence_name, setval(
    s.sequence_name::regclass,
    s.highest_id + case s.sequence_name when 'trading.order_ids' then 1000000 else 0 end
  )
  from core.lagging_sequences() as s
$$;

comment on function core.set_sequences() is
  'Sets each sequence that stands below an id of its tables to the highest id, and returns these '
  'with their new values. For a copy by logical replication, by the owner, before a server starts '
  'on it. Other sequences stay.';
