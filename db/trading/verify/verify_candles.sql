create or replace function trading.verify_candles()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- Of the trades that have their candles. The first and the last price of a minute go with the
  -- ids of their trades in one number each, so that no trades are sorted; a price is below 128.
  minutes as materialized (
    select
      t.market_id,
      date_bin(interval '1 minute', t.created_at, '2000-01-01 00:00:00+00') as start_at,
      min(t.id * 128 + t.price) as opening,
      max(t.price) as high_price,
      min(t.price) as low_price,
      max(t.id * 128 + t.price) as closing,
      sum(t.quantity) as quantity,
      count(*) as trade_count
    from trading.trades as t
    join trading.candle_progress as p on p.market_id = t.market_id
    where t.id <= p.last_trade_id
    group by t.market_id, date_bin(interval '1 minute', t.created_at, '2000-01-01 00:00:00+00')
  ),
  made as (
    select
      m.market_id, w.width_minutes,
      date_bin(
        w.width_minutes * interval '1 minute', m.start_at, '2000-01-01 00:00:00+00'
      ) as start_at,
      concat_ws(
        ' ', min(m.opening) % 128, max(m.high_price), min(m.low_price), max(m.closing) % 128,
        sum(m.quantity), sum(m.trade_count)
      ) as figures
    from minutes as m
    cross join (values (1), (60), (1440)) as w (width_minutes)
    group by 1, 2, 3
  ),
  kept as (
    select
      c.market_id, c.width_minutes, c.start_at,
      concat_ws(
        ' ', c.open_price, c.high_price, c.low_price, c.close_price, c.quantity, c.trade_count
      ) as figures
    from trading.candles as c
  )
  select 'candle equals its trades',
    concat_ws(
      ' ', 'market', coalesce(m.market_id, k.market_id), coalesce(m.width_minutes, k.width_minutes),
      'minutes from', coalesce(m.start_at, k.start_at)
    ),
    coalesce(m.figures, 'none'), coalesce(k.figures, 'none')
  from made as m
  full join kept as k
    on k.market_id = m.market_id and k.width_minutes = m.width_minutes and k.start_at = m.start_at
  where m.figures is distinct from k.figures

  union all
  select 'candles are made of the trades up to the last', 'market ' || p.market_id,
    concat_ws(' ', coalesce(t.trade_count, 0), 'up to', coalesce(t.last_trade_id, 0)),
    concat_ws(' ', p.trade_count, 'up to', p.last_trade_id)
  from trading.candle_progress as p
  left join (
    select x.market_id, count(*) as trade_count, max(x.id) as last_trade_id
    from trading.trades as x
    join trading.candle_progress as q on q.market_id = x.market_id
    where x.id <= q.last_trade_id
    group by x.market_id
  ) as t on t.market_id = p.market_id
  where (p.trade_count, p.last_trade_id) <> (
    coalesce(t.trade_count, 0), coalesce(t.last_trade_id, 0)
  )
$$;

comment on function trading.verify_candles() is
  'The part of ledger.verify() about candles: those of the trades that jobs.make_candles() has '
  'noted are what these trades say. One row for each broken invariant.';
