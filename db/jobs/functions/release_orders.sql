create or replace function jobs.release_orders(market_id bigint, most int default 200)
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
  select trading.release_orders(release_orders.market_id, release_orders.most)
$$;

comment on function jobs.release_orders(bigint, int) is
  'Releases what is due of the scheduled orders of a market, at most so many, in the order of '
  'their release time; returns how many. May fail with 40001, 40P01 or 55P03, and is then to be '
  'called again. Locks: the market, then the users of the orders and the makers they can reach.';
