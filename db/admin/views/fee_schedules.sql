create or replace view admin.fee_schedules as
select
  s.id as fee_schedule_key,
  c.slug as category,
  s.market_id as market_key,
  m.public_id as market_id,
  s.taker_rate_bps,
  s.effective_from,
  s.created_at,
  x.created_at as cancelled_at
from trading.fee_schedules as s
left join catalog.categories as c on c.id = s.category_id
left join catalog.markets as m on m.id = s.market_id
left join trading.fee_cancellations as x on x.fee_schedule_id = s.id;

comment on view admin.fee_schedules is
  'Dated taker fees: a market''s own, else its category''s, else the default; of these the '
  'latest in force.';
comment on column admin.fee_schedules.fee_schedule_key is 'Internal key, for joins.';
comment on column admin.fee_schedules.category is
  'The category that it is for; null unless it is for one.';
comment on column admin.fee_schedules.market_key is
  'The market that it is for: internal key; null unless it is for one.';
comment on column admin.fee_schedules.market_id is 'The market that it is for: public id.';
comment on column admin.fee_schedules.taker_rate_bps is
  'Basis points of quantity x p x (1 - p).';
comment on column admin.fee_schedules.effective_from is
  'When it begins to hold; -infinity for the first.';
comment on column admin.fee_schedules.created_at is 'When an operator made it.';
comment on column admin.fee_schedules.cancelled_at is
  'When an operator withdrew it, before it was in force; null if it holds.';
