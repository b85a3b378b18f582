create view admin.positions as
select
  x.position_id,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.cost_cents,
  x.fee_cents,
  x.realised_cents,
  x.has_traded,
  x.mark_price_cents,
  x.mark_value_cents
from analytics.positions as x;

comment on view admin.positions is 'Shares of each trader by market and side, empty ones too.';
comment on column admin.positions.position_id is 'Public id.';
comment on column admin.positions.market_key is 'The market: internal key, for joins.';
comment on column admin.positions.market_id is 'The market: public id.';
comment on column admin.positions.user_key is 'The user: internal key, for joins.';
comment on column admin.positions.user_id is 'The user: public id.';
comment on column admin.positions.side is 'yes or no.';
comment on column admin.positions.quantity is 'Shares held.';
comment on column admin.positions.cost_cents is 'What was paid for them, without fees.';
comment on column admin.positions.fee_cents is 'The buy fees paid for them.';
comment on column admin.positions.realised_cents is
  'What selling, merging and settlements have realised in this position so far.';
comment on column admin.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column admin.positions.mark_price_cents is
  'What a share is worth by the last trade, or was paid by the resolution; null without either.';
comment on column admin.positions.mark_value_cents is 'The shares held at that price.';
