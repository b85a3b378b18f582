create or replace function jobs.remove_event_payloads(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_count int;
begin
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  delete from trading.event_payloads as e
  where e.ctid = any (array(
    select x.ctid
    from trading.event_payloads as x
    where x.created_at <= (select core.now()) - interval '1 hour'
    order by x.created_at
    limit remove_event_payloads.most
    for update skip locked
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_event_payloads(int) is
  'Removes the payloads of long announcements an hour after they were sent, at most so many; '
  'returns how many. Locks: their rows, none that it would wait for.';
