create or replace function admin.sign_in_link(user_id uuid)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '15 minutes';
  v_user_id constant bigint := identity.user_id(sign_in_link.user_id);
  v_token text;
begin
  perform admin.check_approval('sign_in_link');
  perform identity.lock_account_to_change(v_user_id);
  v_token := identity.make_link('sign_in', v_user_id, null, c_valid_for);
  perform admin.audit('sign_in_link', jsonb_build_object('user_id', sign_in_link.user_id));
  return '/sign-in#' || v_token;
end
$$;

comment on function admin.sign_in_link(uuid) is
  'For support: the path of a link that signs a user in, once, within 15 minutes. The user gets a '
  'mail about the sign-in. Errors: APPROVAL_REQUIRED, NOT_FOUND, INVALID_STATE (erased), '
  'UNFIT_SESSION. Locks: the account.';
