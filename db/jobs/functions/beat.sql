create or replace function jobs.beat()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update core.worker_heartbeat set beat_at = core.now()
$$;

comment on function jobs.beat() is
  'Says that a worker works, for pgmarkets_worker_heartbeat_age_seconds. Locks: the row of '
  'core.worker_heartbeat.';
