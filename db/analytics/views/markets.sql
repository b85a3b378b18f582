create or replace view analytics.markets as
select
  m.id as market_key,
  m.public_id as market_id,
  m.category_id as category_key,
  c.slug as category,
  m.event_id as event_key,
  e.public_id as event_id,
  m.title,
  m.outcome_name,
  m."position",
  m.status::text as status,
  m.close_time,
  m.resolved_outcome::text as resolved_outcome,
  m.yes_payout_cents,
  m.resolved_at,
  m.created_at,
  b.last_trade_price::int as last_yes_price_cents,
  b.yes_volume_cents,
  b.no_volume_cents,
  b.trade_count,
  b.traders_count as trader_count,
  b.version
from catalog.markets as m
left join catalog.categories as c on c.id = m.category_id
left join catalog.events as e on e.id = m.event_id
left join trading.market_state as b on b.market_id = m.id;

comment on view analytics.markets is 'Binary questions, with their prices, volumes and counts.';
comment on column analytics.markets.market_key is 'Internal key, for joins.';
comment on column analytics.markets.market_id is 'Public id.';
comment on column analytics.markets.category_key is 'The category: internal key, for joins.';
comment on column analytics.markets.category is 'The category''s public name.';
comment on column analytics.markets.event_key is
  'The event: internal key, for joins; null for a market of its own.';
comment on column analytics.markets.event_id is 'The event: public id.';
comment on column analytics.markets.title is 'The question.';
comment on column analytics.markets.outcome_name is
  'Its short name among the outcomes of its event; null without one.';
comment on column analytics.markets."position" is
  'Its place among the outcomes of its event, from 1; null without one.';
comment on column analytics.markets.status is
  'open, paused, closed or resolved; a voided one is resolved (analytics.voids).';
comment on column analytics.markets.close_time is
  'From then on it takes no orders; null if that is open.';
comment on column analytics.markets.resolved_outcome is
  'yes, no or custom; null before the resolution; custom if the market was voided.';
comment on column analytics.markets.yes_payout_cents is
  'What a YES share pays by the resolution that holds, 0-100; a NO share pays the rest; 50 if the '
  'market was voided, which pays nothing.';
comment on column analytics.markets.resolved_at is
  'When it was first resolved; corrections since then are in analytics.resolutions.';
comment on column analytics.markets.created_at is 'When an operator made it.';
comment on column analytics.markets.last_yes_price_cents is
  'YES price of the last trade; null before the first.';
comment on column analytics.markets.yes_volume_cents is
  'Sum over the trades of quantity x YES price.';
comment on column analytics.markets.no_volume_cents is
  'Sum over the trades of quantity x NO price.';
comment on column analytics.markets.trade_count is 'Trades so far.';
comment on column analytics.markets.trader_count is 'Distinct users who ever traded it.';
comment on column analytics.markets.version is 'Changes of its book and trades so far.';
