create or replace function trading.write_market_state(
  batch trading.matched_batch,
  orders trading.placed_order[],
  accounted trading.accounted_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  m_ids constant bigint[] := (batch.market_arrays).ids;
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  v_changes constant trading.market_change[] := trading.market_changes(
    batch, write_market_state.orders
  );
begin
  if v_changes is null then
    return;
  end if;
  with next_state as (
    select
      n.*, x.depth,
      trading.best_after(x.depth, 'yes', greatest(s.best_yes_price, n.highest_yes)) as best_yes, -- mutant: best_price_not_raised
      trading.best_after(x.depth, 'no', greatest(s.best_no_price, n.highest_no)) as best_no
    from unnest(v_changes) as n
    cross join lateral (
      select y.* from trading.market_state as y where y.market_id = m_ids[n.market] limit 1
    ) as s
    cross join lateral (
      select trading.changed_depth(s.depth, n.places, n.depth_changes) as depth offset 0
    ) as x
    offset 0
  ),
  raised as (
    update trading.market_state as s set
      version = s.version + n.changes, -- mutant: version_once_a_batch
      placed_count = s.placed_count + n.placed, -- mutant: batch_not_counted
      placed_id_sum = s.placed_id_sum + n.id_sum, -- mutant: order_not_counted
      last_trade_price = coalesce(accounted.last_trade_prices[n.market], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents
        + coalesce(accounted.yes_volumes_cents[n.market], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[n.market], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[n.market], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n.market], s.escrow_cents), -- mutant: escrow_written_to_another
      escrow_version = coalesce(accounted.escrow_versions[n.market], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[n.market], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[n.market], s.revenue_version),
      depth = n.depth,
      best_yes_price = n.best_yes,
      best_no_price = n.best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, n.best_yes,
        n.first_left[array_position(n.places, n.best_yes)],
        n.last_gone[array_position(n.places, n.best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, n.best_no,
        n.first_left[array_position(n.places, 99 + n.best_no)],
        n.last_gone[array_position(n.places, 99 + n.best_no)]
      )
    from next_state as n
    where s.market_id = m_ids[n.market]
    returning n.market, s.version, n.changes
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', m_public_ids[r.market], 'version', r.version -- mutant: version_of_another_market
  )
  from raised as r
  where r.changes > 0;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, and announces their new versions.';
