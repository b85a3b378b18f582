-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function trading.own_fills(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, price int, quantity int, fill json)
language plpgsql stable
as $$
begin
  return query
    select
      l.id,
      p.price,
      l.quantity,
      json_build_object(
        'id', l.public_id,
        'orderId', o.public_id,
        'marketId', m.public_id,
        'side', case when s.is_of_yes then 'yes' else 'no' end,
        'orderType', case when l.realised_cents is null then 'buy' else 'sell' end,
        'price', p.price,
        'quantity', l.quantity,
        'liquidity', case when l.is_taker then 'taker' else 'maker' end,
        'feeCents', l.fee_cents,
        'cashCents', l.cents,
        'balanceAfter', l.balance_cents,
        'realisedPnl', l.realised_cents,
        'createdAt', core.iso8601(l.created_at)
      )
    from (
      select
        t.id, t.public_id, t.market_id, t.price::int as yes_price, t.quantity::int as quantity,
        t.created_at, r.is_taker,
        case when r.is_taker then t.taker_order_id else t.maker_order_id end as order_id,
        r.is_taker = (t.taker_side = 'yes') as is_yes_book,
        case when r.is_taker then t.taker_cents else t.maker_cents end as cents,
        case when r.is_taker then t.taker_balance_cents else t.maker_balance_cents end
          as balance_cents,
        case when r.is_taker then t.taker_realised_cents else t.maker_realised_cents end
          as realised_cents,
        case when r.is_taker then t.fee_cents::bigint else 0 end as fee_cents
      from unnest(own_fills.trade_ids) as i (id)
      cross join lateral (
        select x.* from trading.trades as x where x.id between i.id and i.id order by x.id limit 1
      ) as t
      cross join lateral (
        select t.taker_user_id = own_fills.user_id as is_taker
      ) as r
    ) as l
    -- A sell is stored as a buy of the other side.
    cross join lateral (
      select l.is_yes_book = (l.realised_cents is null) as is_of_yes
    ) as s
    cross join lateral (
      select case when s.is_of_yes then l.yes_price else 100 - l.yes_price end as price
    ) as p
    cross join lateral (
      select y.public_id
      from trading.orders as y
      where y.id between l.order_id and l.order_id
      order by y.id
      limit 1
    ) as o
    cross join lateral (
      select z.public_id
      from catalog.markets as z
      where z.id between l.market_id and l.market_id
      order by z.id
      limit 1
    ) as m;
end
$$;

comment on function trading.own_fills(bigint[], bigint) is
  'Trades as one of their two users sees them: prices are of the own order''s side, cashCents is '
  'what a trade moved on the own account with the fee, realisedPnl is null for a buy.';
