create or replace function admin.check_erasable(person identity.users)
returns void
language plpgsql stable
as $$
declare
  v_trader trading.traders;
begin
  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = (person).id;
  if v_trader.balance_cents <> 0 then
    perform core.raise_error('INVALID_STATE', format(
      'The account %s %s cents',
      case when v_trader.balance_cents > 0 then 'still has' else 'owes' end,
      abs(v_trader.balance_cents)
    ));
  end if;
  if exists (select from trading.active_orders as o where o.user_id = v_trader.user_id) then
    perform core.raise_error('INVALID_STATE', 'The account has open orders');
  end if;
  if exists (
    select
    from admin.positions as p
    where p.user_key = v_trader.user_id
      and p.open_quantity > 0
  ) then
    perform core.raise_error(
      'INVALID_STATE', 'The account has shares in a market that is not settled'
    );
  end if;
  if exists (
    select
    from identity.staff as s
    where lower(s.email collate "C") = lower((person).email collate "C")
      and s.removed_at is null
  ) then
    perform core.raise_error('INVALID_STATE', 'A member of staff has this e-mail address');
  end if;
end
$$;

comment on function admin.check_erasable(identity.users) is
  'Refuses to erase a user who has cash, a receivable, an open order or shares in a market that is '
  'not settled, or who has the address of a member of staff. The caller has locked the user. '
  'Private to the schema. Errors: INVALID_STATE.';
