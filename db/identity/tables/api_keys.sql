create table identity.api_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  name text not null,
  key_hash bytea not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  constraint api_keys_public_id_is_unique unique (public_id),
  constraint api_keys_hash_is_unique unique (key_hash),
  constraint api_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint api_keys_name_is_not_blank check (name ~ '\S' and length(name) <= 100)
);

create index api_keys_of_a_user on identity.api_keys (user_id, id);

comment on table identity.api_keys is
  'API keys of traders. The key itself is shown once, when it is made; only its SHA-256 is kept.';
comment on column identity.api_keys.last_used_at is
  'Kept to the minute: servers report a key''s use at most that often.';
