create or replace function trading.gate_refusal(
  request trading.order_request,
  context trading.market_context,
  known boolean,
  excluded boolean,
  limits_reviewed boolean
)
returns text
language sql immutable parallel safe
return case
  when (request).problem is not null then 'INVALID_REQUEST'
  else coalesce(
    trading.trader_refusal((context).site_paused, known, excluded, limits_reviewed),
    case
      when (context).market_id is null then 'MARKET_NOT_FOUND'
      when not (context).is_open then 'MARKET_NOT_OPEN'
      when (request).expires_at <= (context).at then 'INVALID_REQUEST'
    end
  )
end;

comment on function trading.gate_refusal(
  trading.order_request, trading.market_context, boolean, boolean, boolean
) is
  'Why a request is refused before anyone looks at the book, in order of precedence; null when it '
  'is not. known: its user exists.';
