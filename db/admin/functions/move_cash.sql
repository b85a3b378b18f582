create or replace function admin.move_cash(
  user_id uuid,
  kind ledger.journal_kind,
  amount_cents bigint,
  reference text,
  reason text default null
)
returns bigint
language plpgsql volatile
as $$
begin
  perform ledger.lock_outside_world();
  -- A reference that is one already moves nothing.
  if not exists (
    select
    from ledger.cash_movements as c
    join trading.traders as t on t.user_id = c.user_id
    where t.public_id = move_cash.user_id
      and c.kind = move_cash.kind
      and c.reference = move_cash.reference
  ) then
    perform admin.count_cash(move_cash.kind, move_cash.amount_cents);
  end if;
  return ledger.move_cash(
    move_cash.user_id, move_cash.kind, move_cash.amount_cents, move_cash.reference,
    move_cash.reason
  );
end
$$;

comment on function admin.move_cash(uuid, ledger.journal_kind, bigint, text, text) is
  'Moves cash of one user by ledger.move_cash, within the caps of admin.count_cash. Private to the '
  'schema. Errors: those of both. Locks: the outside world, then the user.';
