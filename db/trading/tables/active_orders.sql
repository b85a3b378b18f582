create table trading.active_orders (
  order_id bigint primary key,
  market_id bigint not null,
  user_id bigint not null,
  book_side trading.side not null,
  book_price trading.price not null,
  queue_position bigint,
  expires_at timestamptz,
  release_at timestamptz,
  constraint active_orders_rest_or_wait_for_release
    check (queue_position is not null or release_at is not null)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create unique index active_orders_in_price_time_order
  on trading.active_orders (market_id, book_side, book_price desc, queue_position)
  where queue_position is not null;
create index active_orders_of_a_user on trading.active_orders (user_id, order_id);
create index active_orders_that_expire on trading.active_orders (expires_at, market_id)
  where expires_at is not null;
create index active_orders_to_release on trading.active_orders (release_at, order_id)
  where queue_position is null;
create index active_orders_of_a_market_to_release
  on trading.active_orders (market_id, release_at, order_id)
  where queue_position is null;

comment on table trading.active_orders is
  'The orders that something can still happen to: the resting book and the scheduled ones. A row '
  'comes when an order enters and goes when it leaves; a partial fill does not touch it. What is '
  'left of an order is in trading.orders.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
