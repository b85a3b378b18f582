create or replace function rate_limits.count_stream(
  lease_id uuid, holder text, subject text, slots int
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into rate_limits.open_streams as s (holder, subject, lease_id, stream_count)
  values (
    count_stream.holder, count_stream.subject, count_stream.lease_id, count_stream.slots
  )
  on conflict on constraint open_streams_pkey do update set
    stream_count = s.stream_count + excluded.stream_count
$$;

comment on function rate_limits.count_stream(uuid, text, text, int) is
  'Counts so many more slots of an address or a user in one server process. Locks: the counter.';
