create or replace function analytics.candles(
  market_id uuid, width interval, since timestamptz, until timestamptz
)
returns table (
  opened_at timestamptz,
  open_yes_price_cents int,
  high_yes_price_cents int,
  low_yes_price_cents int,
  close_yes_price_cents int,
  quantity bigint,
  yes_volume_cents bigint,
  trade_count bigint
)
language sql stable parallel safe
begin atomic
  select
    date_bin(candles.width, t.created_at, '2000-01-01 00:00:00+00'),
    (array_agg(t.yes_price_cents order by t.trade_key))[1],
    max(t.yes_price_cents),
    min(t.yes_price_cents),
    (array_agg(t.yes_price_cents order by t.trade_key desc))[1],
    sum(t.quantity)::bigint,
    sum(t.quantity::bigint * t.yes_price_cents)::bigint,
    count(*)
  from analytics.trades as t
  where t.market_id = candles.market_id
    and t.created_at >= candles.since
    and t.created_at < candles.until
  group by 1
  order by 1;
end;

comment on function analytics.candles(uuid, interval, timestamptz, timestamptz) is
  'YES prices of a market''s trades, from a time until before another, in candles of that width '
  '(minutes, hours, days; not months), which begin at whole multiples of it in UTC. Without a '
  'trade there is no candle.';
