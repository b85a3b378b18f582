create or replace function trading.read_traders(
  market_id bigint, user_ids bigint[], at timestamptz
)
returns trading.trader_arrays
language plpgsql stable
set search_path = ''
as $$
declare
  v_traders trading.trader_arrays;
  v_today date := (read_traders.at at time zone 'UTC')::date;
begin
  select
    array_agg(t.user_id),
    array_agg(t.public_id),
    array_agg(t.account_id),
    array_agg(t.version),
    array_agg(t.balance_cents),
    array_agg(t.limits_reviewed_at is not null),
    array_agg(coalesce(t.excluded_until > read_traders.at, false)),
    array_agg(t.limited),
    array_agg(t.limits),
    array_agg(case when t.limited then (
      t.balance_cents + risk.net_spent_since(t.account, v_today),
      t.balance_cents + risk.net_spent_since(t.account, v_today - 6),
      t.balance_cents + risk.net_spent_since(t.account, v_today - 29)
    )::risk.loss_limits end),
    array_agg(case when t.limited
      then trading.open_cost_cents(t.user_id, read_traders.at) end),
    array_agg(t.has_traded),
    array_agg(t.held_quantity),
    array_agg(t.held_cost_cents),
    array_agg(t.held_fee_cents),
    array_agg(t.realised_cents)
  into v_traders
  from (
    select
      a.user_id,
      u.public_id,
      a.id as account_id,
      a.version,
      a.balance_cents,
      a as account,
      r.limits_reviewed_at,
      r.excluded_until,
      l as limits,
      coalesce(l.day_cents, l.week_cents, l.month_cents) is not null as limited,
      coalesce(y.has_traded, false) or coalesce(n.has_traded, false) as has_traded,
      array[coalesce(y.quantity, 0), coalesce(n.quantity, 0)] as held_quantity,
      array[coalesce(y.cost_cents, 0), coalesce(n.cost_cents, 0)] as held_cost_cents,
      array[coalesce(y.fee_cents, 0), coalesce(n.fee_cents, 0)] as held_fee_cents,
      array[coalesce(y.realised_cents, 0), coalesce(n.realised_cents, 0)] as realised_cents
    from ledger.accounts as a
    join identity.users as u on u.id = a.user_id
    join risk.traders as r on r.user_id = a.user_id
    cross join lateral risk.limits_in_force(r, read_traders.at) as l
    left join trading.positions as y
      on y.market_id = read_traders.market_id and y.user_id = a.user_id and y.side = 'yes'
    left join trading.positions as n
      on n.market_id = read_traders.market_id and n.user_id = a.user_id and n.side = 'no'
    where a.user_id = any (read_traders.user_ids)
    order by a.user_id
  ) as t;
  return v_traders;
end
$$;

comment on function trading.read_traders(bigint, bigint[], timestamptz) is
  'What a batch must know of the traders it might touch: cash, gates, limits, positions in the '
  'market. To be called with the market and the traders locked.';
