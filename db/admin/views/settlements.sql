-- The same as analytics.settlements, in the schema that operators may read.
create or replace view admin.settlements as
select
  x.resolution_key,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.payout_cents,
  x.cost_cents,
  x.fee_cents,
  x.realised_cents,
  x.is_final,
  x.created_at
from analytics.settlements as x;

comment on view admin.settlements is
  'What each resolution pays each position. A correction settles all positions of its market '
  'again, so sum over those with is_final.';
comment on column admin.settlements.resolution_key is 'The resolution.';
comment on column admin.settlements.market_key is 'The market: internal key, for joins.';
comment on column admin.settlements.market_id is 'The market: public id.';
comment on column admin.settlements.user_key is 'The user: internal key, for joins.';
comment on column admin.settlements.user_id is 'The user: public id.';
comment on column admin.settlements.side is 'yes or no.';
comment on column admin.settlements.quantity is 'Shares.';
comment on column admin.settlements.payout_cents is 'What they are paid.';
comment on column admin.settlements.cost_cents is 'What was paid for them, without fees.';
comment on column admin.settlements.fee_cents is 'The buy fees paid for them.';
comment on column admin.settlements.realised_cents is 'Payout less cost and fees.';
comment on column admin.settlements.is_final is
  'Whether the resolution is the one that holds; false in a voided market.';
comment on column admin.settlements.created_at is
  'When the market was resolved, or the resolution corrected.';
