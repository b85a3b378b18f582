create or replace function trading.read_makers(batch trading.batch, factor int, most_makers int)
returns trading.makers
language plpgsql stable
as $$
declare
  r constant trading.requests := batch.requests;
  m constant trading.markets_read := batch.markets;
  v_makers trading.makers;
  v_orders_factor int := 1;
  v_is_enough boolean;
begin
  loop
    with sides as (
      -- What takers ask of each side of each book that some of them cross.
      select
        2 * v.g - case when v.is_yes then 0 else 1 end as book_place,
        m.id[v.g] as market_id,
        case when v.is_yes then 'no' else 'yes' end::trading.side as book_side,
        v.best_price,
        case when v.is_yes then m.first_no_position[v.g] else m.first_yes_position[v.g] end
          as first_position,
        100 - max(v.book_price) as worst_price,
        sum(v.demand) * read_makers.factor as shares,
        -- Each has a share at least, unless it has expired.
        least(
          least(16 + 2 * count(*), sum(v.demand) * read_makers.factor + 1) * v_orders_factor,
          read_makers.most_makers + 1
        ) as most_orders
      from (
        select
          x.g, x.is_yes, r.book_price[i] as book_price, batch.demand[i] as demand,
          case when x.is_yes then m.best_no_price[x.g] else m.best_yes_price[x.g] end as best_price
        from generate_subscripts(r.user_id, 1) as i
        cross join lateral (select r.market_place[i], r.is_yes[i] offset 0) as x (g, is_yes)
        where r.problem[i] is null
          and r.code[i] is null
          and m.live_delay_ms[x.g] is null
      ) as v
      where v.best_price + v.book_price >= 100
        and v.demand > 0
      group by v.g, v.is_yes, v.best_price
    ),
    read as (
      select
        s.book_place, s.shares, s.most_orders, b.*,
        row_number() over queue as number,
        sum(a.available) over queue - a.available as shares_before,
        count(*) over side as side_orders,
        sum(a.available) over side as side_shares
      from sides as s
      cross join lateral (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price = s.best_price
            and x.queue_position >= s.first_position
          order by x.queue_position
          limit s.most_orders
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price < s.best_price
            and x.book_price >= s.worst_price
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
          limit s.most_orders
        )
        limit s.most_orders
      ) as b
      cross join lateral (
        select case when b.expires_at <= batch.at then 0 else b.left_quantity end as available
      ) as a
      window
        side as (partition by s.book_place),
        queue as (
          side order by b.book_price desc, b.queue_position rows unbounded preceding
        )
    )
    select
      array_agg(k.order_id), array_agg(k.order_public_id), array_agg(k.user_id),
      array_agg(k.book_place), array_agg(k.book_price::int), array_agg(k.queue_position),
      array_agg(k.order_type = 'buy'), array_agg(k.left_quantity),
      array_agg(case when k.expires_at <= batch.at then 'expired' end::trading.cancel_reason),
      coalesce(
        bool_and(
          k.side_orders < k.most_orders or k.side_shares >= k.shares
          -- A call that meets more expired ones does not get further.
          or k.expired_orders > trading.most_cancelled() * read_makers.factor
        ),
        true
      ),
      array_agg(k.goes_on)
    into
      v_makers.order_id, v_makers.public_id, v_makers.user_id, v_makers.book_place,
      v_makers.book_price, v_makers.queue_position, v_makers.is_buy, v_makers.left_quantity,
      v_makers.end_reason, v_is_enough, v_makers.goes_on
    from (
      -- A side goes on if not all that was read is needed, or if there may be more to read.
      select
        x.*,
        max(x.number) over side < x.side_orders or x.side_orders = x.most_orders as goes_on,
        count(*) filter (where x.expires_at <= batch.at) over side as expired_orders
      from read as x
      where x.shares_before < x.shares
      window side as (partition by x.book_place)
      order by x.book_place, x.number
    ) as k;
    exit when v_is_enough or cardinality(v_makers.order_id) > read_makers.most_makers;
    v_orders_factor := v_orders_factor * 8;
  end loop;
  return v_makers;
end
$$;

comment on function trading.read_makers(trading.batch, int, int) is
  'The resting orders that a call can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were factor times as large. With more than '
  'most_makers they may be cut short. Nothing else can change the books meanwhile: the caller '
  'holds the markets'' locks.';
