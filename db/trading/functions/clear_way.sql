create or replace function trading.clear_way(
  markets trading.market_context[],
  requests trading.order_request[],
  batch trading.matched_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unfinished constant int := (
    select min(r.place)
    from unnest((batch.result).results) with ordinality as r (
      code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
      fee_cents, balance_cents, maker, place
    )
    where r.code = 'CONFLICT_RETRY'
  );
  v_batch trading.matched_batch;
begin
  if v_unfinished is null then -- mutant: atomic_clears_nothing
    return;
  end if;
  v_batch := trading.match_batch(
    clear_way.markets, clear_way.requests[v_unfinished : v_unfinished], batch.at
  );
  if ((v_batch.result).results[1]).code = 'CONFLICT_RETRY' then
    perform trading.write_batch(v_batch);
  end if;
end
$$;

comment on function trading.clear_way(
  trading.market_context[], trading.order_request[], trading.matched_batch
) is
  'Cancels the makers that kept a request of an atomic batch from being finished '
  '(CONFLICT_RETRY), as if it had come alone, so that the batch gets further when it is placed '
  'again. Nothing else of the batch is written. Locks as trading.match_batch does.';
