create or replace function trading.payouts(market_id bigint, yes_payout_cents int)
returns table (
  user_id bigint,
  side trading.side,
  quantity bigint,
  payout_cents bigint,
  cost_cents bigint,
  fee_cents bigint,
  realised_cents bigint
)
language sql stable
begin atomic
  select
    p.user_id, p.side, p.quantity, s.payout_cents, p.cost_cents, p.fee_cents,
    s.payout_cents - p.cost_cents - p.fee_cents
  from trading.positions as p
  cross join lateral (
    select p.quantity * case p.side
      when 'yes' then payouts.yes_payout_cents
      else 100 - payouts.yes_payout_cents
    end as payout_cents
  ) as s
  where p.market_id = payouts.market_id
    and p.quantity > 0;
end;

comment on function trading.payouts(bigint, int) is
  'What each position of a market that holds shares is paid if a YES share pays yes_payout_cents, '
  'and what that realises: payout - cost - buy fees.';
