-- What the stages of a batch hand to each other. A batch is the array of requests, for any markets,
-- that are carried out in one transaction; see docs/engine.md. A place is an index into one of the
-- arrays of the batch: markets, requests, makers, traders or holdings.

create type trading.market_context as (
  market_id bigint,
  public_id uuid,
  title text,
  category_id bigint,
  at timestamptz,
  site_paused boolean,
  is_open boolean,
  live_delay_ms int,
  taker_rate_bps int,
  fee_schedule_id bigint,
  escrow_cents bigint,
  escrow_version bigint,
  revenue_cents bigint,
  revenue_version bigint,
  best_yes_price int,
  first_yes_position bigint,
  best_no_price int,
  first_no_position bigint
);
comment on type trading.market_context is
  'What a batch must know of a market and the site, read under the market''s lock. live_delay_ms '
  'is how long a new order has to wait for its release, null where it is matched at once. Requests '
  'for markets that do not exist have one, too, the last, with the site''s figures alone.';

create type trading.order_request as (
  market int,
  market_id bigint,
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
  problem text,
  is_market boolean,
  relieved_cents bigint,
  order_id bigint,
  order_public_id uuid,
  created_at timestamptz,
  request_fingerprint uuid,
  cancels_own boolean
);
comment on type trading.order_request is
  'One request of a batch, made ready: price and time in force as they take effect (99 or 1 for a '
  'market order, ioc for an order that cannot rest), the side and price it would be stored with. '
  'market is its place among the batch''s markets. market_id and user_id are null when there is no '
  'such market or user, quantity is null with a budget. problem says what is malformed; is_market, '
  'that it came without a price. relieved_cents is by how much it lowers the cost of its user''s '
  'open orders: that of the replaced order, or of the scheduled order itself. order_id to '
  'created_at are of the scheduled order that a request releases. request_fingerprint: another '
  'request with the idempotency key is rejected; null: it is a replay. cancels_own: own resting '
  'orders that it meets are cancelled; otherwise it is rejected.';

create type trading.resting_order as (
  order_id bigint,
  order_public_id uuid,
  market int,
  user_id bigint,
  order_type trading.order_type,
  book_side trading.side,
  book_price int,
  queue_position bigint,
  left_quantity int,
  has_expired boolean
);
comment on type trading.resting_order is
  'An order on the book that a batch might meet, as it was before the batch. market is a place.';

create type trading.book_slice as (
  makers trading.resting_order[],
  yes_floors int[],
  no_floors int[]
);
comment on type trading.book_slice is
  'The tops of the books of a batch''s markets as deep as it can reach, each side in price-time '
  'order. A floor, for each market, is the last price read of a side with more orders at it or '
  'below; 0 when all that the batch can reach was read.';

create type trading.trader_arrays as (
  user_ids bigint[],
  public_ids uuid[],
  balances_cents bigint[],
  account_versions bigint[],
  blocked_by text[],
  excluded boolean[],
  limited boolean[],
  stopped_order_ids bigint[],
  missed_switch boolean[]
);
comment on type trading.trader_arrays is
  'The traders a batch might touch, in ascending user id, one place for each in every array. '
  'blocked_by is why one may not trade (risk.blocked_by); of makers only excluded counts. '
  'limited are those with a loss limit, now or soon. stopped_order_ids: the open orders up to this '
  'one are stopped by the dead man''s switch (trading.last_stopped_order). missed_switch: the '
  'switch expired between the time of the batch and the moment at which it had the trader''s lock. '
  'Both are null when no switch has expired.';

create type trading.limit_arrays as (
  limits risk.loss_limits[],
  untraded risk.loss_limits[],
  open_cost_cents bigint[]
);
comment on type trading.limit_arrays is
  'The loss limits of the same traders, null for those without. untraded is the balance a trader '
  'would have without the trading of the day, week and month, so that untraded less balance is '
  'what that window has cost; open_cost_cents is what the open orders could still cost.';

create type trading.market_arrays as (
  ids bigint[],
  public_ids uuid[],
  live_delays_ms int[],
  taker_rates_bps int[],
  fee_schedule_ids bigint[]
);
comment on type trading.market_arrays is
  'The markets of a batch as its stages read them, a place for each in every array.';

create type trading.reading_plan as (
  market_arrays trading.market_arrays,
  user_ids bigint[],
  quantities int[],
  has_keys boolean,
  may_sell boolean,
  is_large boolean,
  meets_makers boolean,
  is_single boolean
);
comment on type trading.reading_plan is
  'What a batch has to read before it can be matched. user_ids are its takers; the rest says '
  'whether some request has an idempotency key, sells, is large (trading.is_large), and reaches '
  'the other side of its book; is_single: there is one request and one market.';

create type trading.match_request as (
  trader int,
  holding int,
  shares int,
  is_buy boolean,
  is_ioc boolean,
  is_post_only boolean,
  price int,
  quantity int,
  wanted int,
  budget_cents int,
  book int,
  opposite int,
  book_price int,
  worst_price int,
  floor_price int,
  cents int,
  gain int,
  taker_rate_bps int,
  scheduled_cost_cents bigint,
  least_cents int,
  relieved_cents bigint,
  is_malformed boolean,
  code text,
  is_fok boolean,
  cancels_own boolean
);
comment on type trading.match_request is
  'A request of a batch as the matching loop reads it: trading.order_request with places and with '
  'all that no earlier request can change. trader and holding are places; shares is the place of '
  'what it buys or sells, where each holding has two: YES at 2 x its place - 1, NO at 2 x. book is '
  'the side of a book that it would rest on and opposite the one that it meets, where each market '
  'has two in the same way; worst_price is the lowest price there that it meets, floor_price the '
  'floor of the slice there (trading.book_slice). cents and gain are what each share would bring '
  'it as a maker (trading.maker_arrays). wanted is its quantity; with a budget, the most shares '
  'that an order can have. scheduled_cost_cents, of a live market alone, is what it could cost, '
  'and least_cents the cash that must be there for that. code is a rejection that no book is '
  'needed for.';

create type trading.request_arrays as (
  requests trading.match_request[],
  markets int[],
  traders int[],
  shares int[],
  is_buy boolean[],
  book_is_yes boolean[],
  book_prices int[],
  twins int[]
);
comment on type trading.request_arrays is
  'The requests of a batch as matching and accounting read them, a place for each in every array: '
  'whole, one after the other, and what is asked for of a request at any place. twins is the '
  'first request with the same idempotency key of the same user.';

create type trading.maker_arrays as (
  order_ids bigint[],
  books int[],
  traders int[],
  shares int[],
  is_buy boolean[],
  prices int[],
  cents int[],
  gains int[],
  left_quantities int[],
  end_reasons trading.cancel_reason[]
);
comment on type trading.maker_arrays is
  'The resting orders that a batch might meet, as matching reads them. books and shares are places '
  'as in trading.match_request. cents is what a match brings the maker for each share, below 0 for '
  'a buy; gains is how its shares change by it, 1 for a buy and -1 for a sell. end_reasons: why an '
  'order that has expired, or is stopped by the dead man''s switch, is cancelled when it is met.';

create type trading.share_arrays as (
  quantities bigint[],
  costs_cents bigint[],
  fees_cents bigint[],
  realised_cents bigint[]
);
comment on type trading.share_arrays is
  'The holdings of a batch as matching and accounting read them, two places each: YES at 2 x the '
  'place of the holding - 1, NO at 2 x.';

create type trading.fill as (
  request int,
  maker int,
  quantity int,
  fee_cents bigint
);
comment on type trading.fill is
  'One match: the places of its request and of the maker, the shares, and what this match added '
  'to the taker''s fee.';

create type trading.cancelled_maker as (
  request int,
  maker int,
  reason trading.cancel_reason,
  left_quantity int,
  traded_with int
);
comment on type trading.cancelled_maker is
  'A resting order that a request met and that could not go through with the match. traded_with '
  'is the request itself if its fills starved it of cash or shares, or if it is an own order; 0 if '
  'it could not have gone through with the match before the call either; else -1.';

create type trading.order_result as (
  code text,
  replay_of int,
  replayed_order_id bigint,
  status trading.order_status,
  quantity int,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  fee_cents bigint,
  balance_cents bigint,
  maker int
);
comment on type trading.order_result is
  'The result of one request: a rejection (code), a replay of another request of the batch '
  '(replay_of, a place) or of an order from before (replayed_order_id), or an order as it stood '
  'right after its own matching. maker is its place among the makers if it came to rest. A replay '
  'of an order from before has a left_quantity, or a cancel_reason, only if it is a maker of the '
  'batch: otherwise its row has them.';

create type trading.match_result as (
  reached_floor boolean,
  results trading.order_result[],
  fills trading.fill[],
  cancelled_makers trading.cancelled_maker[],
  rested int[],
  left_quantities int[]
);
comment on type trading.match_result is
  'The result of matching a batch. reached_floor: it came to the end of a book slice and must be '
  'done again with a deeper one. rested are the requests that came to rest: they are makers, too, '
  'behind those of the slice. left_quantities is what is left of each maker, below 0 once '
  'cancelled.';

create type trading.market_change as (
  market int,
  places int[],
  depth_changes bigint[],
  first_left bigint[],
  last_gone bigint[],
  highest_yes int,
  highest_no int,
  changes int,
  placed int,
  id_sum bigint
);
comment on type trading.market_change is
  'What a batch changes of a market. Of each level of its book (trading.depth_place) that it '
  'touches: the shares it adds, the queue position of the first order that it leaves there of '
  'those it had read, and of the last one it takes away. highest_*: the highest price that it adds '
  'shares at. changes raise the version; placed are the new orders, and id_sum the sum of their '
  'ids.';

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
