create or replace function core.note_process(
  process_id uuid, kind text, host text, system_number int, version text, ends boolean
)
returns void
language plpgsql volatile
as $$
begin
  if note_process.ends then
    delete from core.processes as p where p.process_id = note_process.process_id;
    return;
  end if;
  insert into core.processes as p (process_id, kind, host, system_number, version, seen_at)
  values (
    note_process.process_id, note_process.kind, note_process.host, note_process.system_number,
    note_process.version, core.now()
  )
  on conflict on constraint processes_pkey do update set seen_at = excluded.seen_at;
end
$$;

comment on function core.note_process(uuid, text, text, int, text, boolean) is
  'Notes that a server or a worker runs, or that it ends. Locks: its row of core.processes.';
