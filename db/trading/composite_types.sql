-- What the stages of a call hand to each other; see docs/engine.md. A call places a batch: orders
-- of any markets, in one transaction. The columns of most types below are arrays. The elements at
-- one place of all columns are about the same request, market, maker, trader, holding or fill. A
-- column that ends in _place has places in another type; so do twin, old_keys, replay_of and
-- starved_by.

create type trading.traders_read as (
  user_ids bigint[],
  public_ids uuid[],
  balances_cents bigint[],
  account_versions bigint[],
  blocked_by text[],
  limited boolean[],
  last_stopped_orders bigint[],
  missed_switch boolean[]
);
comment on type trading.traders_read is
  'The traders a batch might touch, in ascending user id, one place for each in every array. '
  'blocked_by is why one may not trade (risk.blocked_by); of makers only SELF_EXCLUDED counts. '
  'limited are those with a loss limit, now or soon. last_stopped_orders: the open orders up to '
  'this one are stopped (trading.stop_of). missed_switch: the dead man''s switch expired '
  'between the time of the batch and the moment at which it had the trader''s lock. Both are null '
  'when no switch has expired and none of the traders has stopped orders.';

create type trading.limits_read as (
  limits risk.loss_limits[],
  untraded risk.loss_limits[],
  open_cost_cents bigint[]
);
comment on type trading.limits_read is
  'The loss limits of the same traders, null for those without. untraded is the balance a trader '
  'would have without the trading of the day, week and month, so that untraded less balance is '
  'what that window has cost; open_cost_cents is what the open orders could still cost.';

create type trading.order_request as (
  "marketId" uuid,
  "userId" uuid,
  side trading.side,
  price int,
  quantity int,
  "budgetCents" int,
  "orderType" trading.order_type,
  "timeInForce" trading.time_in_force,
  "idempotencyKey" uuid,
  "expiresAt" timestamptz,
  "postOnly" boolean,
  "requestFingerprint" uuid,
  "selfTrade" text
);
comment on type trading.order_request is
  'An element of the orders of api.place_orders, with the names of its members.';

create type trading.order_answer as (
  code text,
  message text,
  replayed boolean,
  body text,
  market_version bigint
);
comment on type trading.order_answer is
  'The answer to an order, as core.result has it. market_version: the version of its market '
  'after the call, which is the first one that shows the order; of a replay that of the order''s '
  'market. Null if there is no such market, and where nothing was looked at: all are AGAIN, or '
  'an atomic call was rejected.';

create type trading.requests as (
  market_ids bigint[],
  market_place int[],
  user_id bigint[],
  side trading.side[],
  order_type trading.order_type[],
  price int[],
  quantity int[],
  budget_cents int[],
  time_in_force trading.time_in_force[],
  post_only boolean[],
  expires_at timestamptz[],
  idempotency_key uuid[],
  request_fingerprint uuid[],
  cancels_own boolean[],
  is_market boolean[],
  is_yes boolean[],
  book_price int[],
  problem text[],
  code text[],
  order_id bigint[],
  public_id uuid[],
  created_at timestamptz[],
  release_at timestamptz[],
  relieved_cents bigint[]
);
comment on type trading.requests is
  'The orders of a call. market_ids: their markets, each once, ascending; a null, for markets '
  'that do not exist, is the last. market_place: of each request, its market there. price and '
  'time_in_force are as they take effect: 99 or 1 for a market order, ioc for one that cannot '
  'rest. is_yes and book_price: how the book stores it. user_id is null when there is none, '
  'quantity is null with a budget. problem: what is malformed. code: set before '
  'matching, for example to AGAIN. order_id to release_at: of the scheduled order that it '
  'releases. relieved_cents: by how much it lowers the cost of its user''s open orders, being '
  'the release or the replacement of one. request_fingerprint: with another one the key is '
  'rejected; null: any request with the key is a replay.';

create type trading.markets_read as (
  id bigint[],
  public_id uuid[],
  site_paused boolean,
  is_open boolean[],
  live_delay_ms int[],
  taker_rate_bps int[],
  fee_schedule_id bigint[],
  escrow_cents bigint[],
  escrow_version bigint[],
  revenue_cents bigint[],
  revenue_version bigint[],
  version bigint[],
  best_yes_price int[],
  best_no_price int[],
  first_yes_position bigint[],
  first_no_position bigint[]
);
comment on type trading.markets_read is
  'The markets of a call, read under their locks, ascending by id; the last may be null, for '
  'requests whose market does not exist. live_delay_ms: how long a new order waits for its '
  'release, null where it is matched at once. Accounts and version are those before the call.';

create type trading.makers as (
  order_id bigint[],
  public_id uuid[],
  user_id bigint[],
  book_place int[],
  book_price int[],
  queue_position bigint[],
  is_buy boolean[],
  left_quantity int[],
  end_reason trading.cancel_reason[],
  goes_on boolean[],
  trader_place int[],
  share_place int[]
);
comment on type trading.makers is
  'The resting orders that a call can meet, each side of a book in price-time order; once it is '
  'matched, behind them its own that came to rest (trading.results.maker_place), with the '
  'columns that the stages after matching need of them: order_id, public_id, book_price, is_buy, '
  'trader_place and share_place. book_place: a market has its YES side at 2 x its place - '
  '1, its NO side at 2 x its place. end_reason: why one is cancelled when it is met, because it '
  'has expired or is stopped (trading.stop_of); once matched, also why others were cancelled. '
  'goes_on: whether its side may have more orders than were read, behind the last one of them, '
  'that the call can reach.';

create type trading.holdings_read as (
  key bigint[],
  market_place int[],
  user_id bigint[],
  has_traded boolean[],
  public_id uuid[],
  quantity bigint[],
  cost_cents bigint[],
  fee_cents bigint[],
  realised_cents bigint[],
  is_touched boolean[]
);
comment on type trading.holdings_read is
  'The holdings of the traders of a call in its markets, ascending by key (trading.holding_key). '
  'public_id to realised_cents have a place for the YES shares of each holding, and behind all of '
  'these one for its NO shares. public_id: null while there is none. quantity to realised_cents: '
  'once matched, as they are after the call. has_traded: before the call. is_touched: by a match '
  'of the call.';

create type trading.results as (
  code text[],
  replay_of int[],
  status trading.order_status[],
  quantity int[],
  left_quantity int[],
  cancel_reason trading.cancel_reason[],
  fee_cents bigint[],
  balance_cents bigint[],
  maker_place int[],
  release_at timestamptz[],
  order_id bigint[],
  public_id uuid[]
);
comment on type trading.results is
  'What became of each request: a rejection (code), an order as it stood right after its own '
  'matching (status), or else a replay of an earlier request of the call (replay_of) or of an '
  'order from before (replay of trading.batch). left_quantity and cancel_reason of a replay are '
  'null if the call has neither read the order from a book nor placed it there. '
  'maker_place: where it rests among the makers. release_at: of an order that is scheduled. '
  'order_id and public_id: of the new order.';

create type trading.fills as (
  request_place int[],
  maker_place int[],
  quantity int[],
  fee_cents bigint[],
  moved_cents bigint[],
  balance_cents bigint[],
  account_version bigint[],
  realised_cents bigint[],
  trade_id bigint[],
  public_id uuid[]
);
comment on type trading.fills is
  'The matches of a call, in their order. moved_cents to realised_cents, of the two users: at 2 x '
  'its place - 1 those of the taker, at 2 x its place those of the maker.';

create type trading.cancelled_makers as (
  request_place int[],
  maker_place int[],
  starved_by int[]
);
comment on type trading.cancelled_makers is
  'The resting orders that requests met and that could not go through with the match. '
  'starved_by: the request itself if its fills took the cash or the shares, or if it is an own '
  'order; -1 if those of earlier requests did; 0 if the call did not, since it could not have gone '
  'through with the match before either.';

create type trading.batch as (
  at timestamptz,
  requests trading.requests,
  markets trading.markets_read,
  makers trading.makers,
  traders trading.traders_read,
  holdings trading.holdings_read,
  limits trading.limits_read,
  trader_place int[],
  share_place int[],
  replay bigint[],
  twin int[],
  old_keys int[],
  demand int[],
  shares_before_own bigint[],
  fok_shares bigint[],
  own_orders int[],
  is_too_deep boolean,
  locked_user_ids bigint[],
  -- after matching
  is_unfinished boolean,
  results trading.results,
  fills trading.fills,
  cancelled trading.cancelled_makers,
  makers_left int[],
  changes int[],
  versions_after bigint[]
);
comment on type trading.batch is
  'A call with all that was read for it and, once it is matched, its results. trader_place and '
  'share_place: of each request''s user, and of what it buys or sells. replay: the order from '
  'before that its idempotency key stands for, -1 if the key is of another request; twin: the '
  'first request of the call with the same key; old_keys: the requests whose key stands for '
  'something from before, but does not count any more. demand to own_orders: see '
  'trading.read_reach. is_too_deep and locked_user_ids: why it was not matched '
  '(trading.match_batch). is_unfinished: a request is to be placed again. makers_left: what is '
  'left of each maker; of a cancelled one what was left, below 0. changes: of each market, which '
  'raise its version. With fills, traders and holdings have the cash and the shares after it, and '
  'versions_after the versions of the traders'' accounts.';
