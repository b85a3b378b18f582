-- The order begins with the columns that are null, which are alike: then it is that of the index.
create or replace function trading.fee_in_force(
  market_id bigint, category_id bigint, at timestamptz
)
returns setof trading.fee_schedules
language sql stable
begin atomic
  select f.*
  from trading.fee_schedules as f
  where f.id = coalesce(
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id = fee_in_force.market_id
        and s.category_id is null
        and s.effective_from <= fee_in_force.at
        and not exists (
          select from trading.fee_cancellations as c where c.fee_schedule_id = s.id
        )
      order by s.category_id, s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id = fee_in_force.category_id
        and s.effective_from <= fee_in_force.at
        and not exists (
          select from trading.fee_cancellations as c where c.fee_schedule_id = s.id
        )
      order by s.market_id, s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id is null
        and s.effective_from <= fee_in_force.at
        and not exists (
          select from trading.fee_cancellations as c where c.fee_schedule_id = s.id
        )
      order by s.market_id, s.category_id, s.effective_from desc, s.id desc
      limit 1
    )
  );
end;

comment on function trading.fee_in_force(bigint, bigint, timestamptz) is
  'The fee schedule of a market at a time: its own, else its category''s, else the default; of '
  'these the latest. One that was withdrawn does not count.';
