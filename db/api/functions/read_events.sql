create or replace function api.read_events(after_id bigint default null, most int default 1000)
returns table (id bigint, kind text, payload json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return query
  select e.id, e.kind, e.payload
  from api.follow_events(read_events.after_id, read_events.most) as e;
end
$$;

comment on function api.read_events(bigint, int) is
  'For servers of version 0.2.0: api.follow_events without its later columns.';
