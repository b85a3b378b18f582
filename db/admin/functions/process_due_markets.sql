create or replace function admin.process_due_markets(
  out released int, out expired int, out closed int, out passed_over int
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_id bigint;
  v_count int;
  v_released int;
  v_expired int;
  v_closed int;
begin
  released := 0;
  expired := 0;
  closed := 0;
  passed_over := 0;
  -- All of it is one transaction, so the users of one market stay locked when those of the next
  -- are locked: the caller's lock timeout is below the time after which PostgreSQL looks for
  -- deadlocks, and a market that runs into it unlocks its own users.
  for v_market_id in
    select b.market_id
    from trading.active_orders as b
    where b.queue_position is null and b.release_at <= v_at
    union
    select b.market_id
    from trading.active_orders as b
    where b.expires_at <= v_at
    union
    select m.id
    from catalog.markets as m
    where m.status in ('open', 'paused') and m.close_time <= v_at
    order by 1
  loop
    if not trading.try_lock_market(v_market_id) then
      passed_over := passed_over + 1;
      continue;
    end if;
    begin
      v_released := 0;
      loop
        v_count := jobs.release_orders(v_market_id);
        exit when v_count = 0;
        v_released := v_released + v_count;
      end loop;
      v_expired := trading.expire_orders(
        v_market_id, trading.active_orders_of_market(v_market_id)
      );
      v_closed := (trading.close_market(v_market_id) > 0)::int;

      -- Only now: what a market did before it failed is undone, and does not count.
      released := released + v_released;
      expired := expired + v_expired;
      closed := closed + v_closed;
    exception when lock_not_available or deadlock_detected then
      passed_over := passed_over + 1;
    end;
  end loop;
end
$$;

comment on function admin.process_due_markets() is
  'Releases, expires and closes what is due, market by market in this order: how many orders, '
  'orders and markets, and how many markets it passed over because they, a user or a row of the '
  'catalogue were locked. Private to the schema. Locks: the markets that are free, by ascending '
  'id, then what each job locks.';
