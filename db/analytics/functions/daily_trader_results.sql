create or replace function analytics.daily_trader_results(
  since date default '-infinity', until date default 'infinity'
)
returns table (
  day date,
  user_key bigint,
  fill_count bigint,
  taker_quantity bigint,
  maker_quantity bigint,
  volume_cents bigint,
  fee_cents bigint,
  sales_realised_cents bigint,
  merges_realised_cents bigint,
  settlements_realised_cents bigint,
  voids_realised_cents bigint,
  realised_cents bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if daily_trader_results.since is null or daily_trader_results.until is null
    or daily_trader_results.until <= daily_trader_results.since
  then
    raise exception using
      errcode = 'EX001',
      message = 'The end (until) must be a day after the start (since)',
      detail = 'INVALID_REQUEST',
      hint = 'The day named by until is not in the answer.';
  end if;

  return query
  with results as (
    select
      f.created_at,
      f.user_key,
      1 as fill_count,
      case f.role when 'taker' then f.quantity else 0 end as taker_quantity,
      case f.role when 'maker' then f.quantity else 0 end as maker_quantity,
      f.amount_cents as volume_cents,
      f.fee_cents,
      coalesce(f.realised_cents, 0) as sales_realised_cents,
      0::bigint as merges_realised_cents,
      0::bigint as settlements_realised_cents,
      0::bigint as voids_realised_cents
    from analytics.fills as f
    union all
    select
      c.created_at, c.user_key, 0, 0, 0, 0, 0, 0, c.yes_realised_cents + c.no_realised_cents, 0, 0
    from analytics.set_conversions as c
    where c.yes_realised_cents is not null
    union all
    select s.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, s.realised_cents, 0
    from analytics.settlements as s
    union all
    select r.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, - s.realised_cents, 0
    from analytics.resolutions as r
    join analytics.settlements as s on s.resolution_key = r.corrects_resolution_key
    union all
    select
      v.created_at, f.user_key, 0, 0, 0, 0, - f.fee_cents, 0, 0, 0,
      case f.role when 'taker' then v.taker_realised_cents else v.maker_realised_cents end
    from analytics.voids as v
    join analytics.fills as f on f.trade_key = v.trade_key
    union all
    select v.created_at, f.user_key, 0, 0, 0, 0, - f.fee_cents, 0, 0, 0, 0
    from analytics.voids as v
    join analytics.fills as f on f.market_key = v.market_key
    where v.trade_key is null
      and not exists (select from analytics.voids as w where w.trade_key = f.trade_key)
    union all
    select v.created_at, p.user_key, 0, 0, 0, 0, 0, 0, 0, 0, - p.realised_cents
    from analytics.voids as v
    join analytics.voided_positions as p on p.void_key = v.void_key
  )
  select
    (r.created_at at time zone 'UTC')::date,
    r.user_key,
    sum(r.fill_count)::bigint,
    sum(r.taker_quantity)::bigint,
    sum(r.maker_quantity)::bigint,
    sum(r.volume_cents)::bigint,
    sum(r.fee_cents)::bigint,
    sum(r.sales_realised_cents)::bigint,
    sum(r.merges_realised_cents)::bigint,
    sum(r.settlements_realised_cents)::bigint,
    sum(r.voids_realised_cents)::bigint,
    sum(
      r.sales_realised_cents + r.merges_realised_cents + r.settlements_realised_cents
        + r.voids_realised_cents
    )::bigint
  from results as r
  where r.created_at >= daily_trader_results.since::timestamp at time zone 'UTC'
    and r.created_at < daily_trader_results.until::timestamp at time zone 'UTC'
  group by 1, 2
  order by 1, 2;
end
$$;

comment on function analytics.daily_trader_results(date, date) is
  'What each trader did and realised on each UTC day from since on and before until; days on which '
  'nothing happened have no row. volume_cents is quantity x price of the fills, on the trader''s '
  'side: its sum over traders is not yes_volume_cents + no_volume_cents of the markets, because a '
  'transfer counts the same side for both. fee_cents are the fees paid, those of buys included, '
  'less those that voids gave back. What sales, merges and settlements realised is profit and not '
  'proceeds: what they brought less their fees, and less what the shares had cost with their buy '
  'fees; realised_cents is the sum of these and of voids_realised_cents. A correction counts on '
  'its own day, with the difference; so does a void, with what it takes back. In the order '
  'of days and users. Reads all trades, whatever the days. Errors: INVALID_REQUEST.';
