create or replace function trading.trader_rejection(
  site_paused boolean, known boolean, blocked_by text
)
returns text
language sql immutable parallel safe
return case
  when site_paused then 'TRADING_PAUSED'
  when not known then 'UNAUTHORIZED'
  else blocked_by
end;

comment on function trading.trader_rejection(boolean, boolean, text) is
  'Why a trader may not place anything new, in order of precedence; null when the trader may. '
  'known: the user exists; blocked_by: see risk.blocked_by.';
