create or replace view admin.mails as
select
  m.id as mail_key,
  m.kind,
  m.user_id as user_key,
  u.public_id as user_id,
  m.address,
  case
    when m.sent_at is not null then 'sent'
    when m.due_at is not null then 'waiting'
    else 'given_up'
  end as status,
  m.created_at,
  m.due_at,
  m.attempts,
  m.sent_at,
  m.last_error
from identity.mails as m
left join identity.users as u on u.id = m.user_id;

comment on view admin.mails is 'Mails of the last 30 days: sent, waiting, or given up.';
comment on column admin.mails.mail_key is 'Internal key, in the order of creation.';
comment on column admin.mails.kind is
  'Which mail: confirm_email, password_reset, recovery, invitation and staff_invitation have a '
  'link; the others are notices.';
comment on column admin.mails.user_key is
  'The user whom it is about: internal key, for joins; null if it names no account.';
comment on column admin.mails.user_id is 'The user: public id.';
comment on column admin.mails.address is 'Where it goes.';
comment on column admin.mails.status is
  'sent; waiting: to be sent at due_at; given_up: not sent in ten attempts.';
comment on column admin.mails.created_at is 'When it was written.';
comment on column admin.mails.due_at is
  'When it is sent, or tried again; null once it is sent or given up.';
comment on column admin.mails.attempts is 'How often it was tried.';
comment on column admin.mails.sent_at is 'When the mail server accepted it; null: not yet.';
comment on column admin.mails.last_error is
  'Why the last attempt failed, as the mail server says it; null if none did.';
