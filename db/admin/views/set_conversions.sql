create or replace view admin.set_conversions as
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
  s.created_at
from trading.set_conversions as s
left join catalog.markets as m on m.id = s.market_id
left join identity.users as u on u.id = s.user_id;

comment on view admin.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them.';
comment on column admin.set_conversions.conversion_key is 'Internal key, ascending in time.';
comment on column admin.set_conversions.market_key is 'The market: internal key, for joins.';
comment on column admin.set_conversions.market_id is 'The market: public id.';
comment on column admin.set_conversions.user_key is 'The user: internal key, for joins.';
comment on column admin.set_conversions.user_id is 'The user: public id.';
comment on column admin.set_conversions.kind is
  'split (cash into sets) or merge (sets into cash).';
comment on column admin.set_conversions.quantity is 'Sets.';
comment on column admin.set_conversions.yes_realised_cents is
  'What merging realised on the YES shares, at 50 cents each; null for a split.';
comment on column admin.set_conversions.no_realised_cents is 'Likewise on the NO shares.';
comment on column admin.set_conversions.journal_key is 'The journal that moved the cash.';
comment on column admin.set_conversions.created_at is 'When it happened.';
