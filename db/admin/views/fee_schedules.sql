-- The same as analytics.fee_schedules, in the schema that operators may read.
create or replace view admin.fee_schedules as
select
  x.fee_schedule_key,
  x.category,
  x.market_key,
  x.market_id,
  x.taker_rate_bps,
  x.effective_from,
  x.created_at,
  x.cancelled_at
from analytics.fee_schedules as x;

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
