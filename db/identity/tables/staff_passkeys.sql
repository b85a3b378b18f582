create table identity.staff_passkeys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  staff_id bigint not null references identity.staff (id),
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  last_used_address inet,
  constraint staff_passkeys_public_id_is_unique unique (public_id),
  constraint staff_passkeys_credential_id_is_unique unique (credential_id),
  constraint staff_passkeys_credential_id_has_16_to_1023_bytes
    check (length(credential_id) between 16 and 1023),
  constraint staff_passkeys_public_key_has_1_to_2000_bytes
    check (length(public_key) between 1 and 2000),
  constraint staff_passkeys_sign_count_is_an_unsigned_32_bit_number
    check (sign_count between 0 and 4294967295),
  constraint staff_passkeys_transports_are_known check (
    transports <@ array['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
    and cardinality(transports) <= 6
  ),
  constraint staff_passkeys_name_is_not_blank
    check (not core.is_blank(name) and length(name) <= 100)
);

create index staff_passkeys_of_a_member on identity.staff_passkeys (staff_id, id);

comment on table identity.staff_passkeys is
  'Passkeys (WebAuthn) of staff: the second factor of each sign-in. The columns mean what they '
  'mean in identity.passkeys.';
