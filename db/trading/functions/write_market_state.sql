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
  v_trade_ids bigint[];
begin
  if accounted.trades is not null then
    v_trade_ids := array(select t.id from unnest(accounted.trades) as t); -- mutant: fills_not_told
  end if;
  with changed as (
    update trading.market_state as s set
      version = s.version + d.changes, -- mutant: version_once_a_batch
      placed_count = s.placed_count + d.placed, -- mutant: batch_not_counted
      placed_id_sum = s.placed_id_sum + d.id_sum, -- mutant: order_not_counted
      last_trade_price = coalesce(accounted.last_trade_prices[d.market], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(accounted.yes_volumes_cents[d.market], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[d.market], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[d.market], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[d.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[d.market], s.escrow_cents), -- mutant: escrow_written_to_another
      escrow_version = coalesce(accounted.escrow_versions[d.market], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[d.market], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[d.market], s.revenue_version),
      depth = d.depth,
      best_yes_price = d.best_yes,
      best_no_price = d.best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, d.best_yes,
        d.first_left[array_position(d.places, d.best_yes)],
        d.last_gone[array_position(d.places, d.best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, d.best_no,
        d.first_left[array_position(d.places, 99 + d.best_no)],
        d.last_gone[array_position(d.places, 99 + d.best_no)]
      )
    from (
      select
        b.*,
        trading.best_after(b.depth, 'yes', greatest(b.best_yes_price, b.highest_yes)) as best_yes, -- mutant: best_price_not_raised
        trading.best_after(b.depth, 'no', greatest(b.best_no_price, b.highest_no)) as best_no
      from (
        select
          c.*, o.best_yes_price, o.best_no_price,
          trading.changed_depth(o.depth, c.places, c.depth_changes) as depth
        from unnest(trading.market_changes(batch, write_market_state.orders)) as c
        cross join lateral (
          select x.depth, x.best_yes_price, x.best_no_price
          from trading.market_state as x
          where x.market_id = m_ids[c.market]
          limit 1
        ) as o
        offset 0
      ) as b
      offset 0
    ) as d
    where s.market_id = m_ids[d.market]
    returning d.market, d.changes, s.version
  )
  insert into trading.outbox (channel, payload, trade_ids, traded_at)
  select
    'market_changed', json_build_object('marketId', e.public_id, 'version', e.version),
    case when e.is_first then v_trade_ids end,
    case when e.is_first and v_trade_ids is not null then batch.at end
  from (
    select
      c.market, c.version, m_public_ids[c.market] as public_id, -- mutant: version_of_another_market
      row_number() over (order by c.market) = 1 as is_first
    from changed as c
    where c.changes > 0
  ) as e
  order by e.market;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, with market_changed events of their new versions; '
  'the first of them has the trades of the batch.';
