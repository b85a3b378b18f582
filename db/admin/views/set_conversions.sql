-- The same as analytics.set_conversions, in the schema that operators may read.
create or replace view admin.set_conversions as
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
  x.created_at,
  x.side,
  x.cents
from analytics.set_conversions as x;

comment on view admin.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them; and '
  'conversions of shares in exclusive events, a row for each market of the event.';
comment on column admin.set_conversions.conversion_key is 'Internal key, ascending in time.';
comment on column admin.set_conversions.market_key is 'The market: internal key, for joins.';
comment on column admin.set_conversions.market_id is 'The market: public id.';
comment on column admin.set_conversions.user_key is 'The user: internal key, for joins.';
comment on column admin.set_conversions.user_id is 'The user: public id.';
comment on column admin.set_conversions.kind is
  'split (cash into sets), merge (sets into cash), convert (NO shares into YES shares of the other '
  'markets and cash) or redeem (YES shares of all markets into cash).';
comment on column admin.set_conversions.quantity is 'Sets, or shares of one side.';
comment on column admin.set_conversions.yes_realised_cents is
  'What giving the YES shares back realised, at 50 cents each or for cents; 0: none were given; '
  'null: shares came.';
comment on column admin.set_conversions.no_realised_cents is 'Likewise on the NO shares.';
comment on column admin.set_conversions.journal_key is 'The journal that moved the cash.';
comment on column admin.set_conversions.created_at is 'When it happened.';
comment on column admin.set_conversions.side is
  'The shares that a convert or redeem moved: of a convert YES shares came, NO shares were given; '
  'null: both sides.';
comment on column admin.set_conversions.cents is
  'What these shares brought, or cost if they came; null: 50 cents a share.';
