create or replace view admin.unconfirmed_emails as
select
  c.user_id as user_key,
  u.public_id as user_id,
  c.email,
  c.handle,
  c.handle is not null as is_sign_up,
  c.created_at
from identity.email_claims as c
join identity.users as u on u.id = c.user_id;

comment on view admin.unconfirmed_emails is
  'E-mail addresses that users gave and have not confirmed: of new accounts, and of users who '
  'change their address.';
comment on column admin.unconfirmed_emails.user_key is 'The user: internal key, for joins.';
comment on column admin.unconfirmed_emails.user_id is 'The user: public id.';
comment on column admin.unconfirmed_emails.email is
  'The address. Several users may have given it: only one of them can confirm it.';
comment on column admin.unconfirmed_emails.handle is
  'The handle that a new account gets with the confirmation; null for a change of address.';
comment on column admin.unconfirmed_emails.is_sign_up is
  'Whether the account is new. It ends 30 days after created_at unless the address is confirmed.';
comment on column admin.unconfirmed_emails.created_at is 'When the user gave it.';
