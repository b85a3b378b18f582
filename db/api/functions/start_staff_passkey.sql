create or replace function api.start_staff_passkey(
  session_id uuid,
  out challenge bytea,
  out known json
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staff_id bigint := identity.staff_of_fresh_session(start_staff_passkey.session_id);
begin
  if v_staff_id is null then
    perform core.raise_error('SIGN_IN_AGAIN');
  end if;
  challenge := identity.new_challenge(null);
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
  from identity.staff_passkeys as p
  where p.staff_id = v_staff_id;
end
$$;

comment on function api.start_staff_passkey(uuid) is
  'What a browser needs to make a passkey for the member of staff whose session this is: a '
  'challenge, as of api.start_passkey_sign_in, and the passkeys that the member has, as WebAuthn '
  'lists them. The session must have begun within the last 10 minutes. Errors: SIGN_IN_AGAIN.';
