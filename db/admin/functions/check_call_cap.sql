create or replace function admin.check_call_cap(kind ledger.journal_kind, amount_cents numeric)
returns void
language plpgsql volatile
as $$
declare
  v_most_cents bigint;
begin
  select c.per_call_cents into strict v_most_cents
  from admin.caps as c
  where c.kind = check_call_cap.kind;
  if abs(check_call_cap.amount_cents) > v_most_cents then
    perform core.raise_error('INVALID_STATE', format(
      'One call may move at most %s cents as a %s', v_most_cents,
      replace(check_call_cap.kind::text, '_', ' ')
    ));
  end if;
end
$$;

comment on function admin.check_call_cap(ledger.journal_kind, numeric) is
  'Refuses an amount, whatever its sign, that is over the cap of one call. Private to the schema. '
  'Errors: INVALID_STATE.';
