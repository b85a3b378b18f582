create or replace function trading.fee_schedule_in_force(
  market_id bigint, category_id bigint, at timestamptz
)
returns trading.fee_schedules
language plpgsql stable
set search_path = ''
as $$
declare
  v_schedule trading.fee_schedules;
begin
  select f.* into v_schedule
  from trading.fee_schedules as f
  where f.effective_from <= fee_schedule_in_force.at
    and (
      f.market_id = fee_schedule_in_force.market_id
      or f.category_id = fee_schedule_in_force.category_id
      or (f.market_id is null and f.category_id is null)
    )
  order by
    f.market_id is not null desc,
    f.category_id is not null desc,
    f.effective_from desc,
    f.id desc
  limit 1;
  return v_schedule;
end
$$;

comment on function trading.fee_schedule_in_force(bigint, bigint, timestamptz) is
  'The fee schedule of a market at a time: its own, else its category''s, else the default.';
