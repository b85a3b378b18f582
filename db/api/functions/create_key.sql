create or replace function api.create_key(
  user_id uuid,
  session_id uuid,
  name text,
  scopes text[] default '{read,trade}',
  expires_at timestamptz default null,
  allowed_addresses text[] default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_user_id bigint;
  v_made identity.api_keys;
  v_constraint text;
  v_column text;
begin
  v_user_id := identity.lock_key_maker(create_key.user_id, create_key.session_id);
  v_made := identity.add_api_key(
    user_id => v_user_id,
    name => create_key.name,
    key_hash => v_key_hash,
    key_prefix => left(v_key, 9),
    scopes => create_key.scopes,
    expires_at => create_key.expires_at,
    allowed_addresses => create_key.allowed_addresses::cidr[]
  );
  perform identity.accept_new_key(v_made);
  return json_build_object('id', v_made.public_id, 'name', v_made.name, 'key', v_key);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when invalid_text_representation then
    perform core.raise_error(
      'INVALID_REQUEST',
      'allowedAddresses: must be addresses or networks, such as 203.0.113.7 or 10.0.0.0/8'
    );
end
$$;

comment on function api.create_key(uuid, uuid, text, text[], timestamptz, text[]) is
  'Makes an API key for its user and returns the body of POST /api/account/keys, with the key, '
  'which is not kept. A mail reports it with its powers. At most 50 keys are in force, and 100 are '
  'made in 24 hours. Errors: UNAUTHORIZED, INVALID_REQUEST, ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, '
  'INVALID_STATE, UNFIT_SESSION. Locks: the account; the session, shared.';
