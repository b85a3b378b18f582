create or replace function admin.process_due_markets(
  out released int, out expired int, out closed int, out passed_over int, out opened int
)
language plpgsql volatile
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_id bigint;
  v_first_state bigint[]; -- of a market: its version, and how many orders are scheduled
  v_state bigint[];
  v_last_state bigint[];
  v_released int;
  v_expired int;
  v_closed int;
  v_opened int;
begin
  released := 0;
  expired := 0;
  closed := 0;
  opened := 0;
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
    union
    select m.id
    from catalog.markets as m
    where m.open_time <= v_at
    order by 1
  loop
    if not trading.try_lock_market(v_market_id) then
      passed_over := passed_over + 1;
      continue;
    end if;
    begin
      -- A call also returns the orders that stay due, so its number neither counts those that were
      -- released nor ends the loop. When a call changes nothing, the next one would not either.
      v_first_state := null;
      v_last_state := null;
      loop
        select array[s.version, count(b.order_id)] into v_state
        from trading.market_state as s
        left join trading.active_orders as b
          on b.market_id = s.market_id and b.queue_position is null
        where s.market_id = v_market_id
        group by s.version;
        v_first_state := coalesce(v_first_state, v_state);
        exit when v_state = v_last_state;
        v_last_state := v_state;
        perform jobs.release_orders(v_market_id);
      end loop;
      v_released := v_first_state[2] - v_state[2];
      v_expired := trading.expire_market_orders(v_market_id);
      v_closed := (trading.close_market(v_market_id) > 0)::int;
      v_opened := trading.open_market(v_market_id);

      -- Only now: what a market did before it failed is undone, and does not count.
      released := released + v_released;
      expired := expired + v_expired;
      closed := closed + v_closed;
      opened := opened + v_opened;
    exception when lock_not_available or deadlock_detected then
      passed_over := passed_over + 1;
    end;
  end loop;
end
$$;

comment on function admin.process_due_markets() is
  'Releases, expires, closes and opens what is due, market by market in this order: how many '
  'orders, orders, markets and markets, and how many markets it passed over because they, a user '
  'or a row of the catalogue were locked. An order counts once, however many calls its release '
  'takes; one whose release gets no further stays due and does not count. Private to the schema. '
  'Locks: the markets that are free, by ascending id, then what each job locks.';
