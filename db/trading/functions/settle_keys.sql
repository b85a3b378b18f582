create or replace function trading.settle_keys(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into trading.idempotency_keys as k (user_id, key, order_id, created_at)
  select (o.request).user_id, (o.request).idempotency_key, o.order_id, context.at
  from unnest(result.outcomes) as o
  where (o.request).idempotency_key is not null
    and o.code is null
    and o.is_replay is null
  on conflict (user_id, key) do update
  set order_id = excluded.order_id, created_at = excluded.created_at;
end
$$;

comment on function trading.settle_keys(trading.market_context, trading.match_result) is
  'Notes which orders of a batch the idempotency keys stand for. A key older than 24 hours is '
  'taken over.';
