create or replace function api.renew_stream_lease(lease_id uuid)
returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  with renewed as (
    update rate_limits.stream_leases as l set seen_at = core.now()
    where l.lease_id = renew_stream_lease.lease_id
    returning l.lease_id
  )
  select exists (select from renewed)
$$;

comment on function api.renew_stream_lease(uuid) is
  'Renews the lease of a server process, with the streams that it has open; returns false if the '
  'lease is gone. Locks: the lease.';
