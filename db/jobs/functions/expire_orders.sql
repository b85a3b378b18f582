create or replace function jobs.expire_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
--!include planner/indexes.sql
set enable_sort = off
as $$
declare
  v_order_ids bigint[];
begin
  if not trading.try_lock_market(expire_orders.market_id, expire_orders.waits) then
    return null;
  end if;
  v_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.expires_at <= (select core.now())
      and b.market_id = expire_orders.market_id
      and b.queue_position is not null
    order by b.expires_at
    limit expire_orders.most
  );
  return trading.expire_orders(v_order_ids);
end
$$;

comment on function jobs.expire_orders(bigint, int, boolean) is
  'Cancels resting orders of a market that are past their expiry, at most so many; returns how '
  'many. Null when the market is locked: passed over, at once or, if it waits, after 250 ms. An '
  'order that expires when its market has closed is left to the closing, a scheduled one to its '
  'release. Locks: the market, if it is free.';
