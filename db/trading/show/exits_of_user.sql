-- Every look-up goes by an index whatever the planner expects: a subquery with a limit can only be
-- carried out once for each row that it belongs to, and only one index gives a range of users, or
-- of times, in order. What is left to join is hashed.
create or replace function trading.exits_of_user(
  user_id bigint, market_ids bigint[], sides trading.side[], shares bigint[], at timestamptz
)
returns table (market_id bigint, side trading.side, quantity bigint, cents bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/hash_joins.sql
as $$
begin
  return query
    with sold as materialized (
      select p.market_id, p.side, p.shares, m.depth, m.taker_rate_bps
      from unnest(exits_of_user.market_ids, exits_of_user.sides, exits_of_user.shares) as p (
        market_id, side, shares
      )
      cross join lateral (
        select
          case p.side when 'yes' then s.depth[1:99] else s.depth[100:198] end as depth,
          (
            select f.taker_rate_bps
            from trading.fee_in_force(k.id, k.category_id, exits_of_user.at) as f
          ) as taker_rate_bps
        from trading.market_state as s
        join catalog.markets as k on k.id = s.market_id
        where s.market_id = p.market_id
        limit 1
      ) as m
    ),
    -- What the depth has beside: the user's own orders, and those past their expiry.
    beside as materialized (
      select x.market_id, x.book_side, x.book_price, sum(x.left_quantity) as quantity
      from (
        (
          select a.market_id, a.book_side, a.book_price, a.left_quantity
          from trading.active_orders as a
          where (a.user_id, a.order_id) > (exits_of_user.user_id, 0)
            and a.user_id <= exits_of_user.user_id
            and a.queue_position is not null
            and (a.expires_at is null or a.expires_at > exits_of_user.at)
          order by a.user_id, a.order_id
        )
        union all
        (
          select a.market_id, a.book_side, a.book_price, a.left_quantity
          from trading.active_orders as a
          where a.expires_at <= exits_of_user.at
            and a.queue_position is not null
          order by a.expires_at
        )
      ) as x
      where x.market_id = any (exits_of_user.market_ids)
      group by x.market_id, x.book_side, x.book_price
    ),
    bids as (
      select
        p.market_id, p.side, p.shares, d.price, d.quantity - coalesce(b.quantity, 0) as quantity
      from sold as p
      cross join lateral unnest(p.depth) with ordinality as d (quantity, price)
      left join beside as b
        on b.market_id = p.market_id and b.book_side = p.side and b.book_price = d.price
      where d.quantity > 0
    ),
    met as (
      select
        b.market_id, b.side, b.price,
        greatest(
          0,
          least(
            b.quantity,
            b.shares + b.quantity
              - sum(b.quantity) over (partition by b.market_id, b.side order by b.price desc)
          )
        ) as quantity
      from bids as b
    ),
    sums as (
      select
        m.market_id, m.side, sum(m.quantity)::bigint as quantity,
        sum(m.quantity * m.price)::bigint as cents,
        sum(m.quantity * m.price * (100 - m.price))::bigint as weight
      from met as m
      group by m.market_id, m.side
    )
    select
      p.market_id, p.side, coalesce(s.quantity, 0),
      coalesce(s.cents - coalesce(trading.fee_cents(p.taker_rate_bps, s.weight), 0), 0)
    from sold as p
    left join sums as s on s.market_id = p.market_id and s.side = p.side;
end
$$;

comment on function trading.exits_of_user(
  bigint, bigint[], trading.side[], bigint[], timestamptz
) is
  'For positions of a user, each given once by market, side and shares: what selling it at once '
  'would pay after the fee, in cents, and how many of its shares the book would take. The book is '
  'the depth without the user''s own orders. It is what market orders with cancel_resting would '
  'do, unless a maker fails when it is met or too many own orders are in the way. Cost: the depth '
  'of each market, and once the user''s open orders and those of the exchange past their expiry.';
