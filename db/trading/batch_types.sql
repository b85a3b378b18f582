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
  result trading.match_result
);
comment on type trading.matched_batch is
  'A batch that was matched and waits to be written: all that was read for it, and its result.';
