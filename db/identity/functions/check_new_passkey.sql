create or replace function identity.check_new_passkey("user" identity.users)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 20;
begin
  if not identity.is_confirmed("user") then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  if (
    select count(*)
    from identity.passkeys as p
    where p.user_id = ("user").id
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s passkeys: remove one first', c_most)
    );
  end if;
end
$$;

comment on function identity.check_new_passkey(identity.users) is
  'Checks that a user may have one passkey more: at most 20. Errors: EMAIL_UNCONFIRMED, '
  'INVALID_STATE.';
