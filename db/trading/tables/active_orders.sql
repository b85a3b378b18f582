create sequence trading.order_ids;

comment on sequence trading.order_ids is
  'The ids of orders, and the places in the queues of the book.';

create table trading.active_orders (
  market_id bigint not null,
  user_id bigint not null,
  order_id bigint primary key,
  queue_position bigint,
  order_public_id uuid not null,
  created_at timestamptz not null,
  quantity trading.order_quantity not null,
  left_quantity int not null,
  fee_cents core.amount not null default 0,
  price trading.price not null,
  book_price trading.price not null,
  book_side trading.side not null,
  side trading.side not null,
  order_type trading.order_type not null,
  time_in_force trading.time_in_force not null,
  post_only boolean not null default false,
  cancels_own boolean not null default false,
  budget_cents trading.budget_cents,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  constraint active_orders_public_id_is_unique unique (order_public_id)
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
  'The orders that may still change: resting and scheduled ones, in the form their trader gave '
  'them and as the book stores them. An order is in one table at a time: once it is filled or '
  'cancelled its row moves to trading.ended_orders. trading.orders shows both. No foreign keys: '
  'the engine is the only writer and looks market and user up itself; ledger.verify() checks what '
  'they would.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
comment on column trading.active_orders.quantity is
  'Shares ordered; 0 of a budget order that is scheduled.';
comment on column trading.active_orders.left_quantity is 'Shares not filled yet.';
comment on column trading.active_orders.price is
  'EUR-cents a share of the trader''s side; the protection price (99 buy, 1 sell) of a market '
  'order.';
comment on column trading.active_orders.fee_cents is 'Taker fee paid so far, in cents.';
comment on column trading.active_orders.cancels_own is
  'Whether own resting orders that it meets at its release or amendment are cancelled.';
