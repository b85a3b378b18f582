create or replace function api.list_candles(
  market_id uuid,
  "interval" text,
  since timestamptz default null,
  until timestamptz default null
)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  c_most_candles constant int := 1000;
  -- More trades than a minute has are without candles only if no worker runs.
  c_most_trades constant int := 10000;
  v_width_minutes constant int := case list_candles.interval
    when '1m' then 1 when '1h' then 60 when '1d' then 1440
  end;
  v_market_id bigint;
  v_since timestamptz := coalesce(date_bin(
    v_width_minutes * interval '1 minute', list_candles.since, '2000-01-01 00:00:00+00'
  ), '-infinity');
  v_until timestamptz := coalesce(list_candles.until, 'infinity');
  v_made_up_to bigint;
begin
  if v_width_minutes is null then
    perform core.raise_error('INVALID_REQUEST', 'interval: must be one of 1m, 1h, 1d');
  end if;
  select m.id, coalesce(p.last_trade_id, 0) into v_market_id, v_made_up_to
  from catalog.markets as m
  left join trading.candle_progress as p on p.market_id = m.id
  where m.public_id = list_candles.market_id;

  return query
  with recent as (
    select array(
      select t
      from trading.trades as t
      -- As a range: an equality would let the planner walk the primary key.
      where (t.market_id, t.id) > (v_market_id, v_made_up_to)
        and t.market_id <= v_market_id
      order by t.market_id desc, t.id desc
      limit c_most_trades
    ) as trades
  ),
  pieces as (
    (
      select 0 as place, c.*
      from trading.candles as c
      where c.market_id = v_market_id
        and c.width_minutes = v_width_minutes
        and c.start_at >= v_since
        and c.start_at < v_until
      order by c.start_at desc
      limit c_most_candles
    )
    union all
    select 1, n.*
    from recent as r
    cross join lateral trading.candles_of(r.trades, v_width_minutes) as n
    where n.start_at >= v_since
      and n.start_at < v_until
  ),
  candles as (
    select
      x.start_at,
      (array_agg(x.open_price order by x.place))[1] as open_price,
      max(x.high_price) as high_price,
      min(x.low_price) as low_price,
      (array_agg(x.close_price order by x.place desc))[1] as close_price,
      sum(x.quantity)::bigint as quantity,
      sum(x.trade_count)::bigint as trade_count
    from pieces as x
    group by x.start_at
    order by x.start_at desc
    limit c_most_candles
  )
  select b.version, json_build_object('data', coalesce(
    (
      select json_agg(
        json_build_object(
          'start', core.iso8601(c.start_at),
          'open', c.open_price,
          'high', c.high_price,
          'low', c.low_price,
          'close', c.close_price,
          'volume', c.quantity,
          'trades', c.trade_count
        )
        order by c.start_at
      )
      from candles as c
    ),
    '[]'
  ))
  from trading.market_state as b
  where b.market_id = v_market_id;
end
$$;

comment on function api.list_candles(uuid, text, timestamptz, timestamptz) is
  'The body of GET /markets/:id/candles, and the version of the market; no row for an unknown '
  'market. interval is 1m, 1h or 1d; since and until bound the time, the interval in which since '
  'lies included. The newest 1,000 at most, oldest first. Cost: those rows, and the trades since '
  'jobs.make_candles last ran, at most 10,000. Errors: INVALID_REQUEST.';
