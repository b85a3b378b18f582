create or replace function api.end_stream_lease(lease_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from rate_limits.stream_leases as l where l.lease_id = end_stream_lease.lease_id;
  delete from rate_limits.open_streams as s where s.lease_id = end_stream_lease.lease_id;
$$;

comment on function api.end_stream_lease(uuid) is
  'Ends the lease of a server process and stops counting its streams. Locks: its rows.';
