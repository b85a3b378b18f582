create or replace view admin.api_keys as
select
  k.public_id as key_id,
  k.user_id as user_key,
  u.public_id as user_id,
  k.name,
  k.created_at,
  k.last_used_at,
  k.revoked_at
from identity.api_keys as k
left join identity.users as u on u.id = k.user_id;

comment on view admin.api_keys is
  'API keys of traders, revoked ones too. The keys themselves are not kept.';
comment on column admin.api_keys.key_id is 'Public id, as admin.revoke_api_key takes it.';
comment on column admin.api_keys.user_key is 'The user: internal key, for joins.';
comment on column admin.api_keys.user_id is 'The user: public id.';
comment on column admin.api_keys.name is 'What the user calls it.';
comment on column admin.api_keys.created_at is 'When it was made.';
comment on column admin.api_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.api_keys.revoked_at is
  'When it was revoked; null while it is in force.';
