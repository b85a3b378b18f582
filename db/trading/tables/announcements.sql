create unlogged table trading.announcements (
  id bigint generated always as identity primary key,
  channel text not null,
  payload json not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.announcements is
  'What is to be told to listeners, written by the transaction it is about and sent as '
  'notifications by api.announce() right after. A transaction that notifies holds a lock of the '
  'whole cluster through the flush of its commit; one that writes here does not. Unlogged: after '
  'a crash every stream starts anew from a snapshot.';
comment on column trading.announcements.channel is
  'market_changed ({marketId, version}), user_event ({userId, event}), api_key_revoked '
  '({apiKeyId}) or session_ended ({sessionId}).';
