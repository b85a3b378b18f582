--! Previous: sha1:31eb1bd9a63289f78bdfcae614e8aa06de8be844
--! Hash: sha1:9544e417a2c6fd3741c4ef5fed731467b14a61f6
--! Message: What ends all orders of a user stops them

-- What ends all orders of a user stops those that it does not cancel at once.
set local lock_timeout = '500ms';
set local role exchange_owner;
--! Included trading/tables/order_stops.sql
create table trading.order_stops (
  user_id bigint,
  last_order_id bigint,
  reason trading.cancel_reason not null,
  stopped_at timestamptz not null,
  primary key (user_id, last_order_id)
);

comment on table trading.order_stops is
  'What ends all orders of a user, such as self-exclusion, for those that were not cancelled at '
  'once (trading.stop_orders): a row for each, until a worker has cancelled them. Written with the '
  'user locked. No foreign key: see trading.orders.';
comment on column trading.order_stops.last_order_id is
  'The last of the open orders. Those up to this one are stopped, but for those of an earlier row.';
comment on column trading.order_stops.reason is 'Why they are cancelled.';
comment on column trading.order_stops.stopped_at is
  'The time of the call; between then and their end they trade no more.';
--! EndIncluded trading/tables/order_stops.sql
reset role;
