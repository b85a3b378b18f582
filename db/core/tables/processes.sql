create unlogged table core.processes (
  process_id uuid primary key,
  kind text not null,
  host text not null,
  system_number int not null,
  version text not null,
  first_seen_at timestamptz not null default core.now(),
  seen_at timestamptz not null,
  constraint processes_are_servers_or_workers check (kind in ('server', 'worker'))
) with (fillfactor = 50);

comment on table core.processes is
  'The servers and workers that run. Each notes itself every 10 seconds and removes its row when '
  'it ends; the row of one that was killed stays for an hour. Unlogged: after a crash of the '
  'database each process notes itself anew.';
comment on column core.processes.process_id is 'Chosen by the process when it starts.';
comment on column core.processes.host is 'The name of its machine.';
comment on column core.processes.system_number is 'Its number in the operating system.';
comment on column core.processes.version is 'The version of pgmarkets that it runs.';
