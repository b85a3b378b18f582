create table identity.staff (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  email text not null,
  name text not null,
  roles text[] not null,
  login text,
  password_hash text,
  password_changed_at timestamptz,
  created_at timestamptz not null default core.now(),
  removed_at timestamptz,
  constraint staff_public_id_is_unique unique (public_id),
  constraint staff_email_looks_like_one check (identity.is_email(email)),
  constraint staff_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint staff_roles_are_known check (
    (
      roles <@ array['audit', 'cash', 'incidents', 'markets', 'staff', 'users']
      and cardinality(roles) between 1 and 6
    ) is true
  ),
  constraint staff_password_is_argon2id_in_phc_form check (
    password_hash ~ '^\$argon2id\$v=19\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$'
  ),
  constraint staff_password_has_its_time
    check ((password_hash is null) = (password_changed_at is null)),
  constraint staff_who_are_removed_have_no_password
    check (removed_at is null or password_hash is null)
);

create unique index staff_email_is_unique on identity.staff (lower(email collate "C"))
  where removed_at is null;
create unique index staff_login_is_unique on identity.staff (login) where removed_at is null;

comment on table identity.staff is
  'The people who run the exchange. They sign in by password and passkey, both of their own, and '
  'do not trade. Who is removed stays here, as the audit log names them.';
comment on column identity.staff.roles is
  'What they may do: markets, cash, users, incidents, audit (reads only), staff; admin.commands '
  'says which functions each role calls.';
comment on column identity.staff.login is
  'The login of the database that is the same person; null: none is known. Such a person cannot '
  'approve by one what they proposed by the other.';
comment on column identity.staff.password_hash is
  'Argon2id in PHC form, as in identity.passwords. Null: the invitation was not accepted yet.';
comment on column identity.staff.removed_at is 'When they were removed; null: they are staff.';
