create or replace function trading.limits_object(trader trading.traders, at timestamptz)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'reviewedAt', core.iso8601((trader).limits_reviewed_at),
    'day', risk.limit_object(
      (f.limits).day_cents, (trader).next_day_limit_cents, (trader).day_limit_changes_at,
      risk.net_spent_since(trader, d.today), o.open_cents, limits_object.at
    ),
    'week', risk.limit_object(
      (f.limits).week_cents, (trader).next_week_limit_cents, (trader).week_limit_changes_at,
      risk.net_spent_since(trader, d.today - 6), o.open_cents, limits_object.at
    ),
    'month', risk.limit_object(
      (f.limits).month_cents, (trader).next_month_limit_cents, (trader).month_limit_changes_at,
      risk.net_spent_since(trader, d.today - 29), o.open_cents, limits_object.at
    )
  )
  from (select risk.limits_in_force(trader, limits_object.at)) as f (limits)
  cross join (select (limits_object.at at time zone 'UTC')::date) as d (today)
  cross join (
    -- Without the limit the planner would put the call in each of the three places.
    select trading.open_cost_cents((trader).user_id, limits_object.at) limit 1
  ) as o (open_cents)
$$;

comment on function trading.limits_object(trading.traders, timestamptz) is
  'A user''s loss limits as the account shows them, with what is used of each. Cost: a row for '
  'each open order.';
