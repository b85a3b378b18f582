create unlogged table trading.announcer (
  singleton boolean primary key default true,
  sent_through_id bigint not null,
  noted_id bigint not null,
  noted_xid xid8 not null,
  constraint announcer_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table trading.announcer is
  'At most one row: how far api.announce() has come, so that it need not look over what it has '
  'sent, which the index of trading.announcements has until the next vacuum. Unlogged like those.';
comment on column trading.announcer.sent_through_id is
  'All announcements up to this id are sent, and none of them can appear any more.';
comment on column trading.announcer.noted_id is
  'The last id that was given out when noted_xid began: once all transactions before noted_xid '
  'have ended, the announcements up to this id can be seen.';
