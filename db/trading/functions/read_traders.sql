create or replace function trading.read_traders(
  market_id bigint, user_ids bigint[], at timestamptz
)
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
    array_agg(t.limited),
    array_agg(coalesce(t.yes_has_traded or t.no_has_traded, t.yes_has_traded, t.no_has_traded,
      false)),
    array_agg(array[coalesce(t.yes_quantity, 0), coalesce(t.no_quantity, 0)]),
    array_agg(array[coalesce(t.yes_cost_cents, 0), coalesce(t.no_cost_cents, 0)]),
    array_agg(array[coalesce(t.yes_fee_cents, 0), coalesce(t.no_fee_cents, 0)]),
    array_agg(array[coalesce(t.yes_realised_cents, 0), coalesce(t.no_realised_cents, 0)])
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
      ) is not null as limited,
      y.has_traded as yes_has_traded,
      y.quantity as yes_quantity,
      y.cost_cents as yes_cost_cents,
      y.fee_cents as yes_fee_cents,
      y.realised_cents as yes_realised_cents,
      n.has_traded as no_has_traded,
      n.quantity as no_quantity,
      n.cost_cents as no_cost_cents,
      n.fee_cents as no_fee_cents,
      n.realised_cents as no_realised_cents
    from ledger.accounts as a
    join identity.users as u on u.id = a.user_id
    join risk.traders as r on r.user_id = a.user_id
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
  'What a batch must know of the traders it might touch: cash, gates, positions in the market. To '
  'be called with the market and the traders locked.';
