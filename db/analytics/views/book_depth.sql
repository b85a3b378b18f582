create or replace view analytics.book_depth as
select
  l.market_id as market_key,
  m.public_id as market_id,
  case when l.book_side = 'yes' then 'bid' else 'ask' end as side,
  case
    when l.book_side = 'yes' then l.book_price::int
    else 100 - l.book_price::int
  end as yes_price_cents,
  l.quantity,
  l.order_count
from (
  select
    b.market_id, b.book_side, b.book_price,
    sum(b.left_quantity) as quantity,
    count(*) as order_count
  from trading.active_orders as b
  where b.queue_position is not null
    and (b.expires_at is null or b.expires_at > analytics.now())
  group by b.market_id, b.book_side, b.book_price
) as l
left join catalog.markets as m on m.id = l.market_id;

comment on view analytics.book_depth is
  'The books as they are now, in YES prices, without orders past their expiry. '
  'analytics.book_as_of has those of the past.';
comment on column analytics.book_depth.market_key is 'The market: internal key, for joins.';
comment on column analytics.book_depth.market_id is 'The market: public id.';
comment on column analytics.book_depth.side is 'bid or ask.';
comment on column analytics.book_depth.yes_price_cents is 'YES price of the level.';
comment on column analytics.book_depth.quantity is 'Unfilled shares at that price.';
comment on column analytics.book_depth.order_count is 'Orders at that price.';
