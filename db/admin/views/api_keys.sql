create or replace view admin.api_keys as
select
  k.public_id as key_id,
  k.user_id as user_key,
  u.public_id as user_id,
  k.name,
  k.created_at,
  k.last_used_at,
  k.revoked_at,
  k.scopes,
  k.expires_at,
  k.allowed_addresses,
  k.last_used_address,
  r.public_id as replaces,
  k.key_prefix
from identity.api_keys as k
left join identity.users as u on u.id = k.user_id
left join identity.api_keys as r on r.id = k.replaces;

comment on view admin.api_keys is
  'API keys of traders, revoked and expired ones too. The keys themselves are not kept.';
comment on column admin.api_keys.key_id is 'Public id, as admin.revoke_api_key takes it.';
comment on column admin.api_keys.user_key is 'The user: internal key, for joins.';
comment on column admin.api_keys.user_id is 'The user: public id.';
comment on column admin.api_keys.name is 'What the user calls it.';
comment on column admin.api_keys.created_at is 'When it was made.';
comment on column admin.api_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.api_keys.revoked_at is
  'When it was revoked; null while it is not.';
comment on column admin.api_keys.scopes is 'What it may do: read, trade (commands) or both.';
comment on column admin.api_keys.expires_at is
  'From when on it is not valid any more; null: it does not expire.';
comment on column admin.api_keys.allowed_addresses is
  'From where it may be used: addresses and networks; null: from everywhere.';
comment on column admin.api_keys.last_used_address is
  'From where it was used at last_used_at; null is not known.';
comment on column admin.api_keys.replaces is
  'The key that was rotated when this one was made: its key_id.';
comment on column admin.api_keys.key_prefix is
  'Its first nine characters: finds the user of a key that was found somewhere.';
