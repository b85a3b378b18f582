create or replace view admin.order_reductions as
select
  x.order_id as order_key,
  x.quantity_before::int as quantity_before,
  x.quantity_after::int as quantity_after,
  x.at as reduced_at
from trading.order_reductions as x;

comment on view admin.order_reductions is
  'Amendments that took shares off an order, which kept its place in the queue. Other '
  'amendments are new orders.';
comment on column admin.order_reductions.order_key is
  'The order: internal key, for joins with admin.orders.';
comment on column admin.order_reductions.quantity_before is 'Shares ordered before.';
comment on column admin.order_reductions.quantity_after is 'Shares ordered from then on.';
comment on column admin.order_reductions.reduced_at is 'When it was amended.';
