create or replace view admin.markets as
select
  m.id as market_key,
  m.public_id as market_id,
  m.category_id as category_key,
  c.slug as category,
  m.event_id as event_key,
  e.public_id as event_id,
  m.title,
  m.description,
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
  b.version,
  m.thumbnail_id,
  m.thumbnail_url,
  m.open_time,
  m.outcome_name,
  m."position",
  m.rules,
  m.source_url,
  case
    when m.status = 'resolved' then null
    when others.yes_payout_cents = 100 then 'no'
    -- The only market so far of an event that is being made has no others.
    when others.yes_payout_cents = 0 and others.are_resolved and others.title is not null then 'yes'
  end as proposed_outcome,
  x.created_at as voided_at
from catalog.markets as m
left join catalog.categories as c on c.id = m.category_id
left join catalog.events as e on e.id = m.event_id
left join trading.market_state as b on b.market_id = m.id
left join trading.payouts_of_others as others on others.market_id = m.id
left join trading.voided_markets as x on x.market_id = m.id;

comment on view admin.markets is 'Binary questions, with their prices, volumes and counts.';
comment on column admin.markets.market_key is 'Internal key, for joins.';
comment on column admin.markets.market_id is 'Public id.';
comment on column admin.markets.category_key is 'The category: internal key, for joins.';
comment on column admin.markets.category is 'The category''s public name.';
comment on column admin.markets.event_key is
  'The event: internal key, for joins; null for a market of its own.';
comment on column admin.markets.event_id is 'The event: public id.';
comment on column admin.markets.title is 'The question.';
comment on column admin.markets.description is
  'Text for display; empty if there is none.';
comment on column admin.markets.status is
  'open, paused, closed or resolved; a voided one is resolved.';
comment on column admin.markets.close_time is
  'From then on it takes no orders; null if that is open.';
comment on column admin.markets.resolved_outcome is
  'yes, no or custom; null before the resolution; custom if the market was voided.';
comment on column admin.markets.yes_payout_cents is
  'What a YES share pays by the resolution that holds, 0-100; a NO share pays the rest; 50 if the '
  'market was voided, which pays nothing.';
comment on column admin.markets.resolved_at is
  'When it was first resolved; corrections since then are in admin.resolutions.';
comment on column admin.markets.created_at is 'When an operator made it.';
comment on column admin.markets.last_yes_price_cents is
  'YES price of the last trade; null before the first.';
comment on column admin.markets.yes_volume_cents is
  'Sum over the trades of quantity x YES price.';
comment on column admin.markets.no_volume_cents is
  'Sum over the trades of quantity x NO price.';
comment on column admin.markets.trade_count is 'Trades so far.';
comment on column admin.markets.trader_count is 'Distinct users who ever traded it.';
comment on column admin.markets.version is 'Changes of its book and trades so far.';
comment on column admin.markets.thumbnail_id is 'Id of the picture; null if none was given.';
comment on column admin.markets.thumbnail_url is 'Address of the picture; null if none was given.';
comment on column admin.markets.open_time is
  'When a paused market opens by itself; null if an operator opens it, or has opened it.';
comment on column admin.markets.outcome_name is
  'What it is called among the outcomes of its event; null: its title.';
comment on column admin.markets."position" is 'Its place in the event; null without one.';
comment on column admin.markets.rules is 'What decides the outcome; null if nothing was given.';
comment on column admin.markets.source_url is
  'Address of the source of the outcome; null if none was given.';
comment on column admin.markets.proposed_outcome is
  'The only outcome that an exclusive event leaves to a market that is not resolved: no once the '
  'others pay 100 cents, yes to the last one after only no; otherwise null.';
comment on column admin.markets.voided_at is
  'When the market was undone; null if it was not. admin.voids says why.';
