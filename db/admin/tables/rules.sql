create table admin.rules (
  command text primary key references admin.commands (command),
  role text not null,
  from_cents bigint,
  constraint rules_role_is_one_of_staff
    check (role in ('audit', 'cash', 'incidents', 'markets', 'staff', 'users')),
  constraint rules_begin_above_zero check (from_cents > 0)
);

comment on table admin.rules is
  'The commands that another member of staff must approve. A call of such a command holds the '
  'table in mode row share until it has committed, and a change of a rule in mode exclusive: it '
  'waits for those calls, and later ones heed the rule.';
comment on column admin.rules.role is 'Of those who may approve.';
comment on column admin.rules.from_cents is
  'The least amount of a call that needs approval, whatever its sign; null: every call.';
