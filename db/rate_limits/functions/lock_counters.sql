create or replace function rate_limits.lock_counters(checks rate_limits.checks)
returns void
language plpgsql volatile
as $$
begin
  -- A row that is there already is locked by this as well, though it is not changed. The time is
  -- known only after the locks: until then a new row counts as removable.
  insert into rate_limits.windows as w (bucket, subject, removable_at)
  select c.bucket, c.subject, '-infinity'
  from unnest(lock_counters.checks.buckets, lock_counters.checks.subjects) with ordinality
    as c (bucket, subject, place)
  order by c.place
  on conflict on constraint windows_pkey do update set taken = w.taken where false;
end
$$;

comment on function rate_limits.lock_counters(rate_limits.checks) is
  'Makes the counters that are missing, and locks all of them until the transaction ends, by '
  'bucket and subject.';
