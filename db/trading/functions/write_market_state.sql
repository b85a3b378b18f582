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
  v_emptied int[] := '{}'; -- requests that cancelled makers
begin
  if (batch.result).cancelled_makers is not null then
    v_emptied := array(select c.request from unnest((batch.result).cancelled_makers) as c);
  end if;
  with touched as (
    -- Each request, with what it brought to the book.
    select
      o.market, o.book_side, o.book_price,
      case when o.id is not null and o.end_status in ('open', 'partially_filled')
        then o.end_left_quantity else 0 end as change,
      null::bigint as position_left,
      null::bigint as position_gone,
      (
        o.id is not null and o.status <> 'scheduled'
        or o.code is not null and o.place = any (v_emptied)
      )::int as changes,
      (o.id is not null and not o.was_scheduled)::int as placed,
      case when not o.was_scheduled then o.id end as id
    from unnest(write_market_state.orders) with ordinality as o (
      market, market_id, market_public_id, user_id, user_public_id, side, order_type, price,
      book_side, book_price, budget_cents, time_in_force, post_only, expires_at,
      idempotency_key, problem, was_scheduled, release_at, id, public_id, code, replay_of,
      replayed_order_id, status, quantity, left_quantity, cancel_reason, fee_cents,
      balance_cents, end_status, end_left_quantity, end_cancel_reason, place
    )
    where o.id is not null or o.code is not null
    union all
    -- Each maker, with what it lost.
    select
      k.market, k.book_side, k.book_price, greatest(k.left_after, 0) - k.left_quantity,
      case when k.left_after > 0 then k.queue_position end,
      case when k.left_after <= 0 then k.queue_position end,
      0, 0, null
    from rows from (unnest(batch.makers), unnest((batch.result).left_quantities)) as k (
      order_id, order_public_id, market, user_id, order_type, book_side, book_price,
      queue_position, left_quantity, has_expired, left_after
    )
    where k.order_id is not null
  ),
  levels as (
    select
      t.market, t.book_side, t.book_price,
      case t.book_side when 'yes' then t.book_price else 99 + t.book_price end as place,
      sum(t.change) as change,
      min(t.position_left) as first_left,
      max(t.position_gone) as last_gone,
      sum(t.changes) as changes,
      sum(t.placed) as placed,
      sum(t.id) as id_sum
    from touched as t
    group by t.market, t.book_side, t.book_price
  ),
  markets as (
    select
      l.market,
      array_agg(l.place) as places,
      array_agg(l.change) as depth_changes,
      array_agg(l.first_left) as first_left,
      array_agg(l.last_gone) as last_gone,
      max(l.book_price) filter (where l.book_side = 'yes' and l.change > 0) as highest_yes,
      max(l.book_price) filter (where l.book_side = 'no' and l.change > 0) as highest_no,
      sum(l.changes) as changes,
      sum(l.placed) as placed,
      coalesce(sum(l.id_sum), 0) as id_sum
    from levels as l
    group by l.market
    having sum(l.changes) > 0 or sum(l.placed) > 0
  ),
  next_state as (
    select
      n.*, x.depth,
      trading.best_in_depth(x.depth, 'yes', greatest(s.best_yes_price, n.highest_yes)) as best_yes,
      trading.best_in_depth(x.depth, 'no', greatest(s.best_no_price, n.highest_no)) as best_no
    from markets as n
    cross join lateral (
      select y.* from trading.market_state as y where y.market_id = m_ids[n.market] limit 1
    ) as s
    cross join lateral (
      select trading.changed_depth(s.depth, n.places, n.depth_changes::bigint[]) as depth offset 0
    ) as x
    offset 0
  ),
  raised as (
    update trading.market_state as s set
      version = s.version + n.changes,
      placed_count = s.placed_count + n.placed,
      placed_id_sum = s.placed_id_sum + n.id_sum,
      last_trade_price = coalesce(accounted.last_trade_prices[n.market], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents
        + coalesce(accounted.yes_volumes_cents[n.market], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[n.market], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[n.market], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n.market], s.escrow_cents),
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
    'marketId', m_public_ids[r.market], 'version', r.version
  )
  from raised as r
  where r.changes > 0;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, and announces their new versions.';
