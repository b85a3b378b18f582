create or replace function admin.deposit(user_id uuid, amount_cents bigint, reference text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_approval('deposit', deposit.amount_cents);
  return admin.move_cash(
    'deposit', deposit.user_id, 'deposit', deposit.amount_cents, deposit.reference
  );
end
$$;

comment on function admin.deposit(uuid, bigint, text) is
  'Adds cents to a user''s cash, once for each reference of the user; returns the new balance. '
  'Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference, another '
  'amount), INVALID_STATE (over a cap). Locks: the outside world, then the user.';
