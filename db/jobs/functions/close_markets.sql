create or replace function jobs.close_markets(most int default 200)
returns int
language plpgsql volatile security definer
set search_path = ''
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_market_id bigint;
  v_at timestamptz;
  v_count int;
begin
  select m.id into v_market_id
  from catalog.markets as m
  where m.status in ('open', 'paused')
    and m.close_time <= core.now()
  order by m.close_time
  limit 1;
  if not found then
    return 0;
  end if;

  perform trading.lock_market(v_market_id);
  v_at := core.now();
  perform from catalog.markets as m
  where m.id = v_market_id
    and m.status in ('open', 'paused')
    and m.close_time <= v_at;
  if not found then
    return 0; -- somebody else was at it
  end if;

  -- What expired before comes first, and a deep book goes piece by piece: past its close time the
  -- market takes no orders, so none is added meanwhile.
  v_count := trading.expire_orders(v_market_id, close_markets.most);
  if v_count < close_markets.most then
    v_count := v_count + trading.cancel_open_orders(
      v_market_id,
      trading.open_orders_of_market(v_market_id, close_markets.most - v_count),
      'market_closed',
      v_at,
      true
    );
  end if;
  if v_count < close_markets.most then
    perform trading.change_market_status(v_market_id, 'closed');
    v_count := v_count + 1;
  end if;
  return v_count;
end
$$;

comment on function jobs.close_markets(int) is
  'Closes one market that is past its close time, or as much of it as is done by cancelling so '
  'many orders; returns how many it cancelled, and one more for the market. Locks: the market, '
  'then its row in catalog.markets.';
