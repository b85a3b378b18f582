create or replace view analytics.loss_limits as
select
  c.user_id as user_key,
  u.public_id as user_id,
  l.period,
  h.limit_cents,
  h.effective_from,
  h.effective_until
from (
  select x.*, lead(x.created_at) over (partition by x.user_id order by x.id) as next_at
  from risk.limit_changes as x
) as c
left join identity.users as u on u.id = c.user_id
cross join lateral (
  values
    ('day', c.day_limit_cents, c.next_day_limit_cents, c.day_limit_changes_at),
    ('week', c.week_limit_cents, c.next_week_limit_cents, c.week_limit_changes_at),
    ('month', c.month_limit_cents, c.next_month_limit_cents, c.month_limit_changes_at)
) as l (period, limit_cents, next_limit_cents, changes_at)
cross join lateral (
  values
    (l.limit_cents, c.created_at, least(l.changes_at, c.next_at)),
    (l.next_limit_cents, l.changes_at, c.next_at)
) as h (limit_cents, effective_from, effective_until)
where h.effective_from is not null
  and (h.effective_until is null or h.effective_until > h.effective_from);

comment on view analytics.loss_limits is
  'The loss limits of each trader as they were and are: those at a time have effective_from at or '
  'before it, and effective_until after it or null. A raise that waits has effective_from in the '
  'future. Each call that sets the limits begins new rows, also for those that stay the same.';
comment on column analytics.loss_limits.user_key is 'The user: internal key, for joins.';
comment on column analytics.loss_limits.user_id is 'The user: public id.';
comment on column analytics.loss_limits.period is
  'day (today, UTC), week (the last 7 days) or month (the last 30).';
comment on column analytics.loss_limits.limit_cents is
  'Most that may be put into trading in the period; null is no limit.';
comment on column analytics.loss_limits.effective_from is 'From when on it holds.';
comment on column analytics.loss_limits.effective_until is
  'Before when it holds; null: nothing later is decided.';
