create or replace function identity.check_new_passkey(user_id bigint)
returns void
language plpgsql stable
as $$
declare
  c_most constant int := 20;
  c_most_a_day constant int := 50;
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
  if (
    select count(*)
    from identity.mails as m
    where m.user_id = check_new_passkey.user_id
      and m.kind = 'passkey_added'
      and m.created_at > core.now() - interval '24 hours'
  ) >= c_most_a_day then
    perform core.raise_error(
      'INVALID_STATE', format('An account adds at most %s passkeys in 24 hours', c_most_a_day)
    );
  end if;
end
$$;

comment on function identity.check_new_passkey(bigint) is
  'Checks that a user may have one passkey more: at most 20, and 50 are added in 24 hours, '
  'each of which a mail reports. Errors: ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, INVALID_STATE.';
