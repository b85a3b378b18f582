create table trading.order_stops (
  user_id bigint,
  last_order_id bigint,
  reason trading.cancel_reason not null,
  stopped_at timestamptz not null,
  primary key (user_id, last_order_id)
);

comment on table trading.order_stops is
  'What ends all orders of a user, such as self-exclusion, for those that were not cancelled at '
  'once (trading.stop_user_orders): a row for each such command, until a worker has cancelled '
  'them. Written with the user locked. No foreign key: see trading.active_orders.';
comment on column trading.order_stops.last_order_id is
  'The last of the open orders. Those up to this one are stopped, but for those of an earlier row.';
comment on column trading.order_stops.reason is 'Why they are cancelled.';
comment on column trading.order_stops.stopped_at is
  'The time of the call; between then and their end they trade no more.';
