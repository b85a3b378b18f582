create or replace function admin.check_approval(command text, amount_cents numeric default null)
returns void
language plpgsql volatile
as $$
begin
  perform admin.check_role(check_approval.command);
  lock table admin.rules in row share mode;
  if exists (
    select
    from admin.commands as c
    left join admin.rules as r on r.command = c.command
    where c.command = check_approval.command
      and (
        c.approval = 'always'
        or r.command is not null
          and coalesce(abs(check_approval.amount_cents) >= r.from_cents, true)
      )
  ) and not exists (
    select
    from admin.proposed_calls as p
    where p.is_running
      and p.command = check_approval.command
  ) then
    perform core.raise_error('APPROVAL_REQUIRED', format(
      'Another member of staff must approve this: propose it by '
      'admin.propose(command => %L, arguments => ..., reason => ...)',
      check_approval.command
    ));
  end if;
end
$$;

comment on function admin.check_approval(text, numeric) is
  'Begins a command that may need approval: checks the role of the caller, and refuses a call that '
  'needs approval, unless it is the one that admin.approve carries out or admin.propose tries. The '
  'amount, in cents, is that of the call. Private to the schema. Errors: UNAUTHORIZED, '
  'ROLE_REQUIRED, APPROVAL_REQUIRED, UNFIT_SESSION. Locks: admin.rules in '
  'mode row share.';
