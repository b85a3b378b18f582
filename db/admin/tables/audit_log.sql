create table admin.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default core.now(),
  operator text not null,
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
