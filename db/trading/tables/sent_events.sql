create unlogged table trading.sent_events (
  id bigint primary key,
  kind text not null,
  payload json not null,
  sent_at timestamptz not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.sent_events is
  'The events of committed transactions, in the order in which servers deliver them. Written by '
  'api.relay_outbox() alone, read by api.read_events(), removed by jobs.remove_sent_events() after '
  'some minutes. Unlogged, as trading.outbox is.';
comment on column trading.sent_events.id is
  'Rises by one with each event. After a crash, which empties this table and trading.outbox_relay, '
  'it goes on from a far higher number, by which servers see that events are missing.';
comment on column trading.sent_events.kind is
  'market_changed ({marketId, version}), user_event ({userId, event}), api_key_revoked '
  '({apiKeyId}) or session_ended ({sessionId}).';
