create or replace function admin.set_fee_schedule(
  taker_rate_bps int,
  category text default null,
  market_id uuid default null,
  effective_from timestamptz default null
)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_category_id bigint;
  v_market_id bigint;
  v_schedule_id bigint;
begin
  perform admin.check_role('set_fee_schedule');
  if set_fee_schedule.category is not null and set_fee_schedule.market_id is not null then
    perform core.raise_error('INVALID_REQUEST', 'Give a category or a market, but not both');
  end if;
  if set_fee_schedule.taker_rate_bps is null
    or set_fee_schedule.taker_rate_bps not between 0 and 10000
  then
    perform core.raise_error('INVALID_REQUEST', 'The rate must be from 0 to 10000 bps');
  end if;
  if not isfinite(set_fee_schedule.effective_from) then
    perform core.raise_error('INVALID_REQUEST', 'The schedule must begin at a moment');
  end if;
  if set_fee_schedule.category is not null then
    v_category_id := catalog.category_id(set_fee_schedule.category);
  end if;
  if set_fee_schedule.market_id is not null then
    v_market_id := catalog.market_id(set_fee_schedule.market_id);
  end if;

  insert into trading.fee_schedules (category_id, market_id, taker_rate_bps, effective_from)
  values (
    v_category_id, v_market_id, set_fee_schedule.taker_rate_bps,
    coalesce(set_fee_schedule.effective_from, core.now())
  )
  returning id into v_schedule_id;

  perform admin.audit('set_fee_schedule', jsonb_build_object(
    'schedule_id', v_schedule_id,
    'taker_rate_bps', set_fee_schedule.taker_rate_bps,
    'category', set_fee_schedule.category,
    'market_id', set_fee_schedule.market_id,
    'effective_from', set_fee_schedule.effective_from
  ));
  return v_schedule_id;
end
$$;

comment on function admin.set_fee_schedule(int, text, uuid, timestamptz) is
  'Sets the taker fee of a market, of a category or, with neither, by default, from a time on '
  '(now, when none is given). Returns the id of the schedule. Errors: INVALID_REQUEST, NOT_FOUND; '
  'INVALID_STATE at the commit, if that is more than 50 seconds later.';
