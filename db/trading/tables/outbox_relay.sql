create table trading.outbox_relay (
  singleton boolean primary key default true,
  sent_through_id bigint not null,
  noted_id bigint not null,
  noted_xid xid8 not null,
  last_event_id bigint not null,
  last_position bigint not null default 0,
  last_sent_at timestamptz not null default '-infinity',
  removed_through_id bigint not null default 0,
  cluster text,
  constraint outbox_relay_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table trading.outbox_relay is
  'One row: how far api.relay_outbox() has come. With it, it skips the entries of sent events, '
  'which stay in the index of trading.outbox until the next vacuum.';
comment on column trading.outbox_relay.sent_through_id is
  'All events of trading.outbox up to this id are sent, and no other can appear there any more.';
comment on column trading.outbox_relay.noted_id is
  'The last id that was given out when noted_xid began: once all transactions before noted_xid '
  'have ended, all events up to this id are visible.';
comment on column trading.outbox_relay.last_event_id is
  'The id of the last event in trading.sent_events, also once that is removed. last_position and '
  'last_sent_at are of the same event.';
comment on column trading.outbox_relay.removed_through_id is
  'The id of the last event that jobs.remove_sent_events() removed.';
comment on column trading.outbox_relay.cluster is
  'The cluster and the timeline of the last event. Another one means that the database was '
  'restored or that a standby was promoted: ids then go on from a far higher number, so that an id '
  'that was given out before and is lost stays unknown.';

-- The first transaction of a cluster has number 3: all before it have ended.
insert into trading.outbox_relay (sent_through_id, noted_id, noted_xid, last_event_id)
values (0, 0, '3', 0);
