create or replace view analytics.settlements as
select
  s.resolution_id as resolution_key,
  s.market_id as market_key,
  m.public_id as market_id,
  s.user_id as user_key,
  u.public_id as user_id,
  s.side::text as side,
  s.quantity::bigint as quantity,
  s.payout_cents::bigint as payout_cents,
  s.cost_cents::bigint as cost_cents,
  s.fee_cents::bigint as fee_cents,
  s.realised_cents,
  r.is_final,
  r.created_at
from trading.settlements as s
left join analytics.resolutions as r on r.resolution_key = s.resolution_id
left join catalog.markets as m on m.id = s.market_id
left join identity.users as u on u.id = s.user_id;

comment on view analytics.settlements is
  'What each resolution pays each position. A correction settles all positions of its market '
  'again, so sum over those with is_final.';
comment on column analytics.settlements.resolution_key is 'The resolution.';
comment on column analytics.settlements.market_key is 'The market: internal key, for joins.';
comment on column analytics.settlements.market_id is 'The market: public id.';
comment on column analytics.settlements.user_key is 'The user: internal key, for joins.';
comment on column analytics.settlements.user_id is 'The user: public id.';
comment on column analytics.settlements.side is 'yes or no.';
comment on column analytics.settlements.quantity is 'Shares.';
comment on column analytics.settlements.payout_cents is 'What they are paid.';
comment on column analytics.settlements.cost_cents is 'What was paid for them, without fees.';
comment on column analytics.settlements.fee_cents is 'The buy fees paid for them.';
comment on column analytics.settlements.realised_cents is 'Payout less cost and fees.';
comment on column analytics.settlements.is_final is
  'Whether the resolution is the one that holds; false in a voided market.';
comment on column analytics.settlements.created_at is
  'When the market was resolved, or the resolution corrected.';
