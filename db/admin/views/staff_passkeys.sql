create or replace view admin.staff_passkeys as
select
  p.public_id as passkey_id,
  s.public_id as staff_id,
  s.name as staff_name,
  p.name,
  p.created_at,
  p.last_used_at,
  p.last_used_address
from identity.staff_passkeys as p
join identity.staff as s on s.id = p.staff_id;

comment on view admin.staff_passkeys is 'The passkeys by which staff sign in.';
comment on column admin.staff_passkeys.passkey_id is
  'Public id, as admin.remove_staff_passkey takes it.';
comment on column admin.staff_passkeys.staff_id is 'The member: admin.staff.staff_id.';
comment on column admin.staff_passkeys.staff_name is 'What the member is called.';
comment on column admin.staff_passkeys.name is 'What the member calls it.';
comment on column admin.staff_passkeys.created_at is 'When it was added.';
comment on column admin.staff_passkeys.last_used_at is
  'When the member last signed in with it; null: never.';
comment on column admin.staff_passkeys.last_used_address is
  'From where that was; null: not known.';
