create unlogged table limits.open_streams (
  holder text collate "C",
  subject text collate "C",
  lease_id uuid,
  stream_count int not null,
  primary key (holder, subject, lease_id),
  constraint open_streams_count_something check (stream_count > 0)
)
with (fillfactor = 70);

create index open_streams_of_a_lease on limits.open_streams (lease_id);

comment on table limits.open_streams is
  'How many event streams an address or a user holds open in each server process. Unlogged, as '
  'limits.stream_leases is.';
