create table admin.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default core.now(),
  operator text not null,
  staff_key text,
  action text not null,
  arguments jsonb not null
);

create trigger audit_log_is_append_only
  before update or delete or truncate on admin.audit_log
  for each statement execute function ledger.refuse_change();

comment on table admin.audit_log is
  'The calls of the functions of schema admin: who, when, which one, with what arguments. Written '
  'in the transaction of the call. Append-only.';
comment on column admin.audit_log.operator is 'The login that called, not the role it took.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key, if the call came by GraphQL. The server has one login for all '
  'operators and puts the name into the setting exchange.operator, so it is as trustworthy as that '
  'login.';
