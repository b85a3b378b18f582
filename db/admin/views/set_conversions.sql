create view admin.set_conversions as
select
  x.conversion_key,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.kind,
  x.quantity,
  x.yes_realised_cents,
  x.no_realised_cents,
  x.journal_key,
  x.created_at
from analytics.set_conversions as x;

comment on view admin.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them.';
comment on column admin.set_conversions.conversion_key is
  'Internal key, ascending in the order of their making.';
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
