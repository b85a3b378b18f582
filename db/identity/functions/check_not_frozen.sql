create or replace function identity.check_not_frozen(user_id bigint)
returns void
language plpgsql stable
as $$
begin
  if exists (
    select
    from trading.traders as t
    where t.user_id = check_not_frozen.user_id
      and t.frozen_at is not null
  ) then
    perform core.raise_error('ACCOUNT_FROZEN');
  end if;
end
$$;

comment on function identity.check_not_frozen(bigint) is
  'Checks that no operator has frozen the account of a user. The caller has locked the account '
  '(identity.lock_account), as admin.freeze_user does. Errors: ACCOUNT_FROZEN.';
