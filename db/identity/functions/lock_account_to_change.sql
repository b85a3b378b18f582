create or replace function identity.lock_account_to_change(user_id bigint)
returns void
language plpgsql volatile
as $$
begin
  perform identity.lock_account(lock_account_to_change.user_id);
  if exists (
    select
    from identity.users as u
    where u.id = lock_account_to_change.user_id
      and u.erased_at is not null
  ) then
    perform core.raise_error('INVALID_STATE', 'The user has been erased');
  end if;
end
$$;

comment on function identity.lock_account_to_change(bigint) is
  'Locks an account as identity.lock_account does, for an operator who changes it. Errors: '
  'INVALID_STATE (the user was erased). Locks: the account.';
