create or replace function jobs.remove_keys(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
set enable_sort = off
as $$
declare
  v_count int;
begin
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  delete from trading.idempotency_keys as k
  where k.ctid = any (array(
    select x.ctid
    from trading.idempotency_keys as x
    where x.created_at <= (select core.now()) - trading.key_lifetime()
    order by x.created_at
    limit remove_keys.most
    -- A new order may be taking over an old key: it is skipped, so that neither side waits.
    for update skip locked
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_keys(int) is
  'Removes idempotency keys that are older than 24 hours and no longer count, at most so many; '
  'returns how many. Locks: the rows of the keys, without waiting for locked ones.';
