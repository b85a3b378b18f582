create table trading.holdings (
  market_id bigint not null,
  user_id bigint not null,
  yes_public_id uuid,
  yes_quantity core.amount not null default 0,
  yes_cost_cents core.amount not null default 0,
  yes_fee_cents core.amount not null default 0,
  yes_realised_cents bigint not null default 0,
  yes_traded boolean not null default false,
  no_public_id uuid,
  no_quantity core.amount not null default 0,
  no_cost_cents core.amount not null default 0,
  no_fee_cents core.amount not null default 0,
  no_realised_cents bigint not null default 0,
  no_traded boolean not null default false,
  primary key (market_id, user_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index holdings_of_a_user on trading.holdings (user_id, market_id);

comment on table trading.holdings is
  'The YES and NO shares of each trader in a market: one row for both sides, which '
  'trading.positions shows as two. Written only under the market''s lock.';
comment on column trading.holdings.yes_public_id is
  'The id of the YES position; null while the user never had YES shares of the market.';
comment on column trading.holdings.yes_cost_cents is
  'Price x quantity paid for the shares held; yes_fee_cents the buy fees paid for them. Selling, '
  'merging and settling take both out pro rata, rounded half up.';
comment on column trading.holdings.yes_realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.holdings.yes_traded is
  'Whether a match, and not only a split, ever moved the YES shares.';
