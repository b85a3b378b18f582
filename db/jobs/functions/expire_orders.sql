create or replace function jobs.expire_orders(most int default 200)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_market_id bigint;
  v_order_ids bigint[];
begin
  -- Of what is due the longest, the market that has most of it. The time is a subquery of its own
  -- because an index can't be searched for what a volatile function gives.
  select d.market_id, array_agg(d.order_id)
  into v_market_id, v_order_ids
  from (
    select b.market_id, b.order_id
    from trading.open_orders as b
    cross join lateral (
      select x.close_time
      from catalog.markets as x
      where x.id = b.market_id
      limit 1
    ) as m
    where b.expires_at <= (select core.now())
      and b.queue_position is not null
      and (m.close_time is null or b.expires_at < m.close_time)
    order by b.expires_at, b.market_id
    limit expire_orders.most
  ) as d
  group by d.market_id
  order by count(*) desc, d.market_id
  limit 1;
  if not found then
    return 0;
  end if;

  perform trading.lock_market(v_market_id);
  return trading.expire_orders(v_market_id, v_order_ids);
end
$$;

comment on function jobs.expire_orders(int) is
  'Cancels resting orders of one market that are past their expiry, at most so many; returns how '
  'many. An order that expires when its market has closed is left to the closing, a scheduled one '
  'to its release. Locks: the market.';
