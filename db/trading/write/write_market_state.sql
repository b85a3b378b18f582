create or replace function trading.write_market_state(batch trading.batch)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  k constant trading.makers := batch.makers;
  m_id constant bigint[] := (batch.markets).id;
  x constant trading.market_figures := batch.figures;
  k_left constant int[] := batch.makers_left;
  k_read constant int := coalesce(cardinality(k.queue_position), 0);
  v_is_release constant boolean := r.order_id is not null;
  v_versions bigint[];
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
  placed as (
    select r.market_place[i] as market_place, sum(o.order_id[i]) as id_sum
    from generate_subscripts(o.order_id, 1) as i
    where o.order_id[i] is not null
      and not v_is_release
    group by r.market_place[i]
  ),
  changed as (
    update trading.market_state as s set
      version = s.version + x.changes[d.g],
      placed_count = s.placed_count + case when v_is_release then 0 else x.placed[d.g] end,
      placed_id_sum = s.placed_id_sum + coalesce(d.id_sum, 0),
      last_trade_price = coalesce(x.last_trade_price[d.g], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(x.yes_volume_cents[d.g], 0),
      no_volume_cents = s.no_volume_cents + coalesce(x.no_volume_cents[d.g], 0),
      trade_count = s.trade_count + coalesce(x.trade_count[d.g], 0),
      traders_count = s.traders_count + coalesce(x.new_traders[d.g], 0),
      escrow_cents = coalesce(x.escrow_cents[d.g], s.escrow_cents),
      escrow_version = coalesce(x.escrow_version[d.g], s.escrow_version),
      revenue_cents = coalesce(x.revenue_cents[d.g], s.revenue_cents),
      revenue_version = coalesce(x.revenue_version[d.g], s.revenue_version),
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
        trading.best_in_depth(
          b.depth, 'yes', greatest(b.best_yes_price, b.highest_yes)
        ) as best_yes,
        trading.best_in_depth(
          b.depth, 'no', greatest(b.best_no_price, b.highest_no)
        ) as best_no
      from (
        select
          g, c.places, c.first_left, c.last_gone, c.highest_yes, c.highest_no, p.id_sum,
          y.best_yes_price, y.best_no_price,
          trading.changed_depth(y.depth, c.places, c.depth_changes) as depth
        from generate_subscripts(m_id, 1) as g
        left join changes as c on c.market_place = g
        left join placed as p on p.market_place = g
        cross join lateral (
          select z.depth, z.best_yes_price, z.best_no_price
          from trading.market_state as z
          where z.market_id = m_id[g]
          limit 1
        ) as y
        where x.changes[g] > 0 or x.placed[g] > 0
        offset 0
      ) as b
      offset 0
    ) as d
    where s.market_id = m_id[d.g]
    returning d.g, s.version
  )
  select array_agg(c.version order by n.g) into v_versions
  from generate_subscripts(m_id, 1) as n (g)
  left join changed as c on c.g = n.g;
  return v_versions;
end
$$;

comment on function trading.write_market_state(trading.batch) is
  'Writes what a call makes of its markets: their figures and accounts, the depth of their books '
  'and where these begin. Returns the versions of those that changed, in the order of the markets. '
  'To be called after the other writes: an error of theirs then holds up no reader.';
