create or replace function trading.candles_of(trades trading.trades[], width_minutes int)
returns setof trading.candles
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    t.market_id,
    candles_of.width_minutes,
    s.start_at,
    (array_agg(t.price order by t.id))[1],
    max(t.price),
    min(t.price),
    (array_agg(t.price order by t.id desc))[1],
    sum(t.quantity)::bigint,
    count(*)
  from unnest(candles_of.trades) as t
  cross join lateral (
    select date_bin(
      candles_of.width_minutes * interval '1 minute', t.created_at, '2000-01-01 00:00:00+00'
    ) as start_at
  ) as s
  group by t.market_id, s.start_at
$$;

comment on function trading.candles_of(trading.trades[], int) is
  'The candles of these trades.';
