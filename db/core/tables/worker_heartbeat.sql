create table core.worker_heartbeat (
  singleton boolean primary key default true,
  beat_at timestamptz,
  constraint worker_heartbeat_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table core.worker_heartbeat is
  'One row: when a worker last said that it works. Each worker does so every few seconds.';
comment on column core.worker_heartbeat.beat_at is 'Null: no worker has worked yet.';

insert into core.worker_heartbeat default values;
