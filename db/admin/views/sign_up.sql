create or replace view admin.sign_up as
select
  s.sign_up_policy as policy,
  s.play_money_cents::bigint as play_money_cents,
  s.changed_at
from identity.settings as s;

comment on view admin.sign_up is
  'Who may sign up on the website, as admin.set_sign_up sets it: one row.';
comment on column admin.sign_up.policy is
  'open: every visitor; invitation: with a link of admin.invite_user; closed: no visitor.';
comment on column admin.sign_up.play_money_cents is 'What a new account gets; 0 is nothing.';
comment on column admin.sign_up.changed_at is
  'When admin.set_sign_up was last called; null: never.';
