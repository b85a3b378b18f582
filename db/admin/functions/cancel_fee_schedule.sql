create or replace function admin.cancel_fee_schedule(schedule_id bigint)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_effective_from timestamptz;
begin
  perform admin.check_role('cancel_fee_schedule');
  select s.effective_from into v_effective_from
  from trading.fee_schedules as s
  where s.id = cancel_fee_schedule.schedule_id;
  if not found then
    perform core.raise_error(
      'NOT_FOUND', format('There is no fee schedule %s', cancel_fee_schedule.schedule_id)
    );
  end if;
  insert into trading.fee_cancellations (fee_schedule_id)
  values (cancel_fee_schedule.schedule_id)
  on conflict on constraint fee_cancellations_happen_once do nothing;
  if not found then
    perform core.raise_error('INVALID_STATE', 'The schedule is withdrawn already');
  elsif v_effective_from <= core.now() then
    perform core.raise_error('INVALID_STATE', format(
      'The schedule is in force since %s; only a later one replaces it', v_effective_from
    ));
  end if;
  perform admin.audit('cancel_fee_schedule', jsonb_build_object(
    'schedule_id', cancel_fee_schedule.schedule_id
  ));
end
$$;

comment on function admin.cancel_fee_schedule(bigint) is
  'Withdraws a fee schedule that is not in force yet: it never will be. Errors: NOT_FOUND, '
  'INVALID_STATE (in force, or withdrawn; at the commit, if that is more than 50 seconds later), '
  'UNFIT_SESSION. Locks: the entry in trading.fee_cancellations.';
