create or replace function api.get_worker_metrics()
returns table (at_ms double precision, heartbeat_age_seconds double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select 1000 * extract(epoch from n.at), extract(epoch from n.at - h.beat_at)
  from core.worker_heartbeat as h, core.now() as n (at)
$$;

comment on function api.get_worker_metrics() is
  'One row of figures for monitoring: the time of the database, in milliseconds since 1970, and '
  'how long ago a worker last said that it works (null: never).';
