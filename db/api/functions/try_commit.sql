create or replace function api.try_commit()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  -- A row lock is written to the WAL, and this one is in nobody's way.
  select from core.worker_heartbeat for key share
$$;

comment on function api.try_commit() is
  'Commits something that changes nothing, and so waits for the synchronous standbys as a command '
  'does. Every server calls it every 5 seconds, for /readyz. Locks: shares the key of the row of '
  'core.worker_heartbeat.';
