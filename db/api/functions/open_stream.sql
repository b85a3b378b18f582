create or replace function api.open_stream(
  lease_id uuid, address text, user_id uuid default null, slots int default 1,
  out is_leased boolean, out is_allowed boolean
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_lease constant interval := interval '30 seconds';
  v_at timestamptz := core.now();
begin
  -- Shared, so that the lease can't be removed as lost while a stream is being counted for it.
  perform from rate_limits.stream_leases as l
  where l.lease_id = open_stream.lease_id
  for key share;
  is_leased := found;
  is_allowed := false;
  if not is_leased then
    return;
  end if;

  -- One opening of an address, and of a user, at a time. Addresses come first.
  perform pg_advisory_xact_lock(hashtextextended('address ' || open_stream.address, 29038));
  if open_stream.user_id is not null then
    perform pg_advisory_xact_lock(hashtextextended('user ' || open_stream.user_id::text, 29038));
  end if;

  is_allowed := not exists (
    select
    from (
      values ('address', open_stream.address), ('user', open_stream.user_id::text)
    ) as h (holder, subject)
    join rate_limits.stream_caps as c on c.holder = h.holder
    cross join lateral (
      select coalesce(sum(s.stream_count), 0) as held
      from rate_limits.open_streams as s
      join rate_limits.stream_leases as l on l.lease_id = s.lease_id
      where s.holder = h.holder
        and s.subject = h.subject
        and l.seen_at > v_at - c_lease
    ) as n
    where h.subject is not null
      and n.held + open_stream.slots > c.max_streams
  );
  if not is_allowed then
    return;
  end if;
  insert into rate_limits.open_streams as s (holder, subject, lease_id, stream_count)
  select h.holder, h.subject, open_stream.lease_id, open_stream.slots
  from (
    values ('address', open_stream.address), ('user', open_stream.user_id::text)
  ) as h (holder, subject)
  where h.subject is not null
  on conflict on constraint open_streams_pkey do update set
    stream_count = s.stream_count + excluded.stream_count;
end
$$;

comment on function api.open_stream(uuid, text, uuid, int) is
  'Counts an event stream that a server process is about to open for an address and, if it is '
  'one of a user, for the user; unless either of them would then hold more than '
  'rate_limits.stream_caps says, in all processes whose lease is valid. A stream counts slots '
  'times. is_leased is false, and nothing is counted, when the lease of the process is not '
  'there: api.lease_streams makes another. Locks: the lease, shared; advisory locks of the '
  'address and of the user; their counters. Waits for no market and no user.';
