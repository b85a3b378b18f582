create or replace function trading.write_market_state(batch trading.batch)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  f constant trading.fills := batch.fills;
  k constant trading.makers := batch.makers;
  m_id constant bigint[] := (batch.markets).id;
  h constant trading.holdings_read := batch.holdings;
  h_count constant int := coalesce(cardinality(h.is_touched), 0) / 2;
  k_left constant int[] := batch.makers_left;
  k_read constant int := coalesce(cardinality(k.queue_position), 0);
begin
  with touched as (
    -- Each order that came to rest, with what is left of it.
    select
      r.market_place[i] as market_place, r.is_yes[i] as is_yes, r.book_price[i] as book_price,
      greatest(k_left[o.maker_place[i]], 0) as change, null::bigint as position_left,
      null::bigint as position_gone
    from generate_subscripts(o.maker_place, 1) as i
    where o.order_id[i] is not null
      and o.maker_place[i] is not null
    union all
    -- Each maker, with what it lost.
    select
      (k.book_place[i] + 1) / 2, k.book_place[i] % 2 = 1, k.book_price[i],
      greatest(k_left[i], 0) - k.left_quantity[i],
      case when k_left[i] > 0 then k.queue_position[i] end,
      case when k_left[i] <= 0 then k.queue_position[i] end
    from generate_series(1, k_read) as i
  ),
  changes as (
    select
      l.market_place, array_agg(l.place) as places, array_agg(l.change) as depth_changes,
      array_agg(l.first_left) as first_left, array_agg(l.last_gone) as last_gone,
      max(l.book_price) filter (where l.is_yes and l.change > 0) as highest_yes,
      max(l.book_price) filter (where not l.is_yes and l.change > 0) as highest_no
    from (
      select
        t.market_place, t.is_yes, t.book_price,
        case when t.is_yes then t.book_price else 99 + t.book_price end as place,
        sum(t.change) as change, min(t.position_left) as first_left,
        max(t.position_gone) as last_gone
      from touched as t
      group by t.market_place, t.is_yes, t.book_price
    ) as l
    group by l.market_place
  ),
  counted as (
    -- New orders, trades, and holdings that trade for the first time.
    select
      c.market_place, count(c.order_id) as placed_count, sum(c.order_id) as placed_id_sum,
      count(c.trade_id) as trade_count, max(c.trade_id) as last_trade_id,
      sum(c.quantity * c.yes_price) as yes_volume_cents,
      sum(c.quantity * (100 - c.yes_price)) as no_volume_cents, count(c.new_trader) as new_traders
    from (
      select
        r.market_place[i] as market_place, o.order_id[i] as order_id, null::bigint as trade_id,
        null::bigint as quantity, null::int as yes_price, null::bigint as new_trader
      from generate_subscripts(o.order_id, 1) as i
      where o.order_id[i] is not null
        and r.order_id is null
      union all
      select
        v.g, null, f.trade_id[p], f.quantity[p],
        case when v.is_yes then 100 - v.price else v.price end, null
      from generate_subscripts(f.trade_id, 1) as p
      cross join lateral (
        select
          r.market_place[f.request_place[p]], r.is_yes[f.request_place[p]],
          k.book_price[f.maker_place[p]]
        offset 0
      ) as v (g, is_yes, price)
      union all
      select h.market_place[i], null, null, null, null, h.user_id[i]
      from generate_series(1, h_count) as i
      where not h.has_traded[i]
        and (h.is_touched[i] or h.is_touched[h_count + i])
    ) as c
    group by c.market_place
  )
  update trading.market_state as s set
    version = s.version + batch.changes[d.g],
    placed_count = s.placed_count + coalesce(d.placed_count, 0),
    placed_id_sum = s.placed_id_sum + coalesce(d.placed_id_sum, 0),
    last_trade_price = coalesce(t.price, s.last_trade_price),
    yes_volume_cents = s.yes_volume_cents + coalesce(d.yes_volume_cents, 0),
    no_volume_cents = s.no_volume_cents + coalesce(d.no_volume_cents, 0),
    trade_count = s.trade_count + coalesce(d.trade_count, 0),
    traders_count = s.traders_count + coalesce(d.new_traders, 0),
    escrow_cents = coalesce(t.escrow_balance_cents, s.escrow_cents),
    escrow_version = coalesce(t.escrow_version, s.escrow_version),
    revenue_cents = coalesce(t.revenue_balance_cents, s.revenue_cents),
    revenue_version = coalesce(t.revenue_version, s.revenue_version),
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
      trading.best_in_depth(b.depth, 'yes', greatest(b.best_yes_price, b.highest_yes)) as best_yes,
      trading.best_in_depth(b.depth, 'no', greatest(b.best_no_price, b.highest_no)) as best_no
    from (
      select
        g, c.places, c.first_left, c.last_gone, c.highest_yes, c.highest_no, n.*,
        y.best_yes_price, y.best_no_price,
        trading.changed_depth(y.depth, c.places, c.depth_changes) as depth
      from generate_subscripts(m_id, 1) as g
      left join changes as c on c.market_place = g
      left join counted as n on n.market_place = g
      cross join lateral (
        select z.depth, z.best_yes_price, z.best_no_price
        from trading.market_state as z
        where z.market_id = m_id[g]
        limit 1
      ) as y
      where batch.changes[g] > 0 or n.placed_count > 0
      offset 0
    ) as b
    offset 0
  ) as d
  left join trading.trades as t on t.id = d.last_trade_id
  where s.market_id = m_id[d.g];
end
$$;

comment on function trading.write_market_state(trading.batch) is
  'Writes what a call makes of its markets: their figures and accounts, the depth of their books '
  'and where these begin. To be called after the other writes: it reads the trades, and an error '
  'of theirs then holds up no reader.';
