--! Previous: sha1:fee617f4b84f5d3af451595052f51f1b7f95577e
--! Hash: sha1:4625c62919a6109a1332b2f4ba533078dc0d77d0
--! Message: Staff hear by mail of a new passkey

-- Staff hear by mail of a new passkey. The next migration looks at the mails that are there.
set local lock_timeout = '500ms';
set local role exchange_owner;
alter table identity.mails
  drop constraint mails_are_of_a_known_kind,
  add constraint mails_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'recovery', 'invitation', 'new_sign_in', 'new_key',
      'passkey_added', 'passkey_removed', 'password_changed', 'email_change_asked', 'email_changed',
      'limits_changed', 'self_excluded', 'staff_invitation', 'staff_passkey_added',
      'dispute_answered'
    )
  ) not valid;
reset role;
