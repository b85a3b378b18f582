create or replace function ledger.move_cash(
  user_id uuid,
  kind ledger.journal_kind,
  amount_cents bigint,
  reference text,
  reason text default null
)
returns bigint
language plpgsql
as $$
declare
  v_user_id bigint;
begin
  perform ledger.check_movement(
    move_cash.kind, move_cash.amount_cents, move_cash.reference
  );
  perform ledger.lock_outside_world();
  v_user_id := identity.lock_user(move_cash.user_id);
  perform ledger.book_movement(
    v_user_id, move_cash.kind, move_cash.amount_cents, move_cash.reference, move_cash.reason
  );
  return (select t.balance_cents from trading.traders as t where t.user_id = v_user_id);
end
$$;

comment on function ledger.move_cash(uuid, ledger.journal_kind, bigint, text, text) is
  'Moves cash of one user in or out, as ledger.book_movement says; returns the new balance. '
  'Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference with another amount), '
  'ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, INVALID_STATE (erased), UNFIT_SESSION. Locks: the '
  'outside world, then the user.';
