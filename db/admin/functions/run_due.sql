create or replace function admin.run_due()
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_at timestamptz;
  v_market_ids bigint[];
  v_market_id bigint;
  v_looked_at int;
  v_archived int;
  v_count int;
  v_done jsonb;
  v_released int;
  v_expired int;
  v_closed int;
  v_archived_all int;
  v_keys int;
begin
  -- All of it is one transaction, so the users of one market are held when the next market's are
  -- wanted. Whoever waits too long gives everything back and starts over.
  <<attempt>>
  loop
    begin
      v_released := 0;
      v_expired := 0;
      v_closed := 0;
      v_archived_all := 0;
      v_keys := 0;

      v_at := core.now();
      v_market_ids := array(
        select b.market_id
        from trading.open_orders as b
        where b.queue_position is null and b.release_at <= v_at
        union
        select b.market_id
        from trading.open_orders as b
        where b.expires_at <= v_at
        union
        select m.id
        from catalog.markets as m
        where m.status in ('open', 'paused') and m.close_time <= v_at
        order by 1
      );
      foreach v_market_id in array v_market_ids loop
        perform trading.lock_market(v_market_id);
      end loop;

      foreach v_market_id in array v_market_ids loop
        loop
          v_count := jobs.release_orders(v_market_id);
          exit when v_count = 0;
          v_released := v_released + v_count;
        end loop;
        v_expired := v_expired + trading.expire_orders(
          v_market_id, trading.open_orders_of_market(v_market_id)
        );
        if trading.close_market(v_market_id) > 0 then
          v_closed := v_closed + 1;
        end if;
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
      exit attempt;
    exception when lock_not_available or deadlock_detected then
      null; -- the locks of this attempt are gone with it
    end;
  end loop;

  v_done := jsonb_build_object(
    'released', v_released,
    'expired', v_expired,
    'closed', v_closed,
    'archived', v_archived_all,
    'keysRemoved', v_keys
  );
  perform admin.audit('run_due', v_done);
  return v_done;
end
$$;

comment on function admin.run_due() is
  'Does at once what the jobs would do now, in one transaction: in each market releases, then '
  'expiries, then its closing; then the archive and old idempotency keys. Returns how many of '
  'each: {released, expired, closed, archived, keysRemoved}. Locks: those markets in ascending id, '
  'then what each job locks; starts over when it has waited for 500 ms.';
