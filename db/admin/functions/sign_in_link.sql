create or replace function admin.sign_in_link(user_id uuid)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '15 minutes';
  v_user_id bigint;
  v_token text;
begin
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = sign_in_link.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', sign_in_link.user_id));
  end if;
  v_token := identity.make_link('sign_in', v_user_id, null, c_valid_for);
  perform admin.audit('sign_in_link', jsonb_build_object('user_id', sign_in_link.user_id));
  return '/sign-in#' || v_token;
end
$$;

comment on function admin.sign_in_link(uuid) is
  'For support: the path of a link that signs a user in, once, within 15 minutes. The user is told '
  'of the sign-in by mail. Errors: NOT_FOUND.';
