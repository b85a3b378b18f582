create or replace function risk.verify_limits()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  last_changes as (
    select distinct on (c.user_id) c.*,
      first_value(c.created_at) over (partition by c.user_id order by c.id) as reviewed_at
    from risk.limit_changes as c
    order by c.user_id, c.id desc
  ),
  limits as (
    select
      coalesce(t.user_id, c.user_id) as user_id,
      jsonb_build_array(
        c.day_limit_cents, c.next_day_limit_cents, c.day_limit_changes_at,
        c.week_limit_cents, c.next_week_limit_cents, c.week_limit_changes_at,
        c.month_limit_cents, c.next_month_limit_cents, c.month_limit_changes_at, c.reviewed_at
      ) as expected,
      jsonb_build_array(
        t.day_limit_cents, t.next_day_limit_cents, t.day_limit_changes_at,
        t.week_limit_cents, t.next_week_limit_cents, t.week_limit_changes_at,
        t.month_limit_cents, t.next_month_limit_cents, t.month_limit_changes_at,
        t.limits_reviewed_at
      ) as found
    from trading.traders as t
    full join last_changes as c on c.user_id = t.user_id
  ),
  -- What was asked for at each change, for each user and moment.
  asked as (
    select
      t.public_id::text as user_id, c.created_at,
      concat_ws(
        ' ',
        coalesce((
          case when c.day_limit_changes_at is null then c.day_limit_cents
          else c.next_day_limit_cents end
        )::text, 'none'),
        coalesce((
          case when c.week_limit_changes_at is null then c.week_limit_cents
          else c.next_week_limit_cents end
        )::text, 'none'),
        coalesce((
          case when c.month_limit_changes_at is null then c.month_limit_cents
          else c.next_month_limit_cents end
        )::text, 'none')
      ) as limits
    from risk.limit_changes as c
    join trading.traders as t on t.user_id = c.user_id
  ),
  calls as (
    select
      a.id, a.at, a.arguments ->> 'user_id' as user_id,
      concat_ws(
        ' ', coalesce(a.arguments ->> 'day_cents', 'none'),
        coalesce(a.arguments ->> 'week_cents', 'none'),
        coalesce(a.arguments ->> 'month_cents', 'none')
      ) as limits
    from admin.audit_log as a
    where a.action = 'set_loss_limits'
  )
  select 'loss limits are those of the last change', 'user ' || l.user_id,
    l.expected::text, l.found::text
  from limits as l
  where l.expected <> l.found

  union all
  select 'loss limit is not below zero, and the next one has its time', 'user ' || t.user_id,
    '>= 0, and since when', concat_ws(' ', l.span, l.cents, 'then', l.next_cents)
  from trading.traders as t
  cross join lateral (
    values
      ('day', t.day_limit_cents, t.next_day_limit_cents, t.day_limit_changes_at),
      ('week', t.week_limit_cents, t.next_week_limit_cents, t.week_limit_changes_at),
      ('month', t.month_limit_cents, t.next_month_limit_cents, t.month_limit_changes_at)
  ) as l (span, cents, next_cents, changes_at)
  where least(l.cents, l.next_cents) < 0
    or l.next_cents is not null and l.changes_at is null

  union all
  select 'age was confirmed at a time', 'user ' || t.user_id,
    t.confirmed_age::text, coalesce(t.age_confirmed_at::text, 'never')
  from trading.traders as t
  where t.confirmed_age < 0
    or (t.confirmed_age > 0) <> (t.age_confirmed_at is not null)

  union all
  select 'loss limits were changed as an operator called for', 'call ' || c.id, c.limits, 'none'
  from calls as c
  where not exists (
    select
    from asked as x
    where x.user_id = c.user_id
      and x.limits = c.limits
      and core.is_within_an_hour(x.created_at, c.at)
  )

  -- An exclusion never becomes shorter, unless it is ended. A user may have made it longer.
  union all
  select 'exclusion lasts at least as long as an operator called for', 'user ' || c.user_id,
    c.until::text, coalesce(t.excluded_until::text, 'none')
  from (
    select a.arguments ->> 'user_id' as user_id,
      max(core.time_of(a.arguments ->> 'until')) as until
    from admin.audit_log as a
    where a.action = 'self_exclude'
      and not exists (
        select
        from admin.audit_log as e
        where e.action = 'end_self_exclusion'
          and e.arguments ->> 'user_id' = a.arguments ->> 'user_id'
          and e.id > a.id
      )
    group by a.arguments ->> 'user_id'
  ) as c
  left join trading.traders as t on t.public_id::text = c.user_id
  where (t.excluded_until >= c.until) is not true
$$;

comment on function risk.verify_limits() is
  'The part of ledger.verify() about loss limits, ages and exclusions: those of each trader can '
  'be, and are what the last change left and what operators called for. One row for each broken '
  'invariant.';
