create or replace function trading.write_market_state(batch trading.batch)
returns void
language plpgsql
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
  k_read constant int := coalesce(cardinality(k.queue_position), 0); -- without the call's own
begin
  update trading.market_state as s set
    version = s.version + batch.changes[d.g],
    placed_count = s.placed_count + d.placed_count,
    placed_id_sum = s.placed_id_sum + coalesce(d.placed_id_sum, 0),
    last_trade_price = coalesce(t.price, s.last_trade_price),
    yes_volume_cents = s.yes_volume_cents + coalesce(d.yes_volume_cents, 0),
    no_volume_cents = s.no_volume_cents + coalesce(d.no_volume_cents, 0),
    trade_count = s.trade_count + d.trade_count,
    traders_count = s.traders_count + d.new_traders,
    escrow_cents = coalesce(t.escrow_balance_cents, s.escrow_cents),
    escrow_version = coalesce(t.escrow_version, s.escrow_version),
    revenue_cents = coalesce(t.revenue_balance_cents, s.revenue_cents),
    revenue_version = coalesce(t.revenue_version, s.revenue_version),
    (depth, best_yes_price, first_yes_position, best_no_price, first_no_position) = (
      select
        b.depth, b.best_yes_price, b.first_yes_position, b.best_no_price, b.first_no_position
      from trading.changed_book(s, d.places, d.changes, d.positions_left, d.positions_gone) as b
    )
  from (
    select
      c.g, count(c.order_id) as placed_count, sum(c.order_id) as placed_id_sum,
      count(c.trade_id) as trade_count, max(c.trade_id) as last_trade_id,
      sum(c.quantity * c.yes_price) as yes_volume_cents,
      sum(c.quantity * (100 - c.yes_price)) as no_volume_cents,
      count(c.new_trader) as new_traders,
      array_agg(c.place) filter (where c.place is not null) as places,
      array_agg(c.change) filter (where c.place is not null) as changes,
      array_agg(c.position_left) filter (where c.place is not null) as positions_left,
      array_agg(c.position_gone) filter (where c.place is not null) as positions_gone
    from (
      -- Each order of the call, and what is left of it on the book.
      select
        r.market_place[i] as g, case when r.order_id is null then o.order_id[i] end as order_id,
        null::bigint as trade_id, null::bigint as quantity, null::int as yes_price,
        null::bigint as new_trader,
        case
          when o.maker_place[i] is null then null
          when r.is_yes[i] then r.book_price[i]
          else 99 + r.book_price[i]
        end as place,
        greatest(k_left[o.maker_place[i]], 0)::bigint as change, null::bigint as position_left,
        null::bigint as position_gone
      from generate_subscripts(o.order_id, 1) as i
      where o.order_id[i] is not null
      union all
      -- Each maker, with what it lost.
      select
        (k.book_place[i] + 1) / 2, null, null, null, null, null,
        case k.book_place[i] % 2 when 1 then k.book_price[i] else 99 + k.book_price[i] end,
        greatest(k_left[i], 0) - k.left_quantity[i],
        case when k_left[i] > 0 then k.queue_position[i] end,
        case when k_left[i] <= 0 then k.queue_position[i] end
      from generate_series(1, k_read) as i
      union all
      select
        v.g, null, f.trade_id[p], f.quantity[p],
        case when v.is_yes then 100 - v.price else v.price end, null, null, null, null, null
      from generate_subscripts(f.trade_id, 1) as p
      cross join lateral (
        select
          r.market_place[f.request_place[p]], r.is_yes[f.request_place[p]],
          k.book_price[f.maker_place[p]]
        offset 0
      ) as v (g, is_yes, price)
      union all
      -- Holdings that trade for the first time.
      select h.market_place[i], null, null, null, null, h.user_id[i], null, null, null, null
      from generate_series(1, h_count) as i
      where not h.has_traded[i]
        and (h.is_touched[i] or h.is_touched[h_count + i])
    ) as c
    group by c.g
    offset 0
  ) as d
  -- By a range, in order, which the primary key alone gives: on an empty table the planner may
  -- choose an index in which this column does not come first, and keep to it.
  left join lateral (
    select x.*
    from trading.trades as x
    where x.id between d.last_trade_id and d.last_trade_id
    order by x.id
    limit 1
  ) as t on true
  where s.market_id = m_id[d.g]
    and (batch.changes[d.g] > 0 or d.placed_count > 0);
end
$$;

comment on function trading.write_market_state(trading.batch) is
  'Writes what a call makes of its markets: their figures and accounts, the depth of their books '
  'and where these begin. To be called after the other writes: it reads the trades, and an error '
  'of theirs then holds up no reader.';
