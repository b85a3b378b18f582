create or replace view analytics.set_conversions as
select
  s.id as conversion_key,
  s.market_id as market_key,
  m.public_id as market_id,
  s.user_id as user_key,
  u.public_id as user_id,
  s.kind::text as kind,
  s.quantity::int as quantity,
  s.yes_realised_cents,
  s.no_realised_cents,
  s.journal_id as journal_key,
  s.created_at,
  s.side::text as side,
  s.cents::bigint as cents
from trading.set_conversions as s
left join catalog.markets as m on m.id = s.market_id
left join identity.users as u on u.id = s.user_id;

comment on view analytics.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them; and '
  'conversions of shares in exclusive events, a row for each market of the event.';
comment on column analytics.set_conversions.conversion_key is 'Internal key, ascending in time.';
comment on column analytics.set_conversions.market_key is 'The market: internal key, for joins.';
comment on column analytics.set_conversions.market_id is 'The market: public id.';
comment on column analytics.set_conversions.user_key is 'The user: internal key, for joins.';
comment on column analytics.set_conversions.user_id is 'The user: public id.';
comment on column analytics.set_conversions.kind is
  'split (cash into sets), merge (sets into cash), convert (NO shares into YES shares of the other '
  'markets and cash) or redeem (YES shares of all markets into cash).';
comment on column analytics.set_conversions.quantity is 'Sets, or shares of one side.';
comment on column analytics.set_conversions.yes_realised_cents is
  'What giving the YES shares back realised, at 50 cents each or for cents; 0: none were given; '
  'null: shares came.';
comment on column analytics.set_conversions.no_realised_cents is 'Likewise on the NO shares.';
comment on column analytics.set_conversions.journal_key is 'The journal that moved the cash.';
comment on column analytics.set_conversions.created_at is 'When it happened.';
comment on column analytics.set_conversions.side is
  'The shares that a convert or redeem moved: of a convert YES shares came, NO shares were given; '
  'null: both sides.';
comment on column analytics.set_conversions.cents is
  'What these shares brought, or cost if they came; null: 50 cents a share.';
