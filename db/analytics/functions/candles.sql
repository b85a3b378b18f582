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
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most_candles constant int := 50000;
  v_market_key constant bigint := analytics.market_key(candles.market_id);
  v_problem text;
  v_hint text;
  v_seconds numeric;
  v_count numeric;
begin
  if candles.width is null or candles.since is null or candles.until is null then
    v_problem := 'The arguments width, since and until are required';
  elsif candles.until <= candles.since then
    v_problem := 'The end (until) must be after the start (since)';
  elsif extract(year from candles.width) <> 0 or extract(month from candles.width) <> 0 then
    v_problem := format(
      'The width %s is not fixed: months and years differ in length', candles.width
    );
    v_hint := 'Give the width in weeks, days, hours, minutes or seconds.';
  elsif candles.width <= interval '0' then
    v_problem := format('The width must be above zero, not %s', candles.width);
  else
    -- Without a trade there is no candle, so the market's life is all that counts.
    select extract(epoch from
      least(candles.until, analytics.now()) - greatest(candles.since, m.created_at)
    )
    into v_seconds
    from analytics.markets as m
    where m.market_key = v_market_key;
    v_count := ceil(v_seconds / extract(epoch from candles.width));
    if v_count > c_most_candles then
      v_problem := format(
        '%s candles are too many; the maximum is %s', v_count, c_most_candles
      );
      v_hint := format(
        'Ask for a width of %s or more, or for a shorter time.',
        make_interval(secs => ceil(v_seconds / c_most_candles)::float8)
      );
    end if;
  end if;
  if v_problem is not null then
    raise exception using
      errcode = 'EX001',
      message = v_problem,
      detail = 'INVALID_REQUEST',
      hint = coalesce(v_hint, '');
  end if;

  return query
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
  where t.market_key = v_market_key
    and t.created_at >= candles.since
    and t.created_at < candles.until
  group by 1
  order by 1;
end
$$;

comment on function analytics.candles(uuid, interval, timestamptz, timestamptz) is
  'YES prices of the trades of a market from since on and before until, in candles of that width '
  '(seconds to weeks; not months). Candles begin at whole multiples of the width in UTC, counted '
  'from 2000-01-01. Without a trade there is no candle. At most 50,000 of that width may '
  'fit between since, or when the market was made, and until, or now: candles without a trade '
  'count too. Errors: NOT_FOUND, INVALID_REQUEST.';
