create or replace function api.note_process(
  process_id uuid, host text, system_number int, version text, ends boolean
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  -- core.processes is unlogged, so changes of it wait for no standby. A lock of this row does.
  select from core.worker_heartbeat where not note_process.ends for key share;
  select core.note_process(
    note_process.process_id, 'server', note_process.host, note_process.system_number,
    note_process.version, note_process.ends
  )
$$;

comment on function api.note_process(uuid, text, int, text, boolean) is
  'Notes that a server runs, every 10 seconds, or that it ends. That it runs is committed as a '
  'command is: with synchronous standbys the call waits for one. Locks: shares the key of the row '
  'of core.worker_heartbeat; then its row of core.processes.';
