-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns setof core.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
begin
  return query
    select r.code, r.message, r.replayed, r.body
    from unnest(
      trading.place_batch(
        place_orders.orders, place_orders.atomic, place_orders.waits, skips => false,
        most_makers => null
      )
    ) as r;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction. One row for each element of orders, in their '
  'order. An element is {marketId, userId, side, price, quantity, budgetCents, orderType, '
  'timeInForce, selfTrade, idempotencyKey, requestFingerprint, expiresAt, postOnly}, as '
  'trading.read_requests has it. Each stands alone: its rejection is its row; atomic: if one is '
  'rejected, no order is placed, and the rows of the others have neither code nor body, unless all '
  'are CONFLICT_RETRY. waits => false: orders of markets whose lock is held are AGAIN: they have '
  'no effect and must be placed again; in an atomic call all of them are. CONFLICT_RETRY: the call '
  'cancelled, or met for nothing, as many makers as one may, and the request must be placed again. '
  'Locks: the markets, ascending; then the takers and the makers they can reach, by ascending user '
  'id. May fail as a whole with 40001, 40P01 or 55P03: call it again.';
