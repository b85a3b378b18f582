create table rate_limits.stream_caps (
  holder text primary key,
  max_streams rate_limits.request_count not null,
  constraint stream_caps_are_of_an_address_or_a_user check (holder in ('address', 'user'))
);

comment on table rate_limits.stream_caps is
  'How many event streams an address and a user may hold open at once, over all servers. Operators '
  'change them by admin.set_stream_cap; every opening reads them.';

insert into rate_limits.stream_caps (holder, max_streams) values
  ('address', 200),
  ('user', 20);
