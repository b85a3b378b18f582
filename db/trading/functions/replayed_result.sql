create or replace function trading.replayed_result(
  first_request int,
  first_result trading.order_result,
  order_id bigint,
  maker int,
  rests_since boolean,
  left_quantity int,
  cancelled trading.cancelled_maker,
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result trading.order_result;
begin
  if order_id is not null then
    v_result.replayed_order_id := order_id;
  else
    v_result := first_result;
    v_result.replay_of := first_request;
  end if;
  v_result.maker := replayed_result.maker;
  v_result.balance_cents := replayed_result.balance_cents;
  if v_result.maker is not null then
    v_result.left_quantity := coalesce(cancelled.left_quantity, replayed_result.left_quantity);
    v_result.cancel_reason := cancelled.reason;
  end if;
  if rests_since then
    v_result.status := case
      when cancelled.reason is not null then 'cancelled'::trading.order_status
      else trading.filled_status(v_result.left_quantity, v_result.quantity)
    end;
  end if;
  return v_result;
end
$$;

comment on function trading.replayed_result(
  int, trading.order_result, bigint, int, boolean, int, trading.cancelled_maker, bigint
) is
  'The answer to a replay: the order of its key as it is now. The order is one from before '
  '(order_id), or that of an earlier request of the batch (first_request, with its result). If it '
  'is a maker, then left_quantity is what is left of it, or cancelled says how it ended; '
  'rests_since: it came to rest in this batch. balance_cents is the cash of its user now.';
