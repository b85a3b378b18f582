create table identity.passkeys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  last_used_address inet,
  constraint passkeys_public_id_is_unique unique (public_id),
  constraint passkeys_credential_id_is_unique unique (credential_id),
  constraint passkeys_credential_id_has_16_to_1023_bytes
    check (length(credential_id) between 16 and 1023),
  constraint passkeys_public_key_has_1_to_2000_bytes check (length(public_key) between 1 and 2000),
  constraint passkeys_sign_count_is_an_unsigned_32_bit_number
    check (sign_count between 0 and 4294967295),
  constraint passkeys_transports_are_known check (
    transports <@ array['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
    and cardinality(transports) <= 6
  ),
  constraint passkeys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100)
);

create index passkeys_of_a_user on identity.passkeys (user_id, id);

comment on table identity.passkeys is
  'Passkeys (WebAuthn) with which users sign in on the website. The private key never leaves the '
  'user''s device.';
comment on column identity.passkeys.credential_id is
  'Made by the device, which sends it with each signature.';
comment on column identity.passkeys.public_key is
  'The key that checks signatures, in COSE form. Servers read it by api.get_passkey.';
comment on column identity.passkeys.sign_count is
  'The signatures that the device had made at the last sign-in. Each sign-in must have a higher '
  'number, or a copy of the key was used; devices that do not count always send 0.';
comment on column identity.passkeys.transports is
  'How browsers reach the device, as the device said.';
comment on column identity.passkeys.last_used_at is 'The last sign-in; null: never.';
comment on column identity.passkeys.last_used_address is
  'From where that sign-in came; null: not known.';
