create or replace function admin.set_approval_rule(
  command text, role text, from_cents bigint default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_command admin.commands;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_approval_rule');
  lock table admin.rules in exclusive mode;
  perform admin.check_approval('set_approval_rule');
  select c.* into v_command
  from admin.commands as c
  where c.command = set_approval_rule.command
    and c.approval <> 'never';
  if not found then
    perform core.raise_error('INVALID_REQUEST', format(
      'There is no command %L that may need approval', set_approval_rule.command
    ));
  end if;
  if set_approval_rule.from_cents is not null and not v_command.has_amount then
    perform core.raise_error('INVALID_REQUEST', 'Only a command with an amount has a bound');
  end if;
  -- Before it: the rule may say who approves this.
  perform admin.audit('set_approval_rule', jsonb_build_object(
    'command', set_approval_rule.command,
    'role', set_approval_rule.role,
    'from_cents', set_approval_rule.from_cents
  ));
  insert into admin.rules (command, role, from_cents)
  values (set_approval_rule.command, set_approval_rule.role, set_approval_rule.from_cents)
  on conflict on constraint rules_pkey do update set
    role = excluded.role,
    from_cents = excluded.from_cents;
  if (
    select
      count(*) filter (where set_approval_rule.role = any (s.roles)) < 2
      or count(*) filter (where v_command.role = any (s.roles)) < 1
    from identity.staff as s
    where s.removed_at is null
      and (s.password_hash is not null or identity.is_login_of_person(s.login))
  ) then
    perform core.raise_error('INVALID_STATE', format(
      'The rule needs two members of staff with the role %s%s who can act: '
      'they have accepted the invitation, or have a login with exchange_operator',
      set_approval_rule.role,
      case when v_command.role <> set_approval_rule.role
        then format(' and one with the role %s', v_command.role) else '' end
    ));
  end if;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_approval_rule(text, text, bigint) is
  'From now on a call of this command must be proposed, and approved by another member of staff '
  'who has the role; with from_cents, only a call for at least so much. Takes the place of the '
  'rule before. Errors: INVALID_REQUEST, INVALID_STATE (there are not two members of staff with '
  'the role), APPROVAL_REQUIRED, UNFIT_SESSION. Locks: admin.rules in mode exclusive: it waits for '
  'calls of commands that may need approval.';
