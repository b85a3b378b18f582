create or replace view admin.rate_limits as
select
  b.bucket,
  b.max_requests::int as max_requests,
  b.window_seconds::int as window_seconds
from rate_limits.buckets as b;

comment on view admin.rate_limits is
  'The limits of requests in rolling windows, as admin.set_rate_limit sets them. Those of trading '
  'requests are policies of users: admin.users.';
comment on column admin.rate_limits.bucket is
  'What is counted: per address or, where the name says user, per user.';
comment on column admin.rate_limits.max_requests is 'Requests that a window has room for.';
comment on column admin.rate_limits.window_seconds is 'Length of the window, in seconds.';
