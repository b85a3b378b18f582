create or replace function identity.make_link(
  kind text, user_id bigint, email text, valid_for interval
)
returns text
language plpgsql volatile
as $$
declare
  v_token text := identity.new_api_key('jl_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
begin
  perform identity.lock_account(make_link.user_id);
  perform identity.add_link(
    v_token_hash, make_link.kind, make_link.user_id, make_link.email, make_link.valid_for
  );
  return v_token;
end
$$;

comment on function identity.make_link(text, bigint, text, interval) is
  'Makes a link for an operator and returns its token, which is not kept. Locks: the account.';
