create or replace function identity.use_passkey(
  challenge bytea, credential_id bytea, user_handle uuid, sign_count bigint, address inet
)
returns bigint
language plpgsql volatile
as $$
declare
  v_user_id bigint;
begin
  if not identity.take_challenge(use_passkey.challenge, null) then
    return null;
  end if;
  -- The account is locked before its passkeys.
  perform identity.lock_account(p.user_id)
  from identity.passkeys as p
  where p.credential_id = use_passkey.credential_id;
  update identity.passkeys as p
  set sign_count = use_passkey.sign_count,
    last_used_at = core.now(),
    last_used_address = identity.plain_address(use_passkey.address)
  from identity.users as u
  where p.credential_id = use_passkey.credential_id
    and u.id = p.user_id
    and u.public_id = use_passkey.user_handle
    and (
      p.sign_count < use_passkey.sign_count
      -- The device does not count.
      or (p.sign_count = 0 and use_passkey.sign_count = 0)
    )
  returning p.user_id into v_user_id;
  return v_user_id;
end
$$;

comment on function identity.use_passkey(bytea, bytea, uuid, bigint, inet) is
  'The user of a passkey that has signed a challenge of api.start_passkey_sign_in, which is used '
  'up. The caller has checked the signature by the key of api.get_passkey. Null: the challenge is '
  'not valid, the passkey is not of the user with this handle, or it has signed no more often than '
  'before. Locks: the challenge, the account, the passkey.';
