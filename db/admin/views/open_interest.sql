create or replace view admin.open_interest as
select
  x.market_key,
  x.market_id,
  x.pair_count,
  x.yes_holder_count,
  x.no_holder_count,
  x.escrow_cents,
  100 * x.pair_count as backed_cents,
  x.escrow_cents - 100 * x.pair_count as difference_cents
from analytics.open_interest as x;

comment on view admin.open_interest is
  'The cash in escrow of each market against the shares that users hold. ledger.verify() compares '
  'the same.';
comment on column admin.open_interest.market_key is 'The market: internal key, for joins.';
comment on column admin.open_interest.market_id is 'The market: public id.';
comment on column admin.open_interest.pair_count is
  'Pairs of a YES and a NO share that are held: the NO shares, see analytics.open_interest; 0 once '
  'the market is resolved.';
comment on column admin.open_interest.yes_holder_count is 'Users who hold YES shares.';
comment on column admin.open_interest.no_holder_count is 'Users who hold NO shares.';
comment on column admin.open_interest.escrow_cents is 'Cash of the market''s escrow account.';
comment on column admin.open_interest.backed_cents is 'What the pairs need: 100 cents each.';
comment on column admin.open_interest.difference_cents is 'The cash less that; 0 if all is well.';
