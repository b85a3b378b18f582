create or replace view admin.approval_rules as
select
  r.command,
  r.role,
  r.from_cents
from admin.rules as r;

comment on view admin.approval_rules is
  'The commands that another member of staff must approve. admin.end_self_exclusion always needs '
  'it, also without a rule.';
comment on column admin.approval_rules.command is 'The function, without its schema.';
comment on column admin.approval_rules.role is 'Of those who may approve.';
comment on column admin.approval_rules.from_cents is
  'The least amount of a call that needs approval, whatever its sign; null: every call.';
