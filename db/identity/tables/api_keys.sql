create table identity.api_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  name text not null,
  key_hash bytea not null,
  key_prefix text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  scopes text[] not null default '{read,trade}',
  expires_at timestamptz,
  allowed_addresses cidr[],
  last_used_address inet,
  replaces bigint references identity.api_keys (id),
  constraint api_keys_public_id_is_unique unique (public_id),
  constraint api_keys_hash_is_unique unique (key_hash),
  constraint api_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint api_keys_prefix_has_six_characters_of_the_key
    check (key_prefix ~ '^jk_[0-9A-Za-z]{6}$'),
  constraint api_keys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint api_keys_scopes_are_read_trade_or_both check (
    scopes = '{read}' or scopes = '{trade}' or scopes = '{read,trade}'
  ),
  constraint api_keys_expire_at_a_moment_after_they_are_made check (
    expires_at > created_at and isfinite(expires_at)
  ),
  constraint api_keys_allow_from_1_to_20_addresses check (
    allowed_addresses is null
    or (
      array_ndims(allowed_addresses) = 1
      and cardinality(allowed_addresses) <= 20
      and array_position(allowed_addresses, null) is null
    ) is true
  ),
  constraint api_keys_allow_ipv4_addresses_as_such check (
    not inet '::ffff:0:0/96' >>= any (allowed_addresses)
  ),
  constraint api_keys_last_used_address_is_that_of_a_use check (
    last_used_address is null or last_used_at is not null
  ),
  constraint api_keys_last_used_address_is_of_one_host check (
    masklen(last_used_address) = case family(last_used_address) when 4 then 32 else 128 end
    and not last_used_address <<= inet '::ffff:0:0/96'
  ),
  constraint api_keys_are_replaced_once unique (replaces)
);

create index api_keys_of_a_user on identity.api_keys (user_id, id);

comment on table identity.api_keys is
  'API keys of traders. The key itself is shown once, when it is made; only its SHA-256 is kept.';
comment on column identity.api_keys.key_prefix is
  'How the key begins: tells whose it is if it is found somewhere, and opens nothing.';
comment on column identity.api_keys.last_used_at is
  'Kept to the minute: servers report a key''s use at most that often.';
comment on column identity.api_keys.scopes is
  'What it may do: read, trade (commands) or both, in this order.';
comment on column identity.api_keys.expires_at is
  'From when on it is not valid any more; null: it does not expire.';
comment on column identity.api_keys.allowed_addresses is
  'Where it may be used: addresses and networks; null: everywhere. IPv4 is written as IPv4.';
comment on column identity.api_keys.last_used_address is
  'From where it was used at last_used_at; null: not known.';
comment on column identity.api_keys.replaces is
  'The key that was rotated when this one was made.';
