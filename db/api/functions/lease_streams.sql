create or replace function api.lease_streams(
  lease_id uuid, streams json default '[]', instead_of uuid default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform api.end_stream_lease(lease_streams.instead_of);
  insert into rate_limits.stream_leases (lease_id, seen_at)
  values (lease_streams.lease_id, core.now());
  insert into rate_limits.open_streams (holder, subject, lease_id, stream_count)
  select h.holder, h.subject, lease_streams.lease_id, sum(coalesce(s."slots", 1))
  from json_to_recordset(lease_streams.streams) as s (
    "address" text, "userId" uuid, "slots" int
  )
  cross join lateral (
    values ('address', s."address"), ('user', s."userId"::text)
  ) as h (holder, subject)
  where h.subject is not null
  group by h.holder, h.subject;
end
$$;

comment on function api.lease_streams(uuid, json, uuid) is
  'Begins the lease of a server process, with the streams that it has open: [{address, userId, '
  'slots}]. They are counted without a check of the caps, since they are open. instead_of: the '
  'lease that it had before, which ends. Locks: the rows of that lease.';
