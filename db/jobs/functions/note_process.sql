create or replace function jobs.note_process(
  process_id uuid, host text, system_number int, version text, ends boolean
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.note_process(
    note_process.process_id, 'worker', note_process.host, note_process.system_number,
    note_process.version, note_process.ends
  )
$$;

comment on function jobs.note_process(uuid, text, int, text, boolean) is
  'Notes that a worker runs, every 10 seconds, or that it ends. Locks: its row of core.processes.';
