create or replace function trading.request_rejection(
  request trading.order_request,
  context trading.market_context,
  known boolean,
  blocked_by text
)
returns text
language sql immutable parallel safe
return case
  when (request).problem is not null then 'INVALID_REQUEST'
  when (request).order_id is null and (request).expires_at <= (context).at -- mutant: past_expiry
    then 'INVALID_REQUEST' -- mutant: past_expiry
  else coalesce(
    trading.trader_rejection((context).site_paused, known, blocked_by),
    case
      when (context).market_id is null then 'MARKET_NOT_FOUND'
      when not (context).is_open then 'MARKET_NOT_OPEN'
      when (request).expires_at <= (context).at then 'INVALID_REQUEST' -- mutant: released_at_its_expiry
    end
  )
end;

comment on function trading.request_rejection(
  trading.order_request, trading.market_context, boolean, text
) is
  'Why a request is rejected before the book is read, in order of precedence; null when it is not. '
  'An expiry in the past is a fault of a new request, and comes first. A scheduled order that is '
  'released (order_id) may have expired since, which comes last: so its reason is the same whether '
  'a late release or a late closing of the market comes first. known: its user exists; blocked_by: '
  'see trading.request_blocked_by.';
