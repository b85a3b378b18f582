create or replace function admin.create_api_key(
  user_id uuid,
  name text,
  scopes text[] default '{read,trade}',
  expires_at timestamptz default null,
  allowed_addresses cidr[] default null
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_user_id constant bigint := identity.user_id(create_api_key.user_id);
  v_made identity.api_keys;
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('create_api_key');
  perform identity.lock_account_to_change(v_user_id);
  v_made := identity.add_api_key(
    user_id => v_user_id,
    name => create_api_key.name,
    key_hash => v_key_hash,
    key_prefix => left(v_key, 9),
    scopes => create_api_key.scopes,
    expires_at => create_api_key.expires_at,
    allowed_addresses => create_api_key.allowed_addresses
  );
  perform admin.audit('create_api_key', jsonb_build_object(
    'user_id', create_api_key.user_id,
    'name', create_api_key.name,
    'scopes', v_made.scopes,
    'expires_at', create_api_key.expires_at,
    'allowed_addresses', create_api_key.allowed_addresses,
    'key_id', v_made.public_id
  ));
  perform admin.report_to_user('new_key', v_user_id, identity.key_details(v_made));
  return v_key;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_api_key(uuid, text, text[], timestamptz, cidr[]) is
  'Makes an API key and returns it; it is not kept and can never be shown again. It may read, '
  'trade or both, until it expires (null: it does not), from these addresses and networks (null: '
  'from all). A mail reports one that a member of staff makes. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (erased), UNFIT_SESSION. Locks: the account.';
