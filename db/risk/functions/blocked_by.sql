create or replace function risk.blocked_by(trader trading.traders, at timestamptz)
returns text
language sql immutable parallel safe
return case
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'
  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).limits_reviewed_at is null then 'LIMITS_SETUP_REQUIRED'
end;

comment on function risk.blocked_by(trading.traders, timestamptz) is
  'Why a trader may not trade at a time, as a code, the first in order of precedence; null when '
  'the trader may.';
