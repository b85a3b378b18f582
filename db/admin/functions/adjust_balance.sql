create or replace function admin.adjust_balance(
  user_id uuid, amount_cents bigint, reference text, reason text
)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_approval('adjust_balance', adjust_balance.amount_cents);
  perform core.check_reason(adjust_balance.reason);
  return admin.move_cash(
    'adjust_balance', adjust_balance.user_id, 'adjustment', adjust_balance.amount_cents,
    adjust_balance.reference, adjust_balance.reason
  );
end
$$;

comment on function admin.adjust_balance(uuid, bigint, text, text) is
  'Adds cents to a user''s cash, or takes them with an amount below 0, once for each reference of '
  'the user and for a reason that is kept; returns the new balance. Works in a frozen account. '
  'Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference, another '
  'amount), INSUFFICIENT_BALANCE (it takes more than there is), INVALID_STATE (over a cap). Locks: '
  'the outside world, then the user.';
