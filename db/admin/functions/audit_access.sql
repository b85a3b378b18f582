create or replace function admin.audit_access(action text, staff_id bigint, passkey_name text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into admin.audit_log (operator, action, arguments, staff_id)
  values (
    session_user::text, audit_access.action,
    jsonb_build_object('passkey_name', audit_access.passkey_name), audit_access.staff_id
  )
$$;

comment on function admin.audit_access(text, bigint, text) is
  'Writes the audit row of a passkey that a member of staff adds. The operator is the login of the '
  'server. Functions of schema api call it when they have checked the link or the session. Not '
  'for operators.';
