create or replace function trading.release_reason(
  code text, order_type trading.order_type, stop_reason trading.cancel_reason
)
returns trading.cancel_reason
language sql immutable parallel safe
return case code
  when 'TRADING_PAUSED' then 'trading_paused'
  when 'SELF_EXCLUDED' then 'self_excluded'
  when 'ACCOUNT_FROZEN' then 'trading_paused'
  when 'LIMITS_SETUP_REQUIRED' then 'trading_paused'
  when 'MARKET_NOT_OPEN' then 'market_closed'
  when 'DEAD_MAN_FIRED' then coalesce(stop_reason, 'user_cancelled')::text
  when 'INVALID_REQUEST' then 'expired'
  when 'SELF_TRADE_BLOCKED' then 'self_trade'
  when 'POST_ONLY_WOULD_CROSS' then 'post_only_would_cross'
  when 'INSUFFICIENT_LIQUIDITY' then 'insufficient_liquidity'
  when 'INSUFFICIENT_BALANCE'
    then case order_type when 'sell' then 'position_insufficient' else 'insufficient_funds' end
  when 'LOSS_LIMIT' then 'loss_limit'
end::trading.cancel_reason;

comment on function trading.release_reason(text, trading.order_type, trading.cancel_reason) is
  'The cancel reason of a scheduled order whose release was rejected with a code. An order that '
  'was accepted can have become invalid only by expiring. A user who may not trade now, or has to '
  'confirm a new minimum age, is one for whom trading is paused. stop_reason: expired, or '
  'that of trading.stop_of; null (user_cancelled) when the dead man''s switch has just expired.';
