--! Previous: -
--! Hash: sha1:e615eac2af0069c5f3421f4d7d086426679f618c

--! Included all.sql
-- The map of the database: every file of it, in the order they build on each other.
-- Migrations include this file, or the files that changed.

--! Included roles.sql
-- The roles of the exchange belong to the whole cluster, so they are made only where missing.
-- None of them can log in: a DBA grants them to the logins of people and processes.
do $$
declare
  c_roles constant text[] := array[
    'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator', 'exchange_analyst'
  ];
  v_role text;
  v_too_strong text;
begin
  foreach v_role in array c_roles loop
    if not exists (select from pg_catalog.pg_roles where rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null; -- another database of this cluster was being built at the same moment
      end;
    end if;
  end loop;

  -- A role that somebody made for another purpose may be more than ours.
  select string_agg(s.name || ' ' || s.what, '; ' order by s.name, s.what) into v_too_strong
  from (
    select r.rolname::text as name, 'has ' || a.attribute as what
    from pg_catalog.pg_roles as r
    cross join lateral (
      values
        ('LOGIN', r.rolcanlogin), ('SUPERUSER', r.rolsuper), ('CREATEROLE', r.rolcreaterole),
        ('CREATEDB', r.rolcreatedb), ('BYPASSRLS', r.rolbypassrls),
        ('REPLICATION', r.rolreplication)
    ) as a (attribute, is_set)
    where r.rolname = any (c_roles) and a.is_set
    union all
    select m.member::regrole::text, 'is a member of ' || m.roleid::regrole::text
    from pg_catalog.pg_auth_members as m
    where m.member in (select r.oid from pg_catalog.pg_roles as r where r.rolname = any (c_roles))
  ) as s;
  if v_too_strong is not null then
    raise exception 'A role of the exchange has rights that it must not have: %', v_too_strong
      using
        errcode = 'invalid_grant_operation',
        hint = 'If the role is the exchange''s, take these rights from it (alter role, revoke). '
          'If it belongs to something else, install the exchange in a cluster of its own.';
  end if;

  if not pg_catalog.pg_has_role(
    current_user,
    'exchange_owner',
    -- Who creates a role is a member of it from 16 on, but may not become it.
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
  ) then
    execute format('grant exchange_owner to %I', current_user);
  end if;

  -- Everybody in the cluster may connect to a new database and make temporary objects in it. Where
  -- the login may not change that, servers and workers say so when they start.
  if pg_catalog.pg_has_role(
    current_user,
    (select d.datdba from pg_catalog.pg_database as d where d.datname = current_database()),
    'usage'
  ) then
    execute format('revoke connect, temporary on database %I from public', current_database());
    execute format(
      'grant connect on database %I to %s', current_database(), array_to_string(c_roles, ', ')
    );
  end if;
end
$$;
--! EndIncluded roles.sql
set local role exchange_owner;
alter default privileges revoke execute on functions from public;
reset role;


-- Schemas
--! Included core/schema.sql
create schema core authorization exchange_owner;
comment on schema core is
  'What every other schema leans on: the clock, identifiers, settings, error codes. Private.';
--! EndIncluded core/schema.sql
--! Included identity/schema.sql
create schema identity authorization exchange_owner;
comment on schema identity is 'Who trades: users, their API keys and sessions. Private.';
--! EndIncluded identity/schema.sql
--! Included catalog/schema.sql
create schema catalog authorization exchange_owner;
comment on schema catalog is 'What can be traded: categories, events, markets. Private.';
--! EndIncluded catalog/schema.sql
--! Included ledger/schema.sql
create schema ledger authorization exchange_owner;
comment on schema ledger is
  'Every cent, by double entry: accounts, journals, entries. Append-only, provable. Private.';
--! EndIncluded ledger/schema.sql
--! Included trading/schema.sql
create schema trading authorization exchange_owner;
comment on schema trading is
  'The engine: orders, the book, trades, positions, fee schedules and what moves them. Private.';
--! EndIncluded trading/schema.sql
--! Included risk/schema.sql
create schema risk authorization exchange_owner;
comment on schema risk is
  'Responsible gaming: loss limits and self-exclusion of each trader. Private.';
--! EndIncluded risk/schema.sql
--! Included rate_limits/schema.sql
create schema rate_limits authorization exchange_owner;
comment on schema rate_limits is 'How many requests who may make, and how many they made. Private.';
--! EndIncluded rate_limits/schema.sql
--! Included leaderboard/schema.sql
create schema leaderboard authorization exchange_owner;
comment on schema leaderboard is
  'What traders realised, by day and by window, ranked. Derived from trading as of the last '
  'refresh, and provable from it by leaderboard.verify(). Private.';
--! EndIncluded leaderboard/schema.sql
--! Included admin/schema.sql
create schema admin authorization exchange_owner;
comment on schema admin is
  'The operator''s functions, each audited. For role exchange_operator.';
--! EndIncluded admin/schema.sql
--! Included api/schema.sql
create schema api authorization exchange_owner;
comment on schema api is
  'The functions behind the HTTP interface, and nothing else. For role exchange_api.';
--! EndIncluded api/schema.sql
--! Included jobs/schema.sql
create schema jobs authorization exchange_owner;
comment on schema jobs is
  'What time brings about, in pieces that are each one short transaction: a function does one '
  'piece and returns how much that was, 0 when nothing is left. For role exchange_worker.';
--! EndIncluded jobs/schema.sql
--! Included analytics/schema.sql
create schema analytics authorization exchange_owner;
comment on schema analytics is
  'Stable views and functions for analysts: reading only, with every column described. For role '
  'exchange_analyst.';
--! EndIncluded analytics/schema.sql

set local role exchange_owner;

-- Types
--! Included core/types.sql
create domain core.amount as bigint constraint amount_is_not_negative check (value >= 0);
comment on domain core.amount is 'Cents, shares or a count that cannot be below zero.';
--! EndIncluded core/types.sql
--! Included catalog/types.sql
create type catalog.market_status as enum ('open', 'paused', 'closed', 'resolved');
comment on type catalog.market_status is
  'open <-> paused; either -> closed; closed -> open (reopened) or resolved.';

create type catalog.outcome as enum ('yes', 'no', 'custom');
comment on type catalog.outcome is 'How a market was resolved; custom pays both sides a part.';
--! EndIncluded catalog/types.sql
--! Included ledger/types.sql
create type ledger.account_kind as enum (
  'outside_world', 'user_cash', 'market_escrow', 'fee_revenue'
);
comment on type ledger.account_kind is
  'outside_world mirrors all deposits and withdrawals; user_cash is one per user; market_escrow '
  'and fee_revenue are one each per market.';

create type ledger.journal_kind as enum (
  'deposit', 'withdrawal', 'trade', 'split', 'merge', 'settlement', 'correction'
);
comment on type ledger.journal_kind is 'Why cash moved.';
--! EndIncluded ledger/types.sql
--! Included risk/types.sql
create type risk.loss_limits as (
  day_cents bigint,
  week_cents bigint,
  month_cents bigint
);
comment on type risk.loss_limits is 'The limits in force; null is no limit.';

create type risk.limit_change as (
  limit_cents bigint,
  next_limit_cents bigint,
  changes_at timestamptz
);
comment on type risk.limit_change is
  'One loss limit: what holds, and what holds from changes_at on, if it is to change.';
--! EndIncluded risk/types.sql
--! Included rate_limits/types.sql
create domain rate_limits.rate as int
  constraint rate_is_from_1_to_1000000 check (value between 1 and 1000000);
comment on domain rate_limits.rate is 'Requests a minute or back to back that a policy grants.';

create domain rate_limits.request_count as int
  constraint max_requests_is_from_1_to_1000000000 check (value between 1 and 1000000000);
comment on domain rate_limits.request_count is 'Requests that a window has room for.';

create domain rate_limits.window_seconds as int
  constraint window_seconds_is_from_1_to_86400 check (value between 1 and 86400);
comment on domain rate_limits.window_seconds is 'Length of a rolling window.';

create type rate_limits.tier as enum ('standard', 'elevated', 'custom');
comment on type rate_limits.tier is 'Kinds of policies for trading requests.';

create type rate_limits.policy as (
  tier rate_limits.tier,
  requests_per_minute int,
  burst_capacity int,
  expires_at timestamptz
);
comment on type rate_limits.policy is
  'What a user may ask of trading: the sustained rate, and how many requests back to back.';

-- What the stages of api.take_requests hand to each other.

create type rate_limits.checks as (
  buckets text[],
  subjects text[],
  ends int[],
  checked int[],
  counts int[]
);
comment on type rate_limits.checks is
  'Requests to be counted. buckets and subjects name each counter once, in the order in which they '
  'are locked; checked holds the places of the counters that each request asks, one request after '
  'another, counts how many times, and ends where each request''s part of it ends.';

create type rate_limits.counter as (
  bucket text,
  subject text,
  free bigint,
  taken bigint,
  width interval,
  is_due boolean,
  spent bigint,
  policy rate_limits.policy
);
comment on type rate_limits.counter is
  'Where one counter stands: requests that it has room for now. For a rolling window: its length, '
  'the number of the last request let through, and whether it is time to clean up behind it. For '
  'v1-trading: what is spent, and the policy.';
--! EndIncluded rate_limits/types.sql
--! Included trading/types.sql
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
  created_at timestamptz
);
comment on type trading.order_request is
  'One request of a batch, made ready: price and time in force as they take effect (99 or 1 for a '
  'market order, ioc for an order that cannot rest), the side and price it would be stored with. '
  'market is its place among the batch''s markets. market_id and user_id are null when there is no '
  'such market or user, quantity is null with a budget. problem says what is malformed; '
  'is_market, that it came without a price. '
  'relieved_cents is what its user''s open orders cost less by it: the replaced order, or its own '
  'scheduled self. The last three are of the scheduled order that a request releases.';

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
  'order. A floor, for each market, is the last price read of a side that goes on below or at it; '
  '0 when all that the batch can reach was read.';

create type trading.trader_arrays as (
  user_ids bigint[],
  public_ids uuid[],
  balances_cents bigint[],
  account_versions bigint[],
  blocked_by text[],
  excluded boolean[],
  limited boolean[]
);
comment on type trading.trader_arrays is
  'The traders a batch might touch, in ascending user id, one place for each in every array. '
  'blocked_by is why one may not trade (risk.blocked_by); of makers only excluded counts. '
  'limited are those with a loss limit, now or soon.';

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
  code text
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
  has_expired boolean[]
);
comment on type trading.maker_arrays is
  'The resting orders that a batch might meet, as matching reads them. books and shares are places '
  'as in trading.match_request. cents is what a match brings the maker for each share, below 0 for '
  'a buy; gains is how its shares change by it, 1 for a buy and -1 for a sell.';

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
  left_quantity int
);
comment on type trading.cancelled_maker is
  'A resting order that a request met and that could not go through with the match.';

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
  'What became of one request: a rejection (code), a replay of another request of the batch '
  '(replay_of, a place) or of an order from before (replayed_order_id), or an order as it stood '
  'right after its own matching. maker is its place among the makers if it came to rest. A replay '
  'of an order from before has a left_quantity, or a cancel_reason, only if it is a maker of the '
  'batch: else it is as its row says.';

create type trading.match_result as (
  reached_floor boolean,
  results trading.order_result[],
  fills trading.fill[],
  cancelled_makers trading.cancelled_maker[],
  rested int[],
  left_quantities int[]
);
comment on type trading.match_result is
  'What matching a batch comes to. reached_floor: it came to the end of a book slice and must be '
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
--! EndIncluded trading/types.sql
--! Included leaderboard/types.sql
create type leaderboard.window_kind as enum ('day', 'week', 'month', 'ytd', 'all');
comment on type leaderboard.window_kind is
  'UTC days that count: today, the last 7, the last 30, the year to date, all.';

create type leaderboard.change as (
  day date,
  category_id bigint,
  user_id bigint,
  pl_cents bigint,
  vol_cents bigint,
  win_count bigint,
  settled_count bigint,
  realised_count bigint
);
comment on type leaderboard.change is
  'What a day of leaderboard.days has to be changed by; below zero where a resolution was '
  'corrected. category_id 0 is all categories together.';

create type leaderboard.taken_facts as (
  changes leaderboard.change[],
  resolution_ids bigint[],
  through_trade_id bigint,
  through_conversion_id bigint,
  through_resolution_id bigint,
  is_current boolean
);
comment on type leaderboard.taken_facts is
  'What one refresh took from trading. A through_ id is the last one of a kind that was cut off '
  'at the size of a piece, so that every visible one up to it was taken; null when none was left. '
  'is_current says that nothing was left of any kind.';
--! EndIncluded leaderboard/types.sql
--! Included api/types.sql
create type api.result as (
  code text,
  message text,
  replayed boolean,
  body text
);
comment on type api.result is
  'What a command came to: the code and message of a refusal, or the body of the answer as '
  'JSON text. replayed marks the answer to a request that was carried out before.';
--! EndIncluded api/types.sql

-- What the tables need: errors, the clock, identifiers
--! Included core/tables/error_codes.sql
create table core.error_codes (
  code text primary key,
  sqlstate text not null,
  http_status int not null,
  code_shown boolean not null,
  message text not null,
  constraint error_codes_sqlstate_is_unique unique (sqlstate),
  constraint error_codes_sqlstate_is_of_class_ex check (sqlstate ~ '^EX[0-9]{3}$'),
  constraint error_codes_http_status_is_an_error check (http_status between 400 and 599)
);

comment on table core.error_codes is
  'Every refusal of the exchange, listed once. The engine gives them as values; admin functions '
  'raise them by their SQLSTATE. src/errors.ts and docs/errors.md list the same ones.';
comment on column core.error_codes.code_shown is
  'Whether the HTTP body carries the code beside the message.';

insert into core.error_codes (sqlstate, code, http_status, code_shown, message) values
  ('EX001', 'INVALID_REQUEST', 400, true, 'Invalid request'),
  ('EX002', 'UNAUTHORIZED', 401, false, 'Unauthorized'),
  ('EX003', 'TRADING_PAUSED', 503, true, 'Trading is paused'),
  ('EX004', 'SELF_EXCLUDED', 403, true, 'Account is self-excluded from trading'),
  ('EX005', 'LIMITS_SETUP_REQUIRED', 428, true, 'Loss limits must be reviewed before trading'),
  ('EX006', 'MARKET_NOT_FOUND', 400, false, 'Market not found'),
  ('EX007', 'MARKET_NOT_OPEN', 400, false, 'Market is not open for trading'),
  ('EX008', 'SELF_TRADE_BLOCKED', 400, true, 'Order would match your own resting order'),
  ('EX009', 'POST_ONLY_WOULD_CROSS', 400, true, 'Post-only order would trade immediately'),
  ('EX010', 'INSUFFICIENT_LIQUIDITY', 400, true, 'No matching liquidity'),
  ('EX011', 'INSUFFICIENT_BALANCE', 400, true, 'Not enough balance or position'),
  ('EX012', 'LOSS_LIMIT', 422, true, 'Order would exceed the loss limit'),
  ('EX013', 'ORDER_NOT_FOUND', 404, false, 'Order not found'),
  ('EX014', 'ORDER_NOT_CANCELLABLE', 400, false, 'Cannot cancel order with status: <status>'),
  ('EX015', 'CONFLICT_RETRY', 503, true, 'Temporary conflict, safe to retry'),
  ('EX016', 'OUTCOME_UNKNOWN', 503, true,
    'The outcome is unknown; retry with the same idempotency key'),
  ('EX017', 'NOT_FOUND', 404, false, 'Not found'),
  ('EX018', 'ALREADY_EXISTS', 409, true, 'Already exists'),
  ('EX019', 'INVALID_STATE', 409, true, 'Not possible in the present state'),
  ('EX020', 'BELOW_FILLED', 400, true, 'New quantity must exceed the filled quantity'),
  ('EX021', 'ORDER_NOT_AMENDABLE', 400, false, 'Cannot amend order with status: <status>'),
  ('EX022', 'BUDGET_ORDER_NOT_AMENDABLE', 400, false,
    'Cannot amend a budget order; cancel it and place a new one'),
  ('EX023', 'TOO_MANY_REQUESTS', 429, false, 'Too many requests'),
  ('EX024', 'ACCOUNT_FROZEN', 403, true, 'Account is frozen'),
  ('EX025', 'UNFIT_SESSION', 503, false, 'A setting of the database session is not fit'),
  ('EX026', 'BATCH_REJECTED', 409, true,
    'An order of the batch was rejected, and none was placed');
--! EndIncluded core/tables/error_codes.sql
--! Included core/functions/raise_error.sql
create or replace function core.raise_error(code text, message text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error core.error_codes;
begin
  select * into strict v_error
  from core.error_codes as e
  where e.code = raise_error.code;

  raise exception using
    errcode = v_error.sqlstate,
    message = coalesce(raise_error.message, v_error.message),
    detail = v_error.code;
end
$$;

comment on function core.raise_error(text, text) is
  'Raises the error of that code: its SQLSTATE, the message given or its own, the code as detail.';
--! EndIncluded core/functions/raise_error.sql
--! Included core/functions/raise_violation.sql
create or replace function core.raise_violation(constraint_name text, column_name text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error('INVALID_REQUEST', case
    when constraint_name <> '' then 'it must hold that ' || replace(constraint_name, '_', ' ')
    else replace(column_name, '_', ' ') || ' is required'
  end);
end
$$;

comment on function core.raise_violation(text, text) is
  'Raises INVALID_REQUEST for a value that a constraint refused. Constraints are named so that '
  'they read as what must hold; a column that is null has no constraint name.';
--! EndIncluded core/functions/raise_violation.sql
--! Included core/functions/refuse_session.sql
create or replace function core.refuse_session()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform core.raise_error('UNFIT_SESSION', format(
      'the transaction isolation is %s: the exchange needs read committed',
      current_setting('transaction_isolation')
    ));
  end if;
  perform core.raise_error('UNFIT_SESSION', format(
    'session_replication_role is %s: the checks of the exchange need origin',
    current_setting('session_replication_role')
  ));
  return 0;
end
$$;

comment on function core.refuse_session() is
  'Raises UNFIT_SESSION and says which setting of the session is at fault.';
--! EndIncluded core/functions/refuse_session.sql
--! Included core/functions/check_session.sql
-- Under a higher isolation a command reads a snapshot that is older than the lock that it waited
-- for. Under another replication role no trigger and no foreign key is checked.
create or replace function core.check_session()
returns bigint
language sql stable
return case
  when current_setting('transaction_isolation') = 'read committed'
    and current_setting('session_replication_role') = 'origin' then 0
  else core.refuse_session()
end;

comment on function core.check_session() is
  'Refuses a session whose settings would let a command compute something wrong; otherwise 0. '
  'Asked by everything that takes a lock. Errors: UNFIT_SESSION.';
--! EndIncluded core/functions/check_session.sql
--! Included core/functions/now.sql
create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. Read once by each command, after it has the lock of its market, '
  'so that times never run against the order of its commits. Tests replace this function; nothing '
  'else can move it.';
--! EndIncluded core/functions/now.sql
--! Included core/functions/uuid_v7.sql
-- PostgreSQL 18 has the function built in; before that it is put together here.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    execute 'create or replace function core.uuid_v7() returns uuid '
      'language sql volatile parallel safe return pg_catalog.uuidv7()';
  else
    execute $function$
      create or replace function core.uuid_v7() returns uuid
      language sql volatile parallel safe
      return encode(
        set_bit(
          set_bit(
            overlay(
              uuid_send(gen_random_uuid())
              placing substring(
                int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3
              )
              from 1 for 6
            ),
            52, 1
          ),
          53, 1
        ),
        'hex'
      )::uuid
    $function$;
  end if;
end
$$;

comment on function core.uuid_v7() is
  'A new public identifier: UUID version 7, ordered by the millisecond it was made in.';
--! EndIncluded core/functions/uuid_v7.sql
--! Included core/functions/uuid_v7_at.sql
create or replace function core.uuid_v7_at(at timestamptz)
returns uuid
language sql immutable parallel safe
return (
  lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20)
)::uuid;

comment on function core.uuid_v7_at(timestamptz) is
  'The bound between the identifiers made before a time and those made from then on. It is lower '
  'than any that core.uuid_v7() makes in that millisecond.';
--! EndIncluded core/functions/uuid_v7_at.sql
--! Included core/functions/uuid_v7_time.sql
create or replace function core.uuid_v7_time(id uuid)
returns timestamptz
language sql immutable parallel safe
return to_timestamp(
  ('x' || lpad(substr(replace(id::text, '-', ''), 1, 12), 16, '0'))::bit(64)::bigint / 1000.0
);

comment on function core.uuid_v7_time(uuid) is 'When an identifier was made, to the millisecond.';
--! EndIncluded core/functions/uuid_v7_time.sql
--! Included core/functions/iso8601.sql
create or replace function core.iso8601(at timestamptz)
returns text
language sql stable parallel safe
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function core.iso8601(timestamptz) is
  'A time as the interface writes it: ISO 8601, UTC, milliseconds.';
--! EndIncluded core/functions/iso8601.sql
--! Included core/functions/half_up.sql
create or replace function core.half_up(numerator bigint, denominator bigint)
returns bigint
language sql immutable parallel safe
return (2 * numerator + denominator) / (2 * denominator);

comment on function core.half_up(bigint, bigint) is
  'numerator / denominator rounded half up, for numerator >= 0 and denominator > 0.';
--! EndIncluded core/functions/half_up.sql
--! Included core/functions/page_object.sql
create or replace function core.page_object(data json, total bigint, page int, page_size int)
returns json
language sql stable parallel safe
return json_build_object(
  'data', coalesce(data, '[]'),
  'meta', json_build_object(
    'total', total,
    'page', page,
    'limit', page_size,
    'hasMore', total > page::bigint * page_size
  )
);

comment on function core.page_object(json, bigint, int, int) is
  'One page of a list as the interface gives it. data is null on a page beyond the end; page '
  'counts from 1.';
--! EndIncluded core/functions/page_object.sql
--! Included core/functions/base62.sql
create or replace function core.base62(number numeric, width int)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_rest numeric := base62.number;
  v_text text := '';
begin
  while v_rest > 0 loop
    v_text := substr(c_digits, (v_rest % 62)::int + 1, 1) || v_text;
    v_rest := div(v_rest, 62);
  end loop;
  return lpad(v_text, greatest(base62.width, length(v_text)), '0');
end
$$;

comment on function core.base62(numeric, int) is
  'A whole number in base 62 (0-9A-Za-z), zero-padded to a width.';
--! EndIncluded core/functions/base62.sql
--! Included core/functions/crc32.sql
create or replace function core.crc32(bytes bytea)
returns bigint
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_crc bigint := 4294967295;
begin
  for i in 0 .. length(crc32.bytes) - 1 loop
    v_crc := v_crc # get_byte(crc32.bytes, i);
    for j in 1 .. 8 loop
      v_crc := (v_crc >> 1) # ((v_crc & 1) * 3988292384);
    end loop;
  end loop;
  return v_crc # 4294967295;
end
$$;

comment on function core.crc32(bytea) is 'CRC-32 (IEEE 802.3) of some bytes.';
--! EndIncluded core/functions/crc32.sql
--! Included core/functions/can_read.sql
create or replace function core.can_read(schema_name text, table_name text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = can_read.schema_name
      and c.relname = can_read.table_name
      and has_schema_privilege(n.oid, 'usage')
      and has_table_privilege(c.oid, 'select')
  )
$$;

comment on function core.can_read(text, text) is
  'Whether a table is there and whoever asks may read it: for tables of the tools beside the '
  'exchange, which an installation may lack.';
--! EndIncluded core/functions/can_read.sql
--! Included core/functions/all_ended_before.sql
create or replace function core.all_ended_before(xid xid8)
returns boolean
language sql stable parallel safe
return xid <= pg_snapshot_xmin(pg_current_snapshot())
  -- One from beyond the present belongs to the cluster that this database was restored from.
  or xid > pg_snapshot_xmax(pg_current_snapshot());

comment on function core.all_ended_before(xid8) is
  'Whether all transactions with lower numbers have ended, as the statement at hand sees it: what '
  'they wrote can be seen from then on. Null for none.';
--! EndIncluded core/functions/all_ended_before.sql
--! Included ledger/functions/refuse_change.sql
create or replace function ledger.refuse_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error(
    'INVALID_STATE',
    format('%I.%I is append-only: %s refused', tg_table_schema, tg_table_name, lower(tg_op))
  );
  return null;
end
$$;

comment on function ledger.refuse_change() is
  'Trigger of append-only tables: refuses every update, delete and truncate, whoever asks.';
--! EndIncluded ledger/functions/refuse_change.sql
--! Included ledger/functions/check_new_entries.sql
create or replace function ledger.check_new_entries()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_journal_id bigint;
begin
  select e.journal_id into v_journal_id
  from new_entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0
  limit 1;

  if v_journal_id is not null then
    perform core.raise_error(
      'INVALID_STATE',
      format('the entries of journal %s do not sum to zero', v_journal_id)
    );
  end if;
  return null;
end
$$;

comment on function ledger.check_new_entries() is
  'Trigger: the entries of each journal, inserted by one statement, sum to zero.';
--! EndIncluded ledger/functions/check_new_entries.sql
--! Included catalog/functions/count_event.sql
create or replace function catalog.count_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    update catalog.categories as c set event_count = c.event_count - 1
    where c.id = old.category_id;
  end if;
  if tg_op <> 'DELETE' then
    update catalog.categories as c set event_count = c.event_count + 1
    where c.id = new.category_id;
  end if;
  return null;
end
$$;

comment on function catalog.count_event() is
  'Trigger: keeps event_count of catalog.categories. Locks: the row of the category.';
--! EndIncluded catalog/functions/count_event.sql
--! Included catalog/functions/count_market.sql
create or replace function catalog.count_market()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' and old.status <> 'paused' then
    update catalog.categories as c set
      open_market_count = c.open_market_count - (old.status = 'open')::int,
      closed_market_count = c.closed_market_count - (old.status in ('closed', 'resolved'))::int
    where c.id = old.category_id;
  end if;
  if tg_op <> 'DELETE' and new.status <> 'paused' then
    update catalog.categories as c set
      open_market_count = c.open_market_count + (new.status = 'open')::int,
      closed_market_count = c.closed_market_count + (new.status in ('closed', 'resolved'))::int
    where c.id = new.category_id;
  end if;
  return null;
end
$$;

comment on function catalog.count_market() is
  'Trigger: keeps the counts of markets in catalog.categories. Locks: the row of the category.';
--! EndIncluded catalog/functions/count_market.sql
--! Included leaderboard/functions/band.sql
create or replace function leaderboard.band(pl_cents bigint)
returns int
language sql immutable parallel safe
return sign(pl_cents)::int
  * (('x' || encode(float8send(abs(pl_cents)), 'hex'))::bit(64)::bigint >> 48)::int;

comment on function leaderboard.band(bigint) is
  'The band that a profit falls into: the sign, the exponent and the first four binary digits of '
  'the amount, as a floating-point number has them, so that it rises with the profit. A band is '
  'at most a sixteenth wide.';
--! EndIncluded leaderboard/functions/band.sql

-- Tables
--! Included core/tables/settings.sql
create table core.settings (
  singleton boolean primary key default true,
  trading_paused boolean not null default false,
  trading_pause_reason text,
  trading_paused_at timestamptz,
  constraint settings_is_one_row check (singleton),
  constraint settings_say_since_when_trading_is_paused
    check (trading_paused = (trading_paused_at is not null))
);

comment on table core.settings is 'What holds for the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are refused, cancels work.';
comment on column core.settings.trading_pause_reason is
  'What the last call gave as its reason, be it to pause or to end the pause.';
comment on column core.settings.trading_paused_at is
  'Since when trading is paused; null: it is not paused.';

insert into core.settings default values;
--! EndIncluded core/tables/settings.sql
--! Included identity/tables/users.sql
create table identity.users (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  email text not null,
  display_name text not null,
  handle text not null,
  avatar_url text,
  private boolean not null default false,
  leaderboard_opt_out boolean not null default false,
  created_at timestamptz not null default core.now(),
  constraint users_public_id_is_unique unique (public_id),
  constraint users_email_looks_like_one
    check (email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 320),
  constraint users_display_name_is_not_blank
    check (display_name ~ '\S' and length(display_name) <= 100),
  constraint users_handle_is_a_word check (handle ~ '^[A-Za-z0-9_.-]{1,40}$')
);

create unique index users_email_is_unique on identity.users (lower(email collate "C"));
create unique index users_handle_is_unique on identity.users (lower(handle collate "C"));

comment on table identity.users is
  'Traders. Their cash, their checks and their limits are in trading.traders.';
comment on column identity.users.private is
  'A private profile: its name is withheld from the market stream and the leaderboard.';
--! EndIncluded identity/tables/users.sql
--! Included identity/tables/api_keys.sql
create table identity.api_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  name text not null,
  key_hash bytea not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  constraint api_keys_public_id_is_unique unique (public_id),
  constraint api_keys_hash_is_unique unique (key_hash),
  constraint api_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint api_keys_name_is_not_blank check (name ~ '\S' and length(name) <= 100)
);

create index api_keys_of_a_user on identity.api_keys (user_id, id);

comment on table identity.api_keys is
  'API keys of traders. The key itself is shown once, when it is made; only its SHA-256 is kept.';
comment on column identity.api_keys.last_used_at is
  'Kept to the minute: servers report a key''s use at most that often.';
--! EndIncluded identity/tables/api_keys.sql
--! Included identity/tables/staff_keys.sql
create table identity.staff_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  name text not null,
  role text not null,
  key_hash bytea not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  constraint staff_keys_public_id_is_unique unique (public_id),
  constraint staff_keys_hash_is_unique unique (key_hash),
  constraint staff_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint staff_keys_name_is_not_blank check (name ~ '\S' and length(name) <= 100),
  constraint staff_keys_role_is_analyst_or_operator check (role in ('analyst', 'operator'))
);

create unique index staff_keys_in_force_have_different_names on identity.staff_keys (name)
  where revoked_at is null;

comment on table identity.staff_keys is
  'Keys of those who work with the exchange by GraphQL, and who are no traders. The key itself is '
  'shown once, when it is made; only its SHA-256 is kept.';
comment on column identity.staff_keys.name is
  'Who or what has it; the audit log tells it. No two keys in force have the same.';
comment on column identity.staff_keys.role is
  'analyst: a key ja_..., which reads schema analytics; operator: jo_..., which operates.';
comment on column identity.staff_keys.last_used_at is 'Kept to the minute.';
--! EndIncluded identity/tables/staff_keys.sql
--! Included identity/tables/sessions.sql
create table identity.sessions (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  cookie_hash bytea not null,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  constraint sessions_public_id_is_unique unique (public_id),
  constraint sessions_cookie_hash_is_unique unique (cookie_hash),
  constraint sessions_cookie_hash_is_a_sha256 check (length(cookie_hash) = 32),
  constraint sessions_expire_after_they_are_made check (expires_at > created_at)
);

create index sessions_of_a_user on identity.sessions (user_id);
create index sessions_by_expiry on identity.sessions (expires_at);

comment on table identity.sessions is
  'Browsers that are logged in on the website. A session that was ended is gone. Of what the '
  'browser keeps in its cookie, only the SHA-256 is here.';
--! EndIncluded identity/tables/sessions.sql
--! Included identity/tables/session_tokens.sql
create unlogged table identity.session_tokens (
  token_hash bytea primary key,
  session_id bigint not null references identity.sessions (id) on delete cascade,
  expires_at timestamptz not null,
  constraint session_tokens_hash_is_a_sha256 check (length(token_hash) = 32)
);

create index session_tokens_of_a_session on identity.session_tokens (session_id, expires_at);

comment on table identity.session_tokens is
  'The short-lived tokens by which the pages of a session call the interface; only their SHA-256. '
  'They end with their session. Unlogged: after a crash pages ask for new ones.';
--! EndIncluded identity/tables/session_tokens.sql
--! Included catalog/tables/categories.sql
create table catalog.categories (
  id bigint generated always as identity primary key,
  slug text not null,
  name text not null,
  "position" int not null,
  event_count core.amount not null default 0,
  open_market_count core.amount not null default 0,
  closed_market_count core.amount not null default 0,
  constraint categories_slug_is_unique unique (slug),
  constraint categories_slug_is_url_safe
    check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60 and slug <> 'all'),
  constraint categories_name_is_not_blank check (name ~ '\S' and length(name) <= 100)
);

comment on table catalog.categories is 'Groups of events and markets, in display order.';
comment on column catalog.categories.slug is
  'URL-safe name; "all" is kept for the leaderboard of every category.';
comment on column catalog.categories.event_count is
  'Events of the category, kept by a trigger of catalog.events; the counts of markets likewise by '
  'catalog.markets. So the total of a list costs nothing, however long it is.';
comment on column catalog.categories.closed_market_count is
  'Markets that are closed or resolved. Paused ones are in neither count.';
--! EndIncluded catalog/tables/categories.sql
--! Included catalog/tables/events.sql
create table catalog.events (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  category_id bigint not null references catalog.categories (id),
  title text not null,
  description text,
  starts_at timestamptz,
  ends_at timestamptz,
  live boolean not null default false,
  live_delay_ms int not null default 3000,
  thumbnail_id uuid,
  thumbnail_url text,
  created_at timestamptz not null default core.now(),
  constraint events_public_id_is_unique unique (public_id),
  constraint events_title_is_not_blank check (title ~ '\S' and length(title) <= 300),
  constraint events_end_after_their_start check (ends_at > starts_at),
  constraint events_start_and_end_at_a_moment_or_at_none
    check (isfinite(starts_at) and isfinite(ends_at)),
  constraint events_live_delay_is_sane check (live_delay_ms between 0 and 60000)
);

create index events_of_a_category on catalog.events (category_id, id);

create trigger events_are_counted
  after insert or delete or update of category_id on catalog.events
  for each row execute function catalog.count_event();

comment on table catalog.events is 'Real-world occurrences, each with one or more markets.';
comment on column catalog.events.live is
  'Live-traded: within [starts_at, ends_at) new orders wait live_delay_ms before they match.';
--! EndIncluded catalog/tables/events.sql
--! Included catalog/tables/markets.sql
create table catalog.markets (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  category_id bigint not null references catalog.categories (id),
  event_id bigint references catalog.events (id),
  title text not null,
  description text not null default '',
  status catalog.market_status not null default 'open',
  close_time timestamptz,
  resolved_outcome catalog.outcome,
  yes_payout_cents int,
  resolved_at timestamptz,
  thumbnail_id uuid,
  thumbnail_url text,
  created_at timestamptz not null default core.now(),
  constraint markets_public_id_is_unique unique (public_id),
  constraint markets_title_is_not_blank check (title ~ '\S' and length(title) <= 300),
  constraint markets_have_an_outcome_once_resolved check (
    (status = 'resolved') = (resolved_outcome is not null)
    and (status = 'resolved') = (yes_payout_cents is not null)
    and (status = 'resolved') = (resolved_at is not null)
  ),
  constraint markets_pay_what_the_outcome_says check (
    case resolved_outcome
      when 'yes' then yes_payout_cents = 100
      when 'no' then yes_payout_cents = 0
      when 'custom' then yes_payout_cents between 0 and 100
    end
  )
);

create index markets_of_a_category on catalog.markets (category_id, status, id);
create index markets_that_are_over on catalog.markets (category_id, id)
  where status in ('closed', 'resolved');
create index markets_of_an_event on catalog.markets (event_id, id) where event_id is not null;
create index markets_that_will_close on catalog.markets (close_time)
  where status in ('open', 'paused') and close_time is not null;

create trigger markets_are_counted
  after insert or delete or update of category_id, status on catalog.markets
  for each row execute function catalog.count_market();

comment on table catalog.markets is
  'Binary questions. What trading moves (prices, volumes, version) is in trading.market_state.';
comment on column catalog.markets.yes_payout_cents is
  'What a YES share was paid at resolution, 0-100; a NO share got the rest.';
--! EndIncluded catalog/tables/markets.sql
--! Included trading/tables/traders.sql
create table trading.traders (
  user_id bigint primary key references identity.users (id),
  public_id uuid not null,
  balance_cents bigint not null default 0,
  external_cents bigint not null default 0,
  overdraft_cents core.amount not null default 0,
  account_version core.amount not null default 0,
  moved_on date not null default '-infinity',
  limits_reviewed_at timestamptz,
  excluded_until timestamptz,
  frozen_at timestamptz,
  frozen_by text,
  frozen_reason text,
  day_limit_cents bigint,
  week_limit_cents bigint,
  month_limit_cents bigint,
  next_day_limit_cents bigint,
  next_week_limit_cents bigint,
  next_month_limit_cents bigint,
  day_limit_changes_at timestamptz,
  week_limit_changes_at timestamptz,
  month_limit_changes_at timestamptz,
  constraint traders_public_id_is_unique unique (public_id),
  constraint traders_stay_above_zero_but_for_corrections
    check (balance_cents + overdraft_cents >= 0),
  constraint traders_limits_are_not_negative check (
    least(
      day_limit_cents, week_limit_cents, month_limit_cents,
      next_day_limit_cents, next_week_limit_cents, next_month_limit_cents
    ) >= 0
  ),
  constraint traders_are_frozen_by_an_operator_for_a_reason check (
    (frozen_at is null) = (frozen_by is null)
    and (frozen_at is null) = (frozen_reason is null)
  )
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.traders is
  'One row a user: cash and what decides whether the user may trade. The row is also the lock on '
  'the user: a function that moves the cash of users or relies on their checks locks their rows '
  'first, in ascending user id.';
comment on column trading.traders.public_id is
  'identity.users.public_id, repeated so that an order finds its user with one look-up.';
comment on column trading.traders.balance_cents is
  'EUR-cents; equals the sum of the user''s ledger.entries and the balance after the last one.';
comment on column trading.traders.external_cents is
  'Deposits less withdrawals. external_cents - balance_cents is the net cash the user has put '
  'into trading.';
comment on column trading.traders.overdraft_cents is
  'How far a correction of a resolution, and nothing else, took the user below zero.';
comment on column trading.traders.account_version is 'Number of ledger.entries of the user.';
comment on column trading.traders.moved_on is
  'UTC day of the last entry; -infinity before the first.';
comment on column trading.traders.limits_reviewed_at is
  'When the loss limits were first reviewed; until then no order may be placed.';
comment on column trading.traders.excluded_until is
  'Self-excluded until then; infinity is for good. It never moves to an earlier time.';
comment on column trading.traders.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column trading.traders.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave. Of several '
  'calls the last one, as with the reason.';
comment on column trading.traders.frozen_reason is 'Why it is frozen, for operators only.';
comment on column trading.traders.day_limit_cents is
  'Most that may be put into trading today (UTC); null is no limit. Likewise over the last 7 '
  '(week) and 30 days (month).';
comment on column trading.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits.';
--! EndIncluded trading/tables/traders.sql
--! Included ledger/tables/outside_world.sql
create table ledger.outside_world (
  singleton boolean primary key default true,
  balance_cents bigint not null default 0,
  account_version core.amount not null default 0,
  constraint outside_world_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table ledger.outside_world is
  'The account that mirrors all deposits and withdrawals: one row. It is locked before any user.';

insert into ledger.outside_world default values;
--! EndIncluded ledger/tables/outside_world.sql
--! Included ledger/tables/posted_journals.sql
create sequence ledger.journal_ids;
comment on sequence ledger.journal_ids is 'Ids of trades and of all other journals.';

create table ledger.posted_journals (
  id bigint primary key default nextval('ledger.journal_ids'),
  kind ledger.journal_kind not null,
  market_id bigint,
  created_at timestamptz not null,
  constraint posted_journals_are_not_trades check (kind <> 'trade'),
  constraint posted_journals_of_trading_name_their_market
    check ((kind in ('deposit', 'withdrawal')) = (market_id is null))
);

create trigger posted_journals_are_append_only
  before update or delete or truncate on ledger.posted_journals
  for each statement execute function ledger.refuse_change();

comment on table ledger.posted_journals is
  'The journals of everything but trades: one row for each movement of cash; its lines are '
  'ledger.posted_entries. A trade is its own journal. ledger.journals shows both. Append-only.';
--! EndIncluded ledger/tables/posted_journals.sql
--! Included ledger/tables/posted_entries.sql
create table ledger.posted_entries (
  journal_id bigint not null,
  account_id bigint not null,
  amount_cents bigint not null,
  balance_before_cents bigint not null,
  balance_after_cents bigint not null,
  account_version bigint not null,
  constraint posted_entries_follow_their_account_gaplessly
    primary key (account_id, account_version),
  constraint posted_entries_move_something check (amount_cents <> 0),
  constraint posted_entries_add_up check (balance_after_cents = balance_before_cents + amount_cents)
);

create index posted_entries_of_a_journal on ledger.posted_entries (journal_id);

create trigger posted_entries_are_append_only
  before update or delete or truncate on ledger.posted_entries
  for each statement execute function ledger.refuse_change();

create trigger posted_entries_balance_per_journal
  after insert on ledger.posted_entries
  referencing new table as new_entries
  for each statement execute function ledger.check_new_entries();

comment on table ledger.posted_entries is
  'The lines of ledger.posted_journals: signed cents on an account, with the balance before and '
  'after and the account''s version. All lines of a journal arrive in one statement and sum to '
  'zero. ledger.entries shows them with those of the trades. Append-only. No foreign keys: '
  'ledger.post_journal is the only writer, and ledger.verify() proves what they would.';
--! EndIncluded ledger/tables/posted_entries.sql
--! Included ledger/tables/cash_movements.sql
create table ledger.cash_movements (
  journal_id bigint primary key references ledger.posted_journals (id),
  user_id bigint not null references trading.traders (user_id),
  kind ledger.journal_kind not null,
  reference text not null,
  amount_cents bigint not null,
  constraint cash_movements_are_external check (kind in ('deposit', 'withdrawal')),
  constraint cash_movements_happen_once unique (user_id, kind, reference),
  constraint cash_movements_reference_is_not_blank
    check (reference ~ '\S' and length(reference) <= 200),
  constraint cash_movements_are_above_zero check (amount_cents > 0)
);

create trigger cash_movements_are_append_only
  before update or delete or truncate on ledger.cash_movements
  for each statement execute function ledger.refuse_change();

comment on table ledger.cash_movements is
  'Deposits and withdrawals by the operator''s reference: the same one twice is one movement.';
--! EndIncluded ledger/tables/cash_movements.sql
--! Included ledger/tables/day_openings.sql
create table ledger.day_openings (
  user_id bigint not null,
  day date not null,
  balance_cents bigint not null,
  external_cents bigint not null,
  primary key (user_id, day)
);

create trigger day_openings_are_append_only
  before update or delete or truncate on ledger.day_openings
  for each statement execute function ledger.refuse_change();

comment on table ledger.day_openings is
  'A user''s cash at the start of each UTC day on which it moved, written with the day''s first '
  'movement. The net cash put into trading since a day is the difference of '
  '(external_cents - balance_cents) between now and the first opening from that day on. No foreign '
  'key: see ledger.posted_entries; a settlement writes one row for each of its users.';
--! EndIncluded ledger/tables/day_openings.sql
--! Included ledger/tables/verifications.sql
create table ledger.verifications (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  broken_count core.amount not null,
  first_rows jsonb not null,
  constraint verifications_end_after_they_began check (finished_at >= started_at),
  constraint verifications_show_what_is_broken check (
    jsonb_typeof(first_rows) = 'array'
    and (broken_count = 0) = (first_rows = jsonb_build_array())
  )
);

create trigger verifications_are_append_only
  before update or delete or truncate on ledger.verifications
  for each statement execute function ledger.refuse_change();

comment on table ledger.verifications is
  'What each scheduled run of ledger.verify() found. Append-only. A run that did not get to its '
  'end leaves no row, so watch the age of the last one.';
comment on column ledger.verifications.broken_count is
  'Rows that ledger.verify() returned; 0 on a sound database.';
comment on column ledger.verifications.first_rows is
  'The first 20 of them: an array of {name, object, expected, found}.';
--! EndIncluded ledger/tables/verifications.sql
--! Included rate_limits/tables/buckets.sql
create table rate_limits.buckets (
  bucket text primary key,
  max_requests rate_limits.request_count not null,
  window_seconds rate_limits.window_seconds not null
);

comment on table rate_limits.buckets is
  'The limits of requests in rolling windows: per address or, where the name says user, per user. '
  'Operators change them by admin.set_rate_limit; every check reads them.';

insert into rate_limits.buckets (bucket, max_requests, window_seconds) values
  ('v1', 60, 60),
  ('v1-auth', 120, 60),
  ('v1-user', 120, 60),
  ('sse:market', 120, 60),
  ('sse:user', 30, 60),
  ('sse:user-ip', 120, 60);
--! EndIncluded rate_limits/tables/buckets.sql
--! Included rate_limits/tables/rate_policies.sql
create table rate_limits.rate_policies (
  user_id bigint primary key references identity.users (id),
  tier rate_limits.tier not null,
  requests_per_minute rate_limits.rate not null,
  burst_capacity rate_limits.rate not null,
  expires_at timestamptz,
  constraint rate_policies_are_those_that_differ check (tier <> 'standard')
);

comment on table rate_limits.rate_policies is
  'Users whose trading requests are limited by a policy of their own; all others have the standard '
  'one, as they have once theirs has expired. Operators change them by admin.set_rate_policy.';
--! EndIncluded rate_limits/tables/rate_policies.sql
--! Included rate_limits/tables/windows.sql
create unlogged table rate_limits.windows (
  bucket text collate "C",
  subject text collate "C",
  taken bigint not null default 0,
  kept_from timestamptz not null default '-infinity',
  removable_at timestamptz not null,
  primary key (bucket, subject)
)
with (fillfactor = 70);

create index windows_by_removal on rate_limits.windows (removable_at);

comment on table rate_limits.windows is
  'The counters of rolling windows, one for each bucket and whoever is counted in it: an address '
  'or a user''s id. What was let through is in rate_limits.grants. Unlogged: after a crash '
  'counting starts anew.';
comment on column rate_limits.windows.taken is
  'Requests let through since there is the row; they are numbered by it.';
comment on column rate_limits.windows.kept_from is 'There are no grants of this counter before.';
comment on column rate_limits.windows.removable_at is
  'Not before every grant has left the window. Set anew once in a window only, so that counting '
  'leaves the indexes alone.';
--! EndIncluded rate_limits/tables/windows.sql
--! Included rate_limits/tables/grants.sql
create unlogged table rate_limits.grants (
  bucket text collate "C",
  subject text collate "C",
  at timestamptz,
  first_number bigint not null,
  last_number bigint not null,
  primary key (bucket, subject, at),
  constraint grants_number_at_least_one check (last_number >= first_number)
);

comment on table rate_limits.grants is
  'Which requests were let through when: the exact log of each rolling window. Requests of one '
  'moment are one row. Their numbers run on, so how many a window holds is the difference of two '
  'of them, and no request has to be counted. Unlogged, as rate_limits.windows is.';
--! EndIncluded rate_limits/tables/grants.sql
--! Included rate_limits/tables/allowances.sql
create unlogged table rate_limits.allowances (
  user_id uuid primary key,
  spent bigint not null default 0,
  at timestamptz not null,
  removable_at timestamptz not null,
  constraint allowances_are_spent_or_full check (spent >= 0)
)
with (fillfactor = 70);

create index allowances_by_removal on rate_limits.allowances (removable_at);

comment on table rate_limits.allowances is
  'The token buckets of trading requests (v1-trading), one for each user who made any lately; who '
  'has no row has a full one. Unlogged: after a crash all are full.';
comment on column rate_limits.allowances.spent is
  'What was missing to a full bucket, in sixty-millionths of a token: a rate of so many requests a '
  'minute gives back just as many of these in a microsecond, so nothing is ever rounded.';
comment on column rate_limits.allowances.removable_at is
  'Not before the bucket is full again. Set anew now and then only, as in rate_limits.windows.';
--! EndIncluded rate_limits/tables/allowances.sql
--! Included rate_limits/tables/stream_caps.sql
create table rate_limits.stream_caps (
  holder text primary key,
  max_streams rate_limits.request_count not null,
  constraint stream_caps_are_of_an_address_or_a_user check (holder in ('address', 'user'))
);

comment on table rate_limits.stream_caps is
  'How many event streams an address and a user may hold open at once, over all servers. Operators '
  'change them by admin.set_stream_cap; every opening reads them.';

insert into rate_limits.stream_caps (holder, max_streams) values
  ('address', 200),
  ('user', 20);
--! EndIncluded rate_limits/tables/stream_caps.sql
--! Included rate_limits/tables/stream_leases.sql
create unlogged table rate_limits.stream_leases (
  lease_id uuid primary key,
  seen_at timestamptz not null
);

comment on table rate_limits.stream_leases is
  'The server processes that have event streams open. Each renews its lease every 10 seconds; the '
  'streams of one that has not for 30 seconds count no more. Unlogged: after a crash of the '
  'database each process takes a new lease for the streams that it still has.';
--! EndIncluded rate_limits/tables/stream_leases.sql
--! Included rate_limits/tables/open_streams.sql
create unlogged table rate_limits.open_streams (
  holder text collate "C",
  subject text collate "C",
  lease_id uuid,
  stream_count int not null,
  primary key (holder, subject, lease_id),
  constraint open_streams_count_something check (stream_count > 0)
)
with (fillfactor = 70);

create index open_streams_of_a_lease on rate_limits.open_streams (lease_id);

comment on table rate_limits.open_streams is
  'How many event streams an address or a user holds open in each server process. Unlogged, as '
  'rate_limits.stream_leases is.';
--! EndIncluded rate_limits/tables/open_streams.sql
--! Included trading/tables/fee_schedules.sql
create table trading.fee_schedules (
  id bigint generated always as identity primary key,
  category_id bigint references catalog.categories (id),
  market_id bigint references catalog.markets (id),
  taker_rate_bps int not null,
  effective_from timestamptz not null,
  created_at timestamptz not null default core.now(),
  constraint fee_schedules_have_one_scope check (category_id is null or market_id is null),
  constraint fee_schedules_never_exceed_the_proceeds check (taker_rate_bps between 0 and 10000)
);

create index fee_schedules_by_scope
  on trading.fee_schedules (market_id, category_id, effective_from desc, id desc);

comment on table trading.fee_schedules is
  'Dated taker fees: a market''s own, else its category''s, else the default; of these the latest '
  'one in force. Exact fee of an order = taker_rate_bps x sum(quantity x p x (100 - p)) / 1000000 '
  'cents, rounded up once over all its fills.';
comment on column trading.fee_schedules.taker_rate_bps is
  'Basis points of quantity x p x (1 - p); up to 10000 a sale never pays more than it brings.';

insert into trading.fee_schedules (taker_rate_bps, effective_from) values (700, '-infinity');
--! EndIncluded trading/tables/fee_schedules.sql
--! Included trading/tables/market_state.sql
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
  depth bigint[] not null default array_fill(0::bigint, array[198]),
  constraint market_state_depth_has_each_price_of_both_sides check (cardinality(depth) = 198),
  constraint market_state_depth_is_not_negative check (0 <= all (depth))
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
  'Unfilled shares on the book: of YES orders at price p in place p, of NO orders in place 99 + p. '
  'Orders past their expiry count until they are cancelled; readers take them off.';
--! EndIncluded trading/tables/market_state.sql
--! Included trading/tables/orders.sql
create table trading.orders (
  id bigint generated by default as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  order_type trading.order_type not null,
  price trading.price not null,
  quantity trading.order_quantity not null,
  filled_quantity int not null default 0,
  budget_cents trading.budget_cents,
  time_in_force trading.time_in_force not null,
  post_only boolean not null default false,
  status trading.order_status not null,
  cancel_reason trading.cancel_reason,
  fee_cents core.amount not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  cancelled_at timestamptz,
  constraint orders_public_id_is_unique unique (public_id),
  constraint orders_without_quantity_have_a_budget
    check (quantity > 0 or budget_cents is not null),
  constraint orders_fill_up_to_their_quantity check (filled_quantity between 0 and quantity),
  constraint orders_status_says_what_is_filled check (
    case status
      when 'scheduled' then filled_quantity = 0 and release_at is not null
      when 'open' then filled_quantity = 0 and quantity > 0
      when 'partially_filled' then filled_quantity > 0 and filled_quantity < quantity
      when 'filled' then filled_quantity = quantity and quantity > 0
      else true
    end
  ),
  constraint orders_cancelled_have_a_reason_and_a_time check (
    (status = 'cancelled') = (cancel_reason is not null)
    and (status = 'cancelled') = (cancelled_at is not null)
  )
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);

create index orders_of_a_user on trading.orders (user_id, id);

comment on table trading.orders is
  'Every order in the form its trader gave it. The columns that its indexes read never change, so '
  'that fills and cancels are HOT updates. No foreign keys: the engine is the only writer and '
  'looks market and user up itself; ledger.verify() proves what they would.';
comment on column trading.orders.price is
  'EUR-cents a share of the trader''s side; the protection price (99 buy, 1 sell) of a market '
  'order.';
comment on column trading.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column trading.orders.fee_cents is 'Taker fee paid, in cents.';
--! EndIncluded trading/tables/orders.sql
--! Included trading/tables/active_orders.sql
create table trading.active_orders (
  market_id bigint not null,
  user_id bigint not null,
  order_id bigint primary key,
  queue_position bigint,
  order_public_id uuid not null,
  left_quantity int not null,
  book_price trading.price not null,
  book_side trading.side not null,
  order_type trading.order_type not null,
  expires_at timestamptz,
  release_at timestamptz,
  constraint active_orders_rest_or_wait_for_release
    check (queue_position is not null or release_at is not null),
  constraint active_orders_on_the_book_have_shares_left
    check (left_quantity > 0 or queue_position is null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create unique index active_orders_in_price_time_order
  on trading.active_orders (market_id, book_side, book_price desc, queue_position)
  where queue_position is not null;
create index active_orders_of_a_user on trading.active_orders (user_id, order_id);
create index active_orders_that_expire on trading.active_orders (expires_at, market_id)
  where expires_at is not null;
create index active_orders_to_release on trading.active_orders (release_at, order_id)
  where queue_position is null;
create index active_orders_of_a_market_to_release
  on trading.active_orders (market_id, release_at, order_id)
  where queue_position is null;

comment on table trading.active_orders is
  'The orders that something can still happen to: the resting book and the scheduled ones, with '
  'what matching reads of them. A row comes when an order enters and goes when it leaves.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
comment on column trading.active_orders.left_quantity is
  'Shares not filled yet: quantity - filled_quantity of trading.orders; 0 of a budget order that '
  'is scheduled.';
--! EndIncluded trading/tables/active_orders.sql
--! Included trading/tables/order_reductions.sql
create table trading.order_reductions (
  order_id bigint not null,
  quantity_before trading.order_quantity not null,
  quantity_after trading.order_quantity not null,
  at timestamptz not null,
  primary key (order_id, quantity_after),
  constraint order_reductions_leave_less check (quantity_after < quantity_before)
);

create trigger order_reductions_are_append_only
  before update or delete or truncate on trading.order_reductions
  for each statement execute function ledger.refuse_change();

comment on table trading.order_reductions is
  'Shares that amendments took off orders which kept their place in the queue: the one change of '
  'an order that its own row does not tell of, and without which no book of the past would be '
  'exact. Append-only. No foreign key: the order may be in the archive.';
comment on column trading.order_reductions.quantity_before is
  'Shares ordered until then, of which some may have been filled.';
--! EndIncluded trading/tables/order_reductions.sql
--! Included trading/tables/archived_orders.sql
create table trading.archived_orders (
  id bigint not null,
  public_id uuid not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  order_type trading.order_type not null,
  price trading.price not null,
  quantity trading.order_quantity not null,
  filled_quantity int not null,
  budget_cents trading.budget_cents,
  time_in_force trading.time_in_force not null,
  post_only boolean not null,
  status trading.order_status not null,
  cancel_reason trading.cancel_reason not null,
  fee_cents core.amount not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  cancelled_at timestamptz not null,
  primary key (public_id),
  constraint archived_orders_are_cancelled check (status = 'cancelled'),
  constraint archived_orders_never_filled check (filled_quantity = 0 and fee_cents = 0)
) partition by range (public_id);

create index archived_orders_of_a_user on trading.archived_orders (user_id, id);

create trigger archived_orders_are_append_only
  before update or delete or truncate on trading.archived_orders
  for each statement execute function ledger.refuse_change();

comment on table trading.archived_orders is
  'Orders that were cancelled without a fill, moved here from trading.orders 30 days after. The '
  'same columns. A partition for each month in which orders were made, made when it is first '
  'needed; the month is in the public_id, so that an order is looked up in one partition.';
--! EndIncluded trading/tables/archived_orders.sql
--! Included trading/tables/archive_progress.sql
create table trading.archive_progress (
  singleton boolean primary key default true,
  last_order_id bigint not null default 0,
  constraint archive_progress_is_one_row check (singleton)
);

comment on table trading.archive_progress is
  'How far archival has come through trading.orders: one row, locked by whoever archives.';
comment on column trading.archive_progress.last_order_id is
  'Each order up to this one was looked at once it was 30 days old.';

insert into trading.archive_progress default values;
--! EndIncluded trading/tables/archive_progress.sql
--! Included trading/tables/archive_queue.sql
create table trading.archive_queue (
  order_id bigint primary key,
  look_at timestamptz not null
);

create index archive_queue_by_time on trading.archive_queue (look_at);

comment on table trading.archive_queue is
  'Orders without a fill that archival has passed, and when to look at them again: 30 days after '
  'they were cancelled or, if they were open, after they were seen, since they cannot be due '
  'before. Written by archival only, so that nothing of it is paid for by trading.';
--! EndIncluded trading/tables/archive_queue.sql
--! Included trading/tables/trades.sql
create table trading.trades (
  id bigint primary key,
  market_id bigint not null,
  taker_order_id bigint not null,
  maker_order_id bigint not null,
  taker_user_id bigint not null,
  maker_user_id bigint not null,
  taker_cents bigint not null,
  taker_balance_cents bigint not null,
  taker_version bigint not null,
  maker_cents bigint not null,
  maker_balance_cents bigint not null,
  maker_version bigint not null,
  escrow_balance_cents bigint not null,
  escrow_version bigint not null,
  revenue_balance_cents bigint not null,
  revenue_version bigint not null,
  taker_realised_cents bigint,
  maker_realised_cents bigint,
  fee_cents core.amount not null,
  fee_schedule_id bigint not null,
  created_at timestamptz not null,
  public_id uuid not null,
  quantity trading.trade_quantity not null,
  price trading.price not null,
  taker_side trading.side not null,
  constraint trades_have_two_traders check (taker_user_id <> maker_user_id),
  constraint trades_move_the_cash_of_their_shares check (
    taker_cents = quantity * (
      case when taker_realised_cents is null then 0 else 100 end
      - case taker_side when 'yes' then price else 100 - price end
    ) - fee_cents
    and maker_cents = quantity * (
      case when maker_realised_cents is null then 0 else 100 end
      - case taker_side when 'yes' then 100 - price else price end
    )
  )
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create index trades_of_a_market on trading.trades (market_id, id);
create index trades_of_a_taker_order on trading.trades (taker_order_id);

create trigger trades_are_append_only
  before update or delete or truncate on trading.trades
  for each statement execute function ledger.refuse_change();

comment on table trading.trades is
  'Every match, in YES price space. A trade is its own journal: what it moves on up to four '
  'accounts, the taker''s, the maker''s, the market''s escrow and its fee revenue, are columns, '
  'which ledger.entries shows as lines. A balance or version is that of the account after the '
  'trade, unchanged where the trade moves nothing there. Append-only. No foreign keys: see '
  'trading.orders.';
comment on column trading.trades.id is
  'Also the id of its journal, from ledger.journal_ids.';
comment on column trading.trades.taker_side is
  'Stored side of the taker; the maker''s is the other one.';
comment on column trading.trades.price is 'YES price, 1-99; the NO price is 100 - price.';
comment on column trading.trades.taker_cents is
  'What the trade moved on the taker''s account with the fee, below zero for a buyer; '
  'maker_cents likewise on the maker''s. Escrow gets what these two and the fee leave.';
comment on column trading.trades.fee_cents is
  'What this match added to the taker''s fee, in cents.';
comment on column trading.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds - fee - cost taken out - buy fees taken out, in '
  'cents; null for a buyer. maker_realised_cents likewise.';
--! EndIncluded trading/tables/trades.sql
--! Included trading/tables/holdings.sql
create table trading.holdings (
  market_id bigint not null,
  user_id bigint not null,
  yes_public_id uuid,
  yes_quantity core.amount not null default 0,
  yes_cost_cents core.amount not null default 0,
  yes_fee_cents core.amount not null default 0,
  yes_realised_cents bigint not null default 0,
  yes_traded boolean not null default false,
  no_public_id uuid,
  no_quantity core.amount not null default 0,
  no_cost_cents core.amount not null default 0,
  no_fee_cents core.amount not null default 0,
  no_realised_cents bigint not null default 0,
  no_traded boolean not null default false,
  primary key (market_id, user_id),
  constraint holdings_without_yes_shares_cost_nothing
    check (yes_quantity > 0 or (yes_cost_cents = 0 and yes_fee_cents = 0)),
  constraint holdings_of_yes_shares_have_an_id
    check (yes_public_id is not null or (yes_quantity = 0 and yes_realised_cents = 0)),
  constraint holdings_without_no_shares_cost_nothing
    check (no_quantity > 0 or (no_cost_cents = 0 and no_fee_cents = 0)),
  constraint holdings_of_no_shares_have_an_id
    check (no_public_id is not null or (no_quantity = 0 and no_realised_cents = 0))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index holdings_of_a_user on trading.holdings (user_id, market_id);

comment on table trading.holdings is
  'The YES and NO shares of each trader in a market: one row for both sides, which '
  'trading.positions shows as two. Written only under the market''s lock.';
comment on column trading.holdings.yes_public_id is
  'The id of the YES position; null while the user never had YES shares of the market.';
comment on column trading.holdings.yes_cost_cents is
  'Price x quantity paid for the shares held; yes_fee_cents the buy fees paid for them. Selling, '
  'merging and settling take both out pro rata, rounded half up.';
comment on column trading.holdings.yes_realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.holdings.yes_traded is
  'Whether a match, and not only a split, ever moved the YES shares.';
--! EndIncluded trading/tables/holdings.sql
--! Included trading/tables/set_conversions.sql
create table trading.set_conversions (
  id bigint generated always as identity primary key,
  market_id bigint not null,
  user_id bigint not null,
  kind trading.conversion_kind not null,
  quantity trading.trade_quantity not null,
  yes_realised_cents bigint,
  no_realised_cents bigint,
  journal_id bigint not null,
  created_at timestamptz not null,
  constraint set_conversions_realise_by_merging check (
    (kind = 'merge') = (yes_realised_cents is not null)
    and (kind = 'merge') = (no_realised_cents is not null)
  )
);

create index set_conversions_of_a_market on trading.set_conversions (market_id, id);
create index set_conversions_of_a_user on trading.set_conversions (user_id, id);

create trigger set_conversions_are_append_only
  before update or delete or truncate on trading.set_conversions
  for each statement execute function ledger.refuse_change();

comment on table trading.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each (split) or given back for them '
  '(merge). Append-only. No foreign keys: see trading.orders.';
comment on column trading.set_conversions.yes_realised_cents is
  'What merging realised on the YES shares: 50 cents a share - cost taken out - buy fees taken '
  'out; null for a split. no_realised_cents likewise.';
--! EndIncluded trading/tables/set_conversions.sql
--! Included trading/tables/resolutions.sql
create table trading.resolutions (
  id bigint generated by default as identity primary key,
  market_id bigint not null references catalog.markets (id),
  journal_id bigint references ledger.posted_journals (id),
  outcome catalog.outcome not null,
  yes_payout_cents int not null,
  corrects_resolution_id bigint references trading.resolutions (id),
  reason text,
  position_count int not null,
  payout_cents core.amount not null,
  created_at timestamptz not null,
  constraint resolutions_are_corrected_once unique (corrects_resolution_id),
  constraint resolutions_pay_what_the_outcome_says check (
    case outcome
      when 'yes' then yes_payout_cents = 100
      when 'no' then yes_payout_cents = 0
      when 'custom' then yes_payout_cents between 0 and 100
    end
  ),
  constraint resolutions_that_correct_have_a_reason check (
    (corrects_resolution_id is null) = (reason is null)
    and (reason is null or reason ~ '\S' and length(reason) <= 1000)
  )
);

create unique index resolutions_begin_once_in_a_market on trading.resolutions (market_id)
  where corrects_resolution_id is null;
create index resolutions_of_a_market on trading.resolutions (market_id, id);

create trigger resolutions_are_append_only
  before update or delete or truncate on trading.resolutions
  for each statement execute function ledger.refuse_change();

comment on table trading.resolutions is
  'How markets were resolved and corrected. The last one of a market is the one that holds; each '
  'but the first corrects the one before. Append-only.';
comment on column trading.resolutions.journal_id is
  'The settlement, or the correction, that moved the cash; null when none had to move.';
comment on column trading.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100 cents; a NO share pays the rest.';
comment on column trading.resolutions.payout_cents is
  'What the positions are paid in all; of a correction too the whole, and not the difference.';
--! EndIncluded trading/tables/resolutions.sql
--! Included trading/tables/settlements.sql
create table trading.settlements (
  resolution_id bigint not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  quantity core.amount not null,
  payout_cents core.amount not null,
  cost_cents core.amount not null,
  fee_cents core.amount not null,
  realised_cents bigint not null,
  primary key (resolution_id, user_id, side),
  constraint settlements_are_of_shares check (quantity > 0),
  constraint settlements_realise_what_is_paid_beyond_cost_and_fees
    check (realised_cents = payout_cents - cost_cents - fee_cents)
);

create index settlements_of_a_user on trading.settlements (user_id, market_id);

create trigger settlements_are_append_only
  before update or delete or truncate on trading.settlements
  for each statement execute function ledger.refuse_change();

comment on table trading.settlements is
  'What each resolution pays each position that holds shares. A correction settles all of them '
  'anew: its rows are the whole figures, not differences, so that of each market the rows of the '
  'last resolution are the ones that hold. Append-only. No foreign keys: see trading.orders.';
comment on column trading.settlements.cost_cents is
  'What was paid for the shares, and fee_cents the buy fees, at the time of the resolution.';
--! EndIncluded trading/tables/settlements.sql
--! Included trading/tables/idempotency_keys.sql
create table trading.idempotency_keys (
  user_id bigint not null,
  key uuid not null,
  order_id bigint not null,
  created_at timestamptz not null,
  primary key (user_id, key)
);

create index idempotency_keys_by_age on trading.idempotency_keys (created_at);

comment on table trading.idempotency_keys is
  'Which order a trader''s idempotency key stands for. A key counts for 24 hours and is removed '
  'some time after.';
--! EndIncluded trading/tables/idempotency_keys.sql
--! Included trading/tables/outbox.sql
create unlogged table trading.outbox (
  id bigint generated always as identity primary key,
  channel text not null,
  payload json not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.outbox is
  'The outbox: events written by the transactions that they are about. api.relay_outbox() moves '
  'them to trading.sent_events right after the commit. A transaction that notifies holds a lock of '
  'the whole cluster through the flush of its commit; one that writes here does not. Unlogged: '
  'after a crash every stream starts anew from a snapshot.';
comment on column trading.outbox.channel is
  'The kind of the event, see trading.sent_events.';
--! EndIncluded trading/tables/outbox.sql
--! Included trading/tables/sent_events.sql
create unlogged table trading.sent_events (
  id bigint primary key,
  kind text not null,
  payload json not null,
  sent_at timestamptz not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.sent_events is
  'The events of committed transactions, in the order in which servers deliver them. Written by '
  'api.relay_outbox() alone, read by api.read_events(), removed by jobs.remove_sent_events() after '
  'some minutes. Unlogged, as trading.outbox is.';
comment on column trading.sent_events.id is
  'Rises by one with each event. After a crash, which empties this table and trading.outbox_relay, '
  'it goes on from a far higher number, by which servers see that events are missing.';
comment on column trading.sent_events.kind is
  'market_changed ({marketId, version}), user_event ({userId, event}), api_key_revoked '
  '({apiKeyId}) or session_ended ({sessionId}).';
--! EndIncluded trading/tables/sent_events.sql
--! Included trading/tables/outbox_relay.sql
create unlogged table trading.outbox_relay (
  singleton boolean primary key default true,
  sent_through_id bigint not null,
  noted_id bigint not null,
  noted_xid xid8 not null,
  last_event_id bigint not null,
  constraint outbox_relay_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table trading.outbox_relay is
  'At most one row: how far api.relay_outbox() has come. It need not look over what it has sent, '
  'which the index of trading.outbox has until the next vacuum. Unlogged like those: a '
  'crash removes the row, and api.relay_outbox() makes it anew.';
comment on column trading.outbox_relay.sent_through_id is
  'All announcements up to this id are sent, and none of them can appear any more.';
comment on column trading.outbox_relay.noted_id is
  'The last id that was given out when noted_xid began: once all transactions before noted_xid '
  'have ended, the announcements up to this id can be seen.';
comment on column trading.outbox_relay.last_event_id is
  'The id of the last event in trading.sent_events, also once that is removed.';

-- The first transaction of a cluster has number 3: all before it have ended.
insert into trading.outbox_relay (sent_through_id, noted_id, noted_xid, last_event_id)
values (0, 0, '3', 0);
--! EndIncluded trading/tables/outbox_relay.sql
--! Included leaderboard/tables/state.sql
create table leaderboard.state (
  singleton boolean primary key default true,
  snapshot_at timestamptz,
  day date,
  after_trade_id bigint not null default 0,
  after_conversion_id bigint not null default 0,
  after_resolution_id bigint not null default 0,
  noted_trade_id bigint not null default 0,
  noted_conversion_id bigint not null default 0,
  noted_resolution_id bigint not null default 0,
  noted_xid xid8,
  constraint state_is_one_row check (singleton)
);

comment on table leaderboard.state is
  'How far the leaderboard has come: one row, locked by whoever refreshes it.';
comment on column leaderboard.state.snapshot_at is
  'When it was last complete; null before the first time.';
comment on column leaderboard.state.day is 'The UTC day on which its windows end.';
comment on column leaderboard.state.after_trade_id is
  'Every trade up to this one has been taken, or never will be. Later ones are looked at again '
  'each time, since ids do not commit in order; which of them were taken is told by '
  'leaderboard.markets. after_conversion_id and after_resolution_id likewise.';
comment on column leaderboard.state.noted_trade_id is
  'The last trade id given out before the transaction noted_xid began to write. Once all below '
  'that one have ended, all trades up to the id can be seen, and after_trade_id moves there.';

insert into leaderboard.state default values;
--! EndIncluded leaderboard/tables/state.sql
--! Included leaderboard/tables/markets.sql
create table leaderboard.markets (
  market_id bigint primary key references catalog.markets (id),
  last_trade_id bigint not null,
  last_conversion_id bigint not null,
  last_resolution_id bigint not null,
  escrow_cents core.amount not null
) with (fillfactor = 80);

comment on table leaderboard.markets is
  'How far the leaderboard has come in each market. Within a market ids commit in order, since '
  'they are given out under its lock, so the last one taken tells what is new.';
comment on column leaderboard.markets.escrow_cents is
  'What the market had in escrow then: its part of the open interest.';
--! EndIncluded leaderboard/tables/markets.sql
--! Included leaderboard/tables/days.sql
create table leaderboard.days (
  day date not null,
  category_id bigint not null,
  user_id bigint not null,
  pl_cents bigint not null,
  vol_cents core.amount not null,
  win_count core.amount not null,
  settled_count core.amount not null,
  realised_count core.amount not null,
  primary key (day, category_id, user_id),
  constraint days_realised_something check (realised_count > 0),
  constraint days_win_what_was_settled check (win_count <= settled_count),
  constraint days_count_what_was_settled_as_realised check (settled_count <= realised_count)
) with (fillfactor = 80);

comment on table leaderboard.days is
  'What each trader realised on each UTC day in each category, and in all together (category_id '
  '0). Corrections change the day of the first resolution. No foreign keys, since all of it is '
  'derived and proved by leaderboard.verify().';
comment on column leaderboard.days.pl_cents is
  'Realised by settlements, sells and merges. vol_cents: cost of the positions settled. win_count '
  'of settled_count positions realised more than nothing. realised_count: settlements, sells and '
  'merges.';
--! EndIncluded leaderboard/tables/days.sql
--! Included leaderboard/tables/standings.sql
create table leaderboard.standings (
  user_id bigint not null,
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  user_public_id uuid not null,
  pl_cents bigint not null,
  vol_cents core.amount not null,
  win_count core.amount not null,
  settled_count core.amount not null,
  realised_count core.amount not null,
  is_public boolean not null,
  band int not null generated always as (leaderboard.band(pl_cents)) stored,
  primary key (user_id, category_id, window_kind),
  constraint standings_realised_something check (realised_count > 0),
  constraint standings_win_what_was_settled check (win_count <= settled_count),
  constraint standings_count_what_was_settled_as_realised check (settled_count <= realised_count)
);

create index standings_by_rank on leaderboard.standings (
  category_id, window_kind, band desc, pl_cents desc, vol_cents desc, user_public_id
);

comment on table leaderboard.standings is
  'The sums of leaderboard.days over each window, for everybody who realised something in it. '
  'Their order by rank is that of the index. No foreign keys: see leaderboard.days.';
comment on column leaderboard.standings.user_public_id is
  'As in identity.users: the last thing that decides on a rank.';
comment on column leaderboard.standings.is_public is
  'Whether the trader was counted as public, see leaderboard.summaries. What is shown of a trader '
  'is decided by identity.users at the moment of reading.';
comment on column leaderboard.standings.band is
  'Of leaderboard.bands. Rises with pl_cents, so that it does not disturb the order.';
--! EndIncluded leaderboard/tables/standings.sql
--! Included leaderboard/tables/bands.sql
create table leaderboard.bands (
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  band int not null,
  trader_count core.amount not null,
  primary key (category_id, window_kind, band)
) with (fillfactor = 80);

comment on table leaderboard.bands is
  'How many standings of a window fall into each band of profit. A rank is the count of the bands '
  'above and of the better ones within one band, so nobody counts through a million standings.';
--! EndIncluded leaderboard/tables/bands.sql
--! Included leaderboard/tables/summaries.sql
create table leaderboard.summaries (
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  volume_cents core.amount not null,
  settled_trader_count core.amount not null,
  public_trader_count core.amount not null,
  primary key (category_id, window_kind),
  constraint summaries_count_public_traders_among_all
    check (public_trader_count <= settled_trader_count)
) with (fillfactor = 80);

comment on table leaderboard.summaries is 'Sums and counts over the standings of a window.';
comment on column leaderboard.summaries.volume_cents is 'Cost of the positions settled.';
comment on column leaderboard.summaries.settled_trader_count is
  'Traders with a settled position; public_trader_count, those of them who were public.';
--! EndIncluded leaderboard/tables/summaries.sql
--! Included leaderboard/tables/open_interest.sql
create table leaderboard.open_interest (
  category_id bigint primary key,
  open_interest_cents core.amount not null
) with (fillfactor = 80);

comment on table leaderboard.open_interest is
  'Escrow of the unresolved markets of each category, and of all together (category_id 0).';
--! EndIncluded leaderboard/tables/open_interest.sql
--! Included leaderboard/tables/wins.sql
create table leaderboard.wins (
  market_id bigint not null,
  category_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  day date not null,
  realised_cents core.amount not null,
  primary key (market_id, category_id, user_id, side),
  constraint wins_realised_something check (realised_cents > 0)
);

create index wins_by_size on leaderboard.wins (
  category_id, realised_cents desc, market_id, user_id, side
);
create index wins_of_a_day_by_size on leaderboard.wins (
  category_id, day, realised_cents desc, market_id, user_id, side
);

comment on table leaderboard.wins is
  'Settled positions that realised more than nothing, as the last resolution of their market has '
  'it: twice, under its category and under 0 for all. For the biggest single win. No foreign keys: '
  'see leaderboard.days.';
comment on column leaderboard.wins.day is 'The UTC day of the first resolution.';
--! EndIncluded leaderboard/tables/wins.sql
--! Included leaderboard/tables/profile_changes.sql
create table leaderboard.profile_changes (
  id bigint generated always as identity primary key,
  user_id bigint not null
);

comment on table leaderboard.profile_changes is
  'Users who became private or public, or left or joined the leaderboard, since the last refresh. '
  'Until then the counts of public traders are put right by them when they are read. No foreign '
  'key: it would lock the user.';
--! EndIncluded leaderboard/tables/profile_changes.sql
--! Included admin/tables/audit_log.sql
create table admin.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default core.now(),
  operator text not null,
  staff_key text,
  action text not null,
  arguments jsonb not null
);

create trigger audit_log_is_append_only
  before update or delete or truncate on admin.audit_log
  for each statement execute function ledger.refuse_change();

comment on table admin.audit_log is
  'Who called which function of the operator, when and with what. Written in the transaction of '
  'the call itself. Append-only.';
comment on column admin.audit_log.operator is 'The login that called, not the role it took.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key, if the call came by GraphQL: the server, which has one login '
  'for all operators, says it in the setting exchange.operator. So it is as good as the login is.';
--! EndIncluded admin/tables/audit_log.sql
--! Included trading/batch_types.sql
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
  end_cancel_reason trading.cancel_reason
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
  'What the fills of a batch come to: a trade for each, with its cash; what traders and markets '
  'have after all of them, at their places in the batch, with what is to be added to a market''s '
  'figures; the holdings that changed.';

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
--! EndIncluded trading/batch_types.sql

-- The ledger and the rows of sides, as analysts and auditors read them
--! Included ledger/functions/outside_account_id.sql
create or replace function ledger.outside_account_id()
returns bigint
language sql immutable parallel safe
return 3::bigint;

comment on function ledger.outside_account_id() is
  'The id in ledger.accounts of the outside world: the lowest id of all.';
--! EndIncluded ledger/functions/outside_account_id.sql
--! Included ledger/functions/user_account_id.sql
create or replace function ledger.user_account_id(user_id bigint)
returns bigint
language sql immutable parallel safe
return user_id * 4;

comment on function ledger.user_account_id(bigint) is
  'The id in ledger.accounts of a user.';
--! EndIncluded ledger/functions/user_account_id.sql
--! Included ledger/functions/escrow_account_id.sql
create or replace function ledger.escrow_account_id(market_id bigint)
returns bigint
language sql immutable parallel safe
return market_id * 4 + 1;

comment on function ledger.escrow_account_id(bigint) is
  'The id in ledger.accounts of the escrow of a market.';
--! EndIncluded ledger/functions/escrow_account_id.sql
--! Included ledger/functions/revenue_account_id.sql
create or replace function ledger.revenue_account_id(market_id bigint)
returns bigint
language sql immutable parallel safe
return market_id * 4 + 2;

comment on function ledger.revenue_account_id(bigint) is
  'The id in ledger.accounts of the fee revenue of a market.';
--! EndIncluded ledger/functions/revenue_account_id.sql
--! Included ledger/views/accounts.sql
create view ledger.accounts as
select
  ledger.outside_account_id() as id,
  'outside_world'::ledger.account_kind as kind,
  null::bigint as user_id,
  null::bigint as market_id,
  w.balance_cents,
  0::bigint as external_cents,
  0::bigint as overdraft_cents,
  w.account_version::bigint as version
from ledger.outside_world as w
union all
select
  ledger.user_account_id(t.user_id), 'user_cash', t.user_id, null,
  t.balance_cents, t.external_cents, t.overdraft_cents, t.account_version
from trading.traders as t
union all
select
  ledger.escrow_account_id(s.market_id), 'market_escrow', null, s.market_id,
  s.escrow_cents, 0, 0, s.escrow_version
from trading.market_state as s
union all
select
  ledger.revenue_account_id(s.market_id), 'fee_revenue', null, s.market_id,
  s.revenue_cents, 0, 0, s.revenue_version
from trading.market_state as s;

comment on view ledger.accounts is
  'Where cash is, each account in a row: the outside world, the users, and the escrow and fee '
  'revenue of each market. Its rows are kept in ledger.outside_world, trading.traders and '
  'trading.market_state.';
comment on column ledger.accounts.id is
  'As ledger.user_account_id, escrow_account_id, revenue_account_id and outside_account_id '
  'give it.';
comment on column ledger.accounts.kind is
  'outside_world, user_cash, market_escrow or fee_revenue.';
comment on column ledger.accounts.user_id is 'Whose cash it is; null unless user_cash.';
comment on column ledger.accounts.market_id is
  'The market of market_escrow and fee_revenue; else null.';
comment on column ledger.accounts.balance_cents is
  'EUR-cents; equals the sum of the account''s entries and the balance after its last one.';
comment on column ledger.accounts.external_cents is 'Deposits less withdrawals of a user.';
comment on column ledger.accounts.overdraft_cents is
  'How far a correction of a resolution, and nothing else, took the user below zero.';
comment on column ledger.accounts.version is 'Number of entries of this account.';
--! EndIncluded ledger/views/accounts.sql
--! Included ledger/views/journals.sql
create view ledger.journals as
select j.id, j.kind, j.market_id, j.created_at
from ledger.posted_journals as j
union all
select t.id, 'trade', t.market_id, t.created_at
from trading.trades as t;

comment on view ledger.journals is
  'What happened, one row for each movement of cash; its lines are ledger.entries. A trade is its '
  'own journal, with the same id.';
comment on column ledger.journals.id is
  'From the sequence ledger.journal_ids; of a trade the id of the trade.';
comment on column ledger.journals.kind is 'Why cash moved.';
comment on column ledger.journals.market_id is 'Null for deposits and withdrawals.';
comment on column ledger.journals.created_at is 'When it happened.';
--! EndIncluded ledger/views/journals.sql
--! Included ledger/views/entries.sql
create view ledger.entries as
select
  e.journal_id, e.account_id, e.amount_cents, e.balance_before_cents, e.balance_after_cents,
  e.account_version
from ledger.posted_entries as e
union all
select
  t.id, l.account_id, l.amount_cents, l.balance_after_cents - l.amount_cents,
  l.balance_after_cents, l.account_version
from trading.trades as t
cross join lateral (
  values
    (
      ledger.user_account_id(t.taker_user_id), t.taker_cents,
      t.taker_balance_cents, t.taker_version
    ),
    (
      ledger.user_account_id(t.maker_user_id), t.maker_cents,
      t.maker_balance_cents, t.maker_version
    ),
    (
      ledger.escrow_account_id(t.market_id), -(t.taker_cents + t.maker_cents + t.fee_cents),
      t.escrow_balance_cents, t.escrow_version
    ),
    (
      ledger.revenue_account_id(t.market_id), t.fee_cents,
      t.revenue_balance_cents, t.revenue_version
    )
) as l (account_id, amount_cents, balance_after_cents, account_version)
where l.amount_cents <> 0;

comment on view ledger.entries is
  'The lines of the journals: signed cents on an account, with the balance before and after and '
  'the account''s version. The lines of a journal sum to zero, the versions of an account have no '
  'gap. A trade''s lines are columns of its row in trading.trades, the others are rows of '
  'ledger.posted_entries.';
comment on column ledger.entries.journal_id is 'ledger.journals.id.';
comment on column ledger.entries.account_id is 'ledger.accounts.id.';
comment on column ledger.entries.amount_cents is
  'What came to the account, in EUR-cents; negative for what went. Never 0.';
comment on column ledger.entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column ledger.entries.balance_after_cents is 'The account''s balance after it.';
comment on column ledger.entries.account_version is
  'The line''s number among those of the account, from 1.';
--! EndIncluded ledger/views/entries.sql
--! Included trading/views/positions.sql
create view trading.positions as
select
  h.market_id, h.user_id, p.side, p.public_id, p.quantity, p.cost_cents, p.fee_cents,
  p.realised_cents, p.has_traded
from trading.holdings as h
cross join lateral (
  values
    (
      'yes'::trading.side, h.yes_public_id, h.yes_quantity, h.yes_cost_cents, h.yes_fee_cents,
      h.yes_realised_cents, h.yes_traded
    ),
    (
      'no', h.no_public_id, h.no_quantity, h.no_cost_cents, h.no_fee_cents,
      h.no_realised_cents, h.no_traded
    )
) as p (side, public_id, quantity, cost_cents, fee_cents, realised_cents, has_traded)
where p.public_id is not null;

comment on view trading.positions is
  'Shares of each trader by market and side: trading.holdings with a row for each side that the '
  'user ever had shares of.';
comment on column trading.positions.market_id is 'catalog.markets.id.';
comment on column trading.positions.user_id is 'identity.users.id.';
comment on column trading.positions.side is 'yes or no.';
comment on column trading.positions.public_id is 'The id that the portfolio shows.';
comment on column trading.positions.quantity is 'Shares held.';
comment on column trading.positions.cost_cents is
  'Price x quantity paid for the shares held.';
comment on column trading.positions.fee_cents is 'The buy fees paid for the shares held.';
comment on column trading.positions.realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.positions.has_traded is
  'Whether a match, and not only a split, ever moved this position.';
--! EndIncluded trading/views/positions.sql
--! Included trading/views/book_levels.sql
create view trading.book_levels as
select
  s.market_id,
  case when d.place <= 99 then 'yes' else 'no' end::trading.side as book_side,
  (case when d.place <= 99 then d.place else d.place - 99 end)::int as book_price,
  d.quantity
from trading.market_state as s
cross join lateral unnest(s.depth) with ordinality as d (quantity, place);

comment on view trading.book_levels is
  'trading.market_state.depth in rows: unfilled shares at each stored side and price.';
comment on column trading.book_levels.market_id is 'catalog.markets.id.';
comment on column trading.book_levels.book_side is 'Stored side of the book.';
comment on column trading.book_levels.book_price is 'Stored price, 1-99.';
comment on column trading.book_levels.quantity is
  'Unfilled shares there; orders past their expiry count until they are cancelled.';
--! EndIncluded trading/views/book_levels.sql

-- Functions: catalogue, identity, ledger, risk
--! Included catalog/functions/category_id.sql
create or replace function catalog.category_id(slug text)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  select c.id into v_id
  from catalog.categories as c
  where c.slug = category_id.slug;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no category %s', category_id.slug));
  end if;
  return v_id;
end
$$;

comment on function catalog.category_id(text) is
  'The key of a category by its slug. Errors: NOT_FOUND.';
--! EndIncluded catalog/functions/category_id.sql
--! Included catalog/functions/check_close_time.sql
create or replace function catalog.check_close_time(close_time timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if check_close_time.close_time = 'infinity' then
    perform core.raise_error(
      'INVALID_REQUEST', 'the close time must be a moment; null is a market that has none'
    );
  elsif check_close_time.close_time <= core.now() then
    perform core.raise_error('INVALID_REQUEST', format(
      'the close time must be in the future, and %s is not', check_close_time.close_time
    ));
  end if;
end
$$;

comment on function catalog.check_close_time(timestamptz) is
  'Checks a close time that an operator gives to a market; null is none. Errors: INVALID_REQUEST.';
--! EndIncluded catalog/functions/check_close_time.sql
--! Included identity/functions/lock_user.sql
create or replace function identity.lock_user(user_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  perform core.check_session();
  select t.user_id into v_id
  from trading.traders as t
  where t.public_id = lock_user.user_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', lock_user.user_id));
  end if;
  return v_id;
end
$$;

comment on function identity.lock_user(uuid) is
  'Locks a user, by the row in trading.traders, and returns the key. Errors: NOT_FOUND, '
  'UNFIT_SESSION.';
--! EndIncluded identity/functions/lock_user.sql
--! Included identity/functions/new_api_key.sql
create or replace function identity.new_api_key(prefix text)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Three random UUIDs hold 366 random bits; their SHA-256 is 32 random bytes.
  v_bytes bytea := sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  );
  v_number numeric := 0;
  v_body text;
begin
  for i in 0 .. 31 loop
    v_number := v_number * 256 + get_byte(v_bytes, i);
  end loop;
  v_body := new_api_key.prefix || core.base62(v_number, 43);
  return v_body || core.base62(core.crc32(convert_to(v_body, 'UTF8')), 6);
end
$$;

comment on function identity.new_api_key(text) is
  'A new secret, of an API key (jk_), of an analyst''s or an operator''s key (ja_, jo_), of a '
  'session''s cookie (js_) or of a session''s token (jt_): the prefix, 32 random bytes in base62 '
  '(43 characters), and the CRC-32 of all that in base62 (6 characters), by which garbage is told '
  'from keys without a look-up.';
--! EndIncluded identity/functions/new_api_key.sql
--! Included identity/functions/end_sessions.sql
create or replace function identity.end_sessions(session_ids bigint[])
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with ended as (
    delete from identity.sessions as s
    where s.id = any (end_sessions.session_ids)
    returning s.public_id
  ),
  announced as (
    insert into trading.outbox (channel, payload)
    select 'session_ended', json_build_object('sessionId', e.public_id)
    from ended as e
    returning id
  )
  select count(*) from announced
$$;

comment on function identity.end_sessions(bigint[]) is
  'Ends sessions and their tokens; servers hear of it by session_ended. Returns how many there '
  'were. Locks: their rows.';
--! EndIncluded identity/functions/end_sessions.sql
--! Included ledger/functions/post_journal.sql
create or replace function ledger.post_journal(
  kind ledger.journal_kind,
  market_id bigint,
  account_ids bigint[],
  amounts_cents bigint[],
  at timestamptz
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (post_journal.at at time zone 'UTC')::date;
  v_journal_id bigint;
begin
  insert into ledger.posted_journals (kind, market_id, created_at)
  values (post_journal.kind, post_journal.market_id, post_journal.at)
  returning id into v_journal_id;

  -- The rest of an account's id by 4 says whose it is, and the quotient which row has it.
  with lines as materialized (
    select l.account_id, l.account_id / 4 as owner_id, l.account_id % 4 as place, l.amount_cents
    from unnest(post_journal.account_ids, post_journal.amounts_cents) as l (
      account_id, amount_cents
    )
  ),
  users as materialized (
    select
      l.account_id, l.amount_cents, t.user_id, t.balance_cents, t.external_cents,
      t.account_version::bigint as version, t.moved_on
    from lines as l
    join trading.traders as t on t.user_id = l.owner_id
    where l.place = 0
  ),
  markets as materialized (
    select
      l.owner_id as market_id,
      coalesce(sum(l.amount_cents) filter (where l.place = 1), 0)::bigint as escrow_cents,
      count(*) filter (where l.place = 1) as escrow_lines,
      coalesce(sum(l.amount_cents) filter (where l.place = 2), 0)::bigint as revenue_cents,
      count(*) filter (where l.place = 2) as revenue_lines
    from lines as l
    where l.place in (1, 2)
    group by l.owner_id
  ),
  written as (
    insert into ledger.posted_entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      v_journal_id, m.account_id, m.amount_cents,
      m.balance_cents, m.balance_cents + m.amount_cents, m.version + 1
    from (
      select u.account_id, u.amount_cents, u.balance_cents, u.version
      from users as u
      union all
      select
        l.account_id, l.amount_cents,
        case l.place when 1 then s.escrow_cents else s.revenue_cents end,
        case l.place when 1 then s.escrow_version else s.revenue_version end
      from lines as l
      join trading.market_state as s on s.market_id = l.owner_id
      where l.place in (1, 2)
      union all
      select l.account_id, l.amount_cents, w.balance_cents, w.account_version
      from lines as l
      cross join ledger.outside_world as w
      where l.place = 3
    ) as m
  ),
  opened as (
    insert into ledger.day_openings (user_id, day, balance_cents, external_cents)
    select u.user_id, v_today, u.balance_cents, u.external_cents
    from users as u
    where u.moved_on < v_today
  ),
  outside as (
    update ledger.outside_world as w set
      balance_cents = w.balance_cents + l.amount_cents,
      account_version = w.account_version + 1
    from lines as l
    where l.place = 3
  ),
  moved_markets as (
    update trading.market_state as s set
      escrow_cents = s.escrow_cents + m.escrow_cents,
      escrow_version = s.escrow_version + m.escrow_lines,
      revenue_cents = s.revenue_cents + m.revenue_cents,
      revenue_version = s.revenue_version + m.revenue_lines
    from markets as m
    where s.market_id = m.market_id
  )
  update trading.traders as t set
    balance_cents = u.balance_cents + u.amount_cents,
    account_version = u.version + 1,
    overdraft_cents = case
      when post_journal.kind = 'correction' then greatest(0, -(u.balance_cents + u.amount_cents))
      else least(t.overdraft_cents, greatest(0, -(u.balance_cents + u.amount_cents)))
    end,
    moved_on = greatest(u.moved_on, v_today)
  from users as u
  where t.user_id = u.user_id;

  return v_journal_id;
end
$$;

comment on function ledger.post_journal(
  ledger.journal_kind, bigint, bigint[], bigint[], timestamptz
) is
  'Writes one journal that moves each of some accounts once, by the amount at the same place, and '
  'moves the accounts; returns its id. The accounts are given by their ids in ledger.accounts. It '
  'may be long: all work goes by sets. Only a correction may take a user below zero. The caller '
  'has locked the accounts. A trade is its own journal and does not come by here. Error: '
  'INVALID_STATE when the amounts do not sum to zero, as when an account does not exist.';
--! EndIncluded ledger/functions/post_journal.sql
--! Included ledger/functions/move_cash.sql
create or replace function ledger.move_cash(
  user_id uuid, kind ledger.journal_kind, amount_cents bigint, reference text
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signed_cents bigint;
  v_trader trading.traders;
  v_moved_cents bigint;
  v_journal_id bigint;
begin
  perform core.check_session();
  if move_cash.amount_cents is null or move_cash.amount_cents <= 0 then
    perform core.raise_error('INVALID_REQUEST', 'the amount must be above 0');
  end if;
  if move_cash.amount_cents > 1000000000000000 then
    perform core.raise_error(
      'INVALID_REQUEST', 'the amount must be at most 10,000,000,000,000.00 EUR'
    );
  end if;
  if move_cash.reference is null or move_cash.reference !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'a reference is needed');
  end if;

  -- The outside world goes before all users, so that no two movements wait for each other.
  perform
  from ledger.outside_world as w
  for no key update;

  select t.* into v_trader
  from trading.traders as t
  where t.public_id = move_cash.user_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', move_cash.user_id));
  end if;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.user_id = v_trader.user_id
    and m.kind = move_cash.kind
    and m.reference = move_cash.reference;
  if found then
    if v_moved_cents <> move_cash.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'reference %L is a %s of %s cents already',
        move_cash.reference, move_cash.kind, v_moved_cents
      ));
    end if;
    return v_trader.balance_cents;
  end if;

  if move_cash.kind = 'withdrawal' and v_trader.frozen_at is not null then
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'the account is frozen: deposits are possible, withdrawals are not'
    );
  end if;

  v_signed_cents := case move_cash.kind
    when 'deposit' then move_cash.amount_cents
    else -move_cash.amount_cents
  end;
  if v_signed_cents < 0 and v_trader.balance_cents + v_signed_cents < 0 then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'the balance is %s cents', v_trader.balance_cents
    ));
  end if;

  v_journal_id := ledger.post_journal(
    move_cash.kind,
    null,
    array[ledger.outside_account_id(), ledger.user_account_id(v_trader.user_id)],
    array[-v_signed_cents, v_signed_cents],
    core.now()
  );
  insert into ledger.cash_movements (journal_id, user_id, kind, reference, amount_cents)
  values (
    v_journal_id, v_trader.user_id, move_cash.kind, move_cash.reference, move_cash.amount_cents
  );
  update trading.traders as t
  set external_cents = t.external_cents + v_signed_cents
  where t.user_id = v_trader.user_id;

  return v_trader.balance_cents + v_signed_cents;
end
$$;

comment on function ledger.move_cash(uuid, ledger.journal_kind, bigint, text) is
  'Deposits or withdraws cents once for each reference of a user; returns the new balance. '
  'Nothing is withdrawn from a frozen account; a reference that is a movement already is still '
  'answered. Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference with another '
  'amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, UNFIT_SESSION. Locks: the outside world, '
  'then the user.';
--! EndIncluded ledger/functions/move_cash.sql
--! Included risk/functions/has_limits.sql
create or replace function risk.has_limits(trader trading.traders)
returns boolean
language sql immutable parallel safe
return coalesce(
  (trader).day_limit_cents, (trader).week_limit_cents, (trader).month_limit_cents,
  (trader).next_day_limit_cents, (trader).next_week_limit_cents,
  (trader).next_month_limit_cents
) is not null;

comment on function risk.has_limits(trading.traders) is
  'Whether a trader has a loss limit, now or soon.';
--! EndIncluded risk/functions/has_limits.sql
--! Included risk/functions/blocked_by.sql
create or replace function risk.blocked_by(trader trading.traders, at timestamptz)
returns text
language sql immutable parallel safe
return case
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'
  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).limits_reviewed_at is null then 'LIMITS_SETUP_REQUIRED'
end;

comment on function risk.blocked_by(trading.traders, timestamptz) is
  'The code of what keeps a trader from trading at a time, the first in order of precedence; null '
  'when the trader may trade.';
--! EndIncluded risk/functions/blocked_by.sql
--! Included risk/functions/limits_in_force.sql
create or replace function risk.limits_in_force(trader trading.traders, at timestamptz)
returns risk.loss_limits
language sql immutable parallel safe
return row(
  case when at >= (trader).day_limit_changes_at
    then (trader).next_day_limit_cents else (trader).day_limit_cents end,
  case when at >= (trader).week_limit_changes_at
    then (trader).next_week_limit_cents else (trader).week_limit_cents end,
  case when at >= (trader).month_limit_changes_at
    then (trader).next_month_limit_cents else (trader).month_limit_cents end
)::risk.loss_limits;

comment on function risk.limits_in_force(trading.traders, timestamptz) is
  'The loss limits of a trader that hold at a time.';
--! EndIncluded risk/functions/limits_in_force.sql
--! Included risk/functions/net_spent_since.sql
create or replace function risk.net_spent_since(trader trading.traders, day date)
returns bigint
language sql stable
return coalesce(
  (
    select ((trader).external_cents - (trader).balance_cents)
      - (o.external_cents - o.balance_cents)
    from ledger.day_openings as o
    where o.user_id = (trader).user_id
      and o.day >= net_spent_since.day
    order by o.day
    limit 1
  ),
  0
);

comment on function risk.net_spent_since(trading.traders, date) is
  'Net cash a user has put into trading since the start of a UTC day, in cents: buys, fees and '
  'splits less sells, merges and settlements. Negative when more came out than went in.';
--! EndIncluded risk/functions/net_spent_since.sql
--! Included risk/functions/exceeds_limits.sql
create or replace function risk.exceeds_limits(
  limits risk.loss_limits, untraded risk.loss_limits, balance_cents bigint, cost_cents bigint
)
returns boolean
language sql immutable parallel safe
return
  coalesce(
    greatest(0, (untraded).day_cents - balance_cents) + cost_cents > (limits).day_cents, false
  )
  or coalesce(
    greatest(0, (untraded).week_cents - balance_cents) + cost_cents > (limits).week_cents, false
  )
  or coalesce(
    greatest(0, (untraded).month_cents - balance_cents) + cost_cents > (limits).month_cents, false
  );

comment on function risk.exceeds_limits(risk.loss_limits, risk.loss_limits, bigint, bigint) is
  'Whether cost_cents more would pass any limit. untraded is the balance the trader would have '
  'without the trading of each window.';
--! EndIncluded risk/functions/exceeds_limits.sql
--! Included risk/functions/change_limit.sql
create or replace function risk.change_limit(
  present risk.limit_change, wanted_cents bigint, immediate boolean, at timestamptz
)
returns risk.limit_change
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := '24 hours';
  v_in_force_cents bigint := case
    when change_limit.at >= (present).changes_at then (present).next_limit_cents
    else (present).limit_cents
  end;
  v_is_raise boolean := v_in_force_cents is not null
    and (wanted_cents is null or wanted_cents > v_in_force_cents);
begin
  if immediate or not v_is_raise then
    return (wanted_cents, null, null)::risk.limit_change;
  elsif (present).changes_at > change_limit.at
    and (present).next_limit_cents is not distinct from wanted_cents
  then
    return present; -- asked for before: the wait goes on
  end if;
  return (v_in_force_cents, wanted_cents, change_limit.at + c_delay)::risk.limit_change;
end
$$;

comment on function risk.change_limit(risk.limit_change, bigint, boolean, timestamptz) is
  'A loss limit after its change is asked for: lower holds at once, higher or none after 24 '
  'hours.';
--! EndIncluded risk/functions/change_limit.sql

-- Functions: limits of requests
--! Included rate_limits/functions/standard_policy.sql
create or replace function rate_limits.standard_policy()
returns rate_limits.policy
language sql immutable parallel safe
return row('standard', 120, 10, null)::rate_limits.policy;

comment on function rate_limits.standard_policy() is
  'The policy of all users who have none of their own in force: 120 trading requests a minute, and '
  '10 back to back. It does not expire.';
--! EndIncluded rate_limits/functions/standard_policy.sql
--! Included rate_limits/functions/policy_of.sql
create or replace function rate_limits.policy_of(user_id uuid, at timestamptz)
returns rate_limits.policy
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      select row(p.tier, p.requests_per_minute, p.burst_capacity, p.expires_at)::rate_limits.policy
      from identity.users as u
      join rate_limits.rate_policies as p on p.user_id = u.id
      where u.public_id = policy_of.user_id
        and (p.expires_at is null or p.expires_at > policy_of.at)
    ),
    rate_limits.standard_policy()
  )
$$;

comment on function rate_limits.policy_of(uuid, timestamptz) is
  'The policy in force for a user''s trading requests: their own until it expires, else the '
  'standard one.';
--! EndIncluded rate_limits/functions/policy_of.sql
--! Included rate_limits/functions/read_checks.sql
create or replace function rate_limits.read_checks(requests json)
returns rate_limits.checks
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks rate_limits.checks;
begin
  with checks as materialized (
    select
      r.place,
      c.bucket,
      s.subject,
      s.count,
      dense_rank() over (order by c.bucket collate "C", s.subject collate "C") as counter
    from json_array_elements(read_checks.requests) with ordinality as r (asked, place)
    cross join json_each(r.asked) as c (bucket, asked)
    cross join lateral (
      select
        case json_typeof(c.asked)
          when 'object' then c.asked ->> 'subject'
          else c.asked #>> '{}'
        end,
        case json_typeof(c.asked)
          when 'object' then coalesce((c.asked ->> 'count')::rate_limits.request_count, 1)
          else 1
        end
    ) as s (subject, count)
  )
  select d.buckets, d.subjects, e.ends, c.checked, c.counts
  into v_checks
  from (
    select array_agg(x.bucket order by x.counter), array_agg(x.subject order by x.counter)
    from (
      select distinct on (y.counter) y.counter, y.bucket, y.subject
      from checks as y
      order by y.counter
    ) as x
  ) as d (buckets, subjects)
  cross join (
    select array_agg(x.sum::int order by x.place)
    from (
      select y.place, sum(count(*)) over (order by y.place)
      from checks as y
      group by y.place
    ) as x
  ) as e (ends)
  cross join (
    select
      array_agg(x.counter::int order by x.place, x.counter),
      array_agg(x.count order by x.place, x.counter)
    from checks as x
  ) as c (checked, counts);
  return v_checks;
end
$$;

comment on function rate_limits.read_checks(json) is
  'What the requests given to api.take_requests ask of which counters.';
--! EndIncluded rate_limits/functions/read_checks.sql
--! Included rate_limits/functions/lock_counters.sql
create or replace function rate_limits.lock_counters(checks rate_limits.checks)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A row that is there already is locked by this as well, though it is not changed. The time is
  -- known only after the locks: until then a new row counts as removable.
  insert into rate_limits.windows as w (bucket, subject, removable_at)
  select c.bucket, c.subject, '-infinity'
  from unnest(lock_counters.checks.buckets, lock_counters.checks.subjects) with ordinality
    as c (bucket, subject, place)
  where c.bucket <> 'v1-trading'
  order by c.place
  on conflict on constraint windows_pkey do update set taken = w.taken where false;

  insert into rate_limits.allowances as a (user_id, at, removable_at)
  select c.subject::uuid, 'epoch', '-infinity'
  from unnest(lock_counters.checks.buckets, lock_counters.checks.subjects) with ordinality
    as c (bucket, subject, place)
  where c.bucket = 'v1-trading'
  order by c.place
  on conflict on constraint allowances_pkey do update set spent = a.spent where false;
end
$$;

comment on function rate_limits.lock_counters(rate_limits.checks) is
  'Makes the counters that are missing, and locks all of them until the transaction ends: rolling '
  'windows by bucket and subject, then allowances by user.';
--! EndIncluded rate_limits/functions/lock_counters.sql
--! Included rate_limits/functions/read_allowance.sql
create or replace function rate_limits.read_allowance(
  allowance rate_limits.allowances, at timestamptz
)
returns rate_limits.counter
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  v_policy rate_limits.policy := rate_limits.policy_of(allowance.user_id, read_allowance.at);
  v_rate bigint := v_policy.requests_per_minute;
  v_capacity bigint := v_policy.burst_capacity * c_token;
  -- Under a policy with less capacity no more can be missing than all of it.
  v_spent bigint := least(allowance.spent, v_capacity);
  v_microseconds bigint :=
    (extract(epoch from read_allowance.at - allowance.at) * 1000000)::bigint;
  v_free bigint;
begin
  -- The first bound is for the product, which must stay within a bigint; the second for a clock
  -- that was set back.
  v_microseconds := greatest(least(v_microseconds, v_spent / v_rate + 1), 0);
  v_spent := greatest(v_spent - v_rate * v_microseconds, 0);
  v_free := (v_capacity - v_spent) / c_token;
  return row(
    'v1-trading',
    allowance.user_id,
    v_free,
    null,
    null,
    null,
    v_spent,
    v_policy
  )::rate_limits.counter;
end
$$;

comment on function rate_limits.read_allowance(rate_limits.allowances, timestamptz) is
  'Where a user''s token bucket stands at this time: what was spent has come back at the rate of '
  'the policy in force now, up to its capacity.';
--! EndIncluded rate_limits/functions/read_allowance.sql
--! Included rate_limits/functions/read_counters.sql
create or replace function rate_limits.read_counters(checks rate_limits.checks, at timestamptz)
returns rate_limits.counter[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counters rate_limits.counter[];
begin
  select array_agg(coalesce(w.counter, a.counter) order by c.place)
  into v_counters
  from unnest(read_counters.checks.buckets, read_counters.checks.subjects) with ordinality
    as c (bucket, subject, place)
  left join lateral (
    select row(
      c.bucket,
      c.subject,
      greatest(b.max_requests - u.used, 0),
      n.taken,
      b.width,
      n.removable_at not between read_counters.at + b.width and read_counters.at + 2 * b.width,
      null,
      null
    )::rate_limits.counter as counter
    from rate_limits.windows as n
    cross join lateral (
      select x.max_requests, make_interval(secs => x.window_seconds) as width
      from rate_limits.buckets as x
      where x.bucket = n.bucket
    ) as b
    left join lateral (
      select g.first_number
      from rate_limits.grants as g
      where g.bucket = c.bucket
        and g.subject = c.subject
        and g.at > read_counters.at - b.width
        and g.at <= read_counters.at
      order by g.at
      limit 1
    ) as f on true
    cross join lateral (
      select coalesce(n.taken - f.first_number + 1, 0) as used
    ) as u
    where n.bucket = c.bucket and n.subject = c.subject
  ) as w on true
  left join lateral (
    select rate_limits.read_allowance(x, read_counters.at) as counter
    from rate_limits.allowances as x
    where x.user_id = case c.bucket when 'v1-trading' then c.subject::uuid end
  ) as a on true;
  return v_counters;
end
$$;

comment on function rate_limits.read_counters(rate_limits.checks, timestamptz) is
  'Where the locked counters stand at this time; null for one whose bucket there is not.';
--! EndIncluded rate_limits/functions/read_counters.sql
--! Included rate_limits/functions/most_at_once.sql
create or replace function rate_limits.most_at_once(counter rate_limits.counter)
returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    ((most_at_once.counter).policy).burst_capacity,
    (
      select b.max_requests
      from rate_limits.buckets as b
      where b.bucket = (most_at_once.counter).bucket
    )
  )
$$;

comment on function rate_limits.most_at_once(rate_limits.counter) is
  'Requests that a counter has room for when none was counted lately.';
--! EndIncluded rate_limits/functions/most_at_once.sql
--! Included rate_limits/functions/retry_after_seconds.sql
create or replace function rate_limits.retry_after_seconds(
  counter rate_limits.counter, needed bigint, at timestamptz
)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  v_rate bigint := ((counter).policy).requests_per_minute;
  v_capacity bigint := ((counter).policy).burst_capacity;
  v_max_requests int;
  v_leaves_at timestamptz;
begin
  if counter.taken is null then
    return ceil(
      (counter.spent + (retry_after_seconds.needed - v_capacity) * c_token) / (v_rate * 1000000.0)
    )::int;
  end if;
  select b.max_requests::int into strict v_max_requests
  from rate_limits.buckets as b
  where b.bucket = counter.bucket;
  -- The request that has to leave the window, by its number. One that this very call lets through
  -- has no grant yet.
  select g.at into v_leaves_at
  from rate_limits.grants as g
  where g.bucket = counter.bucket
    and g.subject = counter.subject
    and g.at > retry_after_seconds.at - counter.width
    and g.at <= retry_after_seconds.at
    and g.last_number >= counter.taken - v_max_requests + retry_after_seconds.needed
  order by g.at
  limit 1;
  return ceil(extract(epoch from
    coalesce(v_leaves_at, retry_after_seconds.at) + counter.width - retry_after_seconds.at
  ))::int;
end
$$;

comment on function rate_limits.retry_after_seconds(rate_limits.counter, bigint, timestamptz) is
  'After how many seconds a counter has room for so many requests, counted from where it stands: '
  'those that the same call lets through are among them. To be asked only where it has less room.';
--! EndIncluded rate_limits/functions/retry_after_seconds.sql
--! Included rate_limits/functions/record_grants.sql
create or replace function rate_limits.record_grants(
  counters rate_limits.counter[], granted int[], at timestamptz
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  c_slack constant interval := '10 minutes';
begin
  insert into rate_limits.grants as g (bucket, subject, at, first_number, last_number)
  select c.bucket, c.subject, record_grants.at, c.taken + 1, c.taken + c.granted
  from unnest(record_grants.counters, record_grants.granted) as c (
    bucket, subject, free, taken, width, is_due, spent, policy, granted
  )
  where c.taken is not null and c.granted > 0
  on conflict on constraint grants_pkey do update
  set last_number = excluded.last_number;

  -- Beside what has left the window, this removes what a clock wrote that was then set back.
  delete from rate_limits.grants as g
  using
    unnest(record_grants.counters) as c,
    lateral (
      select w.kept_from
      from rate_limits.windows as w
      where w.bucket = c.bucket and w.subject = c.subject
    ) as k
  where c.is_due
    and g.bucket = c.bucket
    and g.subject = c.subject
    and g.at >= k.kept_from
    and (g.at <= record_grants.at - c.width or g.at > record_grants.at);

  update rate_limits.windows as w set
    taken = c.taken + c.granted,
    kept_from = case when c.is_due then record_grants.at - c.width else w.kept_from end,
    removable_at = case
      when c.is_due then record_grants.at + 2 * c.width
      else w.removable_at
    end
  from unnest(record_grants.counters, record_grants.granted) as c (
    bucket, subject, free, taken, width, is_due, spent, policy, granted
  )
  where w.bucket = c.bucket and w.subject = c.subject and c.taken is not null and c.granted > 0;

  update rate_limits.allowances as a set
    spent = n.spent,
    at = record_grants.at,
    removable_at = case
      when a.removable_at between n.full_at and n.full_at + c_slack then a.removable_at
      else n.full_at + c_slack
    end
  from unnest(record_grants.counters, record_grants.granted) as c (
    bucket, subject, free, taken, width, is_due, spent, policy, granted
  )
  cross join lateral (
    select
      c.spent + c.granted * c_token as spent,
      record_grants.at + make_interval(
        secs => (c.spent + c.granted * c_token) / ((c.policy).requests_per_minute * 1000000.0)
      ) as full_at
  ) as n
  where a.user_id = case c.bucket when 'v1-trading' then c.subject::uuid end
    and c.granted > 0;
end
$$;

comment on function rate_limits.record_grants(rate_limits.counter[], int[], timestamptz) is
  'Writes down how many requests each of the locked counters let through at this time. Once in a '
  'window it also removes the grants that have left it.';
--! EndIncluded rate_limits/functions/record_grants.sql
--! Included rate_limits/functions/count_stream.sql
create or replace function rate_limits.count_stream(
  lease_id uuid, holder text, subject text, streams int
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into rate_limits.open_streams as s (holder, subject, lease_id, stream_count)
  values (
    count_stream.holder, count_stream.subject, count_stream.lease_id, count_stream.streams
  )
  on conflict on constraint open_streams_pkey do update set
    stream_count = s.stream_count + excluded.stream_count
$$;

comment on function rate_limits.count_stream(uuid, text, text, int) is
  'Counts so many more streams of an address or a user in one server process. Locks: the counter.';
--! EndIncluded rate_limits/functions/count_stream.sql

-- Functions: the engine
--! Included trading/functions/lock_market.sql
create or replace function trading.lock_market(market_id bigint)
returns void
language sql volatile
return pg_advisory_xact_lock((29037::bigint << 44) | market_id | core.check_session());

comment on function trading.lock_market(bigint) is
  'Takes the lock of a market until the transaction ends: everything that changes its book, '
  'trades, positions or status does so under it. The first lock of every command; several '
  'markets are locked in ascending id. Errors: UNFIT_SESSION.';
--! EndIncluded trading/functions/lock_market.sql
--! Included trading/functions/lock_markets.sql
create or replace function trading.lock_markets(market_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
begin
  foreach v_market_id in array lock_markets.market_ids loop
    perform trading.lock_market(v_market_id);
  end loop;
end
$$;

comment on function trading.lock_markets(bigint[]) is
  'Locks markets until the transaction ends, one after the other. The ids are to be ascending, as '
  'everywhere.';
--! EndIncluded trading/functions/lock_markets.sql
--! Included trading/functions/lock_free_markets.sql
create or replace function trading.lock_free_markets(market_ids bigint[])
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
  v_locked bigint[] := '{}';
begin
  perform core.check_session();
  foreach v_market_id in array lock_free_markets.market_ids loop
    if v_market_id is null or pg_try_advisory_xact_lock((29037::bigint << 44) | v_market_id) then
      v_locked := v_locked || v_market_id;
    end if;
  end loop;
  return v_locked;
end
$$;

comment on function trading.lock_free_markets(bigint[]) is
  'Locks those of some markets that nobody holds, until the transaction ends; returns them in '
  'their order, and nulls as they are.';
--! EndIncluded trading/functions/lock_free_markets.sql
--! Included trading/functions/try_lock_market.sql
create or replace function trading.try_lock_market(market_id bigint, waits boolean default false)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
begin
  perform core.check_session();
  if pg_try_advisory_xact_lock((29037::bigint << 44) | try_lock_market.market_id) then
    return true;
  end if;
  if try_lock_market.waits then
    perform trading.lock_market(try_lock_market.market_id);
    return true;
  end if;
  return false;
exception when lock_not_available then
  return false;
end
$$;

comment on function trading.try_lock_market(bigint, boolean) is
  'Takes the lock of a market, that of trading.lock_market, if it is free; returns whether it did. '
  'waits: stand in line for it for 250 ms, so that a market which is never free for long gives it '
  'as well. For jobs, which do what can be done and come back for the rest.';
--! EndIncluded trading/functions/try_lock_market.sql
--! Included trading/functions/fee_cents.sql
create or replace function trading.fee_cents(rate_bps int, weight bigint)
returns bigint
language sql immutable parallel safe
return (rate_bps * weight + 999999) / 1000000;

comment on function trading.fee_cents(int, bigint) is
  'Fee of an order: rate_bps x weight / 1000000 cents rounded up, weight being the sum over its '
  'fills of quantity x p x (100 - p).';
--! EndIncluded trading/functions/fee_cents.sql
--! Included trading/functions/filled_status.sql
create or replace function trading.filled_status(left_quantity int, quantity int)
returns trading.order_status
language sql immutable parallel safe
return case
  when left_quantity = 0 then 'filled'::trading.order_status
  when left_quantity = quantity then 'open'::trading.order_status
  else 'partially_filled'::trading.order_status
end;

comment on function trading.filled_status(int, int) is
  'Status of an order that is not cancelled, by what is left of it.';
--! EndIncluded trading/functions/filled_status.sql
--! Included trading/functions/trader_rejection.sql
create or replace function trading.trader_rejection(
  site_paused boolean, known boolean, blocked_by text
)
returns text
language sql immutable parallel safe
return case
  when site_paused then 'TRADING_PAUSED'
  when not known then 'UNAUTHORIZED'
  else blocked_by
end;

comment on function trading.trader_rejection(boolean, boolean, text) is
  'Why nothing new is taken from a trader at present, whatever it is, in order of precedence; '
  'null when they may trade. known: the user exists; blocked_by: see risk.blocked_by.';
--! EndIncluded trading/functions/trader_rejection.sql
--! Included trading/functions/request_rejection.sql
create or replace function trading.request_rejection(
  request trading.order_request,
  context trading.market_context,
  known boolean,
  blocked_by text
)
returns text
language sql immutable parallel safe
return case
  when (request).problem is not null then 'INVALID_REQUEST'
  when (request).order_id is null and (request).expires_at <= (context).at
    then 'INVALID_REQUEST'
  else coalesce(
    trading.trader_rejection((context).site_paused, known, blocked_by),
    case
      when (context).market_id is null then 'MARKET_NOT_FOUND'
      when not (context).is_open then 'MARKET_NOT_OPEN'
      when (request).expires_at <= (context).at then 'INVALID_REQUEST'
    end
  )
end;

comment on function trading.request_rejection(
  trading.order_request, trading.market_context, boolean, text
) is
  'Why a request is refused before anyone looks at the book, in order of precedence; null when it '
  'is not. An expiry in the past is a fault of a new request, and comes first. A scheduled order '
  'that is released (order_id) may have expired since, which comes last: then its reason is the '
  'same whether a late release or a late closing of the market gets to it first. known: its user '
  'exists; blocked_by: see risk.blocked_by.';
--! EndIncluded trading/functions/request_rejection.sql
--! Included trading/functions/funding_rejection.sql
create or replace function trading.funding_rejection(
  is_buy boolean,
  quantity int,
  required_cents bigint,
  cost_cents bigint,
  balance_cents bigint,
  held_quantity bigint,
  limits risk.loss_limits,
  untraded risk.loss_limits,
  open_cost_cents bigint
)
returns text
language sql immutable parallel safe
return case
  when not is_buy then
    case when held_quantity < quantity then 'INSUFFICIENT_BALANCE' end
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'
  when risk.exceeds_limits(
    limits, untraded, balance_cents, open_cost_cents + cost_cents
  ) then 'LOSS_LIMIT'
end;

comment on function trading.funding_rejection(
  boolean, int, bigint, bigint, bigint, bigint, risk.loss_limits, risk.loss_limits, bigint
) is
  'Why a trader cannot afford an order that must be covered by required_cents and counts with '
  'cost_cents toward the loss limits, or cannot sell what it would sell; null when they can. The '
  'limits are null for a trader without any.';
--! EndIncluded trading/functions/funding_rejection.sql
--! Included trading/functions/fee_in_force.sql
create or replace function trading.fee_in_force(
  market_id bigint, category_id bigint, at timestamptz
)
returns setof trading.fee_schedules
language sql stable
begin atomic
  select f.*
  from trading.fee_schedules as f
  where f.id = coalesce(
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id = fee_in_force.market_id
        and s.category_id is null
        and s.effective_from <= fee_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id = fee_in_force.category_id
        and s.effective_from <= fee_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id is null
        and s.effective_from <= fee_in_force.at
      order by s.effective_from desc, s.id desc
      limit 1
    )
  );
end;

comment on function trading.fee_in_force(bigint, bigint, timestamptz) is
  'The fee schedule of a market at a time: its own, else its category''s, else the default; of '
  'these the latest.';
--! EndIncluded trading/functions/fee_in_force.sql
--! Included trading/functions/scheduled_cost_cents.sql
create or replace function trading.scheduled_cost_cents(
  order_type trading.order_type, price int, quantity int, budget_cents int, taker_rate_bps int
)
returns bigint
language sql immutable parallel safe
return case
  when order_type = 'sell' then 0
  when budget_cents is not null then budget_cents
  else quantity::bigint * price
    + trading.fee_cents(taker_rate_bps, quantity::bigint * price * (100 - price))
end;

comment on function trading.scheduled_cost_cents(trading.order_type, int, int, int, int) is
  'The most that a scheduled order could cost, in cents: its budget, or all of it at its price '
  '(99 for a market buy) with the fee.';
--! EndIncluded trading/functions/scheduled_cost_cents.sql
--! Included trading/functions/scheduled_order_cost_cents.sql
create or replace function trading.scheduled_order_cost_cents(order_id bigint, at timestamptz)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select trading.scheduled_cost_cents(
    o.order_type, o.price, o.quantity, o.budget_cents, f.taker_rate_bps
  )
  from trading.orders as o
  join catalog.markets as m on m.id = o.market_id
  cross join trading.fee_in_force(m.id, m.category_id, scheduled_order_cost_cents.at) as f
  where o.id = scheduled_order_cost_cents.order_id
$$;

comment on function trading.scheduled_order_cost_cents(bigint, timestamptz) is
  'The most that a scheduled order could cost at the fee in force, in cents.';
--! EndIncluded trading/functions/scheduled_order_cost_cents.sql
--! Included trading/functions/active_order_cost_cents.sql
create or replace function trading.active_order_cost_cents(
  open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
return case
  when (open_order).order_type = 'sell' or (open_order).expires_at <= at then 0
  when (open_order).queue_position is not null
    then (open_order).left_quantity::bigint * (open_order).book_price
  else trading.scheduled_order_cost_cents((open_order).order_id, at)
end;

comment on function trading.active_order_cost_cents(trading.active_orders, timestamptz) is
  'What an open order could still cost, in cents: a resting buy what is left of it at its price, '
  'a scheduled one its worst case. Nothing once it has expired.';
--! EndIncluded trading/functions/active_order_cost_cents.sql
--! Included trading/functions/open_cost_cents.sql
create or replace function trading.open_cost_cents(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce(sum(trading.active_order_cost_cents(b, open_cost_cents.at)), 0)::bigint
  from trading.active_orders as b
  where b.user_id = open_cost_cents.user_id;
end;

comment on function trading.open_cost_cents(bigint, timestamptz) is
  'What a user''s open orders could still cost, in cents.';
--! EndIncluded trading/functions/open_cost_cents.sql
--! Included trading/functions/release_in_ms.sql
create or replace function trading.release_in_ms(release_at timestamptz, at timestamptz)
returns bigint
language sql immutable parallel safe
return greatest(0, ceil(extract(epoch from release_at - at) * 1000)::bigint);

comment on function trading.release_in_ms(timestamptz, timestamptz) is
  'Milliseconds until a release, rounded up; 0 when it is due.';
--! EndIncluded trading/functions/release_in_ms.sql
--! Included trading/functions/schedule_members.sql
create or replace function trading.schedule_members(
  release_at timestamptz, budget_cents int, at timestamptz
)
returns text
language sql stable parallel safe
return format(
  ',"releaseAt":"%s","releaseInMs":%s,"budgetCents":%s',
  core.iso8601(release_at),
  trading.release_in_ms(release_at, at),
  coalesce(budget_cents::text, 'null')
);

comment on function trading.schedule_members(timestamptz, int, timestamptz) is
  'What the answers show of a scheduled order beside the rest, as members of its JSON object.';
--! EndIncluded trading/functions/schedule_members.sql
--! Included trading/functions/order_object.sql
create or replace function trading.order_object(
  id uuid, user_id uuid, market_id uuid, side trading.side, price int, quantity int,
  filled_quantity int, status trading.order_status, order_type trading.order_type,
  time_in_force trading.time_in_force, cancel_reason trading.cancel_reason,
  expires_at timestamptz, created_at text, schedule text
)
returns text
language sql stable parallel safe
return format(
  '{"id":"%s","userId":"%s","marketId":"%s","side":"%s","price":%s,"quantity":%s,'
  '"filledQuantity":%s,"status":"%s","orderType":"%s",%s"cancelReason":%s,'
  '"expiresAt":%s,"createdAt":"%s"%s}',
  id, user_id, market_id, side, price, quantity,
  filled_quantity, status, order_type, '"timeInForce":"' || time_in_force || '",',
  coalesce('"' || cancel_reason || '"', 'null'),
  coalesce('"' || core.iso8601(expires_at) || '"', 'null'), created_at, schedule
);

comment on function trading.order_object(
  uuid, uuid, uuid, trading.side, int, int, int, trading.order_status, trading.order_type,
  trading.time_in_force, trading.cancel_reason, timestamptz, text, text
) is
  'An order as the answers to commands show it, as JSON text: a fifth of the time that '
  'json_build_object takes, and nothing in it needs escaping. created_at as core.iso8601 gives '
  'it; schedule by trading.schedule_members, or null; a null time_in_force is left out.';
--! EndIncluded trading/functions/order_object.sql
--! Included trading/functions/balance_object.sql
create or replace function trading.balance_object(balance_cents bigint)
returns text
language sql stable parallel safe
return format('{"total":%s,"available":%s}', balance_cents, balance_cents);

comment on function trading.balance_object(bigint) is
  'A user''s cash as the answers to commands show it, as JSON text. Nothing is ever reserved.';
--! EndIncluded trading/functions/balance_object.sql
--! Included trading/functions/position_object.sql
create or replace function trading.position_object(
  held trading.positions, market catalog.markets, last_trade_price int
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', (held).public_id,
  'marketId', (market).public_id,
  'marketTitle', (market).title,
  'marketStatus', (market).status,
  'lastTradePrice', last_trade_price,
  'side', (held).side,
  'quantity', (held).quantity,
  'avgPrice', least(99, greatest(1, core.half_up((held).cost_cents, (held).quantity))),
  'realisedPnl', (held).realised_cents
);

comment on function trading.position_object(trading.positions, catalog.markets, int) is
  'A position that holds shares, as the portfolio and the answers about complete sets show it.';
--! EndIncluded trading/functions/position_object.sql
--! Included trading/functions/fill_object.sql
create or replace function trading.fill_object(
  id uuid, market_id uuid, taker_side trading.side, taker_order_id uuid, maker_order_id uuid,
  taker_user_id uuid, maker_user_id uuid, yes_price int, quantity int, created_at text
)
returns text
language sql stable parallel safe
return format(
  '{"id":"%s","marketId":"%s","buyOrderId":"%s","sellOrderId":"%s","buyerId":"%s",'
  '"sellerId":"%s","price":%s,"quantity":%s,"createdAt":"%s"}',
  id, market_id,
  case taker_side when 'yes' then taker_order_id else maker_order_id end,
  case taker_side when 'yes' then maker_order_id else taker_order_id end,
  case taker_side when 'yes' then taker_user_id else maker_user_id end,
  case taker_side when 'yes' then maker_user_id else taker_user_id end,
  yes_price, quantity, created_at
);

comment on function trading.fill_object(
  uuid, uuid, trading.side, uuid, uuid, uuid, uuid, int, int, text
) is
  'A fill as the answers show it, as JSON text: the stored YES order is the buy order, the stored '
  'NO order the sell order.';
--! EndIncluded trading/functions/fill_object.sql
--! Included trading/functions/fills_of_order.sql
create or replace function trading.fills_of_order(order_id bigint)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select '[' || coalesce(
    string_agg(
      trading.fill_object(
        t.public_id, m.public_id, t.taker_side, taker.public_id, maker.public_id,
        taker_user.public_id, maker_user.public_id, t.price, t.quantity,
        core.iso8601(t.created_at)
      ),
      ','
      order by t.id
    ),
    ''
  ) || ']'
  from trading.trades as t
  join catalog.markets as m on m.id = t.market_id
  join trading.orders as taker on taker.id = t.taker_order_id
  join trading.orders as maker on maker.id = t.maker_order_id
  join identity.users as taker_user on taker_user.id = t.taker_user_id
  join identity.users as maker_user on maker_user.id = t.maker_user_id
  where t.taker_order_id = fills_of_order.order_id
$$;

comment on function trading.fills_of_order(bigint) is
  'What an order took when it was placed, in order of execution, as the answers show it, as '
  'JSON text.';
--! EndIncluded trading/functions/fills_of_order.sql
--! Included trading/functions/replay_answer.sql
create or replace function trading.replay_answer(
  order_id bigint,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  balance_cents bigint,
  at timestamptz
)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select format(
      '{"order":%s,"fills":%s,"cancelledOrders":[],"balance":%s,"feeCents":null}',
      trading.order_object(
        o.public_id,
        u.public_id,
        m.public_id,
        o.side,
        o.price,
        o.quantity,
        coalesce(o.quantity - replay_answer.left_quantity, o.filled_quantity),
        case
          when replay_answer.cancel_reason is not null then 'cancelled'
          when replay_answer.left_quantity is not null
            then trading.filled_status(replay_answer.left_quantity, o.quantity)
          else o.status
        end,
        o.order_type,
        o.time_in_force,
        case when replay_answer.left_quantity is null then o.cancel_reason
          else replay_answer.cancel_reason end,
        o.expires_at,
        core.iso8601(o.created_at),
        case when o.status = 'scheduled'
          then trading.schedule_members(o.release_at, o.budget_cents, replay_answer.at) end
      ),
      trading.fills_of_order(o.id),
      trading.balance_object(replay_answer.balance_cents)
    )
    from trading.orders as o
    join catalog.markets as m on m.id = o.market_id
    join trading.traders as u on u.user_id = o.user_id
    where o.id = replay_answer.order_id
  );
end
$$;

comment on function trading.replay_answer(
  bigint, int, trading.cancel_reason, bigint, timestamptz
) is
  'The answer to a request whose idempotency key stands for an order from before: the order as it '
  'is now and the fills of its placement. left_quantity and cancel_reason are of an order that the '
  'batch moves, as it stood when the request came; null: as its row says.';
--! EndIncluded trading/functions/replay_answer.sql
--! Included trading/functions/depth_place.sql
create or replace function trading.depth_place(book_side trading.side, book_price int)
returns int
language sql immutable parallel safe
return case book_side when 'yes' then book_price else 99 + book_price end;

comment on function trading.depth_place(trading.side, int) is
  'Where the shares of a side and price are in trading.market_state.depth.';
--! EndIncluded trading/functions/depth_place.sql
--! Included trading/functions/changed_depth.sql
create or replace function trading.changed_depth(depth bigint[], places int[], changes bigint[])
returns bigint[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth bigint[] := changed_depth.depth;
begin
  for i in 1 .. coalesce(cardinality(places), 0) loop
    v_depth[places[i]] := v_depth[places[i]] + changes[i];
  end loop;
  return v_depth;
end
$$;

comment on function trading.changed_depth(bigint[], int[], bigint[]) is
  'The depth of a market (trading.market_state) with shares added at some places.';
--! EndIncluded trading/functions/changed_depth.sql
--! Included trading/functions/best_in_depth.sql
create or replace function trading.best_in_depth(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_base constant int := case best_in_depth.book_side when 'yes' then 0 else 99 end;
begin
  for p in reverse best_in_depth.from_price .. 1 loop
    if best_in_depth.depth[c_base + p] > 0 then
      return p;
    end if;
  end loop;
  return 0;
end
$$;

comment on function trading.best_in_depth(bigint[], trading.side, int) is
  'The highest price of a side with shares in a market''s depth, at most from_price; 0 if none.';
--! EndIncluded trading/functions/best_in_depth.sql
--! Included trading/functions/best_after.sql
create or replace function trading.best_after(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language sql immutable parallel safe
return case
  when from_price = 0 or depth[trading.depth_place(book_side, from_price)] > 0 then from_price
  else trading.best_in_depth(depth, book_side, from_price)
end;

comment on function trading.best_after(bigint[], trading.side, int) is
  'As trading.best_in_depth, which it only calls when no shares are left at from_price.';
--! EndIncluded trading/functions/best_after.sql
--! Included trading/functions/write_depth.sql
create or replace function trading.write_depth(
  market_id bigint, places int[], changes bigint[], counted boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old trading.market_state;
  v_depth bigint[];
  v_best_yes_price int;
  v_best_no_price int;
begin
  select s.* into strict v_old
  from trading.market_state as s
  where s.market_id = write_depth.market_id;
  v_depth := trading.changed_depth(v_old.depth, write_depth.places, write_depth.changes);
  v_best_yes_price := trading.best_after(v_depth, 'yes', v_old.best_yes_price);
  v_best_no_price := trading.best_after(v_depth, 'no', v_old.best_no_price);

  update trading.market_state as s set
    version = s.version + write_depth.counted::int,
    depth = v_depth,
    best_yes_price = v_best_yes_price,
    first_yes_position = case
      when v_best_yes_price = s.best_yes_price then s.first_yes_position else 0
    end,
    best_no_price = v_best_no_price,
    first_no_position = case
      when v_best_no_price = s.best_no_price then s.first_no_position else 0
    end
  where s.market_id = write_depth.market_id;

  if write_depth.counted then
    insert into trading.outbox (channel, payload)
    select 'market_changed', json_build_object(
      'marketId', m.public_id, 'version', v_old.version + 1
    )
    from catalog.markets as m
    where m.id = write_depth.market_id;
  end if;
end
$$;

comment on function trading.write_depth(bigint, int[], bigint[], boolean) is
  'Takes shares off the depth of a market''s book (changes below 0, see trading.changed_depth) and '
  'moves its best prices down to what is left. counted: as one change of the market, which is '
  'announced. The caller holds the market''s lock.';
--! EndIncluded trading/functions/write_depth.sql
--! Included trading/functions/read_markets.sql
create or replace function trading.read_markets(market_ids bigint[], at timestamptz)
returns trading.market_context[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(
      (
        m.id, m.public_id, m.title, m.category_id, read_markets.at, x.trading_paused,
        m.status = 'open' and (m.close_time is null or m.close_time > read_markets.at),
        (
          select e.live_delay_ms
          from catalog.events as e
          where e.id = m.event_id
            and e.live
            and (e.starts_at is null or e.starts_at <= read_markets.at)
            and (e.ends_at is null or e.ends_at > read_markets.at)
        ),
        f.taker_rate_bps, f.id, s.escrow_cents, s.escrow_version, s.revenue_cents,
        s.revenue_version, s.best_yes_price, s.first_yes_position, s.best_no_price,
        s.first_no_position
      )::trading.market_context
      order by u.place
    )
    from unnest(read_markets.market_ids) with ordinality as u (id, place)
    cross join core.settings as x
    left join lateral (
      select y.* from catalog.markets as y where y.id = u.id limit 1
    ) as m on true
    left join lateral (
      select y.* from trading.market_state as y where y.market_id = u.id limit 1
    ) as s on true
    left join lateral trading.fee_in_force(m.id, m.category_id, read_markets.at) as f on true
  );
end
$$;

comment on function trading.read_markets(bigint[], timestamptz) is
  'What a batch must know of its markets and the site, in the order of the ids. A null id stands '
  'for a market that does not exist. To be called under the markets'' locks.';
--! EndIncluded trading/functions/read_markets.sql
--! Included trading/functions/read_requests.sql
create or replace function trading.read_requests(orders jsonb)
returns setof trading.order_request
language sql stable
begin atomic
  select
    dense_rank() over (order by r.market_id nulls last)::int,
    r.market_id,
    r.user_id,
    r.side,
    r.order_type,
    r.price,
    r.quantity,
    r.budget_cents,
    r.time_in_force,
    r.post_only,
    r.expires_at,
    r.idempotency_key,
    case
      when r.order_type = 'buy' then r.side
      when r.side = 'yes' then 'no'::trading.side
      else 'yes'::trading.side
    end,
    case when r.order_type = 'buy' then r.price else 100 - r.price end,
    case
      when r.side is null then 'side: required'
      when r.price not between 1 and 99 then 'price: must be between 1 and 99'
      when r.quantity not between 1 and 10000 then 'quantity: must be between 1 and 10000'
      when r.budget_cents not between 1 and 1000000
        then 'budgetCents: must be between 1 and 1000000'
      when r.order_type = 'sell' and r.budget_cents is not null
        then 'budgetCents: not for a sell'
      when r.quantity is null and r.budget_cents is null then 'quantity: required'
      when r.quantity is not null and r.budget_cents is not null
        then 'quantity: excludes budgetCents'
      when r.post_only and r.time_in_force = 'ioc'
        then 'postOnly: needs a price and gtc, and no budgetCents'
    end,
    r.is_market,
    0::bigint,
    null::bigint,
    null::uuid,
    null::timestamptz
  from (
    select
      (select m.id from catalog.markets as m where m.public_id = q."marketId") as market_id,
      (select t.user_id from trading.traders as t where t.public_id = q."userId") as user_id,
      q.ordinality,
      q.side,
      coalesce(q."orderType", 'buy') as order_type,
      coalesce(q.price, case when q."orderType" = 'sell' then 1 else 99 end) as price,
      q.price is null as is_market,
      q.quantity,
      q."budgetCents" as budget_cents,
      case
        when q.price is null or q."budgetCents" is not null then 'ioc'
        else coalesce(q."timeInForce", 'gtc')
      end::trading.time_in_force as time_in_force,
      coalesce(q."postOnly", false) as post_only,
      q."expiresAt" as expires_at,
      q."idempotencyKey" as idempotency_key
    from rows from (
      jsonb_to_recordset(read_requests.orders) as (
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
        "postOnly" boolean
      )
    ) with ordinality as q (
      "marketId", "userId", side, price, quantity, "budgetCents", "orderType", "timeInForce",
      "idempotencyKey", "expiresAt", "postOnly", ordinality
    )
  ) as r
  order by r.ordinality;
end;

comment on function trading.read_requests(jsonb) is
  'The requests of a batch from a JSON array of objects with marketId, userId, side, price, '
  'quantity, budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly (the body of '
  'POST /orders and its user), in the order of the array. A value of the wrong type is an error of '
  'the whole call; a value out of bounds becomes the problem of its request.';
--! EndIncluded trading/functions/read_requests.sql
--! Included trading/functions/requests_of_markets.sql
create or replace function trading.requests_of_markets(
  requests trading.order_request[], market_ids bigint[]
)
returns trading.order_request[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept trading.order_request[] := '{}';
  v_request trading.order_request;
begin
  foreach v_request in array requests_of_markets.requests loop
    v_request.market := array_position(market_ids, v_request.market_id);
    if v_request.market is not null then
      v_kept := v_kept || v_request;
    end if;
  end loop;
  return v_kept;
end
$$;

comment on function trading.requests_of_markets(trading.order_request[], bigint[]) is
  'Those of some requests that are for certain markets, placed among these.';
--! EndIncluded trading/functions/requests_of_markets.sql
--! Included trading/functions/rejection_message.sql
create or replace function trading.rejection_message(code text, problem text)
returns text
language sql immutable parallel safe
return case when code = 'INVALID_REQUEST'
  then coalesce(problem, 'expiresAt: must be in the future')
end;

comment on function trading.rejection_message(text, text) is
  'What a rejection says beyond its code; null when the code''s own message says it all.';
--! EndIncluded trading/functions/rejection_message.sql
--! Included trading/functions/read_replays.sql
create or replace function trading.read_replays(
  requests trading.order_request[], at timestamptz
)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (
      select x.order_id
      from trading.idempotency_keys as x
      where x.user_id = r.user_id
        and x.key = r.idempotency_key
        and x.created_at > read_replays.at - interval '24 hours'
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
--! EndIncluded trading/functions/read_replays.sql
--! Included trading/functions/most_beyond.sql
create or replace function trading.most_beyond()
returns int
language sql immutable parallel safe
return 200;

comment on function trading.most_beyond() is
  'How many makers a request may still meet once it is sure to be rejected, to find which of the '
  'reasons for it comes first.';
--! EndIncluded trading/functions/most_beyond.sql
--! Included trading/functions/is_large.sql
create or replace function trading.is_large(quantity int)
returns boolean
language sql immutable parallel safe
return coalesce(quantity, 10000) > 100;

comment on function trading.is_large(int) is
  'Whether an order of so many shares, null with a budget, can reach so much of a book that it '
  'pays to look first at how far its user''s cash takes it (trading.read_reach).';
--! EndIncluded trading/functions/is_large.sql
--! Included trading/functions/read_reach.sql
create or replace function trading.read_reach(
  markets trading.market_context[], requests trading.order_request[]
)
returns table (demand int[], shares_before_own bigint[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select
      array_agg(
        case
          when r.is_small then r.most
          when f.is_blocked then 1
          else least(
            r.most,
            r.budget_cents / r.least_cents + 1,
            case
              when r.order_type = 'sell' then case when f.held_quantity < r.most then 1 end
              when r.post_only then 1
              else greatest(f.spendable_cents, 0) / r.least_cents + 1
            end + case when o.price is null and not f.ends_at_limit then 0 else c.most_beyond end
          )::int
        end
        order by r.ordinality
      ),
      array_agg(case when r.is_small then 0 else b.quantity end order by r.ordinality)
    from (
      select
        q.*,
        coalesce(q.quantity, 10000) as most,
        not trading.is_large(q.quantity) as is_small,
        m.site_paused or not m.is_open as is_halted,
        -- What a share costs at least, as the book stands now.
        100 - case q.book_side when 'yes' then m.best_no_price else m.best_yes_price end
          as least_cents,
        m.at
      from unnest(read_reach.requests) with ordinality as q
      join unnest(read_reach.markets) with ordinality as m (
        market_id, public_id, title, category_id, at, site_paused, is_open, live_delay_ms,
        taker_rate_bps, fee_schedule_id, escrow_cents, escrow_version, revenue_cents,
        revenue_version, best_yes_price, first_yes_position, best_no_price, first_no_position, place
      ) on m.place = q.market
    ) as r
    cross join (values (trading.most_beyond())) as c (most_beyond)
    left join lateral (
      select
        t.blocked_by is not null or r.is_halted as is_blocked,
        coalesce(t.limit_cents < t.balance_cents, false) as ends_at_limit,
        least(t.balance_cents, t.limit_cents) as spendable_cents,
        coalesce(
          (
            select case r.side when 'yes' then h.yes_quantity else h.no_quantity end
            from trading.holdings as h
            where h.market_id = r.market_id and h.user_id = r.user_id
          ),
          0
        ) as held_quantity
      from (
        select
          g.balance_cents,
          risk.blocked_by(g, r.at) as blocked_by,
          least((l.limits).day_cents, (l.limits).week_cents, (l.limits).month_cents) as limit_cents
        from trading.traders as g
        cross join lateral (select risk.limits_in_force(g, r.at)) as l (limits)
        where g.user_id = r.user_id
      ) as t
      where not r.is_small
    ) as f on true
    left join lateral (
      select max(x.book_price) as price
      from trading.active_orders as x
      where x.user_id = r.user_id
        and x.market_id = r.market_id
        and x.queue_position is not null
        and x.book_side <> r.book_side
        and x.book_price >= 100 - r.book_price
        and not r.is_small
    ) as o on true
    left join lateral (
      select coalesce(sum(d.quantity), 0)::bigint as quantity
      from trading.market_state as s
      cross join lateral unnest(
        case r.book_side
          when 'yes' then s.depth[99 + o.price + 1 : 198]
          else s.depth[o.price + 1 : 99]
        end
      ) as d (quantity)
      where s.market_id = r.market_id
      having o.price is not null
    ) as b on true;
end
$$;

comment on function trading.read_reach(trading.market_context[], trading.order_request[]) is
  'How far requests need to look into the books, in their order. demand: the shares that each can '
  'take at most, by its cash, limits or shares as they are now, so that a request that must be '
  'rejected reads little of a deep book. It is an estimate: cash is not locked yet, and a match '
  'that comes to the end of what was read starts over with more. shares_before_own: what stands '
  'at better prices than the best resting order of its own user that it could reach; null when '
  'there is none. Orders of up to 100 shares are not looked at: 0. Cost: the user''s open orders. '
  'The caller holds the markets'' locks.';
--! EndIncluded trading/functions/read_reach.sql
--! Included trading/functions/meets_makers.sql
create or replace function trading.meets_makers(
  request trading.order_request, context trading.market_context
)
returns boolean
language sql immutable parallel safe
return (context).live_delay_ms is null
and (request).book_price + case (request).book_side
  when 'yes' then (context).best_no_price else (context).best_yes_price
end >= 100;

comment on function trading.meets_makers(trading.order_request, trading.market_context) is
  'Whether the price of a request reaches the best price of the other side of its book.';
--! EndIncluded trading/functions/meets_makers.sql
--! Included trading/functions/plan_reading.sql
-- A batch of one is planned by expressions alone: a query would take ten times as long.
create or replace function trading.plan_reading(
  markets trading.market_context[], requests trading.order_request[]
)
returns trading.reading_plan
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan trading.reading_plan;
  v_market trading.market_context;
  v_request trading.order_request;
begin
  if cardinality(plan_reading.requests) = 1 and cardinality(plan_reading.markets) = 1 then
    v_market := plan_reading.markets[1];
    v_request := plan_reading.requests[1];
    return (
      (
        array[v_market.market_id], array[v_market.public_id], array[v_market.live_delay_ms],
        array[v_market.taker_rate_bps], array[v_market.fee_schedule_id]
      )::trading.market_arrays,
      case when v_request.user_id is null then '{}' else array[v_request.user_id] end,
      array[v_request.quantity],
      v_request.idempotency_key is not null,
      v_request.order_type = 'sell',
      trading.is_large(v_request.quantity),
      trading.meets_makers(v_request, v_market),
      true
    )::trading.reading_plan;
  end if;

  select (
    array_agg(c.market_id), array_agg(c.public_id), array_agg(c.live_delay_ms),
    array_agg(c.taker_rate_bps), array_agg(c.fee_schedule_id)
  )::trading.market_arrays
  into v_plan.market_arrays
  from unnest(plan_reading.markets) as c;
  select
    coalesce(array_agg(r.user_id) filter (where r.user_id is not null), '{}'),
    array_agg(r.quantity),
    bool_or(r.idempotency_key is not null),
    bool_or(r.order_type = 'sell'),
    bool_or(trading.is_large(r.quantity)),
    bool_or(trading.meets_makers(r, m.context))
  into
    v_plan.user_ids, v_plan.quantities, v_plan.has_keys, v_plan.may_sell, v_plan.is_large,
    v_plan.meets_makers
  from unnest(plan_reading.requests) as r
  cross join lateral (select plan_reading.markets[r.market] as context offset 0) as m;
  v_plan.is_single := false;
  return v_plan;
end
$$;

comment on function trading.plan_reading(
  trading.market_context[], trading.order_request[]
) is
  'What a batch has to read before it can be matched.';
--! EndIncluded trading/functions/plan_reading.sql
--! Included trading/functions/read_best_queue.sql
create or replace function trading.read_best_queue(
  context trading.market_context, request trading.order_request
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 18; -- as many as trading.read_book_slice reads first
  v_side constant trading.side := case request.book_side
    when 'yes' then 'no'::trading.side else 'yes'
  end;
  v_price constant int := case request.book_side
    when 'yes' then context.best_no_price else context.best_yes_price
  end;
  v_first constant bigint := case request.book_side
    when 'yes' then context.first_no_position else context.first_yes_position
  end;
begin
  if request.problem is not null then
    return null;
  end if;
  return (
    select case when max(k.shares_before + k.available) >= request.quantity then (
      array_agg(
        (
          k.order_id, k.order_public_id, 1, k.user_id, k.order_type, k.book_side, k.book_price,
          k.queue_position, k.left_quantity, k.available = 0
        )::trading.resting_order
        order by k.queue_position
      ) filter (where k.shares_before < request.quantity),
      array[case v_side when 'yes' then v_price else 0 end],
      array[case v_side when 'no' then v_price else 0 end]
    )::trading.book_slice end
    from (
      select
        b.*, a.available,
        sum(a.available) over (order by b.queue_position rows unbounded preceding) - a.available
          as shares_before
      from (
        select x.*
        from trading.active_orders as x
        where x.market_id = context.market_id
          and x.book_side = v_side
          and x.book_price = v_price
          and x.queue_position >= v_first
        order by x.queue_position
        limit c_most
      ) as b
      cross join lateral (
        select case when b.expires_at <= context.at then 0 else b.left_quantity end as available
      ) as a
    ) as k
  );
end
$$;

comment on function trading.read_best_queue(
  trading.market_context, trading.order_request
) is
  'As trading.read_book_slice, for a single request that the front of the best price''s queue can '
  'fill, as it mostly can; null if it cannot.';
--! EndIncluded trading/functions/read_best_queue.sql
--! Included trading/functions/read_book_slice.sql
create or replace function trading.read_book_slice(
  markets trading.market_context[],
  requests trading.order_request[],
  demand int[],
  depth int
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slice trading.book_slice;
  v_factor bigint := 1;
  v_is_enough boolean;
begin
  loop
    with sides as materialized (
      -- What takers ask of each side of each book that some of them cross.
      select
        m.market, m.market_id, m.at,
        case r.book_side when 'yes' then 'no' else 'yes' end::trading.side as book_side,
        case r.book_side when 'yes' then m.best_no_price else m.best_yes_price end as best_price,
        case r.book_side
          when 'yes' then m.first_no_position else m.first_yes_position
        end as first_position,
        100 - max(r.book_price) as worst_price,
        sum(read_book_slice.demand[r.place]) * read_book_slice.depth as shares,
        (16 + 2 * count(*)) * v_factor as most_orders
      from unnest(read_book_slice.requests) with ordinality as r (
        market, market_id, user_id, side, order_type, price, quantity, budget_cents, time_in_force,
        post_only, expires_at, idempotency_key, book_side, book_price, problem, is_market,
        relieved_cents, order_id, order_public_id, created_at, place
      )
      join (
        select c.*, c.ordinality::int as market
        from unnest(read_book_slice.markets) with ordinality as c
      ) as m on m.market = r.market
      where m.live_delay_ms is null
        and r.problem is null
        and r.book_price + case r.book_side
          when 'yes' then m.best_no_price else m.best_yes_price
        end >= 100
      group by
        m.market, m.market_id, m.at, r.book_side, m.best_yes_price, m.best_no_price,
        m.first_yes_position, m.first_no_position
    ),
    read as materialized (
      select
        s.market, s.shares, s.most_orders, s.at, b.*,
        row_number() over queue as number,
        sum(a.available) over queue - a.available as shares_before,
        count(*) over side as side_orders,
        sum(a.available) over side as side_shares
      from sides as s
      cross join lateral (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price = s.best_price
            and x.queue_position >= s.first_position
          order by x.queue_position
          limit s.most_orders
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price < s.best_price
            and x.book_price >= s.worst_price
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
          limit s.most_orders
        )
        limit s.most_orders
      ) as b
      cross join lateral (
        select case when b.expires_at <= s.at then 0 else b.left_quantity end as available
      ) as a
      window
        side as (partition by s.market, b.book_side),
        queue as (
          side order by b.book_price desc, b.queue_position rows unbounded preceding
        )
    ),
    kept as materialized (
      select r.* from read as r where r.shares_before < r.shares
    ),
    floors as (
      -- A side goes on if not all that was read is needed, or if there may be more to read.
      select
        k.market, k.book_side, min(k.book_price) as floor_price,
        max(k.side_orders) = max(k.most_orders) and max(k.side_shares) < max(k.shares)
          as is_cut_short,
        max(k.number) < max(k.side_orders) or max(k.side_orders) = max(k.most_orders)
          as goes_on
      from kept as k
      group by k.market, k.book_side
    )
    select
      (
        select array_agg(
          (
            k.order_id, k.order_public_id, k.market, k.user_id, k.order_type, k.book_side,
            k.book_price, k.queue_position, k.left_quantity, coalesce(k.expires_at <= k.at, false)
          )::trading.resting_order
          order by k.market, k.book_side, k.number
        )
        from kept as k
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'yes' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'no' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      not exists (select from floors as f where f.is_cut_short)
    into v_slice.makers, v_slice.yes_floors, v_slice.no_floors, v_is_enough
    from generate_series(1, cardinality(read_book_slice.markets)) as u (place);
    exit when v_is_enough;
    v_factor := v_factor * 8;
  end loop;
  v_slice.makers := coalesce(v_slice.makers, '{}');
  return v_slice;
end
$$;

comment on function trading.read_book_slice(
  trading.market_context[], trading.order_request[], int[], int
) is
  'The resting orders that a batch can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were depth times as large. Nothing else can '
  'change the books meanwhile: the caller holds the markets'' locks.';
--! EndIncluded trading/functions/read_book_slice.sql
--! Included trading/functions/lock_traders.sql
create or replace function trading.lock_traders(user_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.check_session();
  perform
  from trading.traders as t
  where t.user_id = any (lock_traders.user_ids)
  order by t.user_id
  for no key update;
end
$$;

comment on function trading.lock_traders(bigint[]) is
  'Locks users until the transaction ends, in ascending id. The row of a user in trading.traders '
  'is the lock. Errors: UNFIT_SESSION.';
--! EndIncluded trading/functions/lock_traders.sql
--! Included trading/functions/lock_more_traders.sql
create or replace function trading.lock_more_traders(user_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from trading.traders as t
  where t.user_id = any (lock_more_traders.user_ids)
  order by t.user_id
  for no key update nowait;
end
$$;

comment on function trading.lock_more_traders(bigint[]) is
  'Locks users when others are locked already. Waiting could deadlock, so a user who is busy is '
  'an error lock_not_available: the caller''s transaction starts over.';
--! EndIncluded trading/functions/lock_more_traders.sql
--! Included trading/functions/read_traders.sql
create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.trader_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(t.user_id),
      array_agg(t.public_id),
      array_agg(t.balance_cents),
      array_agg(t.account_version::bigint),
      array_agg(risk.blocked_by(t, read_traders.at)),
      array_agg(coalesce(t.excluded_until > read_traders.at, false)),
      array_agg(risk.has_limits(t))
    )::trading.trader_arrays
    from (
      select x.*
      from trading.traders as x
      where x.user_id = any (read_traders.user_ids)
      order by x.user_id
    ) as t
  );
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'The cash of users and whether they may trade, in ascending id.';
--! EndIncluded trading/functions/read_traders.sql
--! Included trading/functions/holding_key.sql
create or replace function trading.holding_key(market int, trader int)
returns bigint
language sql immutable parallel safe
return market * 1000000::bigint + trader;

comment on function trading.holding_key(int, int) is
  'The key in trading.holding_arrays of the places of a market and a trader.';
--! EndIncluded trading/functions/holding_key.sql
--! Included trading/functions/read_holdings.sql
create or replace function trading.read_holdings(
  markets trading.market_context[],
  requests trading.order_request[],
  makers trading.resting_order[],
  user_ids bigint[]
)
returns trading.holding_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(p.key order by p.key),
      array_agg(
        coalesce(
          h.holding,
          (
            p.market_id, p.user_id, null, 0, 0, 0, 0, false, null, 0, 0, 0, 0, false
          )::trading.holdings
        )
        order by p.key
      )
    )::trading.holding_arrays
    from (
      select distinct
        trading.holding_key(q.market, width_bucket(q.user_id, read_holdings.user_ids)) as key,
        read_holdings.markets[q.market].market_id,
        q.user_id
      from (
        select r.market, r.user_id
        from unnest(read_holdings.requests) as r
        where r.user_id is not null
          and r.market_id is not null
        union all
        select k.market, k.user_id
        from unnest(read_holdings.makers) as k
      ) as q
    ) as p
    -- The limit keeps it a look-up by the whole key, whatever the planner thinks of the table.
    left join lateral (
      select x as holding
      from trading.holdings as x
      where x.market_id = p.market_id and x.user_id = p.user_id
      limit 1
    ) as h on true
  );
end
$$;

comment on function trading.read_holdings(
  trading.market_context[], trading.order_request[], trading.resting_order[], bigint[]
) is
  'The shares of the traders of a batch, each in the markets of its requests and orders. user_ids '
  'are all traders of the batch, ascending. To be called under the markets'' locks.';
--! EndIncluded trading/functions/read_holdings.sql
--! Included trading/functions/read_share_arrays.sql
create or replace function trading.read_share_arrays(holdings trading.holding_arrays)
returns trading.share_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(s.quantity), array_agg(s.cost_cents), array_agg(s.fee_cents),
      array_agg(s.realised_cents)
    )::trading.share_arrays
    from unnest(read_share_arrays.holdings.holdings) as h
    cross join lateral (
      values
        (
          h.yes_quantity::bigint, h.yes_cost_cents::bigint, h.yes_fee_cents::bigint,
          h.yes_realised_cents
        ),
        (h.no_quantity, h.no_cost_cents, h.no_fee_cents, h.no_realised_cents)
    ) as s (quantity, cost_cents, fee_cents, realised_cents)
  );
end
$$;

comment on function trading.read_share_arrays(trading.holding_arrays) is
  'The holdings of a batch as matching and accounting read them.';
--! EndIncluded trading/functions/read_share_arrays.sql
--! Included trading/functions/read_limits.sql
create or replace function trading.read_limits(
  user_ids bigint[], taker_ids bigint[], at timestamptz
)
returns trading.limit_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits trading.limit_arrays;
  v_today date := (read_limits.at at time zone 'UTC')::date;
begin
  select
    array_agg(t.limits order by t.place),
    array_agg(
      (
        t.balance_cents + risk.net_spent_since(t.trader, v_today),
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 6),
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 29)
      )::risk.loss_limits
      order by t.place
    ),
    array_agg(
      case
        when t.user_id = any (read_limits.taker_ids)
          then trading.open_cost_cents(t.user_id, read_limits.at)
        else 0
      end
      order by t.place
    )
  into v_limits
  from (
    select
      u.place,
      r.user_id,
      r.balance_cents,
      r as trader,
      risk.limits_in_force(r, read_limits.at) as limits
    from unnest(read_limits.user_ids) with ordinality as u (user_id, place)
    join trading.traders as r on r.user_id = u.user_id
  ) as t;
  return v_limits;
end
$$;

comment on function trading.read_limits(bigint[], bigint[], timestamptz) is
  'The loss limits of traders and what counts toward them, each at the place of its trader in '
  'user_ids. What open orders could still cost is read of takers only, and is 0 for the others: '
  'a maker is judged by one match alone. To be called with the traders locked.';
--! EndIncluded trading/functions/read_limits.sql
--! Included trading/functions/match_request.sql
create or replace function trading.match_request(
  request trading.order_request,
  context trading.market_context,
  slice trading.book_slice,
  trader int,
  holding int,
  blocked_by text
)
returns trading.match_request
language sql immutable parallel safe
return (
  trader,
  holding,
  2 * holding - ((request).side = 'yes')::int,
  (request).order_type = 'buy',
  (request).time_in_force = 'ioc',
  (request).post_only,
  (request).price,
  (request).quantity,
  coalesce((request).quantity, 10000),
  (request).budget_cents,
  2 * (request).market - ((request).book_side = 'yes')::int,
  2 * (request).market - ((request).book_side = 'no')::int,
  (request).book_price,
  100 - (request).book_price,
  case (request).book_side
    when 'yes' then (slice).no_floors[(request).market] else (slice).yes_floors[(request).market]
  end,
  case (request).order_type when 'buy' then -(request).price else (request).price end,
  case (request).order_type when 'buy' then 1 else -1 end,
  (context).taker_rate_bps,
  case when (context).live_delay_ms is not null then trading.scheduled_cost_cents(
    (request).order_type, (request).price, (request).quantity, (request).budget_cents,
    (context).taker_rate_bps
  ) end,
  coalesce(
    (request).budget_cents,
    case when (request).is_market then 0 else (request).quantity * (request).price end
  ),
  (request).relieved_cents,
  (request).problem is not null,
  trading.request_rejection(request, context, trader is not null, blocked_by)
)::trading.match_request;

comment on function trading.match_request(
  trading.order_request, trading.market_context, trading.book_slice, int, int, text
) is
  'A request as matching reads it. trader and holding are the places of its user and of what the '
  'user has in its market, null without; blocked_by: see risk.blocked_by.';
--! EndIncluded trading/functions/match_request.sql
--! Included trading/functions/read_request_arrays.sql
-- A batch of one is laid out by expressions alone, which take a tenth of the query's time.
create or replace function trading.read_request_arrays(
  batch trading.matched_batch, slice trading.book_slice, has_keys boolean
)
returns trading.request_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request trading.order_request;
  v_laid_out trading.match_request;
  v_trader int;
begin
  if cardinality(batch.requests) = 1 then
    v_request := batch.requests[1];
    v_trader := width_bucket(v_request.user_id, (batch.traders).user_ids);
    v_laid_out := trading.match_request(
      v_request, batch.markets[v_request.market], slice, v_trader,
      width_bucket(
        trading.holding_key(v_request.market, v_trader), (batch.holdings).keys
      ),
      (batch.traders).blocked_by[v_trader]
    );
    return (
      array[v_laid_out], array[v_request.market], array[v_trader], array[v_laid_out.shares],
      array[v_laid_out.is_buy], array[v_request.book_side = 'yes'], array[v_request.book_price],
      case when has_keys then array[1] end
    )::trading.request_arrays;
  end if;

  return (
    select (
      array_agg(
        trading.match_request(
          r, c.context, slice, u.trader, h.holding, (batch.traders).blocked_by[u.trader]
        )
      ),
      array_agg(r.market),
      array_agg(u.trader),
      array_agg(2 * h.holding - (r.side = 'yes')::int),
      array_agg(r.order_type = 'buy'),
      array_agg(r.book_side = 'yes'),
      array_agg(r.book_price),
      case when has_keys then array(
        select case when q.idempotency_key is null or q.user_id is null then q.ordinality
          else min(q.ordinality) over (partition by q.user_id, q.idempotency_key)
        end::int
        from unnest(batch.requests) with ordinality as q
        order by q.ordinality
      ) end
    )::trading.request_arrays
    from unnest(batch.requests) as r
    cross join lateral (
      select width_bucket(r.user_id, (batch.traders).user_ids) as trader offset 0
    ) as u
    cross join lateral (
      select width_bucket(
        trading.holding_key(r.market, u.trader), (batch.holdings).keys
      ) as holding offset 0
    ) as h
    cross join lateral (select batch.markets[r.market] as context offset 0) as c
  );
end
$$;

comment on function trading.read_request_arrays(
  trading.matched_batch, trading.book_slice, boolean
) is
  'The requests of a batch as matching reads them, once its markets, books, traders and holdings '
  'are read. has_keys: some request has an idempotency key.';
--! EndIncluded trading/functions/read_request_arrays.sql
--! Included trading/functions/read_maker_arrays.sql
create or replace function trading.read_maker_arrays(batch trading.matched_batch)
returns trading.maker_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(k.order_id),
      array_agg(2 * k.market - (k.book_side = 'yes')::int),
      array_agg(u.trader),
      -- A seller sells the other side than the one that the order is stored on.
      array_agg(
        2 * width_bucket(trading.holding_key(k.market, u.trader), (batch.holdings).keys)
        - ((k.book_side = 'yes') = (k.order_type = 'buy'))::int
      ),
      array_agg(k.order_type = 'buy'),
      array_agg(k.book_price),
      array_agg(case k.order_type when 'buy' then -k.book_price else 100 - k.book_price end),
      array_agg(case k.order_type when 'buy' then 1 else -1 end),
      array_agg(k.left_quantity),
      array_agg(k.has_expired)
    )::trading.maker_arrays
    from unnest(batch.makers) as k
    cross join lateral (
      select width_bucket(k.user_id, (batch.traders).user_ids) as trader offset 0
    ) as u
  );
end
$$;

comment on function trading.read_maker_arrays(trading.matched_batch) is
  'The makers of a batch as matching reads them, once its traders and holdings are read.';
--! EndIncluded trading/functions/read_maker_arrays.sql
--! Included trading/functions/affordable_quantity.sql
create or replace function trading.affordable_quantity(
  budget_cents int, spent_cents bigint, rate_bps int, weight bigint, price int
)
returns bigint
language sql immutable parallel safe
return ((budget_cents - spent_cents) * 1000000 - rate_bps * weight)
  / (price * 1000000::bigint + rate_bps * price * (100 - price));

comment on function trading.affordable_quantity(int, bigint, int, bigint, int) is
  'The most shares n at a price with spent + n x price + fee(weight + n x price x (100 - price)) '
  'within the budget, fee by trading.fee_cents; spent and weight are of the fills before.';
--! EndIncluded trading/functions/affordable_quantity.sql
--! Included trading/functions/maker_cancel_reason.sql
create or replace function trading.maker_cancel_reason(
  quantity int,
  cents int,
  held_quantity bigint,
  balance_cents bigint,
  excluded boolean,
  limited boolean,
  limits risk.loss_limits,
  untraded risk.loss_limits
)
returns trading.cancel_reason
language sql immutable parallel safe
return case
  when excluded then 'self_excluded'::trading.cancel_reason
  when cents > 0 then
    case when held_quantity < quantity then 'position_insufficient'::trading.cancel_reason end
  when balance_cents + cents < 0 then 'insufficient_funds'
  when limited and risk.exceeds_limits(limits, untraded, balance_cents, -cents) then 'loss_limit'
end;

comment on function trading.maker_cancel_reason(
  int, int, bigint, bigint, boolean, boolean, risk.loss_limits, risk.loss_limits
) is
  'Why a resting order cannot go through with a match, null if it can. cents is what the match '
  'would bring its owner: above 0 for a sale, below for a buy. The other figures are the owner''s; '
  'limits count only if the owner is limited.';
--! EndIncluded trading/functions/maker_cancel_reason.sql
--! Included trading/functions/order_rejected.sql
create or replace function trading.order_rejected(code text)
returns trading.order_result
language sql immutable parallel safe
return (code, null, null, null, null, null, null, null, null, null)::trading.order_result;

comment on function trading.order_rejected(text) is
  'The result of a request that is rejected with this code.';
--! EndIncluded trading/functions/order_rejected.sql
--! Included trading/functions/order_accepted.sql
create or replace function trading.order_accepted(
  status trading.order_status,
  quantity int,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  fee_cents bigint,
  balance_cents bigint,
  maker int
)
returns trading.order_result
language sql immutable parallel safe
return (
  null, null, null, status, quantity, left_quantity, cancel_reason, fee_cents, balance_cents, maker
)::trading.order_result;

comment on function trading.order_accepted(
  trading.order_status, int, int, trading.cancel_reason, bigint, bigint, int
) is
  'The result of a request that became an order. maker is its place among the makers if it rests.';
--! EndIncluded trading/functions/order_accepted.sql
--! Included trading/functions/replayed_result.sql
create or replace function trading.replayed_result(
  first_request int,
  first_result trading.order_result,
  order_id bigint,
  order_ids bigint[],
  left_quantities int[],
  cancelled trading.cancelled_maker[],
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result trading.order_result;
  v_left int;
begin
  if order_id is not null then
    v_result.replayed_order_id := order_id;
    v_result.maker := array_position(order_ids, order_id);
  else
    v_result := first_result;
    v_result.replay_of := first_request;
  end if;
  v_result.balance_cents := replayed_result.balance_cents;
  if v_result.maker is null then
    return v_result;
  end if;

  v_left := left_quantities[v_result.maker];
  v_result.left_quantity := v_left;
  if v_left < 0 then
    v_result.left_quantity := (cancelled[-v_left]).left_quantity;
    v_result.cancel_reason := (cancelled[-v_left]).reason;
  end if;
  if order_id is null then
    v_result.status := case
      when v_left < 0 then 'cancelled'
      else trading.filled_status(v_left, v_result.quantity)
    end;
  end if;
  return v_result;
end
$$;

comment on function trading.replayed_result(
  int, trading.order_result, bigint, bigint[], int[], trading.cancelled_maker[], bigint
) is
  'The answer to a replay: the order of its key as it is now. The order is one from before '
  '(order_id), or that of an earlier request of the batch (first_request, with its result). '
  'order_ids are those of the makers that were read, left_quantities what is left of each maker, '
  'below 0 its place among the cancelled. balance_cents is the cash of its user now.';
--! EndIncluded trading/functions/replayed_result.sql
--! Included trading/functions/without_starved.sql
create or replace function trading.without_starved(
  cancelled trading.cancelled_maker[], is_starved boolean[], before int
)
returns trading.cancelled_maker[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (c.request, c.maker, c.reason, c.left_quantity)::trading.cancelled_maker
    from rows from (unnest(without_starved.cancelled), unnest(without_starved.is_starved))
    with ordinality as c (request, maker, reason, left_quantity, is_starved, place)
    where c.maker is not null
      and (c.place <= without_starved.before or not c.is_starved)
    order by c.place
  );
end
$$;

comment on function trading.without_starved(trading.cancelled_maker[], boolean[], int) is
  'Cancelled makers without those, behind so many that were there before, that only the fills of '
  'the request that met them would have starved of cash or shares.';
--! EndIncluded trading/functions/without_starved.sql
--! Included trading/functions/scheduled_result.sql
create or replace function trading.scheduled_result(
  request trading.match_request,
  balance_cents bigint,
  held_quantity bigint,
  limits risk.loss_limits,
  untraded risk.loss_limits,
  open_cost_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_code constant text := trading.funding_rejection(
    request.is_buy, request.quantity, request.least_cents, request.scheduled_cost_cents,
    scheduled_result.balance_cents, scheduled_result.held_quantity,
    scheduled_result.limits, scheduled_result.untraded, scheduled_result.open_cost_cents
  );
begin
  if v_code is not null then
    return trading.order_rejected(v_code);
  end if;
  return trading.order_accepted(
    status => 'scheduled', quantity => coalesce(request.quantity, 0),
    left_quantity => coalesce(request.quantity, 0), cancel_reason => null, fee_cents => null,
    balance_cents => scheduled_result.balance_cents, maker => null
  );
end
$$;

comment on function trading.scheduled_result(
  trading.match_request, bigint, bigint, risk.loss_limits, risk.loss_limits, bigint
) is
  'What a request of a live market comes to: it is judged by its worst case '
  '(trading.scheduled_cost_cents) without a look at the book, and scheduled. The other figures are '
  'its user''s; open_cost_cents without the request itself.';
--! EndIncluded trading/functions/scheduled_result.sql
--! Included trading/functions/match_orders.sql
-- Price-time priority, in memory: no table is read or written.
--
--   link the makers of each side of each book in the order in which they are met
--   each request, in order:
--     1. a replay is answered; what is wrong without a look at the book is rejected
--     2. a live market judges the order by its worst case and schedules it
--     3. the order meets the other side, maker by maker, as far as it wants and its price allows
--     4. verdict: self-trade, post-only, liquidity, funding, loss limits
--     5. rejected: the makers get back what they traded; accepted: the taker pays or is paid
--     6. what is left of the order joins its side of the book, or is cancelled
--
-- It is one loop over arrays of numbers: PL/pgSQL changes these in place, but copies them on each
-- call of a part. So functions take what needs only the numbers at hand. The first letter of an
-- array says what has a place in it: k_ makers, which are those that were read and behind them the
-- requests that come to rest, b_ sides of books, t_ traders, h_ shares.
create or replace function trading.match_orders(
  batch trading.matched_batch,
  limits trading.limit_arrays,
  replays bigint[],
  shares_before_own bigint[],
  most_cleared int
)
returns trading.match_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_beyond constant int := trading.most_beyond();
  k_read constant int := cardinality(batch.makers);
  k_book constant int[] := (batch.maker_arrays).books;
  k_trader int[] := (batch.maker_arrays).traders;
  k_shares int[] := (batch.maker_arrays).shares;
  k_price int[] := (batch.maker_arrays).prices;
  k_cents int[] := (batch.maker_arrays).cents;
  k_gain int[] := (batch.maker_arrays).gains;
  k_has_expired boolean[] := (batch.maker_arrays).has_expired;
  k_left int[] := (batch.maker_arrays).left_quantities; -- - its place in v_cancelled, once there
  k_next int[] := array_fill(0, array[k_read]);
  b_first int[] := array_fill(0, array[2 * cardinality(batch.markets)]);
  b_last int[] := array_fill(0, array[2 * cardinality(batch.markets), 99]); -- at each price
  t_balance bigint[] := (batch.traders).balances_cents;
  t_excluded constant boolean[] := (batch.traders).excluded;
  t_limited constant boolean[] := (batch.traders).limited;
  t_traded_with int[] := array_fill(0, array[coalesce(cardinality(t_balance), 0)]); -- last request
  t_open_cost bigint[] := limits.open_cost_cents; -- looked at only of those with limits
  h_quantity bigint[] := (batch.shares).quantities;
  v_rests_here boolean[]; -- whether an order of the batch rests, by holding
  v_for_key int[] := (batch.request_arrays).twins; -- at the first twin: the one that has the key
  v_results trading.order_result[];
  v_fills trading.fill[];
  v_fill_count int := 0;
  v_cancelled trading.cancelled_maker[];
  v_cancelled_count int := 0;
  v_is_starved boolean[]; -- of these: only by fills of the request that cancels it
  v_cleared_count int := 0; -- the others
  v_rested int[];
  v_rested_count int := 0;
  r trading.match_request;
  i int := 0; -- its place
  t int; -- its trader
  k int; -- a maker
  m int; -- the maker's trader
  n int; -- shares of a match
  j int;
begin
  for p in 1 .. k_read loop
    if b_first[k_book[p]] = 0 then
      b_first[k_book[p]] := p;
    else
      k_next[p - 1] := p;
    end if;
    b_last[k_book[p]][k_price[p]] := p;
  end loop;

  <<next_request>>
  foreach r in array (batch.request_arrays).requests loop
    i := i + 1;
    t := r.trader;

    -- 1. A replay is answered with the order as it stands now, unless that order was rejected.
    if replays is not null and not r.is_malformed then
      j := v_for_key[(batch.request_arrays).twins[i]];
      if replays[i] is not null or (j < i and (v_results[j]).code is null) then
        v_results[i] := trading.replayed_result(
          j, v_results[j], replays[i], (batch.maker_arrays).order_ids, k_left, v_cancelled,
          t_balance[t]
        );
        continue next_request;
      end if;
      v_for_key[(batch.request_arrays).twins[i]] := i;
    end if;
    if r.code is not null then
      v_results[i] := trading.order_rejected(r.code);
      continue next_request;
    end if;

    -- 2. A live market takes the order now and judges it against the book when it is released.
    t_open_cost[t] := t_open_cost[t] - r.relieved_cents;
    if r.scheduled_cost_cents is not null then
      v_results[i] := trading.scheduled_result(
        r, t_balance[t], h_quantity[r.shares], limits.limits[t], limits.untraded[t], t_open_cost[t]
      );
      t_open_cost[t] := t_open_cost[t]
        + case when (v_results[i]).code is null then r.scheduled_cost_cents else 0 end;
      continue next_request;
    end if;

    declare
      v_wanted int := r.wanted;
      v_bought int := 0;
      v_spent bigint := 0;
      v_weight bigint := 0;
      v_fee bigint := 0;
      v_level int; -- price of a maker
      v_met int := 100; -- the last one at which it met a maker
      v_fills_before int := v_fill_count;
      v_cancelled_before int := v_cancelled_count;
      v_cleared_before int := v_cleared_count;
      v_may_meet_own boolean := shares_before_own[i] is not null
        or coalesce(v_rests_here[r.holding], false);
      v_so_far text; -- what it would be rejected with, as far as it has come
      v_beyond int := 0;
      v_required bigint;
      v_code text;
      v_status trading.order_status;
      v_reason trading.cancel_reason;
    begin
      -- 3. Meet the other side: the best price first, and at each price the order that came first.
      k := b_first[r.opposite];
      loop
        v_level := coalesce(k_price[k], 0);
        if r.floor_price >= greatest(v_level, r.worst_price) and (k = 0 or k > k_read) then
          return (true, null, null, null, null, null)::trading.match_result;
        end if;
        exit when v_level < r.worst_price;
        v_met := v_level;
        if k_left[k] < 0 then -- cancelled by a request that was not finished
          k := k_next[k];
          continue;
        end if;
        m := k_trader[k];
        n := least(
          v_wanted - v_bought, k_left[k], trading.affordable_quantity(
            r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 100 - v_level
          )
        );
        if k_has_expired[k] then
          v_reason := 'expired';
        elsif n = 0 then -- the budget ends here
          v_wanted := v_bought;
          exit;
        elsif m = t then
          v_code := 'SELF_TRADE_BLOCKED';
          exit;
        else
          v_reason := trading.maker_cancel_reason(
            n, n * k_cents[k], h_quantity[k_shares[k]], t_balance[m], t_excluded[m],
            t_limited[m], limits.limits[m], limits.untraded[m]
          );
        end if;
        if v_reason is not null then
          v_code := case when v_cleared_count = most_cleared then 'CONFLICT_RETRY' end;
          exit when v_code is not null;
          v_cancelled_count := v_cancelled_count + 1;
          v_is_starved[v_cancelled_count] := v_reason <> 'expired' and t_traded_with[m] = i;
          v_cleared_count := v_cleared_count + (not v_is_starved[v_cancelled_count])::int;
          v_cancelled[v_cancelled_count] := (i, k, v_reason, k_left[k])::trading.cancelled_maker;
          k := k_next[k];
          continue;
        end if;

        t_traded_with[m] := i;
        k_left[k] := k_left[k] - n;
        t_balance[m] := t_balance[m] + n * k_cents[k];
        h_quantity[k_shares[k]] := h_quantity[k_shares[k]] + n * k_gain[k];
        t_open_cost[m] := t_open_cost[m] + n * least(0, k_cents[k]);
        v_bought := v_bought + n;
        v_spent := v_spent + n * (100 - v_level);
        v_weight := v_weight + n * v_level * (100 - v_level);
        v_fill_count := v_fill_count + 1;
        v_fills[v_fill_count] := (
          i, k, n, trading.fee_cents(r.taker_rate_bps, v_weight) - v_fee
        )::trading.fill;
        v_fee := trading.fee_cents(r.taker_rate_bps, v_weight);
        if k_left[k] = 0 then
          k := k_next[k];
        end if;
        exit when v_bought = v_wanted;

        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_so_far := case when r.is_post_only then 'POST_ONLY_WOULD_CROSS'
          else trading.funding_rejection(
            r.is_buy, v_wanted, v_spent, v_spent, t_balance[t], h_quantity[r.shares],
            limits.limits[t], limits.untraded[t], t_open_cost[t]
          )
        end;
        if v_so_far is not null then
          v_beyond := v_beyond + 1;
          exit when v_beyond = c_most_beyond or (v_so_far <> 'LOSS_LIMIT' and not v_may_meet_own);
        end if;
      end loop;

      -- 4. Verdict. A buy must be covered with its fee, and with what is left of it if that rests.
      v_required := v_spent + case when v_beyond = c_most_beyond then 0
        else v_fee + case when r.is_ioc then 0 else (v_wanted - v_bought) * r.price end end;
      v_code := coalesce(v_code, case
        when v_beyond = c_most_beyond and v_may_meet_own
          and v_wanted > coalesce(shares_before_own[i], 0) then 'SELF_TRADE_BLOCKED'
        when r.is_post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
        when r.is_ioc and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
        else trading.funding_rejection(
          r.is_buy, r.quantity, v_required, v_required, t_balance[t], h_quantity[r.shares],
          limits.limits[t], limits.untraded[t], t_open_cost[t]
        )
      end);

      -- 5. A rejected order has no effect, but for makers that had to be cancelled to know that.
      if v_code is not null then
        for p in v_fills_before + 1 .. v_fill_count loop
          j := (v_fills[p]).maker;
          n := (v_fills[p]).quantity;
          m := k_trader[j];
          k_left[j] := k_left[j] + n;
          t_balance[m] := t_balance[m] - n * k_cents[j];
          h_quantity[k_shares[j]] := h_quantity[k_shares[j]] - n * k_gain[j];
          t_open_cost[m] := t_open_cost[m] - n * least(0, k_cents[j]);
        end loop;
        v_fill_count := v_fills_before;
        v_results[i] := trading.order_rejected(v_code);
        if v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') then
          v_cancelled_count := v_cancelled_before;
          v_cleared_count := v_cleared_before;
          continue next_request;
        end if;
        if v_code = 'CONFLICT_RETRY' then
          v_cancelled := trading.without_starved(
            v_cancelled[1 : v_cancelled_count], v_is_starved, v_cancelled_before
          );
          v_cancelled_count := coalesce(cardinality(v_cancelled), 0);
        end if;
      elsif v_bought > 0 then
        t_balance[t] := t_balance[t] - v_spent - v_fee
          + case when r.is_buy then 0 else 100 * v_bought end;
        h_quantity[r.shares] := h_quantity[r.shares] + r.gain * v_bought;
      end if;
      for p in v_cancelled_before + 1 .. v_cancelled_count loop
        j := (v_cancelled[p]).maker;
        m := k_trader[j];
        t_open_cost[m] := t_open_cost[m] + case (v_cancelled[p]).reason
          when 'expired' then 0 else k_left[j] * least(0, k_cents[j]) end;
        k_left[j] := -p;
      end loop;
      continue next_request when v_code = 'CONFLICT_RETRY';
      -- What it met is gone, but for what is left of the last one: the other side begins there.
      for p in greatest(v_met, k_price[k] + 1) .. coalesce(k_price[b_first[r.opposite]], 0) loop
        b_last[r.opposite][p] := 0;
      end loop;
      b_first[r.opposite] := k;
      continue next_request when v_code is not null;

      -- 6. What is left joins the book, or is cancelled. A budget ends where it buys no share.
      v_status := case
        when v_bought = v_wanted or 0 = trading.affordable_quantity(
          r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 1
        ) then 'filled'
        when r.is_ioc then 'cancelled'
        else trading.filled_status(v_wanted - v_bought, v_wanted)
      end;
      v_wanted := case when r.budget_cents is null then v_wanted else v_bought end;
      k := null;
      if v_status in ('open', 'partially_filled') then
        v_rested_count := v_rested_count + 1;
        v_rested[v_rested_count] := i;
        k := k_read + v_rested_count;
        k_trader[k] := t;
        k_shares[k] := r.shares;
        k_price[k] := r.book_price;
        k_cents[k] := r.cents;
        k_gain[k] := r.gain;
        k_left[k] := v_wanted - v_bought;
        t_open_cost[t] := t_open_cost[t] - k_left[k] * least(0, r.cents);
        v_rests_here[coalesce(r.holding, 0)] := true;
        -- Its place is behind all at its price, or else behind the next better price.
        if coalesce(k_price[b_first[r.book]], 0) < r.book_price then
          k_next[k] := b_first[r.book];
          b_first[r.book] := k;
        else
          v_level := r.book_price;
          while b_last[r.book][v_level] = 0 loop
            v_level := v_level + 1;
          end loop;
          j := b_last[r.book][v_level];
          k_next[k] := k_next[j];
          k_next[j] := k;
        end if;
        b_last[r.book][r.book_price] := k;
      end if;
      v_results[i] := trading.order_accepted(
        status => v_status, quantity => v_wanted, left_quantity => v_wanted - v_bought,
        cancel_reason => case when v_status = 'cancelled'
          then 'insufficient_liquidity'::trading.cancel_reason end,
        fee_cents => v_fee, balance_cents => t_balance[t], maker => k
      );
    end;
  end loop;

  return (
    false, v_results,
    case when v_fill_count > 0 then v_fills[1 : v_fill_count] end,
    case when v_cancelled_count > 0 then v_cancelled[1 : v_cancelled_count] end,
    v_rested, k_left
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.matched_batch, trading.limit_arrays, bigint[], bigint[], int
) is
  'Matches a batch in memory: what each request comes to. Requests are taken in order, each as if '
  'it had come alone. A request that is rejected has no effect, but for the makers it found that '
  'must be cancelled when it is rejected for want of liquidity, or because it met more of them '
  'than most_cleared (CONFLICT_RETRY; null: any number). Makers that only an earlier match of the '
  'same request starved of cash or shares do not count, and stay if it is rejected. replays are '
  'by trading.read_replays, null without any key; shares_before_own is by trading.read_reach.';
--! EndIncluded trading/functions/match_orders.sql
--! Included trading/functions/match_batch.sql
create or replace function trading.match_batch(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  locks boolean default true
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_cleared constant int := 500; -- makers of one call; a request that meets more comes again
  v_batch trading.matched_batch;
  v_plan constant trading.reading_plan := trading.plan_reading(
    match_batch.markets, match_batch.requests
  );
  v_slice trading.book_slice;
  v_limits trading.limit_arrays;
  v_replays bigint[];
  v_depth int := 1;
  v_demand int[];
  v_shares_before_own bigint[];
  v_user_ids bigint[];
begin
  v_batch.at := match_batch.at;
  v_batch.markets := match_batch.markets;
  v_batch.requests := match_batch.requests;
  v_batch.market_arrays := v_plan.market_arrays;

  if v_plan.meets_makers and v_plan.is_large then
    select r.demand, r.shares_before_own into v_demand, v_shares_before_own
    from trading.read_reach(match_batch.markets, match_batch.requests) as r;
  elsif v_plan.meets_makers then
    v_demand := v_plan.quantities;
    v_shares_before_own := array_fill(0::bigint, array[cardinality(match_batch.requests)]);
  end if;
  loop
    if not v_plan.meets_makers then
      v_slice := (
        '{}', array_fill(0, array[cardinality(match_batch.markets)]),
        array_fill(0, array[cardinality(match_batch.markets)])
      );
    else
      v_slice := null;
      if v_plan.is_single and not v_plan.is_large and v_depth = 1 then
        v_slice := trading.read_best_queue(match_batch.markets[1], match_batch.requests[1]);
      end if;
      if v_slice.makers is null then
        v_slice := trading.read_book_slice(
          match_batch.markets, match_batch.requests, v_demand, v_depth
        );
      end if;
    end if;
    v_batch.makers := v_slice.makers;
    v_user_ids := v_plan.user_ids;
    if cardinality(v_slice.makers) > 0 then
      v_user_ids := v_user_ids || array(select k.user_id from unnest(v_slice.makers) as k);
    end if;
    if match_batch.locks and v_depth = 1 then
      perform trading.lock_traders(v_user_ids);
    elsif match_batch.locks then
      perform trading.lock_more_traders(v_user_ids);
    end if;
    v_batch.traders := trading.read_traders(v_user_ids, match_batch.at);
    if v_plan.may_sell or v_plan.meets_makers or cardinality(match_batch.requests) > 1 then
      v_batch.holdings := trading.read_holdings(
        match_batch.markets, match_batch.requests, v_slice.makers,
        (v_batch.traders).user_ids
      );
      v_batch.shares := trading.read_share_arrays(v_batch.holdings);
    end if;
    if true = any ((v_batch.traders).limited) then
      v_limits := trading.read_limits(
        (v_batch.traders).user_ids, v_plan.user_ids, match_batch.at
      );
    end if;
    if v_plan.has_keys then
      v_replays := trading.read_replays(match_batch.requests, match_batch.at);
    end if;

    v_batch.request_arrays := trading.read_request_arrays(v_batch, v_slice, v_plan.has_keys);
    if cardinality(v_slice.makers) > 0 then
      v_batch.maker_arrays := trading.read_maker_arrays(v_batch);
    end if;
    v_batch.result := trading.match_orders(
      v_batch, v_limits, v_replays, v_shares_before_own,
      case when match_batch.locks then c_most_cleared end
    );
    exit when not (v_batch.result).reached_floor;
    -- Cancelled makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;
  return v_batch;
end
$$;

comment on function trading.match_batch(
  trading.market_context[], trading.order_request[], timestamptz, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. The caller holds the '
  'markets'' locks. Locks the takers and the makers they can reach, by ascending user id; not '
  'with locks => false, for a preview.';
--! EndIncluded trading/functions/match_batch.sql
--! Included trading/functions/placed_orders.sql
create or replace function trading.placed_orders(batch trading.matched_batch)
returns trading.placed_order[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  m_delay constant int[] := (batch.market_arrays).live_delays_ms;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
  k_left constant int[] := (batch.result).left_quantities;
  v_request trading.order_request;
  v_result trading.order_result;
  v_is_accepted boolean;
begin
  -- Nothing comes after the only request of a batch. By expressions alone, which take a third of
  -- the query's time.
  if cardinality(batch.requests) = 1 then
    v_request := batch.requests[1];
    v_result := (batch.result).results[1];
    v_is_accepted := v_result.status is not null and v_result.replayed_order_id is null;
    return array[
      (
        v_request.market, v_request.market_id, m_public_ids[v_request.market], v_request.user_id,
        t_public_ids[(batch.request_arrays).traders[1]], v_request.side, v_request.order_type,
        v_request.price, v_request.book_side, v_request.book_price, v_request.budget_cents,
        v_request.time_in_force, v_request.post_only, v_request.expires_at,
        v_request.idempotency_key, v_request.problem, v_request.order_id is not null,
        case when v_result.status = 'scheduled'
          then batch.at + m_delay[v_request.market] * interval '1 millisecond' end,
        case when v_is_accepted
          then coalesce(v_request.order_id, nextval('trading.orders_id_seq')) end,
        case when v_is_accepted then coalesce(v_request.order_public_id, core.uuid_v7()) end,
        v_result.code, v_result.replay_of, v_result.replayed_order_id, v_result.status,
        v_result.quantity, v_result.left_quantity, v_result.cancel_reason, v_result.fee_cents,
        v_result.balance_cents, v_result.status, v_result.left_quantity, v_result.cancel_reason
      )::trading.placed_order
    ];
  end if;
  return (
    select array_agg(
      (
        x.market, x.market_id, m_public_ids[x.market], x.user_id, t_public_ids[x.trader], x.side,
        x.order_type, x.price, x.book_side, x.book_price, x.budget_cents, x.time_in_force,
        x.post_only, x.expires_at, x.idempotency_key, x.problem, x.order_id is not null,
        case when x.status = 'scheduled'
          then batch.at + m_delay[x.market] * interval '1 millisecond' end,
        case when x.is_accepted then coalesce(x.order_id, nextval('trading.orders_id_seq')) end,
        case when x.is_accepted then coalesce(x.order_public_id, core.uuid_v7()) end,
        x.code, x.replay_of, x.replayed_order_id, x.status, x.quantity, x.left_quantity,
        x.cancel_reason, x.fee_cents, x.balance_cents,
        case
          when not x.is_accepted or x.maker is null then x.status
          when k_left[x.maker] < 0 then 'cancelled'
          else trading.filled_status(k_left[x.maker], x.quantity)
        end,
        case
          when not x.is_accepted or x.maker is null then x.left_quantity
          when k_left[x.maker] < 0 then c.left_quantity
          else k_left[x.maker]
        end,
        coalesce(c.reason, x.cancel_reason)
      )::trading.placed_order
    )
    from (
      select
        q.*,
        q.status is not null and q.replay_of is null and q.replayed_order_id is null
          as is_accepted
      from rows from (
        unnest(batch.requests), unnest((batch.result).results),
        unnest((batch.request_arrays).traders)
      ) as q (
        market, market_id, user_id, side, order_type, price, request_quantity, budget_cents,
        time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
        is_market, relieved_cents, order_id, order_public_id, created_at,
        code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
        fee_cents, balance_cents, maker, trader
      )
      offset 0
    ) as x
    left join lateral (
      -- Orders that came to rest may have been met by later requests of the batch.
      select d.left_quantity, d.reason
      from unnest((batch.result).cancelled_makers) as d
      where d.maker = x.maker
    ) as c on x.is_accepted and k_left[x.maker] < 0
  );
end
$$;

comment on function trading.placed_orders(trading.matched_batch) is
  'The requests of a matched batch with their results, in their order. Draws the ids of new '
  'orders; writes nothing.';
--! EndIncluded trading/functions/placed_orders.sql
--! Included trading/functions/maker_public_ids.sql
create or replace function trading.maker_public_ids(
  batch trading.matched_batch, order_public_ids uuid[]
)
returns uuid[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  k_read constant int := cardinality(batch.makers);
  k_public_ids constant uuid[] := array(select k.order_public_id from unnest(batch.makers) as k);
  v_rested constant int[] := (batch.result).rested;
begin
  return array(
    select case when f.maker <= k_read
      then k_public_ids[f.maker]
      else maker_public_ids.order_public_ids[v_rested[f.maker - k_read]]
    end
    from unnest((batch.result).fills) as f
  );
end
$$;

comment on function trading.maker_public_ids(trading.matched_batch, uuid[]) is
  'The public ids of the makers'' orders of the fills of a batch. order_public_ids are those of '
  'its requests'' orders, which later requests may have met.';
--! EndIncluded trading/functions/maker_public_ids.sql
--! Included trading/functions/changed_holdings.sql
create or replace function trading.changed_holdings(
  holdings trading.holding_arrays, shares trading.share_arrays, traded boolean[]
)
returns trading.holdings[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  s_quantity constant bigint[] := shares.quantities;
  s_cost constant bigint[] := shares.costs_cents;
  s_fee constant bigint[] := shares.fees_cents;
  s_realised constant bigint[] := shares.realised_cents;
begin
  return array(
    select (
      h.market_id, h.user_id,
      case when y.traded then coalesce(h.yes_public_id, core.uuid_v7()) else h.yes_public_id end,
      s_quantity[y.place], s_cost[y.place], s_fee[y.place], s_realised[y.place],
      h.yes_traded or y.traded,
      case when n.traded then coalesce(h.no_public_id, core.uuid_v7()) else h.no_public_id end,
      s_quantity[n.place], s_cost[n.place], s_fee[n.place], s_realised[n.place],
      h.no_traded or n.traded
    )::trading.holdings
    from unnest(changed_holdings.holdings.holdings) with ordinality as h
    cross join lateral (
      select 2 * h.ordinality - 1, changed_holdings.traded[2 * h.ordinality - 1]
    ) as y (place, traded)
    cross join lateral (
      select 2 * h.ordinality, changed_holdings.traded[2 * h.ordinality]
    ) as n (place, traded)
    where y.traded or n.traded
  );
end
$$;

comment on function trading.changed_holdings(
  trading.holding_arrays, trading.share_arrays, boolean[]
) is
  'The holdings of a batch as they are to be written, those alone whose shares traded. shares is '
  'what there is after the batch. A side that trades for the first time gets its public id here.';
--! EndIncluded trading/functions/changed_holdings.sql
--! Included trading/functions/account_fills.sql
-- The cash and the shares of the fills that matching found, one after the other: what they cost and
-- realise depends on the ones before.
--
--   each fill, in order: a row of trading.trades with
--     its two orders, its price and the market's terms
--     the taker's shares and cash
--     the maker's shares and cash
--     the market's escrow and revenue
--     and what it adds to the market's figures
--   then what traders, markets and holdings have after all of them
--
-- The first letter of an array says what has a place in it: r_ requests, k_ makers, t_ traders,
-- m_ markets, s_ shares, h_ holdings.
create or replace function trading.account_fills(
  batch trading.matched_batch, order_ids bigint[]
)
returns trading.accounted_batch
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  r_market constant int[] := (batch.request_arrays).markets;
  r_trader constant int[] := (batch.request_arrays).traders;
  r_shares constant int[] := (batch.request_arrays).shares;
  r_is_buy constant boolean[] := (batch.request_arrays).is_buy;
  r_book_is_yes constant boolean[] := (batch.request_arrays).book_is_yes;
  r_book_price constant int[] := (batch.request_arrays).book_prices;
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  k_trader constant int[] := (batch.maker_arrays).traders;
  k_shares constant int[] := (batch.maker_arrays).shares;
  k_is_buy constant boolean[] := (batch.maker_arrays).is_buy;
  k_price constant int[] := (batch.maker_arrays).prices;
  k_read constant int := cardinality(batch.makers);
  v_rested constant int[] := (batch.result).rested;
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_balance bigint[] := (batch.traders).balances_cents;
  t_version bigint[] := (batch.traders).account_versions;
  m_ids constant bigint[] := (batch.market_arrays).ids;
  m_fee_schedule constant bigint[] := (batch.market_arrays).fee_schedule_ids;
  m_escrow bigint[];
  m_escrow_version bigint[];
  m_revenue bigint[];
  m_revenue_version bigint[];
  m_last_price int[] := array_fill(null::int, array[cardinality(batch.markets)]);
  m_yes_volume bigint[] := array_fill(0::bigint, array[cardinality(batch.markets)]);
  m_no_volume bigint[] := array_fill(0::bigint, array[cardinality(batch.markets)]);
  m_trade_count int[] := array_fill(0, array[cardinality(batch.markets)]);
  m_new_traders int[] := array_fill(0, array[cardinality(batch.markets)]);
  s_quantity bigint[] := (batch.shares).quantities;
  s_cost bigint[] := (batch.shares).costs_cents;
  s_fee bigint[] := (batch.shares).fees_cents;
  s_realised bigint[] := (batch.shares).realised_cents;
  s_touched boolean[] := array_fill(false, array[cardinality((batch.shares).quantities)]);
  h_has_traded boolean[] := array(
    select x.yes_traded or x.no_traded from unnest((batch.holdings).holdings) as x
  );

  v_accounted trading.accounted_batch;
  v_trades trading.trades[];
  v_trade trading.trades;
  v_fill trading.fill;
  f int := 0;
  i int;
  k int;
  j int;
  t int;
  m int;
  s int; -- the taker's shares
  g int; -- the maker's
  n int;
  v_price int;
  v_maker_price int;
  v_maker_buys boolean;
  v_cost_out bigint;
  v_fees_out bigint;
  v_escrow_cents bigint;
begin
  select
    array_agg(c.escrow_cents), array_agg(c.escrow_version), array_agg(c.revenue_cents),
    array_agg(c.revenue_version)
  into m_escrow, m_escrow_version, m_revenue, m_revenue_version
  from unnest(batch.markets) as c;
  v_trade.created_at := batch.at;

  foreach v_fill in array (batch.result).fills loop
    f := f + 1;
    i := v_fill.request;
    k := v_fill.maker;
    n := v_fill.quantity;
    t := r_trader[i];
    s := r_shares[i];
    if k <= k_read then
      m := k_trader[k];
      g := k_shares[k];
      v_maker_buys := k_is_buy[k];
      v_maker_price := k_price[k];
      v_trade.maker_order_id := k_order_ids[k];
    else
      j := v_rested[k - k_read];
      m := r_trader[j];
      g := r_shares[j];
      v_maker_buys := r_is_buy[j];
      v_maker_price := r_book_price[j];
      v_trade.maker_order_id := order_ids[j];
    end if;
    v_price := 100 - v_maker_price;
    j := r_market[i];

    v_trade.id := nextval('ledger.journal_ids');
    v_trade.public_id := core.uuid_v7();
    v_trade.market_id := m_ids[j];
    v_trade.taker_order_id := order_ids[i];
    v_trade.taker_user_id := t_user_ids[t];
    v_trade.maker_user_id := t_user_ids[m];
    v_trade.quantity := n;
    v_trade.fee_cents := v_fill.fee_cents;
    v_trade.fee_schedule_id := m_fee_schedule[j];
    if r_book_is_yes[i] then
      v_trade.price := v_price;
      v_trade.taker_side := 'yes';
    else
      v_trade.price := v_maker_price;
      v_trade.taker_side := 'no';
    end if;

    -- The taker's shares and cash.
    if r_is_buy[i] then
      s_quantity[s] := s_quantity[s] + n;
      s_cost[s] := s_cost[s] + n * v_price;
      s_fee[s] := s_fee[s] + v_fill.fee_cents;
      v_trade.taker_cents := -(n * v_price) - v_fill.fee_cents;
      v_trade.taker_realised_cents := null;
    else
      v_cost_out := core.half_up(s_cost[s] * n, s_quantity[s]);
      v_fees_out := core.half_up(s_fee[s] * n, s_quantity[s]);
      s_quantity[s] := s_quantity[s] - n;
      s_cost[s] := s_cost[s] - v_cost_out;
      s_fee[s] := s_fee[s] - v_fees_out;
      v_trade.taker_cents := n * v_maker_price - v_fill.fee_cents;
      v_trade.taker_realised_cents := v_trade.taker_cents - v_cost_out - v_fees_out;
      s_realised[s] := s_realised[s] + v_trade.taker_realised_cents;
    end if;
    s_touched[s] := true;
    if v_trade.taker_cents <> 0 then
      t_balance[t] := t_balance[t] + v_trade.taker_cents;
      t_version[t] := t_version[t] + 1;
    end if;
    v_trade.taker_balance_cents := t_balance[t];
    v_trade.taker_version := t_version[t];

    -- The maker's.
    if v_maker_buys then
      s_quantity[g] := s_quantity[g] + n;
      s_cost[g] := s_cost[g] + n * v_maker_price;
      v_trade.maker_cents := -(n * v_maker_price);
      v_trade.maker_realised_cents := null;
    else
      v_cost_out := core.half_up(s_cost[g] * n, s_quantity[g]);
      v_fees_out := core.half_up(s_fee[g] * n, s_quantity[g]);
      s_quantity[g] := s_quantity[g] - n;
      s_cost[g] := s_cost[g] - v_cost_out;
      s_fee[g] := s_fee[g] - v_fees_out;
      v_trade.maker_cents := n * v_price;
      v_trade.maker_realised_cents := v_trade.maker_cents - v_cost_out - v_fees_out;
      s_realised[g] := s_realised[g] + v_trade.maker_realised_cents;
    end if;
    s_touched[g] := true;
    t_balance[m] := t_balance[m] + v_trade.maker_cents;
    t_version[m] := t_version[m] + 1;
    v_trade.maker_balance_cents := t_balance[m];
    v_trade.maker_version := t_version[m];

    -- The market's: pairs minted into escrow or burnt out of it, and the fee.
    v_escrow_cents := -(v_trade.taker_cents + v_trade.maker_cents + v_fill.fee_cents);
    if v_escrow_cents <> 0 then
      m_escrow[j] := m_escrow[j] + v_escrow_cents;
      m_escrow_version[j] := m_escrow_version[j] + 1;
    end if;
    if v_fill.fee_cents > 0 then
      m_revenue[j] := m_revenue[j] + v_fill.fee_cents;
      m_revenue_version[j] := m_revenue_version[j] + 1;
    end if;
    v_trade.escrow_balance_cents := m_escrow[j];
    v_trade.escrow_version := m_escrow_version[j];
    v_trade.revenue_balance_cents := m_revenue[j];
    v_trade.revenue_version := m_revenue_version[j];
    v_trades[f] := v_trade;

    m_last_price[j] := v_trade.price;
    m_yes_volume[j] := m_yes_volume[j] + n * v_trade.price;
    m_no_volume[j] := m_no_volume[j] + n * (100 - v_trade.price);
    m_trade_count[j] := m_trade_count[j] + 1;

    if not h_has_traded[(s + 1) / 2] then
      h_has_traded[(s + 1) / 2] := true;
      m_new_traders[j] := m_new_traders[j] + 1;
    end if;
    if not h_has_traded[(g + 1) / 2] then
      h_has_traded[(g + 1) / 2] := true;
      m_new_traders[j] := m_new_traders[j] + 1;
    end if;
  end loop;

  v_accounted.trades := v_trades;
  v_accounted.balances_cents := t_balance;
  v_accounted.account_versions := t_version;
  v_accounted.escrows_cents := m_escrow;
  v_accounted.escrow_versions := m_escrow_version;
  v_accounted.revenues_cents := m_revenue;
  v_accounted.revenue_versions := m_revenue_version;
  v_accounted.last_trade_prices := m_last_price;
  v_accounted.yes_volumes_cents := m_yes_volume;
  v_accounted.no_volumes_cents := m_no_volume;
  v_accounted.trade_counts := m_trade_count;
  v_accounted.new_traders := m_new_traders;
  v_accounted.holdings := trading.changed_holdings(
    batch.holdings, (s_quantity, s_cost, s_fee, s_realised)::trading.share_arrays, s_touched
  );
  return v_accounted;
end
$$;

comment on function trading.account_fills(trading.matched_batch, bigint[]) is
  'The trades of a matched batch with their cash, and what its traders, holdings and markets have '
  'after them. order_ids are of the requests. Draws the ids of the trades; writes nothing.';
--! EndIncluded trading/functions/account_fills.sql
--! Included trading/functions/write_trades.sql
create or replace function trading.write_trades(
  batch trading.matched_batch, accounted trading.accounted_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (batch.at at time zone 'UTC')::date;
  v_user_ids constant bigint[] := (batch.traders).user_ids;
begin
  insert into trading.trades select t.* from unnest(accounted.trades) as t;

  insert into trading.holdings as h select x.* from unnest(accounted.holdings) as x
  on conflict (market_id, user_id) do update set
    yes_public_id = excluded.yes_public_id,
    yes_quantity = excluded.yes_quantity,
    yes_cost_cents = excluded.yes_cost_cents,
    yes_fee_cents = excluded.yes_fee_cents,
    yes_realised_cents = excluded.yes_realised_cents,
    yes_traded = excluded.yes_traded,
    no_public_id = excluded.no_public_id,
    no_quantity = excluded.no_quantity,
    no_cost_cents = excluded.no_cost_cents,
    no_fee_cents = excluded.no_fee_cents,
    no_realised_cents = excluded.no_realised_cents,
    no_traded = excluded.no_traded;

  -- By their ids and not by a join: no plan can do worse than look each up. The place of one among
  -- the sorted ids is its bucket.
  with moved as materialized (
    select u.id
    from unnest(
      v_user_ids, (batch.traders).account_versions, accounted.account_versions
    ) as u (id, version_before, version)
    where u.version <> u.version_before
  ),
  opened as (
    insert into ledger.day_openings (user_id, day, balance_cents, external_cents)
    select t.user_id, v_today, t.balance_cents, t.external_cents
    from trading.traders as t
    where t.user_id = any (array(select m.id from moved as m))
      and t.moved_on < v_today
  )
  update trading.traders as t set
    balance_cents = accounted.balances_cents[width_bucket(t.user_id, v_user_ids)],
    account_version = accounted.account_versions[width_bucket(t.user_id, v_user_ids)],
    overdraft_cents = least(
      t.overdraft_cents,
      greatest(0, -accounted.balances_cents[width_bucket(t.user_id, v_user_ids)])
    ),
    moved_on = greatest(t.moved_on, v_today)
  where t.user_id = any (array(select m.id from moved as m));
end
$$;

comment on function trading.write_trades(trading.matched_batch, trading.accounted_batch) is
  'Writes the trades of a batch with the cash and the shares of their traders.';
--! EndIncluded trading/functions/write_trades.sql
--! Included trading/functions/write_makers.sql
create or replace function trading.write_makers(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns trading.cancelled_order[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k_read constant int := cardinality(batch.makers);
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  v_rested constant int[] := (batch.result).rested;
  v_ids bigint[];
  v_left int[];
  v_cancelled trading.cancelled_order[];
begin
  select array_agg(k.id order by k.id), array_agg(k.left_after order by k.id)
  into v_ids, v_left
  from unnest(
    k_order_ids, (batch.maker_arrays).left_quantities,
    (batch.result).left_quantities[1 : k_read]
  ) as k (id, left_before, left_after)
  where k.left_after < k.left_before;

  if v_ids is not null then
    -- By their ids and not by a join: no plan can do worse than look each up.
    with gone as (
      delete from trading.active_orders as b
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] <= 0
    ),
    smaller as (
      update trading.active_orders as b
      set left_quantity = v_left[width_bucket(b.order_id, v_ids)]
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] > 0
    )
    update trading.orders as o set
      filled_quantity = o.quantity - v_left[width_bucket(o.id, v_ids)],
      status = trading.filled_status(v_left[width_bucket(o.id, v_ids)], o.quantity)
    where o.id = any (v_ids)
      and v_left[width_bucket(o.id, v_ids)] >= 0;
  end if;
  if (batch.result).cancelled_makers is null then
    return null;
  end if;

  with cancelled as (
    update trading.orders as o set
      filled_quantity = o.quantity - c.left_quantity,
      status = 'cancelled',
      cancel_reason = c.reason,
      cancelled_at = batch.at
    from unnest((batch.result).cancelled_makers) as c
    where o.id = k_order_ids[c.maker]
    returning
      c.maker, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, o.created_at
  ),
  all_cancelled as (
    select c.* from cancelled as c
    union all
    -- Orders of the batch itself.
    select
      c.maker, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, batch.at
    from unnest((batch.result).cancelled_makers) as c
    cross join lateral (
      select (write_makers.orders[v_rested[c.maker - k_read]]).*
    ) as o
    where c.maker > k_read
  )
  select array_agg(
    (
      a.request, a.public_id, a.market_id, a.user_id, a.side, a.order_type, a.price, a.quantity,
      a.left_quantity, a.reason, a.expires_at, a.created_at
    )::trading.cancelled_order
    order by c.place
  )
  into v_cancelled
  from unnest((batch.result).cancelled_makers) with ordinality as c (
    request, maker, reason, left_quantity, place
  )
  join all_cancelled as a on a.maker = c.maker;
  return v_cancelled;
end
$$;

comment on function trading.write_makers(trading.matched_batch, trading.placed_order[]) is
  'Writes what became of the orders that rested before the batch; returns those that it '
  'cancelled, in their order.';
--! EndIncluded trading/functions/write_makers.sql
--! Included trading/functions/write_orders.sql
create or replace function trading.write_orders(
  orders trading.placed_order[], at timestamptz, has_keys boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with accepted as materialized (
    select o.*
    from unnest(write_orders.orders) as o
    where o.id is not null
  ),
  placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
      expires_at, release_at, cancelled_at
    )
    select
      o.id, o.public_id, o.market_id, o.user_id, o.side, o.order_type, o.price, o.quantity,
      o.quantity - o.end_left_quantity, o.budget_cents, o.time_in_force, o.post_only,
      o.end_status, o.end_cancel_reason, coalesce(o.fee_cents, 0), write_orders.at, o.expires_at,
      o.release_at, case when o.end_status = 'cancelled' then write_orders.at end
    from accepted as o
    where not o.was_scheduled
  ),
  keys as (
    insert into trading.idempotency_keys as k (user_id, key, order_id, created_at)
    select o.user_id, o.idempotency_key, o.id, write_orders.at
    from accepted as o
    where write_orders.has_keys
      and o.idempotency_key is not null
    on conflict (user_id, key) do update
    set order_id = excluded.order_id, created_at = excluded.created_at
  )
  insert into trading.active_orders (
    market_id, user_id, order_id, queue_position, order_public_id, left_quantity, book_price,
    book_side, order_type, expires_at, release_at
  )
  select
    o.market_id, o.user_id, o.id,
    case
      when o.release_at is not null then null
      when o.was_scheduled then nextval('trading.orders_id_seq')
      else o.id
    end,
    o.public_id, o.end_left_quantity, o.book_price, o.book_side, o.order_type, o.expires_at,
    o.release_at
  from accepted as o
  where o.end_status in ('scheduled', 'open', 'partially_filled');
end
$$;

comment on function trading.write_orders(trading.placed_order[], timestamptz, boolean) is
  'Writes the orders that a batch accepted, what of them rests or waits for its release, and which '
  'orders their idempotency keys stand for (has_keys: some request has one). A key older than 24 '
  'hours is taken over.';
--! EndIncluded trading/functions/write_orders.sql
--! Included trading/functions/first_position.sql
create or replace function trading.first_position(
  position_before bigint, best_before int, best int, first_left bigint, last_gone bigint
)
returns bigint
language sql immutable parallel safe
return case
  when first_left is not null then first_left
  when best = best_before then greatest(position_before, last_gone + 1)
  else 0
end;

comment on function trading.first_position(bigint, int, int, bigint, bigint) is
  'The place that no order of the best price of a side stands before, after a batch: first_left is '
  'the first order that it left there of those it had read, and last_gone the last one that '
  'it took away.';
--! EndIncluded trading/functions/first_position.sql
--! Included trading/functions/market_changes.sql
-- A batch of one that met no maker changes one level: no query is needed to say so.
create or replace function trading.market_changes(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns trading.market_change[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_emptied int[] := '{}'; -- requests that cancelled makers
  v_order trading.placed_order;
  v_rests boolean;
begin
  if cardinality(market_changes.orders) = 1 and cardinality(batch.makers) = 0 then
    v_order := market_changes.orders[1];
    v_rests := v_order.end_status in ('open', 'partially_filled');
    if v_order.id is null then
      return null;
    end if;
    return array[
      (
        v_order.market, array[trading.depth_place(v_order.book_side, v_order.book_price)],
        array[case when v_rests then v_order.end_left_quantity else 0 end],
        array[null::bigint], array[null::bigint],
        case when v_rests and v_order.book_side = 'yes' then v_order.book_price end,
        case when v_rests and v_order.book_side = 'no' then v_order.book_price end,
        (v_order.status <> 'scheduled')::int, (not v_order.was_scheduled)::int,
        case when v_order.was_scheduled then 0 else v_order.id end
      )::trading.market_change
    ];
  end if;

  if (batch.result).cancelled_makers is not null then
    v_emptied := array(select c.request from unnest((batch.result).cancelled_makers) as c);
  end if;
  return (
    with touched as (
      -- Each request, with what it brought to the book.
      select
        o.market, o.book_side, o.book_price,
        case when o.id is not null and o.end_status in ('open', 'partially_filled')
          then o.end_left_quantity else 0 end as change,
        null::bigint as position_left,
        null::bigint as position_gone,
        (
          o.id is not null and o.status <> 'scheduled'
          or o.code is not null and o.place = any (v_emptied)
        )::int as changes,
        (o.id is not null and not o.was_scheduled)::int as placed,
        case when not o.was_scheduled then o.id end as id
      from unnest(market_changes.orders) with ordinality as o (
        market, market_id, market_public_id, user_id, user_public_id, side, order_type, price,
        book_side, book_price, budget_cents, time_in_force, post_only, expires_at,
        idempotency_key, problem, was_scheduled, release_at, id, public_id, code, replay_of,
        replayed_order_id, status, quantity, left_quantity, cancel_reason, fee_cents,
        balance_cents, end_status, end_left_quantity, end_cancel_reason, place
      )
      where o.id is not null or o.code is not null
      union all
      -- Each maker, with what it lost.
      select
        k.market, k.book_side, k.book_price, greatest(k.left_after, 0) - k.left_quantity,
        case when k.left_after > 0 then k.queue_position end,
        case when k.left_after <= 0 then k.queue_position end,
        0, 0, null
      from rows from (unnest(batch.makers), unnest((batch.result).left_quantities)) as k (
        order_id, order_public_id, market, user_id, order_type, book_side, book_price,
        queue_position, left_quantity, has_expired, left_after
      )
      where k.order_id is not null
    ),
    levels as (
      select
        t.market, t.book_side, t.book_price,
        trading.depth_place(t.book_side, t.book_price) as place,
        sum(t.change) as change,
        min(t.position_left) as first_left,
        max(t.position_gone) as last_gone,
        sum(t.changes) as changes,
        sum(t.placed) as placed,
        sum(t.id) as id_sum
      from touched as t
      group by t.market, t.book_side, t.book_price
    )
    select array_agg(m.change)
    from (
      select
        (
          l.market, array_agg(l.place), array_agg(l.change), array_agg(l.first_left),
          array_agg(l.last_gone),
          max(l.book_price) filter (where l.book_side = 'yes' and l.change > 0),
          max(l.book_price) filter (where l.book_side = 'no' and l.change > 0),
          sum(l.changes), sum(l.placed), coalesce(sum(l.id_sum), 0)
        )::trading.market_change as change
      from levels as l
      group by l.market
      having sum(l.changes) > 0 or sum(l.placed) > 0
    ) as m
  );
end
$$;

comment on function trading.market_changes(trading.matched_batch, trading.placed_order[]) is
  'What a batch changes of the books and counts of its markets, one element for each that changes.';
--! EndIncluded trading/functions/market_changes.sql
--! Included trading/functions/write_market_state.sql
create or replace function trading.write_market_state(
  batch trading.matched_batch,
  orders trading.placed_order[],
  accounted trading.accounted_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  m_ids constant bigint[] := (batch.market_arrays).ids;
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  v_changes constant trading.market_change[] := trading.market_changes(
    batch, write_market_state.orders
  );
begin
  if v_changes is null then
    return;
  end if;
  with next_state as (
    select
      n.*, x.depth,
      trading.best_after(x.depth, 'yes', greatest(s.best_yes_price, n.highest_yes)) as best_yes,
      trading.best_after(x.depth, 'no', greatest(s.best_no_price, n.highest_no)) as best_no
    from unnest(v_changes) as n
    cross join lateral (
      select y.* from trading.market_state as y where y.market_id = m_ids[n.market] limit 1
    ) as s
    cross join lateral (
      select trading.changed_depth(s.depth, n.places, n.depth_changes) as depth offset 0
    ) as x
    offset 0
  ),
  raised as (
    update trading.market_state as s set
      version = s.version + n.changes,
      placed_count = s.placed_count + n.placed,
      placed_id_sum = s.placed_id_sum + n.id_sum,
      last_trade_price = coalesce(accounted.last_trade_prices[n.market], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents
        + coalesce(accounted.yes_volumes_cents[n.market], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[n.market], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[n.market], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n.market], s.escrow_cents),
      escrow_version = coalesce(accounted.escrow_versions[n.market], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[n.market], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[n.market], s.revenue_version),
      depth = n.depth,
      best_yes_price = n.best_yes,
      best_no_price = n.best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, n.best_yes,
        n.first_left[array_position(n.places, n.best_yes)],
        n.last_gone[array_position(n.places, n.best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, n.best_no,
        n.first_left[array_position(n.places, 99 + n.best_no)],
        n.last_gone[array_position(n.places, 99 + n.best_no)]
      )
    from next_state as n
    where s.market_id = m_ids[n.market]
    returning n.market, s.version, n.changes
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', m_public_ids[r.market], 'version', r.version
  )
  from raised as r
  where r.changes > 0;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, and announces their new versions.';
--! EndIncluded trading/functions/write_market_state.sql
--! Included trading/functions/write_outbox.sql
create or replace function trading.write_outbox(
  batch trading.matched_batch, written trading.written_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  r_market constant int[] := (batch.request_arrays).markets;
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
begin
  if written.trades is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', t_public_ids[width_bucket(f.maker_user_id, t_user_ids)],
        'event', json_build_object(
          'type', 'maker_fill',
          'marketId', m_public_ids[r_market[f.request]],
          'orderIds', f.order_ids,
          'fillCount', f.fill_count
        )
      )
    from (
      select
        u.request, u.maker_user_id, min(u.id) as first_id,
        json_agg(u.order_public_id order by u.id) as order_ids, count(*) as fill_count
      from (
        select y.request, y.maker_user_id, y.id, y.order_public_id
        from rows from (
          unnest((batch.result).fills), unnest(written.maker_public_ids), unnest(written.trades)
        ) as y (
          request, maker, fill_quantity, fill_fee_cents, order_public_id, id, market_id,
          taker_order_id, maker_order_id, taker_user_id, maker_user_id
        )
      ) as u
      group by u.request, u.maker_user_id
      order by min(u.id)
    ) as f;
  end if;

  if written.cancelled_orders is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', t_public_ids[width_bucket(c.user_id, t_user_ids)],
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', c.public_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', c.side,
          'price', c.price,
          'quantity', c.quantity,
          'filledQuantity', c.quantity - c.left_quantity,
          'cancelReason', c.reason
        )
      )
    from unnest(written.cancelled_orders) as c
    cross join lateral (
      select y.* from catalog.markets as y where y.id = c.market_id limit 1
    ) as m;
  end if;

  if cardinality(array_remove((batch.market_arrays).live_delays_ms, null)) > 0 then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', o.user_public_id,
        'event', json_build_object(
          'type', 'order_pending',
          'orderId', o.public_id,
          'marketId', o.market_public_id,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'releaseAt', core.iso8601(o.release_at),
          'budgetCents', o.budget_cents
        )
      )
    from unnest(written.orders) as o
    where o.id is not null
      and o.release_at is not null;
  end if;
end
$$;

comment on function trading.write_outbox(trading.matched_batch, trading.written_batch) is
  'Announces a batch to the users it concerns: to each maker once for each request that filled '
  'their orders, to the owner of each cancelled maker, and of each order that a live market took.';
--! EndIncluded trading/functions/write_outbox.sql
--! Included trading/functions/write_batch.sql
create or replace function trading.write_batch(batch trading.matched_batch)
returns trading.written_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_orders constant trading.placed_order[] := trading.placed_orders(batch);
  v_order_ids bigint[];
  v_public_ids uuid[];
  v_accounted trading.accounted_batch;
  v_written trading.written_batch;
begin
  v_written.orders := v_orders;
  if (batch.result).fills is not null or (batch.result).cancelled_makers is not null then
    select array_agg(o.id), array_agg(o.public_id) into v_order_ids, v_public_ids
    from unnest(v_orders) as o;
    v_written.cancelled_orders := trading.write_makers(batch, v_orders);
  end if;
  if (batch.result).fills is not null then
    v_accounted := trading.account_fills(batch, v_order_ids);
    v_written.trades := v_accounted.trades;
    v_written.maker_public_ids := trading.maker_public_ids(batch, v_public_ids);
    perform trading.write_trades(batch, v_accounted);
  end if;
  perform trading.write_orders(
    v_orders, batch.at, (batch.request_arrays).twins is not null
  );
  perform trading.write_market_state(batch, v_orders, v_accounted);
  perform trading.write_outbox(batch, v_written);
  return v_written;
end
$$;

comment on function trading.write_batch(trading.matched_batch) is
  'Writes what a batch came to, each table as one set, and its events to the outbox; nothing, if '
  'nothing changed. Rows of orders that were there before, scheduled ones that it releases, are '
  'the caller''s. The caller holds the locks of trading.match_batch.';
--! EndIncluded trading/functions/write_batch.sql
--! Included trading/functions/clear_way.sql
create or replace function trading.clear_way(
  markets trading.market_context[],
  requests trading.order_request[],
  batch trading.matched_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unfinished constant int := (
    select min(r.place)
    from unnest((batch.result).results) with ordinality as r (
      code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
      fee_cents, balance_cents, maker, place
    )
    where r.code = 'CONFLICT_RETRY'
  );
  v_batch trading.matched_batch;
begin
  if v_unfinished is null then
    return;
  end if;
  v_batch := trading.match_batch(
    clear_way.markets, clear_way.requests[v_unfinished : v_unfinished], batch.at
  );
  if ((v_batch.result).results[1]).code = 'CONFLICT_RETRY' then
    perform trading.write_batch(v_batch);
  end if;
end
$$;

comment on function trading.clear_way(
  trading.market_context[], trading.order_request[], trading.matched_batch
) is
  'Cancels the makers that kept a request of an atomic batch from being finished '
  '(CONFLICT_RETRY), as if it had come alone, so that the batch gets further when it is placed '
  'again. Nothing else of the batch is written. Locks as trading.match_batch does.';
--! EndIncluded trading/functions/clear_way.sql
--! Included trading/functions/atomic_rejections.sql
create or replace function trading.atomic_rejections(batch trading.matched_batch)
returns api.result[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case when bool_or(x.is_live or x.code is not null) then
      array_agg(
        (
          case when x.is_live then 'INVALID_REQUEST' when not x.is_any_live then x.code end,
          case
            when x.is_live then 'atomic: not for orders on live markets'
            when not x.is_any_live then trading.rejection_message(x.code, x.problem)
          end,
          false, null
        )::api.result
        order by x.place
      )
    end
    from (
      select y.*, bool_or(y.is_live) over () as is_any_live
      from (
        select
          o.ordinality as place, o.code, o.problem,
          (batch.market_arrays).live_delays_ms[o.market] is not null
          and o.replay_of is null and o.replayed_order_id is null as is_live
        from rows from (unnest(batch.requests), unnest((batch.result).results))
        with ordinality as o (
          market, market_id, user_id, side, order_type, price, request_quantity, budget_cents,
          time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
          is_market, relieved_cents, order_id, order_public_id, created_at,
          code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
          fee_cents, balance_cents, maker, ordinality
        )
      ) as y
    ) as x
  );
end
$$;

comment on function trading.atomic_rejections(trading.matched_batch) is
  'What keeps an atomic batch from being placed, a row for each request; null when nothing does. '
  'New orders on live markets come before everything else, since they are a fault of the whole '
  'request; what was placed before the market went live is a replay.';
--! EndIncluded trading/functions/atomic_rejections.sql
--! Included trading/functions/order_answers.sql
create or replace function trading.order_answers(
  batch trading.matched_batch, written trading.written_batch
)
returns setof api.result
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant text := core.iso8601(batch.at);
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  r_market constant int[] := (batch.request_arrays).markets;
  r_public_ids uuid[];
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
  v_fills text[] := array_fill(null::text, array[cardinality(r_market)]);
  v_cancelled text[] := v_fills;
  v_request int;
  v_object text;
begin
  if written.trades is not null then
    r_public_ids := array(select o.public_id from unnest(written.orders) as o);
    for v_request, v_object in
      select
        y.request,
        string_agg(
          trading.fill_object(
            y.public_id, m_public_ids[r_market[y.request]], y.taker_side, r_public_ids[y.request],
            y.order_public_id, t_public_ids[width_bucket(y.taker_user_id, t_user_ids)],
            t_public_ids[width_bucket(y.maker_user_id, t_user_ids)], y.price, y.quantity, v_at
          ),
          ',' order by y.id
        )
      from rows from (
        unnest((batch.result).fills), unnest(written.maker_public_ids), unnest(written.trades)
      ) as y (
        request, maker, fill_quantity, fill_fee_cents, order_public_id, id, market_id,
        taker_order_id, maker_order_id, taker_user_id, maker_user_id, taker_cents,
        taker_balance_cents, taker_version, maker_cents, maker_balance_cents, maker_version,
        escrow_balance_cents, escrow_version, revenue_balance_cents, revenue_version,
        taker_realised_cents, maker_realised_cents, fee_cents, fee_schedule_id, created_at,
        public_id, quantity, price, taker_side
      )
      group by y.request
    loop
      v_fills[v_request] := v_object;
    end loop;
  end if;
  if written.cancelled_orders is not null then
    for v_request, v_object in
      select
        c.request,
        string_agg(
          trading.order_object(
            c.public_id, t_public_ids[width_bucket(c.user_id, t_user_ids)],
            m_public_ids[r_market[c.request]], c.side, c.price, c.quantity,
            c.quantity - c.left_quantity, 'cancelled', c.order_type, 'gtc', c.reason,
            c.expires_at, core.iso8601(c.created_at), null
          ),
          ',' order by c.place
        )
      from unnest(written.cancelled_orders) with ordinality as c (
        request, public_id, market_id, user_id, side, order_type, price, quantity, left_quantity,
        reason, expires_at, created_at, place
      )
      group by c.request
    loop
      v_cancelled[v_request] := v_object;
    end loop;
  end if;

  return query
    select
      o.code,
      trading.rejection_message(o.code, o.problem),
      o.replay_of is not null or o.replayed_order_id is not null,
      case
        when o.code is not null then null
        when o.replayed_order_id is not null then trading.replay_answer(
          o.replayed_order_id, o.left_quantity, o.cancel_reason, o.balance_cents, batch.at
        )
        when o.replay_of is not null then (
          -- The answer of the request that came first with the key, as its order stood then.
          select format(
            '{"order":%s,"fills":[%s],"cancelledOrders":[],"balance":%s,"feeCents":null}',
            trading.order_object(
              f.public_id, f.user_public_id, f.market_public_id, f.side, f.price, o.quantity,
              o.quantity - o.left_quantity, o.status, f.order_type, f.time_in_force,
              o.cancel_reason, f.expires_at, v_at,
              case when f.release_at is not null
                then trading.schedule_members(f.release_at, f.budget_cents, batch.at) end
            ),
            v_fills[o.replay_of], trading.balance_object(o.balance_cents)
          )
          from (select (written.orders[o.replay_of]).*) as f
        )
        else format(
          '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
          trading.order_object(
            o.public_id, o.user_public_id, o.market_public_id, o.side, o.price, o.quantity,
            o.quantity - o.left_quantity, o.status, o.order_type, o.time_in_force,
            o.cancel_reason, o.expires_at, v_at,
            case when o.release_at is not null
              then trading.schedule_members(o.release_at, o.budget_cents, batch.at) end
          ),
          o.fills, o.cancelled, trading.balance_object(o.balance_cents),
          coalesce(o.fee_cents::text, 'null')
        )
      end
    from rows from (unnest(written.orders), unnest(v_fills), unnest(v_cancelled)) as o (
      market, market_id, market_public_id, user_id, user_public_id, side, order_type, price,
      book_side, book_price, budget_cents, time_in_force, post_only, expires_at,
      idempotency_key, problem, was_scheduled, release_at, id, public_id, code, replay_of,
      replayed_order_id, status, quantity, left_quantity, cancel_reason, fee_cents,
      balance_cents, end_status, end_left_quantity, end_cancel_reason, fills, cancelled
    );
end
$$;

comment on function trading.order_answers(trading.matched_batch, trading.written_batch) is
  'The answers to a batch, in the order of its requests: a rejection, or the documented body of '
  'POST /orders.';
--! EndIncluded trading/functions/order_answers.sql
--! Included trading/functions/release_reason.sql
create or replace function trading.release_reason(code text, order_type trading.order_type)
returns trading.cancel_reason
language sql immutable parallel safe
return case code
  when 'TRADING_PAUSED' then 'trading_paused'
  when 'SELF_EXCLUDED' then 'self_excluded'
  when 'ACCOUNT_FROZEN' then 'trading_paused'
  when 'MARKET_NOT_OPEN' then 'market_closed'
  when 'INVALID_REQUEST' then 'expired'
  when 'SELF_TRADE_BLOCKED' then 'self_trade'
  when 'POST_ONLY_WOULD_CROSS' then 'post_only_would_cross'
  when 'INSUFFICIENT_LIQUIDITY' then 'insufficient_liquidity'
  when 'INSUFFICIENT_BALANCE'
    then case order_type when 'sell' then 'position_insufficient' else 'insufficient_funds' end
  when 'LOSS_LIMIT' then 'loss_limit'
end::trading.cancel_reason;

comment on function trading.release_reason(text, trading.order_type) is
  'Why a scheduled order is cancelled whose release was refused with a code. An order that was '
  'accepted can only have become invalid by expiring.';
--! EndIncluded trading/functions/release_reason.sql
--! Included trading/functions/due_requests.sql
create or replace function trading.due_requests(market_id bigint, most int, at timestamptz)
returns trading.order_request[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := '{}';
  v_request trading.order_request;
  v_active_order trading.active_orders;
  v_order trading.orders;
begin
  for v_active_order in
    select b.*
    from trading.active_orders as b
    where b.market_id = due_requests.market_id
      and b.queue_position is null
      and b.release_at <= due_requests.at
    order by b.release_at, b.order_id
    limit due_requests.most
  loop
    select o.* into strict v_order
    from trading.orders as o
    where o.id = v_active_order.order_id;
    v_request.market := 1;
    v_request.market_id := v_order.market_id;
    v_request.user_id := v_order.user_id;
    v_request.side := v_order.side;
    v_request.order_type := v_order.order_type;
    v_request.price := v_order.price;
    v_request.quantity := case when v_order.budget_cents is null then v_order.quantity end;
    v_request.budget_cents := v_order.budget_cents;
    v_request.time_in_force := v_order.time_in_force;
    v_request.post_only := v_order.post_only;
    v_request.expires_at := v_order.expires_at;
    v_request.book_side := v_active_order.book_side;
    v_request.book_price := v_active_order.book_price;
    v_request.is_market := false;
    v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, due_requests.at);
    v_request.order_id := v_order.id;
    v_request.order_public_id := v_order.public_id;
    v_request.created_at := v_order.created_at;
    v_requests[cardinality(v_requests) + 1] := v_request;
  end loop;
  return v_requests;
end
$$;

comment on function trading.due_requests(bigint, int, timestamptz) is
  'The scheduled orders of a market that are due to be released, at most so many, as the requests '
  'of a batch for that market alone, in the order of their release time and then of their '
  'acceptance. The caller holds the market''s lock.';
--! EndIncluded trading/functions/due_requests.sql
--! Included trading/functions/write_released.sql
create or replace function trading.write_released(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with released as (
    select
      (x.request).order_id,
      coalesce((x.placed).quantity, (x.request).quantity, 0) as quantity,
      coalesce((x.placed).quantity - (x.placed).end_left_quantity, 0) as filled_quantity,
      coalesce((x.placed).end_status, 'cancelled') as status,
      coalesce(
        (x.placed).end_cancel_reason,
        trading.release_reason((x.placed).code, (x.request).order_type)
      ) as cancel_reason,
      coalesce((x.placed).fee_cents, 0) as fee_cents
    from generate_subscripts(batch.requests, 1) as i
    cross join lateral (
      select batch.requests[i] as request, write_released.orders[i] as placed
      offset 0 -- each element is looked up once
    ) as x
    where (x.placed).code is distinct from 'CONFLICT_RETRY'
  ),
  waited as (
    delete from trading.active_orders as b
    where b.order_id = any (array(select r.order_id from released as r))
  )
  update trading.orders as o set
    quantity = r.quantity,
    filled_quantity = r.filled_quantity,
    status = r.status,
    cancel_reason = r.cancel_reason,
    cancelled_at = case when r.status = 'cancelled' then batch.at end,
    fee_cents = r.fee_cents,
    released_at = batch.at
  from released as r
  where o.id = r.order_id;
end
$$;

comment on function trading.write_released(trading.matched_batch, trading.placed_order[]) is
  'Writes what scheduled orders became by their release and by the rest of its batch: each leaves '
  'its delay, and what refused it is why it is cancelled. Those that rest are put on the book by '
  'trading.write_batch, after this. One that could not be finished (CONFLICT_RETRY) stays '
  'scheduled and due.';
--! EndIncluded trading/functions/write_released.sql
--! Included trading/functions/announce_released.sql
create or replace function trading.announce_released(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into trading.outbox (channel, payload)
  select
    'user_event',
    json_build_object(
      'userId', (x.placed).user_public_id,
      'event', json_build_object(
        'type', 'order_released',
        'orderId', (x.request).order_public_id,
        'marketId', (x.placed).market_public_id,
        'status', coalesce((x.placed).status, 'cancelled'),
        'side', (x.request).side,
        'price', (x.request).price,
        'quantity', coalesce((x.placed).quantity, (x.request).quantity, 0),
        'filledQuantity', coalesce((x.placed).quantity - (x.placed).left_quantity, 0),
        'cancelReason', coalesce(
          (x.placed).cancel_reason,
          trading.release_reason((x.placed).code, (x.request).order_type)
        ),
        'fills', (
          select count(*) from unnest((batch.result).fills) as f where f.request = i
        ),
        'balance', (x.placed).balance_cents,
        'feeCents', (x.placed).fee_cents
      )
    )
  from generate_subscripts(batch.requests, 1) as i
  cross join lateral (
    select batch.requests[i] as request, announce_released.orders[i] as placed
    offset 0 -- each element is looked up once
  ) as x
  where (x.placed).code is distinct from 'CONFLICT_RETRY'
  order by i;
end
$$;

comment on function trading.announce_released(trading.matched_batch, trading.placed_order[]) is
  'Tells the users what their scheduled orders became at their release (order_released): as they '
  'stood right after their own matching. Balance and fee are null for those that were refused.';
--! EndIncluded trading/functions/announce_released.sql
--! Included trading/functions/release_orders.sql
create or replace function trading.release_orders(market_id bigint, most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz;
  v_context trading.market_context;
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
  v_orders trading.placed_order[];
begin
  perform trading.lock_market(release_orders.market_id);
  v_at := core.now();
  v_requests := trading.due_requests(release_orders.market_id, release_orders.most, v_at);
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  v_context := (trading.read_markets(array[release_orders.market_id], v_at))[1];
  v_context.live_delay_ms := null; -- they have waited
  v_batch := trading.match_batch(array[v_context], v_requests, v_at);
  v_orders := trading.placed_orders(v_batch);
  perform trading.write_released(v_batch, v_orders);
  perform trading.announce_released(v_batch, v_orders);
  perform trading.write_batch(v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint, int) is
  'Releases what is due of a market''s scheduled orders, at most so many, in the order of their '
  'release time and then of their acceptance: each is judged and matched as if it had just been '
  'placed, and whatever would have refused it cancels it. Returns how many. Locks as '
  'api.place_orders does.';
--! EndIncluded trading/functions/release_orders.sql
--! Included trading/functions/end_active_orders.sql
create or replace function trading.end_active_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  counted boolean default false
)
returns setof trading.active_orders
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone trading.active_orders[];
  v_places int[];
  v_changes bigint[];
begin
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (end_active_orders.order_ids)
      and b.market_id = end_active_orders.market_id
    returning b.*
  ),
  cancelled as (
    update trading.orders as o set
      status = 'cancelled',
      cancel_reason = end_active_orders.reason,
      cancelled_at = end_active_orders.at
    where o.id = any (array(select g.order_id from gone as g))
  )
  select array_agg(g::trading.active_orders order by g.order_id)
  into v_gone
  from gone as g;

  v_places := array(
    select trading.depth_place(g.book_side, g.book_price)
    from unnest(v_gone) as g
    where g.queue_position is not null
  );
  v_changes := array(
    select -g.left_quantity::bigint
    from unnest(v_gone) as g
    where g.queue_position is not null
  );
  if cardinality(v_places) > 0 then
    perform trading.write_depth(
      end_active_orders.market_id, v_places, v_changes, end_active_orders.counted
    );
  end if;
  return query select g.* from unnest(v_gone) as g;
end
$$;

comment on function trading.end_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Takes open orders of one market off the book, or out of their delay, for one reason; gives '
  'those that were still there, by id. counted: if the book changes, that is one change of the '
  'market, and announced. The caller holds the market''s lock.';
--! EndIncluded trading/functions/end_active_orders.sql
--! Included trading/functions/cancel_active_orders.sql
create or replace function trading.cancel_active_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  announced boolean
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids constant bigint[] := array(
    select e.order_id
    from trading.end_active_orders(
      cancel_active_orders.market_id, cancel_active_orders.order_ids, cancel_active_orders.reason,
      cancel_active_orders.at, counted => true
    ) as e
  );
begin
  if cancel_active_orders.announced and cardinality(v_ids) > 0 then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', u.public_id,
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', o.public_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'cancelReason', o.cancel_reason
        )
      )
    from unnest(v_ids) with ordinality as i (id, place)
    join trading.orders as o on o.id = i.id
    join trading.traders as u on u.user_id = o.user_id
    join catalog.markets as m on m.id = o.market_id
    order by i.place;
  end if;
  return cardinality(v_ids);
end
$$;

comment on function trading.cancel_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Cancels open orders of one market, resting and scheduled ones, for one reason; returns how many '
  'were still there. announced: tell the owners, who did not ask for it. The caller holds the '
  'market''s lock. One change of the market, however many orders leave its book.';
--! EndIncluded trading/functions/cancel_active_orders.sql
--! Included trading/functions/find_order.sql
create or replace function trading.find_order(user_public_id uuid, order_public_id uuid)
returns setof trading.orders
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select o.*
    from trading.orders as o
    join identity.users as u on u.id = o.user_id
    where o.public_id = find_order.order_public_id
      and u.public_id = find_order.user_public_id;
  -- Orders go to the archive and never come back: looked for in this order, none is missed.
  if not found then
    return query
      select a.*
      from trading.archived_orders as a
      join identity.users as u on u.id = a.user_id
      where a.public_id = find_order.order_public_id
        and u.public_id = find_order.user_public_id;
  end if;
end
$$;

comment on function trading.find_order(uuid, uuid) is
  'A user''s order, archived or not: one row, or none.';
--! EndIncluded trading/functions/find_order.sql
--! Included trading/functions/pick_orders.sql
create or replace function trading.pick_orders(user_id bigint, order_ids bigint[])
returns setof trading.orders
language sql stable
begin atomic
  select o.*
  from trading.orders as o
  where o.id = any (pick_orders.order_ids)
    and o.user_id = pick_orders.user_id
  union all
  select a.*
  from trading.archived_orders as a
  where a.user_id = pick_orders.user_id
    and a.id = any (pick_orders.order_ids);
end;

comment on function trading.pick_orders(bigint, bigint[]) is
  'Orders of a user by their ids, archived ones too, in no order.';
--! EndIncluded trading/functions/pick_orders.sql
--! Included trading/functions/cancel_order.sql
create or replace function trading.cancel_order(user_public_id uuid, order_public_id uuid)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome api.result;
  v_order trading.orders;
  v_has_expired boolean;
  v_cancelled int;
  v_at timestamptz;
begin
  v_outcome.replayed := false;

  select o.* into v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if not found then
    v_outcome.code := 'ORDER_NOT_FOUND';
    return v_outcome;
  end if;

  perform trading.lock_market(v_order.market_id);
  v_at := core.now();
  v_has_expired := coalesce(v_order.expires_at <= v_at, false);
  v_cancelled := trading.cancel_active_orders(
    v_order.market_id,
    array[v_order.id],
    case when v_has_expired then 'expired' else 'user_cancelled' end::trading.cancel_reason,
    v_at,
    v_has_expired
  );

  select o.* into strict v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if v_cancelled = 0 or v_has_expired then
    v_outcome.code := 'ORDER_NOT_CANCELLABLE';
    v_outcome.message := 'Cannot cancel order with status: ' || v_order.status;
    return v_outcome;
  end if;

  select format(
    '{"order":%s,"balance":%s}',
    trading.order_object(
      v_order.public_id, cancel_order.user_public_id, m.public_id, v_order.side, v_order.price,
      v_order.quantity, v_order.filled_quantity, v_order.status, v_order.order_type,
      null, v_order.cancel_reason, v_order.expires_at,
      core.iso8601(v_order.created_at), null
    ),
    trading.balance_object(t.balance_cents)
  )
  into v_outcome.body
  from catalog.markets as m
  join trading.traders as t on t.user_id = v_order.user_id
  where m.id = v_order.market_id;
  return v_outcome;
end
$$;

comment on function trading.cancel_order(uuid, uuid) is
  'Cancels a user''s open order: the documented body of DELETE /orders/:id, or a refusal. An order '
  'past its expiry expires instead. Locks: the market.';
--! EndIncluded trading/functions/cancel_order.sql
--! Included trading/functions/set_quantity_problem.sql
create or replace function trading.set_quantity_problem(quantity int)
returns text
language sql immutable parallel safe
return case
  when quantity is null then 'quantity: required'
  when quantity not between 1 and 10000 then 'quantity: must be between 1 and 10000'
end;

comment on function trading.set_quantity_problem(int) is
  'What is wrong with a number of complete sets; null when it may be split or merged.';
--! EndIncluded trading/functions/set_quantity_problem.sql
--! Included trading/functions/post_conversion.sql
create or replace function trading.post_conversion(
  context trading.market_context,
  traders trading.trader_arrays,
  kind trading.conversion_kind,
  quantity int,
  yes_realised_cents bigint,
  no_realised_cents bigint
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cents constant bigint := 100 * post_conversion.quantity
    * case post_conversion.kind when 'split' then -1 else 1 end;
  v_journal_id bigint;
  v_body text;
begin
  v_journal_id := ledger.post_journal(
    post_conversion.kind::text::ledger.journal_kind,
    context.market_id,
    array[
      ledger.user_account_id(traders.user_ids[1]), ledger.escrow_account_id(context.market_id)
    ],
    array[v_cents, -v_cents],
    context.at
  );
  insert into trading.set_conversions (
    market_id, user_id, kind, quantity, yes_realised_cents, no_realised_cents, journal_id,
    created_at
  )
  values (
    context.market_id, traders.user_ids[1], post_conversion.kind, post_conversion.quantity,
    post_conversion.yes_realised_cents, post_conversion.no_realised_cents, v_journal_id,
    context.at
  );

  select format(
    '{"marketId":"%s","quantity":%s,"balance":%s,"positions":%s}',
    context.public_id,
    post_conversion.quantity,
    trading.balance_object(traders.balances_cents[1] + v_cents),
    coalesce(
      json_agg(
        trading.position_object(p, m, s.last_trade_price) order by p.side
      ) filter (where p.quantity > 0),
      '[]'
    )
  )
  into v_body
  from catalog.markets as m
  join trading.market_state as s on s.market_id = m.id
  left join trading.positions as p
    on p.market_id = m.id and p.user_id = traders.user_ids[1]
  where m.id = context.market_id;
  return v_body;
end
$$;

comment on function trading.post_conversion(
  trading.market_context, trading.trader_arrays, trading.conversion_kind, int, bigint, bigint
) is
  'Writes what a split or a merge of complete sets does beside the positions: cash to escrow or '
  'back, and the fact itself; returns the body of the answer. traders is the one trader, locked.';
--! EndIncluded trading/functions/post_conversion.sql
--! Included trading/functions/split_position.sql
-- A split is judged by the same functions as an order to buy, one that costs 100 cents a set.
create or replace function trading.split_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cost_cents constant bigint := 100 * split_position.quantity::bigint;
  v_side_cost_cents constant bigint := 50 * split_position.quantity::bigint;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_limits trading.limit_arrays;
  v_at timestamptz;
  v_code text;
begin
  v_request.quantity := split_position.quantity;
  v_request.problem := trading.set_quantity_problem(split_position.quantity);
  select t.user_id into v_request.user_id
  from trading.traders as t
  where t.public_id = split_position.user_public_id;
  select m.id into v_request.market_id
  from catalog.markets as m
  where m.public_id = split_position.market_public_id;

  perform trading.lock_market(v_request.market_id);
  v_at := core.now();
  v_context := (trading.read_markets(array[v_request.market_id], v_at))[1];
  perform trading.lock_traders(array[v_request.user_id]);
  v_traders := trading.read_traders(array[v_request.user_id], v_at);

  v_code := trading.request_rejection(
    v_request, v_context, v_traders.user_ids is not null, v_traders.blocked_by[1]
  );
  if v_code is null then
    if v_traders.limited[1] then
      v_limits := trading.read_limits(v_traders.user_ids, v_traders.user_ids, v_at);
    end if;
    v_code := trading.funding_rejection(
      true, null, v_cost_cents, v_cost_cents, v_traders.balances_cents[1], null,
      v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
    );
  end if;
  if v_code is not null then
    return (v_code, v_request.problem, false, null)::api.result;
  end if;

  update trading.holdings as h set
    yes_public_id = coalesce(h.yes_public_id, core.uuid_v7()),
    yes_quantity = h.yes_quantity + v_request.quantity,
    yes_cost_cents = h.yes_cost_cents + v_side_cost_cents,
    no_public_id = coalesce(h.no_public_id, core.uuid_v7()),
    no_quantity = h.no_quantity + v_request.quantity,
    no_cost_cents = h.no_cost_cents + v_side_cost_cents
  where h.market_id = v_request.market_id
    and h.user_id = v_request.user_id;
  if not found then
    insert into trading.holdings (
      market_id, user_id,
      yes_public_id, yes_quantity, yes_cost_cents, no_public_id, no_quantity, no_cost_cents
    )
    values (
      v_request.market_id, v_request.user_id,
      core.uuid_v7(), v_request.quantity, v_side_cost_cents,
      core.uuid_v7(), v_request.quantity, v_side_cost_cents
    );
  end if;

  return (
    null, null, false,
    trading.post_conversion(v_context, v_traders, 'split', v_request.quantity, null, null)
  )::api.result;
end
$$;

comment on function trading.split_position(uuid, uuid, int) is
  'Makes complete sets for a user, 100 cents for one YES and one NO share that cost 50 each: the '
  'body of POST /positions/split, or a refusal. Locks: the market, then the user.';
--! EndIncluded trading/functions/split_position.sql
--! Included trading/functions/merge_position.sql
create or replace function trading.merge_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proceeds_cents constant bigint := 50 * merge_position.quantity::bigint;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_held trading.holdings;
  v_at timestamptz;
  v_is_resolved boolean;
  v_code text;
  v_yes_cost_out bigint;
  v_yes_fees_out bigint;
  v_no_cost_out bigint;
  v_no_fees_out bigint;
begin
  v_request.quantity := merge_position.quantity;
  v_request.problem := trading.set_quantity_problem(merge_position.quantity);
  select t.user_id into v_request.user_id
  from trading.traders as t
  where t.public_id = merge_position.user_public_id;
  select m.id into v_request.market_id
  from catalog.markets as m
  where m.public_id = merge_position.market_public_id;

  perform trading.lock_market(v_request.market_id);
  v_at := core.now();
  v_context := (trading.read_markets(array[v_request.market_id], v_at))[1];
  select m.status = 'resolved' into v_is_resolved
  from catalog.markets as m
  where m.id = v_request.market_id;
  perform trading.lock_traders(array[v_request.user_id]);
  v_traders := trading.read_traders(array[v_request.user_id], v_at);
  select h.* into v_held
  from trading.holdings as h
  where h.market_id = v_request.market_id
    and h.user_id = v_request.user_id;

  v_code := case
    when v_request.problem is not null then 'INVALID_REQUEST'
    when v_traders.user_ids is null then 'UNAUTHORIZED'
    when v_request.market_id is null then 'MARKET_NOT_FOUND'
    when v_is_resolved then 'MARKET_NOT_OPEN'
    when coalesce(least(v_held.yes_quantity, v_held.no_quantity), 0) < v_request.quantity
      then 'INSUFFICIENT_BALANCE'
  end;
  if v_code is not null then
    return (v_code, v_request.problem, false, null)::api.result;
  end if;

  v_yes_cost_out := core.half_up(
    v_held.yes_cost_cents * v_request.quantity, v_held.yes_quantity
  );
  v_yes_fees_out := core.half_up(v_held.yes_fee_cents * v_request.quantity, v_held.yes_quantity);
  v_no_cost_out := core.half_up(v_held.no_cost_cents * v_request.quantity, v_held.no_quantity);
  v_no_fees_out := core.half_up(v_held.no_fee_cents * v_request.quantity, v_held.no_quantity);
  update trading.holdings as h set
    yes_quantity = h.yes_quantity - v_request.quantity,
    yes_cost_cents = h.yes_cost_cents - v_yes_cost_out,
    yes_fee_cents = h.yes_fee_cents - v_yes_fees_out,
    yes_realised_cents = h.yes_realised_cents
      + v_proceeds_cents - v_yes_cost_out - v_yes_fees_out,
    no_quantity = h.no_quantity - v_request.quantity,
    no_cost_cents = h.no_cost_cents - v_no_cost_out,
    no_fee_cents = h.no_fee_cents - v_no_fees_out,
    no_realised_cents = h.no_realised_cents
      + v_proceeds_cents - v_no_cost_out - v_no_fees_out
  where h.market_id = v_request.market_id
    and h.user_id = v_request.user_id;

  return (
    null, null, false,
    trading.post_conversion(
      v_context, v_traders, 'merge', v_request.quantity,
      v_proceeds_cents - v_yes_cost_out - v_yes_fees_out,
      v_proceeds_cents - v_no_cost_out - v_no_fees_out
    )
  )::api.result;
end
$$;

comment on function trading.merge_position(uuid, uuid, int) is
  'Gives complete sets of a user back for 100 cents each, 50 for either share: the body of POST '
  '/positions/merge, or a refusal. Nothing but the resolution of the market is in its way: no '
  'pause, no exclusion, no limit. Locks: the market, then the user.';
--! EndIncluded trading/functions/merge_position.sql
--! Included trading/functions/active_orders_of_market.sql
create or replace function trading.active_orders_of_market(market_id bigint, most int default null)
returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Each part has an index of its own.
  select array(
    (
      select b.order_id
      from trading.active_orders as b
      where b.market_id = active_orders_of_market.market_id
        and b.queue_position is not null
      limit active_orders_of_market.most
    )
    union all
    (
      select b.order_id
      from trading.active_orders as b
      where b.market_id = active_orders_of_market.market_id
        and b.queue_position is null
      limit active_orders_of_market.most
    )
    limit active_orders_of_market.most
  )
$$;

comment on function trading.active_orders_of_market(bigint, int) is
  'Ids of the open orders of a market, resting and scheduled, all of them or at most so many.';
--! EndIncluded trading/functions/active_orders_of_market.sql
--! Included trading/functions/reduce_order.sql
create or replace function trading.reduce_order(
  "order" trading.orders, quantity int, at timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_taken_off constant int := ("order").quantity - reduce_order.quantity;
  v_active_order trading.active_orders;
begin
  update trading.orders as o
  set quantity = reduce_order.quantity
  where o.id = ("order").id;

  insert into trading.order_reductions (order_id, quantity_before, quantity_after, at)
  values (("order").id, ("order").quantity, reduce_order.quantity, reduce_order.at);

  update trading.active_orders as b
  set left_quantity = b.left_quantity - v_taken_off
  where b.order_id = ("order").id
  returning b.* into strict v_active_order;

  perform trading.write_depth(
    v_active_order.market_id,
    array[trading.depth_place(v_active_order.book_side, v_active_order.book_price)],
    array[-v_taken_off],
    counted => true
  );
end
$$;

comment on function trading.reduce_order(trading.orders, int, timestamptz) is
  'Takes shares off the end of a resting order, which keeps its place in the queue. quantity is '
  'the new total, above what is filled. One change of the market, which is announced. The caller '
  'holds the market''s lock.';
--! EndIncluded trading/functions/reduce_order.sql
--! Included trading/functions/replace_order.sql
create or replace function trading.replace_order(
  context trading.market_context,
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_active_order trading.active_orders;
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_written trading.written_batch;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  v_request.market := 1;
  v_request.market_id := ("order").market_id;
  v_request.user_id := ("order").user_id;
  v_request.side := ("order").side;
  v_request.order_type := ("order").order_type;
  v_request.price := replace_order.price;
  v_request.quantity := replace_order.quantity - ("order").filled_quantity;
  v_request.time_in_force := ("order").time_in_force;
  v_request.post_only := ("order").post_only;
  v_request.expires_at := ("order").expires_at;
  v_request.book_side := v_active_order.book_side;
  v_request.book_price := case ("order").order_type
    when 'buy' then replace_order.price
    else 100 - replace_order.price
  end;
  -- What never rests and still has the protection price came without one.
  v_request.is_market := not replace_order.is_priced
    and ("order").time_in_force = 'ioc'
    and v_request.book_price = 99;
  v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, context.at);

  v_batch := trading.match_batch(array[context], array[v_request], context.at);
  v_result := (v_batch.result).results[1];
  if v_result.code is not null then
    if v_result.code = 'CONFLICT_RETRY' then
      -- The makers that it had to cancel so far stay cancelled, or it would meet them again.
      perform trading.write_batch(v_batch);
    end if;
    return (v_result.code, null, false, null)::api.result;
  end if;

  -- An order that is matched at once is counted with the order that it replaces, as one change.
  perform trading.end_active_orders(
    context.market_id, array[("order").id], 'user_amended', context.at,
    counted => context.live_delay_ms is not null
  );
  v_written := trading.write_batch(v_batch);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.order_object(
        (v_written.orders[1]).public_id,
        (v_batch.traders).public_ids[(v_batch.request_arrays).traders[1]],
        context.public_id, v_request.side, v_request.price, v_result.quantity,
        v_result.quantity - v_result.left_quantity, v_result.status, v_request.order_type, null,
        v_result.cancel_reason, v_request.expires_at, core.iso8601(context.at),
        case when v_result.status = 'scheduled' then trading.schedule_members(
          context.at + context.live_delay_ms * interval '1 millisecond', null, context.at
        ) end
      ),
      trading.fills_of_order((v_written.orders[1]).id),
      ("order").public_id,
      coalesce(v_result.fee_cents, 0)
    )
  )::api.result;
end
$$;

comment on function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is refused. '
  'is_priced: the price was asked for and is not just the order''s own. The caller holds the '
  'market''s lock; locks as api.place_orders does.';
--! EndIncluded trading/functions/replace_order.sql
--! Included trading/functions/amend_rejection.sql
create or replace function trading.amend_rejection(
  "order" trading.orders, has_expired boolean, quantity int
)
returns text
language sql immutable parallel safe
return case
  when ("order").id is null then 'ORDER_NOT_FOUND'
  when has_expired or ("order").status in ('filled', 'cancelled') then 'ORDER_NOT_AMENDABLE'
  when quantity <= ("order").filled_quantity then 'BELOW_FILLED'
  when ("order").budget_cents is not null then 'BUDGET_ORDER_NOT_AMENDABLE'
end;

comment on function trading.amend_rejection(trading.orders, boolean, int) is
  'Why an order cannot be amended to a new total quantity (null keeps it), in order of precedence; '
  'null when it can. The order is null when the user has no such one.';
--! EndIncluded trading/functions/amend_rejection.sql
--! Included trading/functions/amend_order.sql
create or replace function trading.amend_order(
  user_public_id uuid, order_public_id uuid, price int, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = amend_order.user_public_id
  );
  v_order trading.orders;
  v_at timestamptz;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_has_expired boolean;
  v_price int;
  v_quantity int;
  v_code text;
  v_message text;
  v_body text;
begin
  select o.* into v_order
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o;
  perform trading.lock_market(v_order.market_id);
  v_at := core.now();
  v_context := (trading.read_markets(array[v_order.market_id], v_at))[1];
  select o.* into v_order
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o;

  v_has_expired := v_order.expires_at <= v_at
    and v_order.status in ('scheduled', 'open', 'partially_filled');
  v_price := coalesce(amend_order.price, v_order.price);
  v_quantity := coalesce(amend_order.quantity, v_order.quantity);
  v_code := trading.amend_rejection(v_order, v_has_expired, amend_order.quantity);
  if v_code is null
    and (
      v_price <> v_order.price
      or v_quantity > v_order.quantity
      or (v_quantity < v_order.quantity and v_order.status = 'scheduled')
    )
  then
    return trading.replace_order(
      v_context, v_order, v_price, v_quantity, amend_order.price is not null
    );
  end if;

  perform trading.lock_traders(array[v_user_id]);
  v_traders := trading.read_traders(array[v_user_id], v_at);
  v_code := coalesce(
    trading.trader_rejection(
      v_context.site_paused, v_traders.user_ids is not null, v_traders.blocked_by[1]
    ),
    v_code,
    case when v_quantity <> v_order.quantity and not v_context.is_open then 'MARKET_NOT_OPEN' end
  );
  if v_code = 'ORDER_NOT_AMENDABLE' then
    if v_has_expired then
      perform trading.cancel_active_orders(
        v_order.market_id, array[v_order.id], 'expired', v_at, true
      );
    end if;
    v_message := 'Cannot amend order with status: '
      || case when v_has_expired then 'cancelled' else v_order.status end;
  elsif v_code is null then
    if v_quantity < v_order.quantity then
      perform trading.reduce_order(v_order, v_quantity, v_at);
    end if;
    v_body := format(
      '{"order":%s,"amended":%s,"queuePositionChanged":false}',
      trading.order_object(
        v_order.public_id, amend_order.user_public_id, v_context.public_id, v_order.side,
        v_order.price, v_quantity, v_order.filled_quantity, v_order.status, v_order.order_type,
        null, null, v_order.expires_at, core.iso8601(v_order.created_at),
        case when v_order.status = 'scheduled'
          then trading.schedule_members(v_order.release_at, null, v_at) end
      ),
      (v_quantity < v_order.quantity)::text
    );
  end if;
  return (v_code, v_message, false, v_body)::api.result;
end
$$;

comment on function trading.amend_order(uuid, uuid, int, int) is
  'Gives a user''s open order a new price, a new total quantity, or both; null keeps what it has. '
  'A smaller quantity at the same price keeps a resting order in its place; anything else replaces '
  'the order. The documented body of PATCH /orders/:id, or a refusal. An order past its expiry '
  'expires instead. Locks: the market, then the user and the makers that a new order can reach.';
--! EndIncluded trading/functions/amend_order.sql
--! Included trading/functions/change_market_status.sql
create or replace function trading.change_market_status(
  market_id bigint, status catalog.market_status, close_time timestamptz default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market catalog.markets;
  v_at timestamptz := core.now();
begin
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = change_market_status.market_id
  for no key update;
  -- Past its close time a market is closed, even if the job that does it is late.
  if v_market.status in ('open', 'paused')
    and v_market.close_time <= v_at
    and change_market_status.status <> 'closed'
  then
    perform trading.clear_orders(
      v_market.id, trading.active_orders_of_market(v_market.id), 'market_closed', v_at
    );
    v_market.status := 'closed';
  end if;
  if change_market_status.close_time <> coalesce(v_market.close_time, 'infinity')
    and (change_market_status.status <> 'open' or v_market.status = 'open')
  then
    perform core.raise_error(
      'INVALID_REQUEST',
      'a close time is taken only where a paused or closed market becomes open; '
      'admin.edit_market changes it'
    );
  end if;
  if v_market.status = change_market_status.status then
    return;
  end if;
  if v_market.status = 'resolved'
    or (v_market.status, change_market_status.status) = ('closed', 'paused')
  then
    perform core.raise_error('INVALID_STATE', format(
      'a %s market cannot become %s', v_market.status, change_market_status.status
    ));
  end if;
  perform catalog.check_close_time(change_market_status.close_time);

  update catalog.markets as m set
    status = change_market_status.status,
    close_time = case
      when change_market_status.status <> 'open' then m.close_time
      when v_market.status = 'closed' then change_market_status.close_time
      else coalesce(change_market_status.close_time, m.close_time)
    end
  where m.id = change_market_status.market_id;

  if change_market_status.status = 'closed' then
    perform trading.clear_orders(
      change_market_status.market_id,
      trading.active_orders_of_market(change_market_status.market_id),
      'market_closed',
      v_at
    );
  end if;
end
$$;

comment on function trading.change_market_status(
  bigint, catalog.market_status, timestamptz
) is
  'Moves a market to open, paused or closed with all that goes with it. A market past its close '
  'time counts as closed. Errors: INVALID_STATE, INVALID_REQUEST (a close time that would not be '
  'taken, or is not in the future). The caller holds the market''s lock.';
--! EndIncluded trading/functions/change_market_status.sql
--! Included trading/functions/yes_payout_cents.sql
create or replace function trading.yes_payout_cents(outcome text, yes_payout_cents int)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cents constant int := case yes_payout_cents.outcome
    when 'yes' then 100
    when 'no' then 0
    else yes_payout_cents.yes_payout_cents
  end;
begin
  if yes_payout_cents.outcome is null
    or yes_payout_cents.outcome not in ('yes', 'no', 'custom')
  then
    perform core.raise_error('INVALID_REQUEST', 'the outcome must be yes, no or custom');
  elsif v_cents is null then
    perform core.raise_error(
      'INVALID_REQUEST', 'a custom outcome needs what a YES share pays, in cents'
    );
  elsif v_cents not between 0 and 100 then
    perform core.raise_error('INVALID_REQUEST', 'a YES share pays from 0 to 100 cents');
  elsif v_cents <> yes_payout_cents.yes_payout_cents then
    perform core.raise_error('INVALID_REQUEST', format(
      'a YES share pays %s cents when the outcome is %s', v_cents, yes_payout_cents.outcome
    ));
  end if;
  return v_cents;
end
$$;

comment on function trading.yes_payout_cents(text, int) is
  'What a YES share pays by an outcome: 100 (yes), 0 (no), or what is given with custom, 0-100; a '
  'NO share pays the rest. Errors: INVALID_REQUEST.';
--! EndIncluded trading/functions/yes_payout_cents.sql
--! Included trading/functions/payouts.sql
create or replace function trading.payouts(market_id bigint, yes_payout_cents int)
returns table (
  user_id bigint,
  side trading.side,
  quantity bigint,
  payout_cents bigint,
  cost_cents bigint,
  fee_cents bigint,
  realised_cents bigint
)
language sql stable
begin atomic
  select
    p.user_id, p.side, p.quantity, s.payout_cents, p.cost_cents, p.fee_cents,
    s.payout_cents - p.cost_cents - p.fee_cents
  from trading.positions as p
  cross join lateral (
    select p.quantity * case p.side
      when 'yes' then payouts.yes_payout_cents
      else 100 - payouts.yes_payout_cents
    end as payout_cents
  ) as s
  where p.market_id = payouts.market_id
    and p.quantity > 0;
end;

comment on function trading.payouts(bigint, int) is
  'What each position of a market that holds shares is paid if a YES share pays yes_payout_cents, '
  'and what that realises: payout - cost - buy fees.';
--! EndIncluded trading/functions/payouts.sql
--! Included trading/functions/settle_market.sql
-- Sets as long as the market has positions: the planner must know how long, so nothing generic,
-- and compiling would cost more than it brings.
create or replace function trading.settle_market(
  market_id bigint,
  outcome catalog.outcome,
  yes_payout_cents int,
  corrected trading.resolutions,
  reason text,
  at timestamptz
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
as $$
declare
  v_resolution_id constant bigint := nextval('trading.resolutions_id_seq');
  v_is_first constant boolean := (corrected).id is null;
  v_settled record;
  v_yes_more_cents int;
  v_no_more_cents int;
  v_user_ids bigint[];
  v_account_ids bigint[];
  v_amounts_cents bigint[];
  v_journal_id bigint;
  v_summary jsonb;
begin
  -- 1. What belongs to the market, while its traders are free to go on elsewhere. The status comes
  -- first: it takes the row of the category, which must be had before any user.
  update catalog.markets as m set
    status = 'resolved',
    resolved_outcome = settle_market.outcome,
    yes_payout_cents = settle_market.yes_payout_cents,
    resolved_at = coalesce(m.resolved_at, settle_market.at)
  where m.id = settle_market.market_id;

  with settled as (
    insert into trading.settlements (
      resolution_id, market_id, user_id, side,
      quantity, payout_cents, cost_cents, fee_cents, realised_cents
    )
    select
      v_resolution_id, settle_market.market_id, p.user_id, p.side,
      p.quantity, p.payout_cents, p.cost_cents, p.fee_cents, p.realised_cents
    from trading.payouts(settle_market.market_id, settle_market.yes_payout_cents) as p
    returning user_id, payout_cents
  )
  select
    count(*) as positions,
    count(distinct s.user_id) as users,
    coalesce(sum(s.payout_cents), 0)::bigint as payout_cents
  into v_settled
  from settled as s;

  -- What was paid for the shares stays with them, so a correction moves what a share pays more.
  v_yes_more_cents := settle_market.yes_payout_cents - coalesce((corrected).yes_payout_cents, 0);
  v_no_more_cents := case
    when v_is_first then 100 - settle_market.yes_payout_cents
    else -v_yes_more_cents
  end;
  update trading.holdings as h set
    yes_realised_cents = h.yes_realised_cents + h.yes_quantity * v_yes_more_cents
      - case when v_is_first then h.yes_cost_cents + h.yes_fee_cents else 0 end,
    no_realised_cents = h.no_realised_cents + h.no_quantity * v_no_more_cents
      - case when v_is_first then h.no_cost_cents + h.no_fee_cents else 0 end
  where h.market_id = settle_market.market_id
    and (h.yes_quantity > 0 or h.no_quantity > 0);

  -- 2. Cash: computed, then locked in the order of the users, then moved.
  select
    array_agg(l.user_id),
    array_agg(ledger.user_account_id(l.user_id)),
    array_agg(l.amount_cents)
  into v_user_ids, v_account_ids, v_amounts_cents
  from (
    select t.user_id, d.amount_cents
    from (
      select
        h.user_id,
        h.yes_quantity * v_yes_more_cents + h.no_quantity * v_no_more_cents as amount_cents
      from trading.holdings as h
      where h.market_id = settle_market.market_id
    ) as d
    join trading.traders as t on t.user_id = d.user_id
    where d.amount_cents <> 0
    order by t.user_id
    for no key update of t
  ) as l;

  if v_user_ids is not null then
    if v_is_first then
      v_account_ids := v_account_ids || ledger.escrow_account_id(settle_market.market_id);
      v_amounts_cents := v_amounts_cents || -v_settled.payout_cents;
    end if;
    v_journal_id := ledger.post_journal(
      case when v_is_first then 'settlement' else 'correction' end::ledger.journal_kind,
      settle_market.market_id, v_account_ids, v_amounts_cents, settle_market.at
    );
  end if;

  insert into trading.resolutions (
    id, market_id, journal_id, outcome, yes_payout_cents, corrects_resolution_id, reason,
    position_count, payout_cents, created_at
  )
  values (
    v_resolution_id, settle_market.market_id, v_journal_id, settle_market.outcome,
    settle_market.yes_payout_cents, (corrected).id, settle_market.reason,
    v_settled.positions, v_settled.payout_cents, settle_market.at
  );

  v_summary := jsonb_build_object(
    'outcome', settle_market.outcome,
    'yesPayoutCents', settle_market.yes_payout_cents,
    'positions', v_settled.positions,
    'users', v_settled.users,
    'payoutCents', v_settled.payout_cents
  );
  if not v_is_first then
    v_summary := v_summary || jsonb_build_object(
      'movedCents', (
        select coalesce(sum(l.cents), 0)
        from unnest(v_amounts_cents) as l (cents)
        where l.cents > 0
      ),
      'usersBelowZero', (
        select count(*)
        from trading.traders as t
        where t.user_id = any (v_user_ids)
          and t.balance_cents < 0
      )
    );
  end if;
  return v_summary;
end
$$;

comment on function trading.settle_market(
  bigint, catalog.outcome, int, trading.resolutions, text, timestamptz
) is
  'Pays the positions of a closed market by an outcome, all in one journal, or corrects the '
  'resolution that holds by the differences; returns the operator''s summary. corrected and '
  'reason are null for the first resolution. The caller holds the market''s lock; locks everybody '
  'whose cash moves, by ascending user, once all is computed.';
--! EndIncluded trading/functions/settle_market.sql
--! Included trading/functions/resolve_market.sql
create or replace function trading.resolve_market(
  market_id bigint, outcome catalog.outcome, yes_payout_cents int
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status catalog.market_status;
begin
  perform trading.lock_market(resolve_market.market_id);
  select m.status into strict v_status
  from catalog.markets as m
  where m.id = resolve_market.market_id
  for no key update;
  if v_status = 'resolved' then
    perform core.raise_error(
      'INVALID_STATE', 'the market is resolved; admin.correct_resolution corrects that'
    );
  end if;

  perform trading.change_market_status(resolve_market.market_id, 'closed');
  return trading.settle_market(
    resolve_market.market_id, resolve_market.outcome, resolve_market.yes_payout_cents,
    null, null, core.now()
  );
end
$$;

comment on function trading.resolve_market(bigint, catalog.outcome, int) is
  'Closes a market if it is not, and pays all its positions. Errors: INVALID_STATE. Locks: the '
  'market, its row, then everybody who is paid.';
--! EndIncluded trading/functions/resolve_market.sql
--! Included trading/functions/correct_resolution.sql
create or replace function trading.correct_resolution(
  market_id bigint, outcome catalog.outcome, yes_payout_cents int, reason text
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_corrected trading.resolutions;
begin
  perform trading.lock_market(correct_resolution.market_id);
  perform
  from catalog.markets as m
  where m.id = correct_resolution.market_id
  for no key update;

  select r.* into v_corrected
  from trading.resolutions as r
  where r.market_id = correct_resolution.market_id
  order by r.id desc
  limit 1;
  if not found then
    perform core.raise_error('INVALID_STATE', 'the market is not resolved');
  elsif (v_corrected.outcome, v_corrected.yes_payout_cents)
    = (correct_resolution.outcome, correct_resolution.yes_payout_cents)
  then
    perform core.raise_error('INVALID_STATE', format(
      'the market is resolved that way: %s, a YES share pays %s cents',
      v_corrected.outcome, v_corrected.yes_payout_cents
    ));
  end if;

  return trading.settle_market(
    correct_resolution.market_id, correct_resolution.outcome,
    correct_resolution.yes_payout_cents, v_corrected, correct_resolution.reason, core.now()
  );
end
$$;

comment on function trading.correct_resolution(bigint, catalog.outcome, int, text) is
  'Corrects the resolution of a market that holds: moves the difference of each user. Errors: '
  'INVALID_STATE. Locks: the market, its row, then everybody whose cash moves.';
--! EndIncluded trading/functions/correct_resolution.sql
--! Included trading/functions/expire_orders.sql
create or replace function trading.expire_orders(market_id bigint, order_ids bigint[])
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return trading.cancel_active_orders(
    expire_orders.market_id,
    array(
      select b.order_id
      from unnest(expire_orders.order_ids) as u (order_id)
      cross join lateral (
        select x.order_id, x.market_id, x.expires_at
        from trading.active_orders as x
        where x.order_id = u.order_id
          and x.queue_position is not null
        limit 1
      ) as b
      cross join lateral (
        select x.close_time
        from catalog.markets as x
        where x.id = b.market_id
        limit 1
      ) as m
      where b.expires_at <= v_at
        and (m.close_time is null or b.expires_at < m.close_time)
    ),
    'expired',
    v_at,
    true
  );
end
$$;

comment on function trading.expire_orders(bigint, bigint[]) is
  'Cancels those of some orders of a market that are past their expiry; returns how many. Not '
  'those that the market''s close time came first for, which are cancelled by its closing, nor '
  'scheduled ones, which expire when they are released. The caller holds the market''s lock.';
--! EndIncluded trading/functions/expire_orders.sql
--! Included trading/functions/clear_orders.sql
create or replace function trading.clear_orders(
  market_id bigint, order_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform trading.expire_orders(clear_orders.market_id, clear_orders.order_ids);
  return trading.cancel_active_orders(
    clear_orders.market_id, clear_orders.order_ids, clear_orders.reason, clear_orders.at, true
  );
end
$$;

comment on function trading.clear_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Ends open orders of one market, whose owners are told: those past their expiry expire, the '
  'others are cancelled for a reason; returns how many were cancelled. The caller holds the '
  'market''s lock.';
--! EndIncluded trading/functions/clear_orders.sql
--! Included trading/functions/lock_user_with_markets.sql
create or replace function trading.lock_user_with_markets(user_id uuid)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = lock_user_with_markets.user_id
  );
  v_market_id bigint;
  v_market_ids bigint[];
begin
  -- Markets are locked before users, but which markets it must be is only certain once the user
  -- is locked: look, lock both, look again, and start over if an order came in between.
  loop
    begin
      v_market_ids := '{}';
      for v_market_id in
        select distinct b.market_id
        from trading.active_orders as b
        where b.user_id = v_user_id
        order by b.market_id
      loop
        perform trading.lock_market(v_market_id);
        v_market_ids := v_market_ids || v_market_id;
      end loop;
      perform identity.lock_user(lock_user_with_markets.user_id);
      if exists (
        select from trading.active_orders as b
        where b.user_id = v_user_id and b.market_id <> all (v_market_ids)
      ) then
        raise exception using errcode = 'serialization_failure';
      end if;
      return v_market_ids;
    exception when serialization_failure then
      null; -- the locks of this attempt are gone with it
    end;
  end loop;
end
$$;

comment on function trading.lock_user_with_markets(uuid) is
  'Locks a user together with all markets in which the user has open orders, and returns those '
  'markets: nothing comes to these orders until the transaction ends. Errors: NOT_FOUND. Locks: '
  'the markets in ascending id, then the user.';
--! EndIncluded trading/functions/lock_user_with_markets.sql
--! Included trading/functions/clear_orders_of_user.sql
create or replace function trading.clear_orders_of_user(
  user_id bigint, market_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
  v_cancelled int := 0;
begin
  foreach v_market_id in array clear_orders_of_user.market_ids loop
    v_cancelled := v_cancelled + trading.clear_orders(
      v_market_id,
      array(
        select b.order_id
        from trading.active_orders as b
        where b.user_id = clear_orders_of_user.user_id and b.market_id = v_market_id
      ),
      clear_orders_of_user.reason,
      clear_orders_of_user.at
    );
  end loop;
  return v_cancelled;
end
$$;

comment on function trading.clear_orders_of_user(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Ends the open orders of a user in some markets, resting and scheduled ones, as '
  'trading.clear_orders does; returns how many were cancelled. The caller holds the locks of the '
  'markets.';
--! EndIncluded trading/functions/clear_orders_of_user.sql
--! Included trading/functions/close_market.sql
create or replace function trading.close_market(market_id bigint, most int default null)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_order_ids bigint[];
  v_count int;
begin
  perform from catalog.markets as m
  where m.id = close_market.market_id
    and m.status in ('open', 'paused')
    and m.close_time <= v_at;
  if not found then
    return 0;
  end if;

  -- Past its close time the market takes no orders, so piece by piece its book gets empty.
  v_order_ids := trading.active_orders_of_market(close_market.market_id, close_market.most);
  v_count := cardinality(v_order_ids);
  perform trading.clear_orders(close_market.market_id, v_order_ids, 'market_closed', v_at);
  if close_market.most is null or v_count < close_market.most then
    perform trading.change_market_status(close_market.market_id, 'closed');
    v_count := v_count + 1;
  end if;
  return v_count;
end
$$;

comment on function trading.close_market(bigint, int) is
  'Closes a market that is past its close time, at once or as much of it as is done by cancelling '
  'so many orders; returns how many it cancelled, and one more for the market. 0: it is not due. '
  'The caller holds the market''s lock.';
--! EndIncluded trading/functions/close_market.sql
--! Included trading/functions/make_archive_partition.sql
create or replace function trading.make_archive_partition(month timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := date_trunc('month', make_archive_partition.month, 'UTC');
  v_to constant timestamptz := (v_from at time zone 'UTC' + interval '1 month') at time zone 'UTC';
  v_name constant text := 'archived_orders_' || to_char(v_from at time zone 'UTC', 'YYYY_MM');
begin
  -- A transaction that attached a partition keeps this lock until every session is told of the
  -- partition. It lets go of the row of trading.archive_progress an instant before.
  lock table only trading.archived_orders in share update exclusive mode;
  if to_regclass(format('trading.%I', v_name)) is not null then
    return;
  end if;
  -- Made apart and then attached, so that readers of the archive do not wait for it, nor it for
  -- readers.
  execute format(
    'create table trading.%I (like trading.archived_orders including all)', v_name
  );
  execute format(
    'create trigger archived_orders_are_append_only '
    'before update or delete or truncate on trading.%I '
    'for each statement execute function ledger.refuse_change()',
    v_name
  );
  execute format(
    'alter table trading.archived_orders attach partition trading.%I for values from (%L) to (%L)',
    v_name, core.uuid_v7_at(v_from), core.uuid_v7_at(v_to)
  );
end
$$;

comment on function trading.make_archive_partition(timestamptz) is
  'Makes the partition of trading.archived_orders for a month (UTC), unless it is there. The '
  'caller holds the row of trading.archive_progress, so that nobody else makes it too. Locks '
  'trading.archived_orders against other changes of its partitions, not against reading and '
  'writing.';
--! EndIncluded trading/functions/make_archive_partition.sql
--! Included trading/functions/archive_orders.sql
create or replace function trading.archive_orders(most int, out looked_at int, out archived int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := interval '30 days';
  v_last_id bigint;
  v_at timestamptz;
  v_due timestamptz;
  v_again bigint[];
  v_new bigint[];
  v_ids bigint[];
  v_month timestamptz;
begin
  looked_at := 0;
  archived := 0;
  select p.last_order_id into v_last_id
  from trading.archive_progress as p
  for update skip locked;
  if not found then
    return;
  end if;
  v_at := core.now();
  v_due := v_at - c_delay;

  v_again := array(
    select q.order_id
    from trading.archive_queue as q
    where q.look_at <= v_at
    order by q.look_at
    limit archive_orders.most
  );
  v_new := array(
    select n.id
    from (
      select x.id, bool_and(x.created_at <= v_due) over (order by x.id) as is_old
      from (
        select o.id, o.created_at
        from trading.orders as o
        where o.id > v_last_id
        order by o.id
        limit archive_orders.most - cardinality(v_again)
      ) as x
    ) as n
    where n.is_old
    order by n.id
  );
  v_ids := v_again || v_new;
  looked_at := cardinality(v_ids);
  if looked_at = 0 then
    return;
  end if;

  for v_month in
    select distinct date_trunc('month', core.uuid_v7_time(o.public_id), 'UTC')
    from trading.orders as o
    where o.id = any (v_ids)
      and o.status = 'cancelled'
      and o.filled_quantity = 0
      and o.cancelled_at <= v_due
  loop
    perform trading.make_archive_partition(v_month);
  end loop;

  with moved as (
    delete from trading.orders as o
    where o.id = any (v_ids)
      and o.status = 'cancelled'
      and o.filled_quantity = 0
      and o.cancelled_at <= v_due
    returning o.*
  )
  insert into trading.archived_orders
  select m.* from moved as m;
  get diagnostics archived = row_count;

  delete from trading.archive_queue as q
  where q.order_id = any (v_again);
  insert into trading.archive_queue (order_id, look_at)
  select o.id, coalesce(o.cancelled_at, v_at) + c_delay
  from trading.orders as o
  where o.id = any (v_ids)
    and o.filled_quantity = 0;

  if cardinality(v_new) > 0 then
    update trading.archive_progress as p
    set last_order_id = v_new[cardinality(v_new)];
  end if;
end
$$;

comment on function trading.archive_orders(int) is
  'Looks at orders that may be due for the archive, at most so many: those of '
  'trading.archive_queue, then, in the order of their ids, those that have become 30 days old. '
  'Moves the ones that were cancelled 30 days ago without a fill to trading.archived_orders, and '
  'notes when to look again at those that may still come to that. Locks: the row of '
  'trading.archive_progress; does nothing while somebody else has it. Cancelled orders never '
  'change, so it needs no market.';
--! EndIncluded trading/functions/archive_orders.sql
--! Included trading/functions/best_price.sql
create or replace function trading.best_price(
  market_id bigint, book_side trading.side, at timestamptz
)
returns int
language sql stable
begin atomic
  select x.book_price
  from (
    select
      s.market_id,
      case best_price.book_side when 'yes' then s.best_yes_price else s.best_no_price end as price,
      case best_price.book_side when 'yes' then s.first_yes_position else s.first_no_position end
        as first_position
    from trading.market_state as s
    where s.market_id = best_price.market_id
  ) as m
  cross join lateral (
    (
      select b.book_price::int as book_price
      from trading.active_orders as b
      where b.market_id = m.market_id
        and b.book_side = best_price.book_side
        and b.book_price = m.price
        and b.queue_position >= m.first_position
        and (b.expires_at is null or b.expires_at > best_price.at)
      order by b.queue_position
      limit 1
    )
    union all
    (
      select b.book_price::int
      from trading.active_orders as b
      where b.market_id = m.market_id
        and b.book_side = best_price.book_side
        and b.book_price < m.price
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > best_price.at)
      order by b.book_price desc, b.queue_position
      limit 1
    )
    limit 1
  ) as x
  where m.price > 0;
end;

comment on function trading.best_price(bigint, trading.side, timestamptz) is
  'Highest stored price of a side of a market''s book at a time, null when it is empty. Looks from '
  'where the book begins (trading.market_state.first_yes_position) for an order that has not '
  'expired.';
--! EndIncluded trading/functions/best_price.sql
--! Included trading/functions/depth.sql
-- The settings hold also for plans made on empty tables. Of the indexes of active orders only that
-- of those that expire gives them sorted; by that of the book, a deep one would be read to its end.
create or replace function trading.depth(market_id bigint, at timestamptz)
returns table (book_side trading.side, book_price int, quantity bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select
    case when d.place <= 99 then 'yes' else 'no' end::trading.side,
    (case when d.place <= 99 then d.place else d.place - 99 end)::int,
    d.quantity - coalesce(g.quantity, 0)
  from trading.market_state as s
  cross join lateral unnest(s.depth) with ordinality as d (quantity, place)
  left join (
    select
      case e.book_side when 'yes' then e.book_price::bigint else 99 + e.book_price end as place,
      sum(e.left_quantity) as quantity
    from (
      select x.book_side, x.book_price, x.left_quantity
      from trading.active_orders as x
      where x.market_id = depth.market_id
        and x.expires_at <= depth.at
        and x.queue_position is not null
      order by x.expires_at
    ) as e
    group by 1
  ) as g on g.place = d.place
  where s.market_id = depth.market_id
    and d.quantity > coalesce(g.quantity, 0)
$$;

comment on function trading.depth(bigint, timestamptz) is
  'Unfilled shares of a market''s book at each stored side and price, without orders that have '
  'expired and not been cancelled yet.';
--! EndIncluded trading/functions/depth.sql
--! Included trading/functions/shares_ahead.sql
-- Every look-up goes by an index whatever the planner expects: a subquery with a limit can only be
-- carried out once for each row that it belongs to. What is left to join is as large as the queues:
-- it is hashed, since a nested loop would read each queue again for each order.
create or replace function trading.shares_ahead(order_ids bigint[], at timestamptz)
returns table (order_id bigint, shares_ahead bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set jit = off
as $$
  with own as materialized (
    select b.*
    from unnest(shares_ahead.order_ids) as u (order_id)
    cross join lateral (
      select x.order_id, x.market_id, x.book_side, x.book_price, x.queue_position
      from trading.active_orders as x
      where x.order_id = u.order_id
        and x.queue_position is not null
        and (x.expires_at is null or x.expires_at > shares_ahead.at)
      limit 1
    ) as b
  ),
  expired as materialized (
    select e.market_id, e.book_side, e.book_price, sum(e.left_quantity) as quantity
    from trading.active_orders as e
    where e.expires_at <= shares_ahead.at
      and e.queue_position is not null
      and e.market_id in (select w.market_id from own as w)
    group by e.market_id, e.book_side, e.book_price
  ),
  levels as materialized (
    select
      q.*,
      coalesce(d.quantity, 0) - coalesce(
        (
          select sum(e.quantity)
          from expired as e
          where e.market_id = q.market_id
            and e.book_side = q.book_side
            and e.book_price > q.book_price
        ), 0
      ) as better_quantity
    from (
      select w.market_id, w.book_side, w.book_price, max(w.queue_position) as last_position
      from own as w
      group by w.market_id, w.book_side, w.book_price
    ) as q
    cross join lateral (
      select (
        select sum(u.quantity)
        from unnest(
          s.depth[
            trading.depth_place(q.book_side, q.book_price) + 1:trading.depth_place(q.book_side, 99)
          ]
        ) as u (quantity)
      ) as quantity
      from trading.market_state as s
      where s.market_id = q.market_id
      limit 1
    ) as d
  ),
  queued as (
    select
      x.order_id, q.better_quantity,
      sum(x.left_quantity) over (
        partition by q.market_id, q.book_side, q.book_price
        order by x.queue_position
        rows between unbounded preceding and 1 preceding
      ) as earlier_quantity
    from levels as q
    cross join lateral (
      select b.order_id, b.queue_position, b.left_quantity
      from trading.active_orders as b
      where b.market_id = q.market_id
        and b.book_side = q.book_side
        and b.book_price = q.book_price
        and b.queue_position <= q.last_position
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > shares_ahead.at)
      order by b.queue_position
    ) as x
  )
  select w.order_id, (q.better_quantity + coalesce(q.earlier_quantity, 0))::bigint
  from own as w
  join queued as q on q.order_id = w.order_id
$$;

comment on function trading.shares_ahead(bigint[], timestamptz) is
  'For each of these orders that rests and has not expired, the unfilled shares that trade before '
  'it: better-priced ones and earlier ones at its price. Orders that do not rest have no row. '
  'Cost: each queue that has one of the orders is read once, up to the last of them; the depth of '
  'each of their markets once; and the orders past their expiry that have not been swept yet.';
--! EndIncluded trading/functions/shares_ahead.sql
--! Included trading/functions/listed_order_object.sql
create or replace function trading.listed_order_object(
  "order" trading.orders, shares_ahead bigint, at timestamptz
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'id', ("order").public_id,
    'userId', u.public_id,
    'marketId', m.public_id,
    'marketTitle', m.title,
    'side', ("order").side,
    'price', ("order").price,
    'quantity', ("order").quantity,
    'filledQuantity', ("order").filled_quantity,
    'status', ("order").status,
    'orderType', ("order").order_type,
    'timeInForce', ("order").time_in_force,
    'cancelReason', ("order").cancel_reason,
    'expiresAt', core.iso8601(("order").expires_at),
    'releaseAt', core.iso8601(("order").release_at),
    'releaseInMs', case when ("order").status = 'scheduled'
      then trading.release_in_ms(("order").release_at, listed_order_object.at) end,
    'budgetCents', case when ("order").status = 'scheduled' then ("order").budget_cents end,
    'createdAt', core.iso8601(("order").created_at),
    'sharesAhead', coalesce(listed_order_object.shares_ahead, 0)
  )
  from identity.users as u, catalog.markets as m
  where u.id = ("order").user_id
    and m.id = ("order").market_id
$$;

comment on function trading.listed_order_object(trading.orders, bigint, timestamptz) is
  'An order as lists show it. shares_ahead is that of trading.shares_ahead, null for an order that '
  'does not rest.';
--! EndIncluded trading/functions/listed_order_object.sql
--! Included trading/functions/open_order_object.sql
create or replace function trading.open_order_object("order" trading.orders)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case ("order").status
    when 'scheduled' then json_build_object(
      'id', ("order").public_id,
      'marketId', m.public_id,
      'marketTitle', m.title,
      'side', ("order").side,
      'price', ("order").price,
      'quantity', ("order").quantity,
      'filledQuantity', ("order").filled_quantity,
      'status', ("order").status,
      'orderType', ("order").order_type,
      'createdAt', core.iso8601(("order").created_at),
      'releaseAt', core.iso8601(("order").release_at),
      'budgetCents', ("order").budget_cents
    )
    else json_build_object(
      'id', ("order").public_id,
      'marketId', m.public_id,
      'marketTitle', m.title,
      'side', ("order").side,
      'price', ("order").price,
      'quantity', ("order").quantity,
      'filledQuantity', ("order").filled_quantity,
      'status', ("order").status,
      'orderType', ("order").order_type,
      'createdAt', core.iso8601(("order").created_at)
    )
  end
  from catalog.markets as m
  where m.id = ("order").market_id
$$;

comment on function trading.open_order_object(trading.orders) is
  'An open order as the portfolio shows it; a scheduled one also says when it is released.';
--! EndIncluded trading/functions/open_order_object.sql
--! Included risk/functions/exclude.sql
create or replace function risk.exclude(user_id uuid, until timestamptz)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_market_ids bigint[];
  v_excluded_until timestamptz;
  v_at timestamptz;
begin
  if exclude.until is null or exclude.until <= core.now() then
    perform core.raise_error('INVALID_REQUEST', 'the end must be in the future');
  end if;
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = exclude.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', exclude.user_id));
  end if;

  v_market_ids := trading.lock_user_with_markets(exclude.user_id);
  v_at := core.now();
  select t.excluded_until into v_excluded_until
  from trading.traders as t
  where t.user_id = v_user_id;
  if v_excluded_until > exclude.until then
    perform core.raise_error('INVALID_REQUEST', format(
      'excluded until %s already: an exclusion cannot be shortened', v_excluded_until
    ));
  end if;
  update trading.traders as t
  set excluded_until = exclude.until
  where t.user_id = v_user_id;

  return trading.clear_orders_of_user(v_user_id, v_market_ids, 'self_excluded', v_at);
end
$$;

comment on function risk.exclude(uuid, timestamptz) is
  'Excludes a user until a time and cancels their open orders; returns how many. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the markets of those orders in ascending id, then the user.';
--! EndIncluded risk/functions/exclude.sql
--! Included trading/functions/fill_sides.sql
create or replace function trading.fill_sides()
returns table (
  trade_id bigint,
  market_id bigint,
  created_at timestamptz,
  price int,
  quantity bigint,
  is_taker boolean,
  order_id bigint,
  user_id bigint,
  book_side trading.side,
  amount_cents bigint,
  fee_cents bigint,
  realised_cents bigint
)
language sql stable
begin atomic
  select t.id, t.market_id, t.created_at, t.price::int, t.quantity::bigint, true,
    t.taker_order_id, t.taker_user_id, t.taker_side, t.taker_cents,
    t.fee_cents::bigint, t.taker_realised_cents
  from trading.trades as t
  union all
  select t.id, t.market_id, t.created_at, t.price::int, t.quantity::bigint, false,
    t.maker_order_id, t.maker_user_id,
    case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side,
    t.maker_cents, 0::bigint, t.maker_realised_cents
  from trading.trades as t;
end;

comment on function trading.fill_sides() is
  'Each trade twice, as it is for its taker and for its maker, for ledger.verify(). price is '
  'the YES price; book_side is the stored side of the order; amount_cents is what the trade moved '
  'on the account of its user; only the taker pays a fee.';
--! EndIncluded trading/functions/fill_sides.sql
--! Included ledger/functions/verify_accounts.sql
create or replace function ledger.verify_accounts()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  entry_sums as (
    select
      e.account_id,
      sum(e.amount_cents) as balance_cents,
      count(*) as entry_count,
      max(e.account_version) as last_version
    from ledger.entries as e
    group by e.account_id
  )
  select 'balance equals the sum of entries', 'account ' || a.id,
    coalesce(s.balance_cents, 0)::text, a.balance_cents::text
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.balance_cents <> coalesce(s.balance_cents, 0)

  union all
  select 'version equals the number of entries', 'account ' || a.id,
    coalesce(s.entry_count, 0)::text, a.version || ' and last ' || coalesce(s.last_version, 0)
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.version <> coalesce(s.entry_count, 0)
    or a.version <> coalesce(s.last_version, 0)

  union all
  select 'balance is not below zero', 'account ' || a.id, '>= 0', a.balance_cents::text
  from ledger.accounts as a
  where a.kind <> 'outside_world'
    and a.balance_cents + a.overdraft_cents < 0

  union all
  select 'overdraft is what the balance is below zero', 'account ' || a.id,
    greatest(0, -a.balance_cents)::text, a.overdraft_cents::text
  from ledger.accounts as a
  where a.kind = 'user_cash'
    and a.overdraft_cents <> greatest(0, -a.balance_cents)

  union all
  select 'cash is conserved', 'all accounts', '0', sum(a.balance_cents)::text
  from ledger.accounts as a
  having sum(a.balance_cents) <> 0

  union all
  select 'cash inside equals what came from outside', 'outside world',
    (-coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0))::text,
    sum(a.external_cents)::text
  from ledger.accounts as a
  having sum(a.external_cents)
    <> -coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0)

  union all
  select 'external cash equals the deposits less the withdrawals', 'user ' || t.user_id,
    coalesce(m.net_cents, 0)::text, t.external_cents::text
  from trading.traders as t
  left join (
    select
      c.user_id,
      sum(case c.kind when 'deposit' then c.amount_cents else -c.amount_cents end) as net_cents
    from ledger.cash_movements as c
    group by c.user_id
  ) as m on m.user_id = t.user_id
  where t.external_cents <> coalesce(m.net_cents, 0)

  union all
  select 'user has a row of cash and checks', 'user ' || coalesce(u.id, t.user_id),
    coalesce(u.public_id::text, 'a user'), coalesce(t.public_id::text, 'none')
  from identity.users as u
  full join trading.traders as t on t.user_id = u.id
  where u.public_id is distinct from t.public_id
$$;

comment on function ledger.verify_accounts() is
  'The part of ledger.verify() about accounts: each is the sum of its lines, cash is conserved, '
  'and each user has one. One row for each broken invariant.';
--! EndIncluded ledger/functions/verify_accounts.sql
--! Included ledger/functions/verify_entries.sql
create or replace function ledger.verify_entries()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- All that journals say of accounts, trades also of those that they move nothing on.
  legs as (
    select e.account_id, e.account_version, e.journal_id, e.amount_cents, e.balance_after_cents
    from ledger.posted_entries as e
    union all
    select l.account_id, l.account_version, t.id, l.amount_cents, l.balance_after_cents
    from trading.trades as t
    cross join lateral (
      values
        (
          ledger.user_account_id(t.taker_user_id), t.taker_version,
          t.taker_cents, t.taker_balance_cents
        ),
        (
          ledger.user_account_id(t.maker_user_id), t.maker_version,
          t.maker_cents, t.maker_balance_cents
        ),
        (
          ledger.escrow_account_id(t.market_id), t.escrow_version,
          -(t.taker_cents + t.maker_cents + t.fee_cents), t.escrow_balance_cents
        ),
        (
          ledger.revenue_account_id(t.market_id), t.revenue_version,
          t.fee_cents, t.revenue_balance_cents
        )
    ) as l (account_id, account_version, amount_cents, balance_after_cents)
  ),
  steps as (
    select
      l.*,
      lag(l.account_version, 1, 0::bigint) over w as version_before,
      lag(l.balance_after_cents, 1, 0::bigint) over w as balance_before_cents,
      lag(l.journal_id, 1, 0::bigint) over w as journal_id_before
    from legs as l
    window w as (partition by l.account_id order by l.account_version, l.journal_id)
  ),
  broken_steps as materialized (
    select s.*
    from steps as s
    where s.balance_after_cents <> s.balance_before_cents + s.amount_cents
      or s.account_version <> s.version_before + (s.amount_cents <> 0)::int
      or s.journal_id <= s.journal_id_before
  )
  -- What escrow gets of a trade is what its other lines leave.
  select 'journal sums to zero', 'journal ' || e.journal_id, '0', sum(e.amount_cents)::text
  from ledger.posted_entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0

  union all
  select 'entry belongs to a journal', 'journal ' || e.journal_id, 'a journal', 'none'
  from ledger.posted_entries as e
  where not exists (select from ledger.posted_journals as j where j.id = e.journal_id)

  union all
  select 'entry belongs to an account', 'account ' || e.account_id, 'an account', 'none'
  from ledger.entries as e
  where not exists (select from ledger.accounts as a where a.id = e.account_id)
  group by e.account_id

  union all
  select 'entry starts at the balance of the one before',
    'account ' || s.account_id || ' version ' || s.account_version,
    s.balance_before_cents::text, (s.balance_after_cents - s.amount_cents)::text
  from broken_steps as s
  where s.amount_cents <> 0
    and s.balance_after_cents <> s.balance_before_cents + s.amount_cents

  union all
  select 'versions of an account have no gap',
    'account ' || s.account_id || ' journal ' || s.journal_id,
    (s.version_before + 1)::text, s.account_version::text
  from broken_steps as s
  where s.amount_cents <> 0
    and s.account_version <> s.version_before + 1

  union all
  select 'a leg of 0 cents keeps balance and version',
    'account ' || s.account_id || ' trade ' || s.journal_id,
    s.balance_before_cents || ' at ' || s.version_before,
    s.balance_after_cents || ' at ' || s.account_version
  from broken_steps as s
  where s.amount_cents = 0
    and (s.balance_after_cents, s.account_version)
      <> (s.balance_before_cents, s.version_before)

  -- A journal gets its id once its accounts are locked.
  union all
  select 'journals of an account have the order of its versions',
    'account ' || s.account_id || ' version ' || s.account_version,
    '> ' || s.journal_id_before, s.journal_id::text
  from broken_steps as s
  where s.journal_id <= s.journal_id_before

  union all
  select 'only a correction takes an account below zero',
    'account ' || e.account_id || ' version ' || e.account_version,
    'a correction', concat_ws(' ', coalesce(j.kind::text, 'trade'), 'to', e.balance_after_cents)
  from ledger.entries as e
  left join ledger.posted_journals as j on j.id = e.journal_id
  where e.balance_after_cents < 0
    and case e.account_id % 4
      when 3 then false
      when 0 then j.kind is distinct from 'correction' and e.amount_cents < 0
      else true
    end
$$;

comment on function ledger.verify_entries() is
  'The part of ledger.verify() about the lines of the journals, those of trades included: what can '
  'be seen in the lines of one journal and of one account. One row for each broken invariant.';
--! EndIncluded ledger/functions/verify_entries.sql
--! Included ledger/functions/verify_day_openings.sql
create or replace function ledger.verify_day_openings()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- The days as the account saw them: should the clock have been set back over midnight, the
  -- entries of the earlier day count for the later one.
  movements as (
    select
      e.account_id / 4 as user_id, e.account_version, e.balance_before_cents, j.created_at,
      case when j.kind in ('deposit', 'withdrawal') then e.amount_cents end as external_cents
    from ledger.posted_entries as e
    join ledger.posted_journals as j on j.id = e.journal_id
    where e.account_id % 4 = 0
    union all
    select
      t.taker_user_id, t.taker_version, t.taker_balance_cents - t.taker_cents, t.created_at, null
    from trading.trades as t
    where t.taker_cents <> 0
    union all
    select
      t.maker_user_id, t.maker_version, t.maker_balance_cents - t.maker_cents, t.created_at, null
    from trading.trades as t
    where t.maker_cents <> 0
  ),
  moves as (
    select
      m.user_id, m.balance_before_cents,
      (m.created_at at time zone 'UTC')::date as day,
      max((m.created_at at time zone 'UTC')::date) over earlier as moved_on,
      coalesce(sum(m.external_cents) over earlier, 0) as external_cents
    from movements as m
    window earlier as (
      partition by m.user_id order by m.account_version
      rows between unbounded preceding and 1 preceding
    )
  ),
  openings as (
    select m.user_id, m.day, m.balance_before_cents as balance_cents, m.external_cents
    from moves as m
    where m.moved_on is null or m.day > m.moved_on
  )
  select 'day opening belongs to a user', 'user ' || d.user_id || ' day ' || d.day,
    'a user', 'none'
  from ledger.day_openings as d
  where not exists (select from trading.traders as t where t.user_id = d.user_id)

  union all
  select 'day opening is the account before the first entry of the day',
    'user ' || coalesce(o.user_id, d.user_id) || ' day ' || coalesce(o.day, d.day),
    coalesce(o.balance_cents || ' of ' || o.external_cents, 'none'),
    coalesce(d.balance_cents || ' of ' || d.external_cents, 'none')
  from openings as o
  full join ledger.day_openings as d on d.user_id = o.user_id and d.day = o.day
  where (o.balance_cents, o.external_cents)
    is distinct from (d.balance_cents, d.external_cents::numeric)

  union all
  select 'account moved last on the day of its last entry', 'user ' || t.user_id,
    coalesce(o.moved_on, '-infinity')::text, t.moved_on::text
  from trading.traders as t
  left join (
    select x.user_id, max(x.day) as moved_on
    from openings as x
    group by x.user_id
  ) as o on o.user_id = t.user_id
  where t.moved_on <> coalesce(o.moved_on, '-infinity')
$$;

comment on function ledger.verify_day_openings() is
  'The part of ledger.verify() about ledger.day_openings, by which loss limits are judged: there '
  'is one for each day on which a user''s cash moved, with the figures before the first movement. '
  'One row for each broken invariant.';
--! EndIncluded ledger/functions/verify_day_openings.sql
--! Included ledger/functions/verify_journals.sql
create or replace function ledger.verify_journals()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- Everything that has a posted journal.
  happenings as (
    select c.journal_id, c.kind::text::ledger.journal_kind as kind, c.market_id, c.created_at
    from trading.set_conversions as c
    union all
    select r.journal_id,
      case when r.corrects_resolution_id is null then 'settlement' else 'correction' end
        ::ledger.journal_kind,
      r.market_id, r.created_at
    from trading.resolutions as r
    where r.journal_id is not null
    union all
    select m.journal_id, m.kind, null, null
    from ledger.cash_movements as m
    -- A trade is its own journal: it must have its id alone.
    union all
    select t.id, 'trade', t.market_id, t.created_at
    from trading.trades as t
    join ledger.posted_journals as j on j.id = t.id
  ),
  -- The lines that the posted journals must have, by what happened.
  user_lines as (
    select c.journal_id, c.market_id, c.user_id,
      case c.kind when 'split' then -100 else 100 end * c.quantity::bigint as amount_cents
    from trading.set_conversions as c
    union all
    select r.journal_id, r.market_id, s.user_id,
      sum(case when s.resolution_id = r.id then s.payout_cents else -s.payout_cents end)
    from trading.resolutions as r
    join trading.settlements as s on s.resolution_id in (r.id, r.corrects_resolution_id)
    group by r.id, s.user_id
  ),
  lines as (
    select u.journal_id, ledger.user_account_id(u.user_id) as account_id, u.amount_cents
    from user_lines as u
    where u.amount_cents <> 0
    union all
    select u.journal_id, ledger.escrow_account_id(u.market_id), -sum(u.amount_cents)
    from user_lines as u
    group by u.journal_id, u.market_id
    having sum(u.amount_cents) <> 0
    union all
    select m.journal_id, l.account_id, l.amount_cents
    from ledger.cash_movements as m
    cross join lateral (
      values
        (
          ledger.user_account_id(m.user_id),
          case m.kind when 'deposit' then m.amount_cents else -m.amount_cents end
        ),
        (
          ledger.outside_account_id(),
          case m.kind when 'deposit' then -m.amount_cents else m.amount_cents end
        )
    ) as l (account_id, amount_cents)
  )
  select 'journal is of one thing that happened',
    'journal ' || coalesce(j.id, h.journal_id),
    coalesce(h.kind || coalesce(' in market ' || h.market_id, ''), 'nothing'),
    coalesce(j.kind || coalesce(' in market ' || j.market_id, ''), 'nothing')
  from ledger.posted_journals as j
  full join (
    select x.journal_id, min(x.kind) as kind, min(x.market_id) as market_id, count(*) as times
    from happenings as x
    group by x.journal_id
  ) as h on h.journal_id = j.id
  where (h.kind, h.market_id, h.times) is distinct from (j.kind, j.market_id, 1::bigint)

  union all
  select 'journal has the time of what happened', 'journal ' || j.id,
    h.created_at::text, j.created_at::text
  from ledger.posted_journals as j
  join happenings as h on h.journal_id = j.id
  where h.created_at <> j.created_at

  -- The audit row is of the same transaction, so a clock that is set between transactions changes
  -- nothing here. A reference that is given again has a row for each call.
  union all
  select 'deposit or withdrawal has the time of its call', 'journal ' || j.id,
    'within an hour of ' || l.at, j.created_at::text
  from ledger.posted_journals as j
  join (
    select c.journal_id, min(a.at) as at,
      bool_or(
        k.created_at between a.at - interval '1 hour' and a.at + interval '1 hour'
      ) as is_timed
    from ledger.cash_movements as c
    join ledger.posted_journals as k on k.id = c.journal_id
    join trading.traders as t on t.user_id = c.user_id
    join admin.audit_log as a
      on a.action = case c.kind when 'deposit' then 'deposit' else 'withdraw' end
      and a.arguments ->> 'user_id' = t.public_id::text
      and a.arguments ->> 'reference' = c.reference
    group by c.journal_id
  ) as l on l.journal_id = j.id
  where not l.is_timed

  union all
  select 'journal has the lines of what happened',
    'journal ' || coalesce(l.journal_id, e.journal_id)
      || ' account ' || coalesce(l.account_id, e.account_id),
    coalesce(l.amount_cents, 0)::text, coalesce(e.amount_cents, 0)::text
  from lines as l
  full join ledger.posted_entries as e
    on e.journal_id = l.journal_id and e.account_id = l.account_id
  where e.amount_cents is distinct from l.amount_cents

  -- Who buys or sells what is taken from the orders. Escrow gets what the lines of taker, maker and
  -- fee revenue leave, so it is right when they are.
  union all
  select 'trade moves the cash of its orders', 'trade ' || f.trade_id || ' order ' || f.order_id,
    x.amount_cents::text, f.amount_cents::text
  from trading.fill_sides() as f
  join trading.orders as o on o.id = f.order_id
  cross join lateral (
    select
      case o.order_type when 'buy' then -1 else 1 end
        * f.quantity * case o.side when 'yes' then f.price else 100 - f.price end
        - f.fee_cents as amount_cents
  ) as x
  where f.amount_cents <> x.amount_cents
$$;

comment on function ledger.verify_journals() is
  'The part of ledger.verify() about why cash moved: each posted journal is of one conversion, '
  'resolution, deposit or withdrawal and has exactly the lines that follow from it; each trade '
  'moves what its two orders say. One row for each broken invariant.';
--! EndIncluded ledger/functions/verify_journals.sql
--! Included trading/functions/verify_orders.sql
-- One query for each invariant, in this order:
--
--   what trades say of an order: filled quantity, fee, budget, taking before making
--   that it is somewhere, once: its user and market, the archive, the sum of all ids of a market
--   what it may look like: form, status, times, the reason of its end
--   what it leads to: the order that replaced it, its reductions, its idempotency key
create or replace function trading.verify_orders()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  fills as (
    select
      f.order_id,
      sum(f.quantity) as quantity,
      sum(f.fee_cents) as fee_cents,
      sum(f.quantity * case f.book_side when 'yes' then f.price else 100 - f.price end)
        as value_cents,
      max(f.trade_id) filter (where f.is_taker) as last_taken,
      min(f.trade_id) filter (where not f.is_taker) as first_made
    from trading.fill_sides() as f
    group by f.order_id
  ),
  all_orders as not materialized (
    select o.* from trading.orders as o
    union all
    select a.* from trading.archived_orders as a
  )
  select 'filled quantity equals the trades', 'order ' || o.public_id,
    coalesce(f.quantity, 0)::text, o.filled_quantity::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.filled_quantity <> coalesce(f.quantity, 0)

  union all
  select 'order fee equals the fees of its trades', 'order ' || o.public_id,
    coalesce(f.fee_cents, 0)::text, o.fee_cents::text
  from trading.orders as o
  left join fills as f on f.order_id = o.id
  where o.fee_cents <> coalesce(f.fee_cents, 0)

  -- Only buys have a budget, so the stored side is their own.
  union all
  select 'fills are within the budget of their order', 'order ' || o.public_id,
    '<= ' || o.budget_cents, (f.value_cents + f.fee_cents)::text
  from trading.orders as o
  join fills as f on f.order_id = o.id
  where f.value_cents + f.fee_cents > o.budget_cents

  union all
  select 'order takes before it makes', 'order ' || f.order_id,
    'trades after ' || f.last_taken, 'trade ' || f.first_made
  from fills as f
  where f.first_made < f.last_taken

  union all
  select 'order has its user and market', 'order ' || o.public_id, 'both', 'not both'
  from trading.orders as o
  where not exists (select from identity.users as u where u.id = o.user_id)
    or not exists (select from trading.market_state as b where b.market_id = o.market_id)

  union all
  select 'archived order has its user and market', 'order ' || a.public_id, 'both', 'not both'
  from trading.archived_orders as a
  where not exists (select from identity.users as u where u.id = a.user_id)
    or not exists (select from trading.market_state as b where b.market_id = a.market_id)

  union all
  select 'archived order is nowhere else', 'order ' || a.public_id, 'archived', 'archived and not'
  from trading.archived_orders as a
  where exists (select from trading.orders as o where o.id = a.id)
    or exists (select from trading.orders as o where o.public_id = a.public_id)
    or exists (select from trading.active_orders as b where b.order_id = a.id)

  union all
  select 'orders are those that were placed', 'market ' || b.market_id,
    b.placed_count || ' with ids that sum to ' || b.placed_id_sum,
    coalesce(o.order_count, 0) || ' with ids that sum to ' || coalesce(o.id_sum, 0)
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as order_count, sum(x.id) as id_sum
    from all_orders as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.placed_count <> coalesce(o.order_count, 0)
    or b.placed_id_sum <> coalesce(o.id_sum, 0)

  union all
  select 'order is of a form that can be placed', 'order ' || o.public_id, 'one of the forms',
    concat_ws(' ', o.order_type, o.time_in_force,
      case when o.post_only then 'post-only' end, 'budget ' || o.budget_cents)
  from all_orders as o
  where o.post_only and o.time_in_force <> 'gtc'
    or o.budget_cents is not null and (o.order_type = 'sell' or o.time_in_force = 'gtc')

  union all
  select 'order has the status that fits what it is', 'order ' || o.public_id, 'another status',
    concat_ws(' ', o.status, o.time_in_force, o.filled_quantity || ' of ' || o.quantity,
      'release at ' || o.release_at, 'released at ' || o.released_at)
  from all_orders as o
  where case
    when o.status in ('open', 'partially_filled')
      then o.time_in_force <> 'gtc' or (o.release_at is null) <> (o.released_at is null)
    when o.status = 'scheduled' then o.released_at is not null
    when o.status = 'filled' then (o.release_at is null) <> (o.released_at is null)
    else o.budget_cents is null and o.filled_quantity >= o.quantity
  end
    or o.budget_cents is not null and o.filled_quantity <> o.quantity
    or o.released_at is not null and (o.release_at is null or o.released_at < o.release_at)
    or o.release_at < o.created_at

  -- The public id has the time in which it was drawn, a moment after that of the order. Both are of
  -- one transaction, so a clock that is set between transactions changes nothing here.
  union all
  select 'order has the time of its public id', 'order ' || o.public_id,
    'within an hour of ' || core.uuid_v7_time(o.public_id), o.created_at::text
  from all_orders as o
  where o.created_at not between core.uuid_v7_time(o.public_id) - interval '1 hour'
    and core.uuid_v7_time(o.public_id) + interval '1 hour'

  union all
  select 'order expires after it was placed', 'order ' || o.public_id,
    '> ' || o.created_at, o.expires_at::text
  from all_orders as o
  where o.expires_at <= o.created_at

  union all
  select 'order waits no longer than an event may ask for', 'order ' || o.public_id,
    '<= ' || o.created_at + interval '1 minute', o.release_at::text
  from all_orders as o
  where o.release_at > o.created_at + interval '1 minute'

  -- What can end an order depends on where it is: in its delay, at its placing or release, or on
  -- the book. An order that may not rest ends at its placing or release, or in its delay.
  union all
  select 'order is cancelled for a reason that fits it', 'order ' || o.public_id, 'another reason',
    concat_ws(' ', o.cancel_reason, o.order_type, o.time_in_force,
      o.filled_quantity || ' of ' || o.quantity, 'at ' || o.cancelled_at,
      'placed at ' || o.created_at, 'release at ' || o.release_at, 'released at ' || o.released_at,
      'expires at ' || o.expires_at)
  from all_orders as o
  cross join lateral (
    select
      o.release_at is not null and o.released_at is null as is_waiting,
      coalesce(o.released_at, o.created_at) as taken_at
  ) as x
  where o.status = 'cancelled'
    and (
      case o.cancel_reason
        when 'expired' then o.expires_at is null or o.expires_at > o.cancelled_at
        when 'user_amended' then o.budget_cents is not null or o.expires_at <= o.cancelled_at
        when 'self_trade'
          then o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'post_only_would_cross' then not o.post_only
          or o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'insufficient_liquidity' then o.time_in_force = 'gtc'
        when 'position_insufficient' then o.order_type = 'buy'
        when 'insufficient_funds' then o.order_type = 'sell'
        when 'loss_limit' then o.order_type = 'sell'
        else false
      end
      or x.is_waiting and o.cancel_reason not in (
        'user_cancelled', 'user_amended', 'market_closed', 'expired', 'trading_paused',
        'self_excluded'
      )
      or o.time_in_force = 'ioc' and not x.is_waiting and (
        o.cancelled_at <> x.taken_at
        or o.cancel_reason in ('user_cancelled', 'user_amended')
        or o.filled_quantity > 0 and o.cancel_reason <> 'insufficient_liquidity'
        or o.released_at is null and o.filled_quantity = 0
      )
    )

  union all
  select 'amended order has its replacement', 'order ' || o.public_id,
    concat_ws(' ', 'an order of the same form, made at', o.cancelled_at), 'none'
  from all_orders as o
  where o.cancel_reason = 'user_amended'
    and not exists (
      select from all_orders as n
      where n.market_id = o.market_id
        and n.user_id = o.user_id
        and n.side = o.side
        and n.order_type = o.order_type
        and n.time_in_force = o.time_in_force
        and n.post_only = o.post_only
        and n.created_at = o.cancelled_at
        and n.expires_at is not distinct from o.expires_at
        and n.budget_cents is null
        and n.id > o.id
    )

  union all
  select 'reductions of an order lead to its quantity', 'order ' || r.order_id,
    coalesce(r.expected::text, 'an order'), r.quantity_after::text
  from (
    select x.order_id, x.quantity_after,
      coalesce(
        lead(x.quantity_before) over (partition by x.order_id order by x.quantity_after desc),
        o.quantity
      ) as expected
    from trading.order_reductions as x
    left join all_orders as o on o.id = x.order_id
  ) as r
  where r.expected is distinct from r.quantity_after

  union all
  select 'idempotency key stands for an order of its user', 'key ' || k.key,
    'an order of user ' || k.user_id, coalesce('of user ' || o.user_id, 'none')
  from trading.idempotency_keys as k
  left join all_orders as o on o.id = k.order_id
  where o.user_id is distinct from k.user_id

  union all
  select 'idempotency key is as old as its order', 'key ' || k.key,
    o.created_at::text, k.created_at::text
  from trading.idempotency_keys as k
  join all_orders as o on o.id = k.order_id
  where k.created_at <> o.created_at
$$;

comment on function trading.verify_orders() is
  'The part of ledger.verify() about orders, archived ones included: none is missing, each is what '
  'its trades made of it, and could have been placed and ended that way. One row for each broken '
  'invariant.';
--! EndIncluded trading/functions/verify_orders.sql
--! Included trading/functions/verify_trades.sql
create or replace function trading.verify_trades()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'fill belongs to an order', 'trade ' || t.public_id, 'two orders', 'not both'
  from trading.trades as t
  where not exists (select from trading.orders as o where o.id = t.taker_order_id)
    or not exists (select from trading.orders as o where o.id = t.maker_order_id)

  union all
  select 'trade repeats its orders', 'trade ' || f.trade_id || ' order ' || o.id,
    concat_ws(' ', o.market_id, o.user_id,
      case when (o.order_type = 'buy') = (o.side = 'yes') then 'yes' else 'no' end,
      case o.order_type when 'buy' then 'buys' else 'sells' end),
    concat_ws(' ', f.market_id, f.user_id, f.book_side,
      case when f.realised_cents is null then 'buys' else 'sells' end)
  from trading.fill_sides() as f
  join trading.orders as o on o.id = f.order_id
  where (o.market_id, o.user_id) <> (f.market_id, f.user_id)
    or (o.order_type = 'buy') <> (o.side = f.book_side)
    or (o.order_type = 'buy') <> (f.realised_cents is null)

  union all
  select 'trade is at the price of its maker', 'trade ' || t.id,
    o.price::text, (case o.side when 'yes' then t.price else 100 - t.price end)::text
  from trading.trades as t
  join trading.orders as o on o.id = t.maker_order_id
  where o.price <> case o.side when 'yes' then t.price else 100 - t.price end

  union all
  select 'fill is within the limit of its order', 'trade ' || t.id || ' order ' || o.id,
    case o.order_type when 'buy' then '<= ' else '>= ' end || o.price,
    (case o.side when 'yes' then t.price else 100 - t.price end)::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where case o.order_type when 'buy' then 1 else -1 end
    * (case o.side when 'yes' then t.price else 100 - t.price end - o.price) > 0

  union all
  select 'post-only order never takes', 'trade ' || t.id || ' order ' || o.id, 'a maker', 'a taker'
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where o.post_only

  union all
  select 'maker is an order that may rest', 'trade ' || t.id || ' order ' || o.id,
    'gtc', o.time_in_force::text
  from trading.trades as t
  join trading.orders as o on o.id = t.maker_order_id
  where o.time_in_force <> 'gtc'

  -- A taker that waited for its release may be older than its maker.
  union all
  select 'maker was placed before its taker', 'trade ' || t.id,
    '< ' || t.taker_order_id, t.maker_order_id::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where o.release_at is null
    and t.maker_order_id > t.taker_order_id

  union all
  select 'order takes when it is placed or released', 'trade ' || t.id || ' order ' || o.id,
    coalesce(o.released_at, o.created_at)::text, t.created_at::text
  from trading.trades as t
  join trading.orders as o on o.id = t.taker_order_id
  where t.created_at <> coalesce(o.released_at, o.created_at)
$$;

comment on function trading.verify_trades() is
  'The part of ledger.verify() about single trades: each agrees with its two orders and was '
  'allowed by them. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_trades.sql
--! Included trading/functions/verify_priority.sql
-- Decided by ids alone, which are drawn under the market's lock: the clock may have been set back.
-- An order that was cancelled counts as resting up to its last trade, since nothing but the clock
-- tells how long it stayed. One that was released counts for nothing: its place in the queue is
-- gone with it.
create or replace function trading.verify_priority()
returns table (name text, object text, expected text, found text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event record;
  v_market_id bigint;
  v_book_side trading.side;
  v_resting int[];
  v_best int;
begin
  return query
  select 'orders of one price trade in the order they came', 'trade ' || t.id,
    'not before order ' || t.maker_before, 'order ' || t.maker_order_id
  from (
    select x.id, x.maker_order_id,
      lag(x.maker_order_id)
        over (partition by x.market_id, x.taker_side, x.price order by x.id) as maker_before
    from trading.trades as x
    join trading.orders as o on o.id = x.maker_order_id
    where o.release_at is null
  ) as t
  where t.maker_order_id < t.maker_before;

  return query
  select 'orders of one price trade in the order they came', 'order ' || r.order_id,
    'before order ' || m.order_id, 'resting'
  from (
    select b.market_id, b.book_side, b.book_price, min(b.order_id) as order_id
    from trading.active_orders as b
    join trading.orders as o on o.id = b.order_id
    where b.queue_position is not null
      and o.release_at is null
      and o.expires_at is null
    group by b.market_id, b.book_side, b.book_price
  ) as r
  join (
    select f.market_id, f.book_side,
      case f.book_side when 'yes' then f.price else 100 - f.price end as book_price,
      max(f.order_id) as order_id
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    where not f.is_taker
      and o.release_at is null
    group by 1, 2, 3
  ) as m
    on m.market_id = r.market_id and m.book_side = r.book_side and m.book_price = r.book_price
  where m.order_id > r.order_id;

  -- Each side of each book from its first order on: how many orders rest at each price. The place
  -- of a trade is the newest order that had taken by then.
  for v_event in
    with
    taken as (
      select t.id, t.market_id, t.maker_order_id,
        case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side as book_side,
        case t.taker_side when 'yes' then 100 - t.price else t.price end as book_price,
        coalesce(
          max(case when o.release_at is null then o.id end) over (
            partition by t.market_id order by t.id
            rows between unbounded preceding and current row
          ),
          0
        ) as place
      from trading.trades as t
      join trading.orders as o on o.id = t.taker_order_id
    ),
    rested as (
      select o.id, o.market_id, x.book_side, x.book_price,
        case when b.order_id is null then m.last_trade_id end as last_trade_id
      from trading.orders as o
      cross join lateral (
        select
          case when o.order_type = 'buy' then o.side
            when o.side = 'yes' then 'no' else 'yes' end::trading.side as book_side,
          case o.order_type when 'buy' then o.price else 100 - o.price end as book_price
      ) as x
      left join (
        select k.maker_order_id, max(k.id) as last_trade_id, max(k.place) as last_place
        from taken as k
        group by k.maker_order_id
      ) as m on m.maker_order_id = o.id
      left join trading.active_orders as b
        on b.order_id = o.id and b.queue_position is not null and o.expires_at is null
      where o.release_at is null
        and (b.order_id is not null or m.last_place > o.id)
    )
    select r.market_id, r.book_side, r.id as place, true as begins, null::bigint as trade_id,
      r.book_price, false as ends
    from rested as r
    union all
    select k.market_id, k.book_side, k.place, false, k.id, k.book_price, r.id is not null
    from taken as k
    left join rested as r on r.id = k.maker_order_id and r.last_trade_id = k.id
    order by market_id, book_side, place, begins, trade_id
  loop
    if (v_event.market_id, v_event.book_side) is distinct from (v_market_id, v_book_side) then
      v_market_id := v_event.market_id;
      v_book_side := v_event.book_side;
      v_resting := array_fill(0, array[99]);
      v_best := 1;
    end if;

    if v_event.begins then
      v_resting[v_event.book_price] := v_resting[v_event.book_price] + 1;
      v_best := greatest(v_best, v_event.book_price);
      continue;
    end if;
    while v_best > v_event.book_price and v_resting[v_best] = 0 loop
      v_best := v_best - 1;
    end loop;
    if v_best > v_event.book_price then
      return query select 'trade is at the best price that rested', 'trade ' || v_event.trade_id,
        concat_ws(' ', v_book_side, '@', v_best),
        concat_ws(' ', v_book_side, '@', v_event.book_price);
    end if;
    if v_event.ends then
      v_resting[v_event.book_price] := v_resting[v_event.book_price] - 1;
    end if;
  end loop;
end
$$;

comment on function trading.verify_priority() is
  'The part of ledger.verify() about price-time priority, as far as what is left of the orders '
  'decides it: no trade passed over an order that rested at a better price, or earlier at the same '
  'one. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_priority.sql
--! Included trading/functions/verify_fees.sql
create or replace function trading.verify_fees()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- The schedules that can be in force in a market; a higher rank goes first.
  candidates as (
    select m.id as market_id, s.id as schedule_id, s.effective_from, s.created_at, 3 as rank
    from catalog.markets as m
    join trading.fee_schedules as s on s.market_id = m.id
    union all
    select m.id, s.id, s.effective_from, s.created_at, 2
    from catalog.markets as m
    join trading.fee_schedules as s on s.category_id = m.category_id and s.market_id is null
    union all
    select m.id, s.id, s.effective_from, s.created_at, 1
    from catalog.markets as m
    cross join trading.fee_schedules as s
    where s.category_id is null and s.market_id is null
  ),
  -- From when another schedule goes before each. One that was just being written may have been
  -- seen by a trade or not; a minute is more than writing takes.
  replaced as (
    select c.market_id, c.schedule_id, c.effective_from,
      coalesce(
        min(greatest(c.effective_from, c.created_at + interval '1 minute')) over (
          partition by c.market_id
          order by c.rank, c.effective_from, c.schedule_id
          rows between 1 following and unbounded following
        ),
        'infinity'
      ) as replaced_at
    from candidates as c
  )
  select 'order fee is what its schedule says',
    'order ' || f.taker_order_id || ' trade ' || f.id,
    coalesce(
      (
        trading.fee_cents(s.taker_rate_bps, f.weight)
        - trading.fee_cents(s.taker_rate_bps, f.weight - f.own_weight)
      )::text,
      'a schedule'
    ),
    f.fee_cents::text
  from (
    select t.id, t.taker_order_id, t.fee_cents, t.fee_schedule_id,
      t.quantity::bigint * t.price * (100 - t.price) as own_weight,
      (sum(t.quantity::bigint * t.price * (100 - t.price)) over (
        partition by t.taker_order_id order by t.id
        rows between unbounded preceding and current row
      ))::bigint as weight
    from trading.trades as t
  ) as f
  left join trading.fee_schedules as s on s.id = f.fee_schedule_id
  where f.fee_cents is distinct from
    trading.fee_cents(s.taker_rate_bps, f.weight)
    - trading.fee_cents(s.taker_rate_bps, f.weight - f.own_weight)

  union all
  select 'fee schedule was in force at the trade', 'trade ' || t.id,
    coalesce('from ' || r.effective_from || ' to ' || r.replaced_at, 'a schedule of the market'),
    'schedule ' || t.fee_schedule_id || ' at ' || t.created_at
  from trading.trades as t
  left join replaced as r
    on r.market_id = t.market_id and r.schedule_id = t.fee_schedule_id
  where r.schedule_id is null
    or t.created_at < r.effective_from
    or t.created_at >= r.replaced_at
$$;

comment on function trading.verify_fees() is
  'The part of ledger.verify() about fees: each trade adds what rounding the whole fee of its '
  'order up adds, by the schedule that was in force in its market at its time. One row for each '
  'broken invariant.';
--! EndIncluded trading/functions/verify_fees.sql
--! Included trading/functions/verify_positions.sql
-- One pass over what moved each position, in its order, with the position as it is behind it:
--
--   a new position begins: all figures are 0
--   it ends: its row is compared with the figures
--   a fill, split or merge: the figures move, and what it said that it realised is compared
create or replace function trading.verify_positions()
returns table (name text, object text, expected text, found text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_end constant bigint := 9223372036854775807;
  v_move record;
  v_market_id bigint;
  v_user_id bigint;
  v_side trading.side;
  v_quantity bigint;
  v_cost bigint;
  v_fees bigint;
  v_realised bigint;
  v_noted bigint;
  v_traded boolean;
  v_is_open boolean := false;
  v_shares bigint;
  v_cost_out bigint;
  v_fees_out bigint;
  v_object text;
begin
  -- What moved the shares of each position, in its order, and behind it the position as it is. A
  -- last row of no position ends the last one.
  for v_move in
    select
      f.market_id, o.user_id, o.side, f.trade_id as place,
      case o.order_type when 'buy' then f.quantity else -f.quantity end as quantity,
      f.quantity * case o.side when 'yes' then f.price else 100 - f.price end as cents,
      f.fee_cents, f.realised_cents, true as has_traded, 'trade ' as source, f.trade_id as source_id
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    union all
    select
      c.market_id, c.user_id, l.side, c.journal_id,
      case c.kind when 'split' then c.quantity else -c.quantity end,
      50 * c.quantity::bigint, 0, l.realised_cents, false, 'conversion ', c.id
    from trading.set_conversions as c
    cross join lateral (
      values ('yes'::trading.side, c.yes_realised_cents), ('no', c.no_realised_cents)
    ) as l (side, realised_cents)
    union all
    select
      h.market_id, h.user_id, p.side, c_end, p.quantity, p.cost_cents, p.fee_cents,
      p.realised_cents - coalesce(e.realised_cents, 0), p.has_traded, '', null
    from trading.holdings as h
    cross join lateral (
      values
        (
          'yes'::trading.side, h.yes_public_id, h.yes_quantity, h.yes_cost_cents,
          h.yes_fee_cents, h.yes_realised_cents, h.yes_traded
        ),
        (
          'no', h.no_public_id, h.no_quantity, h.no_cost_cents,
          h.no_fee_cents, h.no_realised_cents, h.no_traded
        )
    ) as p (side, public_id, quantity, cost_cents, fee_cents, realised_cents, has_traded)
    left join (
      select s.market_id, s.user_id, s.side, s.realised_cents
      from (
        select r.market_id, max(r.id) as id
        from trading.resolutions as r
        group by r.market_id
      ) as r
      join trading.settlements as s on s.resolution_id = r.id and s.market_id = r.market_id
    ) as e on e.market_id = h.market_id and e.user_id = h.user_id and e.side = p.side
    where p.public_id is not null
      or p.has_traded
    union all
    select c_end, null, null, c_end, 0, 0, 0, 0, false, '', null
    order by market_id, user_id, side, place
  loop
    if not v_is_open
      or (v_move.market_id, v_move.user_id, v_move.side)
        is distinct from (v_market_id, v_user_id, v_side)
    then
      if v_is_open then
        return query select 'position equals what was traded, split and merged',
          concat_ws(' ', 'market', v_market_id, 'user', v_user_id, v_side),
          v_quantity::text, 'none';
      end if;
      v_market_id := v_move.market_id;
      v_user_id := v_move.user_id;
      v_side := v_move.side;
      v_quantity := 0;
      v_cost := 0;
      v_fees := 0;
      v_realised := 0;
      v_noted := 0;
      v_traded := false;
      v_is_open := true;
    end if;

    if v_move.place = c_end then
      v_is_open := false;
      v_object := concat_ws(' ', 'market', v_market_id, 'user', v_user_id, v_side);
      if v_move.quantity <> v_quantity then
        return query select 'position equals what was traded, split and merged',
          v_object, v_quantity::text, v_move.quantity::text;
      end if;
      if v_move.cents <> v_cost or v_move.fee_cents <> v_fees then
        return query select 'cost and fees are what was paid less what was taken out',
          v_object, v_cost || ' with fees of ' || v_fees,
          v_move.cents || ' with fees of ' || v_move.fee_cents;
      end if;
      if v_move.realised_cents <> v_noted then
        return query select 'realised cash is the sum of sales, merges and the settlement',
          v_object, v_noted || ' without the settlement',
          v_move.realised_cents || ' without the settlement';
      end if;
      if v_move.has_traded <> v_traded then
        return query select 'position says whether it was traded',
          v_object, v_traded::text, v_move.has_traded::text;
      end if;
      continue;
    end if;

    v_traded := v_traded or v_move.has_traded;
    v_noted := v_noted + coalesce(v_move.realised_cents, 0);
    if v_move.quantity > 0 then
      v_quantity := v_quantity + v_move.quantity;
      v_cost := v_cost + v_move.cents;
      v_fees := v_fees + v_move.fee_cents;
      continue;
    end if;

    v_shares := -v_move.quantity;
    if v_shares < v_quantity then
      v_cost_out := core.half_up(v_cost * v_shares, v_quantity);
      v_fees_out := core.half_up(v_fees * v_shares, v_quantity);
    else
      v_cost_out := v_cost;
      v_fees_out := v_fees;
    end if;
    v_object := concat_ws(' ', v_move.source || v_move.source_id, 'user', v_user_id, v_side);
    if v_shares > v_quantity then
      return query select 'shares that leave a position were in it',
        v_object, '<= ' || v_quantity, v_shares::text;
    end if;
    v_realised := v_move.cents - v_move.fee_cents - v_cost_out - v_fees_out;
    if v_realised is distinct from v_move.realised_cents then
      return query select 'sale realises its proceeds less cost and fees taken out',
        v_object, v_realised::text, coalesce(v_move.realised_cents::text, 'nothing');
    end if;
    v_quantity := v_quantity - v_shares;
    v_cost := v_cost - v_cost_out;
    v_fees := v_fees - v_fees_out;
  end loop;
end
$$;

comment on function trading.verify_positions() is
  'The part of ledger.verify() about positions: works each out anew from its trades, splits and '
  'merges in their order, that of their journals. Shares that leave take cost and buy fees with '
  'them pro rata, rounded half up; the last share takes what is left. One row for each broken '
  'invariant.';
--! EndIncluded trading/functions/verify_positions.sql
--! Included trading/functions/verify_settlements.sql
create or replace function trading.verify_settlements()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  shares as (
    select
      h.market_id,
      sum(h.yes_quantity) as yes_quantity,
      sum(h.no_quantity) as no_quantity
    from trading.holdings as h
    group by h.market_id
  ),
  -- The resolutions with the one before in the same market, which each but the first corrects.
  resolutions as (
    select r.*,
      lag(r.id) over (partition by r.market_id order by r.id) as id_before,
      lead(r.id) over (partition by r.market_id order by r.id) is null as is_last,
      first_value(r.created_at) over (partition by r.market_id order by r.id) as first_at
    from trading.resolutions as r
  )
  select 'escrow is 100 x shares of each side', 'market ' || m.public_id,
    case when m.status = 'resolved' then '0'
      else 100 * coalesce(s.yes_quantity, 0) || ' = ' || 100 * coalesce(s.no_quantity, 0) end,
    b.escrow_cents::text
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join shares as s on s.market_id = m.id
  where case
    when m.status = 'resolved' then b.escrow_cents <> 0
    else b.escrow_cents <> 100 * coalesce(s.yes_quantity, 0)
      or b.escrow_cents <> 100 * coalesce(s.no_quantity, 0)
  end

  union all
  select 'settlement repeats its position',
    'resolution ' || coalesce(e.resolution_id, r.id) || ' user ' || coalesce(e.user_id, p.user_id)
      || ' ' || coalesce(e.side, p.side),
    concat_ws(' ', p.market_id, p.quantity, p.cost_cents, p.fee_cents),
    concat_ws(' ', e.market_id, e.quantity, e.cost_cents, e.fee_cents)
  from resolutions as r
  join trading.positions as p on p.market_id = r.market_id and p.quantity > 0
  full join trading.settlements as e
    on e.resolution_id = r.id and e.user_id = p.user_id and e.side = p.side
  where (p.market_id, p.quantity, p.cost_cents, p.fee_cents)
    is distinct from (e.market_id, e.quantity, e.cost_cents, e.fee_cents)

  union all
  select 'settlement pays what the outcome says',
    'resolution ' || e.resolution_id || ' user ' || e.user_id || ' ' || e.side,
    e.quantity * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end
      || '',
    e.payout_cents::text
  from trading.settlements as e
  join resolutions as r on r.id = e.resolution_id
  where e.payout_cents <> e.quantity
    * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end

  union all
  select 'resolution equals its settlements', 'resolution ' || r.id,
    coalesce(e.positions, 0) || ' paid ' || coalesce(e.payout_cents, 0),
    r.position_count || ' paid ' || r.payout_cents
  from resolutions as r
  left join (
    select x.resolution_id, count(*) as positions, sum(x.payout_cents) as payout_cents
    from trading.settlements as x
    group by x.resolution_id
  ) as e on e.resolution_id = r.id
  where (r.position_count, r.payout_cents)
    <> (coalesce(e.positions, 0), coalesce(e.payout_cents, 0))

  union all
  select 'resolution corrects the one before', 'resolution ' || r.id,
    coalesce(r.id_before::text, 'none'), coalesce(r.corrects_resolution_id::text, 'none')
  from resolutions as r
  where r.corrects_resolution_id is distinct from r.id_before

  union all
  select 'market is resolved as its last resolution says', 'market ' || m.public_id,
    concat_ws(' ', coalesce(r.outcome::text, 'not'), r.yes_payout_cents, r.first_at),
    concat_ws(' ', coalesce(m.resolved_outcome::text, 'not'), m.yes_payout_cents, m.resolved_at)
  from catalog.markets as m
  left join resolutions as r on r.market_id = m.id and r.is_last
  where (m.resolved_outcome, m.yes_payout_cents, m.resolved_at)
    is distinct from (r.outcome, r.yes_payout_cents, r.first_at)

  union all
  select 'nothing is traded or converted after the resolution', 'journal ' || j.id,
    'before journal ' || r.journal_id, j.kind::text
  from trading.resolutions as r
  join ledger.journals as j on j.market_id = r.market_id
  where j.id > r.journal_id
    and j.kind in ('trade', 'split', 'merge')
$$;

comment on function trading.verify_settlements() is
  'The part of ledger.verify() about escrow and what it is paid out for: each resolution settles '
  'all positions by its outcome, and the last one holds. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_settlements.sql
--! Included trading/functions/verify_books.sql
create or replace function trading.verify_books()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  resting as (
    select b.*
    from trading.active_orders as b
    where b.queue_position is not null
  )
  select 'order is open while its status says so', 'order ' || coalesce(o.public_id::text, '?'),
    coalesce(o.status::text, 'an order'),
    case when b.order_id is null then 'not open'
      when b.queue_position is null then 'scheduled' else 'resting' end
  from trading.orders as o
  full join trading.active_orders as b on b.order_id = o.id
  where case
    when o.status = 'scheduled' then b.order_id is null or b.queue_position is not null
    when o.status in ('open', 'partially_filled') then b.queue_position is null
    else b.order_id is not null
  end

  union all
  select 'open order repeats its order', 'order ' || o.public_id,
    concat_ws(' ', o.market_id, o.user_id, o.public_id, o.side, o.order_type, o.price,
      o.quantity - o.filled_quantity, o.expires_at, o.release_at),
    concat_ws(' ', b.market_id, b.user_id, b.order_public_id, b.book_side, b.order_type,
      b.book_price, b.left_quantity, b.expires_at, b.release_at)
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where (b.market_id, b.user_id, b.order_public_id, b.order_type, b.left_quantity)
      <> (o.market_id, o.user_id, o.public_id, o.order_type, o.quantity - o.filled_quantity)
    or (b.book_side = o.side) <> (o.order_type = 'buy')
    or b.book_price <> case o.order_type when 'buy' then o.price else 100 - o.price end
    or b.expires_at is distinct from o.expires_at
    or b.release_at is distinct from case when b.queue_position is null then o.release_at end

  -- A released order queues up by a number that was drawn at its release.
  union all
  select 'place in the queue is that of placing or release', 'order ' || o.public_id,
    case when o.release_at is null then '' else '> ' end || o.id, b.queue_position::text
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where case
    when o.release_at is null then b.queue_position <> o.id
    else b.queue_position <= o.id
  end

  union all
  select 'order is open in a market that is open or paused', 'order ' || b.order_id,
    'open or paused', m.status::text
  from trading.active_orders as b
  join catalog.markets as m on m.id = b.market_id
  where m.status not in ('open', 'paused')

  union all
  select 'depth equals the resting orders',
    'market ' || coalesce(l.market_id, r.market_id) || ' '
      || coalesce(l.book_side, r.book_side) || ' ' || coalesce(l.book_price, r.book_price),
    coalesce(r.quantity, 0)::text, coalesce(l.quantity, 0)::text
  from (
    select x.*
    from trading.book_levels as x
    where x.quantity <> 0
  ) as l
  full join (
    select g.market_id, g.book_side, g.book_price::int as book_price,
      sum(g.left_quantity) as quantity
    from resting as g
    group by g.market_id, g.book_side, g.book_price
  ) as r
    on r.market_id = l.market_id
    and r.book_side = l.book_side
    and r.book_price = l.book_price
  where l.quantity is distinct from r.quantity

  union all
  select 'best price is that of the resting orders', 'market ' || b.market_id,
    concat_ws(' ', coalesce(r.yes_price, 0), coalesce(r.no_price, 0)),
    concat_ws(' ', b.best_yes_price, b.best_no_price)
  from trading.market_state as b
  left join (
    select g.market_id,
      max(g.book_price) filter (where g.book_side = 'yes') as yes_price,
      max(g.book_price) filter (where g.book_side = 'no') as no_price
    from resting as g
    group by g.market_id
  ) as r on r.market_id = b.market_id
  where (b.best_yes_price, b.best_no_price)
    <> (coalesce(r.yes_price, 0), coalesce(r.no_price, 0))

  union all
  select 'book is not crossed', 'market ' || r.market_id,
    'below 100',
    (max(r.book_price) filter (where r.book_side = 'yes')
      + max(r.book_price) filter (where r.book_side = 'no'))::text
  from resting as r
  group by r.market_id
  having max(r.book_price) filter (where r.book_side = 'yes')
    + max(r.book_price) filter (where r.book_side = 'no') >= 100

  union all
  select 'no order stands before the front of its book', 'order ' || r.order_id,
    concat_ws(' ', 'behind', f.price, f.queue_position),
    concat_ws(' ', r.book_side, r.book_price, r.queue_position)
  from resting as r
  join trading.market_state as b on b.market_id = r.market_id
  cross join lateral (
    values
      ('yes'::trading.side, b.best_yes_price, b.first_yes_position),
      ('no', b.best_no_price, b.first_no_position)
  ) as f (side, price, queue_position)
  where f.side = r.book_side
    and r.book_price = f.price
    and r.queue_position < f.queue_position
$$;

comment on function trading.verify_books() is
  'The part of ledger.verify() about open orders: which are open, where they stand, and the depth '
  'and best prices that are kept of them. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_books.sql
--! Included trading/functions/verify_markets.sql
create or replace function trading.verify_markets()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  trade_sums as (
    select
      t.market_id,
      count(*) as trade_count,
      sum(t.quantity::bigint * t.price) as yes_volume_cents,
      sum(t.quantity::bigint * (100 - t.price)) as no_volume_cents,
      sum(t.fee_cents) as fee_cents,
      max(t.id) as last_trade_id
    from trading.trades as t
    group by t.market_id
  )
  select 'market has its book and its accounts', 'market ' || m.id, 'both', 'none'
  from catalog.markets as m
  where not exists (select from trading.market_state as b where b.market_id = m.id)

  union all
  select 'market is of an event of its category', 'market ' || m.id,
    'category ' || m.category_id, 'category ' || e.category_id
  from catalog.markets as m
  join catalog.events as e on e.id = m.event_id
  where e.category_id <> m.category_id

  -- The event of a market never changes. Where the market was made by no operator's call, as in an
  -- import, only its orders tell that it has one.
  union all
  select 'market is of the event that it was made for', 'market ' || m.id,
    coalesce(l.arguments ->> 'event_id', 'none'), coalesce(e.public_id::text, 'none')
  from catalog.markets as m
  join admin.audit_log as l
    on l.action = 'create_market' and l.arguments ->> 'market_id' = m.public_id::text
  left join catalog.events as e on e.id = m.event_id
  where l.arguments ->> 'event_id' is distinct from e.public_id::text

  union all
  select 'market whose orders waited has an event', 'market ' || m.id, 'an event', 'none'
  from catalog.markets as m
  where m.event_id is null
    and m.id in (
      select o.market_id from trading.orders as o where o.release_at is not null
      union all
      select a.market_id from trading.archived_orders as a where a.release_at is not null
    )

  union all
  select 'market figures equal its trades', 'market ' || b.market_id,
    concat_ws(' ', coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)),
    concat_ws(' ', b.trade_count, b.yes_volume_cents, b.no_volume_cents)
  from trading.market_state as b
  left join trade_sums as t on t.market_id = b.market_id
  where (b.trade_count, b.yes_volume_cents, b.no_volume_cents)
    <> (
      coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)
    )

  union all
  select 'last trade price is that of the last trade', 'market ' || b.market_id,
    coalesce(t.price::text, 'none'), coalesce(b.last_trade_price::text, 'none')
  from trading.market_state as b
  left join trade_sums as s on s.market_id = b.market_id
  left join trading.trades as t on t.id = s.last_trade_id
  where b.last_trade_price is distinct from t.price

  union all
  select 'traders count equals who traded', 'market ' || b.market_id,
    coalesce(p.traders, 0)::text, b.traders_count::text
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as traders
    from (
      select t.market_id, t.taker_user_id as user_id from trading.trades as t
      union
      select t.market_id, t.maker_user_id from trading.trades as t
    ) as x
    group by x.market_id
  ) as p on p.market_id = b.market_id
  where b.traders_count <> coalesce(p.traders, 0)

  union all
  select 'fee revenue equals the fees of the trades', 'market ' || b.market_id,
    coalesce(t.fee_cents, 0)::text, b.revenue_cents::text
  from trading.market_state as b
  left join trade_sums as t on t.market_id = b.market_id
  where b.revenue_cents <> coalesce(t.fee_cents, 0)

  -- Cancels and releases raise it as well, and leave nothing that could be counted.
  union all
  select 'version counts at least the orders that came without delay', 'market ' || b.market_id,
    '>= ' || o.order_count, b.version::text
  from trading.market_state as b
  join (
    select x.market_id, count(*) as order_count
    from (
      select o.market_id from trading.orders as o where o.release_at is null
      union all
      select a.market_id from trading.archived_orders as a where a.release_at is null
    ) as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.version < o.order_count

  union all
  select 'category counts its events and markets', 'category ' || c.slug,
    concat_ws(' ', coalesce(e.event_count, 0), coalesce(m.open_count, 0),
      coalesce(m.closed_count, 0)),
    concat_ws(' ', c.event_count, c.open_market_count, c.closed_market_count)
  from catalog.categories as c
  left join (
    select x.category_id, count(*) as event_count
    from catalog.events as x
    group by x.category_id
  ) as e on e.category_id = c.id
  left join (
    select x.category_id,
      count(*) filter (where x.status = 'open') as open_count,
      count(*) filter (where x.status in ('closed', 'resolved')) as closed_count
    from catalog.markets as x
    group by x.category_id
  ) as m on m.category_id = c.id
  where (c.event_count, c.open_market_count, c.closed_market_count)
    <> (coalesce(e.event_count, 0), coalesce(m.open_count, 0), coalesce(m.closed_count, 0))
$$;

comment on function trading.verify_markets() is
  'The part of ledger.verify() about markets: each is of its event, and the figures that are kept '
  'of markets and categories are the sums of what they count. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_markets.sql
--! Included ledger/functions/verify.sql
-- Every row is read: whole tables by hashes and sorts, in proportion to the rows, and never row by
-- row through an index, which the planner may prefer for what it takes to be few.
create or replace function ledger.verify()
returns table (name text, object text, expected text, found text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set random_page_cost = 100
set enable_nestloop = off
set jit = off
as $$
  select * from ledger.verify_accounts()
  union all
  select * from ledger.verify_entries()
  union all
  select * from ledger.verify_day_openings()
  union all
  select * from ledger.verify_journals()
  union all
  select * from trading.verify_orders()
  union all
  select * from trading.verify_trades()
  union all
  select * from trading.verify_priority()
  union all
  select * from trading.verify_fees()
  union all
  select * from trading.verify_positions()
  union all
  select * from trading.verify_settlements()
  union all
  select * from trading.verify_books()
  union all
  select * from trading.verify_markets()
$$;

comment on function ledger.verify() is
  'One row for each broken invariant of ledger, shares, orders and book: its name, the object, '
  'what was expected and what was found. No row on a sound database. One statement of stable '
  'functions, one for each subject, which all read its one snapshot: it may run while trading goes '
  'on.';
--! EndIncluded ledger/functions/verify.sql

-- Functions: the leaderboard
--! Included leaderboard/functions/windows.sql
create or replace function leaderboard.windows(day date)
returns table (window_kind leaderboard.window_kind, from_day date)
language sql immutable parallel safe
begin atomic
  select w.window_kind::leaderboard.window_kind, w.from_day
  from (
    values
      ('day', windows.day),
      ('week', windows.day - 6),
      ('month', windows.day - 29),
      ('ytd', date_trunc('year', windows.day::timestamp)::date),
      ('all', date '-infinity')
  ) as w (window_kind, from_day);
end;

comment on function leaderboard.windows(date) is
  'The first UTC day of each window that ends on a day.';
--! EndIncluded leaderboard/functions/windows.sql
--! Included leaderboard/functions/share.sql
create or replace function leaderboard.share(part bigint, whole bigint)
returns float8
language sql immutable parallel safe
return case share.whole when 0 then 0 else share.part / share.whole::float8 end;

comment on function leaderboard.share(bigint, bigint) is 'part / whole, 0 of nothing.';
--! EndIncluded leaderboard/functions/share.sql
--! Included leaderboard/functions/category_id.sql
create or replace function leaderboard.category_id(slug text)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case category_id.slug
    when 'all' then 0
    else (select c.id from catalog.categories as c where c.slug = category_id.slug)
  end
$$;

comment on function leaderboard.category_id(text) is
  'The key of a category in the tables of this schema: 0 for "all"; null for an unknown one.';
--! EndIncluded leaderboard/functions/category_id.sql
--! Included leaderboard/functions/rank_of.sql
create or replace function leaderboard.rank_of(standing leaderboard.standings)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 1 + (
    select coalesce(sum(b.trader_count), 0)::bigint
    from leaderboard.bands as b
    where b.category_id = (rank_of.standing).category_id
      and b.window_kind = (rank_of.standing).window_kind
      and b.band > (rank_of.standing).band
  ) + (
    select count(*)
    from leaderboard.standings as s
    where s.category_id = (rank_of.standing).category_id
      and s.window_kind = (rank_of.standing).window_kind
      and s.band = (rank_of.standing).band
      and s.pl_cents >= (rank_of.standing).pl_cents
      and (
        s.pl_cents > (rank_of.standing).pl_cents
        or s.vol_cents > (rank_of.standing).vol_cents
        or s.vol_cents = (rank_of.standing).vol_cents
          and s.user_public_id < (rank_of.standing).user_public_id
      )
  )
$$;

comment on function leaderboard.rank_of(leaderboard.standings) is
  'The rank of a standing in its window, 1 for the best: by profit, then by volume, then by the '
  'id of the user.';
--! EndIncluded leaderboard/functions/rank_of.sql
--! Included leaderboard/functions/standing_at.sql
create or replace function leaderboard.standing_at(
  category_id bigint, window_kind leaderboard.window_kind, rank bigint
)
returns leaderboard.standings
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_band int;
  v_better_count bigint;
  v_standing leaderboard.standings;
begin
  select b.band, b.better_count into v_band, v_better_count
  from (
    select
      x.band,
      x.trader_count,
      (sum(x.trader_count) over (order by x.band desc) - x.trader_count)::bigint as better_count
    from leaderboard.bands as x
    where x.category_id = standing_at.category_id
      and x.window_kind = standing_at.window_kind
  ) as b
  where b.better_count < standing_at.rank
    and b.better_count + b.trader_count >= standing_at.rank;

  select s.* into v_standing
  from leaderboard.standings as s
  where s.category_id = standing_at.category_id
    and s.window_kind = standing_at.window_kind
    and s.band = v_band
  order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
  limit 1
  offset standing_at.rank - 1 - v_better_count;
  return v_standing;
end
$$;

comment on function leaderboard.standing_at(bigint, leaderboard.window_kind, bigint) is
  'The standing that has a rank in a window; all of it null when there are fewer.';
--! EndIncluded leaderboard/functions/standing_at.sql
--! Included leaderboard/functions/biggest_win.sql
create or replace function leaderboard.biggest_win(
  category_id bigint, window_kind leaderboard.window_kind, day date
)
returns leaderboard.wins
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_win leaderboard.wins;
begin
  if biggest_win.window_kind = 'all' then
    select w.* into v_win
    from leaderboard.wins as w
    where w.category_id = biggest_win.category_id
      and exists (
        select
        from identity.users as u
        where u.id = w.user_id
          and not (u.private or u.leaderboard_opt_out)
      )
    order by w.realised_cents desc, w.market_id, w.user_id, w.side
    limit 1;
    return v_win;
  end if;

  select b.* into v_win
  from leaderboard.windows(biggest_win.day) as x
  cross join lateral generate_series(0, biggest_win.day - x.from_day) as d (days_ago)
  cross join lateral (
    select w.*
    from leaderboard.wins as w
    where w.category_id = biggest_win.category_id
      and w.day = biggest_win.day - d.days_ago
      and exists (
        select
        from identity.users as u
        where u.id = w.user_id
          and not (u.private or u.leaderboard_opt_out)
      )
    order by w.realised_cents desc, w.market_id, w.user_id, w.side
    limit 1
  ) as b
  where x.window_kind = biggest_win.window_kind
  order by b.realised_cents desc, b.market_id, b.user_id, b.side
  limit 1;
  return v_win;
end
$$;

comment on function leaderboard.biggest_win(bigint, leaderboard.window_kind, date) is
  'The settled position of a public trader that realised most in the window that ends on the day; '
  'all of it null when there is none. Looks at the best of each day of the window.';
--! EndIncluded leaderboard/functions/biggest_win.sql
--! Included leaderboard/functions/public_trader_count.sql
create or replace function leaderboard.public_trader_count(
  category_id bigint, window_kind leaderboard.window_kind
)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    coalesce(
      (
        select y.public_trader_count
        from leaderboard.summaries as y
        where y.category_id = public_trader_count.category_id
          and y.window_kind = public_trader_count.window_kind
      ),
      0
    ) + (
      select count(*) filter (where not s.is_public) - count(*) filter (where s.is_public)
      from (select distinct c.user_id from leaderboard.profile_changes as c) as p
      join identity.users as u on u.id = p.user_id
      join leaderboard.standings as s
        on s.user_id = p.user_id
        and s.category_id = public_trader_count.category_id
        and s.window_kind = public_trader_count.window_kind
      where s.settled_count > 0
        and s.is_public = (u.private or u.leaderboard_opt_out)
    )
$$;

comment on function leaderboard.public_trader_count(bigint, leaderboard.window_kind) is
  'How many public traders had a position settled in a window, by their profiles as they are now.';
--! EndIncluded leaderboard/functions/public_trader_count.sql
--! Included leaderboard/functions/entry_object.sql
create or replace function leaderboard.entry_object(
  standing leaderboard.standings, trader identity.users, rank bigint
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'rank', entry_object.rank,
    'userId', (entry_object.trader).public_id,
    'handle', (entry_object.trader).handle,
    'displayName', (entry_object.trader).display_name,
    'avatarUrl', (entry_object.trader).avatar_url,
    'plCents', (entry_object.standing).pl_cents,
    'volCents', (entry_object.standing).vol_cents,
    'winRate', leaderboard.share(
      (entry_object.standing).win_count, (entry_object.standing).settled_count
    ),
    'roi', leaderboard.share(
      (entry_object.standing).pl_cents, (entry_object.standing).vol_cents
    ),
    'settledCount', (entry_object.standing).settled_count
  )
$$;

comment on function leaderboard.entry_object(leaderboard.standings, identity.users, bigint) is
  'A complete entry of the leaderboard.';
--! EndIncluded leaderboard/functions/entry_object.sql
--! Included leaderboard/functions/trader_object.sql
create or replace function leaderboard.trader_object(trader identity.users, pl_cents bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'userId', (trader_object.trader).public_id,
    'handle', (trader_object.trader).handle,
    'displayName', (trader_object.trader).display_name,
    'avatarUrl', (trader_object.trader).avatar_url,
    'plCents', trader_object.pl_cents
  )
$$;

comment on function leaderboard.trader_object(identity.users, bigint) is
  'The top trader of a summary.';
--! EndIncluded leaderboard/functions/trader_object.sql
--! Included leaderboard/functions/take_facts.sql
-- One statement, so that all of it is of one moment:
--
--   new_*: the next trades, conversions and resolutions that were not taken yet
--   realised: what they realised, one row for each position that they moved
--   changes: the same by day, category and user, which is what comes out
--   touched, moved, kept: how far each market is taken, which is written
--   interest: the open interest, which is written
--   ends: how far to read on, where more was there than may be taken
create or replace function leaderboard.take_facts(state leaderboard.state, most int)
returns leaderboard.taken_facts
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with
  new_trades as materialized (
    select
      t.id, t.market_id, t.created_at,
      t.taker_user_id, t.taker_realised_cents, t.maker_user_id, t.maker_realised_cents
    from trading.trades as t
    left join leaderboard.markets as k on k.market_id = t.market_id
    where t.id > (take_facts.state).after_trade_id
      and t.id > coalesce(k.last_trade_id, 0)
    order by t.id
    limit take_facts.most
  ),
  new_conversions as materialized (
    select
      c.id, c.market_id, c.created_at, c.user_id,
      c.yes_realised_cents + c.no_realised_cents as cents
    from trading.set_conversions as c
    left join leaderboard.markets as k on k.market_id = c.market_id
    where c.id > (take_facts.state).after_conversion_id
      and c.id > coalesce(k.last_conversion_id, 0)
    order by c.id
    limit take_facts.most
  ),
  waiting_resolutions as materialized (
    select
      r.id, r.market_id, r.corrects_resolution_id,
      sum(r.position_count) over (order by r.id) - r.position_count as positions_before
    from trading.resolutions as r
    left join leaderboard.markets as k on k.market_id = r.market_id
    where r.id > (take_facts.state).after_resolution_id
      and r.id > coalesce(k.last_resolution_id, 0)
  ),
  new_resolutions as materialized (
    select w.id, w.market_id, w.corrects_resolution_id
    from waiting_resolutions as w
    where w.positions_before < take_facts.most
  ),
  realised as (
    select
      t.market_id, t.taker_user_id as user_id, t.created_at as at,
      t.taker_realised_cents as pl_cents,
      0 as vol_cents, 0 as win_count, 0 as settled_count, 1 as realised_count
    from new_trades as t
    where t.taker_realised_cents is not null
    union all
    select t.market_id, t.maker_user_id, t.created_at, t.maker_realised_cents, 0, 0, 0, 1
    from new_trades as t
    where t.maker_realised_cents is not null
    union all
    select c.market_id, c.user_id, c.created_at, c.cents, 0, 0, 0, 1
    from new_conversions as c
    where c.cents is not null
    union all
    -- A correction has the whole figures, so those that it corrects are taken back.
    select
      r.market_id, s.user_id, f.created_at, x.sign * s.realised_cents,
      x.sign * s.cost_cents, x.sign * (s.realised_cents > 0)::int, x.sign, x.sign
    from new_resolutions as r
    cross join lateral (
      values (r.id, 1), (r.corrects_resolution_id, -1)
    ) as x (resolution_id, sign)
    join trading.settlements as s on s.resolution_id = x.resolution_id
    join trading.resolutions as f
      on f.market_id = r.market_id and f.corrects_resolution_id is null
  ),
  changes as (
    select
      (r.at at time zone 'UTC')::date as day,
      c.category_id,
      r.user_id,
      sum(r.pl_cents)::bigint as pl_cents,
      sum(r.vol_cents)::bigint as vol_cents,
      sum(r.win_count) as win_count,
      sum(r.settled_count) as settled_count,
      sum(r.realised_count) as realised_count
    from realised as r
    join catalog.markets as m on m.id = r.market_id
    cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
    group by 1, 2, 3
  ),
  touched as (
    select
      n.market_id,
      max(n.trade_id) as trade_id,
      max(n.conversion_id) as conversion_id,
      max(n.resolution_id) as resolution_id
    from (
      select t.market_id, t.id as trade_id, 0 as conversion_id, 0 as resolution_id
      from new_trades as t
      union all
      select c.market_id, 0, c.id, 0
      from new_conversions as c
      union all
      select r.market_id, 0, 0, r.id
      from new_resolutions as r
    ) as n
    group by n.market_id
  ),
  moved as materialized (
    select
      t.market_id,
      m.category_id,
      greatest(t.trade_id, k.last_trade_id) as last_trade_id,
      greatest(t.conversion_id, k.last_conversion_id) as last_conversion_id,
      greatest(t.resolution_id, k.last_resolution_id) as last_resolution_id,
      b.escrow_cents::bigint as escrow_cents,
      b.escrow_cents - coalesce(k.escrow_cents, 0) as more_cents
    from touched as t
    join catalog.markets as m on m.id = t.market_id
    join trading.market_state as b on b.market_id = t.market_id
    left join leaderboard.markets as k on k.market_id = t.market_id
  ),
  kept as (
    insert into leaderboard.markets (
      market_id, last_trade_id, last_conversion_id, last_resolution_id, escrow_cents
    )
    select
      v.market_id, v.last_trade_id, v.last_conversion_id, v.last_resolution_id, v.escrow_cents
    from moved as v
    on conflict (market_id) do update set
      last_trade_id = excluded.last_trade_id,
      last_conversion_id = excluded.last_conversion_id,
      last_resolution_id = excluded.last_resolution_id,
      escrow_cents = excluded.escrow_cents
  ),
  interest as (
    insert into leaderboard.open_interest (category_id, open_interest_cents)
    select x.category_id, x.more_cents + coalesce(o.open_interest_cents, 0)
    from (
      select c.category_id, sum(v.more_cents) as more_cents
      from moved as v
      cross join lateral (values (0::bigint), (v.category_id)) as c (category_id)
      group by c.category_id
      having sum(v.more_cents) <> 0
    ) as x
    left join leaderboard.open_interest as o on o.category_id = x.category_id
    on conflict (category_id) do update set open_interest_cents = excluded.open_interest_cents
  ),
  ends as (
    select
      case when t.count = take_facts.most then t.last_id end as trade_id,
      case when c.count = take_facts.most then c.last_id end as conversion_id,
      case when r.count < w.count then r.last_id end as resolution_id
    from (select count(*), max(n.id) as last_id from new_trades as n) as t
    cross join (select count(*), max(n.id) as last_id from new_conversions as n) as c
    cross join (select count(*), max(n.id) as last_id from new_resolutions as n) as r
    cross join (select count(*) from waiting_resolutions as n) as w
  )
  select (
    array(
      select (
        c.day, c.category_id, c.user_id, c.pl_cents, c.vol_cents, c.win_count, c.settled_count,
        c.realised_count
      )::leaderboard.change
      from changes as c
    ),
    array(select r.id from new_resolutions as r),
    e.trade_id, e.conversion_id, e.resolution_id,
    num_nulls(e.trade_id, e.conversion_id, e.resolution_id) = 3
  )::leaderboard.taken_facts
  from ends as e
$$;

comment on function leaderboard.take_facts(leaderboard.state, int) is
  'Takes trades, conversions and resolutions that the leaderboard does not have yet, about so '
  'many of each at most, and notes in leaderboard.markets and leaderboard.open_interest that it '
  'has them. One statement, hence one moment of all markets. The caller holds the row of '
  'leaderboard.state.';
--! EndIncluded leaderboard/functions/take_facts.sql
--! Included leaderboard/functions/replace_wins.sql
create or replace function leaderboard.replace_wins(resolution_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from leaderboard.wins as w
  using trading.resolutions as r
  where r.id = any (replace_wins.resolution_ids)
    and r.corrects_resolution_id is not null
    and w.market_id = r.market_id;

  insert into leaderboard.wins (market_id, category_id, user_id, side, day, realised_cents)
  select
    r.market_id, c.category_id, s.user_id, s.side,
    (f.created_at at time zone 'UTC')::date, s.realised_cents
  from trading.resolutions as r
  join catalog.markets as m on m.id = r.market_id
  join trading.resolutions as f on f.market_id = r.market_id and f.corrects_resolution_id is null
  join trading.settlements as s on s.resolution_id = r.id
  cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
  where r.id = any (replace_wins.resolution_ids)
    and s.realised_cents > 0
    and not exists (
      select
      from trading.resolutions as l
      where l.corrects_resolution_id = r.id
        and l.id = any (replace_wins.resolution_ids)
    );
end
$$;

comment on function leaderboard.replace_wins(bigint[]) is
  'Puts the wins of resolutions in the place of those of the resolutions that they correct.';
--! EndIncluded leaderboard/functions/replace_wins.sql
--! Included leaderboard/functions/move_standings.sql
create or replace function leaderboard.move_standings(
  window_kind leaderboard.window_kind,
  changes leaderboard.change[],
  from_day date,
  to_day date
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
  with
  more as materialized (
    select
      x.category_id,
      x.window_kind,
      x.user_id,
      sum(x.pl_cents)::bigint as pl_cents,
      sum(x.vol_cents)::bigint as vol_cents,
      sum(x.win_count)::bigint as win_count,
      sum(x.settled_count)::bigint as settled_count,
      sum(x.realised_count)::bigint as realised_count
    from (
      select
        w.window_kind, c.category_id, c.user_id,
        c.pl_cents, c.vol_cents, c.win_count, c.settled_count, c.realised_count
      from unnest(move_standings.changes) as c
      join leaderboard.windows(move_standings.to_day) as w
        on w.window_kind = move_standings.window_kind
        and w.from_day <= c.day
      union all
      select
        w.window_kind, d.category_id, d.user_id,
        -d.pl_cents, -d.vol_cents, -d.win_count, -d.settled_count, -d.realised_count
      from leaderboard.windows(move_standings.from_day) as o
      join leaderboard.windows(move_standings.to_day) as w on w.window_kind = o.window_kind
      join leaderboard.days as d on d.day >= o.from_day and d.day < w.from_day
      where o.window_kind = move_standings.window_kind
    ) as x
    group by x.category_id, x.window_kind, x.user_id
  ),
  moved as materialized (
    select
      m.category_id,
      m.window_kind,
      m.user_id,
      u.public_id as user_public_id,
      s.user_id is not null as was_ranked,
      m.realised_count + coalesce(s.realised_count, 0) > 0 as is_ranked,
      coalesce(s.settled_count > 0, false) as was_settled,
      coalesce(s.settled_count > 0 and s.is_public, false) as was_public,
      s.band as band_before,
      m.pl_cents + coalesce(s.pl_cents, 0) as pl_cents,
      m.vol_cents,
      m.vol_cents + coalesce(s.vol_cents, 0) as total_vol_cents,
      m.win_count + coalesce(s.win_count, 0) as win_count,
      m.settled_count + coalesce(s.settled_count, 0) as settled_count,
      m.realised_count + coalesce(s.realised_count, 0) as realised_count,
      not (u.private or u.leaderboard_opt_out) as is_public
    from more as m
    join identity.users as u on u.id = m.user_id
    left join leaderboard.standings as s
      on s.user_id = m.user_id
      and s.category_id = m.category_id
      and s.window_kind = m.window_kind
  ),
  banded as (
    insert into leaderboard.bands (category_id, window_kind, band, trader_count)
    select x.category_id, x.window_kind, x.band, x.more + coalesce(b.trader_count, 0)
    from (
      select n.category_id, n.window_kind, n.band, sum(n.more) as more
      from (
        select m.category_id, m.window_kind, m.band_before as band, -1 as more
        from moved as m
        where m.was_ranked
        union all
        select m.category_id, m.window_kind, leaderboard.band(m.pl_cents), 1
        from moved as m
        where m.is_ranked
      ) as n
      group by n.category_id, n.window_kind, n.band
      having sum(n.more) <> 0
    ) as x
    left join leaderboard.bands as b
      on b.category_id = x.category_id
      and b.window_kind = x.window_kind
      and b.band = x.band
    on conflict (category_id, window_kind, band) do update
    set trader_count = excluded.trader_count
  ),
  summed as (
    insert into leaderboard.summaries (
      category_id, window_kind, volume_cents, settled_trader_count, public_trader_count
    )
    select
      x.category_id,
      x.window_kind,
      x.vol_cents + coalesce(y.volume_cents, 0),
      x.settled_traders + coalesce(y.settled_trader_count, 0),
      x.public_traders + coalesce(y.public_trader_count, 0)
    from (
      select
        m.category_id,
        m.window_kind,
        sum(m.vol_cents) as vol_cents,
        sum((m.settled_count > 0)::int - m.was_settled::int) as settled_traders,
        sum((m.settled_count > 0 and m.is_public)::int - m.was_public::int) as public_traders
      from moved as m
      group by m.category_id, m.window_kind
    ) as x
    left join leaderboard.summaries as y
      on y.category_id = x.category_id
      and y.window_kind = x.window_kind
    on conflict (category_id, window_kind) do update set
      volume_cents = excluded.volume_cents,
      settled_trader_count = excluded.settled_trader_count,
      public_trader_count = excluded.public_trader_count
  ),
  gone as (
    delete from leaderboard.standings as s
    using moved as m
    where not m.is_ranked
      and s.user_id = m.user_id
      and s.category_id = m.category_id
      and s.window_kind = m.window_kind
  )
  insert into leaderboard.standings (
    user_id, category_id, window_kind, user_public_id,
    pl_cents, vol_cents, win_count, settled_count, realised_count, is_public
  )
  select
    m.user_id, m.category_id, m.window_kind, m.user_public_id,
    m.pl_cents, m.total_vol_cents, m.win_count, m.settled_count, m.realised_count, m.is_public
  from moved as m
  where m.is_ranked
  on conflict (user_id, category_id, window_kind) do update set
    pl_cents = excluded.pl_cents,
    vol_cents = excluded.vol_cents,
    win_count = excluded.win_count,
    settled_count = excluded.settled_count,
    realised_count = excluded.realised_count,
    is_public = excluded.is_public
$$;

comment on function leaderboard.move_standings(
  leaderboard.window_kind, leaderboard.change[], date, date
) is
  'Moves a window from the day on which it ended to a later one, or the same, and adds changes '
  'that leaderboard.days does not have yet. Costs what has changed, and the days that leave the '
  'window. The caller holds the row of leaderboard.state.';
--! EndIncluded leaderboard/functions/move_standings.sql
--! Included leaderboard/functions/add_to_days.sql
create or replace function leaderboard.add_to_days(changes leaderboard.change[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into leaderboard.days (
    day, category_id, user_id, pl_cents, vol_cents, win_count, settled_count, realised_count
  )
  select
    c.day, c.category_id, c.user_id,
    c.pl_cents + coalesce(d.pl_cents, 0),
    c.vol_cents + coalesce(d.vol_cents, 0),
    c.win_count + coalesce(d.win_count, 0),
    c.settled_count + coalesce(d.settled_count, 0),
    c.realised_count + coalesce(d.realised_count, 0)
  from unnest(add_to_days.changes) as c
  left join leaderboard.days as d
    on d.day = c.day
    and d.category_id = c.category_id
    and d.user_id = c.user_id
  on conflict (day, category_id, user_id) do update set
    pl_cents = excluded.pl_cents,
    vol_cents = excluded.vol_cents,
    win_count = excluded.win_count,
    settled_count = excluded.settled_count,
    realised_count = excluded.realised_count
$$;

comment on function leaderboard.add_to_days(leaderboard.change[]) is
  'Adds changes to the totals of their days. The caller holds the row of leaderboard.state.';
--! EndIncluded leaderboard/functions/add_to_days.sql
--! Included leaderboard/functions/take_profile_changes.sql
create or replace function leaderboard.take_profile_changes()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_ids bigint[];
begin
  with taken as (
    delete from leaderboard.profile_changes
    returning user_id
  )
  select array_agg(distinct t.user_id) into v_user_ids
  from taken as t;
  if v_user_ids is null then
    return;
  end if;

  with changed as (
    update leaderboard.standings as s
    set is_public = not s.is_public
    from identity.users as u
    where u.id = any (v_user_ids)
      and s.user_id = u.id
      and s.is_public = (u.private or u.leaderboard_opt_out)
    returning s.category_id, s.window_kind, s.settled_count, s.is_public
  )
  update leaderboard.summaries as y
  set public_trader_count = y.public_trader_count + x.more
  from (
    select
      c.category_id,
      c.window_kind,
      sum(case when c.is_public then 1 else -1 end) as more
    from changed as c
    where c.settled_count > 0
    group by c.category_id, c.window_kind
  ) as x
  where y.category_id = x.category_id
    and y.window_kind = x.window_kind;
end
$$;

comment on function leaderboard.take_profile_changes() is
  'Counts users whose profile changed as what they are now. The caller holds the row of '
  'leaderboard.state.';
--! EndIncluded leaderboard/functions/take_profile_changes.sql
--! Included leaderboard/functions/refresh.sql
-- The planner settings make every join a look-up by key, whatever the planner expects of changes
-- that it can't count: it would rather read all standings.
create or replace function leaderboard.refresh(
  most int default 100000, waits boolean default true, pause interval default '0'
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set work_mem = '64MB'
as $$
declare
  v_window leaderboard.window_kind;
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_trade_id bigint;
  v_conversion_id bigint;
  v_resolution_id bigint;
  v_state leaderboard.state;
  v_facts leaderboard.taken_facts;
  v_all_ended boolean;
  v_at timestamptz;
  v_day date;
begin
  perform core.check_session();
  -- Read before this transaction gets its number, and so of transactions with lower ones only:
  -- whoever takes an id has locked rows before, and with that got a number.
  select q.last_value - (not q.is_called)::int into v_trade_id
  from ledger.journal_ids as q;
  select q.last_value - (not q.is_called)::int into v_conversion_id
  from trading.set_conversions_id_seq as q;
  select q.last_value - (not q.is_called)::int into v_resolution_id
  from trading.resolutions_id_seq as q;

  if refresh.waits then
    select s.* into strict v_state
    from leaderboard.state as s
    for update;
  else
    select s.* into v_state
    from leaderboard.state as s
    for update skip locked;
    if not found then
      return null;
    end if;
  end if;

  -- Seen by an earlier snapshot than the facts: what had ended here can be seen there.
  v_all_ended := core.all_ended_before(v_state.noted_xid);

  v_facts := leaderboard.take_facts(v_state, refresh.most);
  v_at := core.now();
  v_day := greatest(v_state.day, (v_at at time zone 'UTC')::date);

  perform leaderboard.replace_wins(v_facts.resolution_ids);
  foreach v_window in array enum_range(null::leaderboard.window_kind) loop
    perform pg_sleep_for(refresh.pause);
    perform leaderboard.move_standings(v_window, v_facts.changes, v_state.day, v_day);
  end loop;
  perform pg_sleep_for(refresh.pause);
  perform leaderboard.add_to_days(v_facts.changes);
  perform leaderboard.take_profile_changes();

  update leaderboard.state as s set
    day = v_day,
    snapshot_at = case when v_facts.is_current then v_at else s.snapshot_at end;
  if v_all_ended then
    update leaderboard.state as s set
      after_trade_id = least(s.noted_trade_id, v_facts.through_trade_id),
      after_conversion_id = least(s.noted_conversion_id, v_facts.through_conversion_id),
      after_resolution_id = least(s.noted_resolution_id, v_facts.through_resolution_id);
  end if;
  if v_is_first_write and (v_state.noted_xid is null or v_all_ended and v_facts.is_current) then
    update leaderboard.state as s set
      noted_trade_id = v_trade_id,
      noted_conversion_id = v_conversion_id,
      noted_resolution_id = v_resolution_id,
      noted_xid = pg_current_xact_id();
  end if;
  return v_facts.is_current;
end
$$;

comment on function leaderboard.refresh(int, boolean, interval) is
  'Brings the leaderboard up to date by what changed since the last time, about so many facts of '
  'each kind at most. Returns whether nothing was left; only then snapshot_at moves. Null when it '
  'is not to wait and somebody else is at it. Pauses so long between its parts, so that trading '
  'finds processor and disk free. Readers see all of it or nothing, once it is committed. Locks: '
  'the row of leaderboard.state; nothing that trading waits for.';
--! EndIncluded leaderboard/functions/refresh.sql
--! Included leaderboard/functions/verify.sql
-- What was realised is read from the ledger's side as a whole, and compared with what the
-- leaderboard has taken bit by bit:
--
--   settled, realised: what resolutions, trades and conversions came to, by user, market and day
--   days, then standings: what their sums should be
--   one query for each invariant: days, standings, bands, summaries, wins, escrows, and that no
--   trade, conversion or resolution is passed over
create or replace function leaderboard.verify()
returns table (name text, object text, expected text, found text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  with
  taken_resolutions as (
    select r.id, r.market_id, r.corrects_resolution_id
    from trading.resolutions as r
    join leaderboard.markets as k
      on k.market_id = r.market_id and r.id <= k.last_resolution_id
  ),
  -- Of each market the last resolution counts, on the day of the first.
  settled as (
    select
      m.category_id, s.market_id, s.user_id, s.side, s.cost_cents, s.realised_cents,
      (f.created_at at time zone 'UTC')::date as day
    from taken_resolutions as r
    join trading.resolutions as f
      on f.market_id = r.market_id and f.corrects_resolution_id is null
    join trading.settlements as s on s.resolution_id = r.id
    join catalog.markets as m on m.id = r.market_id
    where not exists (
      select from taken_resolutions as l where l.corrects_resolution_id = r.id
    )
  ),
  realised as (
    select s.category_id, s.day, s.user_id, s.realised_cents as pl_cents,
      s.cost_cents as vol_cents, (s.realised_cents > 0)::int as wins, 1 as settled
    from settled as s
    union all
    select m.category_id, (t.created_at at time zone 'UTC')::date, x.user_id, x.pl_cents, 0, 0, 0
    from trading.trades as t
    join leaderboard.markets as k on k.market_id = t.market_id and t.id <= k.last_trade_id
    join catalog.markets as m on m.id = t.market_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_realised_cents), (t.maker_user_id, t.maker_realised_cents)
    ) as x (user_id, pl_cents)
    where x.pl_cents is not null
    union all
    select m.category_id, (c.created_at at time zone 'UTC')::date, c.user_id,
      c.yes_realised_cents + c.no_realised_cents, 0, 0, 0
    from trading.set_conversions as c
    join leaderboard.markets as k
      on k.market_id = c.market_id and c.id <= k.last_conversion_id
    join catalog.markets as m on m.id = c.market_id
    where c.kind = 'merge'
  ),
  days as (
    select r.day, c.category_id, r.user_id,
      concat_ws(
        ' ', sum(r.pl_cents), sum(r.vol_cents), sum(r.wins), sum(r.settled), count(*)
      ) as figures
    from realised as r
    cross join lateral (values (0::bigint), (r.category_id)) as c (category_id)
    group by r.day, c.category_id, r.user_id
  ),
  standings as (
    select w.window_kind, c.category_id, r.user_id,
      sum(r.pl_cents)::bigint as pl_cents,
      sum(r.vol_cents)::bigint as vol_cents,
      sum(r.wins) as win_count,
      sum(r.settled) as settled_count,
      count(*) as realised_count
    from leaderboard.state as x
    cross join lateral leaderboard.windows(x.day) as w
    join realised as r on r.day >= w.from_day
    cross join lateral (values (0::bigint), (r.category_id)) as c (category_id)
    group by w.window_kind, c.category_id, r.user_id
  )
  select 'day equals what was realised on it',
    concat_ws(' ', coalesce(x.day, d.day), 'category', coalesce(x.category_id, d.category_id),
      'user', coalesce(x.user_id, d.user_id)),
    coalesce(x.figures, 'none'), coalesce(d.figures, 'none')
  from days as x
  full join (
    select y.day, y.category_id, y.user_id,
      concat_ws(
        ' ', y.pl_cents, y.vol_cents, y.win_count, y.settled_count, y.realised_count
      ) as figures
    from leaderboard.days as y
  ) as d
    on d.day = x.day and d.category_id = x.category_id and d.user_id = x.user_id
  where x.figures is distinct from d.figures

  union all
  select 'standing equals what was realised in its window',
    concat_ws(' ', coalesce(x.window_kind, s.window_kind), 'category',
      coalesce(x.category_id, s.category_id), 'user', coalesce(x.user_id, s.user_id)),
    concat_ws(
      ' ', x.pl_cents, x.vol_cents, x.win_count, x.settled_count, x.realised_count, u.public_id
    ),
    concat_ws(
      ' ', s.pl_cents, s.vol_cents, s.win_count, s.settled_count, s.realised_count,
      s.user_public_id
    )
  from standings as x
  left join identity.users as u on u.id = x.user_id
  full join leaderboard.standings as s
    on s.window_kind = x.window_kind
    and s.category_id = x.category_id
    and s.user_id = x.user_id
  where (
    x.pl_cents, x.vol_cents, x.win_count, x.settled_count, x.realised_count, u.public_id
  ) is distinct from (
    s.pl_cents, s.vol_cents, s.win_count, s.settled_count, s.realised_count, s.user_public_id
  )

  union all
  select 'band counts its standings',
    concat_ws(' ', coalesce(x.window_kind, b.window_kind), 'category',
      coalesce(x.category_id, b.category_id), 'band', coalesce(x.band, b.band)),
    coalesce(x.trader_count, 0)::text, coalesce(b.trader_count, 0)::text
  from (
    select s.window_kind, s.category_id, leaderboard.band(s.pl_cents) as band,
      count(*) as trader_count
    from standings as s
    group by 1, 2, 3
  ) as x
  full join leaderboard.bands as b
    on b.window_kind = x.window_kind and b.category_id = x.category_id and b.band = x.band
  where coalesce(x.trader_count, 0) <> coalesce(b.trader_count, 0)

  union all
  select 'summary sums its standings',
    concat_ws(' ', coalesce(x.window_kind, y.window_kind), 'category',
      coalesce(x.category_id, y.category_id)),
    coalesce(x.figures, '0 0 0'), coalesce(y.figures, '0 0 0')
  from (
    select s.window_kind, s.category_id,
      concat_ws(' ', sum(s.vol_cents), count(*) filter (where s.settled_count > 0),
        count(*) filter (where s.settled_count > 0 and l.is_public)) as figures
    from standings as s
    left join leaderboard.standings as l
      on l.window_kind = s.window_kind
      and l.category_id = s.category_id
      and l.user_id = s.user_id
    group by s.window_kind, s.category_id
  ) as x
  full join (
    select z.window_kind, z.category_id,
      concat_ws(' ', z.volume_cents, z.settled_trader_count, z.public_trader_count) as figures
    from leaderboard.summaries as z
  ) as y on y.window_kind = x.window_kind and y.category_id = x.category_id
  where coalesce(x.figures, '0 0 0') <> coalesce(y.figures, '0 0 0')

  union all
  select 'standing counts its trader as what they are',
    concat_ws(' ', s.window_kind, 'category', s.category_id, 'user', s.user_id),
    case when u.private or u.leaderboard_opt_out then 'private' else 'public' end,
    case when s.is_public then 'public' else 'private' end
  from leaderboard.standings as s
  join identity.users as u on u.id = s.user_id
  where s.is_public = (u.private or u.leaderboard_opt_out)
    and not exists (
      select from leaderboard.profile_changes as c where c.user_id = s.user_id
    )

  union all
  select 'win is a settled position',
    concat_ws(' ', 'market', coalesce(x.market_id, w.market_id), 'category',
      coalesce(x.category_id, w.category_id), 'user', coalesce(x.user_id, w.user_id),
      coalesce(x.side, w.side)),
    concat_ws(' ', x.day, x.realised_cents), concat_ws(' ', w.day, w.realised_cents)
  from (
    select s.market_id, c.category_id, s.user_id, s.side, s.day, s.realised_cents
    from settled as s
    cross join lateral (values (0::bigint), (s.category_id)) as c (category_id)
    where s.realised_cents > 0
  ) as x
  full join leaderboard.wins as w
    on w.market_id = x.market_id
    and w.category_id = x.category_id
    and w.user_id = x.user_id
    and w.side = x.side
  where (x.day, x.realised_cents) is distinct from (w.day, w.realised_cents::bigint)

  union all
  select 'escrow is that of its market', 'market ' || k.market_id,
    b.escrow_cents::text, k.escrow_cents::text
  from leaderboard.markets as k
  join trading.market_state as b on b.market_id = k.market_id
  where b.escrow_cents <> k.escrow_cents
    and not exists (
      select
      from trading.trades as t
      where t.market_id = k.market_id
        and t.id > k.last_trade_id
    )
    and not exists (
      select
      from trading.set_conversions as c
      where c.market_id = k.market_id
        and c.id > k.last_conversion_id
    )
    and not exists (
      select
      from trading.resolutions as r
      where r.market_id = k.market_id
        and r.id > k.last_resolution_id
    )

  union all
  select 'open interest is the escrow of the markets',
    concat_ws(' ', 'category', coalesce(x.category_id, o.category_id)),
    coalesce(x.escrow_cents, 0)::text, coalesce(o.open_interest_cents, 0)::text
  from (
    select c.category_id, sum(k.escrow_cents) as escrow_cents
    from leaderboard.markets as k
    join catalog.markets as m on m.id = k.market_id
    cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
    group by c.category_id
  ) as x
  full join leaderboard.open_interest as o on o.category_id = x.category_id
  where coalesce(x.escrow_cents, 0) <> coalesce(o.open_interest_cents, 0)

  union all
  select 'nothing is passed over', f.kind || ' ' || f.id, 'taken', 'not taken'
  from leaderboard.state as x
  cross join lateral (
    select 'trade' as kind, t.id
    from trading.trades as t
    left join leaderboard.markets as k on k.market_id = t.market_id
    where t.id <= x.after_trade_id
      and t.id > coalesce(k.last_trade_id, 0)
    union all
    select 'conversion', c.id
    from trading.set_conversions as c
    left join leaderboard.markets as k on k.market_id = c.market_id
    where c.id <= x.after_conversion_id
      and c.id > coalesce(k.last_conversion_id, 0)
    union all
    select 'resolution', r.id
    from trading.resolutions as r
    left join leaderboard.markets as k on k.market_id = r.market_id
    where r.id <= x.after_resolution_id
      and r.id > coalesce(k.last_resolution_id, 0)
  ) as f
$$;

comment on function leaderboard.verify() is
  'One row for each difference between the leaderboard and what trading says was realised up to '
  'where it has come: the name of the invariant, the object, what was expected and what was '
  'found. No row when the leaderboard is right, however long ago it was refreshed. Reads '
  'everything; one statement, hence one snapshot.';
--! EndIncluded leaderboard/functions/verify.sql

-- Functions: for operators
--! Included admin/functions/audit.sql
create or replace function admin.audit(action text, arguments jsonb)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select core.check_session();
  insert into admin.audit_log (operator, staff_key, action, arguments)
  values (
    session_user,
    nullif(current_setting('exchange.operator', true), ''),
    audit.action,
    audit.arguments
  )
$$;

comment on function admin.audit(text, jsonb) is
  'Writes the audit row of an operator''s call. Private to the schema. Errors: UNFIT_SESSION.';
--! EndIncluded admin/functions/audit.sql
--! Included admin/functions/create_category.sql
create or replace function admin.create_category(
  slug text, name text, "position" int default null
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  insert into catalog.categories (slug, name, "position")
  values (
    create_category.slug,
    create_category.name,
    coalesce(
      create_category."position",
      (select coalesce(max(c."position"), 0) + 1 from catalog.categories as c)
    )
  );
  perform admin.audit('create_category', jsonb_build_object(
    'slug', create_category.slug,
    'name', create_category.name,
    'position', create_category."position"
  ));
  return create_category.slug;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', format('category %s exists already', create_category.slug)
    );
end
$$;

comment on function admin.create_category(text, text, int) is
  'Makes a category; without a position it comes last. Returns its slug. Errors: '
  'INVALID_REQUEST, ALREADY_EXISTS.';
--! EndIncluded admin/functions/create_category.sql
--! Included admin/functions/create_event.sql
create or replace function admin.create_event(
  title text,
  category text,
  description text default null,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  live boolean default false,
  live_delay_ms int default 3000,
  thumbnail_id uuid default null,
  thumbnail_url text default null
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event_id uuid;
  v_constraint text;
  v_column text;
begin
  insert into catalog.events (
    category_id, title, description, starts_at, ends_at, live, live_delay_ms,
    thumbnail_id, thumbnail_url
  )
  values (
    catalog.category_id(create_event.category), create_event.title, create_event.description,
    create_event.starts_at, create_event.ends_at, create_event.live,
    create_event.live_delay_ms, create_event.thumbnail_id, create_event.thumbnail_url
  )
  returning public_id into v_event_id;

  perform admin.audit('create_event', jsonb_build_object(
    'event_id', v_event_id,
    'title', create_event.title,
    'category', create_event.category,
    'description', create_event.description,
    'starts_at', create_event.starts_at,
    'ends_at', create_event.ends_at,
    'live', create_event.live,
    'live_delay_ms', create_event.live_delay_ms,
    'thumbnail_id', create_event.thumbnail_id,
    'thumbnail_url', create_event.thumbnail_url
  ));
  return v_event_id;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_event(
  text, text, text, timestamptz, timestamptz, boolean, int, uuid, text
) is
  'Makes an event in a category, by slug. Returns its id. Errors: INVALID_REQUEST, NOT_FOUND. '
  'Locks: the row of the category.';
--! EndIncluded admin/functions/create_event.sql
--! Included admin/functions/set_event_live.sql
create or replace function admin.set_event_live(
  event_id uuid, live boolean, live_delay_ms int default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  update catalog.events as e set
    live = set_event_live.live,
    live_delay_ms = coalesce(set_event_live.live_delay_ms, e.live_delay_ms)
  where e.public_id = set_event_live.event_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no event %s', set_event_live.event_id));
  end if;
  perform admin.audit('set_event_live', jsonb_build_object(
    'event_id', set_event_live.event_id,
    'live', set_event_live.live,
    'live_delay_ms', set_event_live.live_delay_ms
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_event_live(uuid, boolean, int) is
  'Turns live trading of an event on or off; without a delay it keeps the one it has. Orders that '
  'are scheduled already keep theirs. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the '
  'event.';
--! EndIncluded admin/functions/set_event_live.sql
--! Included admin/functions/create_market.sql
create or replace function admin.create_market(
  title text,
  category text,
  description text default '',
  event_id uuid default null,
  close_time timestamptz default null,
  thumbnail_id uuid default null,
  thumbnail_url text default null
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_category_id bigint := catalog.category_id(create_market.category);
  v_event catalog.events;
  v_market catalog.markets;
  v_constraint text;
  v_column text;
begin
  if create_market.event_id is not null then
    select e.* into v_event
    from catalog.events as e
    where e.public_id = create_market.event_id;
    if not found then
      perform core.raise_error('NOT_FOUND', format('no event %s', create_market.event_id));
    end if;
    if v_event.category_id <> v_category_id then
      perform core.raise_error('INVALID_REQUEST', format(
        'event %s is not of category %L', create_market.event_id, create_market.category
      ));
    end if;
  end if;
  perform catalog.check_close_time(create_market.close_time);

  insert into catalog.markets (
    category_id, event_id, title, description, close_time, thumbnail_id, thumbnail_url
  )
  values (
    v_category_id, v_event.id, create_market.title, create_market.description,
    create_market.close_time, create_market.thumbnail_id, create_market.thumbnail_url
  )
  returning * into v_market;

  insert into trading.market_state (market_id) values (v_market.id);

  perform admin.audit('create_market', jsonb_build_object(
    'market_id', v_market.public_id,
    'title', create_market.title,
    'category', create_market.category,
    'description', create_market.description,
    'event_id', create_market.event_id,
    'close_time', create_market.close_time,
    'thumbnail_id', create_market.thumbnail_id,
    'thumbnail_url', create_market.thumbnail_url
  ));
  return v_market.public_id;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_market(
  text, text, text, uuid, timestamptz, uuid, text
) is
  'Makes a market, open at once, in a category and perhaps of an event of that category. Returns '
  'its id. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the category.';
--! EndIncluded admin/functions/create_market.sql
--! Included admin/functions/edit_market.sql
create or replace function admin.edit_market(
  market_id uuid,
  title text default null,
  description text default null,
  close_time timestamptz default null,
  no_close_time boolean default false
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market catalog.markets;
  v_closes_at timestamptz;
  v_constraint text;
  v_column text;
begin
  if edit_market.no_close_time and edit_market.close_time is not null then
    perform core.raise_error(
      'INVALID_REQUEST', 'give a close_time or no_close_time => true, not both'
    );
  end if;
  select m.* into v_market
  from catalog.markets as m
  where m.public_id = edit_market.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no market %s', edit_market.market_id));
  end if;

  perform trading.lock_market(v_market.id);
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = v_market.id
  for no key update;
  if v_market.status = 'resolved' then
    perform core.raise_error('INVALID_STATE', 'a resolved market cannot be edited');
  end if;

  v_closes_at := case
    when edit_market.no_close_time then null
    else coalesce(edit_market.close_time, v_market.close_time)
  end;
  -- Past its close time a market is closed, even if the job that does it is late.
  if v_closes_at is distinct from v_market.close_time
    and v_market.status <> 'closed'
    and v_market.close_time <= core.now()
  then
    perform core.raise_error('INVALID_STATE', format(
      'the market closed at %s; admin.set_market_status opens it again, with a new close time',
      v_market.close_time
    ));
  end if;
  perform catalog.check_close_time(edit_market.close_time);

  update catalog.markets as m set
    title = coalesce(edit_market.title, m.title),
    description = coalesce(edit_market.description, m.description),
    close_time = v_closes_at
  where m.id = v_market.id;
  perform admin.audit('edit_market', jsonb_build_object(
    'market_id', edit_market.market_id,
    'title', edit_market.title,
    'description', edit_market.description,
    'close_time', edit_market.close_time,
    'no_close_time', edit_market.no_close_time,
    'before', jsonb_build_object(
      'title', v_market.title,
      'description', v_market.description,
      'close_time', v_market.close_time
    )
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.edit_market(uuid, text, text, timestamptz, boolean) is
  'Changes title, description and close time of a market that is not resolved; null leaves a value '
  'as it is, no_close_time takes the close time away. Orders stay, and so does the version, which '
  'counts changes of the book and its trades. The audit row has the values from before. Errors: '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (resolved; or a new close time after the old one has '
  'passed). Locks: the market, then its row in catalog.markets.';
--! EndIncluded admin/functions/edit_market.sql
--! Included admin/functions/set_market_status.sql
create or replace function admin.set_market_status(
  market_id uuid, status text, close_time timestamptz default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market catalog.markets;
begin
  if set_market_status.status is null
    or set_market_status.status not in ('open', 'paused', 'closed')
  then
    perform core.raise_error('INVALID_REQUEST', 'the status must be open, paused or closed');
  end if;

  select m.* into v_market
  from catalog.markets as m
  where m.public_id = set_market_status.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no market %s', set_market_status.market_id));
  end if;

  perform trading.lock_market(v_market.id);
  perform trading.change_market_status(
    v_market.id,
    set_market_status.status::catalog.market_status,
    set_market_status.close_time
  );
  perform admin.audit('set_market_status', jsonb_build_object(
    'market_id', set_market_status.market_id,
    'status', set_market_status.status,
    'close_time', set_market_status.close_time
  ));
end
$$;

comment on function admin.set_market_status(uuid, text, timestamptz) is
  'Opens, pauses or closes a market. Closing cancels its open orders (market_closed); reopening a '
  'closed one takes the close time given, or none; a paused one keeps its own unless one is '
  'given. The status it has already is no change; admin.edit_market changes the close time then. '
  'Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE. Locks: the market.';
--! EndIncluded admin/functions/set_market_status.sql
--! Included admin/functions/resolve_market.sql
create or replace function admin.resolve_market(
  market_id uuid, outcome text, yes_payout_cents int default null
)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    resolve_market.outcome, resolve_market.yes_payout_cents
  );
  v_market_id bigint;
  v_summary jsonb;
begin
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = resolve_market.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no market %s', resolve_market.market_id));
  end if;

  v_summary := trading.resolve_market(
    v_market_id, resolve_market.outcome::catalog.outcome, v_yes_payout_cents
  );
  perform admin.audit('resolve_market', jsonb_build_object(
    'market_id', resolve_market.market_id,
    'outcome', resolve_market.outcome,
    'yes_payout_cents', resolve_market.yes_payout_cents
  ));
  return v_summary;
end
$$;

comment on function admin.resolve_market(uuid, text, int) is
  'Resolves a market to yes, no or custom (with what a YES share pays, 0-100 cents; a NO share '
  'pays the rest), closing it first, and pays all positions. Returns {outcome, yesPayoutCents, '
  'positions, users, payoutCents}. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE. Locks: the '
  'market, then everybody who is paid.';
--! EndIncluded admin/functions/resolve_market.sql
--! Included admin/functions/preview_resolution.sql
create or replace function admin.preview_resolution(
  market_id uuid, outcome text, yes_payout_cents int default null
)
returns table (
  user_id uuid, side text, quantity bigint, payout_cents bigint, realised_pnl_cents bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    preview_resolution.outcome, preview_resolution.yes_payout_cents
  );
  v_market_id bigint;
begin
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = preview_resolution.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no market %s', preview_resolution.market_id));
  end if;

  perform admin.audit('preview_resolution', jsonb_build_object(
    'market_id', preview_resolution.market_id,
    'outcome', preview_resolution.outcome,
    'yes_payout_cents', preview_resolution.yes_payout_cents
  ));
  return query
  select u.public_id, p.side::text, p.quantity, p.payout_cents, p.realised_cents
  from trading.payouts(v_market_id, v_yes_payout_cents) as p
  join identity.users as u on u.id = p.user_id
  order by p.user_id, p.side;
end
$$;

comment on function admin.preview_resolution(uuid, text, int) is
  'What resolving a market would pay each position, and what that would realise: payout less '
  'cost and buy fees. Of a resolved market, the whole figures that a correction would put in the '
  'place of the present ones. Changes nothing and locks nothing. Errors: INVALID_REQUEST, '
  'NOT_FOUND.';
--! EndIncluded admin/functions/preview_resolution.sql
--! Included admin/functions/correct_resolution.sql
create or replace function admin.correct_resolution(
  market_id uuid, outcome text, reason text, yes_payout_cents int default null
)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    correct_resolution.outcome, correct_resolution.yes_payout_cents
  );
  v_market_id bigint;
  v_summary jsonb;
begin
  if coalesce(correct_resolution.reason, '') !~ '[^[:space:]]'
    or length(correct_resolution.reason) > 1000
  then
    perform core.raise_error('INVALID_REQUEST', 'a reason is needed, of up to 1000 characters');
  end if;
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = correct_resolution.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no market %s', correct_resolution.market_id));
  end if;

  v_summary := trading.correct_resolution(
    v_market_id, correct_resolution.outcome::catalog.outcome, v_yes_payout_cents,
    correct_resolution.reason
  );
  perform admin.audit('correct_resolution', jsonb_build_object(
    'market_id', correct_resolution.market_id,
    'outcome', correct_resolution.outcome,
    'reason', correct_resolution.reason,
    'yes_payout_cents', correct_resolution.yes_payout_cents
  ));
  return v_summary;
end
$$;

comment on function admin.correct_resolution(uuid, text, text, int) is
  'Corrects the resolution of a market to another outcome (custom at another payout is another '
  'one), for a reason that is kept. Returns what resolve_market does, and {movedCents, '
  'usersBelowZero}: it alone may take balances below zero. Errors: INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (not resolved, or that way already). Locks: the market, then everybody whose '
  'cash moves.';
--! EndIncluded admin/functions/correct_resolution.sql
--! Included admin/functions/create_user.sql
create or replace function admin.create_user(email text, display_name text, handle text)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  insert into identity.users (email, display_name, handle)
  values (create_user.email, create_user.display_name, create_user.handle)
  returning * into v_user;
  insert into trading.traders (user_id, public_id) values (v_user.id, v_user.public_id);

  perform admin.audit('create_user', jsonb_build_object(
    'user_id', v_user.public_id,
    'email', create_user.email,
    'display_name', create_user.display_name,
    'handle', create_user.handle
  ));
  return v_user.public_id;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', 'a user with this email or handle exists already'
    );
end
$$;

comment on function admin.create_user(text, text, text) is
  'Makes a user without cash and with loss limits not reviewed yet. Returns the id. '
  'Errors: INVALID_REQUEST, ALREADY_EXISTS.';
--! EndIncluded admin/functions/create_user.sql
--! Included admin/functions/set_profile.sql
create or replace function admin.set_profile(
  user_id uuid,
  private boolean default null,
  leaderboard_opt_out boolean default null,
  display_name text default null,
  avatar_url text default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_constraint text;
  v_column text;
begin
  update identity.users as u set
    private = coalesce(set_profile.private, u.private),
    leaderboard_opt_out = coalesce(set_profile.leaderboard_opt_out, u.leaderboard_opt_out),
    display_name = coalesce(set_profile.display_name, u.display_name),
    avatar_url = coalesce(set_profile.avatar_url, u.avatar_url)
  where u.public_id = set_profile.user_id
  returning u.id into v_user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', set_profile.user_id));
  end if;
  if num_nonnulls(set_profile.private, set_profile.leaderboard_opt_out) > 0 then
    insert into leaderboard.profile_changes (user_id)
    values (v_user_id);
  end if;
  perform admin.audit('set_profile', jsonb_build_object(
    'user_id', set_profile.user_id,
    'private', set_profile.private,
    'leaderboard_opt_out', set_profile.leaderboard_opt_out,
    'display_name', set_profile.display_name,
    'avatar_url', set_profile.avatar_url
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_profile(uuid, boolean, boolean, text, text) is
  'Changes what is given of a user''s profile. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row '
  'of the user in identity.users, for which no trading waits.';
--! EndIncluded admin/functions/set_profile.sql
--! Included admin/functions/create_api_key.sql
create or replace function admin.create_api_key(user_id uuid, name text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  insert into identity.api_keys (user_id, name, key_hash)
  select u.id, create_api_key.name, v_key_hash
  from identity.users as u
  where u.public_id = create_api_key.user_id
  returning public_id into v_key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', create_api_key.user_id));
  end if;
  perform admin.audit('create_api_key', jsonb_build_object(
    'user_id', create_api_key.user_id,
    'name', create_api_key.name,
    'key_id', v_key_id
  ));
  return v_key;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_api_key(uuid, text) is
  'Makes an API key and returns it; it is not kept and can never be shown again. Errors: '
  'INVALID_REQUEST, NOT_FOUND.';
--! EndIncluded admin/functions/create_api_key.sql
--! Included admin/functions/list_api_keys.sql
create or replace function admin.list_api_keys(user_id uuid)
returns table (
  id uuid, name text, created_at timestamptz, last_used_at timestamptz, revoked_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from identity.users as u where u.public_id = list_api_keys.user_id
  ) then
    perform core.raise_error('NOT_FOUND', format('no user %s', list_api_keys.user_id));
  end if;
  perform admin.audit('list_api_keys', jsonb_build_object('user_id', list_api_keys.user_id));
  return query
  select k.public_id, k.name, k.created_at, k.last_used_at, k.revoked_at
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where u.public_id = list_api_keys.user_id
  order by k.id;
end
$$;

comment on function admin.list_api_keys(uuid) is
  'The API keys of a user, oldest first, revoked ones too. Errors: NOT_FOUND.';
--! EndIncluded admin/functions/list_api_keys.sql
--! Included admin/functions/revoke_api_key.sql
create or replace function admin.revoke_api_key(key_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.api_keys as k
  set revoked_at = coalesce(k.revoked_at, core.now())
  where k.public_id = revoke_api_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no API key %s', revoke_api_key.key_id));
  end if;
  insert into trading.outbox (channel, payload)
  values ('api_key_revoked', json_build_object('apiKeyId', revoke_api_key.key_id));
  perform admin.audit('revoke_api_key', jsonb_build_object('key_id', revoke_api_key.key_id));
end
$$;

comment on function admin.revoke_api_key(uuid) is
  'Ends an API key; servers hear of it by api_key_revoked. Revoking it again changes nothing. '
  'Errors: NOT_FOUND. Locks: the row of the key.';
--! EndIncluded admin/functions/revoke_api_key.sql
--! Included admin/functions/create_staff_key.sql
create or replace function admin.create_staff_key(name text, role text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key(
    case create_staff_key.role when 'operator' then 'jo_' else 'ja_' end
  );
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  insert into identity.staff_keys (name, role, key_hash)
  values (create_staff_key.name, create_staff_key.role, v_key_hash)
  returning public_id into v_key_id;
  perform admin.audit('create_staff_key', jsonb_build_object(
    'name', create_staff_key.name,
    'role', create_staff_key.role,
    'key_id', v_key_id
  ));
  return v_key;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', format('there is a key named %L', create_staff_key.name)
    );
end
$$;

comment on function admin.create_staff_key(text, text) is
  'Makes a key for an analyst (ja_) or an operator (jo_) and returns it; it is not kept and can '
  'never be shown again. Errors: INVALID_REQUEST, ALREADY_EXISTS.';
--! EndIncluded admin/functions/create_staff_key.sql
--! Included admin/functions/list_staff_keys.sql
create or replace function admin.list_staff_keys()
returns table (
  id uuid,
  name text,
  role text,
  created_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.audit('list_staff_keys', '{}');
  return query
  select k.public_id, k.name, k.role, k.created_at, k.last_used_at, k.revoked_at
  from identity.staff_keys as k
  order by k.id;
end
$$;

comment on function admin.list_staff_keys() is
  'The keys of analysts and operators, oldest first, revoked ones too.';
--! EndIncluded admin/functions/list_staff_keys.sql
--! Included admin/functions/revoke_staff_key.sql
create or replace function admin.revoke_staff_key(key_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.staff_keys as k
  set revoked_at = coalesce(k.revoked_at, core.now())
  where k.public_id = revoke_staff_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no staff key %s', revoke_staff_key.key_id));
  end if;
  perform admin.audit('revoke_staff_key', jsonb_build_object('key_id', revoke_staff_key.key_id));
end
$$;

comment on function admin.revoke_staff_key(uuid) is
  'Ends the key of an analyst or an operator, at once. Revoking it again changes nothing. Errors: '
  'NOT_FOUND. Locks: the row of the key.';
--! EndIncluded admin/functions/revoke_staff_key.sql
--! Included admin/functions/create_session.sql
create or replace function admin.create_session(
  user_id uuid, valid_for interval default '30 days'
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cookie text := identity.new_api_key('js_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(v_cookie, 'UTF8'));
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_session_id uuid;
begin
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = create_session.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', create_session.user_id));
  end if;
  if create_session.valid_for is null or v_at + create_session.valid_for <= v_at then
    perform core.raise_error('INVALID_REQUEST', 'a session must be valid for some time');
  end if;

  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = v_user_id and s.expires_at <= v_at
  ));
  insert into identity.sessions (user_id, cookie_hash, created_at, expires_at)
  values (v_user_id, v_cookie_hash, v_at, v_at + create_session.valid_for)
  returning public_id into v_session_id;

  perform admin.audit('create_session', jsonb_build_object(
    'user_id', create_session.user_id,
    'valid_for', create_session.valid_for,
    'session_id', v_session_id
  ));
  return v_cookie;
end
$$;

comment on function admin.create_session(uuid, interval) is
  'Logs a browser in: makes a session and returns the value of its cookie, pgmarkets_session, '
  'which is not kept and can never be shown again. Expired sessions of the user are removed. '
  'Errors: INVALID_REQUEST, NOT_FOUND. Locks: the rows of those.';
--! EndIncluded admin/functions/create_session.sql
--! Included admin/functions/end_sessions.sql
create or replace function admin.end_sessions(user_id uuid, cookie text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Made before the statement that reads it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(end_sessions.cookie, 'UTF8'));
  v_user_id bigint;
  v_ended bigint;
begin
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = end_sessions.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', end_sessions.user_id));
  end if;

  v_ended := identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = v_user_id
      and (
        v_cookie_hash is null
        or s.cookie_hash = v_cookie_hash
      )
  ));
  perform admin.audit('end_sessions', jsonb_build_object(
    'user_id', end_sessions.user_id,
    'all', end_sessions.cookie is null,
    'ended', v_ended
  ));
  return v_ended;
end
$$;

comment on function admin.end_sessions(uuid, text) is
  'Logs out: the browser with this cookie, or, without one, all browsers of the user. Returns how '
  'many sessions ended, expired ones included. Errors: NOT_FOUND. Locks: the rows of the sessions.';
--! EndIncluded admin/functions/end_sessions.sql
--! Included admin/functions/set_rate_limit.sql
create or replace function admin.set_rate_limit(bucket text, max_requests int, window_seconds int)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  update rate_limits.buckets as b
  set max_requests = set_rate_limit.max_requests, window_seconds = set_rate_limit.window_seconds
  where b.bucket = set_rate_limit.bucket;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no bucket %s', set_rate_limit.bucket));
  end if;
  perform admin.audit('set_rate_limit', jsonb_build_object(
    'bucket', set_rate_limit.bucket,
    'max_requests', set_rate_limit.max_requests,
    'window_seconds', set_rate_limit.window_seconds
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_rate_limit(text, int, int) is
  'Sets how many requests a rolling window of this bucket has room for, and its length; holds from '
  'the next request on. A longer window counts what is still kept of the time before. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the row of the bucket.';
--! EndIncluded admin/functions/set_rate_limit.sql
--! Included admin/functions/set_stream_cap.sql
create or replace function admin.set_stream_cap(holder text, max_streams int)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  update rate_limits.stream_caps as c set max_streams = set_stream_cap.max_streams
  where c.holder = set_stream_cap.holder;
  if not found then
    perform core.raise_error('NOT_FOUND', 'the holder must be address or user');
  end if;
  perform admin.audit('set_stream_cap', jsonb_build_object(
    'holder', set_stream_cap.holder, 'max_streams', set_stream_cap.max_streams
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_stream_cap(text, int) is
  'Sets how many event streams an address, or a user, may hold open at once; holds from the next '
  'opening on, on every server. Streams that are open stay. Errors: INVALID_REQUEST, NOT_FOUND. '
  'Locks: the row of the holder.';
--! EndIncluded admin/functions/set_stream_cap.sql
--! Included admin/functions/set_rate_policy.sql
create or replace function admin.set_rate_policy(
  user_id uuid,
  tier text,
  requests_per_minute int default null,
  burst_capacity int default null,
  expires_at timestamptz default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_requests_per_minute int := set_rate_policy.requests_per_minute;
  v_burst_capacity int := set_rate_policy.burst_capacity;
  v_constraint text;
  v_column text;
begin
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = set_rate_policy.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', set_rate_policy.user_id));
  end if;

  case set_rate_policy.tier
    when 'standard' then
      if coalesce(v_requests_per_minute, v_burst_capacity) is not null
        or set_rate_policy.expires_at is not null
      then
        perform core.raise_error(
          'INVALID_REQUEST', 'the standard policy has figures of its own and no end'
        );
      end if;
      delete from rate_limits.rate_policies as p where p.user_id = v_user_id;
    when 'elevated', 'custom' then
      if set_rate_policy.tier = 'elevated' then
        v_requests_per_minute := coalesce(v_requests_per_minute, 600);
        v_burst_capacity := coalesce(v_burst_capacity, 50);
      end if;
      insert into rate_limits.rate_policies as p
        (user_id, tier, requests_per_minute, burst_capacity, expires_at)
      values (
        v_user_id, set_rate_policy.tier::rate_limits.tier, v_requests_per_minute, v_burst_capacity,
        set_rate_policy.expires_at
      )
      on conflict on constraint rate_policies_pkey do update set
        tier = excluded.tier,
        requests_per_minute = excluded.requests_per_minute,
        burst_capacity = excluded.burst_capacity,
        expires_at = excluded.expires_at;
    else
      perform core.raise_error(
        'INVALID_REQUEST', 'the tier must be standard, elevated or custom'
      );
  end case;

  perform admin.audit('set_rate_policy', jsonb_build_object(
    'user_id', set_rate_policy.user_id,
    'tier', set_rate_policy.tier,
    'requests_per_minute', v_requests_per_minute,
    'burst_capacity', v_burst_capacity,
    'expires_at', set_rate_policy.expires_at
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_rate_policy(uuid, text, int, int, timestamptz) is
  'Sets how fast a user may trade, from the next request on: the standard policy, or an elevated '
  '(600 a minute and 50 back to back unless told) or custom one, until a time or for good. What '
  'was spent before stays spent. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the policy.';
--! EndIncluded admin/functions/set_rate_policy.sql
--! Included admin/functions/deposit.sql
create or replace function admin.deposit(user_id uuid, amount_cents bigint, reference text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_balance_cents bigint;
begin
  v_balance_cents := ledger.move_cash(
    deposit.user_id, 'deposit', deposit.amount_cents, deposit.reference
  );
  perform admin.audit('deposit', jsonb_build_object(
    'user_id', deposit.user_id,
    'amount_cents', deposit.amount_cents,
    'reference', deposit.reference
  ));
  return v_balance_cents;
end
$$;

comment on function admin.deposit(uuid, bigint, text) is
  'Adds cents to a user''s cash, once for each reference of the user; returns the new balance. '
  'Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference, another amount). Locks: the '
  'outside world, then the user.';
--! EndIncluded admin/functions/deposit.sql
--! Included admin/functions/withdraw.sql
create or replace function admin.withdraw(user_id uuid, amount_cents bigint, reference text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_balance_cents bigint;
begin
  v_balance_cents := ledger.move_cash(
    withdraw.user_id, 'withdrawal', withdraw.amount_cents, withdraw.reference
  );
  perform admin.audit('withdraw', jsonb_build_object(
    'user_id', withdraw.user_id,
    'amount_cents', withdraw.amount_cents,
    'reference', withdraw.reference
  ));
  return v_balance_cents;
end
$$;

comment on function admin.withdraw(uuid, bigint, text) is
  'Takes cents from a user''s cash, once for each reference of the user; returns the new balance. '
  'Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference, another amount), '
  'ACCOUNT_FROZEN, INSUFFICIENT_BALANCE. Locks: the outside world, then the user.';
--! EndIncluded admin/functions/withdraw.sql
--! Included admin/functions/set_loss_limits.sql
create or replace function admin.set_loss_limits(
  user_id uuid,
  day_cents bigint,
  week_cents bigint,
  month_cents bigint,
  immediate boolean default false
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := identity.lock_user(set_loss_limits.user_id);
  v_at timestamptz := core.now();
  v_trader trading.traders;
  v_day risk.limit_change;
  v_week risk.limit_change;
  v_month risk.limit_change;
begin
  if least(
    set_loss_limits.day_cents, set_loss_limits.week_cents, set_loss_limits.month_cents
  ) < 0 then
    perform core.raise_error('INVALID_REQUEST', 'a limit must not be below 0');
  end if;

  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = v_user_id;
  v_day := risk.change_limit(
    (v_trader.day_limit_cents, v_trader.next_day_limit_cents, v_trader.day_limit_changes_at),
    set_loss_limits.day_cents, set_loss_limits.immediate, v_at
  );
  v_week := risk.change_limit(
    (v_trader.week_limit_cents, v_trader.next_week_limit_cents, v_trader.week_limit_changes_at),
    set_loss_limits.week_cents, set_loss_limits.immediate, v_at
  );
  v_month := risk.change_limit(
    (
      v_trader.month_limit_cents, v_trader.next_month_limit_cents,
      v_trader.month_limit_changes_at
    ),
    set_loss_limits.month_cents, set_loss_limits.immediate, v_at
  );
  update trading.traders as t set
    limits_reviewed_at = coalesce(t.limits_reviewed_at, v_at),
    day_limit_cents = v_day.limit_cents,
    next_day_limit_cents = v_day.next_limit_cents,
    day_limit_changes_at = v_day.changes_at,
    week_limit_cents = v_week.limit_cents,
    next_week_limit_cents = v_week.next_limit_cents,
    week_limit_changes_at = v_week.changes_at,
    month_limit_cents = v_month.limit_cents,
    next_month_limit_cents = v_month.next_limit_cents,
    month_limit_changes_at = v_month.changes_at
  where t.user_id = v_user_id;

  perform admin.audit('set_loss_limits', jsonb_build_object(
    'user_id', set_loss_limits.user_id,
    'day_cents', set_loss_limits.day_cents,
    'week_cents', set_loss_limits.week_cents,
    'month_cents', set_loss_limits.month_cents,
    'immediate', set_loss_limits.immediate
  ));
end
$$;

comment on function admin.set_loss_limits(uuid, bigint, bigint, bigint, boolean) is
  'Sets a user''s loss limits, null for none, and marks them as reviewed. Lowering holds at once, '
  'raising and removing after 24 hours, unless immediate. Errors: INVALID_REQUEST, NOT_FOUND. '
  'Locks: the user.';
--! EndIncluded admin/functions/set_loss_limits.sql
--! Included admin/functions/self_exclude.sql
create or replace function admin.self_exclude(
  user_id uuid, until timestamptz default 'infinity'
)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cancelled int := risk.exclude(self_exclude.user_id, self_exclude.until);
begin
  perform admin.audit('self_exclude', jsonb_build_object(
    'user_id', self_exclude.user_id,
    'until', self_exclude.until
  ));
  return v_cancelled;
end
$$;

comment on function admin.self_exclude(uuid, timestamptz) is
  'Excludes a user from trading until a time and cancels all their open orders (self_excluded); '
  'returns how many. It is the user''s own decision and can''t be undone: to stop an account, use '
  'admin.freeze_user. Errors: NOT_FOUND, INVALID_REQUEST (an earlier end than the one in force). '
  'Locks: the markets of those orders in ascending id, then the user.';
--! EndIncluded admin/functions/self_exclude.sql
--! Included admin/functions/freeze_user.sql
create or replace function admin.freeze_user(
  user_id uuid, reason text, cancel_orders boolean default true
)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_market_ids bigint[] := '{}';
  v_at timestamptz;
  v_cancelled int;
begin
  if freeze_user.reason is null or freeze_user.reason !~ '\S' then
    perform core.raise_error('INVALID_REQUEST', 'a reason is needed');
  end if;
  if freeze_user.cancel_orders is null then
    perform core.raise_error('INVALID_REQUEST', 'cancel_orders must be true or false');
  end if;

  if freeze_user.cancel_orders then
    v_market_ids := trading.lock_user_with_markets(freeze_user.user_id);
  end if;
  v_user_id := identity.lock_user(freeze_user.user_id);
  v_at := core.now();
  update trading.traders as t set
    frozen_at = coalesce(t.frozen_at, v_at),
    -- The login is certain; the name of a key is what the login says.
    frozen_by = session_user || coalesce(
      ' (' || nullif(current_setting('exchange.operator', true), '') || ')', ''
    ),
    frozen_reason = freeze_user.reason
  where t.user_id = v_user_id;
  v_cancelled := trading.clear_orders_of_user(v_user_id, v_market_ids, 'trading_paused', v_at);

  perform admin.audit('freeze_user', jsonb_build_object(
    'user_id', freeze_user.user_id,
    'reason', freeze_user.reason,
    'cancel_orders', freeze_user.cancel_orders,
    'cancelled', v_cancelled
  ));
  return v_cancelled;
end
$$;

comment on function admin.freeze_user(uuid, text, boolean) is
  'Stops an account until admin.unfreeze_user: orders, amendments, splits and withdrawals are '
  'refused (ACCOUNT_FROZEN); cancelling, merging, reading and deposits are not. Cancels the open '
  'orders (trading_paused) and returns how many; with cancel_orders => false they stay and may '
  'still match, and scheduled ones end at their release. Frozen again, an account keeps the time '
  'and takes the new reason. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the markets of those '
  'orders in ascending id, then the user.';
--! EndIncluded admin/functions/freeze_user.sql
--! Included admin/functions/unfreeze_user.sql
create or replace function admin.unfreeze_user(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
begin
  if unfreeze_user.reason is null or unfreeze_user.reason !~ '\S' then
    perform core.raise_error('INVALID_REQUEST', 'a reason is needed');
  end if;

  v_user_id := identity.lock_user(unfreeze_user.user_id);
  update trading.traders as t set
    frozen_at = null,
    frozen_by = null,
    frozen_reason = null
  where t.user_id = v_user_id;
  perform admin.audit('unfreeze_user', jsonb_build_object(
    'user_id', unfreeze_user.user_id,
    'reason', unfreeze_user.reason
  ));
end
$$;

comment on function admin.unfreeze_user(uuid, text) is
  'Ends what admin.freeze_user began; orders that it cancelled stay cancelled. An account that is '
  'not frozen stays as it is. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the user.';
--! EndIncluded admin/functions/unfreeze_user.sql
--! Included admin/functions/cancel_orders.sql
create or replace function admin.cancel_orders(user_id uuid, market_id uuid default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_ids_kept constant int := 1000;
  v_user_id bigint;
  v_market_ids bigint[];
  v_open_order_ids bigint[];
  v_cancelled int;
begin
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = cancel_orders.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', cancel_orders.user_id));
  end if;

  if cancel_orders.market_id is null then
    v_market_ids := trading.lock_user_with_markets(cancel_orders.user_id);
  else
    v_market_ids := array(
      select m.id from catalog.markets as m where m.public_id = cancel_orders.market_id
    );
    if cardinality(v_market_ids) = 0 then
      perform core.raise_error('NOT_FOUND', format('no market %s', cancel_orders.market_id));
    end if;
    perform trading.lock_market(v_market_ids[1]);
  end if;
  v_open_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.user_id = v_user_id and b.market_id = any (v_market_ids)
  );
  v_cancelled := trading.clear_orders_of_user(
    v_user_id, v_market_ids, 'user_cancelled', core.now()
  );

  perform admin.audit('cancel_orders', jsonb_build_object(
    'user_id', cancel_orders.user_id,
    'market_id', cancel_orders.market_id,
    'cancelled', v_cancelled,
    'order_ids', array(
      select o.public_id
      from trading.orders as o
      where o.id = any (v_open_order_ids)
        and o.cancel_reason = 'user_cancelled' -- and not expired
      order by o.id
      limit c_most_ids_kept
    )
  ));
  return v_cancelled;
end
$$;

comment on function admin.cancel_orders(uuid, uuid) is
  'Cancels the open orders of a user (user_cancelled), resting and scheduled ones, in one market '
  'or in all; returns how many. The user is told of each by order_cancelled. Those past their '
  'expiry expire, and don''t count. The audit row has the ids of the first 1,000 cancelled orders, '
  'oldest first. Errors: NOT_FOUND. Locks: the markets of those orders in '
  'ascending id, then the user; with a market_id that market alone.';
--! EndIncluded admin/functions/cancel_orders.sql
--! Included admin/functions/set_trading_pause.sql
create or replace function admin.set_trading_pause(paused boolean, reason text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  update core.settings as s set
    trading_paused = set_trading_pause.paused,
    trading_pause_reason = set_trading_pause.reason,
    trading_paused_at = case
      when set_trading_pause.paused then coalesce(s.trading_paused_at, core.now())
    end;
  perform admin.audit('set_trading_pause', jsonb_build_object(
    'paused', set_trading_pause.paused,
    'reason', set_trading_pause.reason
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_trading_pause(boolean, text) is
  'Pauses trading on the whole site, or ends the pause. Resting orders stay, cancels work. '
  'Paused again, it keeps the time and takes the new reason. admin.trading_pause shows both. '
  'Errors: INVALID_REQUEST. Locks: the row of core.settings, which trading only reads.';
--! EndIncluded admin/functions/set_trading_pause.sql
--! Included admin/functions/set_fee_schedule.sql
create or replace function admin.set_fee_schedule(
  taker_rate_bps int,
  category text default null,
  market_id uuid default null,
  effective_from timestamptz default null
)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_category_id bigint;
  v_market_id bigint;
  v_schedule_id bigint;
begin
  if set_fee_schedule.category is not null and set_fee_schedule.market_id is not null then
    perform core.raise_error('INVALID_REQUEST', 'a schedule is for a category or a market');
  end if;
  if set_fee_schedule.taker_rate_bps is null
    or set_fee_schedule.taker_rate_bps not between 0 and 10000
  then
    perform core.raise_error('INVALID_REQUEST', 'the rate must be from 0 to 10000 bps');
  end if;
  if set_fee_schedule.category is not null then
    v_category_id := catalog.category_id(set_fee_schedule.category);
  end if;
  if set_fee_schedule.market_id is not null then
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = set_fee_schedule.market_id;
    if not found then
      perform core.raise_error('NOT_FOUND', format('no market %s', set_fee_schedule.market_id));
    end if;
  end if;

  insert into trading.fee_schedules (category_id, market_id, taker_rate_bps, effective_from)
  values (
    v_category_id, v_market_id, set_fee_schedule.taker_rate_bps,
    coalesce(set_fee_schedule.effective_from, core.now())
  )
  returning id into v_schedule_id;

  perform admin.audit('set_fee_schedule', jsonb_build_object(
    'schedule_id', v_schedule_id,
    'taker_rate_bps', set_fee_schedule.taker_rate_bps,
    'category', set_fee_schedule.category,
    'market_id', set_fee_schedule.market_id,
    'effective_from', set_fee_schedule.effective_from
  ));
  return v_schedule_id;
end
$$;

comment on function admin.set_fee_schedule(int, text, uuid, timestamptz) is
  'Sets the taker fee of a market, of a category or, with neither, by default, from a time on '
  '(now, when none is given). Returns the id of the schedule. Errors: INVALID_REQUEST, NOT_FOUND.';
--! EndIncluded admin/functions/set_fee_schedule.sql
--! Included admin/functions/refresh_leaderboard.sql
create or replace function admin.refresh_leaderboard()
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  while not leaderboard.refresh() loop
    null; -- a piece at a time, until nothing is left
  end loop;
  perform admin.audit('refresh_leaderboard', '{}');
  return (select s.snapshot_at from leaderboard.state as s);
end
$$;

comment on function admin.refresh_leaderboard() is
  'Brings the leaderboard up to date and returns the time of its snapshot. Locks: the row of '
  'leaderboard.state.';
--! EndIncluded admin/functions/refresh_leaderboard.sql

-- Functions: for the HTTP interface
--! Included api/functions/authenticate.sql
create or replace function api.authenticate(key_hash bytea)
returns table (user_id uuid, api_key_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select u.public_id, k.public_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.key_hash = authenticate.key_hash
    and k.revoked_at is null
$$;

comment on function api.authenticate(bytea) is
  'Whose API key has this SHA-256: one row, or none when it is unknown or revoked.';
--! EndIncluded api/functions/authenticate.sql
--! Included api/functions/record_key_use.sql
create or replace function api.record_key_use(api_key_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update identity.api_keys as k
  set last_used_at = core.now()
  where k.public_id = record_key_use.api_key_id
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute')
$$;

comment on function api.record_key_use(uuid) is
  'Notes that an API key is in use, at most once a minute. Locks: the row of the key.';
--! EndIncluded api/functions/record_key_use.sql
--! Included api/functions/authenticate_staff_key.sql
create or replace function api.authenticate_staff_key(key_hash bytea)
returns table (staff_key_id uuid, name text, role text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.staff_keys as k
  set last_used_at = core.now()
  where k.key_hash = authenticate_staff_key.key_hash
    and k.revoked_at is null
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute');
  return query
  select k.public_id, k.name, k.role
  from identity.staff_keys as k
  where k.key_hash = authenticate_staff_key.key_hash
    and k.revoked_at is null;
end
$$;

comment on function api.authenticate_staff_key(bytea) is
  'Whose staff key has this SHA-256: one row, or none when it is unknown or revoked. Notes that it '
  'is in use, at most once a minute. Locks: the row of the key.';
--! EndIncluded api/functions/authenticate_staff_key.sql
--! Included api/functions/authenticate_session.sql
create or replace function api.authenticate_session(cookie_hash bytea)
returns table (user_id uuid, session_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select u.public_id, s.public_id
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where s.cookie_hash = authenticate_session.cookie_hash
    and s.expires_at > core.now()
$$;

comment on function api.authenticate_session(bytea) is
  'Whose browser has the session cookie with this SHA-256: one row, or none when the session is '
  'unknown, expired or ended.';
--! EndIncluded api/functions/authenticate_session.sql
--! Included api/functions/authenticate_session_token.sql
create or replace function api.authenticate_session_token(token_hash bytea)
returns table (user_id uuid, session_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select u.public_id, s.public_id
  from identity.session_tokens as t
  join identity.sessions as s on s.id = t.session_id
  join identity.users as u on u.id = s.user_id
  where t.token_hash = authenticate_session_token.token_hash
    and t.expires_at > core.now()
$$;

comment on function api.authenticate_session_token(bytea) is
  'Whose session the token with this SHA-256 was made for: one row, or none when it is unknown or '
  'expired, or its session ended.';
--! EndIncluded api/functions/authenticate_session_token.sql
--! Included api/functions/create_session_token.sql
create or replace function api.create_session_token(session_id uuid)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '5 minutes';
  v_token text := identity.new_api_key('jt_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
  v_at timestamptz := core.now();
  v_session identity.sessions;
  v_expires_at timestamptz;
begin
  -- Held, so that the session is still there when the token comes to refer to it.
  select s.* into v_session
  from identity.sessions as s
  where s.public_id = create_session_token.session_id and s.expires_at > v_at
  for key share;
  if not found then
    return null;
  end if;

  delete from identity.session_tokens as t
  where t.session_id = v_session.id and t.expires_at <= v_at;
  v_expires_at := least(v_at + c_valid_for, v_session.expires_at);
  insert into identity.session_tokens (token_hash, session_id, expires_at)
  values (v_token_hash, v_session.id, v_expires_at);
  return json_build_object('token', v_token, 'expiresAt', core.iso8601(v_expires_at));
end
$$;

comment on function api.create_session_token(uuid) is
  'The body of GET /api/auth/token: a new token of the session, good for five minutes and no '
  'longer than the session; null when the session is gone. Expired tokens of the session are '
  'removed. Locks: the session, shared.';
--! EndIncluded api/functions/create_session_token.sql
--! Included api/functions/list_ended_credentials.sql
create or replace function api.list_ended_credentials(credential_ids uuid[])
returns setof uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.id
  from unnest(list_ended_credentials.credential_ids) as i (id)
  where not exists (
    select
    from identity.api_keys as k
    where k.public_id = i.id
      and k.revoked_at is null
  )
  and not exists (
    select
    from identity.sessions as s
    where s.public_id = i.id
      and s.expires_at > core.now()
  )
$$;

comment on function api.list_ended_credentials(uuid[]) is
  'Which of these ids belong neither to an API key that is valid nor to a session that lasts. For '
  'streams, which outlive the check of the request that opened them.';
--! EndIncluded api/functions/list_ended_credentials.sql
--! Included api/functions/take_requests.sql
create or replace function api.take_requests(requests json)
returns table (
  allowed boolean,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_checks rate_limits.checks := rate_limits.read_checks(take_requests.requests);
  v_at timestamptz;
  v_counters rate_limits.counter[];
  v_counter rate_limits.counter;
  v_free bigint[] := '{}';
  v_granted int[] := array_fill(0, array[cardinality(v_checks.buckets)]);
  v_fits boolean;
  v_next int := 1;
  v_end int;
begin
  perform rate_limits.lock_counters(v_checks);
  v_at := core.now();
  v_counters := rate_limits.read_counters(v_checks, v_at);
  foreach v_counter in array v_counters loop
    if v_counter is null then
      perform core.raise_error('NOT_FOUND', 'no such bucket');
    end if;
    v_free := v_free || v_counter.free;
  end loop;

  foreach v_end in array v_checks.ends loop
    allowed := true;
    v_fits := true;
    retry_after_seconds := null;
    for i in v_next .. v_end loop
      if v_free[v_checks.checked[i]] < v_checks.counts[i] then
        allowed := false;
        v_counter := v_counters[v_checks.checked[i]];
        v_fits := v_fits
          and (v_checks.counts[i] = 1
            or v_checks.counts[i] <= rate_limits.most_at_once(v_counter));
        retry_after_seconds := greatest(
          retry_after_seconds,
          rate_limits.retry_after_seconds(
            v_counter, v_granted[v_checks.checked[i]] + v_checks.counts[i], v_at
          )
        );
      end if;
    end loop;
    if not v_fits then
      retry_after_seconds := null;
    end if;

    requests_per_minute := null;
    burst_capacity := null;
    remaining := null;
    for i in v_next .. v_end loop
      -- What one counter refuses is not counted by the others either.
      if allowed then
        v_free[v_checks.checked[i]] := v_free[v_checks.checked[i]] - v_checks.counts[i];
        v_granted[v_checks.checked[i]] := v_granted[v_checks.checked[i]] + v_checks.counts[i];
      end if;
      if v_checks.buckets[v_checks.checked[i]] = 'v1-trading' then
        v_counter := v_counters[v_checks.checked[i]];
        requests_per_minute := (v_counter.policy).requests_per_minute;
        burst_capacity := (v_counter.policy).burst_capacity;
        remaining := v_free[v_checks.checked[i]];
      end if;
    end loop;
    v_next := v_end + 1;
    return next;
  end loop;

  perform rate_limits.record_grants(v_counters, v_granted, v_at);
end
$$;

comment on function api.take_requests(json) is
  'Counts requests, and says of each, in their order, whether it may be answered and otherwise '
  'after how many seconds the same may be asked again. A request is {bucket: subject, ...}: the '
  'buckets of rate_limits.buckets with an address or a user''s id, or v1-trading with a user''s '
  'id. It counts once, or count times where a bucket has {subject, count}. It needs room in all of '
  'them, or is counted in none. What is refused counts nowhere. retry_after_seconds is null where '
  'a request counts more times than there ever is room for. The policy and the whole tokens left '
  'are given for v1-trading. Errors: NOT_FOUND. Locks: the counters.';
--! EndIncluded api/functions/take_requests.sql
--! Included api/functions/open_stream.sql
create or replace function api.open_stream(
  lease_id uuid, address text, user_id uuid default null,
  out is_leased boolean, out is_allowed boolean
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_lease constant interval := interval '30 seconds';
  v_at timestamptz := core.now();
begin
  -- Shared, so that the lease can't be removed as lost while a stream is being counted for it.
  perform from rate_limits.stream_leases as l
  where l.lease_id = open_stream.lease_id
  for key share;
  is_leased := found;
  is_allowed := false;
  if not is_leased then
    return;
  end if;

  -- One opening of an address, and of a user, at a time. Addresses come first.
  perform pg_advisory_xact_lock(hashtextextended('address ' || open_stream.address, 29038));
  if open_stream.user_id is not null then
    perform pg_advisory_xact_lock(hashtextextended('user ' || open_stream.user_id::text, 29038));
  end if;

  is_allowed := not exists (
    select
    from (
      values ('address', open_stream.address), ('user', open_stream.user_id::text)
    ) as h (holder, subject)
    join rate_limits.stream_caps as c on c.holder = h.holder
    cross join lateral (
      select coalesce(sum(s.stream_count), 0) as held
      from rate_limits.open_streams as s
      join rate_limits.stream_leases as l on l.lease_id = s.lease_id
      where s.holder = h.holder
        and s.subject = h.subject
        and l.seen_at > v_at - c_lease
    ) as n
    where h.subject is not null
      and n.held >= c.max_streams
  );
  if not is_allowed then
    return;
  end if;
  perform rate_limits.count_stream(open_stream.lease_id, 'address', open_stream.address, 1);
  if open_stream.user_id is not null then
    perform rate_limits.count_stream(open_stream.lease_id, 'user', open_stream.user_id::text, 1);
  end if;
end
$$;

comment on function api.open_stream(uuid, text, uuid) is
  'Counts an event stream that a server process is about to open for an address and, if it is one '
  'of a user, for the user; unless either of them holds as many as rate_limits.stream_caps says, '
  'in all processes whose lease is valid. is_leased is false, and nothing is counted, when the '
  'lease of the process is not there: api.lease_streams makes another. Locks: the lease, shared; '
  'advisory locks of the address and of the user; their counters. Waits for no market and no user.';
--! EndIncluded api/functions/open_stream.sql
--! Included api/functions/close_stream.sql
create or replace function api.close_stream(
  lease_id uuid, address text, user_id uuid default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held record;
begin
  -- As an opening does, and in its order: of two closings at once each must see the other's count.
  perform pg_advisory_xact_lock(hashtextextended('address ' || close_stream.address, 29038));
  if close_stream.user_id is not null then
    perform pg_advisory_xact_lock(hashtextextended('user ' || close_stream.user_id::text, 29038));
  end if;
  for v_held in
    select h.holder, h.subject
    from (
      values (1, 'address', close_stream.address), (2, 'user', close_stream.user_id::text)
    ) as h (place, holder, subject)
    where h.subject is not null
    order by h.place
  loop
    delete from rate_limits.open_streams as s
    where s.holder = v_held.holder
      and s.subject = v_held.subject
      and s.lease_id = close_stream.lease_id
      and s.stream_count = 1;
    if not found then
      update rate_limits.open_streams as s set stream_count = s.stream_count - 1
      where s.holder = v_held.holder
        and s.subject = v_held.subject
        and s.lease_id = close_stream.lease_id
        and s.stream_count > 1;
    end if;
  end loop;
end
$$;

comment on function api.close_stream(uuid, text, uuid) is
  'Counts a stream no more that api.open_stream has counted. Locks: advisory locks of '
  'the address and of the user; their counters.';
--! EndIncluded api/functions/close_stream.sql
--! Included api/functions/end_stream_lease.sql
create or replace function api.end_stream_lease(lease_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from rate_limits.stream_leases as l where l.lease_id = end_stream_lease.lease_id;
  delete from rate_limits.open_streams as s where s.lease_id = end_stream_lease.lease_id;
$$;

comment on function api.end_stream_lease(uuid) is
  'Ends the lease of a server process and counts its streams no more. Locks: its rows.';
--! EndIncluded api/functions/end_stream_lease.sql
--! Included api/functions/lease_streams.sql
create or replace function api.lease_streams(
  lease_id uuid, streams json default '[]', instead_of uuid default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform api.end_stream_lease(lease_streams.instead_of);
  insert into rate_limits.stream_leases (lease_id, seen_at)
  values (lease_streams.lease_id, core.now());
  insert into rate_limits.open_streams (holder, subject, lease_id, stream_count)
  select h.holder, h.subject, lease_streams.lease_id, count(*)
  from json_to_recordset(lease_streams.streams) as s ("address" text, "userId" uuid)
  cross join lateral (
    values ('address', s."address"), ('user', s."userId"::text)
  ) as h (holder, subject)
  where h.subject is not null
  group by h.holder, h.subject;
end
$$;

comment on function api.lease_streams(uuid, json, uuid) is
  'Begins the lease of a server process, with the streams that it has open: [{address, userId}]. '
  'They count, but are not held against the caps: they are open. instead_of: the lease that it had '
  'before. Locks: nothing that is there but the rows of that lease.';
--! EndIncluded api/functions/lease_streams.sql
--! Included api/functions/renew_stream_lease.sql
create or replace function api.renew_stream_lease(lease_id uuid)
returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  with renewed as (
    update rate_limits.stream_leases as l set seen_at = core.now()
    where l.lease_id = renew_stream_lease.lease_id
    returning l.lease_id
  )
  select exists (select from renewed)
$$;

comment on function api.renew_stream_lease(uuid) is
  'Says that a server process is there, with the streams that it has open; returns false when its '
  'lease is gone. Locks: the lease.';
--! EndIncluded api/functions/renew_stream_lease.sql
--! Included api/functions/get_rate_limits.sql
create or replace function api.get_rate_limits(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'read', json_build_object('limit', b.max_requests, 'windowSeconds', b.window_seconds),
    'trading', json_build_object(
      'tier', (p.policy).tier,
      'requestsPerMinute', (p.policy).requests_per_minute,
      'burstCapacity', (p.policy).burst_capacity,
      'expiresAt', core.iso8601((p.policy).expires_at)
    )
  )
  from rate_limits.buckets as b
  cross join (select rate_limits.policy_of(get_rate_limits.user_id, core.now()) as policy) as p
  where b.bucket = 'v1-user'
$$;

comment on function api.get_rate_limits(uuid) is 'The body of GET /me/rate-limits.';
--! EndIncluded api/functions/get_rate_limits.sql
--! Included api/functions/relay_outbox.sql
-- The outbox is empty whenever it is analyzed: without the settings each event is looked for in all
-- of it, dead rows included.
create or replace function api.relay_outbox()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  c_most_rows constant int := 1000;
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_at constant timestamptz := core.now();
  v_last_id bigint;
  v_done trading.outbox_relay;
  v_moves_on boolean;
  v_sent_id bigint;
  v_count bigint;
begin
  -- The lock that notifying takes is held through the commit: spare it the flush.
  set local synchronous_commit = off;

  -- One at a time, so that the ids of events are in the order of the commits.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Read before this transaction gets its number, and so of transactions with lower ones only:
  -- a transaction that announces has written before, and with that got a number.
  select q.last_value - (not q.is_called)::int into v_last_id
  from trading.outbox_id_seq as q;
  select a.* into v_done
  from trading.outbox_relay as a;
  if not found then
    -- After a crash. No earlier id can be as high, unless there were a million events a second.
    v_done.last_event_id := floor(extract(epoch from v_at) * 1000000)::bigint;
    insert into trading.outbox_relay (sent_through_id, noted_id, noted_xid, last_event_id)
    values (0, 0, pg_current_xact_id(), v_done.last_event_id);
  end if;
  v_moves_on := coalesce(
    v_is_first_write
    and core.all_ended_before(v_done.noted_xid)
    and v_last_id > v_done.sent_through_id,
    false
  );

  with moved as (
    delete from trading.outbox as a
    where a.id in (
      select b.id
      from trading.outbox as b
      where b.id > coalesce(v_done.sent_through_id, 0)
      order by b.id
      limit c_most_rows
    )
    returning a.id, a.channel, a.payload
  ),
  sent as (
    insert into trading.sent_events (id, kind, payload, sent_at)
    select
      v_done.last_event_id + row_number() over (order by m.id), m.channel, m.payload, v_at
    from moved as m
  )
  select count(*), max(m.id) into v_count, v_sent_id
  from moved as m;

  if v_count > 0 or v_moves_on then
    update trading.outbox_relay as a set
      last_event_id = v_done.last_event_id + v_count,
      sent_through_id = case
        when not v_moves_on then a.sent_through_id
        when v_count < c_most_rows then a.noted_id
        else least(a.noted_id, v_sent_id)
      end,
      noted_id = case when v_moves_on then v_last_id else a.noted_id end,
      noted_xid = case when v_moves_on then pg_current_xact_id() else a.noted_xid end;
  end if;
  if v_count > 0 then
    notify pgmarkets_events;
  end if;
  return v_count;
end
$$;

comment on function api.relay_outbox() is
  'The relay of the outbox: moves what committed transactions announced to trading.sent_events, '
  'oldest first, at most 1,000 at a time, and rings by a notification without content on channel '
  'pgmarkets_events; returns how many. Every server process calls it right after a command, and '
  'every 100 ms besides. Locks: an advisory lock of its own, so that there is one call at a time.';
--! EndIncluded api/functions/relay_outbox.sql
--! Included api/functions/read_events.sql
create or replace function api.read_events(after_id bigint default null, most int default 1000)
returns table (id bigint, kind text, payload json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_last_id bigint := coalesce(
    (select a.last_event_id from trading.outbox_relay as a where a.singleton), 0
  );
begin
  if v_last_id = read_events.after_id then
    return;
  end if;
  if v_last_id > read_events.after_id and exists (
    select from trading.sent_events as e where e.id = read_events.after_id + 1
  ) then
    return query
    select e.id, e.kind, e.payload
    from trading.sent_events as e
    where e.id > read_events.after_id
    order by e.id
    limit read_events.most;
  else
    return query select v_last_id, null::text, null::json;
  end if;
end
$$;

comment on function api.read_events(bigint, int) is
  'The events behind an id, oldest first, at most so many; no row if there are none. If the event '
  'right behind that id is not kept any more, if the database has not come that far, or without '
  'an id: one row without kind and payload, whose id is where to go on; events may be missing '
  'before it.';
--! EndIncluded api/functions/read_events.sql
--! Included api/functions/place_orders.sql
-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns setof api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_requests trading.order_request[];
  v_market_ids bigint[];
  v_locked_ids bigint[];
  v_busy boolean[];
  v_markets trading.market_context[];
  v_at timestamptz;
  v_batch trading.matched_batch;
  v_rejections api.result[];
begin
  v_requests := array(select r from trading.read_requests(place_orders.orders) as r);
  if cardinality(v_requests) = 1 then
    v_market_ids := array[(v_requests[1]).market_id];
  else
    v_market_ids := array(
      select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last
    );
  end if;
  v_locked_ids := v_market_ids;
  if place_orders.waits then
    perform trading.lock_markets(v_market_ids);
  else
    v_locked_ids := trading.lock_free_markets(v_market_ids);
    if cardinality(v_locked_ids) < cardinality(v_market_ids) then
      v_busy := array(
        select array_position(v_locked_ids, r.market_id) is null from unnest(v_requests) as r
      );
      v_requests := trading.requests_of_markets(v_requests, v_locked_ids);
    end if;
  end if;
  if v_busy is not null and (place_orders.atomic or cardinality(v_requests) = 0) then
    return query
      select 'MARKET_BUSY', null::text, false, null::text
      from unnest(v_busy);
    return;
  end if;
  if cardinality(v_requests) > 0 then
    v_at := core.now();
    v_markets := trading.read_markets(v_locked_ids, v_at);
    v_batch := trading.match_batch(v_markets, v_requests, v_at);
  end if;

  if place_orders.atomic and cardinality(v_requests) > 0 then
    v_rejections := trading.atomic_rejections(v_batch);
  end if;
  if v_rejections is not null then
    perform trading.clear_way(v_markets, v_requests, v_batch);
    return query select r.* from unnest(v_rejections) as r;
  elsif v_busy is null and cardinality(v_requests) > 0 then
    return query
      select a.* from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a;
  elsif v_busy is not null then
    return query
      select
        case when b.is_busy then 'MARKET_BUSY' else a.code end,
        a.message,
        coalesce(a.replayed, false),
        a.body
      from (
        select
          u.is_busy, u.place, count(*) filter (where not u.is_busy) over (order by u.place) as nth
        from unnest(v_busy) with ordinality as u (is_busy, place)
      ) as b
      left join (
        select x.*
        from trading.order_answers(v_batch, trading.write_batch(v_batch))
          with ordinality as x (code, message, replayed, body, place)
      ) as a on a.place = b.nth and not b.is_busy
      order by b.place;
  end if;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction: match, account, write, announce. One row for '
  'each element of orders, in their order. An element is {marketId, userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its rejection is its row; atomic: if one is rejected, no order is placed, and the rows of the '
  'others have neither code nor body. waits => false: orders of markets whose lock is held are '
  'MARKET_BUSY, and are to be placed again; in an atomic call all of them are. CONFLICT_RETRY: '
  'the call cancelled as many makers as one may, and the request is to be placed again. Locks: the '
  'markets, ascending; then the takers and the makers they can reach, by ascending user id. May '
  'fail as a whole with 40001, 40P01 or 55P03, and is then to be called again.';
--! EndIncluded api/functions/place_orders.sql
--! Included api/functions/preview_order.sql
create or replace function api.preview_order("order" jsonb)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_at constant timestamptz := core.now();
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_rejection core.error_codes;
  v_body json;
begin
  select r.* into strict v_request
  from trading.read_requests(
    jsonb_build_array(preview_order."order" - 'idempotencyKey')
  ) as r;
  v_batch := trading.match_batch(
    trading.read_markets(array[v_request.market_id], v_at), array[v_request], v_at, false
  );
  v_result := (v_batch.result).results[1];
  if v_result.code in ('UNAUTHORIZED', 'CONFLICT_RETRY') then
    return (v_result.code, null, false, null)::api.result;
  end if;
  select e.* into v_rejection
  from core.error_codes as e
  where e.code = v_result.code;

  select json_build_object(
    'status', coalesce(v_result.status::text, 'rejected'),
    'fills', coalesce(f.fills, '[]'),
    'filledQuantity', f.quantity,
    'averagePrice', round(f.cents / nullif(f.quantity, 0)::numeric, 4),
    'costCents', case v_request.order_type when 'buy' then f.cents else -f.cents end,
    'feeCents', f.fee_cents,
    'restingQuantity', case
      when v_result.status in ('open', 'partially_filled') then v_result.left_quantity
      else 0
    end,
    'balanceAfter', coalesce(
      v_result.balance_cents,
      (v_batch.traders).balances_cents[(v_batch.request_arrays).traders[1]]
    ),
    'rejection', case when v_result.code is not null then json_build_object(
      'status', v_rejection.http_status,
      'error', coalesce(
        trading.rejection_message(v_result.code, v_request.problem), v_rejection.message
      ),
      'code', v_rejection.code
    ) end
  )
  into v_body
  from (
    select
      json_agg(
        json_build_object(
          'price', case k.book_side when 'yes' then k.book_price else 100 - k.book_price end,
          'quantity', x.quantity
        )
        order by x.place
      ) as fills,
      coalesce(sum(x.quantity), 0) as quantity,
      coalesce(
        sum(
          x.quantity
          * case v_request.order_type when 'buy' then 100 - k.book_price else k.book_price end
        ),
        0
      ) as cents,
      coalesce(sum(x.fee_cents), 0) as fee_cents
    from unnest((v_batch.result).fills) with ordinality as x (
      request, maker, quantity, fee_cents, place
    )
    cross join lateral (select (v_batch.makers[x.maker]).*) as k
  ) as f;
  return (null, null, false, v_body::text)::api.result;
end
$$;

comment on function api.preview_order(jsonb) is
  'What an order would do if it were placed now, by the engine''s own matching: a JSON object of '
  'status, fills, filledQuantity, averagePrice (of the order''s own side), costCents, feeCents, '
  'restingQuantity, balanceAfter and rejection ({status, error, code} or null). The order is an '
  'element of api.place_orders; its idempotencyKey is ignored. Changes nothing and locks nothing. '
  'Only an unknown user (UNAUTHORIZED) and CONFLICT_RETRY are codes of the result itself.';
--! EndIncluded api/functions/preview_order.sql
--! Included api/functions/amend_order.sql
create or replace function api.amend_order(
  user_id uuid, order_id uuid, price int default null, quantity int default null
)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_problem text := case
    when amend_order.price is null and amend_order.quantity is null
      then 'price: required without quantity'
    when amend_order.price not between 1 and 99 then 'price: must be between 1 and 99'
    when amend_order.quantity not between 1 and 10000
      then 'quantity: must be between 1 and 10000'
  end;
begin
  if v_problem is not null then
    return ('INVALID_REQUEST', v_problem, false, null)::api.result;
  end if;
  return trading.amend_order(
    amend_order.user_id, amend_order.order_id, amend_order.price, amend_order.quantity
  );
end
$$;

comment on function api.amend_order(uuid, uuid, int, int) is
  'Amends an open order of a user: a new price (1-99), a new total quantity (1-10000), or both. '
  'Refusals: those of an order, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE. A refusal changes nothing, but for an order past its expiry, which '
  'expires, and for CONFLICT_RETRY, which cancels makers and is then to be called again. Locks: '
  'the market, then the user and the makers that a new order can reach. May fail with 40001, 40P01 '
  'or 55P03, and is then to be called again.';
--! EndIncluded api/functions/amend_order.sql
--! Included api/functions/cancel_order.sql
create or replace function api.cancel_order(user_id uuid, order_id uuid)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select trading.cancel_order(cancel_order.user_id, cancel_order.order_id)
$$;

comment on function api.cancel_order(uuid, uuid) is
  'Cancels an open order of a user at once. Refusals: ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. '
  'Locks: the market.';
--! EndIncluded api/functions/cancel_order.sql
--! Included api/functions/split_position.sql
create or replace function api.split_position(user_id uuid, market_id uuid, quantity int)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select trading.split_position(
    split_position.user_id, split_position.market_id, split_position.quantity
  )
$$;

comment on function api.split_position(uuid, uuid, int) is
  'Makes complete sets of YES and NO for a user out of 100 cents each. Refusals, in order: '
  'INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
  'LIMITS_SETUP_REQUIRED, MARKET_NOT_FOUND, MARKET_NOT_OPEN, INSUFFICIENT_BALANCE, LOSS_LIMIT. '
  'Locks: the market, then the user.';
--! EndIncluded api/functions/split_position.sql
--! Included api/functions/merge_position.sql
create or replace function api.merge_position(user_id uuid, market_id uuid, quantity int)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select trading.merge_position(
    merge_position.user_id, merge_position.market_id, merge_position.quantity
  )
$$;

comment on function api.merge_position(uuid, uuid, int) is
  'Gives complete sets of YES and NO of a user back for 100 cents each. Refusals, in order: '
  'INVALID_REQUEST, UNAUTHORIZED, MARKET_NOT_FOUND, MARKET_NOT_OPEN '
  '(resolved), INSUFFICIENT_BALANCE. Locks: the market, then the user.';
--! EndIncluded api/functions/merge_position.sql
--! Included api/functions/list_orders.sql
create or replace function api.list_orders(
  user_id uuid, market_id uuid default null, status text default 'open'
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_rows constant int := 200;
  v_at timestamptz := core.now();
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_orders.user_id
  );
  v_market_id bigint;
  v_ids bigint[];
  v_total bigint;
begin
  if list_orders.status not in ('open', 'scheduled', 'filled', 'cancelled', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if list_orders.market_id is not null then
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = list_orders.market_id;
    v_market_id := coalesce(v_market_id, 0);
  end if;

  if list_orders.status in ('open', 'scheduled') then
    v_ids := array(
      select b.order_id
      from trading.active_orders as b
      where b.user_id = v_user_id
        and (v_market_id is null or b.market_id = v_market_id)
        and (list_orders.status = 'open' or b.queue_position is null)
        and (b.expires_at is null or b.expires_at > v_at)
      order by b.order_id desc
      limit c_most_rows
    );
  else
    v_ids := array(
      select o.id
      from trading.orders as o
      where o.user_id = v_user_id
        and (v_market_id is null or o.market_id = v_market_id)
        and (list_orders.status = 'all' or o.status = list_orders.status::trading.order_status)
      order by o.id desc
      limit c_most_rows
    );
    if list_orders.status in ('cancelled', 'all') then
      v_ids := array(
        select x.id
        from (
          select u.id from unnest(v_ids) as u (id)
          union all
          (
            select a.id
            from trading.archived_orders as a
            where a.user_id = v_user_id
              and (v_market_id is null or a.market_id = v_market_id)
            order by a.id desc
            limit c_most_rows
          )
        ) as x
        order by x.id desc
        limit c_most_rows
      );
    end if;
  end if;
  if list_orders.status in ('cancelled', 'all') then
    v_total := (
      select count(*)
      from trading.orders as o
      where o.user_id = v_user_id
        and (v_market_id is null or o.market_id = v_market_id)
        and (list_orders.status = 'all' or o.status = 'cancelled')
    ) + (
      select count(*)
      from trading.archived_orders as a
      where a.user_id = v_user_id
        and (v_market_id is null or a.market_id = v_market_id)
    );
  end if;

  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          trading.listed_order_object(o, a.shares_ahead, v_at) order by o.id desc
        ),
        '[]'
      ),
      'meta', case
        when v_total is null then json_build_object('pageSize', count(*))
        else json_build_object('pageSize', count(*), 'total', v_total)
      end
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    left join trading.shares_ahead(v_ids, v_at) as a on a.order_id = o.id
  );
end
$$;

comment on function api.list_orders(uuid, uuid, text) is
  'The body of GET /orders: a user''s orders, newest first, at most 200, of one market or all. '
  'status: open (scheduled and resting ones not past their expiry), scheduled, filled, cancelled '
  'or all; meta.total comes with the last two, and both have archived orders too.';
--! EndIncluded api/functions/list_orders.sql
--! Included api/functions/get_order.sql
create or replace function api.get_order(user_id uuid, order_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select trading.listed_order_object(o, a.shares_ahead, n.at)
  from core.now() as n (at)
  cross join trading.find_order(get_order.user_id, get_order.order_id) as o
  left join lateral trading.shares_ahead(array[o.id], n.at) as a on true
$$;

comment on function api.get_order(uuid, uuid) is
  'The body of GET /orders/:id: a user''s order in the form of the list, archived or not, or null. '
  'Cost of sharesAhead: the queue before the order.';
--! EndIncluded api/functions/get_order.sql
--! Included api/functions/get_account.sql
create or replace function api.get_account(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'id', u.public_id,
    'displayName', u.display_name,
    'email', u.email,
    'balance', t.balance_cents,
    'createdAt', core.iso8601(u.created_at)
  )
  from identity.users as u
  join trading.traders as t on t.user_id = u.id
  where u.public_id = get_account.user_id
$$;

comment on function api.get_account(uuid) is 'The body of GET /me.';
--! EndIncluded api/functions/get_account.sql
--! Included api/functions/list_account_orders.sql
create or replace function api.list_account_orders(
  user_id uuid, status text, page int, page_size int
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_offset bigint := (list_account_orders.page - 1)::bigint * list_account_orders.page_size;
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_account_orders.user_id
  );
  v_ids bigint[];
  v_total bigint;
begin
  if list_account_orders.status not in ('open', 'filled', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;

  if list_account_orders.status = 'open' then
    v_total := (
      select count(*)
      from trading.active_orders as b
      where b.user_id = v_user_id
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > v_at)
    );
    if v_offset < v_total then
      v_ids := array(
        select b.order_id
        from trading.active_orders as b
        where b.user_id = v_user_id
          and b.queue_position is not null
          and (b.expires_at is null or b.expires_at > v_at)
        order by b.order_id desc
        limit list_account_orders.page_size
        offset v_offset
      );
    end if;
  else
    v_total := (
      select count(*)
      from trading.orders as o
      where o.user_id = v_user_id
        and (list_account_orders.status = 'all' or o.status = 'filled')
    ) + (
      select count(*)
      from trading.archived_orders as a
      where a.user_id = v_user_id
        and list_account_orders.status = 'all'
    );
    if v_offset < v_total then
      v_ids := array(
        select x.id
        from (
          (
            select o.id
            from trading.orders as o
            where o.user_id = v_user_id
              and (list_account_orders.status = 'all' or o.status = 'filled')
            order by o.id desc
            limit v_offset + list_account_orders.page_size
          )
          union all
          (
            select a.id
            from trading.archived_orders as a
            where a.user_id = v_user_id
              and list_account_orders.status = 'all'
            order by a.id desc
            limit v_offset + list_account_orders.page_size
          )
        ) as x
        order by x.id desc
        limit list_account_orders.page_size
        offset v_offset
      );
    end if;
  end if;

  return (
    select core.page_object(
      json_agg(
        json_build_object(
          'id', o.public_id,
          'userId', list_account_orders.user_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'status', o.status,
          'orderType', o.order_type,
          'createdAt', core.iso8601(o.created_at),
          'expiresAt', core.iso8601(o.expires_at)
        )
        order by o.id desc
      ),
      v_total,
      list_account_orders.page,
      list_account_orders.page_size
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    join catalog.markets as m on m.id = o.market_id
  );
end
$$;

comment on function api.list_account_orders(uuid, text, int, int) is
  'The body of GET /me/orders: a user''s orders, newest first. status: open (resting and not past '
  'their expiry), filled, or all, archived ones included; page counts from 1. Cost: the total '
  'reads an index entry or row for each of the user''s orders, a page those that are newer; one '
  'beyond the end reads none. Errors: INVALID_REQUEST.';
--! EndIncluded api/functions/list_account_orders.sql
--! Included api/functions/get_portfolio.sql
create or replace function api.get_portfolio(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_orders constant int := 200;
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_balance_cents bigint;
  v_order_ids bigint[];
begin
  select t.user_id, t.balance_cents into v_user_id, v_balance_cents
  from trading.traders as t
  where t.public_id = get_portfolio.user_id;

  v_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.user_id = v_user_id
      and (b.expires_at is null or b.expires_at > v_at)
    order by b.order_id desc
    limit c_most_orders
  );

  return json_build_object(
    'balance', v_balance_cents,
    'positions', (
      select coalesce(
        json_agg(
          trading.position_object(p, m, b.last_trade_price)
          order by m.close_time nulls last, m.id, p.side
        ),
        '[]'
      )
      from trading.positions as p
      join catalog.markets as m on m.id = p.market_id
      join trading.market_state as b on b.market_id = m.id
      where p.user_id = v_user_id
        and p.quantity > 0
    ),
    'openOrders', (
      select coalesce(json_agg(trading.open_order_object(o) order by o.id desc), '[]')
      from trading.orders as o
      where o.id = any (v_order_ids)
    )
  );
end
$$;

comment on function api.get_portfolio(uuid) is
  'The body of GET /me/portfolio: cash, positions with shares by the close time of their market, '
  'open orders not past their expiry, newest first, at most 200.';
--! EndIncluded api/functions/get_portfolio.sql
--! Included api/functions/list_categories.sql
create or replace function api.list_categories()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(json_build_object('slug', c.slug, 'name', c.name) order by c."position", c.id), '[]'
  ))
  from catalog.categories as c
$$;

comment on function api.list_categories() is 'The body of GET /categories, in display order.';
--! EndIncluded api/functions/list_categories.sql
--! Included api/functions/list_events.sql
create or replace function api.list_events(category text, page int, page_size int)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.page_object(
    e.events, c.event_count, list_events.page, list_events.page_size
  )
  from catalog.categories as c
  cross join lateral (
    select json_agg(
      json_build_object(
        'id', p.public_id,
        'title', p.title,
        'description', p.description,
        'category', c.slug,
        'startsAt', core.iso8601(p.starts_at),
        'endsAt', core.iso8601(p.ends_at),
        'createdAt', core.iso8601(p.created_at),
        'thumbnailId', p.thumbnail_id,
        'thumbnailUrl', p.thumbnail_url
      )
      order by p.id desc
    ) as events
    from (
      select e.*
      from catalog.events as e
      where e.category_id = c.id
      order by e.id desc
      limit list_events.page_size
      offset (list_events.page - 1)::bigint * list_events.page_size
    ) as p
  ) as e
  where c.slug = list_events.category
$$;

comment on function api.list_events(text, int, int) is
  'The body of GET /categories/:slug/events, newest first, or null for an unknown category. page '
  'counts from 1.';
--! EndIncluded api/functions/list_events.sql
--! Included api/functions/get_event.sql
create or replace function api.get_event(event_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'id', e.public_id,
    'title', e.title,
    'description', e.description,
    'category', c.slug,
    'startsAt', core.iso8601(e.starts_at),
    'endsAt', core.iso8601(e.ends_at),
    'createdAt', core.iso8601(e.created_at),
    'thumbnailId', e.thumbnail_id,
    'thumbnailUrl', e.thumbnail_url,
    'markets', coalesce(n.markets, '[]')
  )
  from catalog.events as e
  join catalog.categories as c on c.id = e.category_id
  cross join lateral (
    select json_agg(
      json_build_object(
        'id', m.public_id,
        'title', m.title,
        'description', m.description,
        'status', m.status,
        'lastTradePrice', b.last_trade_price,
        'yesVolume', b.yes_volume_cents,
        'noVolume', b.no_volume_cents,
        'closeTime', core.iso8601(m.close_time),
        'resolvedOutcome', m.resolved_outcome,
        'thumbnailId', m.thumbnail_id,
        'thumbnailUrl', m.thumbnail_url
      )
      order by m.id
    ) as markets
    from catalog.markets as m
    join trading.market_state as b on b.market_id = m.id
    where m.event_id = e.id
  ) as n
  where e.public_id = get_event.event_id
$$;

comment on function api.get_event(uuid) is
  'The body of GET /events/:id, with the event''s markets in the order of their creation, or null '
  'for an unknown event.';
--! EndIncluded api/functions/get_event.sql
--! Included api/functions/list_category_markets.sql
create or replace function api.list_category_markets(
  category text, status text, page int, page_size int
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offset bigint := (list_category_markets.page - 1)::bigint * list_category_markets.page_size;
  v_category catalog.categories;
  v_ids bigint[];
begin
  if list_category_markets.status not in ('open', 'closed') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  select c.* into v_category
  from catalog.categories as c
  where c.slug = list_category_markets.category;
  if not found then
    return null;
  end if;

  if list_category_markets.status = 'open' then
    v_ids := array(
      select m.id
      from catalog.markets as m
      where m.category_id = v_category.id
        and m.status = 'open'
      order by m.id desc
      limit list_category_markets.page_size
      offset v_offset
    );
  else
    v_ids := array(
      select m.id
      from catalog.markets as m
      where m.category_id = v_category.id
        and m.status in ('closed', 'resolved')
      order by m.id desc
      limit list_category_markets.page_size
      offset v_offset
    );
  end if;

  return (
    select core.page_object(
      json_agg(
        json_build_object(
          'id', m.public_id,
          'title', m.title,
          'description', m.description,
          'category', v_category.slug,
          'status', m.status,
          'eventId', e.public_id,
          'lastTradePrice', b.last_trade_price,
          'yesVolume', b.yes_volume_cents,
          'noVolume', b.no_volume_cents,
          'closeTime', core.iso8601(m.close_time),
          'createdAt', core.iso8601(m.created_at),
          'resolvedOutcome', m.resolved_outcome,
          'thumbnailId', m.thumbnail_id,
          'thumbnailUrl', m.thumbnail_url
        )
        order by m.id desc
      ),
      case list_category_markets.status
        when 'open' then v_category.open_market_count
        else v_category.closed_market_count
      end,
      list_category_markets.page,
      list_category_markets.page_size
    )
    from catalog.markets as m
    join trading.market_state as b on b.market_id = m.id
    left join catalog.events as e on e.id = m.event_id
    where m.id = any (v_ids)
  );
end
$$;

comment on function api.list_category_markets(text, text, int, int) is
  'The body of GET /categories/:slug/markets, newest first, or null for an unknown category. '
  'status: open, or closed for closed and resolved ones; page counts from 1. Errors: '
  'INVALID_REQUEST.';
--! EndIncluded api/functions/list_category_markets.sql
--! Included api/functions/get_market.sql
create or replace function api.get_market(market_id uuid)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    json_build_object(
      'id', m.public_id,
      'title', m.title,
      'description', m.description,
      'category', c.slug,
      'status', m.status,
      'eventId', e.public_id,
      'bestBid', trading.best_price(m.id, 'yes', v_at),
      'bestAsk', 100 - trading.best_price(m.id, 'no', v_at),
      'lastTradePrice', b.last_trade_price,
      'yesVolume', b.yes_volume_cents,
      'noVolume', b.no_volume_cents,
      'closeTime', core.iso8601(m.close_time),
      'createdAt', core.iso8601(m.created_at),
      'resolvedOutcome', m.resolved_outcome,
      'thumbnailId', m.thumbnail_id,
      'thumbnailUrl', m.thumbnail_url
    )
  from catalog.markets as m
  join catalog.categories as c on c.id = m.category_id
  left join catalog.events as e on e.id = m.event_id
  join trading.market_state as b on b.market_id = m.id
  where m.public_id = get_market.market_id;
end
$$;

comment on function api.get_market(uuid) is
  'The body of GET /markets/:id and the version of the market; no row for an unknown market.';
--! EndIncluded api/functions/get_market.sql
--! Included api/functions/get_order_book.sql
create or replace function api.get_order_book(market_id uuid)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    json_build_object(
      'bids', coalesce(
        json_agg(
          json_build_object('price', d.book_price, 'quantity', d.quantity)
          order by d.book_price desc
        ) filter (where d.book_side = 'yes'),
        '[]'
      ),
      'asks', coalesce(
        json_agg(
          json_build_object('price', 100 - d.book_price, 'quantity', d.quantity)
          order by d.book_price desc
        ) filter (where d.book_side = 'no'),
        '[]'
      )
    )
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join lateral trading.depth(m.id, v_at) as d on true
  where m.public_id = get_order_book.market_id
  group by b.version;
end
$$;

comment on function api.get_order_book(uuid) is
  'The body of GET /markets/:id/orderbook, in YES prices, and the version of the market; no row '
  'for an unknown market.';
--! EndIncluded api/functions/get_order_book.sql
--! Included api/functions/list_trades.sql
create or replace function api.list_trades(market_id uuid, page int, page_size int)
returns table (version bigint, body json)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    b.version,
    core.page_object(t.trades, b.trade_count, list_trades.page, list_trades.page_size)
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  cross join lateral (
    select json_agg(
      json_build_object(
        'id', p.public_id,
        'price', p.price,
        'quantity', p.quantity,
        'createdAt', core.iso8601(p.created_at)
      )
      order by p.id desc
    ) as trades
    from (
      select x.id, x.public_id, x.price, x.quantity, x.created_at
      from (
        -- Of the pages before this one only the index is read, and of those after the end nothing.
        select t.id
        from trading.trades as t
        where t.market_id = m.id
        order by t.id desc
        limit case
          when (list_trades.page - 1)::bigint * list_trades.page_size < b.trade_count
          then list_trades.page_size
          else 0
        end
        offset (list_trades.page - 1)::bigint * list_trades.page_size
      ) as i
      cross join lateral (
        select t.* from trading.trades as t where t.id = i.id limit 1
      ) as x
    ) as p
  ) as t
  where m.public_id = list_trades.market_id
$$;

comment on function api.list_trades(uuid, int, int) is
  'The body of GET /markets/:id/trades, newest first, and the version of the market; no row for '
  'an unknown market. page counts from 1; a page costs an entry of an index for each trade that is '
  'newer.';
--! EndIncluded api/functions/list_trades.sql
--! Included api/functions/get_market_snapshot.sql
-- Without sequential scans every look-up goes by a key, also in plans made on empty tables.
create or replace function api.get_market_snapshot(market_id uuid)
returns table (version bigint, body text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_most_trades constant int := 50;
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    format(
      '{"orderBook":{"yesBids":[%s],"noBids":[%s]},"recentTrades":[%s],"tradersCount":%s}',
      d.yes_bids, d.no_bids, t.trades, b.traders_count
    )
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  cross join lateral (
    select
      string_agg(l.level, ',' order by l.book_price desc)
        filter (where l.book_side = 'yes') as yes_bids,
      string_agg(l.level, ',' order by l.book_price desc)
        filter (where l.book_side = 'no') as no_bids
    from (
      select
        s.book_side,
        s.book_price,
        format('{"price":%s,"quantity":%s}', s.book_price, s.quantity) as level
      from trading.depth(m.id, v_at) as s
    ) as l
  ) as d
  cross join lateral (
    select string_agg(
      format(
        '{"price":%s,"quantity":%s,"createdAt":"%s","takerName":%s,"takerHandle":%s,'
        '"takerPrivate":%s,"side":"%s"}',
        r.price, r.quantity, core.iso8601(r.created_at), u.name, u.handle, u.private, r.taker_side
      ),
      ',' order by r.id desc
    ) as trades
    from (
      select s.id, s.price, s.quantity, s.created_at, s.taker_user_id, s.taker_side
      from trading.trades as s
      where s.market_id = m.id
      order by s.id desc
      limit c_most_trades
    ) as r
    cross join lateral (
      select
        case when s.private then 'null' else to_json(s.display_name)::text end as name,
        case when s.private then 'null' else to_json(s.handle)::text end as handle,
        to_json(s.private)::text as private
      from identity.users as s
      where s.id = r.taker_user_id
      limit 1
    ) as u
  ) as t
  where m.public_id = get_market_snapshot.market_id;
end
$$;

comment on function api.get_market_snapshot(uuid) is
  'A frame of the market stream: depth by stored side and price, the 50 latest trades and the '
  'number of traders, as JSON text on one line, and the version of the market that it shows. No '
  'row for an unknown market. Names of takers with private profiles are null.';
--! EndIncluded api/functions/get_market_snapshot.sql
--! Included api/functions/get_leaderboard.sql
create or replace function api.get_leaderboard(category text, "window" text, most int)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select json_build_object(
    'category', get_leaderboard.category,
    'window', get_leaderboard."window",
    'entries', (
      select coalesce(
        json_agg(
          case
            when u.private or u.leaderboard_opt_out
              then json_build_object('isPrivate', true, 'rank', p.rank)
            else leaderboard.entry_object(p.standing, u, p.rank)
          end
          order by p.rank
        ),
        '[]'
      )
      from (
        select
          s as standing,
          s.user_id,
          row_number() over (
            order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
          ) as rank
        from leaderboard.standings as s
        where s.category_id = c.id
          and s.window_kind = get_leaderboard."window"::leaderboard.window_kind
          and exists (select from leaderboard.state as x where x.snapshot_at is not null)
        order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
        limit get_leaderboard.most
      ) as p
      join identity.users as u on u.id = p.user_id
    )
  )
  from leaderboard.category_id(get_leaderboard.category) as c (id)
  where c.id is not null
$$;

comment on function api.get_leaderboard(text, text, int) is
  'The body of GET /leaderboard: the first ranks of a window, as of the last refresh, with the '
  'profiles as they are now; or null for an unknown category.';
--! EndIncluded api/functions/get_leaderboard.sql
--! Included api/functions/get_leaderboard_summary.sql
create or replace function api.get_leaderboard_summary(category text, "window" text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_category_id constant bigint := leaderboard.category_id(get_leaderboard_summary.category);
  v_window_kind constant leaderboard.window_kind :=
    get_leaderboard_summary."window"::leaderboard.window_kind;
  v_state leaderboard.state;
  v_ranked_count bigint;
  v_summary leaderboard.summaries;
  v_median leaderboard.standings;
  v_win leaderboard.wins;
begin
  if v_category_id is null then
    return null;
  end if;
  select x.* into strict v_state
  from leaderboard.state as x;

  if v_state.snapshot_at is not null then
    select coalesce(sum(b.trader_count), 0)::bigint into v_ranked_count
    from leaderboard.bands as b
    where b.category_id = v_category_id
      and b.window_kind = v_window_kind;
    select y.* into v_summary
    from leaderboard.summaries as y
    where y.category_id = v_category_id
      and y.window_kind = v_window_kind;
    v_median := leaderboard.standing_at(v_category_id, v_window_kind, v_ranked_count / 2 + 1);
    v_win := leaderboard.biggest_win(v_category_id, v_window_kind, v_state.day);
  end if;

  return json_build_object(
    'category', get_leaderboard_summary.category,
    'window', get_leaderboard_summary."window",
    'traderCount', case
      when v_state.snapshot_at is null then 0
      else leaderboard.public_trader_count(v_category_id, v_window_kind)
    end,
    'totalVolumeCents', coalesce(v_summary.volume_cents, 0),
    'openInterestCents', coalesce(
      (
        select o.open_interest_cents
        from leaderboard.open_interest as o
        where o.category_id = v_category_id
          and v_state.snapshot_at is not null
      ),
      0
    ),
    'topTrader', (
      select leaderboard.trader_object(u, s.pl_cents)
      from leaderboard.standings as s
      join identity.users as u on u.id = s.user_id
      where s.category_id = v_category_id
        and s.window_kind = v_window_kind
        and not (u.private or u.leaderboard_opt_out)
        and v_state.snapshot_at is not null
      order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
      limit 1
    ),
    'biggestSingleWin', (
      select json_build_object(
        'userId', u.public_id,
        'handle', u.handle,
        'displayName', u.display_name,
        'avatarUrl', u.avatar_url,
        'marketId', m.public_id,
        'marketTitle', m.title,
        'eventId', e.public_id,
        'eventTitle', e.title,
        'plCents', v_win.realised_cents
      )
      from catalog.markets as m
      join identity.users as u on u.id = v_win.user_id
      left join catalog.events as e on e.id = m.event_id
      where m.id = v_win.market_id
    ),
    'medianTrader', case when v_median.user_id is not null then json_build_object(
      'plCents', v_median.pl_cents,
      'winRate', case when v_summary.settled_trader_count > 0 then
        leaderboard.share(v_median.win_count, v_median.settled_count)
      end,
      'settledCount', v_median.settled_count
    ) end,
    'snapshotAt', core.iso8601(v_state.snapshot_at)
  );
end
$$;

comment on function api.get_leaderboard_summary(text, text) is
  'The body of GET /leaderboard/summary, as of the last refresh, with the profiles as they are '
  'now; or null for an unknown category. Costs the same however many traders are ranked.';
--! EndIncluded api/functions/get_leaderboard_summary.sql
--! Included api/functions/get_own_standing.sql
create or replace function api.get_own_standing(user_id uuid, category text, "window" text)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select json_build_object(
    'self', (
      select leaderboard.entry_object(s, u, leaderboard.rank_of(s))
      from identity.users as u
      join leaderboard.standings as s
        on s.user_id = u.id
        and s.category_id = c.id
        and s.window_kind = get_own_standing."window"::leaderboard.window_kind
      where u.public_id = get_own_standing.user_id
        and exists (select from leaderboard.state as x where x.snapshot_at is not null)
    )
  )
  from leaderboard.category_id(get_own_standing.category) as c (id)
  where c.id is not null
$$;

comment on function api.get_own_standing(uuid, text, text) is
  'The body of GET /leaderboard/me: the caller''s entry, complete whatever their profile says, or '
  'null in its place when they realised nothing in the window; or null for an unknown category.';
--! EndIncluded api/functions/get_own_standing.sql
--! Included api/functions/get_metrics.sql
create or replace function api.get_metrics()
returns table (
  server_version text,
  schema_version text,
  trading_paused boolean,
  trades bigint,
  pending_announcements bigint,
  release_lateness_seconds double precision,
  expiry_lateness_seconds double precision,
  waiting_jobs bigint,
  oldest_job_lateness_seconds double precision,
  verification_age_seconds double precision,
  broken_invariants bigint,
  notification_queue_usage double precision,
  waiting_locks bigint,
  longest_lock_wait_seconds double precision,
  connections bigint,
  max_connections bigint,
  deadlocks bigint,
  transaction_id_age bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_counted constant int := 10000;
  v_now timestamptz := core.now();
begin
  server_version := current_setting('server_version');
  if core.can_read('graphile_migrate', 'migrations') then
    execute 'select max(m.filename) from graphile_migrate.migrations as m' into schema_version;
  end if;

  select s.trading_paused into trading_paused from core.settings as s;

  -- The trades themselves are not counted: each market counts its own.
  select coalesce(sum(s.trade_count), 0)::bigint into trades
  from trading.market_state as s;

  select count(*) into pending_announcements
  from (select from trading.outbox limit c_most_counted) as a;

  select greatest(0, extract(epoch from v_now - min(o.release_at))) into release_lateness_seconds
  from trading.active_orders as o
  where o.queue_position is null;
  select greatest(0, extract(epoch from v_now - min(o.expires_at))) into expiry_lateness_seconds
  from trading.active_orders as o
  where o.expires_at is not null;
  release_lateness_seconds := coalesce(release_lateness_seconds, 0);
  expiry_lateness_seconds := coalesce(expiry_lateness_seconds, 0);

  if core.can_read('graphile_worker', '_private_jobs') then
    execute
      'select count(*), coalesce(extract(epoch from now() - min(j.run_at)), 0)
       from (
         select q.run_at
         from graphile_worker._private_jobs as q
         where q.is_available and q.run_at <= now()
         limit $1
       ) as j'
    into waiting_jobs, oldest_job_lateness_seconds
    using c_most_counted;
  end if;

  select extract(epoch from v_now - v.finished_at), v.broken_count
  into verification_age_seconds, broken_invariants
  from ledger.verifications as v
  order by v.id desc
  limit 1;

  notification_queue_usage := pg_notification_queue_usage();

  -- Unlike pg_stat_activity, it shows the sessions of others to everybody.
  select count(*), coalesce(extract(epoch from clock_timestamp() - min(l.waitstart)), 0)
  into waiting_locks, longest_lock_wait_seconds
  from pg_catalog.pg_locks as l
  where not l.granted;

  select d.numbackends, d.deadlocks into connections, deadlocks
  from pg_catalog.pg_stat_database as d
  where d.datname = current_database();
  max_connections := current_setting('max_connections')::bigint;

  select age(d.datfrozenxid) into transaction_id_age
  from pg_catalog.pg_database as d
  where d.datname = current_database();

  return next;
end
$$;

comment on function api.get_metrics() is
  'One row of figures for monitoring, none of which reads more than a row of each market: how late '
  'the oldest order is that should have been released or expired by now (0: none is due), how '
  'long ago the ledger was last verified and what was broken (null: never), what PostgreSQL '
  'itself is short of. pending_announcements and waiting_jobs stop counting at 10,000; without '
  'the queue of jobs the latter is null.';
--! EndIncluded api/functions/get_metrics.sql

-- Functions: for the worker
--! Included jobs/functions/next_due.sql
create or replace function jobs.next_due(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_at timestamptz := core.now();
begin
  release_in_ms := 1000 * extract(epoch from (
    select b.release_at
    from trading.active_orders as b
    where b.queue_position is null
      and b.market_id <> all (next_due.passing_over)
    order by b.release_at
    limit 1
  ) - v_at);
  expire_in_ms := 1000 * extract(epoch from (
    select b.expires_at
    from trading.active_orders as b
    cross join lateral (
      select x.close_time
      from catalog.markets as x
      where x.id = b.market_id
      limit 1
    ) as m
    where b.expires_at is not null
      and b.queue_position is not null
      and (m.close_time is null or b.expires_at < m.close_time)
      and b.market_id <> all (next_due.passing_over)
    order by b.expires_at
    limit 1
  ) - v_at);
  close_in_ms := 1000 * extract(epoch from (
    select m.close_time
    from catalog.markets as m
    where m.status in ('open', 'paused')
      and m.close_time is not null
      and m.id <> all (next_due.passing_over)
    order by m.close_time
    limit 1
  ) - v_at);
end
$$;

comment on function jobs.next_due(bigint[]) is
  'In how many milliseconds the next scheduled order is to be released, the next resting one '
  'expires and the next market closes; below 0 when it is overdue, null when there is none. '
  'The markets to pass over don''t count. Locks: none.';
--! EndIncluded jobs/functions/next_due.sql
--! Included jobs/functions/due_releases.sql
create or replace function jobs.due_releases(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select d.market_id
  from (
    select b.market_id, b.release_at
    from trading.active_orders as b
    where b.queue_position is null
      and b.release_at <= (select core.now())
      and b.market_id <> all (due_releases.passing_over)
    order by b.release_at
    limit due_releases.most
  ) as d
  group by d.market_id
  order by min(d.release_at)
$$;

comment on function jobs.due_releases(int, bigint[]) is
  'The markets of the scheduled orders whose release is due, those that have waited longest '
  'first; of so many orders at most, and none of the markets to pass over. Locks: none.';
--! EndIncluded jobs/functions/due_releases.sql
--! Included jobs/functions/release_orders.sql
create or replace function jobs.release_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
begin
  if not trading.try_lock_market(release_orders.market_id, release_orders.waits) then
    return null;
  end if;
  return trading.release_orders(release_orders.market_id, release_orders.most);
end
$$;

comment on function jobs.release_orders(bigint, int, boolean) is
  'Releases what is due of the scheduled orders of a market, at most so many, in the order of '
  'their release time; returns how many. Null when the market is locked: passed over, at once or, '
  'if it waits, after 250 ms. May fail with 40001, 40P01 or 55P03, and is then to be called again. '
  'Locks: the market, if it is free; then the users of the orders and the makers they can reach, '
  'for each of whom it waits 250 ms at most.';
--! EndIncluded jobs/functions/release_orders.sql
--! Included jobs/functions/due_expiries.sql
create or replace function jobs.due_expiries(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select d.market_id
  from (
    -- The time is a subquery of its own because an index can't be searched for what a volatile
    -- function gives.
    select b.market_id, b.expires_at
    from trading.active_orders as b
    cross join lateral (
      select x.close_time
      from catalog.markets as x
      where x.id = b.market_id
      limit 1
    ) as m
    where b.expires_at <= (select core.now())
      and b.queue_position is not null
      and (m.close_time is null or b.expires_at < m.close_time)
      and b.market_id <> all (due_expiries.passing_over)
    order by b.expires_at, b.market_id
    limit due_expiries.most
  ) as d
  group by d.market_id
  order by min(d.expires_at)
$$;

comment on function jobs.due_expiries(int, bigint[]) is
  'The markets of the resting orders that are past their expiry, those that have waited longest '
  'first; of so many orders at most, and none of the markets to pass over. An order that expires '
  'when its market has closed is left to the closing, a scheduled one to its release. Locks: none.';
--! EndIncluded jobs/functions/due_expiries.sql
--! Included jobs/functions/expire_orders.sql
create or replace function jobs.expire_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_order_ids bigint[];
begin
  if not trading.try_lock_market(expire_orders.market_id, expire_orders.waits) then
    return null;
  end if;
  v_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.expires_at <= (select core.now())
      and b.market_id = expire_orders.market_id
      and b.queue_position is not null
    order by b.expires_at
    limit expire_orders.most
  );
  return trading.expire_orders(expire_orders.market_id, v_order_ids);
end
$$;

comment on function jobs.expire_orders(bigint, int, boolean) is
  'Cancels resting orders of a market that are past their expiry, at most so many; returns how '
  'many. Null when the market is locked: passed over, at once or, if it waits, after 250 ms. An '
  'order that expires when its market has closed is left to the closing, a scheduled one to its '
  'release. Locks: the market, if it is free.';
--! EndIncluded jobs/functions/expire_orders.sql
--! Included jobs/functions/due_closings.sql
create or replace function jobs.due_closings(
  most int default 100, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select m.id
  from catalog.markets as m
  where m.status in ('open', 'paused')
    and m.close_time <= (select core.now())
    and m.id <> all (due_closings.passing_over)
  order by m.close_time
  limit due_closings.most
$$;

comment on function jobs.due_closings(int, bigint[]) is
  'The markets that are past their close time and not closed, those that have waited longest '
  'first; so many at most, and none of the markets to pass over. Locks: none.';
--! EndIncluded jobs/functions/due_closings.sql
--! Included jobs/functions/close_markets.sql
create or replace function jobs.close_markets(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  if not trading.try_lock_market(close_markets.market_id, close_markets.waits) then
    return null;
  end if;
  return trading.close_market(close_markets.market_id, close_markets.most);
end
$$;

comment on function jobs.close_markets(bigint, int, boolean) is
  'Closes a market that is past its close time, or as much of it as is done by cancelling so many '
  'orders; returns how many it cancelled, and one more for the market. Null when the market is '
  'locked: passed over, at once or, if it waits, after 250 ms. May fail with 55P03, and is then to '
  'be called again. Locks: the market, if it is free; then its row in catalog.markets and that of '
  'the category, for which it waits 250 ms at most.';
--! EndIncluded jobs/functions/close_markets.sql
--! Included jobs/functions/archive_orders.sql
create or replace function jobs.archive_orders(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return (select a.looked_at from trading.archive_orders(archive_orders.most) as a);
end
$$;

comment on function jobs.archive_orders(int) is
  'Looks at orders that may be due for the archive, at most so many, and moves there those that '
  'were cancelled 30 days ago without a fill; returns how many it looked at. Locks: the row of '
  'trading.archive_progress; no market and no user.';
--! EndIncluded jobs/functions/archive_orders.sql
--! Included jobs/functions/remove_keys.sql
create or replace function jobs.remove_keys(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_count int;
begin
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  delete from trading.idempotency_keys as k
  where k.ctid = any (array(
    select x.ctid
    from trading.idempotency_keys as x
    where x.created_at <= (select core.now()) - interval '24 hours'
    order by x.created_at
    limit remove_keys.most
    -- An order may be taking an old key over: it is not kept waiting, nor waited for.
    for update skip locked
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_keys(int) is
  'Removes idempotency keys that are older than 24 hours and so stand for no order any more, at '
  'most so many; returns how many. Locks: the rows of the keys, none that it would wait for.';
--! EndIncluded jobs/functions/remove_keys.sql
--! Included jobs/functions/remove_sent_events.sql
create or replace function jobs.remove_sent_events(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_count int;
begin
  -- Ids rise with the time, so only the lowest are looked at. Picked once, in an array: as a
  -- subquery it might be run again for each row, past its limit.
  delete from trading.sent_events as e
  where e.id = any (array(
    select o.id
    from (
      select x.id, x.sent_at
      from trading.sent_events as x
      order by x.id
      limit remove_sent_events.most
      for update skip locked
    ) as o
    where o.sent_at <= (select core.now()) - interval '5 minutes'
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_sent_events(int) is
  'Removes events five minutes after they were sent, at most so many; returns how many. Servers '
  'read them within milliseconds, or start anew. Locks: the rows of the oldest events, none that '
  'it would wait for.';
--! EndIncluded jobs/functions/remove_sent_events.sql
--! Included jobs/functions/remove_sessions.sql
create or replace function jobs.remove_sessions(most int default 1000)
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select identity.end_sessions(
    array(
      select s.id
      from identity.sessions as s
      where s.expires_at <= (select core.now())
      order by s.expires_at
      limit remove_sessions.most
      for update skip locked
    )
  )::int
$$;

comment on function jobs.remove_sessions(int) is
  'Removes sessions that have expired, and their tokens, at most so many; returns how many. Locks: '
  'their rows, none that it would wait for.';
--! EndIncluded jobs/functions/remove_sessions.sql
--! Included jobs/functions/remove_counters.sql
create or replace function jobs.remove_counters(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_at timestamptz := core.now();
  v_windows int;
  v_allowances int;
  v_leases int;
begin
  -- Who is being counted at this moment is not kept waiting, nor waited for.
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  with removed as (
    delete from rate_limits.windows as w
    where w.ctid = any (array(
      select x.ctid
      from rate_limits.windows as x
      where x.removable_at <= v_at
      order by x.removable_at
      limit remove_counters.most
      for update skip locked
    ))
    returning w.bucket, w.subject
  ),
  emptied as (
    delete from rate_limits.grants as g
    using removed as r
    where g.bucket = r.bucket and g.subject = r.subject
  )
  select count(*) into v_windows from removed;

  delete from rate_limits.allowances as a
  where a.ctid = any (array(
    select x.ctid
    from rate_limits.allowances as x
    where x.removable_at <= v_at
    order by x.removable_at
    limit remove_counters.most
    for update skip locked
  ));
  get diagnostics v_allowances = row_count;

  with removed as (
    delete from rate_limits.stream_leases as l
    where l.lease_id = any (array(
      select x.lease_id
      from rate_limits.stream_leases as x
      where x.seen_at <= v_at - interval '5 minutes'
      limit remove_counters.most
      for update skip locked
    ))
    returning l.lease_id
  ),
  emptied as (
    delete from rate_limits.open_streams as s
    using removed as r
    where s.lease_id = r.lease_id
  )
  select count(*) into v_leases from removed;
  return v_windows + v_allowances + v_leases;
end
$$;

comment on function jobs.remove_counters(int) is
  'Removes counters of requests that count nothing any more: windows that every grant has left, '
  'with what is kept of those, token buckets that are full, and the streams of server processes '
  'that were lost. At most so many of each; returns how many. Locks: the counters, none that it '
  'would wait for.';
--! EndIncluded jobs/functions/remove_counters.sql
--! Included jobs/functions/refresh_leaderboard.sql
create or replace function jobs.refresh_leaderboard(
  most int default 20000, pause interval default '0'
)
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select (
    not coalesce(
      leaderboard.refresh(
        refresh_leaderboard.most, waits => false, pause => refresh_leaderboard.pause
      ),
      true
    )
  )::int
$$;

comment on function jobs.refresh_leaderboard(int, interval) is
  'Brings the leaderboard up to date, or so far as about so many new facts of each kind bring it; '
  'returns 0 when nothing was left, or when somebody else is at it. Pauses so long between its '
  'parts, so that trading finds processor and disk free. Locks: the row of leaderboard.state, '
  'which nobody waits for but another refresh.';
--! EndIncluded jobs/functions/refresh_leaderboard.sql
--! Included admin/functions/run_due.sql
create or replace function admin.run_due()
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  v_at timestamptz := core.now();
  v_market_id bigint;
  v_looked_at int;
  v_archived int;
  v_count int;
  v_released int;
  v_expired int;
  v_closed int;
  v_done jsonb;
  v_released_all int := 0;
  v_expired_all int := 0;
  v_closed_all int := 0;
  v_archived_all int := 0;
  v_keys int := 0;
  v_passed_over int := 0;
begin
  -- All of it is one transaction, so the users of one market are held when the next market's are
  -- wanted: the lock timeout is below the time after which PostgreSQL looks for deadlocks, and a
  -- market that ran into it gives its own users back.
  for v_market_id in
    select b.market_id
    from trading.active_orders as b
    where b.queue_position is null and b.release_at <= v_at
    union
    select b.market_id
    from trading.active_orders as b
    where b.expires_at <= v_at
    union
    select m.id
    from catalog.markets as m
    where m.status in ('open', 'paused') and m.close_time <= v_at
    order by 1
  loop
    if not trading.try_lock_market(v_market_id) then
      v_passed_over := v_passed_over + 1;
      continue;
    end if;
    begin
      v_released := 0;
      loop
        v_count := jobs.release_orders(v_market_id);
        exit when v_count = 0;
        v_released := v_released + v_count;
      end loop;
      v_expired := trading.expire_orders(
        v_market_id, trading.active_orders_of_market(v_market_id)
      );
      v_closed := (trading.close_market(v_market_id) > 0)::int;

      v_released_all := v_released_all + v_released;
      v_expired_all := v_expired_all + v_expired;
      v_closed_all := v_closed_all + v_closed;
    exception when lock_not_available or deadlock_detected then
      v_passed_over := v_passed_over + 1;
    end;
  end loop;

  loop
    select a.looked_at, a.archived into v_looked_at, v_archived
    from trading.archive_orders(1000) as a;
    exit when v_looked_at = 0;
    v_archived_all := v_archived_all + v_archived;
  end loop;
  loop
    v_count := jobs.remove_keys();
    exit when v_count = 0;
    v_keys := v_keys + v_count;
  end loop;

  v_done := jsonb_build_object(
    'released', v_released_all,
    'expired', v_expired_all,
    'closed', v_closed_all,
    'archived', v_archived_all,
    'keysRemoved', v_keys
  );
  perform admin.audit('run_due', v_done || jsonb_build_object('passedOver', v_passed_over));
  if v_passed_over > 0 then
    raise warning 'passed over % locked market(s): call it again for them', v_passed_over;
  end if;
  return v_done;
end
$$;

comment on function admin.run_due() is
  'Does at once what the jobs would do now, in one transaction: in each market releases, then '
  'expiries, then its closing; then the archive and old idempotency keys. Returns how many of '
  'each: {released, expired, closed, archived, keysRemoved}. As the jobs do, it passes over what '
  'is locked: markets (a warning and the audit log count them), also those that wait longer than '
  '250 ms for a user or a row of the catalogue, the archive while a job is at it, and keys in use. '
  'Call it again for these. Locks: the markets that are free, then what each job locks.';
--! EndIncluded admin/functions/run_due.sql
--! Included jobs/functions/verify_ledger.sql
create or replace function jobs.verify_ledger()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_rows_kept constant int := 20;
  v_started_at timestamptz := core.now();
  v_broken_count bigint;
  v_first_rows jsonb;
begin
  select
    count(*),
    coalesce(jsonb_agg(to_jsonb(b) - 'place') filter (where b.place <= c_most_rows_kept), '[]')
  into v_broken_count, v_first_rows
  from (
    select row_number() over () as place, v.name, v.object, v.expected, v.found
    from ledger.verify() as v
  ) as b;

  insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
  values (v_started_at, core.now(), v_broken_count, v_first_rows);
  return v_broken_count;
end
$$;

comment on function jobs.verify_ledger() is
  'Proves the ledger and keeps what came of it in ledger.verifications; returns how many rows '
  'ledger.verify() had. It reads every entry, order and trade, waits for nobody and nobody waits '
  'for it, but as long as it lasts vacuum removes nothing that died meanwhile. Locks: none.';
--! EndIncluded jobs/functions/verify_ledger.sql
--! Included trading/functions/rehearse_orders.sql
create or replace function trading.rehearse_orders(
  market_id uuid, user_id uuid, variadic orders jsonb[]
)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_orders jsonb;
  v_answer api.result;
begin
  select jsonb_agg(
    jsonb_build_object(
      'marketId', rehearse_orders.market_id, 'userId', rehearse_orders.user_id, 'quantity', 10
    ) || o
    order by i
  )
  into v_orders
  from unnest(rehearse_orders.orders) with ordinality as x (o, i);
  select p.* into v_answer
  from api.place_orders(v_orders) as p
  limit 1;
  return (v_answer.body::jsonb -> 'order' ->> 'id')::uuid;
end
$$;

comment on function trading.rehearse_orders(uuid, uuid, jsonb[]) is
  'Places orders of a rehearsal in one batch, of 10 shares unless they say otherwise; the id of '
  'the first, null when it was refused.';
--! EndIncluded trading/functions/rehearse_orders.sql
--! Included trading/functions/rehearse.sql
-- A function is compiled and its statements are planned by each connection at their first use.
-- This uses them, by the functions that callers call, whatever those are made of.
create or replace function trading.rehearse(is_live boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_done constant text := 'EX999';
  v_name constant text := 'rehearsal-' || replace(core.uuid_v7()::text, '-', '');
  v_event uuid;
  v_market uuid;
  v_market_id bigint;
  v_maker uuid;
  v_taker uuid;
  v_order uuid;
begin
  perform core.check_session();
  begin
    perform admin.create_category(v_name, v_name, 0);
    if rehearse.is_live then
      v_event := admin.create_event(v_name, v_name, live => true, live_delay_ms => 0);
    end if;
    v_market := admin.create_market(v_name, v_name, event_id => v_event);
    select m.id into strict v_market_id
    from catalog.markets as m
    where m.public_id = v_market;
    v_maker := admin.create_user(v_name || '@maker.invalid', v_name, left(v_name, 38) || '-1');
    v_taker := admin.create_user(v_name || '@taker.invalid', v_name, left(v_name, 38) || '-2');
    perform admin.set_loss_limits(v_maker, null, null, null);
    perform admin.set_loss_limits(v_taker, 1000000, null, null);
    -- A deposit would hold up those of others.
    update trading.traders as t
    set balance_cents = 1000000
    where t.public_id in (v_maker, v_taker);

    for v_round in 1 .. 2 loop
      v_order := trading.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 40}');
      perform trading.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 41}');
      if rehearse.is_live then
        perform jobs.next_due();
        perform jobs.due_releases();
        perform jobs.release_orders(v_market_id);
      end if;
      perform api.amend_order(v_maker, v_order, 42, null);
      perform trading.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 58, "quantity": 1}'
      );
      perform trading.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 60, "quantity": 12}'
      );
      perform trading.rehearse_orders(
        v_market, v_taker,
        '{"side": "yes", "price": null, "quantity": 1}',
        '{"side": "yes", "budgetCents": 100, "quantity": null}',
        '{"side": "yes", "price": 60, "quantity": 1, "timeInForce": "ioc"}',
        jsonb_build_object(
          'side', 'yes', 'price', 2, 'postOnly', true, 'idempotencyKey', core.uuid_v7()
        ),
        '{"side": "yes", "price": 1, "quantity": 1, "orderType": "sell"}'
      );
      perform api.split_position(v_maker, v_market, 2);
      perform trading.rehearse_orders(
        v_market, v_maker, '{"side": "yes", "price": 99, "quantity": 1, "orderType": "sell"}'
      );
      perform api.merge_position(v_maker, v_market, 1);
      perform api.cancel_order(v_maker, v_order);
      if rehearse.is_live then
        perform jobs.release_orders(v_market_id);
      end if;
    end loop;
    raise exception using errcode = c_done;
  exception when sqlstate 'EX999' then
    null;
  end;
end
$$;

comment on function trading.rehearse(boolean) is
  'Trades in a market of its own and takes all of it back, so that a new connection has compiled '
  'and planned what its first order needs; also releases, in a live market. What remains are '
  'numbers that sequences gave out. Errors: UNFIT_SESSION. Locks: none that others wait for.';
--! EndIncluded trading/functions/rehearse.sql
--! Included api/functions/warm_up.sql
create or replace function api.warm_up()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select trading.rehearse(false)
$$;

comment on function api.warm_up() is
  'Has a new connection compile and plan what orders need, so that its first one is not slower '
  'than later ones. Changes nothing. Errors: UNFIT_SESSION.';
--! EndIncluded api/functions/warm_up.sql
--! Included jobs/functions/warm_up.sql
create or replace function jobs.warm_up()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select trading.rehearse(true)
$$;

comment on function jobs.warm_up() is
  'Has a new connection compile and plan what releases need, so that its first one is not slower '
  'than later ones. Changes nothing. Errors: UNFIT_SESSION.';
--! EndIncluded jobs/functions/warm_up.sql

-- For analysts
--! Included analytics/functions/now.sql
create or replace function analytics.now()
returns timestamptz
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.now()
$$;

comment on function analytics.now() is 'What the clock of the exchange shows.';
--! EndIncluded analytics/functions/now.sql
--! Included analytics/views/categories.sql
create view analytics.categories as
select
  c.id as category_key,
  c.slug as category,
  c.name,
  c."position" as position,
  c.event_count::bigint as event_count,
  c.open_market_count::bigint as open_market_count,
  c.closed_market_count::bigint as closed_market_count
from catalog.categories as c;

comment on view analytics.categories is 'Groups of events and markets.';
comment on column analytics.categories.category_key is 'Internal key, for joins.';
comment on column analytics.categories.category is 'Public name of the category, as in addresses.';
comment on column analytics.categories.name is 'Name for display.';
comment on column analytics.categories.position is 'Place in the order of display.';
comment on column analytics.categories.event_count is 'Events of the category.';
comment on column analytics.categories.open_market_count is 'Markets that are open.';
comment on column analytics.categories.closed_market_count is
  'Markets that are closed or resolved.';
--! EndIncluded analytics/views/categories.sql
--! Included analytics/views/events.sql
create view analytics.events as
select
  e.id as event_key,
  e.public_id as event_id,
  e.category_id as category_key,
  c.slug as category,
  e.title,
  e.starts_at,
  e.ends_at,
  e.live as is_live,
  e.live_delay_ms,
  e.created_at
from catalog.events as e
left join catalog.categories as c on c.id = e.category_id;

comment on view analytics.events is 'Real-world occurrences, each with one or more markets.';
comment on column analytics.events.event_key is 'Internal key, for joins.';
comment on column analytics.events.event_id is 'Public id.';
comment on column analytics.events.category_key is 'The category: internal key, for joins.';
comment on column analytics.events.category is 'The category''s public name.';
comment on column analytics.events.title is 'Title for display.';
comment on column analytics.events.starts_at is 'When it begins; null if that is not known.';
comment on column analytics.events.ends_at is 'When it ends; null if that is not known.';
comment on column analytics.events.is_live is
  'Live-traded: while the event lasts, new orders wait before they match.';
comment on column analytics.events.live_delay_ms is 'How long they wait, in milliseconds.';
comment on column analytics.events.created_at is 'When an operator made it.';
--! EndIncluded analytics/views/events.sql
--! Included analytics/views/markets.sql
create view analytics.markets as
select
  m.id as market_key,
  m.public_id as market_id,
  m.category_id as category_key,
  c.slug as category,
  m.event_id as event_key,
  e.public_id as event_id,
  m.title,
  m.status::text as status,
  m.close_time,
  m.resolved_outcome::text as resolved_outcome,
  m.yes_payout_cents,
  m.resolved_at,
  m.created_at,
  b.last_trade_price::int as last_yes_price_cents,
  b.yes_volume_cents,
  b.no_volume_cents,
  b.trade_count,
  b.traders_count as trader_count,
  b.version
from catalog.markets as m
left join catalog.categories as c on c.id = m.category_id
left join catalog.events as e on e.id = m.event_id
left join trading.market_state as b on b.market_id = m.id;

comment on view analytics.markets is 'Binary questions, with what trading has made of them so far.';
comment on column analytics.markets.market_key is 'Internal key, for joins.';
comment on column analytics.markets.market_id is 'Public id.';
comment on column analytics.markets.category_key is 'The category: internal key, for joins.';
comment on column analytics.markets.category is 'The category''s public name.';
comment on column analytics.markets.event_key is
  'The event: internal key, for joins; null for a market of its own.';
comment on column analytics.markets.event_id is 'The event: public id.';
comment on column analytics.markets.title is 'The question.';
comment on column analytics.markets.status is 'open, paused, closed or resolved.';
comment on column analytics.markets.close_time is
  'From then on it takes no orders; null if that is open.';
comment on column analytics.markets.resolved_outcome is
  'yes, no or custom; null before the resolution.';
comment on column analytics.markets.yes_payout_cents is
  'What a YES share pays by the resolution that holds, 0-100; a NO share pays the rest.';
comment on column analytics.markets.resolved_at is
  'When it was first resolved; corrections since then are in analytics.resolutions.';
comment on column analytics.markets.created_at is 'When an operator made it.';
comment on column analytics.markets.last_yes_price_cents is
  'YES price of the last trade; null before the first.';
comment on column analytics.markets.yes_volume_cents is
  'Sum over the trades of quantity x YES price.';
comment on column analytics.markets.no_volume_cents is
  'Sum over the trades of quantity x NO price.';
comment on column analytics.markets.trade_count is 'Trades so far.';
comment on column analytics.markets.trader_count is 'Distinct users who ever traded it.';
comment on column analytics.markets.version is 'Changes of its book and trades so far.';
--! EndIncluded analytics/views/markets.sql
--! Included analytics/views/day_openings.sql
create view analytics.day_openings as
select
  o.user_id as user_key,
  u.public_id as user_id,
  o.day,
  o.balance_cents,
  o.external_cents as net_deposits_cents
from ledger.day_openings as o
left join identity.users as u on u.id = o.user_id;

comment on view analytics.day_openings is
  'A user''s cash at the start of each UTC day on which it moved.';
comment on column analytics.day_openings.user_key is 'The user: internal key, for joins.';
comment on column analytics.day_openings.user_id is 'The user: public id.';
comment on column analytics.day_openings.day is 'UTC day.';
comment on column analytics.day_openings.balance_cents is 'Cash at its start.';
comment on column analytics.day_openings.net_deposits_cents is
  'Deposits less withdrawals until its start.';
--! EndIncluded analytics/views/day_openings.sql
--! Included analytics/views/orders.sql
create view analytics.orders as
select
  o.id as order_key,
  o.public_id as order_id,
  o.market_id as market_key,
  m.public_id as market_id,
  o.user_id as user_key,
  u.public_id as user_id,
  o.side::text as side,
  o.order_type::text as order_type,
  o.price::int as price_cents,
  case
    when (o.side = 'yes') = (o.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when o.side = 'yes' then o.price::int
    else 100 - o.price::int
  end as yes_price_cents,
  coalesce(
    (
      select max(x.quantity_before::int)
      from trading.order_reductions as x
      where x.order_id = o.id
    ),
    o.quantity::int
  ) as original_quantity,
  o.quantity::int as quantity,
  o.filled_quantity,
  o.budget_cents::int as budget_cents,
  o.time_in_force::text as time_in_force,
  o.post_only as is_post_only,
  o.status::text as status,
  case
    when o.cancel_reason in ('self_excluded', 'loss_limit') then 'responsible_gaming'
    else o.cancel_reason::text
  end as cancel_reason,
  o.fee_cents::bigint as fee_cents,
  o.created_at,
  o.expires_at,
  o.release_at,
  o.released_at,
  o.cancelled_at,
  o.is_archived
from (
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at, x.cancelled_at,
    false as is_archived
  from trading.orders as x
  union all
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at, x.cancelled_at,
    true as is_archived
  from trading.archived_orders as x
) as o
left join catalog.markets as m on m.id = o.market_id
left join identity.users as u on u.id = o.user_id;

comment on view analytics.orders is
  'Every order that was accepted, archived ones too, in the form its trader gave it.';
comment on column analytics.orders.order_key is
  'Internal key, for joins; ascending in the order of their making.';
comment on column analytics.orders.order_id is 'Public id.';
comment on column analytics.orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.orders.market_id is 'The market: public id.';
comment on column analytics.orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.orders.user_id is 'The user: public id.';
comment on column analytics.orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.orders.order_type is 'buy or sell.';
comment on column analytics.orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.orders.original_quantity is
  'Shares ordered at first, before amendments that kept the order''s place.';
comment on column analytics.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column analytics.orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder.';
comment on column analytics.orders.is_post_only is
  'Whether it is refused rather than matched on arrival.';
comment on column analytics.orders.status is
  'scheduled, open, partially_filled, filled or cancelled. An order past its expiry may still '
  'be open here until it is swept.';
comment on column analytics.orders.cancel_reason is
  'Why it was cancelled; else null. responsible_gaming is a loss limit or a self-exclusion: which '
  'of them is for operators, in admin.orders.';
comment on column analytics.orders.fee_cents is 'Taker fee paid.';
comment on column analytics.orders.created_at is 'When it was accepted.';
comment on column analytics.orders.expires_at is 'From then on it counts nowhere; null is never.';
comment on column analytics.orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.orders.released_at is
  'When it was released; null if it was not delayed, or not released.';
comment on column analytics.orders.cancelled_at is 'When it was cancelled; else null.';
comment on column analytics.orders.is_archived is
  'Whether it was moved to the archive: 30 days after it was cancelled without a fill.';
--! EndIncluded analytics/views/orders.sql
--! Included analytics/views/open_orders.sql
create view analytics.open_orders as
select
  o.id as order_key,
  o.public_id as order_id,
  o.market_id as market_key,
  m.public_id as market_id,
  o.user_id as user_key,
  u.public_id as user_id,
  o.side::text as side,
  o.order_type::text as order_type,
  o.price::int as price_cents,
  case
    when (o.side = 'yes') = (o.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when o.side = 'yes' then o.price::int
    else 100 - o.price::int
  end as yes_price_cents,
  o.quantity::int as quantity,
  o.filled_quantity,
  o.budget_cents::int as budget_cents,
  o.time_in_force::text as time_in_force,
  o.post_only as is_post_only,
  o.status::text as status,
  o.created_at,
  o.expires_at,
  o.release_at,
  o.released_at,
  case
    when o.order_type = 'sell' then 0
    when b.queue_position is not null
      then (o.quantity::int - o.filled_quantity)::bigint * o.price::int
    when o.budget_cents is not null then o.budget_cents::bigint
    -- The fee of a buy of all of it at its price, at the schedule in force.
    else o.quantity::bigint * o.price::int + (
      select
        (s.taker_rate_bps * (o.quantity::bigint * o.price::int * (100 - o.price::int)) + 999999)
          / 1000000
      from trading.fee_schedules as s
      where s.effective_from <= analytics.now()
        and (
          (s.market_id = o.market_id and s.category_id is null)
          or (s.market_id is null and s.category_id = m.category_id)
          or (s.market_id is null and s.category_id is null)
        )
      order by s.market_id is null, s.category_id is null, s.effective_from desc, s.id desc
      limit 1
    )
  end as worst_cost_cents
from trading.active_orders as b
join trading.orders as o on o.id = b.order_id
left join catalog.markets as m on m.id = o.market_id
left join identity.users as u on u.id = o.user_id
where b.expires_at is null
  or b.expires_at > analytics.now();

comment on view analytics.open_orders is
  'The orders of analytics.orders that something can still happen to: the books, and what is '
  'scheduled. Orders past their expiry are not among them. As quick as they are few, however '
  'many orders there were.';
comment on column analytics.open_orders.order_key is
  'Internal key, for joins; ascending in the order of their making.';
comment on column analytics.open_orders.order_id is 'Public id.';
comment on column analytics.open_orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.open_orders.market_id is 'The market: public id.';
comment on column analytics.open_orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.open_orders.user_id is 'The user: public id.';
comment on column analytics.open_orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.open_orders.order_type is 'buy or sell.';
comment on column analytics.open_orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.open_orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.open_orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.open_orders.quantity is
  'Shares ordered; 0 of a budget order, which is scheduled.';
comment on column analytics.open_orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.open_orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.open_orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder.';
comment on column analytics.open_orders.is_post_only is
  'Whether it is refused rather than matched on arrival.';
comment on column analytics.open_orders.status is 'scheduled, open or partially_filled.';
comment on column analytics.open_orders.created_at is 'When it was accepted.';
comment on column analytics.open_orders.expires_at is
  'From then on it counts nowhere; null is never.';
comment on column analytics.open_orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.open_orders.released_at is
  'When it was released; null if it was not delayed, or not yet released.';
comment on column analytics.open_orders.worst_cost_cents is
  'The most that it could still cost, as it counts toward loss limits: a resting buy what is left '
  'of it at its price; a scheduled buy all of it at its price with the fee, or its budget; a sell '
  'nothing.';
--! EndIncluded analytics/views/open_orders.sql
--! Included analytics/views/users.sql
create view analytics.users as
select
  u.id as user_key,
  u.public_id as user_id,
  u.handle,
  case when not u.private then u.display_name end as display_name,
  u.private as is_private,
  u.leaderboard_opt_out,
  u.created_at,
  r.balance_cents,
  r.external_cents as net_deposits_cents,
  r.overdraft_cents::bigint as overdraft_cents,
  r.limits_reviewed_at,
  case
    when analytics.now() >= r.day_limit_changes_at then r.next_day_limit_cents
    else r.day_limit_cents
  end as day_limit_cents,
  case
    when analytics.now() >= r.week_limit_changes_at then r.next_week_limit_cents
    else r.week_limit_cents
  end as week_limit_cents,
  case
    when analytics.now() >= r.month_limit_changes_at then r.next_month_limit_cents
    else r.month_limit_cents
  end as month_limit_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date
      order by o.day
      limit 1
    ),
    0
  ) as day_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 6
      order by o.day
      limit 1
    ),
    0
  ) as week_net_spent_cents,
  coalesce(
    (
      select (r.external_cents - r.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.user_id = r.user_id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 29
      order by o.day
      limit 1
    ),
    0
  ) as month_net_spent_cents,
  coalesce(
    (
      select sum(o.worst_cost_cents)
      from analytics.open_orders as o
      where o.user_key = u.id
    ),
    0
  )::bigint as active_order_cost_cents
from identity.users as u
left join trading.traders as r on r.user_id = u.id;

comment on view analytics.users is
  'Traders, with their cash and their loss limits, but without their e-mail, their keys and their '
  'self-exclusion, which are for operators: admin.users.';
comment on column analytics.users.user_key is 'Internal key, for joins.';
comment on column analytics.users.user_id is 'Public id.';
comment on column analytics.users.handle is
  'Unique short name. The public is not told that of a private user.';
comment on column analytics.users.display_name is
  'Name for display; null for a private user.';
comment on column analytics.users.is_private is 'Whether the public is not told the name.';
comment on column analytics.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column analytics.users.created_at is 'When an operator made the user.';
comment on column analytics.users.balance_cents is 'Cash.';
comment on column analytics.users.net_deposits_cents is
  'Deposits less withdrawals. Less the cash, it is the net cash put into trading.';
comment on column analytics.users.overdraft_cents is
  'How far corrections of resolutions took the cash below zero.';
comment on column analytics.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column analytics.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column analytics.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column analytics.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column analytics.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column analytics.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column analytics.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column analytics.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost: the sum of their worst_cost_cents in '
  'analytics.open_orders.';
--! EndIncluded analytics/views/users.sql
--! Included analytics/views/order_reductions.sql
create view analytics.order_reductions as
select
  x.order_id as order_key,
  x.quantity_before::int as quantity_before,
  x.quantity_after::int as quantity_after,
  x.at as reduced_at
from trading.order_reductions as x;

comment on view analytics.order_reductions is
  'Amendments that took shares off an order, which kept its place in the queue. Other '
  'amendments are new orders.';
comment on column analytics.order_reductions.order_key is
  'The order: internal key, for joins with analytics.orders.';
comment on column analytics.order_reductions.quantity_before is 'Shares ordered before.';
comment on column analytics.order_reductions.quantity_after is 'Shares ordered from then on.';
comment on column analytics.order_reductions.reduced_at is 'When it was amended.';
--! EndIncluded analytics/views/order_reductions.sql
--! Included analytics/views/trades.sql
create view analytics.trades as
select
  t.id as trade_key,
  t.public_id as trade_id,
  t.market_id as market_key,
  m.public_id as market_id,
  case
    when t.taker_realised_cents is null and t.maker_realised_cents is null then 'mint'
    when t.taker_realised_cents is not null and t.maker_realised_cents is not null then 'burn'
    else 'transfer'
  end as match_type,
  t.price::int as yes_price_cents,
  t.quantity::int as quantity,
  t.taker_order_id as taker_order_key,
  x.public_id as taker_order_id,
  t.taker_user_id as taker_user_key,
  v.public_id as taker_user_id,
  case when t.taker_realised_cents is null then 'buy' else 'sell' end as taker_order_type,
  case
    when t.taker_realised_cents is null then t.taker_side::text
    when t.taker_side = 'yes' then 'no'
    else 'yes'
  end as taker_side,
  t.maker_order_id as maker_order_key,
  y.public_id as maker_order_id,
  t.maker_user_id as maker_user_key,
  w.public_id as maker_user_id,
  case when t.maker_realised_cents is null then 'buy' else 'sell' end as maker_order_type,
  case
    when t.maker_realised_cents is not null then t.taker_side::text
    when t.taker_side = 'yes' then 'no'
    else 'yes'
  end as maker_side,
  t.fee_cents::bigint as fee_cents,
  t.fee_schedule_id as fee_schedule_key,
  t.taker_realised_cents,
  t.maker_realised_cents,
  t.id as journal_key,
  t.created_at
from trading.trades as t
left join catalog.markets as m on m.id = t.market_id
left join trading.orders as x on x.id = t.taker_order_id
left join trading.orders as y on y.id = t.maker_order_id
left join identity.users as v on v.id = t.taker_user_id
left join identity.users as w on w.id = t.maker_user_id;

comment on view analytics.trades is
  'Every match of two orders, in YES prices. analytics.fills has the same by order.';
comment on column analytics.trades.trade_key is
  'Internal key, for joins; ascending in the order of the trades of a market.';
comment on column analytics.trades.trade_id is 'Public id.';
comment on column analytics.trades.market_key is 'The market: internal key, for joins.';
comment on column analytics.trades.market_id is 'The market: public id.';
comment on column analytics.trades.match_type is
  'mint: both bought, and new pairs of shares were made; transfer: shares went from one to the '
  'other; burn: both sold, and pairs of shares are gone.';
comment on column analytics.trades.yes_price_cents is
  'YES price of a share; the NO price is 100 less it.';
comment on column analytics.trades.quantity is 'Shares, or pairs of shares.';
comment on column analytics.trades.taker_order_key is
  'The order that came to the book: internal key, for joins.';
comment on column analytics.trades.taker_order_id is 'The order that came to the book: public id.';
comment on column analytics.trades.taker_user_key is 'Its user: internal key, for joins.';
comment on column analytics.trades.taker_user_id is 'Its user: public id.';
comment on column analytics.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column analytics.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column analytics.trades.maker_order_key is
  'The order that rested: internal key, for joins.';
comment on column analytics.trades.maker_order_id is 'The order that rested: public id.';
comment on column analytics.trades.maker_user_key is 'Its user: internal key, for joins.';
comment on column analytics.trades.maker_user_id is 'Its user: public id.';
comment on column analytics.trades.maker_order_type is 'What the maker did: buy or sell.';
comment on column analytics.trades.maker_side is
  'The shares that the maker bought or sold: yes or no.';
comment on column analytics.trades.fee_cents is
  'What this match added to the taker''s fee. Makers pay none.';
comment on column analytics.trades.fee_schedule_key is 'The fee schedule that was in force.';
comment on column analytics.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds less fee, cost and buy fees of the shares; null '
  'for a buyer.';
comment on column analytics.trades.maker_realised_cents is
  'What the maker realised by selling; null for a buyer.';
comment on column analytics.trades.journal_key is 'The journal that moved the cash.';
comment on column analytics.trades.created_at is 'When it happened.';
--! EndIncluded analytics/views/trades.sql
--! Included analytics/views/fills.sql
create view analytics.fills as
select
  f.trade_key,
  f.trade_id,
  f.role,
  f.order_key,
  o.public_id as order_id,
  f.market_id as market_key,
  m.public_id as market_id,
  f.user_id as user_key,
  u.public_id as user_id,
  f.counterparty_user_key,
  case
    when (f.book_side = 'yes') = (f.realised_cents is null) then 'yes'
    else 'no'
  end as side,
  case when f.realised_cents is null then 'buy' else 'sell' end as order_type,
  case
    when (f.book_side = 'yes') = (f.realised_cents is null) then f.yes_price
    else 100 - f.yes_price
  end as price_cents,
  f.quantity,
  f.quantity::bigint * case
    when (f.book_side = 'yes') = (f.realised_cents is null) then f.yes_price
    else 100 - f.yes_price
  end as amount_cents,
  f.fee_cents,
  f.realised_cents,
  f.created_at
from (
  select
    t.id as trade_key, t.public_id as trade_id, t.market_id, 'taker' as role,
    t.taker_order_id as order_key, t.taker_user_id as user_id,
    t.maker_user_id as counterparty_user_key, t.taker_side as book_side,
    t.price::int as yes_price, t.quantity::int as quantity, t.fee_cents::bigint as fee_cents,
    t.taker_realised_cents as realised_cents, t.created_at
  from trading.trades as t
  union all
  select
    t.id, t.public_id, t.market_id, 'maker', t.maker_order_id, t.maker_user_id,
    t.taker_user_id, case t.taker_side when 'yes' then 'no'::trading.side else 'yes' end,
    t.price::int, t.quantity::int, 0, t.maker_realised_cents, t.created_at
  from trading.trades as t
) as f
left join trading.orders as o on o.id = f.order_key
left join catalog.markets as m on m.id = f.market_id
left join identity.users as u on u.id = f.user_id;

comment on view analytics.fills is
  'Every trade twice: once for the order that came, once for the one that rested.';
comment on column analytics.fills.trade_key is 'The trade: internal key, for joins.';
comment on column analytics.fills.trade_id is 'The trade: public id.';
comment on column analytics.fills.role is 'taker or maker.';
comment on column analytics.fills.order_key is 'The order: internal key, for joins.';
comment on column analytics.fills.order_id is 'The order: public id.';
comment on column analytics.fills.market_key is 'The market: internal key, for joins.';
comment on column analytics.fills.market_id is 'The market: public id.';
comment on column analytics.fills.user_key is 'The order''s user: internal key, for joins.';
comment on column analytics.fills.user_id is 'The order''s user: public id.';
comment on column analytics.fills.counterparty_user_key is
  'The user of the other order: internal key, for joins.';
comment on column analytics.fills.side is 'The shares that the user bought or sold: yes or no.';
comment on column analytics.fills.order_type is 'buy or sell.';
comment on column analytics.fills.price_cents is 'Price of a share of the user''s side.';
comment on column analytics.fills.quantity is 'Shares.';
comment on column analytics.fills.amount_cents is
  'Quantity x price: paid by a buyer, received by a seller, before the fee.';
comment on column analytics.fills.fee_cents is 'What it added to the order''s fee; 0 for makers.';
comment on column analytics.fills.realised_cents is 'What selling realised; null for a buyer.';
comment on column analytics.fills.created_at is 'When it happened.';
--! EndIncluded analytics/views/fills.sql
--! Included analytics/views/positions.sql
create view analytics.positions as
select
  p.public_id as position_id,
  p.market_id as market_key,
  m.public_id as market_id,
  p.user_id as user_key,
  u.public_id as user_id,
  p.side::text as side,
  p.quantity::bigint as quantity,
  m.status = 'resolved' as is_settled,
  case when m.status = 'resolved' then 0 else p.quantity::bigint end as open_quantity,
  p.cost_cents::bigint as cost_cents,
  p.fee_cents::bigint as fee_cents,
  case
    when m.status = 'resolved' then 0
    else p.cost_cents::bigint + p.fee_cents::bigint
  end as open_cost_cents,
  p.realised_cents,
  p.has_traded,
  v.mark_price_cents,
  case
    when m.status = 'resolved' then 0
    else p.quantity::bigint * v.mark_price_cents
  end as mark_value_cents,
  case
    when m.status = 'resolved' then 0
    else p.quantity::bigint * v.mark_price_cents - p.cost_cents::bigint - p.fee_cents::bigint
  end as unrealised_cents
from trading.positions as p
left join catalog.markets as m on m.id = p.market_id
left join trading.market_state as b on b.market_id = p.market_id
left join identity.users as u on u.id = p.user_id
cross join lateral (
  select case
    when p.side = 'yes' then coalesce(m.yes_payout_cents, b.last_trade_price::int, 50)
    else 100 - coalesce(m.yes_payout_cents, b.last_trade_price::int, 50)
  end as mark_price_cents
) as v;

comment on view analytics.positions is
  'Shares of each trader by market and side. Empty positions stay, and so do settled ones with '
  'their quantity and cost: sum the columns that begin with open_, mark_value_cents and '
  'unrealised_cents over what is still held. realised_cents + unrealised_cents, summed over a '
  'trader''s positions, is cash + mark_value_cents - net deposits.';
comment on column analytics.positions.position_id is 'Public id.';
comment on column analytics.positions.market_key is 'The market: internal key, for joins.';
comment on column analytics.positions.market_id is 'The market: public id.';
comment on column analytics.positions.user_key is 'The user: internal key, for joins.';
comment on column analytics.positions.user_id is 'The user: public id.';
comment on column analytics.positions.side is 'yes or no.';
comment on column analytics.positions.quantity is
  'Shares held; once settled, the shares that were paid.';
comment on column analytics.positions.is_settled is
  'Whether the market is resolved, and the shares are paid and gone.';
comment on column analytics.positions.open_quantity is 'Shares still held; 0 once settled.';
comment on column analytics.positions.cost_cents is
  'What was paid for the quantity, without fees.';
comment on column analytics.positions.fee_cents is 'The buy fees paid for the quantity.';
comment on column analytics.positions.open_cost_cents is
  'What was paid for the shares still held, buy fees included; 0 once settled.';
comment on column analytics.positions.realised_cents is
  'What selling, merging and settlement have realised in this position so far, corrections '
  'included: what they brought less fees, and less what the shares had cost with their buy fees.';
comment on column analytics.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column analytics.positions.mark_price_cents is
  'What a share was paid by the resolution; before it, the price of the last trade; before the '
  'first trade 50, since all shares are then in pairs that are worth 100.';
comment on column analytics.positions.mark_value_cents is
  'The shares still held at that price; 0 once settled.';
comment on column analytics.positions.unrealised_cents is
  'mark_value_cents - open_cost_cents: what the shares still held would bring beyond cost and '
  'buy fees, without the fee of selling; 0 once settled.';
--! EndIncluded analytics/views/positions.sql
--! Included analytics/views/set_conversions.sql
create view analytics.set_conversions as
select
  s.id as conversion_key,
  s.market_id as market_key,
  m.public_id as market_id,
  s.user_id as user_key,
  u.public_id as user_id,
  s.kind::text as kind,
  s.quantity::int as quantity,
  s.yes_realised_cents,
  s.no_realised_cents,
  s.journal_id as journal_key,
  s.created_at
from trading.set_conversions as s
left join catalog.markets as m on m.id = s.market_id
left join identity.users as u on u.id = s.user_id;

comment on view analytics.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them.';
comment on column analytics.set_conversions.conversion_key is
  'Internal key, ascending in the order of their making.';
comment on column analytics.set_conversions.market_key is 'The market: internal key, for joins.';
comment on column analytics.set_conversions.market_id is 'The market: public id.';
comment on column analytics.set_conversions.user_key is 'The user: internal key, for joins.';
comment on column analytics.set_conversions.user_id is 'The user: public id.';
comment on column analytics.set_conversions.kind is
  'split (cash into sets) or merge (sets into cash).';
comment on column analytics.set_conversions.quantity is 'Sets.';
comment on column analytics.set_conversions.yes_realised_cents is
  'What merging realised on the YES shares, at 50 cents each; null for a split.';
comment on column analytics.set_conversions.no_realised_cents is 'Likewise on the NO shares.';
comment on column analytics.set_conversions.journal_key is 'The journal that moved the cash.';
comment on column analytics.set_conversions.created_at is 'When it happened.';
--! EndIncluded analytics/views/set_conversions.sql
--! Included analytics/views/resolutions.sql
create view analytics.resolutions as
select
  r.id as resolution_key,
  r.market_id as market_key,
  m.public_id as market_id,
  r.outcome::text as outcome,
  r.yes_payout_cents,
  r.corrects_resolution_id as corrects_resolution_key,
  r.position_count,
  r.payout_cents::bigint as payout_cents,
  not exists (
    select
    from trading.resolutions as n
    where n.corrects_resolution_id = r.id
  ) as is_final,
  r.created_at
from trading.resolutions as r
left join catalog.markets as m on m.id = r.market_id;

comment on view analytics.resolutions is
  'How markets were resolved, and corrected. The reasons, which operators write, are for '
  'operators: admin.resolutions.';
comment on column analytics.resolutions.resolution_key is
  'Internal key, for joins; ascending in the order of their making.';
comment on column analytics.resolutions.market_key is 'The market: internal key, for joins.';
comment on column analytics.resolutions.market_id is 'The market: public id.';
comment on column analytics.resolutions.outcome is 'yes, no or custom.';
comment on column analytics.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100; a NO share pays the rest.';
comment on column analytics.resolutions.corrects_resolution_key is
  'The resolution that this one corrects; null for the first of a market.';
comment on column analytics.resolutions.position_count is 'Positions that are settled.';
comment on column analytics.resolutions.payout_cents is
  'What they are paid in all; of a correction too the whole, and not the difference.';
comment on column analytics.resolutions.is_final is 'Whether no correction came after it.';
comment on column analytics.resolutions.created_at is 'When it happened.';
--! EndIncluded analytics/views/resolutions.sql
--! Included analytics/views/settlements.sql
create view analytics.settlements as
select
  s.resolution_id as resolution_key,
  s.market_id as market_key,
  m.public_id as market_id,
  s.user_id as user_key,
  u.public_id as user_id,
  s.side::text as side,
  s.quantity::bigint as quantity,
  s.payout_cents::bigint as payout_cents,
  s.cost_cents::bigint as cost_cents,
  s.fee_cents::bigint as fee_cents,
  s.realised_cents,
  not exists (
    select
    from trading.resolutions as n
    where n.corrects_resolution_id = r.id
  ) as is_final,
  r.created_at
from trading.settlements as s
left join trading.resolutions as r on r.id = s.resolution_id
left join catalog.markets as m on m.id = s.market_id
left join identity.users as u on u.id = s.user_id;

comment on view analytics.settlements is
  'What each resolution pays each position. A correction settles all positions of its market '
  'anew, so sum over those with is_final.';
comment on column analytics.settlements.resolution_key is 'The resolution.';
comment on column analytics.settlements.market_key is 'The market: internal key, for joins.';
comment on column analytics.settlements.market_id is 'The market: public id.';
comment on column analytics.settlements.user_key is 'The user: internal key, for joins.';
comment on column analytics.settlements.user_id is 'The user: public id.';
comment on column analytics.settlements.side is 'yes or no.';
comment on column analytics.settlements.quantity is 'Shares.';
comment on column analytics.settlements.payout_cents is 'What they are paid.';
comment on column analytics.settlements.cost_cents is 'What was paid for them, without fees.';
comment on column analytics.settlements.fee_cents is 'The buy fees paid for them.';
comment on column analytics.settlements.realised_cents is 'Payout less cost and fees.';
comment on column analytics.settlements.is_final is 'Whether the resolution is the one that holds.';
comment on column analytics.settlements.created_at is
  'When the market was resolved, or the resolution corrected.';
--! EndIncluded analytics/views/settlements.sql
--! Included analytics/views/journal_entries.sql
-- Made of the tables and not of the views ledger.entries, journals and accounts: so no trade is
-- joined with itself, and a query by market or journal goes by an index. The ids of accounts are
-- those of ledger.user_account_id and so on, which analysts may not call.
create view analytics.journal_entries as
select
  e.journal_key,
  e.kind,
  e.market_key,
  m.public_id as market_id,
  e.account_key,
  e.account_kind,
  e.user_key,
  u.public_id as user_id,
  e.amount_cents,
  e.balance_before_cents,
  e.balance_after_cents,
  e.account_version,
  e.created_at
from (
  select
    p.journal_id as journal_key,
    j.kind::text as kind,
    j.market_id as market_key,
    p.account_id as account_key,
    case p.account_id % 4
      when 0 then 'user_cash'
      when 1 then 'market_escrow'
      when 2 then 'fee_revenue'
      else 'outside_world'
    end as account_kind,
    r.user_id as user_key,
    p.amount_cents,
    p.balance_before_cents,
    p.balance_after_cents,
    p.account_version,
    j.created_at
  from ledger.posted_entries as p
  left join ledger.posted_journals as j on j.id = p.journal_id
  left join trading.traders as r
    on r.user_id = p.account_id / 4
    and r.user_id * 4 = p.account_id
  union all
  select
    t.id, 'trade', t.market_id, l.account_id, l.account_kind, l.user_id,
    l.amount_cents, l.balance_after_cents - l.amount_cents, l.balance_after_cents,
    l.account_version, t.created_at
  from trading.trades as t
  cross join lateral (
    values
      (
        t.taker_user_id * 4, 'user_cash', t.taker_user_id, t.taker_cents,
        t.taker_balance_cents, t.taker_version
      ),
      (
        t.maker_user_id * 4, 'user_cash', t.maker_user_id, t.maker_cents,
        t.maker_balance_cents, t.maker_version
      ),
      (
        t.market_id * 4 + 1, 'market_escrow', null::bigint,
        -(t.taker_cents + t.maker_cents + t.fee_cents::bigint),
        t.escrow_balance_cents, t.escrow_version
      ),
      (
        t.market_id * 4 + 2, 'fee_revenue', null::bigint, t.fee_cents::bigint,
        t.revenue_balance_cents, t.revenue_version
      )
  ) as l (account_id, account_kind, user_id, amount_cents, balance_after_cents, account_version)
  where l.amount_cents <> 0
) as e
left join catalog.markets as m on m.id = e.market_key
left join identity.users as u on u.id = e.user_key;

comment on view analytics.journal_entries is
  'The ledger: every line of every journal. The lines of a journal sum to zero.';
comment on column analytics.journal_entries.journal_key is 'The journal: internal key, for joins.';
comment on column analytics.journal_entries.kind is
  'deposit, withdrawal, trade, split, merge, settlement or correction.';
comment on column analytics.journal_entries.market_key is
  'The market: internal key, for joins; null for deposits and withdrawals.';
comment on column analytics.journal_entries.market_id is 'The market: public id.';
comment on column analytics.journal_entries.account_key is 'The account: internal key.';
comment on column analytics.journal_entries.account_kind is
  'outside_world, user_cash, market_escrow or fee_revenue.';
comment on column analytics.journal_entries.user_key is
  'Whose account it is: internal key, for joins; null unless user_cash.';
comment on column analytics.journal_entries.user_id is 'Whose account it is: public id.';
comment on column analytics.journal_entries.amount_cents is
  'What came to the account; negative for what went.';
comment on column analytics.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column analytics.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column analytics.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column analytics.journal_entries.created_at is 'When it happened.';
--! EndIncluded analytics/views/journal_entries.sql
--! Included analytics/views/cash_movements.sql
create view analytics.cash_movements as
select
  c.journal_id as journal_key,
  c.user_id as user_key,
  u.public_id as user_id,
  c.kind::text as kind,
  c.amount_cents,
  j.created_at
from ledger.cash_movements as c
left join ledger.posted_journals as j on j.id = c.journal_id
left join identity.users as u on u.id = c.user_id;

comment on view analytics.cash_movements is
  'Deposits and withdrawals. Their references are for operators: admin.cash_movements.';
comment on column analytics.cash_movements.journal_key is
  'The journal that moved the cash: internal key, for joins.';
comment on column analytics.cash_movements.user_key is 'The user: internal key, for joins.';
comment on column analytics.cash_movements.user_id is 'The user: public id.';
comment on column analytics.cash_movements.kind is 'deposit or withdrawal.';
comment on column analytics.cash_movements.amount_cents is 'The amount, above zero for both kinds.';
comment on column analytics.cash_movements.created_at is 'When it happened.';
--! EndIncluded analytics/views/cash_movements.sql
--! Included analytics/views/open_interest.sql
create view analytics.open_interest as
select
  m.id as market_key,
  m.public_id as market_id,
  h.pair_count,
  h.yes_holder_count,
  h.no_holder_count,
  s.escrow_cents::bigint as escrow_cents
from catalog.markets as m
left join trading.market_state as s on s.market_id = m.id
cross join lateral (
  select
    coalesce(sum(h.yes_quantity), 0)::bigint as pair_count,
    count(*) filter (where h.yes_quantity > 0) as yes_holder_count,
    count(*) filter (where h.no_quantity > 0) as no_holder_count
  from trading.holdings as h
  where h.market_id = m.id
    and m.status <> 'resolved'
) as h;

comment on view analytics.open_interest is
  'How many pairs of shares are held in each market, and by how many users. All 0 once the market '
  'is resolved: its shares are paid and gone.';
comment on column analytics.open_interest.market_key is 'The market: internal key, for joins.';
comment on column analytics.open_interest.market_id is 'The market: public id.';
comment on column analytics.open_interest.pair_count is
  'Pairs of a YES and a NO share that are held; as many of each side.';
comment on column analytics.open_interest.yes_holder_count is 'Users who hold YES shares.';
comment on column analytics.open_interest.no_holder_count is 'Users who hold NO shares.';
comment on column analytics.open_interest.escrow_cents is
  'Cash that backs the shares: 100 cents a pair.';
--! EndIncluded analytics/views/open_interest.sql
--! Included analytics/views/fee_schedules.sql
create view analytics.fee_schedules as
select
  s.id as fee_schedule_key,
  c.slug as category,
  s.market_id as market_key,
  m.public_id as market_id,
  s.taker_rate_bps,
  s.effective_from,
  s.created_at
from trading.fee_schedules as s
left join catalog.categories as c on c.id = s.category_id
left join catalog.markets as m on m.id = s.market_id;

comment on view analytics.fee_schedules is
  'Dated taker fees: a market''s own, else its category''s, else the default; of these the '
  'latest in force.';
comment on column analytics.fee_schedules.fee_schedule_key is 'Internal key, for joins.';
comment on column analytics.fee_schedules.category is
  'The category that it is for; null unless it is for one.';
comment on column analytics.fee_schedules.market_key is
  'The market that it is for: internal key; null unless it is for one.';
comment on column analytics.fee_schedules.market_id is 'The market that it is for: public id.';
comment on column analytics.fee_schedules.taker_rate_bps is
  'Basis points of quantity x p x (1 - p).';
comment on column analytics.fee_schedules.effective_from is
  'When it begins to hold; -infinity for the first.';
comment on column analytics.fee_schedules.created_at is 'When an operator made it.';
--! EndIncluded analytics/views/fee_schedules.sql
--! Included analytics/views/fee_revenue.sql
create view analytics.fee_revenue as
select
  f.day,
  f.market_id as market_key,
  m.public_id as market_id,
  f.fee_schedule_id as fee_schedule_key,
  s.taker_rate_bps,
  f.trade_count,
  f.quantity,
  f.fee_cents
from (
  select
    (t.created_at at time zone 'UTC')::date as day,
    t.market_id,
    t.fee_schedule_id,
    count(*) as trade_count,
    sum(t.quantity::int) as quantity,
    sum(t.fee_cents)::bigint as fee_cents
  from trading.trades as t
  group by 1, t.market_id, t.fee_schedule_id
) as f
left join trading.fee_schedules as s on s.id = f.fee_schedule_id
left join catalog.markets as m on m.id = f.market_id;

comment on view analytics.fee_revenue is 'Taker fees by UTC day, market and fee schedule.';
comment on column analytics.fee_revenue.day is 'UTC day.';
comment on column analytics.fee_revenue.market_key is 'The market: internal key, for joins.';
comment on column analytics.fee_revenue.market_id is 'The market: public id.';
comment on column analytics.fee_revenue.fee_schedule_key is
  'The fee schedule: internal key, for joins.';
comment on column analytics.fee_revenue.taker_rate_bps is
  'Its rate in basis points of quantity x p x (1 - p).';
comment on column analytics.fee_revenue.trade_count is 'Trades.';
comment on column analytics.fee_revenue.quantity is 'Shares, or pairs of shares, traded.';
comment on column analytics.fee_revenue.fee_cents is 'Fees taken.';
--! EndIncluded analytics/views/fee_revenue.sql
--! Included analytics/views/book_depth.sql
create view analytics.book_depth as
select
  l.market_id as market_key,
  m.public_id as market_id,
  case when l.book_side = 'yes' then 'bid' else 'ask' end as side,
  case
    when l.book_side = 'yes' then l.book_price::int
    else 100 - l.book_price::int
  end as yes_price_cents,
  l.quantity,
  l.order_count
from (
  select
    b.market_id, b.book_side, b.book_price,
    sum(b.left_quantity) as quantity,
    count(*) as order_count
  from trading.active_orders as b
  where b.queue_position is not null
    and (b.expires_at is null or b.expires_at > analytics.now())
  group by b.market_id, b.book_side, b.book_price
) as l
left join catalog.markets as m on m.id = l.market_id;

comment on view analytics.book_depth is
  'The books as they are now, in YES prices, without orders past their expiry. '
  'analytics.book_as_of has those of the past.';
comment on column analytics.book_depth.market_key is 'The market: internal key, for joins.';
comment on column analytics.book_depth.market_id is 'The market: public id.';
comment on column analytics.book_depth.side is 'bid or ask.';
comment on column analytics.book_depth.yes_price_cents is 'YES price of the level.';
comment on column analytics.book_depth.quantity is 'Unfilled shares at that price.';
comment on column analytics.book_depth.order_count is 'Orders at that price.';
--! EndIncluded analytics/views/book_depth.sql
--! Included analytics/functions/market_key.sql
create or replace function analytics.market_key(market_id uuid)
returns bigint
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_key bigint;
begin
  select m.market_key into v_market_key
  from analytics.markets as m
  where m.market_id = market_key.market_id;
  if not found then
    raise exception using
      errcode = 'EX017',
      message = format('no market %s', coalesce(market_key.market_id::text, 'null')),
      detail = 'NOT_FOUND',
      hint = 'analytics.markets has the ids of all markets.';
  end if;
  return v_market_key;
end
$$;

comment on function analytics.market_key(uuid) is
  'The internal key of the market with this public id. Errors: NOT_FOUND.';
--! EndIncluded analytics/functions/market_key.sql
--! Included analytics/functions/book_history.sql
-- A book is not kept as it was; it is worked out from its orders:
--
--   the moments that were asked for, at most so many
--   resting, fills: from when to when each order rested, and what it lost meanwhile
--   changes, by_moment: what each order had on the book by each moment
--   by_order, by_level, levels: added up from moment to moment
create or replace function analytics.book_history(
  market_id uuid, step interval, since timestamptz, until timestamptz
)
returns table (
  at timestamptz, side text, yes_price_cents int, quantity bigint, order_count bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most_moments constant int := 2000;
  v_market_key constant bigint := analytics.market_key(book_history.market_id);
  v_problem text;
  v_hint text;
  v_count numeric;
  v_moments timestamptz[];
begin
  if book_history.step is null or book_history.since is null or book_history.until is null then
    v_problem := 'step, since and until must not be null';
  elsif not isfinite(book_history.since) or not isfinite(book_history.until) then
    v_problem := 'since and until must be finite';
    v_hint := 'The book of a market begins at its created_at and is known until analytics.now().';
  elsif book_history.until < book_history.since then
    v_problem := 'until must not be before since';
  elsif book_history.step <= interval '0' then
    v_problem := format('step must be above zero, not %s', book_history.step);
  else
    v_count := 1 + trunc(
      extract(epoch from book_history.until - book_history.since)
        / extract(epoch from book_history.step)
    );
    if v_count > c_most_moments then
      v_problem := format(
        'a book at each of %s moments is too much: at most %s may be asked for',
        v_count, c_most_moments
      );
      v_hint := format(
        'Ask for a step of %s or more, or for a shorter time.',
        make_interval(secs => ceil(
          extract(epoch from book_history.until - book_history.since) / (c_most_moments - 1)
        )::float8)
      );
    end if;
  end if;
  if v_problem is not null then
    raise exception using
      errcode = 'EX001',
      message = v_problem,
      detail = 'INVALID_REQUEST',
      hint = coalesce(v_hint, '');
  end if;

  -- Steps of days and months are counted in UTC.
  v_moments := array(
    select s.at at time zone 'UTC'
    from generate_series(
      book_history.since at time zone 'UTC', book_history.until at time zone 'UTC',
      book_history.step
    ) as s (at)
    order by s.at
  );

  return query
  with
  fills as materialized (
    select f.order_key, f.created_at, f.quantity
    from analytics.fills as f
    where f.market_key = v_market_key
      and f.created_at > book_history.since
  ),
  resting as materialized (
    select
      o.order_key,
      o.book_side,
      o.yes_price_cents,
      greatest(coalesce(o.released_at, o.created_at), book_history.since) as entered_at,
      coalesce(r.quantity, o.quantity) - o.filled_quantity + coalesce(f.quantity, 0)
        as entered_quantity,
      least(o.cancelled_at, o.expires_at) as left_at,
      o.quantity - o.filled_quantity as left_quantity
    from analytics.markets as m
    join analytics.orders as o on o.market_key = m.market_key
    left join (
      select x.order_key, sum(x.quantity) as quantity
      from fills as x
      group by x.order_key
    ) as f on f.order_key = o.order_key
    left join lateral (
      select max(x.quantity_before) as quantity
      from analytics.order_reductions as x
      where x.order_key = o.order_key
        and x.reduced_at > book_history.since
    ) as r on true
    where m.market_key = v_market_key
      and o.created_at between m.created_at and book_history.until
      and (o.release_at is null or o.released_at <= book_history.until)
      -- Some never rest: what leaves as it comes, or expires before it is released.
      and coalesce(
        least(o.cancelled_at, o.expires_at)
          > greatest(coalesce(o.released_at, o.created_at), book_history.since),
        true
      )
  ),
  changes as (
    select r.order_key, r.entered_at as at, r.entered_quantity as quantity
    from resting as r
    union all
    select f.order_key, f.created_at, - f.quantity
    from fills as f
    union all
    select x.order_key, x.reduced_at, x.quantity_after - x.quantity_before
    from resting as r
    join analytics.order_reductions as x on x.order_key = r.order_key
    where x.reduced_at > book_history.since
    union all
    select r.order_key, r.left_at, - r.left_quantity
    from resting as r
    where r.left_at is not null
  ),
  -- By the first moment at which each change has happened.
  by_moment as (
    select
      c.order_key,
      case when v_moments[b.before] = c.at then b.before else b.before + 1 end as moment,
      sum(c.quantity) as quantity
    from changes as c
    cross join lateral (select width_bucket(c.at, v_moments) as before) as b
    where c.at <= v_moments[cardinality(v_moments)]
    group by 1, 2
  ),
  by_order as (
    select
      c.order_key, c.moment, c.quantity,
      sum(c.quantity) over (partition by c.order_key order by c.moment) as left_quantity
    from by_moment as c
  ),
  by_level as materialized (
    select
      r.book_side,
      r.yes_price_cents,
      o.moment,
      sum(o.quantity) as quantity,
      sum((o.left_quantity > 0)::int - (o.left_quantity > o.quantity)::int) as order_count
    from by_order as o
    join resting as r on r.order_key = o.order_key
    group by r.book_side, r.yes_price_cents, o.moment
  ),
  levels as (
    select
      m.at,
      l.book_side,
      l.yes_price_cents,
      sum(c.quantity) over w as quantity,
      sum(c.order_count) over w as order_count
    from (select distinct x.book_side, x.yes_price_cents from by_level as x) as l
    cross join unnest(v_moments) with ordinality as m (at, moment)
    left join by_level as c
      on c.book_side = l.book_side
      and c.yes_price_cents = l.yes_price_cents
      and c.moment = m.moment
    window w as (partition by l.book_side, l.yes_price_cents order by m.moment)
  )
  select
    l.at, l.book_side, l.yes_price_cents, l.quantity::bigint, l.order_count::bigint
  from levels as l
  where l.quantity > 0;
end
$$;

comment on function analytics.book_history(uuid, interval, timestamptz, timestamptz) is
  'The book of a market at a time, and at each step after it until another, which is in the answer '
  'too if a step lands on it: bids and asks in YES prices, once everything of that moment had '
  'happened. A moment with an empty book has no row. Steps of days and months are counted in UTC; '
  'at most 2,000 moments. Reads the orders and trades of the market once, however many moments. '
  'Errors: NOT_FOUND, INVALID_REQUEST.';
--! EndIncluded analytics/functions/book_history.sql
--! Included analytics/functions/book_as_of.sql
create or replace function analytics.book_as_of(market_id uuid, at timestamptz)
returns table (side text, yes_price_cents int, quantity bigint, order_count bigint)
language sql stable parallel safe
begin atomic
  select b.side, b.yes_price_cents, b.quantity, b.order_count
  from analytics.book_history(
    book_as_of.market_id, '1 day', book_as_of.at, book_as_of.at
  ) as b;
end;

comment on function analytics.book_as_of(uuid, timestamptz) is
  'The book of a market as it was once everything of that moment had happened: bids and asks in '
  'YES prices. analytics.book_history has those of many moments. Errors: NOT_FOUND, '
  'INVALID_REQUEST.';
--! EndIncluded analytics/functions/book_as_of.sql
--! Included analytics/functions/candles.sql
create or replace function analytics.candles(
  market_id uuid, width interval, since timestamptz, until timestamptz
)
returns table (
  opened_at timestamptz,
  open_yes_price_cents int,
  high_yes_price_cents int,
  low_yes_price_cents int,
  close_yes_price_cents int,
  quantity bigint,
  yes_volume_cents bigint,
  trade_count bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most_candles constant int := 50000;
  v_market_key constant bigint := analytics.market_key(candles.market_id);
  v_problem text;
  v_hint text;
  v_seconds numeric;
  v_count numeric;
begin
  if candles.width is null or candles.since is null or candles.until is null then
    v_problem := 'width, since and until must not be null';
  elsif candles.until <= candles.since then
    v_problem := 'until must be after since';
  elsif extract(year from candles.width) <> 0 or extract(month from candles.width) <> 0 then
    v_problem := format('a candle has no fixed width of %s: months differ', candles.width);
    v_hint := 'Give the width in weeks, days, hours, minutes or seconds.';
  elsif candles.width <= interval '0' then
    v_problem := format('width must be above zero, not %s', candles.width);
  else
    -- Without a trade there is no candle, so the market's life is all that counts.
    select extract(epoch from
      least(candles.until, analytics.now()) - greatest(candles.since, m.created_at)
    )
    into v_seconds
    from analytics.markets as m
    where m.market_key = v_market_key;
    v_count := ceil(v_seconds / extract(epoch from candles.width));
    if v_count > c_most_candles then
      v_problem := format(
        '%s candles are too many: at most %s may be asked for', v_count, c_most_candles
      );
      v_hint := format(
        'Ask for a width of %s or more, or for a shorter time.',
        make_interval(secs => ceil(v_seconds / c_most_candles)::float8)
      );
    end if;
  end if;
  if v_problem is not null then
    raise exception using
      errcode = 'EX001',
      message = v_problem,
      detail = 'INVALID_REQUEST',
      hint = coalesce(v_hint, '');
  end if;

  return query
  select
    date_bin(candles.width, t.created_at, '2000-01-01 00:00:00+00'),
    (array_agg(t.yes_price_cents order by t.trade_key))[1],
    max(t.yes_price_cents),
    min(t.yes_price_cents),
    (array_agg(t.yes_price_cents order by t.trade_key desc))[1],
    sum(t.quantity)::bigint,
    sum(t.quantity::bigint * t.yes_price_cents)::bigint,
    count(*)
  from analytics.trades as t
  where t.market_key = v_market_key
    and t.created_at >= candles.since
    and t.created_at < candles.until
  group by 1
  order by 1;
end
$$;

comment on function analytics.candles(uuid, interval, timestamptz, timestamptz) is
  'YES prices of a market''s trades, from a time until before another, in candles of that width '
  '(seconds to weeks; not months), which begin at whole multiples of it in UTC, counted from '
  '2000-01-01. Without a trade there is no candle. The time asked for may hold at most 50,000. '
  'Errors: NOT_FOUND, INVALID_REQUEST.';
--! EndIncluded analytics/functions/candles.sql
--! Included analytics/functions/daily_trader_results.sql
create or replace function analytics.daily_trader_results(
  since date default '-infinity', until date default 'infinity'
)
returns table (
  day date,
  user_key bigint,
  fill_count bigint,
  taker_quantity bigint,
  maker_quantity bigint,
  volume_cents bigint,
  fee_cents bigint,
  sales_realised_cents bigint,
  merges_realised_cents bigint,
  settlements_realised_cents bigint,
  realised_cents bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if daily_trader_results.since is null or daily_trader_results.until is null
    or daily_trader_results.until <= daily_trader_results.since
  then
    raise exception using
      errcode = 'EX001',
      message = 'until must be a day after since',
      detail = 'INVALID_REQUEST',
      hint = 'The day named by until is not in the answer.';
  end if;

  return query
  with results as (
    select
      f.created_at,
      f.user_key,
      1 as fill_count,
      case f.role when 'taker' then f.quantity else 0 end as taker_quantity,
      case f.role when 'maker' then f.quantity else 0 end as maker_quantity,
      f.amount_cents as volume_cents,
      f.fee_cents,
      coalesce(f.realised_cents, 0) as sales_realised_cents,
      0::bigint as merges_realised_cents,
      0::bigint as settlements_realised_cents
    from analytics.fills as f
    union all
    select
      c.created_at, c.user_key, 0, 0, 0, 0, 0, 0, c.yes_realised_cents + c.no_realised_cents, 0
    from analytics.set_conversions as c
    where c.kind = 'merge'
    union all
    select s.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, s.realised_cents
    from analytics.settlements as s
    union all
    select r.created_at, s.user_key, 0, 0, 0, 0, 0, 0, 0, - s.realised_cents
    from analytics.resolutions as r
    join analytics.settlements as s on s.resolution_key = r.corrects_resolution_key
  )
  select
    (r.created_at at time zone 'UTC')::date,
    r.user_key,
    sum(r.fill_count)::bigint,
    sum(r.taker_quantity)::bigint,
    sum(r.maker_quantity)::bigint,
    sum(r.volume_cents)::bigint,
    sum(r.fee_cents)::bigint,
    sum(r.sales_realised_cents)::bigint,
    sum(r.merges_realised_cents)::bigint,
    sum(r.settlements_realised_cents)::bigint,
    sum(
      r.sales_realised_cents + r.merges_realised_cents + r.settlements_realised_cents
    )::bigint
  from results as r
  where r.created_at >= daily_trader_results.since::timestamp at time zone 'UTC'
    and r.created_at < daily_trader_results.until::timestamp at time zone 'UTC'
  group by 1, 2;
end
$$;

comment on function analytics.daily_trader_results(date, date) is
  'What each trader did and realised on each UTC day, from a day until before another; days on '
  'which nothing happened have no row. volume_cents is quantity x price of the fills, on the '
  'trader''s side: its sum over traders is not yes_volume_cents + no_volume_cents of the markets, '
  'because a transfer counts the same side for both. fee_cents are the fees paid, those of buys '
  'included. What sales, merges and settlements realised is profit and not proceeds: what they '
  'brought less their fees, and less what the shares had cost with their buy fees; realised_cents '
  'is the sum of the three. A correction counts on its own day, with the difference. Reads all '
  'trades once. Errors: INVALID_REQUEST.';
--! EndIncluded analytics/functions/daily_trader_results.sql

-- For operators to read
--! Included admin/views/categories.sql
create view admin.categories as
select
  x.category_key,
  x.category,
  x.name,
  x.position,
  x.event_count,
  x.open_market_count,
  x.closed_market_count
from analytics.categories as x;

comment on view admin.categories is 'Groups of events and markets.';
comment on column admin.categories.category_key is 'Internal key, for joins.';
comment on column admin.categories.category is 'Public name of the category, as in addresses.';
comment on column admin.categories.name is 'Name for display.';
comment on column admin.categories.position is 'Place in the order of display.';
comment on column admin.categories.event_count is 'Events of the category.';
comment on column admin.categories.open_market_count is 'Markets that are open.';
comment on column admin.categories.closed_market_count is
  'Markets that are closed or resolved.';
--! EndIncluded admin/views/categories.sql
--! Included admin/views/events.sql
create view admin.events as
select
  x.event_key,
  x.event_id,
  x.category_key,
  x.category,
  x.title,
  c.description,
  x.starts_at,
  x.ends_at,
  x.is_live,
  x.live_delay_ms,
  x.created_at,
  c.thumbnail_id,
  c.thumbnail_url
from analytics.events as x
left join catalog.events as c on c.id = x.event_key;

comment on view admin.events is 'Real-world occurrences, each with one or more markets.';
comment on column admin.events.event_key is 'Internal key, for joins.';
comment on column admin.events.event_id is 'Public id.';
comment on column admin.events.category_key is 'The category: internal key, for joins.';
comment on column admin.events.category is 'The category''s public name.';
comment on column admin.events.title is 'Title for display.';
comment on column admin.events.description is
  'Text for display; null if there is none.';
comment on column admin.events.starts_at is 'When it begins; null if that is not known.';
comment on column admin.events.ends_at is 'When it ends; null if that is not known.';
comment on column admin.events.is_live is
  'Live-traded: while the event lasts, new orders wait before they match.';
comment on column admin.events.live_delay_ms is 'How long they wait, in milliseconds.';
comment on column admin.events.created_at is 'When an operator made it.';
comment on column admin.events.thumbnail_id is 'Id of the picture; null if none was given.';
comment on column admin.events.thumbnail_url is 'Address of the picture; null if none was given.';
--! EndIncluded admin/views/events.sql
--! Included admin/views/markets.sql
create view admin.markets as
select
  x.market_key,
  x.market_id,
  x.category_key,
  x.category,
  x.event_key,
  x.event_id,
  x.title,
  c.description,
  x.status,
  x.close_time,
  x.resolved_outcome,
  x.yes_payout_cents,
  x.resolved_at,
  x.created_at,
  x.last_yes_price_cents,
  x.yes_volume_cents,
  x.no_volume_cents,
  x.trade_count,
  x.trader_count,
  x.version,
  c.thumbnail_id,
  c.thumbnail_url
from analytics.markets as x
left join catalog.markets as c on c.id = x.market_key;

comment on view admin.markets is 'Binary questions, with what trading has made of them so far.';
comment on column admin.markets.market_key is 'Internal key, for joins.';
comment on column admin.markets.market_id is 'Public id.';
comment on column admin.markets.category_key is 'The category: internal key, for joins.';
comment on column admin.markets.category is 'The category''s public name.';
comment on column admin.markets.event_key is
  'The event: internal key, for joins; null for a market of its own.';
comment on column admin.markets.event_id is 'The event: public id.';
comment on column admin.markets.title is 'The question.';
comment on column admin.markets.description is
  'Text for display; empty if there is none.';
comment on column admin.markets.status is 'open, paused, closed or resolved.';
comment on column admin.markets.close_time is
  'From then on it takes no orders; null if that is open.';
comment on column admin.markets.resolved_outcome is
  'yes, no or custom; null before the resolution.';
comment on column admin.markets.yes_payout_cents is
  'What a YES share pays by the resolution that holds, 0-100; a NO share pays the rest.';
comment on column admin.markets.resolved_at is
  'When it was first resolved; corrections since then are in admin.resolutions.';
comment on column admin.markets.created_at is 'When an operator made it.';
comment on column admin.markets.last_yes_price_cents is
  'YES price of the last trade; null before the first.';
comment on column admin.markets.yes_volume_cents is
  'Sum over the trades of quantity x YES price.';
comment on column admin.markets.no_volume_cents is
  'Sum over the trades of quantity x NO price.';
comment on column admin.markets.trade_count is 'Trades so far.';
comment on column admin.markets.trader_count is 'Distinct users who ever traded it.';
comment on column admin.markets.version is 'Changes of its book and trades so far.';
comment on column admin.markets.thumbnail_id is 'Id of the picture; null if none was given.';
comment on column admin.markets.thumbnail_url is 'Address of the picture; null if none was given.';
--! EndIncluded admin/views/markets.sql
--! Included admin/views/users.sql
create view admin.users as
select
  x.user_key,
  x.user_id,
  u.email,
  x.handle,
  u.display_name,
  x.is_private,
  x.leaderboard_opt_out,
  x.created_at,
  x.balance_cents,
  x.net_deposits_cents,
  x.overdraft_cents,
  x.limits_reviewed_at,
  r.excluded_until,
  x.day_limit_cents,
  x.week_limit_cents,
  x.month_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.next_day_limit_cents end
    as next_day_limit_cents,
  case when r.day_limit_changes_at > analytics.now() then r.day_limit_changes_at end
    as day_limit_changes_at,
  case when r.week_limit_changes_at > analytics.now() then r.next_week_limit_cents end
    as next_week_limit_cents,
  case when r.week_limit_changes_at > analytics.now() then r.week_limit_changes_at end
    as week_limit_changes_at,
  case when r.month_limit_changes_at > analytics.now() then r.next_month_limit_cents end
    as next_month_limit_cents,
  case when r.month_limit_changes_at > analytics.now() then r.month_limit_changes_at end
    as month_limit_changes_at,
  x.day_net_spent_cents,
  x.week_net_spent_cents,
  x.month_net_spent_cents,
  x.active_order_cost_cents,
  r.frozen_at,
  r.frozen_by,
  r.frozen_reason,
  coalesce(p.tier, s.tier)::text as rate_tier,
  coalesce(p.requests_per_minute, s.requests_per_minute)::int as requests_per_minute,
  coalesce(p.burst_capacity, s.burst_capacity)::int as burst_capacity,
  p.expires_at as rate_policy_expires_at
from analytics.users as x
join identity.users as u on u.id = x.user_key
left join trading.traders as r on r.user_id = x.user_key
left join rate_limits.rate_policies as p
  on p.user_id = x.user_key
  and (p.expires_at is null or p.expires_at > analytics.now())
cross join rate_limits.standard_policy() as s;

comment on view admin.users is
  'Traders, with e-mail, cash, loss limits, rate policy, and whether they are frozen.';
comment on column admin.users.user_key is 'Internal key, for joins.';
comment on column admin.users.user_id is 'Public id.';
comment on column admin.users.email is 'E-mail; unique whatever its case.';
comment on column admin.users.handle is 'Unique short name.';
comment on column admin.users.display_name is 'Name for display.';
comment on column admin.users.is_private is 'Whether the public is not told the name.';
comment on column admin.users.leaderboard_opt_out is 'Whether the user is in no leaderboard.';
comment on column admin.users.created_at is 'When an operator made the user.';
comment on column admin.users.balance_cents is 'Cash.';
comment on column admin.users.net_deposits_cents is
  'Deposits less withdrawals. Less the cash, it is the net cash put into trading.';
comment on column admin.users.overdraft_cents is
  'How far corrections of resolutions took the cash below zero.';
comment on column admin.users.limits_reviewed_at is
  'When the loss limits were first reviewed; null: may not trade yet.';
comment on column admin.users.excluded_until is
  'Self-excluded until then; infinity is for good, null is never.';
comment on column admin.users.day_limit_cents is
  'Loss limit in force for today (UTC); null is none.';
comment on column admin.users.week_limit_cents is
  'Loss limit in force for the last 7 UTC days; null is none.';
comment on column admin.users.month_limit_cents is
  'Loss limit in force for the last 30 UTC days; null is none.';
comment on column admin.users.next_day_limit_cents is
  'The day''s limit from day_limit_changes_at on: a raise waits 24 hours. Null is none, if '
  'day_limit_changes_at is set.';
comment on column admin.users.day_limit_changes_at is
  'When next_day_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_week_limit_cents is
  'Likewise the limit for the last 7 UTC days.';
comment on column admin.users.week_limit_changes_at is
  'When next_week_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.next_month_limit_cents is
  'Likewise the limit for the last 30 UTC days.';
comment on column admin.users.month_limit_changes_at is
  'When next_month_limit_cents comes into force; null: no change is waiting.';
comment on column admin.users.day_net_spent_cents is
  'Net cash put into trading today (UTC): buys, fees and splits less sells, merges and '
  'settlements, so negative when more came out. What counts toward the day''s limit is this, at '
  'least 0, and active_order_cost_cents.';
comment on column admin.users.week_net_spent_cents is
  'Likewise over the last 7 UTC days, today included.';
comment on column admin.users.month_net_spent_cents is
  'Likewise over the last 30 UTC days, today included.';
comment on column admin.users.active_order_cost_cents is
  'The most that the user''s open orders could still cost.';
comment on column admin.users.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column admin.users.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave.';
comment on column admin.users.frozen_reason is 'Why it is frozen.';
comment on column admin.users.rate_tier is
  'The rate policy in force: standard, elevated or custom. One that has expired is standard again.';
comment on column admin.users.requests_per_minute is
  'Trading requests a minute that it grants.';
comment on column admin.users.burst_capacity is
  'Trading requests back to back that it grants.';
comment on column admin.users.rate_policy_expires_at is
  'When the standard policy holds again; null is never, or it is the standard one.';
--! EndIncluded admin/views/users.sql
--! Included admin/views/api_keys.sql
create view admin.api_keys as
select
  k.public_id as key_id,
  k.user_id as user_key,
  u.public_id as user_id,
  k.name,
  k.created_at,
  k.last_used_at,
  k.revoked_at
from identity.api_keys as k
left join identity.users as u on u.id = k.user_id;

comment on view admin.api_keys is
  'API keys of traders, revoked ones too. The keys themselves are not kept.';
comment on column admin.api_keys.key_id is 'Public id, as admin.revoke_api_key takes it.';
comment on column admin.api_keys.user_key is 'The user: internal key, for joins.';
comment on column admin.api_keys.user_id is 'The user: public id.';
comment on column admin.api_keys.name is 'What the user calls it.';
comment on column admin.api_keys.created_at is 'When it was made.';
comment on column admin.api_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.api_keys.revoked_at is
  'When it was revoked; null while it is in force.';
--! EndIncluded admin/views/api_keys.sql
--! Included admin/views/staff_keys.sql
create view admin.staff_keys as
select
  k.public_id as key_id,
  k.name,
  k.role,
  k.created_at,
  k.last_used_at,
  k.revoked_at
from identity.staff_keys as k;

comment on view admin.staff_keys is
  'Keys of analysts and operators, revoked ones too. The keys themselves are not kept.';
comment on column admin.staff_keys.key_id is 'Public id, as admin.revoke_staff_key takes it.';
comment on column admin.staff_keys.name is 'Who or what has it.';
comment on column admin.staff_keys.role is 'analyst or operator.';
comment on column admin.staff_keys.created_at is 'When it was made.';
comment on column admin.staff_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.staff_keys.revoked_at is
  'When it was revoked; null while it is in force.';
--! EndIncluded admin/views/staff_keys.sql
--! Included admin/views/orders.sql
create view admin.orders as
select
  x.order_key,
  x.order_id,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.order_type,
  x.price_cents,
  x.book_side,
  x.yes_price_cents,
  x.original_quantity,
  x.quantity,
  x.filled_quantity,
  x.budget_cents,
  x.time_in_force,
  x.is_post_only,
  x.status,
  case x.cancel_reason
    when 'responsible_gaming' then coalesce(
      (
        select o.cancel_reason::text
        from trading.orders as o
        where o.id = x.order_key
      ),
      (
        select a.cancel_reason::text
        from trading.archived_orders as a
        where a.public_id = x.order_id
      )
    )
    else x.cancel_reason
  end as cancel_reason,
  x.fee_cents,
  x.created_at,
  x.expires_at,
  x.release_at,
  x.released_at,
  x.cancelled_at,
  x.is_archived
from analytics.orders as x;

comment on view admin.orders is
  'Every order that was accepted, archived ones too, in the form its trader gave it.';
comment on column admin.orders.order_key is
  'Internal key, for joins; ascending in the order of their making.';
comment on column admin.orders.order_id is 'Public id.';
comment on column admin.orders.market_key is 'The market: internal key, for joins.';
comment on column admin.orders.market_id is 'The market: public id.';
comment on column admin.orders.user_key is 'The user: internal key, for joins.';
comment on column admin.orders.user_id is 'The user: public id.';
comment on column admin.orders.side is 'yes or no: the shares that the trader deals in.';
comment on column admin.orders.order_type is 'buy or sell.';
comment on column admin.orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column admin.orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column admin.orders.yes_price_cents is 'The limit as a YES price.';
comment on column admin.orders.original_quantity is
  'Shares ordered at first, before amendments that kept the order''s place.';
comment on column admin.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column admin.orders.filled_quantity is 'Shares of it that have traded.';
comment on column admin.orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column admin.orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder.';
comment on column admin.orders.is_post_only is
  'Whether it is refused rather than matched on arrival.';
comment on column admin.orders.status is
  'scheduled, open, partially_filled, filled or cancelled. An order past its expiry may still '
  'be open here until it is swept.';
comment on column admin.orders.cancel_reason is 'Why it was cancelled; else null.';
comment on column admin.orders.fee_cents is 'Taker fee paid.';
comment on column admin.orders.created_at is 'When it was accepted.';
comment on column admin.orders.expires_at is 'From then on it counts nowhere; null is never.';
comment on column admin.orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column admin.orders.released_at is
  'When it was released; null if it was not delayed, or not released.';
comment on column admin.orders.cancelled_at is 'When it was cancelled; else null.';
comment on column admin.orders.is_archived is
  'Whether it was moved to the archive: 30 days after it was cancelled without a fill.';
--! EndIncluded admin/views/orders.sql
--! Included admin/views/order_reductions.sql
create view admin.order_reductions as
select
  x.order_key,
  x.quantity_before,
  x.quantity_after,
  x.reduced_at
from analytics.order_reductions as x;

comment on view admin.order_reductions is
  'Amendments that took shares off an order, which kept its place in the queue. Other '
  'amendments are new orders.';
comment on column admin.order_reductions.order_key is
  'The order: internal key, for joins with admin.orders.';
comment on column admin.order_reductions.quantity_before is 'Shares ordered before.';
comment on column admin.order_reductions.quantity_after is 'Shares ordered from then on.';
comment on column admin.order_reductions.reduced_at is 'When it was amended.';
--! EndIncluded admin/views/order_reductions.sql
--! Included admin/views/trades.sql
create view admin.trades as
select
  x.trade_key,
  x.trade_id,
  x.market_key,
  x.market_id,
  x.match_type,
  x.yes_price_cents,
  x.quantity,
  x.taker_order_key,
  x.taker_order_id,
  x.taker_user_key,
  x.taker_user_id,
  x.taker_order_type,
  x.taker_side,
  x.maker_order_key,
  x.maker_order_id,
  x.maker_user_key,
  x.maker_user_id,
  x.maker_order_type,
  x.maker_side,
  x.fee_cents,
  x.fee_schedule_key,
  x.taker_realised_cents,
  x.maker_realised_cents,
  x.journal_key,
  x.created_at
from analytics.trades as x;

comment on view admin.trades is 'Every match of two orders, in YES prices.';
comment on column admin.trades.trade_key is
  'Internal key, for joins; ascending in the order of the trades of a market.';
comment on column admin.trades.trade_id is 'Public id.';
comment on column admin.trades.market_key is 'The market: internal key, for joins.';
comment on column admin.trades.market_id is 'The market: public id.';
comment on column admin.trades.match_type is
  'mint: both bought, and new pairs of shares were made; transfer: shares went from one to the '
  'other; burn: both sold, and pairs of shares are gone.';
comment on column admin.trades.yes_price_cents is
  'YES price of a share; the NO price is 100 less it.';
comment on column admin.trades.quantity is 'Shares, or pairs of shares.';
comment on column admin.trades.taker_order_key is
  'The order that came to the book: internal key, for joins.';
comment on column admin.trades.taker_order_id is 'The order that came to the book: public id.';
comment on column admin.trades.taker_user_key is 'Its user: internal key, for joins.';
comment on column admin.trades.taker_user_id is 'Its user: public id.';
comment on column admin.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column admin.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column admin.trades.maker_order_key is
  'The order that rested: internal key, for joins.';
comment on column admin.trades.maker_order_id is 'The order that rested: public id.';
comment on column admin.trades.maker_user_key is 'Its user: internal key, for joins.';
comment on column admin.trades.maker_user_id is 'Its user: public id.';
comment on column admin.trades.maker_order_type is 'What the maker did: buy or sell.';
comment on column admin.trades.maker_side is
  'The shares that the maker bought or sold: yes or no.';
comment on column admin.trades.fee_cents is
  'What this match added to the taker''s fee. Makers pay none.';
comment on column admin.trades.fee_schedule_key is 'The fee schedule that was in force.';
comment on column admin.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds less fee, cost and buy fees of the shares; null '
  'for a buyer.';
comment on column admin.trades.maker_realised_cents is
  'What the maker realised by selling; null for a buyer.';
comment on column admin.trades.journal_key is 'The journal that moved the cash.';
comment on column admin.trades.created_at is 'When it happened.';
--! EndIncluded admin/views/trades.sql
--! Included admin/views/positions.sql
create view admin.positions as
select
  x.position_id,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.is_settled,
  x.open_quantity,
  x.cost_cents,
  x.fee_cents,
  x.open_cost_cents,
  x.realised_cents,
  x.has_traded,
  x.mark_price_cents,
  x.mark_value_cents,
  x.unrealised_cents
from analytics.positions as x;

comment on view admin.positions is
  'Shares of each trader by market and side. Empty positions stay, and so do settled ones with '
  'their quantity and cost: sum the columns that begin with open_, mark_value_cents and '
  'unrealised_cents over what is still held. realised_cents + unrealised_cents, summed over a '
  'trader''s positions, is cash + mark_value_cents - net deposits.';
comment on column admin.positions.position_id is 'Public id.';
comment on column admin.positions.market_key is 'The market: internal key, for joins.';
comment on column admin.positions.market_id is 'The market: public id.';
comment on column admin.positions.user_key is 'The user: internal key, for joins.';
comment on column admin.positions.user_id is 'The user: public id.';
comment on column admin.positions.side is 'yes or no.';
comment on column admin.positions.quantity is
  'Shares held; once settled, the shares that were paid.';
comment on column admin.positions.is_settled is
  'Whether the market is resolved, and the shares are paid and gone.';
comment on column admin.positions.open_quantity is 'Shares still held; 0 once settled.';
comment on column admin.positions.cost_cents is
  'What was paid for the quantity, without fees.';
comment on column admin.positions.fee_cents is 'The buy fees paid for the quantity.';
comment on column admin.positions.open_cost_cents is
  'What was paid for the shares still held, buy fees included; 0 once settled.';
comment on column admin.positions.realised_cents is
  'What selling, merging and settlement have realised in this position so far, corrections '
  'included: what they brought less fees, and less what the shares had cost with their buy fees.';
comment on column admin.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column admin.positions.mark_price_cents is
  'What a share was paid by the resolution; before it, the price of the last trade; before the '
  'first trade 50, since all shares are then in pairs that are worth 100.';
comment on column admin.positions.mark_value_cents is
  'The shares still held at that price; 0 once settled.';
comment on column admin.positions.unrealised_cents is
  'mark_value_cents - open_cost_cents: what the shares still held would bring beyond cost and '
  'buy fees, without the fee of selling; 0 once settled.';
--! EndIncluded admin/views/positions.sql
--! Included admin/views/set_conversions.sql
create view admin.set_conversions as
select
  x.conversion_key,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.kind,
  x.quantity,
  x.yes_realised_cents,
  x.no_realised_cents,
  x.journal_key,
  x.created_at
from analytics.set_conversions as x;

comment on view admin.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them.';
comment on column admin.set_conversions.conversion_key is
  'Internal key, ascending in the order of their making.';
comment on column admin.set_conversions.market_key is 'The market: internal key, for joins.';
comment on column admin.set_conversions.market_id is 'The market: public id.';
comment on column admin.set_conversions.user_key is 'The user: internal key, for joins.';
comment on column admin.set_conversions.user_id is 'The user: public id.';
comment on column admin.set_conversions.kind is
  'split (cash into sets) or merge (sets into cash).';
comment on column admin.set_conversions.quantity is 'Sets.';
comment on column admin.set_conversions.yes_realised_cents is
  'What merging realised on the YES shares, at 50 cents each; null for a split.';
comment on column admin.set_conversions.no_realised_cents is 'Likewise on the NO shares.';
comment on column admin.set_conversions.journal_key is 'The journal that moved the cash.';
comment on column admin.set_conversions.created_at is 'When it happened.';
--! EndIncluded admin/views/set_conversions.sql
--! Included admin/views/journal_entries.sql
create view admin.journal_entries as
select
  x.journal_key,
  x.kind,
  x.market_key,
  x.market_id,
  x.account_key,
  x.account_kind,
  x.user_key,
  x.user_id,
  x.amount_cents,
  x.balance_before_cents,
  x.balance_after_cents,
  x.account_version,
  x.created_at
from analytics.journal_entries as x;

comment on view admin.journal_entries is
  'The ledger: every line of every journal. The lines of a journal sum to zero.';
comment on column admin.journal_entries.journal_key is 'The journal: internal key, for joins.';
comment on column admin.journal_entries.kind is
  'deposit, withdrawal, trade, split, merge, settlement or correction.';
comment on column admin.journal_entries.market_key is
  'The market: internal key, for joins; null for deposits and withdrawals.';
comment on column admin.journal_entries.market_id is 'The market: public id.';
comment on column admin.journal_entries.account_key is 'The account: internal key.';
comment on column admin.journal_entries.account_kind is
  'outside_world, user_cash, market_escrow or fee_revenue.';
comment on column admin.journal_entries.user_key is
  'Whose account it is: internal key, for joins; null unless user_cash.';
comment on column admin.journal_entries.user_id is 'Whose account it is: public id.';
comment on column admin.journal_entries.amount_cents is
  'What came to the account; negative for what went.';
comment on column admin.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column admin.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column admin.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column admin.journal_entries.created_at is 'When it happened.';
--! EndIncluded admin/views/journal_entries.sql
--! Included admin/views/cash_movements.sql
create view admin.cash_movements as
select
  x.journal_key,
  x.user_key,
  x.user_id,
  x.kind,
  c.reference,
  x.amount_cents,
  x.created_at
from analytics.cash_movements as x
join ledger.cash_movements as c on c.journal_id = x.journal_key;

comment on view admin.cash_movements is 'Deposits and withdrawals.';
comment on column admin.cash_movements.journal_key is
  'The journal that moved the cash: internal key, for joins.';
comment on column admin.cash_movements.user_key is 'The user: internal key, for joins.';
comment on column admin.cash_movements.user_id is 'The user: public id.';
comment on column admin.cash_movements.kind is 'deposit or withdrawal.';
comment on column admin.cash_movements.reference is
  'The operator''s reference, which made it happen once.';
comment on column admin.cash_movements.amount_cents is 'The amount, above zero for both kinds.';
comment on column admin.cash_movements.created_at is 'When it happened.';
--! EndIncluded admin/views/cash_movements.sql
--! Included admin/views/resolutions.sql
create view admin.resolutions as
select
  x.resolution_key,
  x.market_key,
  x.market_id,
  x.outcome,
  x.yes_payout_cents,
  x.corrects_resolution_key,
  r.reason,
  x.position_count,
  x.payout_cents,
  x.is_final,
  x.created_at
from analytics.resolutions as x
join trading.resolutions as r on r.id = x.resolution_key;

comment on view admin.resolutions is 'How markets were resolved, and corrected.';
comment on column admin.resolutions.resolution_key is
  'Internal key, for joins; ascending in the order of their making.';
comment on column admin.resolutions.market_key is 'The market: internal key, for joins.';
comment on column admin.resolutions.market_id is 'The market: public id.';
comment on column admin.resolutions.outcome is 'yes, no or custom.';
comment on column admin.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100; a NO share pays the rest.';
comment on column admin.resolutions.corrects_resolution_key is
  'The resolution that this one corrects; null for the first of a market.';
comment on column admin.resolutions.reason is 'Why it was corrected; null for the first.';
comment on column admin.resolutions.position_count is 'Positions that are settled.';
comment on column admin.resolutions.payout_cents is
  'What they are paid in all; of a correction too the whole, and not the difference.';
comment on column admin.resolutions.is_final is 'Whether no correction came after it.';
comment on column admin.resolutions.created_at is 'When it happened.';
--! EndIncluded admin/views/resolutions.sql
--! Included admin/views/settlements.sql
create view admin.settlements as
select
  x.resolution_key,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.quantity,
  x.payout_cents,
  x.cost_cents,
  x.fee_cents,
  x.realised_cents,
  x.is_final,
  x.created_at
from analytics.settlements as x;

comment on view admin.settlements is
  'What each resolution pays each position. A correction settles all positions of its market '
  'anew, so sum over those with is_final.';
comment on column admin.settlements.resolution_key is 'The resolution.';
comment on column admin.settlements.market_key is 'The market: internal key, for joins.';
comment on column admin.settlements.market_id is 'The market: public id.';
comment on column admin.settlements.user_key is 'The user: internal key, for joins.';
comment on column admin.settlements.user_id is 'The user: public id.';
comment on column admin.settlements.side is 'yes or no.';
comment on column admin.settlements.quantity is 'Shares.';
comment on column admin.settlements.payout_cents is 'What they are paid.';
comment on column admin.settlements.cost_cents is 'What was paid for them, without fees.';
comment on column admin.settlements.fee_cents is 'The buy fees paid for them.';
comment on column admin.settlements.realised_cents is 'Payout less cost and fees.';
comment on column admin.settlements.is_final is 'Whether the resolution is the one that holds.';
comment on column admin.settlements.created_at is
  'When the market was resolved, or the resolution corrected.';
--! EndIncluded admin/views/settlements.sql
--! Included admin/views/fee_schedules.sql
create view admin.fee_schedules as
select
  x.fee_schedule_key,
  x.category,
  x.market_key,
  x.market_id,
  x.taker_rate_bps,
  x.effective_from,
  x.created_at
from analytics.fee_schedules as x;

comment on view admin.fee_schedules is
  'Dated taker fees: a market''s own, else its category''s, else the default; of these the '
  'latest in force.';
comment on column admin.fee_schedules.fee_schedule_key is 'Internal key, for joins.';
comment on column admin.fee_schedules.category is
  'The category that it is for; null unless it is for one.';
comment on column admin.fee_schedules.market_key is
  'The market that it is for: internal key; null unless it is for one.';
comment on column admin.fee_schedules.market_id is 'The market that it is for: public id.';
comment on column admin.fee_schedules.taker_rate_bps is
  'Basis points of quantity x p x (1 - p).';
comment on column admin.fee_schedules.effective_from is
  'When it begins to hold; -infinity for the first.';
comment on column admin.fee_schedules.created_at is 'When an operator made it.';
--! EndIncluded admin/views/fee_schedules.sql
--! Included admin/views/rate_limits.sql
create view admin.rate_limits as
select
  b.bucket,
  b.max_requests::int as max_requests,
  b.window_seconds::int as window_seconds
from rate_limits.buckets as b;

comment on view admin.rate_limits is
  'The limits of requests in rolling windows, as admin.set_rate_limit sets them. Those of trading '
  'requests are policies of users: admin.users.';
comment on column admin.rate_limits.bucket is
  'What is counted: per address or, where the name says user, per user.';
comment on column admin.rate_limits.max_requests is 'Requests that a window has room for.';
comment on column admin.rate_limits.window_seconds is 'Length of the window, in seconds.';
--! EndIncluded admin/views/rate_limits.sql
--! Included admin/views/stream_caps.sql
create view admin.stream_caps as
select
  c.holder,
  c.max_streams::int as max_streams
from rate_limits.stream_caps as c;

comment on view admin.stream_caps is
  'How many event streams may be open at once, as admin.set_stream_cap sets it.';
comment on column admin.stream_caps.holder is 'address or user.';
comment on column admin.stream_caps.max_streams is
  'Event streams that one address or one user may hold open, over all servers.';
--! EndIncluded admin/views/stream_caps.sql
--! Included admin/views/trading_pause.sql
create view admin.trading_pause as
select
  s.trading_paused as is_paused,
  case when s.trading_paused then s.trading_pause_reason end as reason,
  s.trading_paused_at as paused_at
from core.settings as s;

comment on view admin.trading_pause is
  'Whether trading is paused on the whole site, as admin.set_trading_pause sets it: one row.';
comment on column admin.trading_pause.is_paused is 'Whether trading is paused.';
comment on column admin.trading_pause.reason is
  'Why it is paused; null if it is not, or if no reason was given.';
comment on column admin.trading_pause.paused_at is 'Since when; null if it is not paused.';
--! EndIncluded admin/views/trading_pause.sql
--! Included admin/views/verifications.sql
create view admin.verifications as
select
  v.id as verification_key,
  v.started_at,
  v.finished_at,
  v.broken_count::bigint as broken_count,
  v.first_rows
from ledger.verifications as v;

comment on view admin.verifications is
  'What each nightly run of ledger.verify() found. A run that did not get to its end leaves no '
  'row, so look at the time of the last one.';
comment on column admin.verifications.verification_key is
  'Internal key, ascending in the order of the runs.';
comment on column admin.verifications.started_at is 'When it began.';
comment on column admin.verifications.finished_at is 'When it ended.';
comment on column admin.verifications.broken_count is
  'Rows that ledger.verify() returned; 0 on a sound database.';
comment on column admin.verifications.first_rows is
  'The first 20 of them: an array of {name, object, expected, found}.';
--! EndIncluded admin/views/verifications.sql
--! Included admin/views/audit_entries.sql
create view admin.audit_entries as
select
  a.id as audit_key,
  a.at as called_at,
  a.operator,
  a.staff_key,
  a.action,
  a.arguments
from admin.audit_log as a;

comment on view admin.audit_entries is
  'Who called which function of the operator, when and with what.';
comment on column admin.audit_entries.audit_key is
  'Internal key, ascending in the order of the calls.';
comment on column admin.audit_entries.called_at is 'When.';
comment on column admin.audit_entries.operator is 'The login that called.';
comment on column admin.audit_entries.staff_key is
  'The name of the operator''s key, if the call came by GraphQL.';
comment on column admin.audit_entries.action is 'The function, without its schema.';
comment on column admin.audit_entries.arguments is
  'What it was called with; secrets are not in it.';
--! EndIncluded admin/views/audit_entries.sql

-- Grants
--! Included grants.sql
-- Who may do what. Functions are executable by nobody unless granted here.
grant usage on schema api to exchange_api;
grant execute on all functions in schema api to exchange_api;

grant usage on schema jobs to exchange_worker;
grant execute on all functions in schema jobs to exchange_worker;

grant usage on schema admin to exchange_operator;
grant execute on all functions in schema admin to exchange_operator;
revoke execute on function admin.audit(text, jsonb) from exchange_operator;
grant select on
  admin.categories, admin.events, admin.markets, admin.users, admin.api_keys, admin.staff_keys,
  admin.orders, admin.order_reductions, admin.trades, admin.positions, admin.set_conversions,
  admin.journal_entries, admin.cash_movements, admin.resolutions, admin.settlements,
  admin.fee_schedules, admin.rate_limits, admin.stream_caps, admin.trading_pause,
  admin.verifications, admin.audit_entries
to exchange_operator;

grant usage on schema ledger to exchange_operator;
grant execute on function ledger.verify() to exchange_operator;
grant usage on schema leaderboard to exchange_operator;
grant execute on function leaderboard.verify() to exchange_operator;

grant usage on schema analytics to exchange_analyst;
grant select on all tables in schema analytics to exchange_analyst;
grant execute on all functions in schema analytics to exchange_analyst;
-- Their views ask these, though they can't reach them themselves.
grant execute on function analytics.now(), rate_limits.standard_policy() to exchange_operator;
--! EndIncluded grants.sql

reset role;
--! EndIncluded all.sql
