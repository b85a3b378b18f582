create or replace function api.resend_confirmation(user_id uuid, session_id uuid)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    resend_confirmation.user_id, resend_confirmation.session_id
  );
begin
  perform identity.request_mail('confirm_email', v_user_id, c.email)
  from identity.email_claims as c
  where c.user_id = v_user_id;
end
$$;

comment on function api.resend_confirmation(uuid, uuid) is
  'Sends the mail that confirms a user''s address again, if one waits for it. Errors: '
  'UNAUTHORIZED, UNFIT_SESSION. Locks: the account; the session, shared; the mail that waits, if '
  'no worker has it.';
