create or replace view trading.orders as
select
  a.order_id as id, a.order_public_id as public_id, a.market_id, a.user_id, a.side, a.order_type,
  a.price, a.quantity, a.quantity - a.left_quantity as filled_quantity, a.budget_cents,
  a.time_in_force, a.post_only,
  case
    when a.queue_position is null then 'scheduled'
    when a.left_quantity = a.quantity then 'open'
    else 'partially_filled'
  end::trading.order_status as status,
  null::trading.cancel_reason as cancel_reason, a.fee_cents, a.created_at, a.expires_at,
  a.release_at, a.released_at, null::timestamptz as cancelled_at
from trading.active_orders as a
union all
select
  e.id, e.public_id, e.market_id, e.user_id, e.side, e.order_type, e.price, e.quantity,
  e.filled_quantity, e.budget_cents, e.time_in_force, e.post_only, e.status, e.cancel_reason,
  e.fee_cents, e.created_at, e.expires_at, e.release_at, e.released_at,
  case when e.status = 'cancelled' then e.ended_at end
from trading.ended_orders as e;

comment on view trading.orders is
  'Every order that is not archived, in the form its trader gave it and as it is now: '
  'active_orders and ended_orders in one. Look orders up by user and id, or by public id.';
comment on column trading.orders.id is 'The internal id, from trading.order_ids.';
comment on column trading.orders.public_id is 'The id that answers show.';
comment on column trading.orders.market_id is 'catalog.markets.id.';
comment on column trading.orders.user_id is 'identity.users.id.';
comment on column trading.orders.side is 'Of the shares: yes or no.';
comment on column trading.orders.order_type is 'What the trader does: buy or sell.';
comment on column trading.orders.price is
  'EUR-cents a share of the trader''s side; the protection price of a market order.';
comment on column trading.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column trading.orders.filled_quantity is 'Shares matched.';
comment on column trading.orders.budget_cents is
  'EUR-cents that it may spend; null of an order for a quantity.';
comment on column trading.orders.time_in_force is 'gtc, ioc or fok.';
comment on column trading.orders.post_only is 'Whether it is rejected instead of taking.';
comment on column trading.orders.status is
  'scheduled, open, partially_filled, filled or cancelled.';
comment on column trading.orders.cancel_reason is
  'Why it was cancelled; null while it is not.';
comment on column trading.orders.fee_cents is 'Taker fee paid, in cents.';
comment on column trading.orders.created_at is 'When it was accepted.';
comment on column trading.orders.expires_at is 'When it expires; null is never.';
comment on column trading.orders.release_at is
  'When a live market was to release it; null if it was never scheduled.';
comment on column trading.orders.released_at is 'When it was released.';
comment on column trading.orders.cancelled_at is 'When it was cancelled.';
