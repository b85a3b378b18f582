create or replace function trading.atomic_rejections(batch trading.matched_batch, requests int)
returns api.result[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if batch.requests is null then
    return array_fill(
      ('CONFLICT_RETRY', null, false, null)::api.result, array[atomic_rejections.requests]
    );
  end if;
  return (
    select case when bool_or(x.is_live or x.code is not null) then
      array_agg(
        (
          -- What waits for another request does not say why the batch is rejected.
          case
            when x.is_live then 'INVALID_REQUEST'
            when not x.is_any_live then nullif(x.code, 'CONFLICT_RETRY')
          end,
          case
            when x.is_live then 'atomic: not for orders on live markets'
            when not x.is_any_live then trading.rejection_message(x.code, x.problem)
          end,
          false, null
        )::api.result
        order by x.place
      )
    end
    from (
      select y.*, bool_or(y.is_live) over () as is_any_live
      from (
        select
          o.ordinality as place, o.code, o.problem,
          (batch.market_arrays).live_delays_ms[o.market] is not null -- mutant: atomic_on_a_live_market
          and o.replay_of is null and o.replayed_order_id is null as is_live
        from rows from (unnest(batch.requests), unnest((batch.result).results))
        with ordinality as o (
          market, market_id, user_id, side, order_type, price, request_quantity, budget_cents,
          time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
          is_market, relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
          cancels_own,
          code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
          fee_cents, balance_cents, maker, ordinality
        )
      ) as y
    ) as x
  );
end
$$;

comment on function trading.atomic_rejections(trading.matched_batch, int) is
  'What keeps an atomic batch from being placed, a row for each of so many requests; null when '
  'nothing does; CONFLICT_RETRY for all if trading.match_as_one gave no batch. New orders on live '
  'markets come before everything else, since they are a fault of the whole request; what was '
  'placed before the market went live is a replay.';
