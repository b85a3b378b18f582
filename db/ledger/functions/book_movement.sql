create or replace function ledger.book_movement(
  user_id bigint,
  kind ledger.journal_kind,
  amount_cents bigint,
  reference text,
  reason text default null
)
returns boolean
language plpgsql
as $$
declare
  v_signed_cents constant bigint := case
    when book_movement.kind in ('withdrawal', 'reversal') then -book_movement.amount_cents
    else book_movement.amount_cents
  end;
  v_is_erased constant boolean := exists (
    select
    from identity.users as u
    where u.id = book_movement.user_id
      and u.erased_at is not null
  );
  v_trader trading.traders;
  v_moved_cents bigint;
  v_journal_id bigint;
begin
  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = book_movement.user_id;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.user_id = v_trader.user_id
    and m.kind = book_movement.kind
    and m.reference = book_movement.reference;
  if found then
    if v_moved_cents <> book_movement.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'The %s %L is already used for %s %s of %s cents%s',
        case book_movement.kind when 'bonus' then 'name' else 'reference' end,
        book_movement.reference,
        case book_movement.kind when 'adjustment' then 'an' else 'a' end,
        book_movement.kind, v_moved_cents,
        case book_movement.kind when 'bonus' then ' to user ' || v_trader.public_id end
      ));
    end if;
    return false;
  end if;

  if book_movement.kind = 'withdrawal' and v_trader.frozen_at is not null and not v_is_erased then
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'The account is frozen: deposits are possible, withdrawals are not'
    );
  end if;
  if v_signed_cents < 0
    and v_trader.balance_cents + v_signed_cents < 0
    and book_movement.kind <> 'reversal'
  then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'The balance is only %s cents', v_trader.balance_cents
    ));
  end if;

  if v_signed_cents > 0 and v_trader.balance_cents + v_signed_cents > 0 and v_is_erased then
    perform core.raise_error('INVALID_STATE', 'The user has been erased');
  end if;

  v_journal_id := ledger.post_journal(
    book_movement.kind,
    null,
    array[ledger.outside_account_id(), ledger.user_account_id(v_trader.user_id)],
    array[-v_signed_cents, v_signed_cents],
    core.now()
  );
  insert into ledger.cash_movements (journal_id, user_id, kind, reference, amount_cents, reason)
  values (
    v_journal_id, v_trader.user_id, book_movement.kind, book_movement.reference,
    book_movement.amount_cents, book_movement.reason
  );
  update trading.traders as t
  set external_cents = t.external_cents + v_signed_cents
  where t.user_id = v_trader.user_id;
  return true;
end
$$;

comment on function ledger.book_movement(bigint, ledger.journal_kind, bigint, text, text) is
  'Moves cash of a user in or out, once for each kind and reference of the user; returns whether '
  'it moved now. Nothing is withdrawn from a frozen account, unless its user was erased; a '
  'reference that is a movement already is still answered. Only a reversal may take the user below '
  'zero. A user who was erased may pay what is owed, is paid what a later void or correction gave '
  'back, and gets nothing else. The caller has checked the arguments '
  '(ledger.check_movement) and locked the outside world and the user. Errors: ALREADY_EXISTS (the '
  'reference with another amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, INVALID_STATE (erased).';
