create or replace function admin.audit(action text, arguments jsonb)
returns bigint
language plpgsql volatile
as $$
declare
  v_personal constant jsonb := admin.personal_part(audit.action, audit.arguments);
  v_plain jsonb := admin.plain_part(audit.action, audit.arguments);
  v_salt constant bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
  v_acting record;
  v_proposal_id bigint;
  v_audit_id bigint;
begin
  perform identity.lock_acting();
  perform admin.check_role(audit.action);
  select a.* into v_acting from identity.acting() as a;
  select p.id into v_proposal_id
  from admin.proposed_calls as p
  where p.is_running;
  if audit.action = 'propose' then
    v_plain := v_plain || jsonb_build_object('arguments', admin.plain_part(
      audit.arguments ->> 'command', audit.arguments -> 'arguments'
    ));
  end if;
  insert into admin.audit_log (
    operator, staff_key, action, arguments, staff_id, proposal_id, personal_digest
  )
  values (
    v_acting.login, v_acting.staff_key, audit.action, v_plain, v_acting.staff_id, v_proposal_id,
    case when v_personal <> '{}' then sha256(v_salt || convert_to(v_personal::text, 'UTF8')) end
  )
  returning id into v_audit_id;
  insert into admin.personal_arguments (audit_id, user_id, salt, arguments)
  select
    v_audit_id,
    coalesce(
      v_plain ->> 'user_id',
      v_plain #>> '{arguments,user_id}',
      (
        select p.arguments ->> 'user_id'
        from admin.proposed_calls as p
        where p.public_id = (v_plain ->> 'proposal_id')::uuid
      )
    )::uuid,
    v_salt,
    v_personal
  where v_personal <> '{}';
  return v_audit_id;
end
$$;

comment on function admin.audit(text, jsonb) is
  'Writes the audit row of an operator''s call, by whom identity.acting names, and returns its id. '
  'What is personal of the arguments (admin.commands) goes to admin.personal_arguments. A member '
  'of staff who lacks the role for the command is refused, and with that all that the call did; a '
  'proposal that is carried out was checked before. Private to the schema. Errors: UNAUTHORIZED, '
  'ROLE_REQUIRED, UNFIT_SESSION. Locks: the member of staff who acts.';
