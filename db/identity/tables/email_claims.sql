create table identity.email_claims (
  user_id bigint primary key references identity.users (id),
  email text not null,
  handle text,
  created_at timestamptz not null default core.now(),
  constraint email_claims_look_like_an_email check (identity.is_email(email)),
  constraint email_claims_handle_is_a_word check (identity.is_handle(handle))
);

create index email_claims_by_email on identity.email_claims (lower(email collate "C"));
create index email_claims_by_age on identity.email_claims (created_at);

comment on table identity.email_claims is
  'E-mail addresses that users gave and have not confirmed. They need not be unique: only a '
  'confirmed address is taken, so a claim does not show whether an address has an account.';
comment on column identity.email_claims.handle is
  'The handle that was asked for at sign-up, which the user also gets with the confirmation. Null: '
  'a user with a confirmed address asked for another address.';
