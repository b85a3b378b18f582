create table trading.active_orders (
  market_id bigint not null,
  user_id bigint not null,
  order_id bigint primary key,
  queue_position bigint,
  order_public_id uuid not null,
  left_quantity int not null,
  book_price trading.price not null,
  book_side trading.side not null,
  order_type trading.order_type not null,
  expires_at timestamptz,
  release_at timestamptz,
  cancels_own boolean,
  constraint active_orders_rest_or_wait_for_release
    check (queue_position is not null or release_at is not null),
  constraint active_orders_on_the_book_have_shares_left
    check (left_quantity > 0 or queue_position is null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

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
  'The resting and the scheduled orders, with the columns that matching reads. A row is inserted '
  'when an order becomes one of them and deleted when it is neither any more.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
comment on column trading.active_orders.cancels_own is
  'Whether own resting orders that it meets at its release or amendment are cancelled; null: no.';
comment on column trading.active_orders.left_quantity is
  'Shares not filled yet: quantity - filled_quantity of trading.orders; 0 of a budget order that '
  'is scheduled.';
