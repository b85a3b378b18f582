create or replace view analytics.users as
select
  u.id as user_key,
  u.public_id as user_id,
  u.handle,
  case when not u.private then u.display_name end as display_name,
  u.private as is_private,
  u.leaderboard_opt_out,
  u.created_at,
  r.balance_cents,
  r.external_cents as net_deposits_cents,
  r.overdraft_cents::bigint as overdraft_cents,
  r.limits_reviewed_at,
  nullif(r.confirmed_age, 0) as confirmed_age,
  r.age_confirmed_at,
  case
    when analytics.now() >= r.day_limit_changes_at then r.next_day_limit_cents
    else r.day_limit_cents
  end as day_limit_cents,
  case
    when analytics.now() >= r.week_limit_changes_at then r.next_week_limit_cents
    else r.week_limit_cents
  end as week_limit_cents,
  case
    when analytics.now() >= r.month_limit_changes_at then r.next_month_limit_cents
    else r.month_limit_cents
  end as month_limit_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date
      order by o.day
      limit 1
    ),
    0
  ) as day_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 6
      order by o.day
      limit 1
    ),
    0
  ) as week_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 29
      order by o.day
      limit 1
    ),
    0
  ) as month_net_spent_cents,
  coalesce(
    (
      select sum(o.worst_cost_cents)
      from analytics.open_orders as o
      where o.user_key = u.id
    ),
    0
  )::bigint as active_order_cost_cents
from identity.users as u
left join trading.traders as r on r.user_id = u.id;

comment on view analytics.users is
  'Traders, with their cash and their loss limits, but without their e-mail, their keys and their '
  'self-exclusion, which are for operators: admin.users.';
comment on column analytics.users.user_key is 'Internal key, for joins.';
comment on column analytics.users.user_id is 'Public id.';
comment on column analytics.users.handle is
  'Unique short name. That of a private user is not published.';
comment on column analytics.users.display_name is
  'Name for display; null for a private user.';
comment on column analytics.users.is_private is
  'Whether the profile is private: its name is not published.';
comment on column analytics.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column analytics.users.created_at is 'When the account was made.';
comment on column analytics.users.balance_cents is 'Cash.';
comment on column analytics.users.net_deposits_cents is
  'Deposits, bonuses and adjustments less withdrawals and reversals. Less the cash, it is the net '
  'cash put into trading.';
comment on column analytics.users.overdraft_cents is
  'How far corrections of resolutions, voids and reversals of deposits took the cash below zero.';
comment on column analytics.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column analytics.users.confirmed_age is
  'The user has confirmed to be this many years old or older; null: has not been asked.';
comment on column analytics.users.age_confirmed_at is 'When that was; null: never.';
comment on column analytics.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column analytics.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column analytics.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column analytics.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column analytics.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column analytics.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column analytics.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost: the sum of their worst_cost_cents in '
  'analytics.open_orders.';
