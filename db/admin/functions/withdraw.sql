create or replace function admin.withdraw(user_id uuid, amount_cents bigint, reference text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_approval('withdraw', withdraw.amount_cents);
  return admin.move_cash(
    'withdraw', withdraw.user_id, 'withdrawal', withdraw.amount_cents, withdraw.reference
  );
end
$$;

comment on function admin.withdraw(uuid, bigint, text) is
  'Takes cents from a user''s cash, once for each reference of the user; returns the new balance. '
  'Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference, another '
  'amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, INVALID_STATE (over a cap). Locks: the outside '
  'world, then the user.';
