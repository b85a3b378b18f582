create or replace function identity.check_new_passkey(user_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 20;
begin
  perform identity.check_not_frozen(check_new_passkey.user_id);
  if not exists (
    select
    from identity.users as u
    where u.id = check_new_passkey.user_id
      and identity.is_confirmed(u)
  ) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  if (
    select count(*)
    from identity.passkeys as p
    where p.user_id = check_new_passkey.user_id
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s passkeys: remove one first', c_most)
    );
  end if;
end
$$;

comment on function identity.check_new_passkey(bigint) is
  'Checks that a user may have one passkey more: at most 20. Errors: ACCOUNT_FROZEN, '
  'EMAIL_UNCONFIRMED, INVALID_STATE.';
