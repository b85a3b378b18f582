create or replace function api.get_account_value(
  user_id uuid, since date default null, until date default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  c_usual_days constant int := 30;
  c_most_days constant int := 366;
  v_until constant date := coalesce(
    get_account_value.until, (core.now() at time zone 'UTC')::date - 1
  );
  v_since constant date := coalesce(get_account_value.since, v_until - (c_usual_days - 1));
begin
  if v_until - v_since not between 0 and c_most_days - 1 then
    perform core.raise_error('INVALID_REQUEST', format(
      'to: must be no day before from, and at most %s days later', c_most_days - 1
    ));
  end if;
  return (
    select json_build_object('data', coalesce(
      json_agg(
        json_build_object(
          'day', d.day,
          'balanceCents', coalesce(o.balance_cents, t.balance_cents),
          'exitCents', coalesce(e.exit_cents, 0),
          'depositsCents', coalesce(o.external_cents, t.external_cents)
        )
        order by d.day
      ),
      '[]'
    ))
    from trading.traders as t
    join identity.users as u on u.id = t.user_id
    join trading.valued_days as d
      on d.day between v_since and v_until
      and d.finished_at is not null
      and (d.day + 1)::timestamp at time zone 'UTC' > u.created_at
    left join lateral (
      select x.balance_cents, x.external_cents
      from ledger.day_openings as x
      where x.user_id = t.user_id
        and x.day > d.day
      order by x.day
      limit 1
    ) as o on true
    left join trading.exit_values as e on e.user_id = t.user_id and e.day = d.day
    where t.public_id = get_account_value.user_id
  );
end
$$;

comment on function api.get_account_value(uuid, date, date) is
  'The body of GET /api/account/value: the account at the end of each UTC day from since to until, '
  'both included; by default the last 30 days. Days that jobs.value_accounts has not finished and '
  'days before the account was made have no row. Errors: INVALID_REQUEST (more than 366 days, or '
  'until before since). Cost: a few rows for each day.';
