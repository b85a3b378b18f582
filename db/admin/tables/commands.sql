create table admin.commands (
  command text primary key,
  role text,
  approval text not null default 'never',
  has_amount boolean not null default false,
  personal text[] not null default '{}',
  returns_secret boolean not null default false,
  constraint commands_role_is_one_of_staff
    check (role in ('audit', 'cash', 'incidents', 'markets', 'staff', 'users')),
  constraint commands_need_approval_never_by_rule_or_always
    check (approval in ('never', 'by rule', 'always')),
  constraint commands_that_may_need_approval_have_a_role
    check (approval = 'never' or role is not null),
  constraint commands_have_an_amount_for_the_bound_of_a_rule
    check (approval = 'by rule' or not has_amount)
);

comment on table admin.commands is
  'The functions of schema admin that operators call and the audit log notes, with the role of '
  'staff that each needs.';
comment on column admin.commands.command is 'The function, without its schema.';
comment on column admin.commands.role is 'The role that a member of staff needs; null: any.';
comment on column admin.commands.approval is
  'Whether another member of staff must approve a call: never, by rule (admin.rules), or always.';
comment on column admin.commands.has_amount is
  'Whether a rule may begin at an amount in cents.';
comment on column admin.commands.personal is
  'Those of its arguments that say something about a person: the audit log keeps them apart '
  '(admin.personal_arguments).';
comment on column admin.commands.returns_secret is
  'Whether it returns a way into an account: who approves the call sees it, and nothing keeps it.';

insert into admin.commands (command, role, approval, has_amount) values
  ('add_note', 'users', 'never', false),
  ('adjust_balance', 'cash', 'by rule', true),
  ('answer_dispute', 'markets', 'never', false),
  ('approve', null, 'never', false),
  ('cancel_fee_schedule', 'cash', 'never', false),
  ('cancel_orders', 'incidents', 'never', false),
  ('close_day', 'cash', 'by rule', false),
  ('copy_market', 'markets', 'never', false),
  ('correct_resolution', 'markets', 'by rule', false),
  ('create_api_key', 'users', 'by rule', false),
  ('create_category', 'markets', 'never', false),
  ('create_event', 'markets', 'never', false),
  ('create_market', 'markets', 'never', false),
  ('create_markets', 'markets', 'never', false),
  ('create_session', 'users', 'by rule', false),
  ('create_staff', 'staff', 'by rule', false),
  ('create_staff_key', 'staff', 'never', false),
  ('create_user', 'users', 'never', false),
  ('deposit', 'cash', 'by rule', true),
  ('edit_event', 'markets', 'never', false),
  ('edit_market', 'markets', 'never', false),
  ('end_self_exclusion', 'users', 'always', false),
  ('end_sessions', 'users', 'never', false),
  ('erase_user', 'users', 'by rule', false),
  ('export_user', 'users', 'never', false),
  ('freeze_user', 'users', 'never', false),
  ('give_bonus', 'cash', 'by rule', true),
  ('invite_staff', 'staff', 'by rule', false),
  ('invite_user', 'users', 'never', false),
  ('list_api_keys', null, 'never', false),
  ('list_staff_keys', null, 'never', false),
  ('pay_out_fees', 'cash', 'by rule', true),
  ('preview_resolution', null, 'never', false),
  ('propose', null, 'never', false),
  ('publish_proof', 'cash', 'never', false),
  ('reconcile', 'cash', 'never', false),
  ('recover_account', 'users', 'by rule', false),
  ('refresh_leaderboard', 'incidents', 'never', false),
  ('reject', null, 'never', false),
  ('remove_approval_rule', 'staff', 'by rule', false),
  ('remove_staff', 'staff', 'by rule', false),
  ('remove_staff_passkey', 'staff', 'by rule', false),
  ('resolve_market', 'markets', 'by rule', false),
  ('reverse_deposit', 'cash', 'by rule', true),
  ('revoke_api_key', 'users', 'never', false),
  ('revoke_staff_key', 'staff', 'never', false),
  ('rotate_api_key', 'users', 'by rule', false),
  ('run_due', 'incidents', 'never', false),
  ('self_exclude', 'users', 'never', false),
  ('set_approval_rule', 'staff', 'by rule', false),
  ('set_cash_cap', 'staff', 'by rule', false),
  ('set_dispute_window', 'markets', 'never', false),
  ('set_event_live', 'markets', 'never', false),
  ('set_fee_schedule', 'cash', 'never', false),
  ('set_loss_limits', 'users', 'by rule', false),
  ('set_market_source', 'markets', 'never', false),
  ('set_market_status', 'markets', 'never', false),
  ('set_minimum_age', 'users', 'by rule', false),
  ('set_profile', 'users', 'never', false),
  ('set_rate_limit', 'incidents', 'never', false),
  ('set_rate_policy', 'users', 'never', false),
  ('set_sign_up', 'users', 'by rule', false),
  ('set_staff_roles', 'staff', 'by rule', false),
  ('set_stream_cap', 'incidents', 'never', false),
  ('set_trading_pause', 'incidents', 'never', false),
  ('sign_in_link', 'users', 'by rule', false),
  ('statement', null, 'never', false),
  ('unfreeze_user', 'users', 'by rule', false),
  ('user_access', null, 'never', false),
  ('void_market', 'markets', 'by rule', false),
  ('void_trade', 'markets', 'by rule', false),
  ('withdraw', 'cash', 'by rule', true);

update admin.commands as c
set personal = p.arguments
from (
  values
    ('answer_dispute', array['answer']),
    ('create_api_key', array['name', 'allowed_addresses']),
    ('create_user', array['email', 'display_name', 'handle']),
    ('end_self_exclusion', array['reason']),
    ('freeze_user', array['reason']),
    ('invite_user', array['email']),
    ('propose', array['arguments', 'reason']),
    ('recover_account', array['email', 'email_before']),
    ('reject', array['reason']),
    ('set_profile', array['display_name', 'avatar_url']),
    ('unfreeze_user', array['reason'])
) as p (command, arguments)
where c.command = p.command;

update admin.commands as c
set returns_secret = true
where c.command in ('create_api_key', 'create_session', 'rotate_api_key', 'sign_in_link');
