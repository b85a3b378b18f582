create unlogged table rate_limits.grants (
  bucket text collate "C",
  subject text collate "C",
  at timestamptz,
  first_number bigint not null,
  last_number bigint not null,
  primary key (bucket, subject, at),
  constraint grants_number_at_least_one check (last_number >= first_number)
);

comment on table rate_limits.grants is
  'The requests that were allowed: the exact log of each rolling window. Requests of one moment '
  'are one row. Their numbers run on, so how many a window holds is the difference of two of them, '
  'and no request has to be counted. Unlogged, as rate_limits.windows is.';
