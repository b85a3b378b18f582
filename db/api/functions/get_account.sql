create or replace function api.get_account(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'id', u.public_id,
      'displayName', u.display_name,
      'email', u.email,
      'balance', t.balance_cents,
      'createdAt', core.iso8601(u.created_at)
    )
    from identity.users as u
    join trading.traders as t on t.user_id = u.id
    where u.public_id = get_account.user_id
  );
end
$$;

comment on function api.get_account(uuid) is 'The body of GET /me.';
