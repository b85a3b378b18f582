create or replace function admin.remove_approval_rule(command text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_role('remove_approval_rule');
  lock table admin.rules in exclusive mode;
  perform admin.check_approval('remove_approval_rule');
  -- Before it: the rule may say who approves this.
  perform admin.audit('remove_approval_rule', jsonb_build_object(
    'command', remove_approval_rule.command
  ));
  delete from admin.rules as r
  where r.command = remove_approval_rule.command;
  if not found then
    perform core.raise_error(
      'NOT_FOUND', format('There is no approval rule for %L', remove_approval_rule.command)
    );
  end if;
end
$$;

comment on function admin.remove_approval_rule(text) is
  'Removes an approval rule: calls of the command need no approval any more. Errors: NOT_FOUND, '
  'APPROVAL_REQUIRED, UNFIT_SESSION. Locks: as admin.set_approval_rule.';
