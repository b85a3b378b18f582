create or replace function api.start_passkey(
  user_id uuid,
  session_id uuid,
  out challenge bytea,
  out email text,
  out display_name text,
  out known json
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_session_id bigint := identity.fresh_session(start_passkey.user_id, start_passkey.session_id);
  v_user identity.users;
begin
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = start_passkey.user_id;
  perform identity.check_new_passkey(v_user.id);
  challenge := identity.new_challenge(v_session_id);
  email := v_user.email;
  display_name := v_user.display_name;
  select coalesce(
    json_agg(
      json_build_object(
        'id', identity.base64url(p.credential_id),
        'type', 'public-key',
        'transports', p.transports
      )
      order by p.id
    ),
    '[]'
  ) into known
  from identity.passkeys as p
  where p.user_id = v_user.id;
end
$$;

comment on function api.start_passkey(uuid, uuid) is
  'What a browser needs to make a passkey for its user: a challenge, which is good once, for '
  'this session, for 5 minutes; what to call the user; and the passkeys that the user has, as '
  'WebAuthn lists them. The session must have begun within the last 10 minutes. Errors: '
  'SIGN_IN_AGAIN, ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. Locks: the '
  'session, shared; its challenge.';
