create table rate_limits.buckets (
  bucket text primary key,
  max_requests rate_limits.request_count not null,
  window_seconds rate_limits.window_seconds not null
);

comment on table rate_limits.buckets is
  'The limits of requests in rolling windows: per address or, where the name says user, per user. '
  'Operators change them by admin.set_rate_limit; every check reads them.';

insert into rate_limits.buckets (bucket, max_requests, window_seconds) values
  ('v1', 60, 60),
  ('v1-auth', 120, 60),
  ('v1-user', 120, 60),
  ('v1-cancel-all', 60, 60),
  ('unknown-key', 120, 60),
  ('graphql', 600, 60),
  ('sse:market', 120, 60),
  ('sse:user', 30, 60),
  ('sse:user-ip', 120, 60),
  ('sign-in', 30, 900),
  ('sign-in-account', 10, 900),
  ('sign-in-strangers', 100, 900),
  ('sign-up', 10, 3600),
  ('mail', 60, 3600),
  ('mail-account', 5, 3600);
