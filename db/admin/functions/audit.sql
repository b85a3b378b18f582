create or replace function admin.audit(action text, arguments jsonb)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_acting record;
  v_proposal_id bigint;
begin
  perform core.check_session();
  perform admin.check_role(audit.action);
  select a.* into v_acting from identity.acting() as a;
  select p.id into v_proposal_id
  from admin.proposed_calls as p
  where p.is_running;
  insert into admin.audit_log (operator, staff_key, action, arguments, staff_id, proposal_id)
  values (
    v_acting.login, v_acting.staff_key, audit.action, audit.arguments, v_acting.staff_id,
    v_proposal_id
  );
end
$$;

comment on function admin.audit(text, jsonb) is
  'Writes the audit row of an operator''s call, by whom identity.acting names. A member of staff '
  'who lacks the role for the command is refused, and with that all that the call did; a proposal '
  'that is carried out was checked before. Private to the schema. Errors: UNAUTHORIZED, '
  'ROLE_REQUIRED, UNFIT_SESSION.';
