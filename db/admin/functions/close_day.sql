create or replace function admin.close_day(day date, reason text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Until then, all trades of before midnight have their ids.
  c_settled_after constant interval := '10 minutes';
  v_compared admin.bank_comparisons;
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('close_day');
  if isfinite(close_day.day) is not true then
    perform core.raise_error('INVALID_REQUEST', 'The day must be a date');
  end if;
  -- Before the comparison: of a day that has not ended, none is good.
  if core.now() < (close_day.day + 1)::timestamp at time zone 'UTC' + c_settled_after then
    perform core.raise_error(
      'INVALID_STATE', 'A day can be closed from ten minutes after its end, in UTC'
    );
  end if;
  -- It waited for the movements of the day.
  select c.* into v_compared
  from admin.bank_comparisons as c
  where c.day = close_day.day
    and c.at >= (close_day.day + 1)::timestamp at time zone 'UTC'
  for share;
  if not found then
    perform core.raise_error(
      'INVALID_STATE',
      'The day is not compared with the bank since it has ended: call admin.reconcile'
    );
  end if;
  if v_compared.differences <> '[]' and close_day.reason is null then
    perform core.raise_error('INVALID_STATE', format(
      'Differences from the bank: %s. Give the reason why the day is closed with them',
      jsonb_array_length(v_compared.differences)
    ));
  end if;
  perform ledger.close_day(
    close_day.day, v_compared.bank_entries, v_compared.differences, close_day.reason
  );
  perform admin.audit('close_day', jsonb_build_object(
    'day', close_day.day, 'reason', close_day.reason
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.close_day(date, text) is
  'Closes the books of a day (UTC) that admin.reconcile has compared with the bank; with '
  'differences a reason is needed. Days are closed one after the other, and for good. What is '
  'kept: admin.closed_days and admin.closed_figures. It reads the trades and journals of the '
  'day; the first day that is closed also those before it. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, INVALID_STATE (too early, not the next day, not compared since it has ended, '
  'differences without a reason, a transaction that moves cash or shares stays open), '
  'ALREADY_EXISTS, UNFIT_SESSION. Locks: the comparison, then ledger.closed_days in mode share row '
  'exclusive.';
