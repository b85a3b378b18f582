create or replace function jobs.release_group(
  market_ids bigint[], most int default 200, out released int, out busy bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
--!include planner/plain_nested_loops.sql
as $$
declare
  v_locked bigint[] := trading.lock_free_markets(release_group.market_ids);
begin
  released := trading.release_orders(v_locked, release_group.most);
  busy := array(
    select u.id from unnest(release_group.market_ids) as u (id) where u.id <> all (v_locked)
  );
end
$$;

comment on function jobs.release_group(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets in one transaction, at most so '
  'many, in the order of their release time. released: how many; busy: the markets that were '
  'locked and passed over. market_ids are ascending, as jobs.due_release_groups gives them. May '
  'fail with 40001, 40P01 or 55P03, and is then to be called again, or market by market. Locks: '
  'the markets that are free; then the users of the orders and the makers they can reach, for '
  'each of whom it waits 50 ms at most, since it holds the whole group meanwhile.';
