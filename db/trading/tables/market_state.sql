create table trading.market_state (
  market_id bigint primary key references catalog.markets (id),
  version bigint not null default 0,
  placed_count bigint not null default 0,
  placed_id_sum bigint not null default 0,
  last_trade_price trading.price,
  yes_volume_cents bigint not null default 0,
  no_volume_cents bigint not null default 0,
  trade_count bigint not null default 0,
  traders_count int not null default 0,
  escrow_cents core.amount not null default 0,
  escrow_version bigint not null default 0,
  revenue_cents core.amount not null default 0,
  revenue_version bigint not null default 0,
  best_yes_price int not null default 0,
  first_yes_position bigint not null default 0,
  best_no_price int not null default 0,
  first_no_position bigint not null default 0,
  depth bigint[] not null default array_fill(0::bigint, array[198])
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.market_state is
  'What trading changes of a market, one row each: its figures, its two accounts, the depth of '
  'its book and where its book begins. Written only under the market''s lock.';
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
comment on column trading.market_state.escrow_cents is
  'EUR-cents held for the shares, and escrow_version the number of entries of that account; '
  'revenue_cents the fees earned, likewise.';
comment on column trading.market_state.best_yes_price is
  'Highest price with resting YES orders, 0 without any; likewise for NO. Orders past their expiry '
  'count until they are cancelled.';
comment on column trading.market_state.first_yes_position is
  'No resting YES order of the best price stands before this place of its queue; likewise for NO. '
  'Reading begins there, and not at index entries of orders that left since the last vacuum.';
comment on column trading.market_state.depth is
  'Unfilled shares on the book: of YES orders at price p in place p, of NO orders in place 99 + p; '
  'null where there are none, which takes no room, or 0 in rows that 0.3.0 made. Orders past '
  'their expiry count until they are cancelled; readers take them off.';
