create table trading.archived_orders (
  id bigint not null,
  public_id uuid not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  order_type trading.order_type not null,
  price trading.price not null,
  quantity trading.order_quantity not null,
  filled_quantity int not null,
  budget_cents trading.budget_cents,
  time_in_force trading.time_in_force not null,
  post_only boolean not null,
  status trading.order_status not null,
  cancel_reason trading.cancel_reason not null,
  fee_cents core.amount not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  cancelled_at timestamptz not null,
  constraint archived_orders_are_cancelled check (status = 'cancelled'),
  constraint archived_orders_never_filled check (filled_quantity = 0 and fee_cents = 0)
) partition by range (public_id);

create index archived_orders_of_a_user on trading.archived_orders (user_id, id);
create index archived_orders_by_id on trading.archived_orders (id);

create trigger archived_orders_are_append_only
  before update or delete or truncate on trading.archived_orders
  for each statement execute function ledger.refuse_change();

comment on table trading.archived_orders is
  'Orders that were cancelled without a fill, moved here from trading.ended_orders 30 days '
  'after, with the columns of trading.orders. A partition for each month in which orders were '
  'made, made when it is first needed; the month is in the public_id, so that an order is looked '
  'up in one partition. Each partition has its primary key, and ranges do not overlap, so a '
  'public_id is there once. The table itself has none: PostgreSQL takes no partition on another '
  'server into a table with one.';
