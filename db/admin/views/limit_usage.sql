create or replace view admin.limit_usage as
select
  x.user_key,
  x.user_id,
  l.period,
  l.limit_cents,
  greatest(l.net_spent_cents, 0) as net_spent_cents,
  x.active_order_cost_cents,
  floor(
    100 * (greatest(l.net_spent_cents, 0) + x.active_order_cost_cents)::numeric
    / greatest(l.limit_cents, 1)
  )::bigint as used_percent
from trading.traders as r
join analytics.users as x on x.user_key = r.user_id
cross join lateral (
  values
    ('day', x.day_limit_cents, x.day_net_spent_cents),
    ('week', x.week_limit_cents, x.week_net_spent_cents),
    ('month', x.month_limit_cents, x.month_net_spent_cents)
) as l (period, limit_cents, net_spent_cents)
where coalesce(
    r.day_limit_cents, r.week_limit_cents, r.month_limit_cents, r.next_day_limit_cents,
    r.next_week_limit_cents, r.next_month_limit_cents
  ) is not null
  and exists (
    select
    from ledger.day_openings as o
    where o.user_id = r.user_id
      and o.day >= (analytics.now() at time zone 'UTC')::date - 29
  )
  and l.limit_cents is not null
  and 5 * (greatest(l.net_spent_cents, 0) + x.active_order_cost_cents) >= 4 * l.limit_cents;

comment on view admin.limit_usage is
  'Users whose cash moved in the last 30 days and who have used 80 % or more of a loss limit: what '
  'they put into trading in its period, and what their open orders may still cost. Orders '
  'that were rejected because of a limit are not kept.';
comment on column admin.limit_usage.user_key is 'The user: internal key, for joins.';
comment on column admin.limit_usage.user_id is 'The user: public id.';
comment on column admin.limit_usage.period is
  'day (today, UTC), week (the last 7 days) or month (the last 30).';
comment on column admin.limit_usage.limit_cents is 'The limit in force.';
comment on column admin.limit_usage.net_spent_cents is
  'Net cash put into trading in the period, at least 0.';
comment on column admin.limit_usage.active_order_cost_cents is
  'The most that open orders could still cost.';
comment on column admin.limit_usage.used_percent is 'Both in percent of the limit.';
