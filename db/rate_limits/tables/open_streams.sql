create unlogged table rate_limits.open_streams (
  holder text collate "C",
  subject text collate "C",
  lease_id uuid,
  stream_count int not null,
  primary key (holder, subject, lease_id),
  constraint open_streams_count_something check (stream_count > 0)
)
with (fillfactor = 70);

create index open_streams_of_a_lease on rate_limits.open_streams (lease_id);

comment on table rate_limits.open_streams is
  'How many event streams an address or a user holds open in each server process; a stream of '
  'many markets counts several times. Unlogged, as rate_limits.stream_leases is.';
