create or replace view trading.final_orders as
select
  e.id, e.public_id, e.market_id, e.user_id, e.side, e.order_type, e.price, e.quantity,
  e.filled_quantity, e.budget_cents, e.time_in_force, e.post_only, e.status, e.cancel_reason,
  e.fee_cents, e.created_at, e.expires_at, e.release_at, e.released_at, e.ended_at
from trading.ended_orders as e
union all
select
  a.id, a.public_id, a.market_id, a.user_id, a.side, a.order_type, a.price, a.quantity,
  a.filled_quantity, a.budget_cents, a.time_in_force, a.post_only, a.status, a.cancel_reason,
  a.fee_cents, a.created_at, a.expires_at, a.release_at, a.released_at, a.cancelled_at
from trading.archived_orders as a;

comment on view trading.final_orders is
  'The orders that were filled or cancelled, archived or not: an order is the same row before and '
  'after it is archived. The columns are those of trading.ended_orders.';
comment on column trading.final_orders.id is 'The internal id, from trading.order_ids.';
comment on column trading.final_orders.public_id is 'The id that answers show.';
comment on column trading.final_orders.market_id is 'catalog.markets.id.';
comment on column trading.final_orders.user_id is 'identity.users.id.';
comment on column trading.final_orders.side is 'Of the shares: yes or no.';
comment on column trading.final_orders.order_type is 'What the trader did: buy or sell.';
comment on column trading.final_orders.price is
  'EUR-cents a share of the trader''s side; the protection price of a market order.';
comment on column trading.final_orders.quantity is
  'Shares ordered; of a budget order the shares bought.';
comment on column trading.final_orders.filled_quantity is 'Shares matched.';
comment on column trading.final_orders.budget_cents is
  'EUR-cents that it could spend; null of an order for a quantity.';
comment on column trading.final_orders.time_in_force is 'gtc, ioc or fok.';
comment on column trading.final_orders.post_only is
  'Whether it was to be rejected instead of taking.';
comment on column trading.final_orders.status is 'filled or cancelled.';
comment on column trading.final_orders.cancel_reason is
  'Why it was cancelled; null if it was filled.';
comment on column trading.final_orders.fee_cents is 'Taker fee paid, in cents.';
comment on column trading.final_orders.created_at is 'When it was accepted.';
comment on column trading.final_orders.expires_at is 'When it was to expire; null is never.';
comment on column trading.final_orders.release_at is
  'When a live market was to release it; null if it was never scheduled.';
comment on column trading.final_orders.released_at is 'When it was released.';
comment on column trading.final_orders.ended_at is 'When it was filled or cancelled.';
