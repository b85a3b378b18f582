create or replace function trading.order_answers(
  context trading.market_context, result trading.match_result
)
returns api.result[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at text := core.iso8601(context.at);
  v_outcome trading.order_result;
  v_request trading.order_request;
  v_answers api.result[];
  v_all_fills trading.fill[] := result.fills;
  v_all_dead trading.cancelled_maker[] := result.cancelled_makers;
  v_fill trading.fill;
  v_dead trading.cancelled_maker;
  v_fills text[];
  v_cancelled text[];
  v_place int := 0;
  f int := 1;
  d int := 1;
begin
  -- Fills and dead makers come in the order of the requests that met them.
  foreach v_outcome in array result.outcomes loop
    v_place := v_place + 1;
    if v_all_fills is not null then
      v_fills := '{}';
      loop
        v_fill := v_all_fills[f];
        exit when v_fill.request is distinct from v_place;
        v_fills[cardinality(v_fills) + 1] := trading.fill_object(
          v_fill.trade_public_id, context.market_public_id, v_fill.taker_side,
          v_fill.taker_order_public_id, v_fill.maker_order_public_id,
          v_fill.taker_user_public_id, v_fill.maker_user_public_id, v_fill.yes_price,
          v_fill.quantity, v_at
        );
        f := f + 1;
      end loop;
    end if;
    if v_all_dead is not null then
      v_cancelled := '{}';
      loop
        v_dead := v_all_dead[d];
        exit when v_dead.request is distinct from v_place;
        v_cancelled[cardinality(v_cancelled) + 1] := trading.order_object(
          (v_dead."order").order_public_id, v_dead.user_public_id, context.market_public_id,
          (v_dead."order").side, (v_dead."order").price, (v_dead."order").quantity,
          v_dead.filled_quantity, 'cancelled', (v_dead."order").order_type, 'gtc',
          v_dead.reason, (v_dead."order").expires_at,
          core.iso8601((v_dead."order").created_at), null
        );
        d := d + 1;
      end loop;
    end if;

    v_request := v_outcome.request;
    v_answers[v_place] := (
      v_outcome.code,
      v_outcome.message,
      v_outcome.is_replay is not null,
      case
        when v_outcome.code is not null then null
        when v_outcome.is_replay then trading.replay_answer(v_outcome, context.at)
        else format(
          '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
          trading.result_object(v_outcome, context, v_at, v_request.time_in_force),
          array_to_string(v_fills, ','),
          array_to_string(v_cancelled, ','),
          trading.balance_object(v_outcome.balance_cents),
          coalesce(v_outcome.fee_cents::text, 'null')
        )
      end
    )::api.result;
  end loop;
  return v_answers;
end
$$;

comment on function trading.order_answers(trading.market_context, trading.match_result) is
  'The answers to a batch, in the order of its requests: a refusal, or the documented body of '
  'POST /orders.';
