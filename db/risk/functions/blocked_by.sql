create or replace function risk.blocked_by(
  trader trading.traders, minimum_age int, at timestamptz
)
returns text
language sql immutable parallel safe
return case
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'
  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  -- One code for both: the page that asks for the limits asks for the age as well.
  when (trader).limits_reviewed_at is null
    or not risk.has_confirmed_age((trader).confirmed_age, minimum_age) then 'LIMITS_SETUP_REQUIRED'
end;

comment on function risk.blocked_by(trading.traders, int, timestamptz) is
  'Why a trader may not trade at a time, as a code, the first in order of precedence; null when '
  'the trader may. minimum_age: that of core.settings.';
