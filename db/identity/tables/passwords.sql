create table identity.passwords (
  user_id bigint primary key references identity.users (id),
  password_hash text not null,
  changed_at timestamptz not null default core.now(),
  constraint passwords_are_argon2id_in_phc_form check (
    password_hash ~ '^\$argon2id\$v=19\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$'
  )
);

comment on table identity.passwords is
  'Passwords of users who sign in on the website. A user without a row has none.';
comment on column identity.passwords.password_hash is
  'Argon2id in PHC form: parameters, salt and digest. Servers compute it. They can read the part '
  'before the digest, by api.get_password_settings; the database compares.';
