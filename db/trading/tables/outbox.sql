create table trading.outbox (
  id bigint generated always as identity primary key,
  channel text not null,
  payload json not null,
  user_id bigint,
  trade_ids bigint[],
  traded_at timestamptz,
  user_ids bigint[]
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.outbox is
  'The outbox: events written by the transactions that they are about. api.relay_outbox() moves '
  'them to trading.sent_events right after the commit. A transaction that notifies holds a lock of '
  'the whole cluster through the flush of its commit; one that writes here does not.';
comment on column trading.outbox.channel is
  'The kind of the event, see trading.sent_events. Its other columns are described there too.';
comment on column trading.outbox.user_id is
  'Of a user_event: whose it is. Null, as 0.3.0 wrote it: the relay looks the user up.';
