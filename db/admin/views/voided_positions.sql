-- The same as analytics.voided_positions, in the schema that operators may read.
create or replace view admin.voided_positions as
select
  x.void_key,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.cost_cents,
  x.fee_cents,
  x.realised_cents
from analytics.voided_positions as x;

comment on view admin.voided_positions is
  'The positions of voided markets as they were before; now they are empty.';
comment on column admin.voided_positions.void_key is 'The void: internal key, for joins.';
comment on column admin.voided_positions.market_key is 'The market: internal key, for joins.';
comment on column admin.voided_positions.market_id is 'The market: public id.';
comment on column admin.voided_positions.user_key is 'The user: internal key, for joins.';
comment on column admin.voided_positions.user_id is 'The user: public id.';
comment on column admin.voided_positions.side is 'yes or no.';
comment on column admin.voided_positions.quantity is
  'Shares; of a resolved market those that were settled.';
comment on column admin.voided_positions.cost_cents is 'Price x quantity paid for them.';
comment on column admin.voided_positions.fee_cents is 'The buy fees paid for them.';
comment on column admin.voided_positions.realised_cents is
  'What the position had realised, its settlement included.';
