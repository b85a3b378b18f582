create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.traders_read
language plpgsql stable
as $$
declare
  -- Later than the time of the batch by the wait for the traders' locks.
  v_now constant timestamptz := core.now();
  v_traders trading.traders_read;
begin
  v_traders := (
    select (
      array_agg(t.user_id),
      array_agg(t.public_id),
      array_agg(t.balance_cents),
      array_agg(t.account_version::bigint),
      array_agg(
        risk.blocked_by(t, (select s.minimum_age from core.settings as s), read_traders.at)
      ),
      array_agg(risk.has_limits(t)),
      null,
      case
        when exists (select from trading.dead_man_switches as s where s.expires_at <= v_now)
          or exists (
            select
            from trading.dead_man_switches as s
            where s.last_fired_at > read_traders.at and s.last_fired_at <= v_now
          )
          or exists (
            select from trading.order_stops as s where s.user_id = any (read_traders.user_ids)
          )
          then '{}'::boolean[]
      end
    )::trading.traders_read
    from (
      select x.*
      from trading.traders as x
      where x.user_id = any (read_traders.user_ids)
      order by x.user_id
    ) as t
  );
  -- Hardly ever: a worker cancels stopped orders within a moment.
  if v_traders.missed_switch is not null then
    select
      array_agg(greatest(w.stopped_order_id, p.last_order_id) order by u.place),
      array_agg(w.is_missed order by u.place)
    into v_traders.last_stopped_orders, v_traders.missed_switch
    from unnest(v_traders.user_ids) with ordinality as u (id, place)
    left join lateral (
      select
        trading.last_stopped_order(s, read_traders.at) as stopped_order_id,
        -- A firing in the future is of a clock that was set back since.
        s.expires_at > read_traders.at and s.expires_at <= v_now
        or s.last_fired_at > read_traders.at and s.last_fired_at <= v_now as is_missed
      from trading.dead_man_switches as s
      where s.user_id = u.id
    ) as w on true
    left join lateral (
      select max(s.last_order_id) as last_order_id
      from trading.order_stops as s
      where s.user_id = u.id
    ) as p on true;
  end if;
  return v_traders;
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'The cash of users, whether they may trade, and the last of their orders that is stopped, in '
  'ascending id. To be called with the users locked.';
