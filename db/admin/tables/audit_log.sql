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
  'Who called which function of the operator, when and with what. Written in the transaction of '
  'the call itself. Append-only.';
comment on column admin.audit_log.operator is 'The login that called, not the role it took.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key, if the call came by GraphQL: the server, which has one login '
  'for all operators, says it in the setting exchange.operator. So it is as good as the login is.';
