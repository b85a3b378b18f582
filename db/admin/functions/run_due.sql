create or replace function admin.run_due()
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  v_at timestamptz := core.now();
  v_market_id bigint;
  v_order_ids bigint[];
  v_busy bigint[];
  v_looked_at int;
  v_archived int;
  v_count int;
  v_released int;
  v_expired int;
  v_closed int;
  v_done jsonb;
  v_released_all int := 0;
  v_expired_all int := 0;
  v_closed_all int := 0;
  v_archived_all int := 0;
  v_keys int := 0;
  v_passed_over int := 0;
begin
  v_busy := '{}';
  loop
    v_count := 0;
    for v_market_id, v_order_ids in
      select d.market_id, d.order_ids from jobs.due_dead_man_orders(passing_over => v_busy) as d
    loop
      select v_count + 1, v_busy || c.busy into v_count, v_busy
      from jobs.cancel_dead_man_orders(array[v_market_id], v_order_ids) as c;
    end loop;
    exit when v_count = 0;
  end loop;
  v_passed_over := v_passed_over + cardinality(v_busy);

  -- All of it is one transaction, so the users of one market stay locked when those of the next
  -- are locked: the lock timeout is below the time after which PostgreSQL looks for deadlocks, and
  -- a market that runs into it unlocks its own users.
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
      v_passed_over := v_passed_over + 1;
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

      v_released_all := v_released_all + v_released;
      v_expired_all := v_expired_all + v_expired;
      v_closed_all := v_closed_all + v_closed;
    exception when lock_not_available or deadlock_detected then
      v_passed_over := v_passed_over + 1;
    end;
  end loop;

  loop
    select a.looked_at, a.archived into v_looked_at, v_archived
    from trading.archive_orders(1000) as a;
    exit when v_looked_at = 0;
    v_archived_all := v_archived_all + v_archived;
  end loop;
  loop
    v_count := jobs.remove_keys();
    exit when v_count = 0;
    v_keys := v_keys + v_count;
  end loop;

  v_done := jsonb_build_object(
    'released', v_released_all,
    'expired', v_expired_all,
    'closed', v_closed_all,
    'archived', v_archived_all,
    'keysRemoved', v_keys
  );
  perform admin.audit('run_due', v_done || jsonb_build_object('passedOver', v_passed_over));
  if v_passed_over > 0 then
    raise warning 'Passed over % locked market(s); call admin.run_due() again for them',
      v_passed_over;
  end if;
  return v_done;
end
$$;

comment on function admin.run_due() is
  'Does at once what the jobs would do now, in one transaction: cancels the orders of dead man''s '
  'switches that have expired; in each market releases, then expiries, then its closing; then the '
  'archive and old idempotency keys. Returns how many: {released, expired, closed, archived, '
  'keysRemoved}. Like the jobs, it passes over what is '
  'locked: markets (a warning and the audit log count them), also those that wait longer than 250 '
  'ms for a user or a row of the catalogue, the archive while a job moves orders there, and keys '
  'in use. Call it again for these. Locks: the markets that are free, then what each job locks.';
