create or replace function trading.write_market_state(
  batch trading.matched_batch,
  written trading.written_batch,
  accounted trading.accounted_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_read constant int := cardinality(batch.makers);
begin
  with requested as materialized (
    select
      r.market, r.book_side, r.book_price, r.order_id, o.status, o.maker,
      written.order_ids[o.place] as id,
      (batch.result).left_quantities[o.maker] as end_left,
      (
        written.order_ids[o.place] is not null and o.status <> 'scheduled'
        or o.code is not null and exists (
          select from unnest((batch.result).cancelled_makers) as c where c.request = o.place
        )
      ) as is_change
    from unnest(batch.requests) with ordinality as r (
      market, market_id, user_id, side, order_type, price, quantity, budget_cents,
      time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
      is_market, relieved_cents, order_id, order_public_id, created_at, place
    )
    join unnest((batch.result).results) with ordinality as o (
      code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
      fee_cents, balance_cents, maker, place
    ) on o.place = r.place
  ),
  changed as (
    select
      r.market,
      count(*) filter (where r.is_change) as changes,
      count(r.id) filter (where r.order_id is null) as placed,
      coalesce(sum(r.id) filter (where r.order_id is null), 0)::bigint as id_sum
    from requested as r
    where r.is_change or r.id is not null
    group by r.market
  ),
  -- What stands in the books after the batch of the orders that it met or brought.
  standing as materialized (
    select
      k.market, k.book_side, k.book_price, k.queue_position,
      k.left_quantity as before, greatest(l.left_quantity, 0) as after
    from unnest(batch.makers) with ordinality as k (
      order_id, order_public_id, market, user_id, order_type, book_side, book_price,
      queue_position, left_quantity, has_expired, place
    )
    join unnest((batch.result).left_quantities) with ordinality as l (left_quantity, place)
      on l.place = k.place
    union all
    select
      r.market, r.book_side, r.book_price, case when r.order_id is null then r.id end,
      0, greatest(r.end_left, 0)
    from requested as r
    where r.maker > v_read
      and r.id is not null
  ),
  deepened as (
    select
      d.market,
      array_agg(case d.book_side when 'yes' then d.book_price else 99 + d.book_price end) as places,
      array_agg(d.change) as changes,
      max(d.book_price) filter (where d.book_side = 'yes' and d.change > 0) as highest_yes,
      max(d.book_price) filter (where d.book_side = 'no' and d.change > 0) as highest_no
    from (
      select s.market, s.book_side, s.book_price, sum(s.after - s.before) as change
      from standing as s
      group by s.market, s.book_side, s.book_price
    ) as d
    where d.change <> 0
    group by d.market
  ),
  traded as (
    select
      m.place as market,
      (array_agg(t.price order by t.id desc))[1] as last_price,
      sum(t.quantity * t.price)::bigint as yes_cents,
      sum(t.quantity * (100 - t.price))::bigint as no_cents,
      count(*) as trades
    from unnest(written.trades) as t
    join unnest(batch.markets) with ordinality as m (
      market_id, public_id, title, category_id, at, site_paused, is_open, live_delay_ms,
      taker_rate_bps, fee_schedule_id, escrow_cents, escrow_version, revenue_cents,
      revenue_version, best_yes_price, first_yes_position, best_no_price, first_no_position, place
    ) on m.market_id = t.market_id
    group by m.place
  ),
  next_state as (
    select
      s.market_id, m.public_id, c.*, d.places is not null as is_deepened, x.depth,
      m.best_yes_price as old_yes, m.best_no_price as old_no,
      trading.best_in_depth(x.depth, 'yes', greatest(m.best_yes_price, d.highest_yes)) as best_yes,
      trading.best_in_depth(x.depth, 'no', greatest(m.best_no_price, d.highest_no)) as best_no,
      t.last_price, t.yes_cents, t.no_cents, t.trades
    from changed as c
    join unnest(batch.markets) with ordinality as m (
      market_id, public_id, title, category_id, at, site_paused, is_open, live_delay_ms,
      taker_rate_bps, fee_schedule_id, escrow_cents, escrow_version, revenue_cents,
      revenue_version, best_yes_price, first_yes_position, best_no_price, first_no_position, place
    ) on m.place = c.market
    join trading.market_state as s on s.market_id = m.market_id
    left join deepened as d on d.market = c.market
    left join traded as t on t.market = c.market
    cross join lateral (
      select trading.changed_depth(s.depth, d.places, d.changes::bigint[]) as depth offset 0
    ) as x
  ),
  raised as (
    update trading.market_state as s set
      version = s.version + n.changes,
      placed_count = s.placed_count + n.placed,
      placed_id_sum = s.placed_id_sum + n.id_sum,
      last_trade_price = coalesce(n.last_price, s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(n.yes_cents, 0),
      no_volume_cents = s.no_volume_cents + coalesce(n.no_cents, 0),
      trade_count = s.trade_count + coalesce(n.trades, 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n.market], s.escrow_cents),
      escrow_version = coalesce(accounted.escrow_versions[n.market], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[n.market], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[n.market], s.revenue_version),
      depth = n.depth,
      best_yes_price = n.best_yes,
      best_no_price = n.best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, n.old_yes, n.best_yes, y.first_left, y.last_gone
      ),
      first_no_position = trading.first_position(
        s.first_no_position, n.old_no, n.best_no, z.first_left, z.last_gone
      )
    from next_state as n
    cross join lateral (
      select
        min(x.queue_position) filter (where x.after > 0 and x.before > 0) as first_left,
        max(x.queue_position) filter (where x.after = 0 and x.before > 0) as last_gone
      from standing as x
      where x.market = n.market and x.book_side = 'yes' and x.book_price = n.best_yes
    ) as y
    cross join lateral (
      select
        min(x.queue_position) filter (where x.after > 0 and x.before > 0) as first_left,
        max(x.queue_position) filter (where x.after = 0 and x.before > 0) as last_gone
      from standing as x
      where x.market = n.market and x.book_side = 'no' and x.book_price = n.best_no
    ) as z
    where s.market_id = n.market_id
    returning n.public_id, s.version, n.changes
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object('marketId', r.public_id, 'version', r.version)
  from raised as r
  where r.changes > 0;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.written_batch, trading.accounted_batch
) is
  'Writes what a batch changed of its markets, and announces their new versions.';
