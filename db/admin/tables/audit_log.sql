create table admin.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default core.now(),
  operator text not null,
  staff_key text,
  action text not null,
  arguments jsonb not null,
  staff_id bigint references identity.staff (id),
  proposal_id bigint references admin.proposed_calls (id),
  personal_digest bytea
);

create index audit_log_about_a_user on admin.audit_log (
  (coalesce(arguments ->> 'user_id', arguments #>> '{arguments,user_id}')), id
);
create index audit_log_about_a_market on admin.audit_log (
  (coalesce(arguments ->> 'market_id', arguments #>> '{arguments,market_id}')), id
);
create index audit_log_of_a_member on admin.audit_log (staff_id, id) where staff_id is not null;

create trigger audit_log_is_append_only
  before update or delete or truncate on admin.audit_log
  for each statement execute function ledger.refuse_change();

comment on table admin.audit_log is
  'The calls of the functions of schema admin: who, when, which one, with what arguments. Written '
  'in the transaction of the call. Append-only.';
comment on column admin.audit_log.arguments is
  'Without those that are personal: admin.personal_arguments has them.';
comment on column admin.audit_log.personal_digest is
  'SHA-256 of the salt and the text of the personal arguments, which are in '
  'admin.personal_arguments until the person is erased; null: the call has none.';
comment on column admin.audit_log.operator is 'The login that called, not the role it took.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key by which the call was made; null: by none.';
comment on column admin.audit_log.staff_id is
  'The member of staff who called; null: a login or a key of no member of staff.';
comment on column admin.audit_log.proposal_id is
  'The proposal that this call carried out; the caller is who approved it.';
