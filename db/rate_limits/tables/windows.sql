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
  'The counters of rolling windows, one for each bucket and whoever is counted in it: an address '
  'or a user''s id. What was let through is in rate_limits.grants. Unlogged: after a crash '
  'counting starts anew.';
comment on column rate_limits.windows.taken is
  'Requests let through since there is the row; they are numbered by it.';
comment on column rate_limits.windows.kept_from is 'There are no grants of this counter before.';
comment on column rate_limits.windows.removable_at is
  'Not before every grant has left the window. Set anew once in a window only, so that counting '
  'leaves the indexes alone.';
