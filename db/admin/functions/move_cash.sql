create or replace function admin.move_cash(
  command text,
  user_id uuid,
  kind ledger.journal_kind,
  amount_cents bigint,
  reference text,
  reason text default null
)
returns bigint
language plpgsql volatile
as $$
declare
  v_is_repeated boolean;
  v_balance_cents bigint;
begin
  perform ledger.lock_outside_world();
  v_is_repeated := exists (
    select
    from ledger.cash_movements as c
    join trading.traders as t on t.user_id = c.user_id
    where t.public_id = move_cash.user_id
      and c.kind = move_cash.kind
      and c.reference = move_cash.reference
  );
  if not v_is_repeated then
    perform admin.count_cash(move_cash.kind, move_cash.amount_cents);
  end if;
  v_balance_cents := ledger.move_cash(
    move_cash.user_id, move_cash.kind, move_cash.amount_cents, move_cash.reference,
    move_cash.reason
  );
  perform admin.audit(move_cash.command, jsonb_strip_nulls(jsonb_build_object(
    'user_id', move_cash.user_id,
    'amount_cents', move_cash.amount_cents,
    'reference', move_cash.reference,
    'reason', move_cash.reason,
    'repeated', nullif(v_is_repeated, false)
  )));
  return v_balance_cents;
end
$$;

comment on function admin.move_cash(text, uuid, ledger.journal_kind, bigint, text, text) is
  'Moves cash of one user by ledger.move_cash, within the caps of admin.count_cash, and audits it '
  'as the command that calls this. Of a reference that is a movement already, which moves nothing, '
  'the audit log has repeated: true. Returns the new balance. Private to the schema. Errors: those '
  'of both. Locks: the outside world, then the user.';
