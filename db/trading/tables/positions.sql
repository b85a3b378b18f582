create table trading.positions (
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  public_id uuid not null default core.uuid_v7(),
  quantity core.amount not null default 0,
  cost_cents core.amount not null default 0,
  fee_cents core.amount not null default 0,
  realised_cents bigint not null default 0,
  has_traded boolean not null default false,
  primary key (market_id, user_id, side),
  constraint positions_without_shares_cost_nothing
    check (quantity > 0 or (cost_cents = 0 and fee_cents = 0))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index positions_of_a_user on trading.positions (user_id, market_id);

comment on table trading.positions is
  'Shares of each trader by market and side. Written only under the market''s lock.';
comment on column trading.positions.cost_cents is
  'Price x quantity paid for the shares held; fee_cents the buy fees paid for them. Selling, '
  'merging and settling take both out pro rata, rounded half up.';
comment on column trading.positions.realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.positions.has_traded is
  'Whether a match, and not only a split, ever moved this position.';
