create table identity.staff_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  name text not null,
  role text not null,
  key_hash bytea not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  staff_id bigint references identity.staff (id),
  constraint staff_keys_public_id_is_unique unique (public_id),
  constraint staff_keys_hash_is_unique unique (key_hash),
  constraint staff_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint staff_keys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint staff_keys_role_is_analyst_or_operator check (role in ('analyst', 'operator'))
);

create unique index staff_keys_in_force_have_different_names on identity.staff_keys (name)
  where revoked_at is null;

comment on table identity.staff_keys is
  'Keys of analysts and operators, who work by GraphQL and do not trade. The key itself is shown '
  'once, when it is made.';
comment on column identity.staff_keys.key_hash is
  'SHA-256 of the SHA-256 of the key, which is a credential (identity.acting): who reads this has '
  'none.';
comment on column identity.staff_keys.name is
  'Who or what uses the key, as in the audit log. No two keys in force have the same name.';
comment on column identity.staff_keys.role is
  'analyst: a key ja_..., for schema analytics; operator: a key jo_..., for schema admin.';
comment on column identity.staff_keys.staff_id is
  'The member of staff who made the key, with whom it ends, and who acts by an operator''s; null: '
  'a login made it that is of no member of staff.';
comment on column identity.staff_keys.last_used_at is 'Kept to the minute.';
