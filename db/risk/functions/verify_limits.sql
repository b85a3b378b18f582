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
  )
  select 'loss limits are those of the last change', 'user ' || l.user_id,
    l.expected::text, l.found::text
  from limits as l
  where l.expected <> l.found
$$;

comment on function risk.verify_limits() is
  'The part of ledger.verify() about loss limits: those of each trader are what the last change '
  'left. One row for each broken invariant.';
