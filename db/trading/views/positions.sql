create or replace view trading.positions as
select
  h.market_id, h.user_id, p.side, p.public_id, p.quantity, p.cost_cents, p.fee_cents,
  p.realised_cents, p.has_traded
from trading.holdings as h
cross join lateral (
  values
    (
      'yes'::trading.side, h.yes_public_id, h.yes_quantity, h.yes_cost_cents, h.yes_fee_cents,
      h.yes_realised_cents, h.yes_traded
    ),
    (
      'no', h.no_public_id, h.no_quantity, h.no_cost_cents, h.no_fee_cents,
      h.no_realised_cents, h.no_traded
    )
) as p (side, public_id, quantity, cost_cents, fee_cents, realised_cents, has_traded)
where p.public_id is not null;

comment on view trading.positions is
  'Shares of each trader by market and side: trading.holdings with a row for each side that the '
  'user ever had shares of.';
comment on column trading.positions.market_id is 'catalog.markets.id.';
comment on column trading.positions.user_id is 'identity.users.id.';
comment on column trading.positions.side is 'yes or no.';
comment on column trading.positions.public_id is 'The id that the portfolio shows.';
comment on column trading.positions.quantity is 'Shares held.';
comment on column trading.positions.cost_cents is
  'Price x quantity paid for the shares held.';
comment on column trading.positions.fee_cents is 'The buy fees paid for the shares held.';
comment on column trading.positions.realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.positions.has_traded is
  'Whether a match, and not only a split, ever moved this position.';
