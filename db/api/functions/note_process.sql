create or replace function api.note_process(
  process_id uuid, host text, system_number int, version text, ends boolean
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.note_process(
    note_process.process_id, 'server', note_process.host, note_process.system_number,
    note_process.version, note_process.ends
  )
$$;

comment on function api.note_process(uuid, text, int, text, boolean) is
  'Notes that a server runs, every 10 seconds, or that it ends. Locks: its row of core.processes.';
