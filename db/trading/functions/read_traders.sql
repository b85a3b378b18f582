create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.trader_arrays
language plpgsql stable
set search_path = ''
as $$
declare
  v_traders trading.trader_arrays;
begin
  select
    array_agg(t.user_id),
    array_agg(t.public_id),
    array_agg(t.account_id),
    array_agg(t.version),
    array_agg(t.balance_cents),
    array_agg(t.limits_reviewed_at is not null),
    array_agg(coalesce(t.excluded_until > read_traders.at, false)),
    array_agg(t.limited)
  into v_traders
  from (
    select
      a.user_id,
      u.public_id,
      a.id as account_id,
      a.version,
      a.balance_cents,
      r.limits_reviewed_at,
      r.excluded_until,
      coalesce(
        r.day_limit_cents, r.week_limit_cents, r.month_limit_cents,
        r.next_day_limit_cents, r.next_week_limit_cents, r.next_month_limit_cents
      ) is not null as limited
    from ledger.accounts as a
    -- The limits keep each a look-up by key, whatever the planner thinks of the tables.
    cross join lateral (
      select x.public_id from identity.users as x where x.id = a.user_id limit 1
    ) as u
    cross join lateral (
      select x.* from risk.traders as x where x.user_id = a.user_id limit 1
    ) as r
    where a.user_id = any (read_traders.user_ids)
    order by a.user_id
  ) as t;
  return v_traders;
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'What a batch must know of the traders it might touch: cash and gates. To be called with the '
  'traders locked.';
