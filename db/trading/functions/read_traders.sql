create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.trader_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_traders trading.trader_arrays;
begin
  v_traders := (
    select (
      array_agg(t.user_id),
      array_agg(t.public_id),
      array_agg(t.balance_cents),
      array_agg(t.account_version::bigint),
      array_agg(risk.blocked_by(t, read_traders.at)),
      array_agg(coalesce(t.excluded_until > read_traders.at, false)),
      array_agg(risk.has_limits(t)),
      null
    )::trading.trader_arrays
    from (
      select x.*
      from trading.traders as x
      where x.user_id = any (read_traders.user_ids)
      order by x.user_id
    ) as t
  );
  -- Hardly ever: a worker cancels these orders within a moment.
  if exists (
    select from trading.dead_man_switches as s where s.expires_at <= read_traders.at
  ) then
    v_traders.stopped_order_ids := array(
      select (
        select trading.last_stopped_order(s, read_traders.at, grace => interval '2 seconds') -- mutant: stopped_before_its_renewal
        from trading.dead_man_switches as s
        where s.user_id = u.id
      )
      from unnest(v_traders.user_ids) with ordinality as u (id, place)
      order by u.place
    );
  end if;
  return v_traders;
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'The cash of users and whether they may trade, in ascending id; of their orders, which ones the '
  'dead man''s switch has stopped.';
