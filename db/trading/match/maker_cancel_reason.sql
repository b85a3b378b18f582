create or replace function trading.maker_cancel_reason(
  quantity int,
  cents int,
  held_quantity bigint,
  balance_cents bigint,
  blocked_by text,
  limits risk.loss_limits,
  untraded risk.loss_limits
)
returns trading.cancel_reason
language sql immutable parallel safe
return case
  when blocked_by = 'SELF_EXCLUDED' then 'self_excluded'::trading.cancel_reason
  when cents > 0 then
    case when held_quantity < quantity then 'position_insufficient'::trading.cancel_reason end
  when balance_cents + cents < 0 then 'insufficient_funds'
  when risk.exceeds_limits(limits, untraded, balance_cents, -cents) then 'loss_limit'
end;

comment on function trading.maker_cancel_reason(
  int, int, bigint, bigint, text, risk.loss_limits, risk.loss_limits
) is
  'Why a resting order cannot go through with a match, null if it can. cents is what the match '
  'would bring its owner: above 0 for a sale, below for a buy. The other figures are the owner''s; '
  'limits are null for one without any.';
