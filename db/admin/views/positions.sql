-- The same as analytics.positions, in the schema that operators may read.
create or replace view admin.positions as
select
  x.position_id,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.is_settled,
  x.open_quantity,
  x.cost_cents,
  x.fee_cents,
  x.open_cost_cents,
  x.realised_cents,
  x.has_traded,
  x.mark_price_cents,
  x.mark_value_cents,
  x.unrealised_cents
from analytics.positions as x;

comment on view admin.positions is
  'Shares of each trader by market and side. Empty positions stay, and so do settled ones with '
  'their quantity and cost: sum the columns that begin with open_, mark_value_cents and '
  'unrealised_cents over what is still held. realised_cents + unrealised_cents, summed over a '
  'trader''s positions, is cash + mark_value_cents - net deposits.';
comment on column admin.positions.position_id is 'Public id.';
comment on column admin.positions.market_key is 'The market: internal key, for joins.';
comment on column admin.positions.market_id is 'The market: public id.';
comment on column admin.positions.user_key is 'The user: internal key, for joins.';
comment on column admin.positions.user_id is 'The user: public id.';
comment on column admin.positions.side is 'yes or no.';
comment on column admin.positions.quantity is
  'Shares held; once settled, the shares that were paid.';
comment on column admin.positions.is_settled is
  'Whether the market is resolved, and the shares are paid and gone.';
comment on column admin.positions.open_quantity is 'Shares still held; 0 once settled.';
comment on column admin.positions.cost_cents is
  'What was paid for the quantity, without fees.';
comment on column admin.positions.fee_cents is 'The buy fees paid for the quantity.';
comment on column admin.positions.open_cost_cents is
  'What was paid for the shares still held, buy fees included; 0 once settled.';
comment on column admin.positions.realised_cents is
  'What selling, merging and settlement have realised in this position so far, corrections '
  'included: what they brought less fees, and less what the shares had cost with their buy fees.';
comment on column admin.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column admin.positions.mark_price_cents is
  'What a share was paid by the resolution; before it, the price of the last trade; before the '
  'first trade what a share has cost, rounded: 50 in a pair, less or more after a conversion.';
comment on column admin.positions.mark_value_cents is
  'The shares still held at that price, before the first trade what they have cost with their '
  'buy fees; 0 once settled.';
comment on column admin.positions.unrealised_cents is
  'mark_value_cents - open_cost_cents: what the shares still held would bring beyond cost and '
  'buy fees, without the fee of selling; 0 once settled.';
