create or replace function admin.reverse_deposit(
  reference text, reason text, user_id uuid default null
)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deposit record;
begin
  perform admin.check_role('reverse_deposit');
  perform core.check_reason(reverse_deposit.reason);
  select t.public_id as user_id, c.amount_cents, count(*) over () as user_count
  into v_deposit
  from ledger.cash_movements as c
  join trading.traders as t on t.user_id = c.user_id
  where c.kind = 'deposit'
    and c.reference = reverse_deposit.reference
    and (reverse_deposit.user_id is null or t.public_id = reverse_deposit.user_id)
  limit 1;
  if not found then
    perform core.raise_error('NOT_FOUND', 'There is no deposit with this reference');
  elsif v_deposit.user_count > 1 then
    perform core.raise_error('INVALID_REQUEST', format(
      'The reference is that of a deposit of %s users: user_id must say whose', v_deposit.user_count
    ));
  end if;
  perform admin.check_approval('reverse_deposit', v_deposit.amount_cents);

  return admin.move_cash(
    'reverse_deposit', v_deposit.user_id, 'reversal', v_deposit.amount_cents,
    reverse_deposit.reference, reverse_deposit.reason
  );
end
$$;

comment on function admin.reverse_deposit(text, text, uuid) is
  'Takes the deposit with this reference back from its user, once and for a reason that is kept; '
  'returns the new balance. What was spent of it takes the cash below zero: a receivable '
  '(admin.receivables). user_id is needed only if several users have a deposit with the reference. '
  'Works in a frozen account. Errors: INVALID_REQUEST, NOT_FOUND, APPROVAL_REQUIRED, '
  'INVALID_STATE (over a cap). Locks: the outside world, then the user.';
