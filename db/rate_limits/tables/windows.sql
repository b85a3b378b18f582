create unlogged table rate_limits.windows (
  bucket text collate "C",
  subject text collate "C",
  taken bigint not null default 0,
  kept_from timestamptz not null default '-infinity',
  removable_at timestamptz not null,
  primary key (bucket, subject)
)
with (fillfactor = 70);

create index windows_by_removal on rate_limits.windows (removable_at);

comment on table rate_limits.windows is
  'The counters of rolling windows, one for each bucket and each address or user that it counts. '
  'The requests that were allowed are in rate_limits.grants. Unlogged: after a crash counting '
  'starts at zero.';
comment on column rate_limits.windows.taken is
  'Requests allowed since the row was made; it numbers them.';
comment on column rate_limits.windows.kept_from is
  'Before this time there are no grants of this counter.';
comment on column rate_limits.windows.removable_at is
  'Not before every grant has left the window. Changed only once in a window, so that counting '
  'does not touch the indexes.';
