create or replace function api.return_requests(counters json)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks rate_limits.checks := rate_limits.read_checks(
    json_build_array(return_requests.counters)
  );
  v_taken bigint;
begin
  perform rate_limits.lock_counters(v_checks);
  for i in 1 .. cardinality(v_checks.buckets) loop
    select w.taken into v_taken
    from rate_limits.windows as w
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
    delete from rate_limits.grants as g
    where g.bucket = v_checks.buckets[i]
      and g.subject = v_checks.subjects[i]
      and g.first_number = v_taken
      and g.last_number = v_taken;
    if not found then
      update rate_limits.grants as g
      set last_number = v_taken - 1
      where g.bucket = v_checks.buckets[i]
        and g.subject = v_checks.subjects[i]
        and g.last_number = v_taken;
      continue when not found;
    end if;
    update rate_limits.windows as w
    set taken = v_taken - 1
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
  end loop;
end
$$;

comment on function api.return_requests(json) is
  'Takes one request back in each of these rolling windows, such as an attempt that was right: '
  'the newest that is counted. counters is one request as api.count_requests has them. Locks: the '
  'counters.';
