create or replace function jobs.remove_counters(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  v_at timestamptz := core.now();
  v_windows int;
  v_allowances int;
  v_leases int;
  v_processes int;
begin
  -- Counters in use are skipped, so that neither side waits.
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  with removed as (
    delete from rate_limits.windows as w
    where w.ctid = any (array(
      select x.ctid
      from rate_limits.windows as x
      where x.removable_at <= v_at
      order by x.removable_at
      limit remove_counters.most
      for update skip locked
    ))
    returning w.bucket, w.subject
  ),
  emptied as (
    delete from rate_limits.grants as g
    using removed as r
    where g.bucket = r.bucket and g.subject = r.subject
  )
  select count(*) into v_windows from removed;

  delete from rate_limits.allowances as a
  where a.ctid = any (array(
    select x.ctid
    from rate_limits.allowances as x
    where x.removable_at <= v_at
    order by x.removable_at
    limit remove_counters.most
    for update skip locked
  ));
  get diagnostics v_allowances = row_count;

  with removed as (
    delete from rate_limits.stream_leases as l
    where l.lease_id = any (array(
      select x.lease_id
      from rate_limits.stream_leases as x
      where x.seen_at <= v_at - interval '5 minutes'
      limit remove_counters.most
      for update skip locked
    ))
    returning l.lease_id
  ),
  emptied as (
    delete from rate_limits.open_streams as s
    using removed as r
    where s.lease_id = r.lease_id
  )
  select count(*) into v_leases from removed;

  delete from core.processes as p
  where p.process_id = any (array(
    select x.process_id
    from core.processes as x
    where x.seen_at <= v_at - interval '1 hour'
    limit remove_counters.most
    for update skip locked
  ));
  get diagnostics v_processes = row_count;
  return v_windows + v_allowances + v_leases + v_processes;
end
$$;

comment on function jobs.remove_counters(int) is
  'Removes counters that are not needed any more: windows that every grant has left, with their '
  'grants; token buckets that are full; the streams of server processes that were lost, and after '
  'an hour the processes themselves. At most so many of each; returns how many. Locks: the '
  'counters, without waiting for locked ones.';
