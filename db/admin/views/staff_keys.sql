create or replace view admin.staff_keys as
select
  k.public_id as key_id,
  k.name,
  k.role,
  k.created_at,
  k.last_used_at,
  coalesce(k.revoked_at, m.removed_at) as revoked_at,
  m.public_id as staff_id
from identity.staff_keys as k
left join identity.staff as m on m.id = k.staff_id;

comment on view admin.staff_keys is
  'Keys of analysts and operators, revoked ones too. The keys themselves are not kept.';
comment on column admin.staff_keys.key_id is 'Public id, as admin.revoke_staff_key takes it.';
comment on column admin.staff_keys.name is 'Who or what uses it.';
comment on column admin.staff_keys.role is 'analyst or operator.';
comment on column admin.staff_keys.created_at is 'When it was made.';
comment on column admin.staff_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.staff_keys.revoked_at is
  'When it was revoked, or the member of staff removed; null while it is in force.';
comment on column admin.staff_keys.staff_id is
  'The member of staff who made it, with whom it ends: admin.staff.staff_id; null: none did.';
