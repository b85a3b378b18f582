create table identity.links (
  token_hash bytea primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  staff_id bigint references identity.staff (id),
  email text,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  constraint links_hash_is_a_sha256 check (length(token_hash) = 32),
  constraint links_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'recovery', 'sign_in', 'invitation', 'staff_invitation'
    )
  ),
  constraint links_are_of_a_user_or_invitations
    check ((user_id is null) = (kind in ('invitation', 'staff_invitation'))),
  constraint links_of_staff_are_invitations
    check ((staff_id is not null) = (kind = 'staff_invitation')),
  constraint links_name_the_address_that_they_prove
    check ((email is not null) = (kind in ('confirm_email', 'invitation')))
);

create index links_of_a_user on identity.links (user_id, kind);
create index links_of_an_invited_address on identity.links (lower(email collate "C"))
  where kind = 'invitation';
create index links_of_staff on identity.links (staff_id) where staff_id is not null;
create index links_by_expiry on identity.links (expires_at);

comment on table identity.links is
  'The links in mails, each good once. The token itself is only in the mail; here is its SHA-256.';
comment on column identity.links.kind is
  'confirm_email proves an address, password_reset sets a password, recovery too and in a frozen '
  'account, sign_in opens a session, invitation allows to sign up with its address, '
  'staff_invitation sets the password and the first passkey of a member of staff.';
