create or replace function ledger.move_cash(
  user_id uuid, kind ledger.journal_kind, amount_cents bigint, reference text
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signed_cents bigint;
  v_trader trading.traders;
  v_moved_cents bigint;
  v_journal_id bigint;
begin
  perform core.check_session();
  if move_cash.amount_cents is null or move_cash.amount_cents <= 0 then
    perform core.raise_error('INVALID_REQUEST', 'The amount must be above 0');
  end if;
  if move_cash.amount_cents > 1000000000000000 then
    perform core.raise_error(
      'INVALID_REQUEST', 'The amount must be at most 10,000,000,000,000.00 EUR'
    );
  end if;
  if coalesce(move_cash.reference, '') !~ '[^[:space:]]' or length(move_cash.reference) > 200 then
    perform core.raise_error(
      'INVALID_REQUEST', 'A reference of at most 200 characters is required'
    );
  end if;

  -- The outside world goes before all users, so that no two movements wait for each other.
  perform
  from ledger.outside_world as w
  for no key update;

  select t.* into v_trader
  from trading.traders as t
  where t.public_id = move_cash.user_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no user %s', move_cash.user_id));
  end if;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.user_id = v_trader.user_id
    and m.kind = move_cash.kind
    and m.reference = move_cash.reference;
  if found then
    if v_moved_cents <> move_cash.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'The reference %L is already used for a %s of %s cents',
        move_cash.reference, move_cash.kind, v_moved_cents
      ));
    end if;
    return v_trader.balance_cents;
  end if;

  if move_cash.kind = 'withdrawal' and v_trader.frozen_at is not null then
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'The account is frozen: deposits are possible, withdrawals are not'
    );
  end if;

  v_signed_cents := case move_cash.kind
    when 'deposit' then move_cash.amount_cents
    else -move_cash.amount_cents
  end;
  if v_signed_cents < 0 and v_trader.balance_cents + v_signed_cents < 0 then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'The balance is only %s cents', v_trader.balance_cents
    ));
  end if;

  v_journal_id := ledger.post_journal(
    move_cash.kind,
    null,
    array[ledger.outside_account_id(), ledger.user_account_id(v_trader.user_id)],
    array[-v_signed_cents, v_signed_cents],
    core.now()
  );
  insert into ledger.cash_movements (journal_id, user_id, kind, reference, amount_cents)
  values (
    v_journal_id, v_trader.user_id, move_cash.kind, move_cash.reference, move_cash.amount_cents
  );
  update trading.traders as t
  set external_cents = t.external_cents + v_signed_cents
  where t.user_id = v_trader.user_id;

  return v_trader.balance_cents + v_signed_cents;
end
$$;

comment on function ledger.move_cash(uuid, ledger.journal_kind, bigint, text) is
  'Deposits or withdraws cents once for each reference of a user; returns the new balance. '
  'Nothing is withdrawn from a frozen account; a reference that is a movement already is still '
  'answered. Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference with another '
  'amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, UNFIT_SESSION. Locks: the outside world, '
  'then the user.';
