create or replace view analytics.resolutions as
select
  r.id as resolution_key,
  r.market_id as market_key,
  m.public_id as market_id,
  r.outcome::text as outcome,
  r.yes_payout_cents,
  r.corrects_resolution_id as corrects_resolution_key,
  r.position_count,
  r.payout_cents::bigint as payout_cents,
  not exists (
    select
    from trading.resolutions as n
    where n.corrects_resolution_id = r.id
  )
  and not exists (
    select
    from trading.voids as v
    where v.market_id = r.market_id
      and v.trade_id is null
  ) as is_final,
  r.created_at
from trading.resolutions as r
left join catalog.markets as m on m.id = r.market_id;

comment on view analytics.resolutions is
  'The resolutions of markets and their corrections. Their reasons and evidence are in '
  'admin.resolutions and in GET /api/v1/markets/:id/resolution.';
comment on column analytics.resolutions.resolution_key is
  'Internal key, for joins; ascending in time.';
comment on column analytics.resolutions.market_key is 'The market: internal key, for joins.';
comment on column analytics.resolutions.market_id is 'The market: public id.';
comment on column analytics.resolutions.outcome is 'yes, no or custom.';
comment on column analytics.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100; a NO share pays the rest.';
comment on column analytics.resolutions.corrects_resolution_key is
  'The resolution that this one corrects; null for the first of a market.';
comment on column analytics.resolutions.position_count is 'Positions that are settled.';
comment on column analytics.resolutions.payout_cents is
  'What they are paid in all; of a correction too the whole, and not the difference.';
comment on column analytics.resolutions.is_final is
  'Whether no correction came after it, and no void of the market.';
comment on column analytics.resolutions.created_at is 'When it happened.';
