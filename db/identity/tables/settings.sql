create table identity.settings (
  singleton boolean primary key default true,
  sign_up_policy text not null default 'closed',
  play_money_cents core.amount not null default 0,
  changed_at timestamptz,
  decoy_secret bytea,
  constraint settings_is_one_row check (singleton),
  constraint settings_sign_up_policy_is_open_invitation_or_closed
    check (sign_up_policy in ('open', 'invitation', 'closed')),
  constraint settings_play_money_is_a_bonus check (play_money_cents <= 1000000000000000)
);

comment on table identity.settings is 'Who may sign up on the website: one row.';
comment on column identity.settings.sign_up_policy is
  'open: every visitor; invitation: who has a link from admin.invite_user; closed: no visitor.';
comment on column identity.settings.play_money_cents is
  'What a new account gets at sign-up, as a bonus. Only the demo gives money away.';
comment on column identity.settings.changed_at is
  'When admin.set_sign_up was last called; null: never.';
comment on column identity.settings.decoy_secret is
  'Made at the first sign-in. Salts for e-mail addresses without an account are made from it, so '
  'that an address always has the same one.';

insert into identity.settings default values;
