create or replace function trading.funding_rejection(
  is_buy boolean,
  quantity int,
  required_cents bigint,
  cost_cents bigint,
  balance_cents bigint,
  held_quantity bigint,
  limits risk.loss_limits,
  untraded risk.loss_limits,
  open_cost_cents bigint
)
returns text
language sql immutable parallel safe
return case
  when not is_buy then
    case when held_quantity < quantity then 'INSUFFICIENT_BALANCE' end
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'
  when risk.exceeds_limits(
    limits, untraded, balance_cents, open_cost_cents + cost_cents
  ) then 'LOSS_LIMIT'
end;

comment on function trading.funding_rejection(
  boolean, int, bigint, bigint, bigint, bigint, risk.loss_limits, risk.loss_limits, bigint
) is
  'Why a trader cannot afford an order that must be covered by required_cents and counts with '
  'cost_cents toward the loss limits, or cannot sell what it would sell; null when they can. The '
  'limits are null for a trader without any.';
