create or replace function admin.propose(command text, arguments jsonb, reason text)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '24 hours';
  c_done constant text := 'EX999';
  v_at constant timestamptz := core.now();
  v_acting record;
  v_role text;
  v_basis jsonb;
  v_tried record;
  v_id bigint;
  v_proposal_id uuid;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  select a.* into v_acting from identity.acting() as a;
  select c.role into v_role
  from admin.commands as c
  where c.command = propose.command
    and c.approval <> 'never';
  if not found then
    perform core.raise_error(
      'INVALID_REQUEST', format('The call of %L cannot be proposed', propose.command)
    );
  end if;
  if (v_role = any (v_acting.roles)) is not true then
    perform core.raise_error(
      'ROLE_REQUIRED', format('Only a member of staff with the role %s can propose this', v_role)
    );
  end if;

  v_basis := admin.basis(propose.command, propose.arguments);
  insert into admin.proposed_calls (
    command, arguments, reason, proposed_by, proposed_at, expires_at, basis
  )
  values (
    propose.command, propose.arguments, propose.reason, v_acting.staff_id, v_at,
    v_at + c_valid_for, v_basis
  )
  returning id, public_id into v_id, v_proposal_id;
  begin
    update admin.proposed_calls as p
    set is_running = true
    where p.id = v_id;
    select c.* into v_tried from admin.carry_out(propose.command, propose.arguments) as c;
    raise exception using errcode = c_done;
  exception when sqlstate 'EX999' then
    null; -- all that the command did is undone
  end;
  update admin.proposed_calls as p
  set
    arguments = v_tried.arguments,
    preview = case when not c.returns_secret then v_tried.result end
  from admin.commands as c
  where c.command = p.command
    and p.id = v_id;
  perform admin.audit('propose', jsonb_build_object(
    'command', propose.command,
    'arguments', v_tried.arguments,
    'reason', propose.reason,
    'proposal_id', v_proposal_id
  ) || jsonb_strip_nulls(jsonb_build_object('user_id', admin.only_user_of(v_basis))));
  return v_proposal_id;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when data_exception then
    perform core.raise_error('INVALID_REQUEST', sqlerrm);
end
$$;

comment on function admin.propose(text, jsonb, text) is
  'Proposes a call of a function of schema admin, with its arguments by their names, for another '
  'member of staff to approve within 24 hours; returns the id. The call is tried and rolled back: '
  'admin.proposals shows what it returned. Errors: INVALID_REQUEST, ROLE_REQUIRED (the caller is '
  'no member of staff with the role that the command needs), NOT_FOUND and all others of the '
  'command. Locks: those of admin.basis and of the command.';
