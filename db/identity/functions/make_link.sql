create or replace function identity.make_link(
  kind text, user_id bigint, email text, valid_for interval
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token text := identity.new_api_key('jl_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
  v_at timestamptz := core.now();
begin
  insert into identity.links (token_hash, kind, user_id, email, created_at, expires_at)
  values (
    v_token_hash, make_link.kind, make_link.user_id, make_link.email, v_at,
    v_at + make_link.valid_for
  );
  return v_token;
end
$$;

comment on function identity.make_link(text, bigint, text, interval) is
  'Makes a link and returns its token, which is not kept.';
