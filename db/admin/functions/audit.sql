create or replace function admin.audit(action text, arguments jsonb)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select core.check_session();
  insert into admin.audit_log (operator, staff_key, action, arguments)
  values (
    session_user,
    nullif(current_setting('exchange.operator', true), ''),
    audit.action,
    audit.arguments
  )
$$;

comment on function admin.audit(text, jsonb) is
  'Writes the audit row of an operator''s call. Private to the schema. Errors: UNFIT_SESSION.';
