create or replace view admin.proposals as
select
  p.id as proposal_key,
  p.public_id as proposal_id,
  p.command,
  p.arguments,
  p.reason,
  p.preview,
  p.basis,
  a.public_id as proposed_by_id,
  a.name as proposed_by,
  p.proposed_at,
  p.expires_at,
  case
    when p.status = 'open' and (p.expires_at <= analytics.now() or a.removed_at is not null)
      then 'expired'
    else p.status
  end as status,
  coalesce(r.role, c.role) as approver_role,
  b.public_id as decided_by_id,
  b.name as decided_by,
  p.decided_at,
  p.rejection,
  p.result
from admin.proposed_calls as p
join admin.commands as c on c.command = p.command
left join admin.rules as r on r.command = p.command
join identity.staff as a on a.id = p.proposed_by
left join identity.staff as b on b.id = p.decided_by;

comment on view admin.proposals is
  'Calls that a member of staff proposed, for another to approve; decided ones too.';
comment on column admin.proposals.proposal_key is
  'Internal key, ascending in the order of the proposals.';
comment on column admin.proposals.proposal_id is 'Public id, as the functions take it.';
comment on column admin.proposals.command is 'The function, without its schema.';
comment on column admin.proposals.arguments is 'The arguments, by their names.';
comment on column admin.proposals.reason is 'Why it is proposed.';
comment on column admin.proposals.preview is
  'What the command returned when it was tried and rolled back; null: nothing, or a secret. An id '
  'in it is not the one that will be.';
comment on column admin.proposals.basis is
  'What the decision rests on, when it was proposed: if it has changed, no approval is possible.';
comment on column admin.proposals.proposed_by_id is 'Who proposed it: admin.staff.staff_id.';
comment on column admin.proposals.proposed_by is 'Their name.';
comment on column admin.proposals.proposed_at is 'When it was proposed.';
comment on column admin.proposals.expires_at is 'Until when it can be approved.';
comment on column admin.proposals.status is
  'open, approved, rejected, or expired: its time is over, or who proposed it was removed.';
comment on column admin.proposals.approver_role is 'The role of those who may approve it now.';
comment on column admin.proposals.decided_by_id is
  'Who approved or rejected it: admin.staff.staff_id.';
comment on column admin.proposals.decided_by is 'Their name.';
comment on column admin.proposals.decided_at is 'When it was approved or rejected.';
comment on column admin.proposals.rejection is 'Why it was rejected.';
comment on column admin.proposals.result is
  'What the command returned when it was carried out; null: nothing, or a secret.';
