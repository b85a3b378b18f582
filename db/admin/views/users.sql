create view admin.users as
select
  x.user_key,
  x.user_id,
  u.email,
  x.handle,
  u.display_name,
  x.is_private,
  x.leaderboard_opt_out,
  x.created_at,
  x.balance_cents,
  x.net_deposits_cents,
  x.overdraft_cents,
  x.limits_reviewed_at,
  r.excluded_until,
  x.day_limit_cents,
  x.week_limit_cents,
  x.month_limit_cents,
  x.day_net_spent_cents,
  x.week_net_spent_cents,
  x.month_net_spent_cents,
  x.open_order_cost_cents,
  r.frozen_at,
  r.frozen_by,
  r.frozen_reason
from analytics.users as x
join identity.users as u on u.id = x.user_key
left join risk.traders as r on r.user_id = x.user_key;

comment on view admin.users is 'Traders, with e-mail, cash, limits, and whether they are frozen.';
comment on column admin.users.user_key is 'Internal key, for joins.';
comment on column admin.users.user_id is 'Public id.';
comment on column admin.users.email is 'E-mail; unique whatever its case.';
comment on column admin.users.handle is 'Unique short name.';
comment on column admin.users.display_name is 'Name for display.';
comment on column admin.users.is_private is 'Whether the public is not told the name.';
comment on column admin.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column admin.users.created_at is 'When an operator made the user.';
comment on column admin.users.balance_cents is 'Cash.';
comment on column admin.users.net_deposits_cents is
  'Deposits less withdrawals. Less the cash, it is the net cash put into trading.';
comment on column admin.users.overdraft_cents is
  'How far corrections of resolutions took the cash below zero.';
comment on column admin.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column admin.users.excluded_until is
  'Self-excluded until then; infinity is for good, null is never.';
comment on column admin.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column admin.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column admin.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column admin.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and open_order_cost_cents.';
comment on column admin.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column admin.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column admin.users.open_order_cost_cents is
  'The most that the user''s open orders could still cost.';
comment on column admin.users.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column admin.users.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave.';
comment on column admin.users.frozen_reason is 'Why it is frozen.';
