create or replace function trading.verify_fees()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  schedules as (
    select s.*, x.created_at as cancelled_at
    from trading.fee_schedules as s
    left join trading.fee_cancellations as x on x.fee_schedule_id = s.id
  ),
  -- The schedules that can be in force in a market; a higher rank goes first.
  candidates as (
    select m.id as market_id, s.id as schedule_id, s.effective_from, s.created_at,
      s.cancelled_at, 3 as rank
    from catalog.markets as m
    join schedules as s on s.market_id = m.id
    union all
    select m.id, s.id, s.effective_from, s.created_at, s.cancelled_at, 2
    from catalog.markets as m
    join schedules as s on s.category_id = m.category_id and s.market_id is null
    union all
    select m.id, s.id, s.effective_from, s.created_at, s.cancelled_at, 1
    from catalog.markets as m
    cross join schedules as s
    where s.category_id is null and s.market_id is null
  ),
  -- From when another schedule goes before each. One that was just being written may have been
  -- seen by a trade or not; a minute is more than writing takes.
  replaced as (
    select c.market_id, c.schedule_id, c.effective_from,
      coalesce(
        min(greatest(c.effective_from, c.created_at + interval '1 minute')) over (
          partition by c.market_id
          order by c.rank, c.effective_from, c.schedule_id
          rows between 1 following and unbounded following
        ),
        'infinity'
      ) as replaced_at
    from candidates as c
    where c.cancelled_at is null
    -- One that was withdrawn just before may still have been seen, for the same minute.
    union all
    select c.market_id, c.schedule_id, c.effective_from, c.cancelled_at + interval '1 minute'
    from candidates as c
    where c.cancelled_at is not null
  )
  select 'order fee is what its schedule says',
    'order ' || f.taker_order_id || ' trade ' || f.id,
    coalesce(
      (
        trading.fee_cents(s.taker_rate_bps, f.weight)
        - trading.fee_cents(s.taker_rate_bps, f.weight - f.own_weight)
      )::text,
      'a schedule'
    ),
    f.fee_cents::text
  from (
    select t.id, t.taker_order_id, t.fee_cents, t.fee_schedule_id,
      t.quantity::bigint * t.price * (100 - t.price) as own_weight,
      (sum(t.quantity::bigint * t.price * (100 - t.price)) over (
        partition by t.taker_order_id order by t.id
        rows between unbounded preceding and current row
      ))::bigint as weight
    from trading.trades as t
  ) as f
  left join trading.fee_schedules as s on s.id = f.fee_schedule_id
  where f.fee_cents is distinct from
    trading.fee_cents(s.taker_rate_bps, f.weight)
    - trading.fee_cents(s.taker_rate_bps, f.weight - f.own_weight)

  union all
  select 'fee schedule was in force at the trade', 'trade ' || t.id,
    coalesce('from ' || r.effective_from || ' to ' || r.replaced_at, 'a schedule of the market'),
    'schedule ' || t.fee_schedule_id || ' at ' || t.created_at
  from trading.trades as t
  left join replaced as r
    on r.market_id = t.market_id and r.schedule_id = t.fee_schedule_id
  where r.schedule_id is null
    or t.created_at < r.effective_from
    or t.created_at >= r.replaced_at
$$;

comment on function trading.verify_fees() is
  'The part of ledger.verify() about fees: each trade adds what rounding the whole fee of its '
  'order up adds, by the schedule that was in force in its market at its time. One row for each '
  'broken invariant.';
