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
  v_change trading.market_change;
  v_old trading.market_state;
  v_depth bigint[];
  v_best_yes int;
  v_best_no int;
  v_payloads json[];
  v_trade_ids bigint[];
  n int; -- place of the market
begin
  foreach v_change in array coalesce(
    trading.market_changes(batch, write_market_state.orders), '{}'
  ) loop
    n := v_change.market;
    select s.* into strict v_old
    from trading.market_state as s
    where s.market_id = m_ids[n];
    v_depth := trading.changed_depth(v_old.depth, v_change.places, v_change.depth_changes);
    v_best_yes := trading.best_after(
      v_depth, 'yes', greatest(v_old.best_yes_price, v_change.highest_yes) -- mutant: best_price_not_raised
    );
    v_best_no := trading.best_after(
      v_depth, 'no', greatest(v_old.best_no_price, v_change.highest_no)
    );
    update trading.market_state as s set
      version = s.version + v_change.changes, -- mutant: version_once_a_batch
      placed_count = s.placed_count + v_change.placed, -- mutant: batch_not_counted
      placed_id_sum = s.placed_id_sum + v_change.id_sum, -- mutant: order_not_counted
      last_trade_price = coalesce(accounted.last_trade_prices[n], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(accounted.yes_volumes_cents[n], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[n], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[n], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n], s.escrow_cents), -- mutant: escrow_written_to_another
      escrow_version = coalesce(accounted.escrow_versions[n], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[n], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[n], s.revenue_version),
      depth = v_depth,
      best_yes_price = v_best_yes,
      best_no_price = v_best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, v_best_yes,
        v_change.first_left[array_position(v_change.places, v_best_yes)],
        v_change.last_gone[array_position(v_change.places, v_best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, v_best_no,
        v_change.first_left[array_position(v_change.places, 99 + v_best_no)],
        v_change.last_gone[array_position(v_change.places, 99 + v_best_no)]
      )
    where s.market_id = m_ids[n];
    if v_change.changes > 0 then
      v_payloads := v_payloads || json_build_object(
        'marketId', m_public_ids[n], 'version', v_old.version + v_change.changes -- mutant: version_of_another_market
      );
    end if;
  end loop;
  if v_payloads is not null then
    if accounted.trades is not null then
      v_trade_ids := array(select t.id from unnest(accounted.trades) as t); -- mutant: fills_not_told
    end if;
    insert into trading.outbox (channel, payload, trade_ids, traded_at)
    select
      'market_changed', p.payload,
      case when p.place = 1 then v_trade_ids end,
      case when p.place = 1 and v_trade_ids is not null then batch.at end
    from unnest(v_payloads) with ordinality as p (payload, place)
    order by p.place;
  end if;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, with market_changed events of their new versions; '
  'the first of them has the trades of the batch.';
