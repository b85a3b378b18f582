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
  sold_cents bigint,
  merged_cents bigint,
  settled_cents bigint,
  realised_cents bigint
)
language sql stable parallel safe
begin atomic
  with results as (
    select
      f.created_at,
      f.user_key,
      1 as fill_count,
      case f.role when 'taker' then f.quantity else 0 end as taker_quantity,
      case f.role when 'maker' then f.quantity else 0 end as maker_quantity,
      f.amount_cents as volume_cents,
      f.fee_cents,
      coalesce(f.realised_cents, 0) as sold_cents,
      0::bigint as merged_cents,
      0::bigint as settled_cents
    from analytics.fills as f
    union all
    select
      c.created_at, c.user_key, 0, 0, 0, 0, 0, 0, c.yes_realised_cents + c.no_realised_cents, 0
    from analytics.set_conversions as c
    where c.kind = 'merge'
    union all
    select s.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, s.realised_cents
    from analytics.settlements as s
    union all
    select r.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, - s.realised_cents
    from analytics.resolutions as r
    join analytics.settlements as s on s.resolution_key = r.corrects_resolution_key
  )
  select
    (r.created_at at time zone 'UTC')::date,
    r.user_key,
    sum(r.fill_count)::bigint,
    sum(r.taker_quantity)::bigint,
    sum(r.maker_quantity)::bigint,
    sum(r.volume_cents)::bigint,
    sum(r.fee_cents)::bigint,
    sum(r.sold_cents)::bigint,
    sum(r.merged_cents)::bigint,
    sum(r.settled_cents)::bigint,
    sum(r.sold_cents + r.merged_cents + r.settled_cents)::bigint
  from results as r
  where r.created_at >= daily_trader_results.since::timestamp at time zone 'UTC'
    and r.created_at < daily_trader_results.until::timestamp at time zone 'UTC'
  group by 1, 2;
end;

comment on function analytics.daily_trader_results(date, date) is
  'What each trader did and realised on each UTC day, from a day until before another; days on '
  'which nothing happened have no row. sold_cents, merged_cents and settled_cents are what sales, '
  'merges and resolutions realised, after fees; realised_cents is their sum. A correction counts '
  'on its own day, with the difference. fee_cents are the fees paid, those of buys included.';
