create or replace view analytics.voided_positions as
select
  p.void_id as void_key,
  p.market_id as market_key,
  m.public_id as market_id,
  p.user_id as user_key,
  u.public_id as user_id,
  p.side::text as side,
  p.quantity::bigint as quantity,
  p.cost_cents::bigint as cost_cents,
  p.fee_cents::bigint as fee_cents,
  p.realised_cents
from trading.voided_positions as p
left join catalog.markets as m on m.id = p.market_id
left join identity.users as u on u.id = p.user_id;

comment on view analytics.voided_positions is
  'The positions of voided markets as they were before; now they are empty.';
comment on column analytics.voided_positions.void_key is 'The void: internal key, for joins.';
comment on column analytics.voided_positions.market_key is 'The market: internal key, for joins.';
comment on column analytics.voided_positions.market_id is 'The market: public id.';
comment on column analytics.voided_positions.user_key is 'The user: internal key, for joins.';
comment on column analytics.voided_positions.user_id is 'The user: public id.';
comment on column analytics.voided_positions.side is 'yes or no.';
comment on column analytics.voided_positions.quantity is
  'Shares; of a resolved market those that were settled.';
comment on column analytics.voided_positions.cost_cents is 'Price x quantity paid for them.';
comment on column analytics.voided_positions.fee_cents is 'The buy fees paid for them.';
comment on column analytics.voided_positions.realised_cents is
  'What the position had realised, its settlement included.';
