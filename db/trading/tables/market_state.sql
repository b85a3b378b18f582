create table trading.market_state (
  market_id bigint primary key references catalog.markets (id),
  escrow_account_id bigint not null references ledger.accounts (id),
  fee_account_id bigint not null references ledger.accounts (id),
  version bigint not null default 0,
  placed_count bigint not null default 0,
  placed_id_sum bigint not null default 0,
  last_trade_price trading.price,
  yes_volume_cents bigint not null default 0,
  no_volume_cents bigint not null default 0,
  trade_count bigint not null default 0,
  traders_count int not null default 0,
  front_yes_price int not null default 0,
  front_yes_position bigint not null default 0,
  front_no_price int not null default 0,
  front_no_position bigint not null default 0
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.market_state is
  'The figures of each market that trading moves. Written only under the market''s lock.';
comment on column trading.market_state.version is
  'Counts the changes of the market, one for each request that changed its book or its trades.';
comment on column trading.market_state.placed_count is
  'Orders that were ever accepted, scheduled ones included, and placed_id_sum the sum of their '
  'ids. No order is ever deleted, so trading.verify_orders() can name one that is missing: the '
  'difference of the sums is its id.';
comment on column trading.market_state.traders_count is
  'Distinct users who ever traded this market.';
comment on column trading.market_state.yes_volume_cents is
  'Sum over the trades of quantity x YES price; no_volume_cents likewise at the NO price.';
comment on column trading.market_state.front_yes_price is
  'No resting YES order stands before this price and front_yes_position in its queue; likewise for '
  'NO. Searches of the book begin there and not at its top, where the index still has the orders '
  'that were filled or cancelled since the last vacuum. May lag behind, never run ahead.';
