create or replace function trading.read_limits(
  user_ids bigint[], taker_ids bigint[], at timestamptz, replaced int default 0
)
returns trading.limits_read
language plpgsql stable
as $$
declare
  c_most_open_orders constant int := 10000;
  c_above_all_limits constant bigint := 1000000000000000;
  v_limits trading.limits_read;
  v_today date := (read_limits.at at time zone 'UTC')::date;
begin
  select
    array_agg(t.limits order by t.place),
    array_agg(
      (
        t.balance_cents + risk.net_spent_since(t.trader, v_today),
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 6),
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 29)
      )::risk.loss_limits
      order by t.place
    ),
    array_agg(
      case
        when t.user_id = any (read_limits.taker_ids)
          then coalesce(
            trading.open_cost_cents(
              t.user_id, read_limits.at, most => c_most_open_orders + read_limits.replaced
            ),
            c_above_all_limits
          )
        else 0
      end
      order by t.place
    )
  into v_limits
  from (
    select
      u.place,
      r.user_id,
      r.balance_cents,
      r as trader,
      risk.limits_in_force(r, read_limits.at) as limits
    from unnest(read_limits.user_ids) with ordinality as u (user_id, place)
    join trading.traders as r on r.user_id = u.user_id
  ) as t;
  return v_limits;
end
$$;

comment on function trading.read_limits(bigint[], bigint[], timestamptz, int) is
  'The loss limits of traders and what counts toward them, each at the place of its trader in '
  'user_ids. What open orders could still cost is read of takers only, and is 0 for the others: '
  'a maker is judged by one match alone. More than 10,000 open orders count as more than any '
  'limit: markets are locked while they are read. replaced: 1 in a call that releases or replaces '
  'orders, which are among the open ones: the last of them was accepted beside 10,000. To be '
  'called with the traders locked.';
