create table trading.sent_events (
  id bigint not null,
  position bigint not null,
  kind text not null,
  payload json not null,
  sent_at timestamptz not null,
  user_id bigint,
  trade_ids bigint[],
  traded_at timestamptz,
  user_ids bigint[],
  primary key (id, sent_at),
  constraint sent_events_of_trades_have_their_time check ((trade_ids is null) = (traded_at is null))
) partition by range (sent_at);

create index sent_events_by_position on trading.sent_events (position);
create index sent_events_of_a_user on trading.sent_events (user_id, position)
  where user_id is not null;
create index sent_events_of_many_users on trading.sent_events (position)
  where user_ids is not null;
create index sent_events_with_trades on trading.sent_events (position)
  where trade_ids is not null;
create index sent_events_of_a_trade on trading.sent_events (traded_at)
  where trade_ids is not null;

comment on table trading.sent_events is
  'The events of committed transactions, in the order in which servers deliver them. Written by '
  'api.relay_outbox() alone. Partitioned by day (UTC): jobs.make_event_partitions() makes '
  'partitions ahead, jobs.remove_sent_events() drops those whose events are all older than 25 '
  'hours. User streams continue from here after a reconnect, for 24 hours.';
comment on column trading.sent_events.id is
  'Rises by one with each event, so that a server sees whether one is missing. An event of several '
  'markets has an id for each, and this is the last. Once the database was restored or a standby '
  'was promoted, ids go on from a far higher number.';
comment on column trading.sent_events.position is
  'The place of the event among the frames of user streams: the id of its own frame. An event with '
  'n trades also has the n positions before it, one for each trade in the order of their ids.';
comment on column trading.sent_events.kind is
  'market_changed ({marketId, version}, or an array of these, of all markets that a transaction '
  'changed: api.follow_events returns each for itself); user_event ({userId, event}; maker_fill '
  'once for each order of a transaction); market_status ({marketId, status}; also for users with '
  'open orders or shares); market_settled ({marketId, outcome, resolutionId, balances}); '
  'api_key_revoked ({apiKeyId}; also of a key that was rotated without overlap); session_ended '
  '({sessionId}; also of one that expired, when it is removed); or tick: an hour passed without '
  'an event.';
comment on column trading.sent_events.user_id is 'Of a user_event: whose it is.';
comment on column trading.sent_events.trade_ids is
  'The trades of the transaction, ascending, on its market_changed event. The frames of fills are '
  'read from them.';
comment on column trading.sent_events.traded_at is
  'created_at of the trades: by it the event of a trade is found.';
comment on column trading.sent_events.user_ids is
  'The users of an event for many, market_status and market_settled, ascending; at most 1,000, '
  'after which the next event goes on. balances of market_settled has the same order.';
