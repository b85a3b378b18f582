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
  request_arrays trading.request_arrays,
  maker_arrays trading.maker_arrays,
  result trading.match_result
);
comment on type trading.matched_batch is
  'A batch that was matched and waits to be written: all that was read for it, and its result.';

create type trading.accounted_batch as (
  trades trading.trades[],
  balances_cents bigint[],
  account_versions bigint[],
  holdings trading.holdings[],
  escrows_cents bigint[],
  escrow_versions bigint[],
  revenues_cents bigint[],
  revenue_versions bigint[],
  new_traders int[]
);
comment on type trading.accounted_batch is
  'What the fills of a batch come to: a trade for each, with its cash; what traders and markets '
  'have after all of them, at their places in the batch; the holdings that changed.';

create type trading.written_batch as (
  order_ids bigint[],
  order_public_ids uuid[],
  trades trading.trades[],
  cancelled_orders trading.orders[]
);
comment on type trading.written_batch is
  'What a batch wrote: the ids of its orders, one place for each request, null unless it was '
  'accepted; the trades of its fills and the orders of its cancelled makers, in their order.';
