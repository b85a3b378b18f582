-- With the reasons and the evidence, which analysts do not see.
create or replace view admin.resolutions as
select
  x.resolution_key,
  x.market_key,
  x.market_id,
  x.outcome,
  x.yes_payout_cents,
  x.corrects_resolution_key,
  r.reason,
  x.position_count,
  x.payout_cents,
  x.is_final,
  x.created_at,
  r.evidence
from analytics.resolutions as x
join trading.resolutions as r on r.id = x.resolution_key;

comment on view admin.resolutions is 'The resolutions of markets and their corrections.';
comment on column admin.resolutions.resolution_key is 'Internal key, for joins; ascending in time.';
comment on column admin.resolutions.market_key is 'The market: internal key, for joins.';
comment on column admin.resolutions.market_id is 'The market: public id.';
comment on column admin.resolutions.outcome is 'yes, no or custom.';
comment on column admin.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100; a NO share pays the rest.';
comment on column admin.resolutions.corrects_resolution_key is
  'The resolution that this one corrects; null for the first of a market.';
comment on column admin.resolutions.reason is 'Why it was corrected; null for the first.';
comment on column admin.resolutions.position_count is 'Positions that are settled.';
comment on column admin.resolutions.payout_cents is
  'What they are paid in all; of a correction too the whole, and not the difference.';
comment on column admin.resolutions.is_final is
  'Whether no correction came after it, and no void of the market.';
comment on column admin.resolutions.created_at is 'When it happened.';
comment on column admin.resolutions.evidence is
  'What the outcome rests on, for everybody to read; null: nothing was given.';
