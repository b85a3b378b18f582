create or replace function jobs.make_candles(
  most int default 10000, market_ids bigint[] default null
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  v_due constant bigint[] := coalesce(
    make_candles.market_ids, (select d from jobs.due_candles() as d limit 1)
  );
  v_progress trading.candle_progress[];
  v_trades trading.trades[];
  v_market_ids bigint[];
  v_event_ids bigint[];
begin
  perform core.check_session();
  v_progress := array(
    select p
    from trading.candle_progress as p
    where p.market_id = any (v_due)
    for update skip locked
  );
  v_trades := array(
    select t
    from unnest(v_progress) as p
    cross join lateral (
      select x.*
      from trading.trades as x
      -- As a range: an equality would let the planner walk the primary key.
      where (x.market_id, x.id) > (p.market_id, p.last_trade_id)
        and x.market_id <= p.market_id
      order by x.market_id, x.id
      limit make_candles.most
    ) as t
    limit make_candles.most
  );
  if v_trades = '{}' then
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
    last_trade_id = n.last_trade_id,
    trade_count = p.trade_count + n.trade_count
  from (
    select t.market_id, max(t.id) as last_trade_id, count(*) as trade_count
    from unnest(v_trades) as t
    group by t.market_id
  ) as n
  where p.market_id = n.market_id;

  -- A transaction that holds a market to change its lists also writes the volume.
  v_market_ids := array(
    select m.id
    from catalog.markets as m
    where m.id = any (array(select t.market_id from unnest(v_trades) as t))
    for no key update skip locked
  );
  update catalog.market_listings as l set
    volume_cents = b.yes_volume_cents + b.no_volume_cents
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  where m.id = any (v_market_ids)
    and l.category_id in (0, m.category_id)
    and l.list in ('open', 'closed', 'all')
    and l.market_id = m.id;
  v_event_ids := array(
    select l.event_id
    from catalog.event_listings as l
    where l.event_id = any (array(
      select m.event_id from catalog.markets as m where m.id = any (v_market_ids)
    ))
    for no key update skip locked
  );
  update catalog.event_listings as l set
    volume_cents = (catalog.event_listing(l.event_id)).volume_cents
  where l.event_id = any (v_event_ids);
  return cardinality(v_trades);
end
$$;

comment on function jobs.make_candles(int, bigint[]) is
  'Makes candles of trades that have none yet, at most so many of some markets, and notes the '
  'volume of these in the lists of markets and events; returns how many trades. market_ids: a '
  'group of jobs.due_candles, null is the first one. Errors: UNFIT_SESSION. Locks: the rows of '
  'the progress of these markets, of the markets themselves and of their events in the lists, '
  'none that it would wait for. Who changes these markets waits for it.';
