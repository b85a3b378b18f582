create or replace function trading.trader_refusal(
  site_paused boolean, known boolean, excluded boolean, limits_reviewed boolean
)
returns text
language sql immutable parallel safe
return case
  when site_paused then 'TRADING_PAUSED'
  when not known then 'UNAUTHORIZED'
  when excluded then 'SELF_EXCLUDED'
  when not limits_reviewed then 'LIMITS_SETUP_REQUIRED'
end;

comment on function trading.trader_refusal(boolean, boolean, boolean, boolean) is
  'Why nothing new is taken from a trader at present, whatever it is, in order of precedence; '
  'null when they may trade. known: the user exists.';
