create table identity.mails (
  id bigint generated always as identity primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  address text not null,
  details json not null default '{}',
  created_at timestamptz not null default core.now(),
  due_at timestamptz default core.now(),
  attempts int not null default 0,
  sent_at timestamptz,
  last_error text,
  constraint mails_are_due_until_they_are_sent check (sent_at is null or due_at is null),
  constraint mails_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'recovery', 'invitation', 'new_sign_in', 'new_key',
      'passkey_added', 'passkey_removed', 'password_changed', 'email_change_asked', 'email_changed',
      'limits_changed', 'self_excluded', 'staff_invitation', 'staff_passkey_added',
      'dispute_answered'
    )
  )
);

create index mails_that_are_due on identity.mails (due_at) where due_at is not null;
create index mails_in_order on identity.mails (
  (
    case
      when kind in ('password_reset', 'recovery', 'staff_invitation') then 'links'
      when kind in ('confirm_email', 'invitation') then 'sign_ups'
      else 'notices'
    end
  ),
  (attempts > 0), due_at, id
) where due_at is not null;
create index mails_that_wait_by_address on identity.mails (lower(address collate "C"), kind)
  where due_at is not null;
create index mails_of_a_user on identity.mails (user_id, kind, created_at);
create index mails_that_were_given_up on identity.mails (id)
  where due_at is null and sent_at is null;
create index mails_by_age on identity.mails (created_at);

comment on table identity.mails is
  'The outbox of e-mail. The worker sends what is due (jobs.take_mail, jobs.finish_mail). A mail '
  'with a link has no token here: the worker makes it when it sends the mail.';
comment on column identity.mails.kind is
  'Which mail: confirm_email, password_reset, recovery, invitation and staff_invitation have a '
  'link; the others are notices.';
comment on column identity.mails.user_id is 'Whom it is about; null: no account is named.';
comment on column identity.mails.details is 'What the text names: no secret.';
comment on column identity.mails.due_at is
  'When it is sent, or tried again; null: it was sent or given up.';
