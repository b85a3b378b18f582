create or replace function jobs.make_candles(most int default 10000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_progress trading.candle_progress;
  v_trades trading.trades[];
begin
  perform core.check_session();
  insert into trading.candle_progress (market_id)
  select b.market_id
  from trading.market_state as b
  where b.trade_count > 0
    and not exists (
      select from trading.candle_progress as p where p.market_id = b.market_id
    )
  on conflict on constraint candle_progress_pkey do nothing;

  select p.* into v_progress
  from trading.candle_progress as p
  join trading.market_state as b on b.market_id = p.market_id
  where b.trade_count > p.trade_count
  limit 1
  for update of p skip locked;
  if not found then
    return 0;
  end if;

  v_trades := array(
    select t
    from trading.trades as t
    -- As a range: an equality would let the planner walk the primary key.
    where (t.market_id, t.id) > (v_progress.market_id, v_progress.last_trade_id)
      and t.market_id <= v_progress.market_id
    order by t.market_id, t.id
    limit make_candles.most
  );
  if cardinality(v_trades) = 0 then
    return 0;
  end if;
  insert into trading.candles as c
  select n.*
  from (values (1), (60), (1440)) as w (width_minutes)
  cross join lateral trading.candles_of(v_trades, w.width_minutes) as n
  on conflict on constraint candles_pkey do update set
    high_price = greatest(c.high_price, excluded.high_price),
    low_price = least(c.low_price, excluded.low_price),
    close_price = excluded.close_price,
    quantity = c.quantity + excluded.quantity,
    trade_count = c.trade_count + excluded.trade_count;

  update trading.candle_progress as p set
    last_trade_id = (v_trades[cardinality(v_trades)]).id,
    trade_count = p.trade_count + cardinality(v_trades)
  where p.market_id = v_progress.market_id;

  -- A transaction that holds the market to change its lists also writes the volume.
  perform from catalog.markets as m
  where m.id = v_progress.market_id
  for no key update skip locked;
  if found then
    update catalog.market_listings as l set
      volume_cents = b.yes_volume_cents + b.no_volume_cents
    from catalog.markets as m
    join trading.market_state as b on b.market_id = m.id
    where m.id = v_progress.market_id
      and l.category_id in (0, m.category_id)
      and l.list in ('open', 'closed', 'all')
      and l.market_id = m.id;
    perform from catalog.event_listings as l
    where l.event_id = (
      select m.event_id from catalog.markets as m where m.id = v_progress.market_id
    )
    for no key update skip locked;
    if found then
      update catalog.event_listings as l set
        volume_cents = (catalog.event_listing(l.event_id)).volume_cents
      where l.event_id = (
        select m.event_id from catalog.markets as m where m.id = v_progress.market_id
      );
    end if;
  end if;
  return cardinality(v_trades);
end
$$;

comment on function jobs.make_candles(int) is
  'Makes candles of trades that have none yet, of one market, at most so many, and notes its '
  'volume in the lists of markets and events; returns how many trades. Cost: a row for each market '
  'that ever traded, and those trades. Errors: UNFIT_SESSION. Locks: the rows of the market''s '
  'progress, of the market itself and of its event in the lists, none that it would wait for.';
