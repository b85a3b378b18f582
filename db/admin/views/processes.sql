create or replace view admin.processes as
select
  p.process_id,
  p.kind,
  p.host,
  p.system_number,
  p.version,
  p.first_seen_at,
  p.seen_at,
  floor(extract(epoch from analytics.now() - p.seen_at))::bigint as silent_seconds,
  p.seen_at < analytics.now() - interval '30 seconds' as is_silent
from core.processes as p;

comment on view admin.processes is
  'The servers and workers that run. Each notes itself every 10 seconds and is gone from here when '
  'it ends; one that was killed stays for an hour, silent.';
comment on column admin.processes.process_id is 'Chosen by the process when it starts.';
comment on column admin.processes.kind is 'server or worker; npm start is one of each.';
comment on column admin.processes.host is 'The name of its machine.';
comment on column admin.processes.system_number is 'Its number in the operating system.';
comment on column admin.processes.version is 'The version of pgmarkets that it runs.';
comment on column admin.processes.first_seen_at is
  'When it was first heard: when it started, or when the database came back from a crash.';
comment on column admin.processes.seen_at is 'When it was last heard.';
comment on column admin.processes.silent_seconds is 'How long ago that was.';
comment on column admin.processes.is_silent is
  'Whether it was not heard for 30 seconds: it was killed, hangs, or does not reach the database.';
