-- Decided by ids alone, which are drawn under the market's lock: the clock may have been set back.
-- An order that was cancelled counts as resting up to its last trade, since nothing but the clock
-- shows how long it stayed. One that was released counts for nothing: its place in the queue is
-- gone with it.
create or replace function trading.verify_priority()
returns table (name text, object text, expected text, found text)
language plpgsql stable
as $$
declare
  v_event record;
  v_market_id bigint;
  v_book_side trading.side;
  v_resting int[];
  v_best int;
begin
  return query
  select 'orders of one price trade in the order they came', 'trade ' || t.id,
    'not before order ' || t.maker_before, 'order ' || t.maker_order_id
  from (
    select x.id, x.maker_order_id,
      lag(x.maker_order_id)
        over (partition by x.market_id, x.taker_side, x.price order by x.id) as maker_before
    from trading.trades as x
    join trading.orders as o on o.id = x.maker_order_id
    where o.release_at is null
  ) as t
  where t.maker_order_id < t.maker_before;

  return query
  select 'orders of one price trade in the order they came', 'order ' || r.order_id,
    'before order ' || m.order_id, 'resting'
  from (
    select b.market_id, b.book_side, b.book_price, min(b.order_id) as order_id
    from trading.active_orders as b
    join trading.orders as o on o.id = b.order_id
    where b.queue_position is not null
      and o.release_at is null
      and o.expires_at is null
    group by b.market_id, b.book_side, b.book_price
  ) as r
  join (
    select f.market_id, f.book_side,
      case f.book_side when 'yes' then f.price else 100 - f.price end as book_price,
      max(f.order_id) as order_id
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    where not f.is_taker
      and o.release_at is null
    group by 1, 2, 3
  ) as m
    on m.market_id = r.market_id and m.book_side = r.book_side and m.book_price = r.book_price
  where m.order_id > r.order_id;

  -- Each side of each book from its first order on: how many orders rest at each price. The place
  -- of a trade is the newest order that had taken by then.
  for v_event in
    with
    taken as (
      select t.id, t.market_id, t.maker_order_id,
        case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side as book_side,
        case t.taker_side when 'yes' then 100 - t.price else t.price end as book_price,
        coalesce(
          max(case when o.release_at is null then o.id end) over (
            partition by t.market_id order by t.id
            rows between unbounded preceding and current row
          ),
          0
        ) as place
      from trading.trades as t
      join trading.orders as o on o.id = t.taker_order_id
    ),
    rested as (
      select o.id, o.market_id, x.book_side, x.book_price,
        case when b.order_id is null then m.last_trade_id end as last_trade_id
      from trading.orders as o
      cross join lateral (
        select
          case when o.order_type = 'buy' then o.side
            when o.side = 'yes' then 'no' else 'yes' end::trading.side as book_side,
          case o.order_type when 'buy' then o.price else 100 - o.price end as book_price
      ) as x
      left join (
        select k.maker_order_id, max(k.id) as last_trade_id, max(k.place) as last_place
        from taken as k
        group by k.maker_order_id
      ) as m on m.maker_order_id = o.id
      left join trading.active_orders as b
        on b.order_id = o.id and b.queue_position is not null and o.expires_at is null
      where o.release_at is null
        and (b.order_id is not null or m.last_place > o.id)
    )
    select r.market_id, r.book_side, r.id as place, true as begins, null::bigint as trade_id,
      r.book_price, false as ends
    from rested as r
    union all
    select k.market_id, k.book_side, k.place, false, k.id, k.book_price, r.id is not null
    from taken as k
    left join rested as r on r.id = k.maker_order_id and r.last_trade_id = k.id
    order by market_id, book_side, place, begins, trade_id
  loop
    if (v_event.market_id, v_event.book_side) is distinct from (v_market_id, v_book_side) then
      v_market_id := v_event.market_id;
      v_book_side := v_event.book_side;
      v_resting := array_fill(0, array[99]);
      v_best := 1;
    end if;

    if v_event.begins then
      v_resting[v_event.book_price] := v_resting[v_event.book_price] + 1;
      v_best := greatest(v_best, v_event.book_price);
      continue;
    end if;
    while v_best > v_event.book_price and v_resting[v_best] = 0 loop
      v_best := v_best - 1;
    end loop;
    if v_best > v_event.book_price then
      return query select 'trade is at the best price that rested', 'trade ' || v_event.trade_id,
        concat_ws(' ', v_book_side, '@', v_best),
        concat_ws(' ', v_book_side, '@', v_event.book_price);
    end if;
    if v_event.ends then
      v_resting[v_event.book_price] := v_resting[v_event.book_price] - 1;
    end if;
  end loop;
end
$$;

comment on function trading.verify_priority() is
  'The part of ledger.verify() about price-time priority, as far as what is left of the orders '
  'decides it: no trade passed over an order that rested at a better price, or earlier at the same '
  'one. One row for each broken invariant.';
