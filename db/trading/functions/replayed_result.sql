create or replace function trading.replayed_result(
  first_request int,
  first_result trading.order_result,
  order_id bigint,
  order_ids bigint[],
  left_quantities int[],
  cancelled trading.cancelled_maker[],
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result trading.order_result;
  v_left int;
begin
  if order_id is not null then
    v_result.replayed_order_id := order_id;
    v_result.maker := array_position(order_ids, order_id);
  else
    v_result := first_result;
    v_result.replay_of := first_request;
  end if;
  v_result.balance_cents := replayed_result.balance_cents;
  if v_result.maker is null then
    return v_result;
  end if;

  v_left := left_quantities[v_result.maker];
  v_result.left_quantity := v_left;
  if v_left < 0 then
    v_result.left_quantity := (cancelled[-v_left]).left_quantity; -- mutant: replay_of_the_dead
    v_result.cancel_reason := (cancelled[-v_left]).reason;
  end if;
  if order_id is null then
    v_result.status := case
      when v_left < 0 then 'cancelled'
      else trading.filled_status(v_left, v_result.quantity)
    end;
  end if;
  return v_result;
end
$$;

comment on function trading.replayed_result(
  int, trading.order_result, bigint, bigint[], int[], trading.cancelled_maker[], bigint
) is
  'The answer to a replay: the order of its key as it is now. The order is one from before '
  '(order_id), or that of an earlier request of the batch (first_request, with its result). '
  'order_ids are those of the makers that were read, left_quantities what is left of each maker, '
  'below 0 its place among the cancelled. balance_cents is the cash of its user now.';
