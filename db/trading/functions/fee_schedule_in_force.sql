create or replace function trading.fee_schedule_in_force(market catalog.markets, at timestamptz)
returns trading.fee_schedules
language sql stable
begin atomic
  select f
  from (
    (
      select s as f, 1 as precedence
      from trading.fee_schedules as s
      where s.market_id = (market).id
        and s.category_id is null
        and s.effective_from <= fee_schedule_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    )
    union all
    (
      select s, 2
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id = (market).category_id
        and s.effective_from <= fee_schedule_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    )
    union all
    (
      select s, 3
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id is null
        and s.effective_from <= fee_schedule_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    )
  ) as candidates
  order by precedence
  limit 1;
end;

comment on function trading.fee_schedule_in_force(catalog.markets, timestamptz) is
  'The fee schedule of a market at a time: its own, else its category''s, else the default.';
