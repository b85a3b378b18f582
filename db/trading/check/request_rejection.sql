create or replace function trading.request_rejection(
  problem text,
  is_release boolean,
  expires_at timestamptz,
  at timestamptz,
  site_paused boolean,
  known boolean,
  blocked_by text,
  market_known boolean,
  is_open boolean
)
returns text
language sql immutable parallel safe
return case
  when problem is not null then 'INVALID_REQUEST'
  when not is_release and expires_at <= at then 'INVALID_REQUEST'
  else coalesce(
    trading.trader_rejection(site_paused, known, blocked_by),
    case
      when not market_known then 'MARKET_NOT_FOUND'
      when not is_open then 'MARKET_NOT_OPEN'
      when expires_at <= at then 'INVALID_REQUEST'
    end
  )
end;

comment on function trading.request_rejection(
  text, boolean, timestamptz, timestamptz, boolean, boolean, text, boolean, boolean
) is
  'Why a request is rejected before the book is read, in order of precedence; null when it is not. '
  'An expiry in the past is a fault of a new request, and comes first. A scheduled order that is '
  'released may have expired since, which comes last: so its reason is the same whether a late '
  'release or a late closing of the market comes first. known: its user exists.';
