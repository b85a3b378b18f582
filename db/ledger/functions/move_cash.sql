create or replace function ledger.move_cash(
  user_id uuid, kind ledger.journal_kind, amount_cents bigint, reference text
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signed_cents bigint;
  v_outside ledger.accounts;
  v_account ledger.accounts;
  v_moved_cents bigint;
  v_journal_id bigint;
begin
  perform core.check_session();
  if move_cash.amount_cents is null or move_cash.amount_cents <= 0 then
    perform core.raise_error('INVALID_REQUEST', 'the amount must be above 0');
  end if;
  if move_cash.amount_cents > 1000000000000000 then
    perform core.raise_error(
      'INVALID_REQUEST', 'the amount must be at most 10,000,000,000,000.00 EUR'
    );
  end if;
  if move_cash.reference is null or move_cash.reference !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'a reference is needed');
  end if;

  -- The outside world has the lowest id of all accounts: ascending order, as everywhere.
  select * into strict v_outside
  from ledger.accounts as a
  where a.kind = 'outside_world'
  for no key update;

  select a.* into v_account
  from ledger.accounts as a
  join identity.users as u on u.id = a.user_id
  where u.public_id = move_cash.user_id
  for no key update of a;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', move_cash.user_id));
  end if;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.account_id = v_account.id
    and m.kind = move_cash.kind
    and m.reference = move_cash.reference;
  if found then
    if v_moved_cents <> move_cash.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'reference %L is a %s of %s cents already',
        move_cash.reference, move_cash.kind, v_moved_cents
      ));
    end if;
    return v_account.balance_cents;
  end if;

  if move_cash.kind = 'withdrawal' and exists (
    select from trading.traders as t
    where t.user_id = v_account.user_id and t.frozen_at is not null
  ) then
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'the account is frozen: deposits are possible, withdrawals are not'
    );
  end if;

  v_signed_cents := case move_cash.kind
    when 'deposit' then move_cash.amount_cents
    else -move_cash.amount_cents
  end;
  if v_signed_cents < 0 and v_account.balance_cents + v_signed_cents < 0 then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'the balance is %s cents', v_account.balance_cents
    ));
  end if;

  v_journal_id := ledger.post_journal(
    move_cash.kind,
    null,
    array[v_outside.id, v_account.id],
    array[-v_signed_cents, v_signed_cents],
    core.now()
  );
  insert into ledger.cash_movements (journal_id, account_id, kind, reference, amount_cents)
  values (
    v_journal_id, v_account.id, move_cash.kind, move_cash.reference, move_cash.amount_cents
  );
  update ledger.accounts as a
  set external_cents = a.external_cents + v_signed_cents
  where a.id = v_account.id;

  return v_account.balance_cents + v_signed_cents;
end
$$;

comment on function ledger.move_cash(uuid, ledger.journal_kind, bigint, text) is
  'Deposits or withdraws cents once for each reference of a user; returns the new balance. '
  'Nothing is withdrawn from a frozen account; a reference that is a movement already is still '
  'answered. Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference with another '
  'amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, UNFIT_SESSION. Locks: the outside world''s '
  'account, then the user''s.';
