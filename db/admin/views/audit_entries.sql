create or replace view admin.audit_entries as
select
  a.id as audit_key,
  a.at as called_at,
  a.operator,
  a.staff_key,
  a.action,
  a.arguments || coalesce(p.arguments, '{}') as arguments,
  s.public_id as staff_id,
  s.name as staff_name,
  c.public_id as proposal_id,
  coalesce(a.arguments ->> 'user_id', a.arguments #>> '{arguments,user_id}') as user_id,
  coalesce(a.arguments ->> 'market_id', a.arguments #>> '{arguments,market_id}') as market_id,
  p.erased_by is not null as is_erased
from admin.audit_log as a
left join identity.staff as s on s.id = a.staff_id
left join admin.proposed_calls as c on c.id = a.proposal_id
left join admin.personal_arguments as p on p.audit_id = a.id;

comment on view admin.audit_entries is
  'The calls of the functions of schema admin, and passkeys that staff added: who, when, which '
  'one, with what arguments.';
comment on column admin.audit_entries.audit_key is
  'Internal key, ascending in the order of the calls.';
comment on column admin.audit_entries.called_at is 'When it was called.';
comment on column admin.audit_entries.operator is 'The login that called.';
comment on column admin.audit_entries.staff_key is
  'The name of the operator''s key, if the call was made by one.';
comment on column admin.audit_entries.action is 'The function, without its schema.';
comment on column admin.audit_entries.arguments is
  'The arguments, and for some functions what they did; without secrets.';
comment on column admin.audit_entries.staff_id is
  'The member of staff who called: admin.staff.staff_id; null: a login or a key of none.';
comment on column admin.audit_entries.staff_name is 'Their name.';
comment on column admin.audit_entries.proposal_id is
  'The proposal that the call carried out; who called is who approved it.';
comment on column admin.audit_entries.user_id is
  'The user whom the arguments name by user_id, also those of a proposed command.';
comment on column admin.audit_entries.market_id is
  'Likewise the market that they name by market_id.';
comment on column admin.audit_entries.is_erased is
  'Whether admin.erase_user has taken away what the arguments said about a person.';
