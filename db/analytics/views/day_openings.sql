create or replace view analytics.day_openings as
select
  o.user_id as user_key,
  u.public_id as user_id,
  o.day,
  o.balance_cents,
  o.external_cents as net_deposits_cents
from ledger.day_openings as o
left join identity.users as u on u.id = o.user_id;

comment on view analytics.day_openings is
  'A user''s cash at the start of each UTC day on which it moved.';
comment on column analytics.day_openings.user_key is 'The user: internal key, for joins.';
comment on column analytics.day_openings.user_id is 'The user: public id.';
comment on column analytics.day_openings.day is 'UTC day.';
comment on column analytics.day_openings.balance_cents is 'Cash at its start.';
comment on column analytics.day_openings.net_deposits_cents is
  'Deposits, bonuses and adjustments less withdrawals and reversals until its start.';
