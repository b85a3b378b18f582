create or replace view admin.audit_entries as
select
  a.id as audit_key,
  a.at as called_at,
  a.operator,
  a.staff_key,
  a.action,
  a.arguments
from admin.audit_log as a;

comment on view admin.audit_entries is
  'The calls of the functions of schema admin: who, when, which one, with what arguments.';
comment on column admin.audit_entries.audit_key is
  'Internal key, ascending in the order of the calls.';
comment on column admin.audit_entries.called_at is 'When it was called.';
comment on column admin.audit_entries.operator is 'The login that called.';
comment on column admin.audit_entries.staff_key is
  'The name of the operator''s key, if the call came by GraphQL.';
comment on column admin.audit_entries.action is 'The function, without its schema.';
comment on column admin.audit_entries.arguments is
  'The arguments, and for some functions what they did; without secrets.';
