create or replace function admin.count_movement(
  user_id uuid, kind ledger.journal_kind, amount_cents bigint, reference text
)
returns void
language plpgsql volatile
as $$
begin
  perform ledger.lock_outside_world();
  if not exists (
    select
    from ledger.cash_movements as c
    join trading.traders as t on t.user_id = c.user_id
    where t.public_id = count_movement.user_id
      and c.kind = count_movement.kind
      and c.reference = count_movement.reference
  ) then
    perform admin.count_cash(count_movement.kind, count_movement.amount_cents);
  end if;
end
$$;

comment on function admin.count_movement(uuid, ledger.journal_kind, bigint, text) is
  'Counts a movement of cash by admin.count_cash, unless its reference is one already and nothing '
  'will move. Private to the schema. Errors: INVALID_STATE, UNAUTHORIZED, UNFIT_SESSION. Locks: '
  'the outside world.';
