create or replace function trading.result_object(
  outcome trading.order_result,
  context trading.market_context,
  created_at text,
  time_in_force trading.time_in_force
)
returns text
language sql stable parallel safe
return trading.order_object(
  (outcome).order_public_id, (outcome).user_public_id, (context).market_public_id,
  ((outcome).request).side, ((outcome).request).price, (outcome).quantity,
  (outcome).filled_quantity, (outcome).status, ((outcome).request).order_type, time_in_force,
  (outcome).cancel_reason, ((outcome).request).expires_at, created_at,
  case when (outcome).status = 'scheduled' then trading.schedule_members(
    (context).at + (context).live_delay_ms * interval '1 millisecond',
    ((outcome).request).budget_cents, (context).at
  ) end
);

comment on function trading.result_object(
  trading.order_result, trading.market_context, text, trading.time_in_force
) is
  'The new order of a batch as its answer shows it: as it stood right after its own matching.';
