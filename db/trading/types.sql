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

create type trading.time_in_force as enum ('gtc', 'ioc');
comment on type trading.time_in_force is 'gtc may rest on the book; ioc cancels its remainder.';

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

create type trading.conversion_kind as enum ('split', 'merge');
comment on type trading.conversion_kind is
  'Cash into complete sets of shares, or complete sets into cash.';

-- What the stages of a batch hand to each other. A batch is the array of requests for one market
-- that are carried out in one transaction; see docs/engine.md.

create type trading.market_context as (
  market_id bigint,
  market_public_id uuid,
  title text,
  category_id bigint,
  at timestamptz,
  site_paused boolean,
  is_open boolean,
  live_delay_ms int,
  best_yes int,
  best_no int,
  first_yes_position bigint,
  first_no_position bigint
);
comment on type trading.market_context is
  'What a batch must know of its market and the site, read under the market''s lock; market_id is '
  'null when there is no such market. live_delay_ms is how long a new order has to wait for its '
  'release, null where it is matched at once. best_yes and best_no are the highest stored prices '
  'of the two sides of the book, 0 when empty, and the positions those of the first orders in '
  'their queues.';

create type trading.market_money as (
  taker_rate_bps int,
  fee_schedule_id bigint,
  escrow_account_id bigint,
  escrow_cents bigint,
  escrow_version bigint,
  revenue_account_id bigint,
  revenue_cents bigint,
  revenue_version bigint
);
comment on type trading.market_money is
  'The fee in force and the two accounts of a market. A batch that can match nothing does without.';

create type trading.order_request as (
  user_id bigint,
  side trading.side,
  order_type trading.order_type,
  price int,
  quantity int,
  budget_cents int,
  time_in_force trading.time_in_force,
  post_only boolean,
  expires_at timestamptz,
  idempotency_key uuid,
  book_side trading.side,
  book_price int,
  replay_of_order_id bigint,
  problem text,
  is_market boolean,
  relieved_cents bigint,
  order_id bigint,
  order_public_id uuid,
  created_at timestamptz
);
comment on type trading.order_request is
  'One request of a batch, made ready: price and time in force as they take effect (99 or 1 for a '
  'market order, ioc for whatever cannot rest), the side and price it would be stored with. '
  'quantity is null with a budget. problem says what is malformed; replay_of_order_id names the '
  'order that its idempotency key stands for already; is_market, that it came without a price. '
  'relieved_cents is what its user''s open orders cost less by it: the replaced order, or its own '
  'scheduled self. The last three are of the scheduled order that a request releases.';

create type trading.resting_order as (
  order_id bigint,
  order_public_id uuid,
  user_id bigint,
  side trading.side,
  order_type trading.order_type,
  price int,
  quantity int,
  filled_quantity int,
  created_at timestamptz,
  expires_at timestamptz,
  book_side trading.side,
  book_price int,
  queue_position bigint
);
comment on type trading.resting_order is
  'An order on the book that a batch might meet. filled_quantity is from before the batch. '
  'queue_position is of those that the batch brings to the book.';

create type trading.book_slice as (
  orders trading.resting_order[],
  yes_floor int,
  no_floor int,
  shares_before_own bigint[]
);
comment on type trading.book_slice is
  'The top of a market''s book as deep as a batch can reach: YES orders, then NO orders, each in '
  'price-time order. A floor is the last price read of a side that goes on below or at it; 0 when '
  'all that the batch can reach was read. shares_before_own is said of each request: see '
  'trading.read_reach.';

create type trading.trader_arrays as (
  user_ids bigint[],
  user_public_ids uuid[],
  account_ids bigint[],
  account_versions bigint[],
  balance_cents bigint[],
  blocked_by text[],
  excluded boolean[],
  limited boolean[]
);
comment on type trading.trader_arrays is
  'The traders a batch might touch, in ascending user id, one place for each in every array. '
  'blocked_by is why one may not trade (risk.blocked_by); of makers only excluded counts. '
  'limited are those with a loss limit, now or soon.';

create type trading.holding_arrays as (
  has_traded boolean[],
  quantity bigint[],
  cost_cents bigint[],
  fee_cents bigint[],
  realised_cents bigint[],
  touched boolean[]
);
comment on type trading.holding_arrays is
  'The shares of the same traders in the market. All but has_traded have two places for each, '
  'YES and NO; touched, which a match fills in, marks the positions that changed.';

create type trading.limit_arrays as (
  limits risk.loss_limits[],
  untraded risk.loss_limits[],
  open_cost_cents bigint[]
);
comment on type trading.limit_arrays is
  'The loss limits of the same traders, null for those without. untraded is the balance a trader '
  'would have without the trading of the day, week and month, so that untraded less balance is '
  'what that window has cost; open_cost_cents is what the open orders could still cost.';

create type trading.fill as (
  request int,
  trade_id bigint,
  trade_public_id uuid,
  journal_id bigint,
  taker_order_id bigint,
  taker_order_public_id uuid,
  taker_user_id bigint,
  taker_user_public_id uuid,
  taker_side trading.side,
  maker_order_id bigint,
  maker_order_public_id uuid,
  maker_user_id bigint,
  maker_user_public_id uuid,
  yes_price int,
  quantity int,
  fee_cents bigint,
  taker_realised_cents bigint,
  maker_realised_cents bigint
);
comment on type trading.fill is
  'One match. request is the taker''s place in the batch, taker_side its stored side; fee_cents is '
  'what this match added to the taker''s fee. What was realised is null for who bought.';

create type trading.cancelled_maker as (
  request int,
  resting int,
  user_public_id uuid,
  reason trading.cancel_reason,
  filled_quantity int,
  "order" trading.resting_order
);
comment on type trading.cancelled_maker is
  'A resting order that a request met and that could not go through with the match. resting is '
  'its place among the batch''s resting orders.';

create type trading.level_change as (
  book_side trading.side,
  book_price int,
  quantity bigint,
  order_count bigint
);
comment on type trading.level_change is 'What is added to one level of a book.';

create type trading.order_result as (
  request trading.order_request,
  user_public_id uuid,
  code text,
  message text,
  order_id bigint,
  order_public_id uuid,
  is_replay boolean,
  status trading.order_status,
  quantity int,
  filled_quantity int,
  cancel_reason trading.cancel_reason,
  fee_cents bigint,
  balance_cents bigint,
  end_status trading.order_status,
  end_filled_quantity int,
  end_cancel_reason trading.cancel_reason
);
comment on type trading.order_result is
  'What became of one request: a refusal (code and message), or an order as it stood right after '
  'its own matching (status to balance_cents) and at the end of the batch (end_*). A replay '
  'without a status is of an order that this batch did not touch.';

create type trading.match_result as (
  reached_floor boolean,
  outcomes trading.order_result[],
  fills trading.fill[],
  cancelled_makers trading.cancelled_maker[],
  resting trading.resting_order[],
  resting_left int[],
  resting_read int,
  entries ledger.entry[],
  user_ids bigint[],
  holdings trading.holding_arrays,
  last_trade_price int,
  yes_volume_cents bigint,
  no_volume_cents bigint,
  new_traders int,
  changes int
);
comment on type trading.match_result is
  'All that a batch does, before any of it is written. reached_floor: matching came to the end of '
  'the book slice and must be done again with a deeper one. resting_left is what is left of each '
  'resting order, -1 once it is dead; the first resting_read of them were on the book before. '
  'user_ids are the traders that holdings is about. changes counts the requests that changed the '
  'market.';

create type trading.matched_batch as (
  money trading.market_money,
  result trading.match_result
);
comment on type trading.matched_batch is
  'A batch that was matched and waits to be written.';
