create or replace function admin.audit(action text, arguments jsonb)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_acting record;
  v_proposal_id bigint;
  v_role text;
begin
  perform core.check_session();
  select a.* into v_acting from identity.acting() as a;
  select p.id into v_proposal_id
  from admin.proposed_calls as p
  where p.is_running;
  if v_acting.staff_id is not null and v_proposal_id is null then
    select c.role into strict v_role
    from admin.commands as c
    where c.command = audit.action;
    if v_role <> all (v_acting.roles) then
      perform core.raise_error(
        'ROLE_REQUIRED', format('Only a member of staff with the role %s can call this', v_role)
      );
    end if;
  end if;
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
