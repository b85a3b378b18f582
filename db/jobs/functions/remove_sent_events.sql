create or replace function jobs.remove_sent_events(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_count int;
begin
  -- Ids rise with the time, so only the lowest are looked at. Picked once, in an array: as a
  -- subquery it might be run again for each row, past its limit.
  delete from trading.sent_events as e
  where e.id = any (array(
    select o.id
    from (
      select x.id, x.sent_at
      from trading.sent_events as x
      order by x.id
      limit remove_sent_events.most
      for update skip locked
    ) as o
    where o.sent_at <= (select core.now()) - interval '5 minutes'
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_sent_events(int) is
  'Removes events five minutes after they were sent, at most so many; returns how many. Servers '
  'read them within milliseconds, or start again from a snapshot. Locks: the rows of the oldest '
  'events, without waiting for locked ones.';
