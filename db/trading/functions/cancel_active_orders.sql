create or replace function trading.cancel_active_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  announced boolean
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids constant bigint[] := array(
    select e.order_id
    from trading.end_active_orders(
      cancel_active_orders.market_id, cancel_active_orders.order_ids, cancel_active_orders.reason,
      cancel_active_orders.at, counted => true -- mutant: version_not_raised
    ) as e
  );
begin
  if cancel_active_orders.announced and cardinality(v_ids) > 0 then -- mutant: owner_not_told
    perform trading.announce_cancelled(v_ids);
  end if;
  return cardinality(v_ids);
end
$$;

comment on function trading.cancel_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Cancels open orders of one market, resting and scheduled ones, for one reason; returns how many '
  'were still there. announced: write order_cancelled events for the owners, who did not ask for '
  'it. The caller holds the market''s lock. One change of the market, however many orders leave '
  'its book.';
