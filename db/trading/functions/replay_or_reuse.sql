create or replace function trading.replay_or_reuse(
  batch trading.matched_batch,
  request int,
  twin int,
  twin_result trading.order_result,
  replay bigint,
  left_quantities int[],
  cancelled trading.cancelled_maker[],
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request constant trading.order_request := batch.requests[request];
  v_twin constant trading.order_request := batch.requests[twin];
begin
  if replay = -1
    or (replay is null and v_twin.request_fingerprint <> v_request.request_fingerprint) -- mutant: twin_of_another_request
    or (
      replay is null
      and v_twin.request_fingerprint is null
      and v_request.request_fingerprint is not null
      and not trading.has_terms(
        v_request, v_twin.market_id, v_twin.side, v_twin.order_type, v_twin.price,
        v_twin.quantity, v_twin.budget_cents, v_twin.time_in_force, v_twin.post_only,
        v_twin.expires_at
      )
    )
  then
    return trading.order_rejected('IDEMPOTENCY_KEY_REUSED');
  end if;
  return trading.replayed_result(
    twin, twin_result, replay, (batch.maker_arrays).order_ids, left_quantities, cancelled,
    balance_cents
  );
end
$$;

comment on function trading.replay_or_reuse(
  trading.matched_batch, int, int, trading.order_result, bigint, int[], trading.cancelled_maker[],
  bigint
) is
  'The result of a request whose idempotency key was used before, by an order from before (replay, '
  'see trading.read_replays) or by an earlier request of the batch (twin, with its result): a '
  'replay, or IDEMPOTENCY_KEY_REUSED if that was another request. The rest is as in '
  'trading.replayed_result.';
