create or replace view admin.users as
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
  x.confirmed_age,
  x.age_confirmed_at,
  u.reality_check_minutes,
  r.excluded_until,
  x.day_limit_cents,
  x.week_limit_cents,
  x.month_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.next_day_limit_cents end
    as next_day_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.day_limit_changes_at end
    as day_limit_changes_at,
  case when r.week_limit_changes_at > analytics.now() then r.next_week_limit_cents end
    as next_week_limit_cents,
  case when r.week_limit_changes_at > analytics.now() then r.week_limit_changes_at end
    as week_limit_changes_at,
  case when r.month_limit_changes_at > analytics.now() then r.next_month_limit_cents end
    as next_month_limit_cents,
  case when r.month_limit_changes_at > analytics.now() then r.month_limit_changes_at end
    as month_limit_changes_at,
  x.day_net_spent_cents,
  x.week_net_spent_cents,
  x.month_net_spent_cents,
  x.active_order_cost_cents,
  r.frozen_at,
  r.frozen_by,
  r.frozen_reason,
  coalesce(p.tier, s.tier)::text as rate_tier,
  coalesce(p.requests_per_minute, s.requests_per_minute)::int as requests_per_minute,
  coalesce(p.burst_capacity, s.burst_capacity)::int as burst_capacity,
  p.expires_at as rate_policy_expires_at,
  u.avatar_url,
  u.erased_at,
  concat_ws(' ', u.email, c.email, u.display_name, u.handle, c.handle, u.public_id) as search_text
from analytics.users as x
join identity.users as u on u.id = x.user_key
left join identity.email_claims as c on c.user_id = x.user_key
left join trading.traders as r on r.user_id = x.user_key
left join rate_limits.rate_policies as p
  on p.user_id = x.user_key
  and (p.expires_at is null or p.expires_at > analytics.now())
cross join rate_limits.standard_policy() as s;

comment on view admin.users is
  'Traders, with e-mail, cash, loss limits, rate policy, and whether they are frozen.';
comment on column admin.users.user_key is 'Internal key, for joins.';
comment on column admin.users.user_id is 'Public id.';
comment on column admin.users.email is 'E-mail; unique whatever its case.';
comment on column admin.users.handle is 'Unique short name.';
comment on column admin.users.display_name is 'Name for display.';
comment on column admin.users.is_private is
  'Whether the profile is private: its name is not published.';
comment on column admin.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column admin.users.created_at is 'When the account was made.';
comment on column admin.users.balance_cents is 'Cash.';
comment on column admin.users.net_deposits_cents is
  'Deposits, bonuses and adjustments less withdrawals and reversals. Less the cash, it is the net '
  'cash put into trading.';
comment on column admin.users.overdraft_cents is
  'How far corrections of resolutions, voids and reversals of deposits took the cash below zero.';
comment on column admin.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column admin.users.confirmed_age is
  'The user has confirmed to be this many years old or older; null: has not been asked.';
comment on column admin.users.age_confirmed_at is 'When that was; null: never.';
comment on column admin.users.reality_check_minutes is
  'After how much time on the website the user is reminded of it; null: never.';
comment on column admin.users.excluded_until is
  'Self-excluded until then; infinity is for good, null is never.';
comment on column admin.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column admin.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column admin.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column admin.users.next_day_limit_cents is
  'The day''s limit from day_limit_changes_at on: a raise waits 24 hours. Null is none, if '
  'day_limit_changes_at is set.';
comment on column admin.users.day_limit_changes_at is
  'When next_day_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_week_limit_cents is
  'Likewise the limit for the last 7 UTC days.';
comment on column admin.users.week_limit_changes_at is
  'When next_week_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_month_limit_cents is
  'Likewise the limit for the last 30 UTC days.';
comment on column admin.users.month_limit_changes_at is
  'When next_month_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column admin.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column admin.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column admin.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost.';
comment on column admin.users.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column admin.users.frozen_by is
  'The member of staff, or else the login, that froze it, and in brackets the name of the key that '
  'was used.';
comment on column admin.users.frozen_reason is 'Why it is frozen.';
comment on column admin.users.rate_tier is
  'The rate policy in force: standard, elevated or custom. One that has expired is standard again.';
comment on column admin.users.requests_per_minute is
  'Trading requests a minute that it grants.';
comment on column admin.users.burst_capacity is
  'Trading requests back to back that it grants.';
comment on column admin.users.rate_policy_expires_at is
  'When the standard policy holds again; null is never, or it is the standard one.';
comment on column admin.users.avatar_url is 'Address of the picture; null: none.';
comment on column admin.users.erased_at is
  'When admin.erase_user took away what says who it is; null: it has not.';
comment on column admin.users.search_text is
  'E-mail, name, handle and public id, with the address that is not confirmed yet and the handle '
  'that comes with it: what a part of any of them is searched in.';
