-- The types of a batch that are made of rows of tables; see types.sql.

create type trading.holding_arrays as (
  keys bigint[],
  holdings trading.holdings[]
);
comment on type trading.holding_arrays is
  'The shares of the traders of a batch in its markets, as far as it can need them: the key of a '
  'market and a trader (trading.holding_key), ascending, and their row, of zeros where there is '
  'none yet.';

create type trading.matched_batch as (
  at timestamptz,
  markets trading.market_context[],
  requests trading.order_request[],
  makers trading.resting_order[],
  traders trading.trader_arrays,
  holdings trading.holding_arrays,
  shares trading.share_arrays,
  market_arrays trading.market_arrays,
  request_arrays trading.request_arrays,
  maker_arrays trading.maker_arrays,
  result trading.match_result
);
comment on type trading.matched_batch is
  'A batch that was matched and waits to be written: all that was read for it, and its result.';

create type trading.placed_order as (
  market int,
  market_id bigint,
  market_public_id uuid,
  user_id bigint,
  user_public_id uuid,
  side trading.side,
  order_type trading.order_type,
  price int,
  book_side trading.side,
  book_price int,
  budget_cents int,
  time_in_force trading.time_in_force,
  post_only boolean,
  expires_at timestamptz,
  idempotency_key uuid,
  problem text,
  was_scheduled boolean,
  release_at timestamptz,
  id bigint,
  public_id uuid,
  code text,
  replay_of int,
  replayed_order_id bigint,
  status trading.order_status,
  quantity int,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  fee_cents bigint,
  balance_cents bigint,
  end_status trading.order_status,
  end_left_quantity int,
  end_cancel_reason trading.cancel_reason,
  request_fingerprint uuid,
  cancels_own boolean
);
comment on type trading.placed_order is
  'A request of a batch with its result. id and public_id are those of its order, null unless it '
  'was accepted; status to balance_cents as it stood right after its own matching, end_* at the '
  'end of the batch. release_at is of an order that a live market took.';

create type trading.accounted_batch as (
  trades trading.trades[],
  balances_cents bigint[],
  account_versions bigint[],
  holdings trading.holdings[],
  escrows_cents bigint[],
  escrow_versions bigint[],
  revenues_cents bigint[],
  revenue_versions bigint[],
  last_trade_prices int[],
  yes_volumes_cents bigint[],
  no_volumes_cents bigint[],
  trade_counts int[],
  new_traders int[]
);
comment on type trading.accounted_batch is
  'The accounting of the fills of a batch: a trade for each, with its cash; what traders and '
  'markets have after all of them, at their places in the batch, with what is to be added to a '
  'market''s figures; the holdings that changed.';

create type trading.cancelled_order as (
  request int,
  public_id uuid,
  market_id bigint,
  user_id bigint,
  side trading.side,
  order_type trading.order_type,
  price int,
  quantity int,
  left_quantity int,
  reason trading.cancel_reason,
  expires_at timestamptz,
  created_at timestamptz
);
comment on type trading.cancelled_order is
  'A resting order that a request of a batch met and that had to be cancelled.';

create type trading.written_batch as (
  orders trading.placed_order[],
  trades trading.trades[],
  maker_public_ids uuid[],
  cancelled_orders trading.cancelled_order[]
);
comment on type trading.written_batch is
  'What a batch wrote: its requests with their results, the trades of its fills with the public '
  'ids of the makers'' orders, and the orders of its cancelled makers, each in their order.';
