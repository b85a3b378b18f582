-- Bounds of single values are domains: their checks are compiled once a session, those of tables
-- again for every statement, which is a tenth of a lone order's time.

create domain trading.price as int constraint price_is_from_1_to_99 check (value between 1 and 99);
comment on domain trading.price is 'EUR-cents a share, 1-99.';

create domain trading.order_quantity as int
  constraint order_quantity_is_at_most_10000 check (value between 0 and 10000);
comment on domain trading.order_quantity is
  'Shares of an order, up to 10,000; 0 while a budget order is scheduled.';

create domain trading.trade_quantity as int
  constraint trade_quantity_is_above_zero check (value > 0);
comment on domain trading.trade_quantity is 'Shares of a trade.';

create domain trading.budget_cents as int
  constraint budget_is_from_1_to_1000000 check (value between 1 and 1000000);
comment on domain trading.budget_cents is 'EUR-cents that a budget order may spend.';

create type trading.side as enum ('yes', 'no');
comment on type trading.side is 'The two kinds of shares, and the two sides of the stored book.';

create type trading.order_type as enum ('buy', 'sell');
comment on type trading.order_type is 'What the trader does with shares of the side.';

create type trading.time_in_force as enum ('gtc', 'ioc', 'fok');
comment on type trading.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';

create type trading.order_status as enum (
  'scheduled', 'open', 'partially_filled', 'filled', 'cancelled'
);
comment on type trading.order_status is 'Where an order is in its life.';

create type trading.cancel_reason as enum (
  'user_cancelled', 'user_amended', 'insufficient_funds', 'market_closed',
  'position_insufficient', 'expired', 'trading_paused', 'self_trade', 'post_only_would_cross',
  'insufficient_liquidity', 'self_excluded', 'loss_limit'
);
comment on type trading.cancel_reason is 'Why an order was cancelled.';

create type trading.conversion_kind as enum ('split', 'merge', 'convert', 'redeem');
comment on type trading.conversion_kind is
  'Cash into complete sets of shares, or complete sets into cash. In an exclusive event: NO shares '
  'into cash and YES shares of the other markets, or YES shares of all markets into cash.';
