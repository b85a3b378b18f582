create or replace function trading.placed_orders(batch trading.matched_batch)
returns trading.placed_order[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  m_delay constant int[] := (batch.market_arrays).live_delays_ms;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
  k_left constant int[] := (batch.result).left_quantities;
  v_request trading.order_request;
  v_result trading.order_result;
  v_is_accepted boolean;
begin
  -- Nothing comes after the only request of a batch. By expressions alone, which take a third of
  -- the query's time.
  if cardinality(batch.requests) = 1 then
    v_request := batch.requests[1];
    v_result := (batch.result).results[1];
    v_is_accepted := v_result.status is not null and v_result.replayed_order_id is null;
    return array[
      (
        v_request.market, v_request.market_id, m_public_ids[v_request.market], v_request.user_id,
        t_public_ids[(batch.request_arrays).traders[1]], v_request.side, v_request.order_type,
        v_request.price, v_request.book_side, v_request.book_price, v_request.budget_cents,
        v_request.time_in_force, v_request.post_only, v_request.expires_at,
        v_request.idempotency_key, v_request.problem, v_request.order_id is not null,
        case when v_result.status = 'scheduled'
          then batch.at + m_delay[v_request.market] * interval '1 millisecond' end,
        case when v_is_accepted
          then coalesce(v_request.order_id, nextval('trading.orders_id_seq')) end,
        case when v_is_accepted then coalesce(v_request.order_public_id, core.uuid_v7()) end,
        v_result.code, v_result.replay_of, v_result.replayed_order_id, v_result.status,
        v_result.quantity, v_result.left_quantity, v_result.cancel_reason, v_result.fee_cents,
        v_result.balance_cents, v_result.status, v_result.left_quantity, v_result.cancel_reason,
        v_request.request_fingerprint, v_request.cancels_own
      )::trading.placed_order
    ];
  end if;
  return (
    select array_agg(
      (
        x.market, x.market_id, m_public_ids[x.market], x.user_id, t_public_ids[x.trader], x.side, -- mutant: order_names_another_market
        x.order_type, x.price, x.book_side, x.book_price, x.budget_cents, x.time_in_force,
        x.post_only, x.expires_at, x.idempotency_key, x.problem, x.order_id is not null,
        case when x.status = 'scheduled'
          then batch.at + m_delay[x.market] * interval '1 millisecond' end, -- mutant: delay_of_another_market
        case when x.is_accepted then coalesce(x.order_id, nextval('trading.orders_id_seq')) end,
        case when x.is_accepted then coalesce(x.order_public_id, core.uuid_v7()) end,
        x.code, x.replay_of, x.replayed_order_id, x.status, x.quantity, x.left_quantity,
        x.cancel_reason, x.fee_cents, x.balance_cents,
        case
          when not x.is_accepted or x.maker is null then x.status
          when k_left[x.maker] < 0 then 'cancelled'
          else trading.filled_status(k_left[x.maker], x.quantity)
        end,
        case
          when not x.is_accepted or x.maker is null then x.left_quantity
          when k_left[x.maker] < 0 then c.left_quantity
          else k_left[x.maker]
        end,
        coalesce(c.reason, x.cancel_reason),
        x.request_fingerprint, x.cancels_own
      )::trading.placed_order
    )
    from (
      select
        q.*,
        q.status is not null and q.replay_of is null and q.replayed_order_id is null
          as is_accepted
      from rows from (
        unnest(batch.requests), unnest((batch.result).results),
        unnest((batch.request_arrays).traders)
      ) as q (
        market, market_id, user_id, side, order_type, price, request_quantity, budget_cents,
        time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
        is_market, relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
        cancels_own,
        code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
        fee_cents, balance_cents, maker, trader
      )
      offset 0
    ) as x
    left join lateral (
      -- Orders that came to rest may have been met by later requests of the batch.
      select d.left_quantity, d.reason
      from unnest((batch.result).cancelled_makers) as d
      where d.maker = x.maker
    ) as c on x.is_accepted and k_left[x.maker] < 0
  );
end
$$;

comment on function trading.placed_orders(trading.matched_batch) is
  'The requests of a matched batch with their results, in their order. Draws the ids of new '
  'orders; writes nothing.';
