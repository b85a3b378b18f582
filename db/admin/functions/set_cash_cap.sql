create or replace function admin.set_cash_cap(
  kind text, per_call_cents bigint, per_day_cents bigint
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('set_cash_cap');
  perform ledger.lock_outside_world();
  update admin.caps as c set
    per_call_cents = set_cash_cap.per_call_cents,
    per_day_cents = set_cash_cap.per_day_cents
  where c.kind::text = set_cash_cap.kind;
  if not found then
    perform core.raise_error(
      'INVALID_REQUEST',
      'The kind must be deposit, withdrawal, bonus, adjustment, reversal or fee_payout'
    );
  end if;
  perform admin.audit('set_cash_cap', jsonb_build_object(
    'kind', set_cash_cap.kind,
    'per_call_cents', set_cash_cap.per_call_cents,
    'per_day_cents', set_cash_cap.per_day_cents
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_cash_cap(text, bigint, bigint) is
  'Caps how much cash one member of staff, login or key may move as deposit, withdrawal, bonus, '
  'adjustment, reversal or fee_payout, by one call and by all calls of a day (UTC); null is no '
  'cap. What was moved today counts. Errors: INVALID_REQUEST, APPROVAL_REQUIRED. Locks: the '
  'outside world: it waits for calls that move cash.';
