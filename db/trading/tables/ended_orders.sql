create table trading.ended_orders (
  market_id bigint not null,
  user_id bigint not null,
  id bigint primary key,
  public_id uuid not null,
  created_at timestamptz not null,
  ended_at timestamptz not null,
  quantity trading.order_quantity not null,
  filled_quantity int not null,
  fee_cents core.amount not null,
  price trading.price not null,
  side trading.side not null,
  order_type trading.order_type not null,
  time_in_force trading.time_in_force not null,
  status trading.order_status not null,
  post_only boolean not null,
  cancel_reason trading.cancel_reason,
  budget_cents trading.budget_cents,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  constraint ended_orders_public_id_is_unique unique (public_id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create index ended_orders_of_a_user on trading.ended_orders (user_id, id);
create index ended_orders_to_archive on trading.ended_orders (ended_at)
  where filled_quantity = 0;
create index ended_orders_cancelled_after_a_fill on trading.ended_orders (ended_at)
  where filled_quantity > 0 and status = 'cancelled';

comment on table trading.ended_orders is
  'The orders that were filled or cancelled. Rows are only added; trading.archive_orders() moves '
  'those that never filled to trading.archived_orders.';
comment on column trading.ended_orders.quantity is
  'Shares ordered; of a budget order the shares bought.';
comment on column trading.ended_orders.fee_cents is 'Taker fee paid, in cents.';
