create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.trader_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(t.user_id),
      array_agg(t.public_id),
      array_agg(t.balance_cents),
      array_agg(t.account_version::bigint),
      array_agg(risk.blocked_by(t, read_traders.at)),
      array_agg(coalesce(t.excluded_until > read_traders.at, false)),
      array_agg(risk.has_limits(t))
    )::trading.trader_arrays
    from (
      select x.*
      from trading.traders as x
      where x.user_id = any (read_traders.user_ids)
      order by x.user_id
    ) as t
  );
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'The cash of users and whether they may trade, in ascending id.';
