-- The same as analytics.order_reductions, in the schema that operators may read.
create or replace view admin.order_reductions as
select
  x.order_key,
  x.quantity_before,
  x.quantity_after,
  x.reduced_at
from analytics.order_reductions as x;

comment on view admin.order_reductions is
  'Amendments that took shares off an order, which kept its place in the queue. Other '
  'amendments are new orders.';
comment on column admin.order_reductions.order_key is
  'The order: internal key, for joins with admin.orders.';
comment on column admin.order_reductions.quantity_before is 'Shares ordered before.';
comment on column admin.order_reductions.quantity_after is 'Shares ordered from then on.';
comment on column admin.order_reductions.reduced_at is 'When it was amended.';
