create or replace function trading.scheduled_result(
  request trading.match_request,
  balance_cents bigint,
  held_quantity bigint,
  limits risk.loss_limits,
  untraded risk.loss_limits,
  open_cost_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_code constant text := trading.funding_rejection(
    request.is_buy, request.quantity, request.least_cents, request.scheduled_cost_cents,
    scheduled_result.balance_cents, scheduled_result.held_quantity,
    scheduled_result.limits, scheduled_result.untraded, scheduled_result.open_cost_cents
  );
begin
  if v_code is not null then
    return trading.order_rejected(v_code);
  end if;
  return trading.order_accepted(
    status => 'scheduled', quantity => coalesce(request.quantity, 0),
    left_quantity => coalesce(request.quantity, 0), cancel_reason => null, fee_cents => null,
    balance_cents => scheduled_result.balance_cents, maker => null
  );
end
$$;

comment on function trading.scheduled_result(
  trading.match_request, bigint, bigint, risk.loss_limits, risk.loss_limits, bigint
) is
  'The result of a request in a live market: it is judged by its worst case '
  '(trading.scheduled_cost_cents) without a look at the book, and scheduled. The other figures are '
  'its user''s; open_cost_cents without the request itself.';
