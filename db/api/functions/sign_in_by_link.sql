create or replace function api.sign_in_by_link(
  token_hash bytea,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  address inet default null,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links := identity.take_link('sign_in', sign_in_by_link.token_hash);
begin
  select u.public_id into strict user_id
  from identity.users as u
  where u.id = v_link.user_id;
  perform identity.notify_user(
    'new_sign_in', v_link.user_id,
    json_build_object('browser', left(sign_in_by_link.browser, 300), 'byLink', true)
  );
  cookie := identity.open_session(
    v_link.user_id, sign_in_by_link.browser, sign_in_by_link.is_host_only,
    sign_in_by_link.ended_cookie_hash,
    sign_in_by_link.address
  );
end
$$;

comment on function api.sign_in_by_link(bytea, text, boolean, bytea, inet) is
  'Opens a session for the user of a link of admin.sign_in_link, and returns its cookie, which is '
  'not kept. A mail reports it. Errors: INVALID_LINK. Locks: the account, the link, the rows of '
  'the sessions that end.';
