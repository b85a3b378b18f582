create or replace view admin.stream_caps as
select
  c.holder,
  c.max_streams::int as max_streams
from rate_limits.stream_caps as c;

comment on view admin.stream_caps is
  'How many event streams may be open at once, as admin.set_stream_cap sets it.';
comment on column admin.stream_caps.holder is 'address or user.';
comment on column admin.stream_caps.max_streams is
  'Event streams that one address or one user may hold open, over all servers.';
