create or replace function admin.approver_role(command text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(r.role, c.role)
  from admin.commands as c
  left join admin.rules as r on r.command = c.command
  where c.command = approver_role.command
$$;

comment on function admin.approver_role(text) is
  'The role of those who may approve a command: of the rule, or else the role that the command '
  'needs. Private to the schema.';
