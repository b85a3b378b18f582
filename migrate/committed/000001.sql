--! Previous: -
--! Hash: sha1:cf90241eb0440d493f4327e32a53f9d608cd879c

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

create type ledger.entry as (
  journal_id bigint,
  account_id bigint,
  amount_cents bigint,
  balance_before_cents bigint,
  balance_after_cents bigint,
  account_version bigint
);
comment on type ledger.entry is 'One line of a journal, as the engine hands it to ledger.post.';
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
  checked int[]
);
comment on type rate_limits.checks is
  'Requests to be counted. buckets and subjects name each counter once, in the order in which they '
  'are locked; checked holds the places of the counters that each request asks, one request after '
  'another, and ends where each request''s part of it ends.';

create type rate_limits.counter as (
  bucket text,
  subject text,
  free bigint,
  retry_after_seconds int,
  taken bigint,
  width interval,
  is_due boolean,
  spent bigint,
  policy rate_limits.policy
);
comment on type rate_limits.counter is
  'Where one counter stands: requests that it has room for now, and when there is room for one '
  'more than those. For a rolling window: its length, the number of the last request let through, '
  'and whether it is time to clean up behind it. For v1-trading: what is spent, and the policy.';
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
  ('EX025', 'UNFIT_SESSION', 503, false, 'A setting of the database session is not fit');
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
  'Traders. Their cash is in ledger.accounts, their gates and limits in risk.traders.';
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
--! Included ledger/tables/accounts.sql
create table ledger.accounts (
  id bigint generated always as identity primary key,
  kind ledger.account_kind not null,
  user_id bigint references identity.users (id),
  market_id bigint references catalog.markets (id),
  balance_cents bigint not null default 0,
  external_cents bigint not null default 0,
  overdraft_cents core.amount not null default 0,
  version core.amount not null default 0,
  moved_on date not null default '-infinity',
  constraint accounts_belong_to_what_their_kind_says check (
    (kind = 'user_cash') = (user_id is not null)
    and (kind in ('market_escrow', 'fee_revenue')) = (market_id is not null)
  ),
  constraint accounts_stay_above_zero_but_for_the_outside_and_corrections
    check (kind = 'outside_world' or balance_cents + overdraft_cents >= 0),
  constraint accounts_overdraft_and_external_cash_are_a_users
    check (kind = 'user_cash' or (overdraft_cents = 0 and external_cents = 0))
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

create unique index accounts_one_of_the_outside_world on ledger.accounts (kind)
  where kind = 'outside_world';
create unique index accounts_one_of_a_user on ledger.accounts (user_id)
  where user_id is not null;
create unique index accounts_one_of_a_kind_of_a_market on ledger.accounts (market_id, kind)
  where market_id is not null;

comment on table ledger.accounts is
  'Where cash is. A user''s row is also the lock on that user: whoever moves the cash of users or '
  'judges their gates locks their rows first, in ascending id. A market''s two rows are guarded '
  'by the market''s advisory lock.';
comment on column ledger.accounts.balance_cents is
  'EUR-cents; equals the sum of the account''s entries and the balance after its last one.';
comment on column ledger.accounts.external_cents is
  'Deposits less withdrawals of a user. external_cents - balance_cents is the net cash the user '
  'has put into trading.';
comment on column ledger.accounts.overdraft_cents is
  'How far a correction of a resolution, and nothing else, took the user below zero.';
comment on column ledger.accounts.version is 'Number of entries of this account.';
comment on column ledger.accounts.moved_on is
  'UTC day of the last entry; -infinity before the first.';

insert into ledger.accounts (kind) values ('outside_world');
--! EndIncluded ledger/tables/accounts.sql
--! Included ledger/tables/journals.sql
create table ledger.journals (
  id bigint generated by default as identity primary key,
  kind ledger.journal_kind not null,
  market_id bigint,
  created_at timestamptz not null,
  constraint journals_of_trading_name_their_market
    check ((kind in ('deposit', 'withdrawal')) = (market_id is null))
);

create trigger journals_are_append_only
  before update or delete or truncate on ledger.journals
  for each statement execute function ledger.refuse_change();

comment on table ledger.journals is
  'What happened, one row for each movement of cash; its lines are ledger.entries. '
  'trading.trades, ledger.cash_movements and the like point here. Append-only.';
--! EndIncluded ledger/tables/journals.sql
--! Included ledger/tables/entries.sql
create table ledger.entries (
  journal_id bigint not null,
  account_id bigint not null,
  amount_cents bigint not null,
  balance_before_cents bigint not null,
  balance_after_cents bigint not null,
  account_version bigint not null,
  constraint entries_follow_their_account_gaplessly primary key (account_id, account_version),
  constraint entries_move_something check (amount_cents <> 0),
  constraint entries_add_up check (balance_after_cents = balance_before_cents + amount_cents)
);

create index entries_of_a_journal on ledger.entries (journal_id);

create trigger entries_are_append_only
  before update or delete or truncate on ledger.entries
  for each statement execute function ledger.refuse_change();

create trigger entries_balance_per_journal
  after insert on ledger.entries
  referencing new table as new_entries
  for each statement execute function ledger.check_new_entries();

comment on table ledger.entries is
  'The lines of the journals: signed cents on an account, with the balance before and after and '
  'the account''s version. All lines of a journal arrive in one statement and sum to zero. '
  'Append-only. No foreign keys: ledger.post and ledger.post_journal are the only writers, and '
  'ledger.verify() proves what they would (the price of checking each line again is in '
  'docs/decisions.md).';
--! EndIncluded ledger/tables/entries.sql
--! Included ledger/tables/cash_movements.sql
create table ledger.cash_movements (
  journal_id bigint primary key references ledger.journals (id),
  account_id bigint not null references ledger.accounts (id),
  kind ledger.journal_kind not null,
  reference text not null,
  amount_cents bigint not null,
  constraint cash_movements_are_external check (kind in ('deposit', 'withdrawal')),
  constraint cash_movements_happen_once unique (account_id, kind, reference),
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
  account_id bigint not null,
  day date not null,
  balance_cents bigint not null,
  external_cents bigint not null,
  primary key (account_id, day)
);

create trigger day_openings_are_append_only
  before update or delete or truncate on ledger.day_openings
  for each statement execute function ledger.refuse_change();

comment on table ledger.day_openings is
  'A user''s cash at the start of each UTC day on which it moved, written with the day''s first '
  'movement. The net cash put into trading since a day is the difference of '
  '(external_cents - balance_cents) between now and the first opening from that day on. No foreign '
  'key: see ledger.entries; a settlement writes one row for each of its users.';
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
--! Included risk/tables/traders.sql
create table risk.traders (
  user_id bigint primary key references identity.users (id),
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
);

comment on table risk.traders is
  'The gates of each trader. Written only under the lock on the user''s ledger account.';
comment on column risk.traders.limits_reviewed_at is
  'When the loss limits were first reviewed; until then no order may be placed.';
comment on column risk.traders.excluded_until is
  'Self-excluded until then; infinity is for good. It never moves to an earlier time.';
comment on column risk.traders.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column risk.traders.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave. Of several '
  'calls the last one, as with the reason.';
comment on column risk.traders.frozen_reason is 'Why it is frozen, for operators only.';
comment on column risk.traders.day_limit_cents is
  'Most that may be put into trading today (UTC); null is no limit. Likewise over the last 7 '
  '(week) and 30 days (month).';
comment on column risk.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits.';
--! EndIncluded risk/tables/traders.sql
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
--! EndIncluded trading/tables/market_state.sql
--! Included trading/tables/book_levels.sql
create table trading.book_levels (
  market_id bigint not null,
  book_side trading.side not null,
  book_price trading.price not null,
  quantity core.amount not null default 0,
  order_count core.amount not null default 0,
  primary key (market_id, book_price, book_side),
  constraint book_levels_are_empty_together check ((quantity = 0) = (order_count = 0))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.book_levels is
  'The depth of each market''s book: unfilled shares and orders at each stored side and price, '
  'kept so that a look at a deep book costs no more than at a shallow one. All 198 rows of a '
  'market are there from the start. Orders past their expiry are in it until they are swept; '
  'whoever reads the depth takes them off.';
--! EndIncluded trading/tables/book_levels.sql
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
  order_id bigint primary key,
  market_id bigint not null,
  user_id bigint not null,
  book_side trading.side not null,
  book_price trading.price not null,
  queue_position bigint,
  expires_at timestamptz,
  release_at timestamptz,
  constraint active_orders_rest_or_wait_for_release
    check (queue_position is not null or release_at is not null)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

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
  'The orders that something can still happen to: the resting book and the scheduled ones. A row '
  'comes when an order enters and goes when it leaves; a partial fill does not touch it. What is '
  'left of an order is in trading.orders.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
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
  id bigint generated by default as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  market_id bigint not null,
  journal_id bigint not null,
  taker_order_id bigint not null,
  maker_order_id bigint not null,
  taker_user_id bigint not null,
  maker_user_id bigint not null,
  taker_side trading.side not null,
  price trading.price not null,
  quantity trading.trade_quantity not null,
  fee_cents core.amount not null,
  fee_schedule_id bigint not null,
  taker_realised_cents bigint,
  maker_realised_cents bigint,
  created_at timestamptz not null,
  constraint trades_have_two_traders check (taker_user_id <> maker_user_id)
);

create index trades_of_a_market on trading.trades (market_id, id);
create index trades_of_a_taker_order on trading.trades (taker_order_id);

create trigger trades_are_append_only
  before update or delete or truncate on trading.trades
  for each statement execute function ledger.refuse_change();

comment on table trading.trades is
  'Every match, in YES price space. Append-only. No foreign keys: see trading.orders.';
comment on column trading.trades.taker_side is
  'Stored side of the taker; the maker''s is the other one.';
comment on column trading.trades.price is 'YES price, 1-99; the NO price is 100 - price.';
comment on column trading.trades.fee_cents is
  'What this match added to the taker''s fee, in cents.';
comment on column trading.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds - fee - cost taken out - buy fees taken out, in '
  'cents; null for a buyer. maker_realised_cents likewise.';
--! EndIncluded trading/tables/trades.sql
--! Included trading/tables/positions.sql
create table trading.positions (
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  public_id uuid not null default core.uuid_v7(),
  quantity core.amount not null default 0,
  cost_cents core.amount not null default 0,
  fee_cents core.amount not null default 0,
  realised_cents bigint not null default 0,
  has_traded boolean not null default false,
  primary key (market_id, user_id, side),
  constraint positions_without_shares_cost_nothing
    check (quantity > 0 or (cost_cents = 0 and fee_cents = 0))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index positions_of_a_user on trading.positions (user_id, market_id);

comment on table trading.positions is
  'Shares of each trader by market and side. Written only under the market''s lock.';
comment on column trading.positions.cost_cents is
  'Price x quantity paid for the shares held; fee_cents the buy fees paid for them. Selling, '
  'merging and settling take both out pro rata, rounded half up.';
comment on column trading.positions.realised_cents is
  'Running sum of proceeds - sell fees - cost taken out - buy fees taken out.';
comment on column trading.positions.has_traded is
  'Whether a match, and not only a split, ever moved this position.';
--! EndIncluded trading/tables/positions.sql
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
  journal_id bigint references ledger.journals (id),
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
  select a.user_id into v_id
  from ledger.accounts as a
  join identity.users as u on u.id = a.user_id
  where u.public_id = lock_user.user_id
  for no key update of a;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', lock_user.user_id));
  end if;
  return v_id;
end
$$;

comment on function identity.lock_user(uuid) is
  'Locks a user, by the row of their cash account, and returns the key. Errors: '
  'NOT_FOUND, UNFIT_SESSION.';
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
--! Included ledger/functions/post.sql
create or replace function ledger.post(entries ledger.entry[], at timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (post.at at time zone 'UTC')::date;
  v_ids bigint[];
  v_balances bigint[];
  v_versions bigint[];
begin
  select
    array_agg(l.account_id order by l.account_id),
    array_agg(l.balance_after_cents order by l.account_id),
    array_agg(l.account_version order by l.account_id)
  into v_ids, v_balances, v_versions
  from (
    select distinct on (e.account_id) e.account_id, e.balance_after_cents, e.account_version
    from unnest(post.entries) as e
    order by e.account_id, e.account_version desc
  ) as l;

  -- Accounts are found by their ids and not by a join: no plan can do worse than look each up.
  -- The place of one among the sorted ids is its bucket.
  with written as (
    insert into ledger.entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      e.journal_id, e.account_id, e.amount_cents,
      e.balance_before_cents, e.balance_after_cents, e.account_version
    from unnest(post.entries) as e
  ),
  opened as (
    insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
    select a.id, v_today, a.balance_cents, a.external_cents
    from ledger.accounts as a
    where a.id = any (v_ids)
      and a.kind = 'user_cash'
      and a.moved_on < v_today
  )
  update ledger.accounts as a set
    balance_cents = v_balances[width_bucket(a.id, v_ids)],
    version = v_versions[width_bucket(a.id, v_ids)],
    overdraft_cents = least(
      a.overdraft_cents, greatest(0, -v_balances[width_bucket(a.id, v_ids)])
    ),
    moved_on = greatest(a.moved_on, v_today)
  where a.id = any (v_ids);
end
$$;

comment on function ledger.post(ledger.entry[], timestamptz) is
  'Writes the lines of one or more journals and moves the accounts to the last of them. The '
  'caller has locked the accounts, written the journals and numbered the lines; the constraints '
  'and ledger.verify() hold it to that.';
--! EndIncluded ledger/functions/post.sql
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
  insert into ledger.journals (kind, market_id, created_at)
  values (post_journal.kind, post_journal.market_id, post_journal.at)
  returning id into v_journal_id;

  with moving as materialized (
    select
      a.id, a.kind, a.balance_cents, a.external_cents, a.version, a.moved_on, l.amount_cents
    from unnest(post_journal.account_ids, post_journal.amounts_cents) as l (id, amount_cents)
    join ledger.accounts as a on a.id = l.id
  ),
  written as (
    insert into ledger.entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      v_journal_id, m.id, m.amount_cents,
      m.balance_cents, m.balance_cents + m.amount_cents, m.version + 1
    from moving as m
  ),
  opened as (
    insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
    select m.id, v_today, m.balance_cents, m.external_cents
    from moving as m
    where m.kind = 'user_cash'
      and m.moved_on < v_today
  )
  update ledger.accounts as a set
    balance_cents = m.balance_cents + m.amount_cents,
    version = m.version + 1,
    overdraft_cents = case
      when a.kind = 'user_cash' and post_journal.kind = 'correction'
        then greatest(0, -(m.balance_cents + m.amount_cents))
      else least(a.overdraft_cents, greatest(0, -(m.balance_cents + m.amount_cents)))
    end,
    moved_on = greatest(m.moved_on, v_today)
  from moving as m
  where a.id = m.id;

  return v_journal_id;
end
$$;

comment on function ledger.post_journal(
  ledger.journal_kind, bigint, bigint[], bigint[], timestamptz
) is
  'Writes one journal that moves each of some accounts once, by the amount at the same place, and '
  'moves the accounts; returns its id. It may be long: all work goes by sets. Only a correction '
  'may take a user below zero. The caller has locked the accounts. A batch of orders, whose '
  'journals move an account many times, goes by ledger.post.';
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
  v_outside ledger.accounts;
  v_account ledger.accounts;
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

  -- The outside world has the lowest id of all accounts: ascending order, as everywhere.
  select * into strict v_outside
  from ledger.accounts as a
  where a.kind = 'outside_world'
  for no key update;

  select a.* into v_account
  from ledger.accounts as a
  join identity.users as u on u.id = a.user_id
  where u.public_id = move_cash.user_id
  for no key update of a;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', move_cash.user_id));
  end if;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.account_id = v_account.id
    and m.kind = move_cash.kind
    and m.reference = move_cash.reference;
  if found then
    if v_moved_cents <> move_cash.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'reference %L is a %s of %s cents already',
        move_cash.reference, move_cash.kind, v_moved_cents
      ));
    end if;
    return v_account.balance_cents;
  end if;

  if move_cash.kind = 'withdrawal' and exists (
    select from risk.traders as t
    where t.user_id = v_account.user_id and t.frozen_at is not null
  ) then
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'the account is frozen: deposits are possible, withdrawals are not'
    );
  end if;

  v_signed_cents := case move_cash.kind
    when 'deposit' then move_cash.amount_cents
    else -move_cash.amount_cents
  end;
  if v_signed_cents < 0 and v_account.balance_cents + v_signed_cents < 0 then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'the balance is %s cents', v_account.balance_cents
    ));
  end if;

  v_journal_id := ledger.post_journal(
    move_cash.kind,
    null,
    array[v_outside.id, v_account.id],
    array[-v_signed_cents, v_signed_cents],
    core.now()
  );
  insert into ledger.cash_movements (journal_id, account_id, kind, reference, amount_cents)
  values (
    v_journal_id, v_account.id, move_cash.kind, move_cash.reference, move_cash.amount_cents
  );
  update ledger.accounts as a
  set external_cents = a.external_cents + v_signed_cents
  where a.id = v_account.id;

  return v_account.balance_cents + v_signed_cents;
end
$$;

comment on function ledger.move_cash(uuid, ledger.journal_kind, bigint, text) is
  'Deposits or withdraws cents once for each reference of a user; returns the new balance. '
  'Nothing is withdrawn from a frozen account; a reference that is a movement already is still '
  'answered. Errors: INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (the reference with another '
  'amount), ACCOUNT_FROZEN, INSUFFICIENT_BALANCE, UNFIT_SESSION. Locks: the outside world''s '
  'account, then the user''s.';
--! EndIncluded ledger/functions/move_cash.sql
--! Included risk/functions/has_limits.sql
create or replace function risk.has_limits(trader risk.traders)
returns boolean
language sql immutable parallel safe
return coalesce(
  (trader).day_limit_cents, (trader).week_limit_cents, (trader).month_limit_cents,
  (trader).next_day_limit_cents, (trader).next_week_limit_cents,
  (trader).next_month_limit_cents
) is not null;

comment on function risk.has_limits(risk.traders) is
  'Whether a trader has a loss limit, now or soon.';
--! EndIncluded risk/functions/has_limits.sql
--! Included risk/functions/blocked_by.sql
create or replace function risk.blocked_by(trader risk.traders, at timestamptz)
returns text
language sql immutable parallel safe
return case
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED'
  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).limits_reviewed_at is null then 'LIMITS_SETUP_REQUIRED'
end;

comment on function risk.blocked_by(risk.traders, timestamptz) is
  'The code of what keeps a trader from trading at a time, the first in order of precedence; null '
  'when the trader may trade.';
--! EndIncluded risk/functions/blocked_by.sql
--! Included risk/functions/limits_in_force.sql
create or replace function risk.limits_in_force(trader risk.traders, at timestamptz)
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

comment on function risk.limits_in_force(risk.traders, timestamptz) is
  'The loss limits of a trader that hold at a time.';
--! EndIncluded risk/functions/limits_in_force.sql
--! Included risk/functions/net_spent_since.sql
create or replace function risk.net_spent_since(account ledger.accounts, day date)
returns bigint
language sql stable
return coalesce(
  (
    select ((account).external_cents - (account).balance_cents)
      - (o.external_cents - o.balance_cents)
    from ledger.day_openings as o
    where o.account_id = (account).id
      and o.day >= net_spent_since.day
    order by o.day
    limit 1
  ),
  0
);

comment on function risk.net_spent_since(ledger.accounts, date) is
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
      c.subject,
      dense_rank() over (order by c.bucket collate "C", c.subject collate "C") as counter
    from json_array_elements(read_checks.requests) with ordinality as r (asked, place)
    cross join json_each_text(r.asked) as c (bucket, subject)
  )
  select d.buckets, d.subjects, e.ends, c.checked
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
    select array_agg(x.counter::int order by x.place, x.counter) from checks as x
  ) as c (checked);
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
    ceil((v_spent + (v_free + 1) * c_token - v_capacity) / (v_rate * 1000000.0)),
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
      ceil(extract(epoch from
        case
          -- The window was made narrower: more than one request has to leave it first.
          when u.used > b.max_requests then (
            select g.at
            from rate_limits.grants as g
            where g.bucket = c.bucket
              and g.subject = c.subject
              and g.at > read_counters.at - b.width
              and g.at <= read_counters.at
              and g.last_number > n.taken - b.max_requests
            order by g.at
            limit 1
          )
          else coalesce(f.at, read_counters.at)
        end + b.width - read_counters.at
      )),
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
      select g.at, g.first_number
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
    bucket, subject, free, retry_after_seconds, taken, width, is_due, spent, policy, granted
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
    bucket, subject, free, retry_after_seconds, taken, width, is_due, spent, policy, granted
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
    bucket, subject, free, retry_after_seconds, taken, width, is_due, spent, policy, granted
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
--! Included trading/functions/crosses.sql
create or replace function trading.crosses(
  request trading.order_request, context trading.market_context
)
returns boolean
language sql immutable parallel safe
return 100 - (request).book_price <= case (request).book_side
  when 'yes' then (context).best_no
  else (context).best_yes
end;

comment on function trading.crosses(trading.order_request, trading.market_context) is
  'Whether a request would meet the best order of the other side.';
--! EndIncluded trading/functions/crosses.sql
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
  request trading.order_request,
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
  when (request).order_type = 'sell' then
    case when held_quantity < (request).quantity then 'INSUFFICIENT_BALANCE' end
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE'
  when risk.exceeds_limits(
    limits, untraded, balance_cents, open_cost_cents + cost_cents
  ) then 'LOSS_LIMIT'
end;

comment on function trading.funding_rejection(
  trading.order_request, bigint, bigint, bigint, bigint, risk.loss_limits, risk.loss_limits, bigint
) is
  'Why a trader cannot afford an order that must be covered by required_cents and counts with '
  'cost_cents toward the loss limits, or cannot sell what it would sell; null when they can. The '
  'limits are null for a trader without any.';
--! EndIncluded trading/functions/funding_rejection.sql
--! Included trading/functions/rejection_message.sql
create or replace function trading.rejection_message(code text, request trading.order_request)
returns text
language sql immutable parallel safe
return case when code = 'INVALID_REQUEST'
  then coalesce((request).problem, 'expiresAt: must be in the future')
end;

comment on function trading.rejection_message(text, trading.order_request) is
  'What a refusal says beyond its code; null when the code''s own message says it all.';
--! EndIncluded trading/functions/rejection_message.sql
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
create or replace function trading.scheduled_order_cost_cents(
  "order" trading.orders, at timestamptz
)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select trading.scheduled_cost_cents(
    ("order").order_type, ("order").price, ("order").quantity, ("order").budget_cents,
    f.taker_rate_bps
  )
  from catalog.markets as m
  cross join trading.fee_in_force(m.id, m.category_id, scheduled_order_cost_cents.at) as f
  where m.id = ("order").market_id
$$;

comment on function trading.scheduled_order_cost_cents(trading.orders, timestamptz) is
  'The most that a scheduled order could cost at the fee in force, in cents.';
--! EndIncluded trading/functions/scheduled_order_cost_cents.sql
--! Included trading/functions/active_order_cost_cents.sql
create or replace function trading.active_order_cost_cents(
  "order" trading.orders, open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
return case
  when ("order").order_type = 'sell' or (open_order).expires_at <= at then 0
  when (open_order).queue_position is not null
    then (("order").quantity - ("order").filled_quantity)::bigint * ("order").price
  else trading.scheduled_order_cost_cents("order", at)
end;

comment on function trading.active_order_cost_cents(
  trading.orders, trading.active_orders, timestamptz
) is
  'What an open order could still cost, in cents: a resting buy what is left of it at its price, '
  'a scheduled one its worst case. Nothing once it has expired.';
--! EndIncluded trading/functions/active_order_cost_cents.sql
--! Included trading/functions/open_cost_cents.sql
create or replace function trading.open_cost_cents(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce(sum(trading.active_order_cost_cents(o, b, open_cost_cents.at)), 0)::bigint
  from trading.active_orders as b
  cross join lateral (
    select x.* from trading.orders as x where x.id = b.order_id limit 1
  ) as o
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
--! Included trading/functions/result_object.sql
create or replace function trading.result_object(
  outcome trading.order_result,
  context trading.market_context,
  created_at text,
  time_in_force trading.time_in_force
)
returns text
language sql stable parallel safe
return trading.order_object(
  (outcome).order_public_id, (outcome).user_public_id, (context).market_public_id,
  ((outcome).request).side, ((outcome).request).price, (outcome).quantity,
  (outcome).filled_quantity, (outcome).status, ((outcome).request).order_type, time_in_force,
  (outcome).cancel_reason, ((outcome).request).expires_at, created_at,
  case when (outcome).status = 'scheduled' then trading.schedule_members(
    (context).at + (context).live_delay_ms * interval '1 millisecond',
    ((outcome).request).budget_cents, (context).at
  ) end
);

comment on function trading.result_object(
  trading.order_result, trading.market_context, text, trading.time_in_force
) is
  'The new order of a batch as its answer shows it: as it stood right after its own matching.';
--! EndIncluded trading/functions/result_object.sql
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
  outcome trading.order_result, at timestamptz
)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    '{"order":%s,"fills":%s,"cancelledOrders":[],"balance":%s,"feeCents":null}',
    trading.order_object(
      o.public_id,
      (replay_answer.outcome).user_public_id,
      m.public_id,
      o.side,
      o.price,
      coalesce((replay_answer.outcome).quantity, o.quantity),
      coalesce((replay_answer.outcome).filled_quantity, o.filled_quantity),
      coalesce((replay_answer.outcome).status, o.status),
      o.order_type,
      o.time_in_force,
      case when (replay_answer.outcome).status is null then o.cancel_reason
        else (replay_answer.outcome).cancel_reason end,
      o.expires_at,
      core.iso8601(o.created_at),
      case when o.status = 'scheduled'
        then trading.schedule_members(o.release_at, o.budget_cents, replay_answer.at) end
    ),
    trading.fills_of_order(o.id),
    trading.balance_object((replay_answer.outcome).balance_cents)
  )
  from trading.orders as o
  join catalog.markets as m on m.id = o.market_id
  where o.id = (replay_answer.outcome).order_id
$$;

comment on function trading.replay_answer(trading.order_result, timestamptz) is
  'The answer to a request whose idempotency key stands for an order already: the order as it is '
  'now and the fills of its placement.';
--! EndIncluded trading/functions/replay_answer.sql
--! Included trading/functions/announce_market.sql
create or replace function trading.announce_market(market_public_id uuid, version bigint)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into trading.outbox (channel, payload)
  values ('market_changed', json_build_object(
    'marketId', announce_market.market_public_id, 'version', announce_market.version
  ))
$$;

comment on function trading.announce_market(uuid, bigint) is
  'Announces that a market''s book or trades are now at a version.';
--! EndIncluded trading/functions/announce_market.sql
--! Included trading/functions/first_in_book.sql
create or replace function trading.first_in_book(
  market_id bigint, book_side trading.side, front_price int, front_position bigint
)
returns table (book_price int, queue_position bigint)
language sql stable
begin atomic
  (
    select b.book_price::int, b.queue_position
    from trading.active_orders as b
    where b.market_id = first_in_book.market_id
      and b.book_side = first_in_book.book_side
      and b.book_price = first_in_book.front_price
      and b.queue_position >= first_in_book.front_position
    order by b.queue_position
    limit 1
  )
  union all
  (
    select b.book_price::int, b.queue_position
    from trading.active_orders as b
    where b.market_id = first_in_book.market_id
      and b.book_side = first_in_book.book_side
      and b.book_price < first_in_book.front_price
      and b.queue_position is not null
    order by b.book_price desc, b.queue_position
    limit 1
  )
  limit 1;
end;

comment on function trading.first_in_book(bigint, trading.side, int, bigint) is
  'The place of the first resting order of a side of a book, looked for from a place that none '
  'stands before (trading.market_state.front_yes_price). No row: the side is empty.';
--! EndIncluded trading/functions/first_in_book.sql
--! Included trading/functions/read_context.sql
create or replace function trading.read_context(market_id bigint, at timestamptz)
returns setof trading.market_context
language sql stable
begin atomic
  select
    m.id,
    m.public_id,
    m.title,
    m.category_id,
    read_context.at,
    s.trading_paused,
    m.status = 'open' and (m.close_time is null or m.close_time > read_context.at),
    (
      select e.live_delay_ms
      from catalog.events as e
      where e.id = m.event_id
        and e.live
        and (e.starts_at is null or e.starts_at <= read_context.at)
        and (e.ends_at is null or e.ends_at > read_context.at)
    ),
    coalesce(y.book_price, 0),
    coalesce(n.book_price, 0),
    coalesce(y.queue_position, 0),
    coalesce(n.queue_position, 0)
  from core.settings as s
  left join catalog.markets as m on m.id = read_context.market_id
  left join trading.market_state as f on f.market_id = m.id
  left join lateral trading.first_in_book(
    f.market_id, 'yes', f.front_yes_price, f.front_yes_position
  ) as y on true
  left join lateral trading.first_in_book(
    f.market_id, 'no', f.front_no_price, f.front_no_position
  ) as n on true;
end;

comment on function trading.read_context(bigint, timestamptz) is
  'What a batch must know of its market and the site: one row, with a null market_id when there '
  'is no such market. To be called under the market''s lock.';
--! EndIncluded trading/functions/read_context.sql
--! Included trading/functions/read_requests.sql
create or replace function trading.read_requests(requests jsonb)
returns setof trading.order_request
language sql stable
begin atomic
  select
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
    null::bigint,
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
      (select u.id from identity.users as u where u.public_id = q."userId") as user_id,
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
    from jsonb_to_recordset(read_requests.requests) as q (
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
  ) as r;
end;

comment on function trading.read_requests(jsonb) is
  'The requests of a batch from a JSON array of objects with userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly (the body of POST '
  '/orders and its user), in the order of the array. A value of the wrong type is an error of the '
  'whole call; a value out of bounds becomes the problem of its request. Like its neighbours '
  'read_context, read_money and read_holdings it becomes part of the statement that calls it.';
--! EndIncluded trading/functions/read_requests.sql
--! Included trading/functions/read_replays.sql
create or replace function trading.read_replays(
  requests trading.order_request[], at timestamptz
)
returns trading.order_request[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := read_replays.requests;
  v_replay record;
begin
  for v_replay in
    select r.ordinality as place, k.order_id
    from unnest(read_replays.requests) with ordinality as r
    cross join lateral (
      select x.*
      from trading.idempotency_keys as x
      where x.user_id = r.user_id and x.key = r.idempotency_key
      limit 1
    ) as k
    where k.created_at > read_replays.at - interval '24 hours'
  loop
    v_requests[v_replay.place].replay_of_order_id := v_replay.order_id;
  end loop;
  return v_requests;
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The requests, each marked with the order its idempotency key stands for already. To be called '
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
--! Included trading/functions/read_reach.sql
create or replace function trading.read_reach(
  context trading.market_context, requests trading.order_request[]
)
returns table (demand int[], shares_before_own bigint[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
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
        )
      end
      order by r.ordinality
    ),
    array_agg(case when r.is_small then 0 else b.quantity end order by r.ordinality)
  from (
    select
      q.*,
      coalesce(q.quantity, 10000) as most,
      coalesce(q.quantity, 10000) <= 100 as is_small,
      -- What a share costs at least, as the book stands now.
      100 - case q.book_side when 'yes' then context.best_no else context.best_yes end
        as least_cents
    from unnest(read_reach.requests) with ordinality as q
  ) as r
  cross join (values (trading.most_beyond())) as c (most_beyond)
  left join lateral (
    select
      t.blocked_by is not null or context.site_paused or not context.is_open as is_blocked,
      coalesce(t.limit_cents < t.balance_cents, false) as ends_at_limit,
      least(t.balance_cents, t.limit_cents) as spendable_cents,
      coalesce(
        (
          select p.quantity
          from trading.positions as p
          where p.market_id = context.market_id and p.user_id = r.user_id and p.side = r.side
        ),
        0
      ) as held_quantity
    from (
      select
        a.balance_cents,
        risk.blocked_by(g, context.at) as blocked_by,
        least((l.limits).day_cents, (l.limits).week_cents, (l.limits).month_cents) as limit_cents
      from ledger.accounts as a
      join risk.traders as g on g.user_id = a.user_id
      cross join lateral (select risk.limits_in_force(g, context.at)) as l (limits)
      where a.user_id = r.user_id
    ) as t
    where not r.is_small
  ) as f on true
  left join lateral (
    select max(x.book_price) as price
    from trading.active_orders as x
    where x.user_id = r.user_id
      and x.market_id = context.market_id
      and x.queue_position is not null
      and x.book_side <> r.book_side
      and x.book_price >= 100 - r.book_price
      and not r.is_small
  ) as o on true
  left join lateral (
    select coalesce(sum(x.quantity), 0)::bigint as quantity
    from trading.book_levels as x
    where x.market_id = context.market_id
      and x.book_side <> r.book_side
      and x.book_price > o.price
    having o.price is not null
  ) as b on true
$$;

comment on function trading.read_reach(trading.market_context, trading.order_request[]) is
  'How far requests need to look into the book, in their order. demand: the shares that each can '
  'take at most, by its cash, limits or shares as they are now, so that a request that must be '
  'rejected reads little of a deep book. It is an estimate: cash is not locked yet, and a match '
  'that comes to the end of what was read starts over with more. shares_before_own: what stands '
  'at better prices than the best resting order of its own user that it could reach; null when '
  'there is none. Orders of up to 100 shares are not looked at: 0. Cost: the user''s open orders. '
  'The caller holds the market''s lock.';
--! EndIncluded trading/functions/read_reach.sql
--! Included trading/functions/read_book_slice.sql
create or replace function trading.read_book_slice(
  context trading.market_context,
  requests trading.order_request[],
  demand int[],
  depth int
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_orders trading.resting_order[] := '{}';
  v_order_count int := 0;
  v_yes_floor int := 0;
  v_no_floor int := 0;
  v_side trading.side;
  v_request trading.order_request;
  v_request_count constant int := cardinality(read_book_slice.requests);
  v_demand bigint[];
  v_demand_left bigint;
  v_taken_by_narrow bigint;
  v_read bigint;
  v_widest int;
  v_limit int;
  v_last_price int;
  v_row record;
  v_best_price int;
  v_first_position bigint;
begin
  foreach v_side in array array['yes', 'no']::trading.side[] loop
    -- What takers of the other side could take, by the limit they would take it at.
    v_demand := null;
    v_demand_left := 0;
    v_widest := 0;
    for i in 1 .. v_request_count loop
      v_request := read_book_slice.requests[i];
      if v_request.book_side <> v_side and v_request.problem is null then
        if v_demand is null then
          v_demand := array_fill(0::bigint, array[99]);
          v_limit := 99;
        end if;
        v_demand[v_request.book_price] := v_demand[v_request.book_price]
          + read_book_slice.depth::bigint * read_book_slice.demand[i];
        v_demand_left := v_demand_left
          + read_book_slice.depth::bigint * read_book_slice.demand[i];
        v_widest := greatest(v_widest, v_request.book_price);
        v_limit := least(v_limit, v_request.book_price);
      end if;
    end loop;
    continue when v_demand is null;
    v_best_price := case v_side when 'yes' then context.best_yes else context.best_no end;
    v_first_position := case v_side
      when 'yes' then context.first_yes_position
      else context.first_no_position
    end;

    -- Read on while the orders read could all be taken: in the worst case the narrow limits
    -- take what they reach first, and leave the wide ones to go deeper.
    v_read := 0;
    v_taken_by_narrow := 0;
    v_last_price := 0;
    for v_row in
      select
        (
          o.id, o.public_id, o.user_id, o.side, o.order_type, o.price, o.quantity,
          o.filled_quantity, o.created_at, o.expires_at, b.book_side, b.book_price, null
        )::trading.resting_order as resting,
        b.book_price,
        case when o.expires_at <= context.at then 0 else o.quantity - o.filled_quantity end
          as available
      from (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = context.market_id
            and x.book_side = v_side
            and x.book_price = v_best_price
            and x.book_price >= 100 - v_widest
            and x.queue_position >= v_first_position
          order by x.queue_position
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = context.market_id
            and x.book_side = v_side
            and x.book_price < v_best_price
            and x.book_price >= 100 - v_widest
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
        )
      ) as b
      cross join lateral (
        select x.* from trading.orders as x where x.id = b.order_id limit 1
      ) as o
    loop
      while v_limit < 100 - v_row.book_price loop
        v_taken_by_narrow := least(v_taken_by_narrow + v_demand[v_limit], v_read);
        v_demand_left := v_demand_left - v_demand[v_limit];
        v_limit := v_limit + 1;
      end loop;
      if v_read >= v_taken_by_narrow + v_demand_left then
        if v_side = 'yes' then
          v_yes_floor := v_last_price;
        else
          v_no_floor := v_last_price;
        end if;
        exit;
      end if;
      -- A variable of its own: an element set in a field of a row copies the whole array.
      v_order_count := v_order_count + 1;
      v_orders[v_order_count] := v_row.resting;
      v_read := v_read + v_row.available;
      v_last_price := v_row.book_price;
    end loop;
  end loop;
  return (v_orders, v_yes_floor, v_no_floor, null)::trading.book_slice;
end
$$;

comment on function trading.read_book_slice(
  trading.market_context, trading.order_request[], int[], int
) is
  'The resting orders that a batch can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were depth times as large. Nothing else can '
  'change the book meanwhile: the caller holds the market''s lock.';
--! EndIncluded trading/functions/read_book_slice.sql
--! Included trading/functions/lock_traders.sql
create or replace function trading.lock_traders(
  requests trading.order_request[], slice trading.book_slice, at timestamptz
)
returns trading.trader_arrays
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_traders trading.trader_arrays;
begin
  perform core.check_session();
  -- Both rows are locked so that both are read as they are once the lock is had.
  with locked as materialized (
    select
      a.user_id,
      (select u.public_id from identity.users as u where u.id = a.user_id) as public_id,
      a.id as account_id,
      a.version::bigint,
      a.balance_cents,
      risk.blocked_by(r, lock_traders.at) as blocked_by,
      r.excluded_until,
      risk.has_limits(r) as limited
    from ledger.accounts as a
    join risk.traders as r on r.user_id = a.user_id
    where a.user_id = any (array(
      select q.user_id from unnest(lock_traders.requests) as q
      union all
      select o.user_id from unnest(slice.orders) as o
    ))
    order by a.id
    for no key update of a, r
  )
  select
    array_agg(t.user_id),
    array_agg(t.public_id),
    array_agg(t.account_id),
    array_agg(t.version),
    array_agg(t.balance_cents),
    array_agg(t.blocked_by),
    array_agg(coalesce(t.excluded_until > lock_traders.at, false)),
    array_agg(t.limited)
  into v_traders
  from (select l.* from locked as l order by l.user_id) as t;
  return v_traders;
end
$$;

comment on function trading.lock_traders(
  trading.order_request[], trading.book_slice, timestamptz
) is
  'Locks everybody a batch might touch, its takers and the owners of the orders they can reach, '
  'until the transaction ends, and reads their cash and gates. The lock on a user is the row of '
  'their cash account, and then that of their gates; users are locked in ascending account id.';
--! EndIncluded trading/functions/lock_traders.sql
--! Included trading/functions/lock_more_traders.sql
create or replace function trading.lock_more_traders(slice trading.book_slice)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from ledger.accounts as a
  join risk.traders as r on r.user_id = a.user_id
  where a.user_id = any (array(select o.user_id from unnest(slice.orders) as o))
  order by a.id
  for no key update of a, r nowait;
end
$$;

comment on function trading.lock_more_traders(trading.book_slice) is
  'Locks the owners of the orders in a slice when users are locked already. Waiting could '
  'deadlock, so a user who is busy is an error lock_not_available: the caller''s transaction '
  'starts over.';
--! EndIncluded trading/functions/lock_more_traders.sql
--! Included trading/functions/read_holdings.sql
create or replace function trading.read_holdings(market_id bigint, user_ids bigint[])
returns setof trading.holding_arrays
language sql stable
begin atomic
  select
    array_agg(coalesce(y.has_traded, false) or coalesce(n.has_traded, false) order by t.place),
    array_agg(array[coalesce(y.quantity, 0), coalesce(n.quantity, 0)] order by t.place),
    array_agg(array[coalesce(y.cost_cents, 0), coalesce(n.cost_cents, 0)] order by t.place),
    array_agg(array[coalesce(y.fee_cents, 0), coalesce(n.fee_cents, 0)] order by t.place),
    array_agg(
      array[coalesce(y.realised_cents, 0), coalesce(n.realised_cents, 0)] order by t.place
    ),
    null::boolean[]
  from unnest(read_holdings.user_ids) with ordinality as t (user_id, place)
  -- The limits keep each a look-up by the whole key, whatever the planner thinks of the table.
  left join lateral (
    select p.*
    from trading.positions as p
    where p.market_id = read_holdings.market_id and p.user_id = t.user_id and p.side = 'yes'
    limit 1
  ) as y on true
  left join lateral (
    select p.*
    from trading.positions as p
    where p.market_id = read_holdings.market_id and p.user_id = t.user_id and p.side = 'no'
    limit 1
  ) as n on true;
end;

comment on function trading.read_holdings(bigint, bigint[]) is
  'The shares of traders in a market: one row. To be called under the market''s lock.';
--! EndIncluded trading/functions/read_holdings.sql
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
        t.balance_cents + risk.net_spent_since(t.account, v_today),
        t.balance_cents + risk.net_spent_since(t.account, v_today - 6),
        t.balance_cents + risk.net_spent_since(t.account, v_today - 29)
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
      a.user_id,
      a.balance_cents,
      a as account,
      risk.limits_in_force(r, read_limits.at) as limits
    from unnest(read_limits.user_ids) with ordinality as u (user_id, place)
    join ledger.accounts as a on a.user_id = u.user_id
    join risk.traders as r on r.user_id = u.user_id
  ) as t;
  return v_limits;
end
$$;

comment on function trading.read_limits(bigint[], bigint[], timestamptz) is
  'The loss limits of traders and what counts toward them, each at the place of its trader in '
  'user_ids. What open orders could still cost is read of takers only, and is 0 for the others: '
  'a maker is judged by one match alone. To be called with the traders locked.';
--! EndIncluded trading/functions/read_limits.sql
--! Included trading/functions/read_money.sql
create or replace function trading.read_money(
  market_id bigint, category_id bigint, at timestamptz
)
returns setof trading.market_money
language sql stable
begin atomic
  select
    f.taker_rate_bps, f.id,
    escrow.id, escrow.balance_cents, escrow.version,
    revenue.id, revenue.balance_cents, revenue.version
  from trading.market_state as b
  join ledger.accounts as escrow on escrow.id = b.escrow_account_id
  join ledger.accounts as revenue on revenue.id = b.fee_account_id
  cross join trading.fee_in_force(
    read_money.market_id, read_money.category_id, read_money.at
  ) as f
  where b.market_id = read_money.market_id;
end;

comment on function trading.read_money(bigint, bigint, timestamptz) is
  'The fee in force and the accounts of a market: one row, or none for an unknown market. To be '
  'called under the market''s lock.';
--! EndIncluded trading/functions/read_money.sql
--! Included trading/functions/rest_order.sql
-- The rules are those of trading.match_orders, by the same functions; the property tests hold the
-- two ways together. This one touches half as much and is twice as fast.
create or replace function trading.rest_order(
  request trading.order_request, context trading.market_context
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leads boolean;
  v_trader record;
  v_limits trading.limit_arrays;
  v_held_quantity bigint;
  v_code text;
  v_order_id bigint;
  v_order_public_id uuid;
begin
  select
    a.balance_cents,
    (select u.public_id from identity.users as u where u.id = a.user_id) as user_public_id,
    risk.blocked_by(r, context.at) as blocked_by,
    risk.has_limits(r) as limited
  into v_trader
  from ledger.accounts as a
  join risk.traders as r on r.user_id = a.user_id
  where a.user_id = request.user_id
  for no key update of a, r;

  v_code := trading.request_rejection(
    request, context, v_trader.user_public_id is not null, v_trader.blocked_by
  );
  if v_code is null then
    if v_trader.limited then
      v_limits := trading.read_limits(
        array[request.user_id], array[request.user_id], context.at
      );
    end if;
    if request.order_type = 'sell' then
      v_held_quantity := coalesce(
        (
          select p.quantity
          from trading.positions as p
          where p.market_id = context.market_id
            and p.user_id = request.user_id
            and p.side = request.side
        ),
        0
      );
    end if;
    v_code := case
      when request.time_in_force = 'ioc' then 'INSUFFICIENT_LIQUIDITY'
      else trading.funding_rejection(
        request, request.quantity * request.price, request.quantity * request.price,
        v_trader.balance_cents, v_held_quantity,
        v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
      )
    end;
  end if;
  if v_code is not null then
    return (
      v_code, trading.rejection_message(v_code, request), false, null
    )::api.result;
  end if;

  v_order_id := nextval('trading.orders_id_seq');
  v_order_public_id := core.uuid_v7();
  v_leads := request.book_price > case request.book_side
    when 'yes' then context.best_yes
    else context.best_no
  end;
  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, time_in_force,
      post_only, status, created_at, expires_at
    )
    values (
      v_order_id, v_order_public_id, context.market_id, request.user_id, request.side,
      request.order_type, request.price, request.quantity, 'gtc', request.post_only, 'open',
      context.at, request.expires_at
    )
  ),
  rested as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, queue_position, expires_at
    )
    values (
      v_order_id, context.market_id, request.user_id, request.book_side, request.book_price,
      v_order_id, request.expires_at
    )
  ),
  deepened as (
    update trading.book_levels as l set
      quantity = l.quantity + request.quantity,
      order_count = l.order_count + 1
    where l.market_id = context.market_id
      and l.book_price = request.book_price
      and l.book_side = request.book_side
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + 1,
      placed_count = b.placed_count + 1,
      placed_id_sum = b.placed_id_sum + v_order_id,
      front_yes_price = case
        when v_leads and request.book_side = 'yes' then request.book_price else context.best_yes
      end,
      front_yes_position = case
        when v_leads and request.book_side = 'yes' then v_order_id else context.first_yes_position
      end,
      front_no_price = case
        when v_leads and request.book_side = 'no' then request.book_price else context.best_no
      end,
      front_no_position = case
        when v_leads and request.book_side = 'no' then v_order_id else context.first_no_position
      end
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c;

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":[],"cancelledOrders":[],"balance":%s,"feeCents":0}',
      trading.order_object(
        v_order_public_id, v_trader.user_public_id, context.market_public_id, request.side,
        request.price, request.quantity, 0, 'open', request.order_type, 'gtc', null,
        request.expires_at, core.iso8601(context.at), null
      ),
      trading.balance_object(v_trader.balance_cents)
    )
  )::api.result;
end
$$;

comment on function trading.rest_order(trading.order_request, trading.market_context) is
  'The short way of a lone order that meets nothing: it is refused, or rests on the book. The '
  'answer is that of api.place_orders. The caller holds the market''s lock; locks the user.';
--! EndIncluded trading/functions/rest_order.sql
--! Included trading/functions/sole_maker.sql
create or replace function trading.sole_maker(
  request trading.order_request, context trading.market_context
)
returns trading.resting_order
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_maker trading.resting_order;
  c_side constant trading.side := case request.book_side
    when 'yes' then 'no'
    else 'yes'
  end::trading.side;
begin
  if request.quantity is null or request.post_only or request.problem is not null then
    return null;
  end if;
  select
    o.id, o.public_id, o.user_id, o.side, o.order_type, o.price::int, o.quantity::int,
    o.filled_quantity, o.created_at, o.expires_at, b.book_side, b.book_price::int, null::bigint
  into v_maker
  from trading.active_orders as b
  cross join lateral (
    select x.* from trading.orders as x where x.id = b.order_id limit 1
  ) as o
  where b.market_id = context.market_id
    and b.book_side = c_side
    and b.book_price = case c_side when 'yes' then context.best_yes else context.best_no end
    and b.queue_position = case c_side
      when 'yes' then context.first_yes_position
      else context.first_no_position
    end
  limit 1;
  if request.quantity > v_maker.quantity - v_maker.filled_quantity
    or v_maker.user_id = request.user_id
    or v_maker.expires_at <= context.at
  then
    return null;
  end if;
  return v_maker;
end
$$;

comment on function trading.sole_maker(trading.order_request, trading.market_context) is
  'The order that fills a crossing request whole and alone, if it is alive: the best one of the '
  'other side. Null when there is more to it: several fills, an order past its expiry, the user''s '
  'own order, a budget, post-only. To be called under the market''s lock.';
--! EndIncluded trading/functions/sole_maker.sql
--! Included trading/functions/fill_order.sql
-- The rules are those of trading.match_orders, by the same functions where they are more than an
-- addition; the property tests hold the two ways together. This one takes half the time.
create or replace function trading.fill_order(
  request trading.order_request, context trading.market_context, maker trading.resting_order
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_buy constant boolean := request.order_type = 'buy';
  n constant int := request.quantity;
  v_money trading.market_money;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_fill trading.fill;
  v_entries ledger.entry[];
  v_code text;
  v_price int;
  t int;
  m int;
  h int;
  g int;
  v_fee bigint;
  v_cash bigint;
  v_cost_out bigint := 0;
  v_fees_out bigint := 0;
  v_maker_cash bigint;
  v_maker_cost_out bigint := 0;
  v_maker_fees_out bigint := 0;
  v_escrow_amount bigint;
  v_at text := core.iso8601(context.at);
begin
  v_traders := trading.lock_traders(array[request], (array[maker], 0, 0, null), context.at);
  t := array_position(v_traders.user_ids, request.user_id);
  m := array_position(v_traders.user_ids, maker.user_id);
  v_code := trading.request_rejection(
    request, context, t is not null, v_traders.blocked_by[t]
  );
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, request), false, null)::api.result;
  end if;

  select x.* into v_money
  from trading.read_money(context.market_id, context.category_id, context.at) as x;
  select x.* into v_holdings
  from trading.read_holdings(context.market_id, v_traders.user_ids) as x;
  if true = any (v_traders.limited) then
    v_limits := trading.read_limits(
      v_traders.user_ids, array[request.user_id], context.at
    );
  end if;
  h := case request.side when 'yes' then 1 else 2 end;
  g := case maker.side when 'yes' then 1 else 2 end;
  v_price := 100 - maker.book_price;
  v_fee := trading.fee_cents(v_money.taker_rate_bps, n * v_price * maker.book_price);

  if v_traders.excluded[m]
    or (case maker.order_type
      when 'sell' then v_holdings.quantity[m][g] < n
      else v_traders.balance_cents[m] < n * maker.book_price
        or risk.exceeds_limits(
          v_limits.limits[m], v_limits.untraded[m], v_traders.balance_cents[m],
          n * maker.book_price
        )
    end)
  then
    return null; -- the maker is dead
  end if;
  v_code := trading.funding_rejection(
    request, n * v_price + v_fee, n * v_price + v_fee, v_traders.balance_cents[t],
    v_holdings.quantity[t][h], v_limits.limits[t], v_limits.untraded[t],
    v_limits.open_cost_cents[t]
  );
  if v_code is not null then
    return (v_code, null, false, null)::api.result;
  end if;

  -- What it moves: cash, and what leaves the positions with the shares that are sold.
  if v_is_buy then
    v_cash := -(n * v_price) - v_fee;
  else
    v_cash := n * maker.book_price - v_fee;
    v_cost_out := core.half_up(v_holdings.cost_cents[t][h] * n, v_holdings.quantity[t][h]);
    v_fees_out := core.half_up(v_holdings.fee_cents[t][h] * n, v_holdings.quantity[t][h]);
    v_fill.taker_realised_cents := v_cash - v_cost_out - v_fees_out;
  end if;
  if maker.order_type = 'buy' then
    v_maker_cash := -(n * maker.book_price);
  else
    v_maker_cash := n * v_price;
    v_maker_cost_out := core.half_up(v_holdings.cost_cents[m][g] * n, v_holdings.quantity[m][g]);
    v_maker_fees_out := core.half_up(v_holdings.fee_cents[m][g] * n, v_holdings.quantity[m][g]);
    v_fill.maker_realised_cents := v_maker_cash - v_maker_cost_out - v_maker_fees_out;
  end if;
  v_escrow_amount := -(v_cash + v_fee) - v_maker_cash;

  v_fill.trade_id := nextval('trading.trades_id_seq');
  v_fill.trade_public_id := core.uuid_v7();
  v_fill.journal_id := nextval('ledger.journals_id_seq');
  v_fill.taker_order_id := nextval('trading.orders_id_seq');
  v_fill.taker_order_public_id := core.uuid_v7();
  v_fill.yes_price := case maker.book_side when 'yes' then maker.book_price else v_price end;

  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      time_in_force, post_only, status, fee_cents, created_at, expires_at
    )
    values (
      v_fill.taker_order_id, v_fill.taker_order_public_id, context.market_id, request.user_id,
      request.side, request.order_type, request.price, n, n, request.time_in_force, false,
      'filled', v_fee, context.at, request.expires_at
    )
  ),
  met as (
    update trading.orders as o set
      filled_quantity = o.filled_quantity + n,
      status = trading.filled_status(o.quantity - o.filled_quantity - n, o.quantity)
    where o.id = maker.order_id
  ),
  left_book as (
    delete from trading.active_orders as b
    where b.order_id = maker.order_id
      and n = maker.quantity - maker.filled_quantity
  ),
  thinned as (
    update trading.book_levels as l set
      quantity = l.quantity - n,
      order_count = l.order_count
        - case when n = maker.quantity - maker.filled_quantity then 1 else 0 end
    where l.market_id = context.market_id
      and l.book_price = maker.book_price
      and l.book_side = maker.book_side
  ),
  written as (
    insert into ledger.journals (id, kind, market_id, created_at)
    values (v_fill.journal_id, 'trade', context.market_id, context.at)
  ),
  held as (
    insert into trading.positions as p (
      market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents, has_traded
    )
    values
      (
        context.market_id, request.user_id, request.side,
        v_holdings.quantity[t][h] + case when v_is_buy then n else -n end,
        v_holdings.cost_cents[t][h] + case when v_is_buy then n * v_price else -v_cost_out end,
        v_holdings.fee_cents[t][h] + case when v_is_buy then v_fee else -v_fees_out end,
        v_holdings.realised_cents[t][h] + coalesce(v_fill.taker_realised_cents, 0),
        true
      ),
      (
        context.market_id, maker.user_id, maker.side,
        v_holdings.quantity[m][g] + case maker.order_type when 'buy' then n else -n end,
        v_holdings.cost_cents[m][g]
          + case maker.order_type when 'buy' then -v_maker_cash else -v_maker_cost_out end,
        v_holdings.fee_cents[m][g] - v_maker_fees_out,
        v_holdings.realised_cents[m][g] + coalesce(v_fill.maker_realised_cents, 0),
        true
      )
    on conflict (market_id, user_id, side) do update set
      quantity = excluded.quantity,
      cost_cents = excluded.cost_cents,
      fee_cents = excluded.fee_cents,
      realised_cents = excluded.realised_cents,
      has_traded = true
  ),
  traded as (
    insert into trading.trades (
      id, public_id, market_id, journal_id, taker_order_id, maker_order_id, taker_user_id,
      maker_user_id, taker_side, price, quantity, fee_cents, fee_schedule_id,
      taker_realised_cents, maker_realised_cents, created_at
    )
    values (
      v_fill.trade_id, v_fill.trade_public_id, context.market_id, v_fill.journal_id,
      v_fill.taker_order_id, maker.order_id, request.user_id, maker.user_id,
      request.book_side, v_fill.yes_price, n, v_fee, v_money.fee_schedule_id,
      v_fill.taker_realised_cents, v_fill.maker_realised_cents, context.at
    )
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + 1,
      placed_count = b.placed_count + 1,
      placed_id_sum = b.placed_id_sum + v_fill.taker_order_id,
      last_trade_price = v_fill.yes_price,
      yes_volume_cents = b.yes_volume_cents + n * v_fill.yes_price,
      no_volume_cents = b.no_volume_cents + n * (100 - v_fill.yes_price),
      trade_count = b.trade_count + 1,
      traders_count = b.traders_count
        + case when v_holdings.has_traded[t] then 0 else 1 end
        + case when v_holdings.has_traded[m] then 0 else 1 end,
      front_yes_price = context.best_yes,
      front_yes_position = context.first_yes_position,
      front_no_price = context.best_no,
      front_no_position = context.first_no_position
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c
  union all
  select 'user_event', json_build_object(
    'userId', v_traders.user_public_ids[m],
    'event', json_build_object(
      'type', 'maker_fill',
      'marketId', context.market_public_id,
      'orderIds', array[maker.order_public_id],
      'fillCount', 1
    )
  );

  if v_cash <> 0 then
    v_entries := array[(
      v_fill.journal_id, v_traders.account_ids[t], v_cash, v_traders.balance_cents[t],
      v_traders.balance_cents[t] + v_cash, v_traders.account_versions[t] + 1
    )::ledger.entry];
  end if;
  v_entries := v_entries || (
    v_fill.journal_id, v_traders.account_ids[m], v_maker_cash, v_traders.balance_cents[m],
    v_traders.balance_cents[m] + v_maker_cash, v_traders.account_versions[m] + 1
  )::ledger.entry;
  if v_escrow_amount <> 0 then
    v_entries := v_entries || (
      v_fill.journal_id, v_money.escrow_account_id, v_escrow_amount, v_money.escrow_cents,
      v_money.escrow_cents + v_escrow_amount, v_money.escrow_version + 1
    )::ledger.entry;
  end if;
  if v_fee > 0 then
    v_entries := v_entries || (
      v_fill.journal_id, v_money.revenue_account_id, v_fee, v_money.revenue_cents,
      v_money.revenue_cents + v_fee, v_money.revenue_version + 1
    )::ledger.entry;
  end if;
  perform ledger.post(v_entries, context.at);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":[%s],"cancelledOrders":[],"balance":%s,"feeCents":%s}',
      trading.order_object(
        v_fill.taker_order_public_id, v_traders.user_public_ids[t], context.market_public_id,
        request.side, request.price, n, n, 'filled', request.order_type, request.time_in_force,
        null, request.expires_at, v_at, null
      ),
      trading.fill_object(
        v_fill.trade_public_id, context.market_public_id, request.book_side,
        v_fill.taker_order_public_id, maker.order_public_id, v_traders.user_public_ids[t],
        v_traders.user_public_ids[m], v_fill.yes_price, n, v_at
      ),
      trading.balance_object(v_traders.balance_cents[t] + v_cash),
      v_fee
    )
  )::api.result;
end
$$;

comment on function trading.fill_order(
  trading.order_request, trading.market_context, trading.resting_order
) is
  'The short way of a lone order that its one maker fills whole (trading.sole_maker): it is '
  'refused, or filled. The answer is that of api.place_orders; null when the maker turns out dead: '
  'nothing is done then. The caller holds the market''s lock; locks the two users, by ascending '
  'account.';
--! EndIncluded trading/functions/fill_order.sql
--! Included trading/functions/match_orders.sql
-- One long function on purpose: the arrays below are its state, and PL/pgSQL would copy them on
-- every call of a part. It reads and writes no table, so it can be tested on made-up books.
create or replace function trading.match_orders(
  context trading.market_context,
  money trading.market_money,
  requests trading.order_request[],
  slice trading.book_slice,
  traders trading.trader_arrays,
  holdings trading.holding_arrays,
  limits trading.limit_arrays
)
returns trading.match_result
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_shares constant int := 10000;
  -- So many makers are cancelled in one call; a request that meets more is to be placed again.
  c_most_dead constant int := 500;
  c_most_beyond constant int := trading.most_beyond();

  -- The book: resting orders in chains, one for each stored price. A chain is indexed by price
  -- for YES and by 100 + price for NO. Orders read from the table come first, those of this
  -- batch are linked behind them.
  v_resting trading.resting_order[] := slice.orders;
  v_read constant int := cardinality(v_resting);
  v_order_ids bigint[];
  v_place int[];
  v_left int[];
  v_next int[] := array_fill(0, array[v_read]);
  v_first int[] := array_fill(0, array[199]);
  v_last int[] := array_fill(0, array[199]);
  v_best_yes int := 0;
  v_best_no int := 0;
  v_chain int;

  -- The traders, by their place t; held shares by place and side (1 is YES, 2 is NO).
  v_user_ids bigint[] := traders.user_ids;
  v_balance bigint[] := traders.balance_cents;
  v_held bigint[] := holdings.quantity;
  v_open_cost bigint[] := limits.open_cost_cents;
  v_versions bigint[] := traders.account_versions;
  v_has_traded boolean[] := holdings.has_traded;
  v_cost bigint[] := holdings.cost_cents;
  v_fees bigint[] := holdings.fee_cents;
  v_realised bigint[] := holdings.realised_cents;
  v_touched boolean[] := array_fill(
    false, array[2 * coalesce(cardinality(traders.user_ids), 0)]
  );
  v_escrow bigint := money.escrow_cents;
  v_escrow_version bigint := money.escrow_version;
  v_revenue bigint := money.revenue_cents;
  v_revenue_version bigint := money.revenue_version;

  -- What comes out.
  v_outcomes trading.order_result[];
  v_fills trading.fill[];
  v_dead trading.cancelled_maker[];
  v_entries ledger.entry[];
  v_fill_count int := 0;
  v_dead_count int := 0;
  v_entry_count int := 0;
  v_new_orders int[];
  v_last_trade_price int;
  v_yes_volume bigint := 0;
  v_no_volume bigint := 0;
  v_new_traders int := 0;
  v_changes int := 0;

  -- The request at hand: its plan is a list of the makers it meets (quantity 0: found dead).
  k int;
  t int;
  m int;
  h int;
  n int;
  v_request trading.order_request;
  v_maker trading.resting_order;
  v_outcome trading.order_result;
  v_code text;
  v_status trading.order_status;
  v_order_id bigint;
  v_order_public_id uuid;
  v_is_buy boolean;
  v_opposite int;
  v_floor int;
  v_level int;
  v_worst int;
  v_price int;
  v_wanted int;
  v_bought int;
  v_spent bigint;
  v_weight bigint;
  v_cost_cents bigint;
  v_fee bigint;
  v_fee_so_far bigint;
  v_required bigint;
  v_own boolean;
  v_sated boolean;
  v_reason trading.cancel_reason;
  v_met_count int;
  v_met_dead_count int;
  v_is_unfinished boolean;
  v_held_side int;
  v_met int[];
  v_met_quantity int[];
  v_met_trader int[];
  v_met_reason trading.cancel_reason[];
  v_may_meet_own boolean;
  v_is_decided boolean;
  v_beyond int;
  v_is_cut boolean;
  v_rests_here boolean[] := array_fill(
    false, array[coalesce(cardinality(traders.user_ids), 0)]
  );
  v_yes_price int;
  v_journal_id bigint;
  v_amount bigint;
  v_escrow_amount bigint;
  v_cost_out bigint;
  v_fees_out bigint;
  v_taker_realised bigint;
  v_maker_realised bigint;
begin
  select
    array_agg(r.order_id order by r.ordinality),
    array_agg(width_bucket(r.user_id, traders.user_ids) order by r.ordinality)
  into v_order_ids, v_place
  from unnest(slice.orders) with ordinality as r;
  for p in 1 .. v_read loop
    v_maker := v_resting[p];
    v_left[p] := v_maker.quantity - v_maker.filled_quantity;
    if v_maker.book_side = 'yes' then
      v_chain := v_maker.book_price;
      v_best_yes := greatest(v_best_yes, v_maker.book_price);
    else
      v_chain := 100 + v_maker.book_price;
      v_best_no := greatest(v_best_no, v_maker.book_price);
    end if;
    if v_first[v_chain] = 0 then
      v_first[v_chain] := p;
    else
      v_next[v_last[v_chain]] := p;
    end if;
    v_last[v_chain] := p;
  end loop;

  <<next_request>>
  for i in 1 .. cardinality(requests) loop
    v_request := requests[i];
    t := array_position(v_user_ids, v_request.user_id);

    -- 1. Replays, and refusals that no book is needed for, in their order of precedence.
    if v_request.idempotency_key is not null then
      v_outcome := null;
      v_outcome.order_id := v_request.replay_of_order_id;
      if v_outcome.order_id is null then
        for j in 1 .. i - 1 loop
          if (requests[j]).user_id = v_request.user_id
            and (requests[j]).idempotency_key = v_request.idempotency_key
            and (v_outcomes[j]).code is null
          then
            v_outcome := v_outcomes[j];
            exit;
          end if;
        end loop;
      end if;
      if v_outcome.order_id is not null and v_request.problem is null then
        v_outcome.request := v_request;
        v_outcome.is_replay := true;
        v_outcome.user_public_id := traders.user_public_ids[t];
        v_outcome.balance_cents := v_balance[t];
        k := array_position(v_order_ids, v_outcome.order_id);
        if k is not null then
          v_outcome.quantity := (v_resting[k]).quantity;
          if v_left[k] >= 0 then
            v_outcome.filled_quantity := v_outcome.quantity - v_left[k];
            v_outcome.status := trading.filled_status(v_left[k], v_outcome.quantity);
          else
            select d.filled_quantity, d.reason, 'cancelled'::trading.order_status
            into v_outcome.filled_quantity, v_outcome.cancel_reason, v_outcome.status
            from unnest(v_dead) as d
            where d.resting = k;
          end if;
        end if;
        v_outcomes[i] := v_outcome;
        continue next_request;
      end if;
    end if;
    v_code := trading.request_rejection(
      v_request, context, t is not null, traders.blocked_by[t]
    );
    if v_code is not null then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcome.message := trading.rejection_message(v_code, v_request);
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;

    -- A live market takes it now and judges it against the book when it is released.
    if context.live_delay_ms is not null then
      v_cost_cents := trading.scheduled_cost_cents(
        v_request.order_type, v_request.price, v_request.quantity, v_request.budget_cents,
        money.taker_rate_bps
      );
      v_code := trading.funding_rejection(
        v_request,
        case
          when v_request.budget_cents is not null then v_request.budget_cents
          when v_request.is_market then 0
          else v_request.quantity * v_request.price
        end,
        v_cost_cents, v_balance[t],
        v_held[t][case v_request.side when 'yes' then 1 else 2 end],
        limits.limits[t], limits.untraded[t], v_open_cost[t] - v_request.relieved_cents
      );
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      if v_code is null then
        v_outcome.user_public_id := traders.user_public_ids[t];
        v_outcome.order_id := nextval('trading.orders_id_seq');
        v_outcome.order_public_id := core.uuid_v7();
        v_outcome.status := 'scheduled'::trading.order_status;
        v_outcome.quantity := coalesce(v_request.quantity, 0);
        v_outcome.filled_quantity := 0;
        v_outcome.balance_cents := v_balance[t];
        if traders.limited[t] then
          v_open_cost[t] := v_open_cost[t] - v_request.relieved_cents + v_cost_cents;
        end if;
      end if;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;
    if traders.limited[t] then
      v_open_cost[t] := v_open_cost[t] - v_request.relieved_cents;
    end if;

    -- 2. Plan: walk the other side from its best price, as far as the request wants and its
    -- price allows. Makers' cash and shares are moved as the plan goes, and moved back below.
    v_is_buy := v_request.order_type = 'buy';
    v_held_side := case v_request.side when 'yes' then 1 else 2 end;
    v_wanted := coalesce(v_request.quantity, c_most_shares);
    v_worst := 100 - v_request.book_price;
    v_bought := 0;
    v_required := 0;
    v_met_count := 0;
    v_met_dead_count := 0;
    v_own := false;
    v_is_unfinished := false;
    v_is_cut := false;
    if v_request.book_side = 'yes' then
      v_level := v_best_no;
    else
      v_level := v_best_yes;
    end if;
    if v_level >= v_worst then
      v_opposite := case v_request.book_side when 'yes' then 100 else 0 end;
      v_floor := case v_request.book_side when 'yes' then slice.no_floor else slice.yes_floor end;
      k := v_first[v_opposite + v_level];
      v_spent := 0;
      v_weight := 0;
      v_sated := false;
      v_may_meet_own := v_rests_here[t] or slice.shares_before_own[i] is not null;
      v_beyond := 0;
    end if;

    <<walk>>
    while v_level >= v_worst loop
      if v_level <= v_floor and (k = 0 or k > v_read) then
        return (
          true, null, null, null, null, null, null, null, null, null, null, null, null, null, null
        )::trading.match_result;
      end if;
      if k = 0 then
        v_level := v_level - 1;
        exit walk when v_level < v_worst;
        k := v_first[v_opposite + v_level];
        continue walk;
      end if;
      if v_left[k] < 0 then
        -- Found dead by a request before, which was not to be finished in this call.
        k := v_next[k];
        continue walk;
      end if;

      v_maker := v_resting[k];
      v_price := 100 - v_level;
      v_reason := null;
      m := v_place[k];
      if v_maker.expires_at <= context.at then
        n := 0;
        v_reason := 'expired'::trading.cancel_reason;
      else
        n := least(v_wanted - v_bought, v_left[k]);
        if v_request.budget_cents is not null then
          -- The most shares n with spent + n x price + fee(weight + n x price x level) in budget.
          n := least(n, (
            ((v_request.budget_cents - v_spent) * 1000000 - money.taker_rate_bps * v_weight)
            / (v_price * 1000000::bigint + money.taker_rate_bps * v_price * v_level)
          ));
          if n = 0 then
            v_sated := true;
            exit walk;
          end if;
        end if;
        if v_maker.user_id = v_request.user_id then
          v_own := true;
          exit walk;
        end if;

        if traders.excluded[m] then
          v_reason := 'self_excluded'::trading.cancel_reason;
        elsif v_maker.order_type = 'sell' then
          if v_held[m][case v_maker.side when 'yes' then 1 else 2 end] < n then
            v_reason := 'position_insufficient'::trading.cancel_reason;
          end if;
        elsif v_balance[m] < n * v_level then
          v_reason := 'insufficient_funds'::trading.cancel_reason;
        elsif traders.limited[m] and risk.exceeds_limits(
          limits.limits[m], limits.untraded[m], v_balance[m], n * v_level
        ) then
          v_reason := 'loss_limit'::trading.cancel_reason;
        end if;
        if v_reason is not null then
          n := 0;
        end if;
      end if;

      if v_reason is not null then
        if v_dead_count + v_met_dead_count = c_most_dead then
          v_is_unfinished := true;
          exit walk;
        end if;
        v_met_dead_count := v_met_dead_count + 1;
      end if;
      v_met_count := v_met_count + 1;
      v_met[v_met_count] := k;
      v_met_trader[v_met_count] := m;
      v_met_reason[v_met_count] := v_reason;
      v_met_quantity[v_met_count] := n;
      if v_reason is null then
        if v_maker.order_type = 'buy' then
          v_balance[m] := v_balance[m] - n * v_level;
        else
          v_balance[m] := v_balance[m] + n * v_price;
          h := case v_maker.side when 'yes' then 1 else 2 end;
          v_held[m][h] := v_held[m][h] - n;
        end if;
        v_bought := v_bought + n;
        v_spent := v_spent + n * v_price;
        v_weight := v_weight + n * v_price * v_level;
        exit walk when v_bought = v_wanted;
        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_is_decided := v_request.post_only
          or (v_is_buy and v_spent > v_balance[t])
          or (not v_is_buy and v_held[t][v_held_side] < v_wanted);
        exit walk when v_is_decided and not v_may_meet_own;
        if v_is_decided or (
          v_is_buy and traders.limited[t] and risk.exceeds_limits(
            limits.limits[t], limits.untraded[t], v_balance[t], v_open_cost[t] + v_spent
          )
        ) then
          v_beyond := v_beyond + 1;
          if v_beyond = c_most_beyond then
            v_own := v_may_meet_own and v_wanted > coalesce(slice.shares_before_own[i], 0);
            v_is_cut := true;
            exit walk;
          end if;
        end if;
        if n < v_left[k] then
          v_sated := true; -- the budget ends within this order
          exit walk;
        end if;
      end if;
      k := v_next[k];
    end loop walk;

    for p in 1 .. v_met_count loop
      n := v_met_quantity[p];
      if n > 0 then
        v_maker := v_resting[v_met[p]];
        m := v_met_trader[p];
        if v_maker.order_type = 'buy' then
          v_balance[m] := v_balance[m] + n * v_maker.book_price;
        else
          v_balance[m] := v_balance[m] - n * (100 - v_maker.book_price);
          h := case v_maker.side when 'yes' then 1 else 2 end;
          v_held[m][h] := v_held[m][h] + n;
        end if;
      end if;
    end loop;

    -- 3. Verdict.
    if v_is_cut then
      v_required := v_spent;
    elsif v_is_buy then
      v_required :=
        case when v_bought = 0 then 0
          else v_spent + trading.fee_cents(money.taker_rate_bps, v_weight) end
        + case when v_request.time_in_force = 'ioc' then 0
          else (v_wanted - v_bought) * v_request.price end;
    end if;
    v_code := case
      when v_is_unfinished then 'CONFLICT_RETRY'
      when v_own then 'SELF_TRADE_BLOCKED'
      when v_request.post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS'
      when v_request.time_in_force = 'ioc' and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
      else trading.funding_rejection(
        v_request, v_required, v_required, v_balance[t],
        v_held[t][case v_request.side when 'yes' then 1 else 2 end],
        limits.limits[t], limits.untraded[t], v_open_cost[t]
      )
    end;
    if v_code is not null
      and (v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') or v_met_dead_count = 0)
    then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;

    -- 4. Carry the plan out. What was met is a prefix of the other side: unlink it.
    v_changes := v_changes + 1;
    v_fee_so_far := 0;
    if v_code is null then
      v_order_id := v_request.order_id;
      v_order_public_id := v_request.order_public_id;
      if v_order_id is null then
        v_order_id := nextval('trading.orders_id_seq');
        v_order_public_id := core.uuid_v7();
      end if;
    end if;
    if v_met_count > 0 then
      v_weight := 0;
    end if;

    for p in 1 .. v_met_count loop
      v_maker := v_resting[v_met[p]];
      m := v_met_trader[p];
      n := v_met_quantity[p];
      continue when v_is_unfinished and n > 0;

      if n = 0 then
        v_dead_count := v_dead_count + 1;
        v_dead[v_dead_count] := (
          i, v_met[p], traders.user_public_ids[m], v_met_reason[p],
          v_maker.quantity - v_left[v_met[p]], v_maker
        )::trading.cancelled_maker;
        if traders.limited[m] and v_maker.order_type = 'buy' and v_met_reason[p] <> 'expired' then
          v_open_cost[m] := v_open_cost[m] - v_left[v_met[p]] * v_maker.price;
        end if;
        v_left[v_met[p]] := -1;
        continue;
      end if;

      v_price := 100 - v_maker.book_price;
      v_yes_price := case v_maker.book_side when 'yes' then v_maker.book_price else v_price end;
      v_weight := v_weight + n * v_price * v_maker.book_price;
      v_fee := trading.fee_cents(money.taker_rate_bps, v_weight) - v_fee_so_far;
      v_fee_so_far := v_fee_so_far + v_fee;
      v_journal_id := nextval('ledger.journals_id_seq');
      v_escrow_amount := 0;

      -- The taker's shares and cash.
      if v_is_buy then
        h := case v_request.side when 'yes' then 1 else 2 end;
        v_held[t][h] := v_held[t][h] + n;
        v_cost[t][h] := v_cost[t][h] + n * v_price;
        v_fees[t][h] := v_fees[t][h] + v_fee;
        v_amount := -(n * v_price) - v_fee;
        v_taker_realised := null;
        v_escrow_amount := n * v_price;
      else
        h := case v_request.side when 'yes' then 1 else 2 end;
        v_cost_out := core.half_up(v_cost[t][h] * n, v_held[t][h]);
        v_fees_out := core.half_up(v_fees[t][h] * n, v_held[t][h]);
        v_held[t][h] := v_held[t][h] - n;
        v_cost[t][h] := v_cost[t][h] - v_cost_out;
        v_fees[t][h] := v_fees[t][h] - v_fees_out;
        v_amount := n * v_maker.book_price - v_fee;
        v_taker_realised := v_amount - v_cost_out - v_fees_out;
        v_realised[t][h] := v_realised[t][h] + v_taker_realised;
        v_escrow_amount := -(n * v_maker.book_price);
      end if;
      v_touched[2 * t - 2 + h] := true;
      if v_amount <> 0 then
        v_versions[t] := v_versions[t] + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, traders.account_ids[t], v_amount,
          v_balance[t], v_balance[t] + v_amount, v_versions[t]
        )::ledger.entry;
        v_balance[t] := v_balance[t] + v_amount;
      end if;

      -- The maker's.
      h := case v_maker.side when 'yes' then 1 else 2 end;
      if v_maker.order_type = 'buy' then
        v_held[m][h] := v_held[m][h] + n;
        v_cost[m][h] := v_cost[m][h] + n * v_maker.book_price;
        v_amount := -(n * v_maker.book_price);
        v_maker_realised := null;
        if traders.limited[m] then
          v_open_cost[m] := v_open_cost[m] + v_amount;
        end if;
      else
        v_cost_out := core.half_up(v_cost[m][h] * n, v_held[m][h]);
        v_fees_out := core.half_up(v_fees[m][h] * n, v_held[m][h]);
        v_held[m][h] := v_held[m][h] - n;
        v_cost[m][h] := v_cost[m][h] - v_cost_out;
        v_fees[m][h] := v_fees[m][h] - v_fees_out;
        v_amount := n * v_price;
        v_maker_realised := v_amount - v_cost_out - v_fees_out;
        v_realised[m][h] := v_realised[m][h] + v_maker_realised;
      end if;
      v_touched[2 * m - 2 + h] := true;
      v_versions[m] := v_versions[m] + 1;
      v_entry_count := v_entry_count + 1;
      v_entries[v_entry_count] := (
        v_journal_id, traders.account_ids[m], v_amount,
        v_balance[m], v_balance[m] + v_amount, v_versions[m]
      )::ledger.entry;
      v_balance[m] := v_balance[m] + v_amount;

      -- The market's: pairs minted into escrow or burnt out of it, and the fee.
      v_escrow_amount := v_escrow_amount - v_amount;
      if v_escrow_amount <> 0 then
        v_escrow_version := v_escrow_version + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, money.escrow_account_id, v_escrow_amount,
          v_escrow, v_escrow + v_escrow_amount, v_escrow_version
        )::ledger.entry;
        v_escrow := v_escrow + v_escrow_amount;
      end if;
      if v_fee > 0 then
        v_revenue_version := v_revenue_version + 1;
        v_entry_count := v_entry_count + 1;
        v_entries[v_entry_count] := (
          v_journal_id, money.revenue_account_id, v_fee,
          v_revenue, v_revenue + v_fee, v_revenue_version
        )::ledger.entry;
        v_revenue := v_revenue + v_fee;
      end if;

      v_left[v_met[p]] := v_left[v_met[p]] - n;
      v_last_trade_price := v_yes_price;
      v_yes_volume := v_yes_volume + n * v_yes_price;
      v_no_volume := v_no_volume + n * (100 - v_yes_price);
      if not v_has_traded[t] then
        v_has_traded[t] := true;
        v_new_traders := v_new_traders + 1;
      end if;
      if not v_has_traded[m] then
        v_has_traded[m] := true;
        v_new_traders := v_new_traders + 1;
      end if;
      v_fill_count := v_fill_count + 1;
      v_fills[v_fill_count] := (
        i, nextval('trading.trades_id_seq'), core.uuid_v7(), v_journal_id,
        v_order_id, v_order_public_id, v_request.user_id,
        traders.user_public_ids[t], v_request.book_side,
        v_maker.order_id, v_maker.order_public_id, v_maker.user_id,
        traders.user_public_ids[m], v_yes_price, n, v_fee, v_taker_realised, v_maker_realised
      )::trading.fill;
    end loop;

    if v_is_unfinished then
      v_outcome := null;
      v_outcome.request := v_request;
      v_outcome.code := v_code;
      v_outcomes[i] := v_outcome;
      continue next_request;
    end if;
    if v_met_count > 0 then
      for p in v_level + 1 .. case v_opposite when 100 then v_best_no else v_best_yes end loop
        v_first[v_opposite + p] := 0;
      end loop;
      if v_level >= v_worst then
        v_first[v_opposite + v_level] := case when v_left[k] > 0 then k else v_next[k] end;
      end if;
      if v_opposite = 100 then
        v_best_no := v_level;
      else
        v_best_yes := v_level;
      end if;
      if v_code is not null then
        v_outcome := null;
        v_outcome.request := v_request;
        v_outcome.code := v_code;
        v_outcomes[i] := v_outcome;
        continue next_request;
      end if;
    end if;

    -- 5. The order as it now stands; what is left of it joins the book or is cancelled.
    v_reason := null;
    if v_request.budget_cents is null then
      v_status := trading.filled_status(v_wanted - v_bought, v_wanted);
    elsif v_sated or v_bought = c_most_shares or (
      (v_request.budget_cents - v_spent) * 1000000 - money.taker_rate_bps * v_weight
      < 1000000 + money.taker_rate_bps * 99
    ) then
      v_wanted := v_bought;
      v_status := 'filled'::trading.order_status;
    else
      v_wanted := v_bought;
      v_status := 'open'::trading.order_status;
    end if;
    if v_status <> 'filled' and v_request.time_in_force = 'ioc' then
      v_status := 'cancelled'::trading.order_status;
      v_reason := 'insufficient_liquidity'::trading.cancel_reason;
    end if;
    v_outcomes[i] := (
      v_request, traders.user_public_ids[t], null, null, v_order_id, v_order_public_id, null,
      v_status, v_wanted, v_bought, v_reason, v_fee_so_far, v_balance[t],
      v_status, v_bought, v_reason
    )::trading.order_result;

    if v_status in ('open', 'partially_filled') then
      k := coalesce(cardinality(v_left), 0) + 1;
      v_resting[k] := (
        v_order_id, v_order_public_id, v_request.user_id, v_request.side,
        v_request.order_type, v_request.price, v_request.quantity, v_bought,
        coalesce(v_request.created_at, context.at),
        v_request.expires_at, v_request.book_side, v_request.book_price,
        case when v_request.order_id is null then v_order_id
          else nextval('trading.orders_id_seq') end
      )::trading.resting_order;
      v_left[k] := v_wanted - v_bought;
      v_order_ids[k] := v_order_id;
      v_place[k] := t;
      v_rests_here[t] := true;
      v_new_orders[k - v_read] := i;
      v_next[k] := 0;
      if v_request.book_side = 'yes' then
        v_chain := v_request.book_price;
        v_best_yes := greatest(v_best_yes, v_request.book_price);
      else
        v_chain := 100 + v_request.book_price;
        v_best_no := greatest(v_best_no, v_request.book_price);
      end if;
      if v_first[v_chain] = 0 then
        v_first[v_chain] := k;
      else
        v_next[v_last[v_chain]] := k;
      end if;
      v_last[v_chain] := k;
      if v_is_buy and traders.limited[t] then
        v_open_cost[t] := v_open_cost[t] + v_left[k] * v_request.price;
      end if;
    end if;
  end loop next_request;

  -- Orders that came to rest may have been met by later requests of the batch.
  for p in 1 .. coalesce(cardinality(v_new_orders), 0) loop
    k := v_read + p;
    v_outcome := v_outcomes[v_new_orders[p]];
    v_maker := v_resting[k];
    if v_left[k] < 0 then
      select 'cancelled'::trading.order_status, d.filled_quantity, d.reason
      into v_outcome.end_status, v_outcome.end_filled_quantity, v_outcome.end_cancel_reason
      from unnest(v_dead) as d
      where d.resting = k;
    else
      v_outcome.end_filled_quantity := v_maker.quantity - v_left[k];
      v_outcome.end_status := trading.filled_status(v_left[k], v_maker.quantity);
    end if;
    v_outcomes[v_new_orders[p]] := v_outcome;
  end loop;

  if v_fill_count > 0 then
    holdings := (v_has_traded, v_held, v_cost, v_fees, v_realised, v_touched);
  end if;
  return (
    false, v_outcomes, v_fills, v_dead, v_resting, v_left, v_read, v_entries,
    v_user_ids, holdings,
    v_last_trade_price, v_yes_volume, v_no_volume, v_new_traders, v_changes
  )::trading.match_result;
end
$$;

comment on function trading.match_orders(
  trading.market_context, trading.market_money, trading.order_request[], trading.book_slice,
  trading.trader_arrays, trading.holding_arrays, trading.limit_arrays
) is
  'Matches a batch in memory: what each request comes to, and all that has to be written for it. '
  'Requests are taken in order, each as if it had come alone. A request that is refused leaves no '
  'trace, but for the makers it found dead when it is refused for want of liquidity, or because '
  'it met more of them than one call cancels (CONFLICT_RETRY).';
--! EndIncluded trading/functions/match_orders.sql
--! Included trading/functions/match_batch.sql
create or replace function trading.match_batch(
  context trading.market_context,
  requests trading.order_request[],
  has_keys boolean,
  holds_users boolean default false
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := match_batch.requests;
  v_slice trading.book_slice;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_money trading.market_money;
  v_result trading.match_result;
  v_depth int := 1;
  v_demand int[];
  v_shares_before_own bigint[];
begin
  select m.* into v_money
  from trading.read_money(context.market_id, context.category_id, context.at) as m;
  if context.live_delay_ms is null then
    select r.demand, r.shares_before_own into v_demand, v_shares_before_own
    from trading.read_reach(context, v_requests) as r;
  end if;
  loop
    if context.live_delay_ms is null then
      v_slice := trading.read_book_slice(context, v_requests, v_demand, v_depth);
      v_slice.shares_before_own := v_shares_before_own;
    else
      v_slice := ('{}', 0, 0, null);
    end if;
    if v_depth > 1 or match_batch.holds_users then
      perform trading.lock_more_traders(v_slice);
    end if;
    v_traders := trading.lock_traders(v_requests, v_slice, context.at);
    select h.* into v_holdings
    from trading.read_holdings(context.market_id, v_traders.user_ids) as h;
    if true = any (v_traders.limited) then
      v_limits := trading.read_limits(
        v_traders.user_ids, array(select r.user_id from unnest(v_requests) as r), context.at
      );
    end if;
    if match_batch.has_keys then
      v_requests := trading.read_replays(v_requests, context.at);
    end if;

    v_result := trading.match_orders(
      context, v_money, v_requests, v_slice, v_traders, v_holdings, v_limits
    );
    exit when not v_result.reached_floor;
    -- Dead makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;
  return (v_money, v_result)::trading.matched_batch;
end
$$;

comment on function trading.match_batch(
  trading.market_context, trading.order_request[], boolean, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. has_keys: some request '
  'has an idempotency key; holds_users: the takers are locked already. The caller holds the '
  'market''s lock; locks the takers and the makers they can reach, by ascending account.';
--! EndIncluded trading/functions/match_batch.sql
--! Included trading/functions/level_changes.sql
create or replace function trading.level_changes(
  resting trading.resting_order[], resting_left int[], resting_read int
)
returns setof trading.level_change
language sql immutable
begin atomic
  select r.book_side, r.book_price, sum(r.after - r.before), sum(sign(r.after) - sign(r.before))
  from (
    select
      u.book_side,
      u.book_price,
      case when u.ordinality > resting_read then 0 else u.quantity - u.filled_quantity end,
      greatest(resting_left[u.ordinality], 0)
    from unnest(resting) with ordinality as u
  ) as r (book_side, book_price, before, after)
  where r.after <> r.before
  group by r.book_side, r.book_price;
end;

comment on function trading.level_changes(trading.resting_order[], int[], int) is
  'What a batch adds to the depth of its market: at most one row for each side and price.';
--! EndIncluded trading/functions/level_changes.sql
--! Included trading/functions/settle_makers.sql
create or replace function trading.settle_makers(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_left int[];
begin
  select
    array_agg(r.order_id order by r.order_id),
    array_agg(result.resting_left[r.ordinality] order by r.order_id)
  into v_ids, v_left
  from unnest(result.resting) with ordinality as r
  where r.ordinality <= result.resting_read
    and result.resting_left[r.ordinality] < r.quantity - r.filled_quantity;

  -- By their ids and not by a join: no plan can do worse than look each up.
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (v_ids)
      and v_left[width_bucket(b.order_id, v_ids)] <= 0
  )
  update trading.orders as o set
    filled_quantity = o.quantity - v_left[width_bucket(o.id, v_ids)],
    status = trading.filled_status(v_left[width_bucket(o.id, v_ids)], o.quantity)
  where o.id = any (v_ids)
    and v_left[width_bucket(o.id, v_ids)] >= 0;

  if result.cancelled_makers is not null then
    update trading.orders as o set
      filled_quantity = d.filled_quantity,
      status = 'cancelled',
      cancel_reason = d.reason,
      cancelled_at = context.at
    from unnest(result.cancelled_makers) as d
    where o.id = (d."order").order_id
      and d.resting <= result.resting_read;
  end if;
end
$$;

comment on function trading.settle_makers(trading.market_context, trading.match_result) is
  'Writes what became of the orders that rested before the batch.';
--! EndIncluded trading/functions/settle_makers.sql
--! Included trading/functions/settle_fills.sql
create or replace function trading.settle_fills(
  context trading.market_context,
  money trading.market_money,
  result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with written as (
    insert into ledger.journals (id, kind, market_id, created_at)
    select f.journal_id, 'trade', context.market_id, context.at
    from unnest(result.fills) as f
  ),
  held as (
    insert into trading.positions as p (
      market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents, has_traded
    )
    select
      context.market_id,
      result.user_ids[(h.place + 1) / 2],
      case when h.place % 2 = 1 then 'yes' else 'no' end::trading.side,
      h.quantity, h.cost_cents, h.fee_cents, h.realised_cents, true
    from unnest(
      (result.holdings).quantity,
      (result.holdings).cost_cents,
      (result.holdings).fee_cents,
      (result.holdings).realised_cents,
      (result.holdings).touched
    ) with ordinality as h (quantity, cost_cents, fee_cents, realised_cents, touched, place)
    where h.touched
    on conflict (market_id, user_id, side) do update set
      quantity = excluded.quantity,
      cost_cents = excluded.cost_cents,
      fee_cents = excluded.fee_cents,
      realised_cents = excluded.realised_cents,
      has_traded = true
  )
  insert into trading.trades (
    id, public_id, market_id, journal_id, taker_order_id, maker_order_id, taker_user_id,
    maker_user_id, taker_side, price, quantity, fee_cents, fee_schedule_id,
    taker_realised_cents, maker_realised_cents, created_at
  )
  select
    f.trade_id, f.trade_public_id, context.market_id, f.journal_id, f.taker_order_id,
    f.maker_order_id, f.taker_user_id, f.maker_user_id, f.taker_side, f.yes_price, f.quantity,
    f.fee_cents, money.fee_schedule_id, f.taker_realised_cents, f.maker_realised_cents,
    context.at
  from unnest(result.fills) as f;

  perform ledger.post(result.entries, context.at);
end
$$;

comment on function trading.settle_fills(
  trading.market_context, trading.market_money, trading.match_result
) is
  'Writes the trades of a batch with their journals, cash and shares.';
--! EndIncluded trading/functions/settle_fills.sql
--! Included trading/functions/settle_orders.sql
create or replace function trading.settle_orders(
  context trading.market_context,
  money trading.market_money,
  result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if result.fills is not null or result.cancelled_makers is not null then
    perform trading.settle_makers(context, result);
  end if;

  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
      expires_at, cancelled_at
    )
    select
      o.order_id, o.order_public_id, context.market_id, (o.request).user_id, (o.request).side,
      (o.request).order_type, (o.request).price, o.quantity, o.end_filled_quantity,
      (o.request).budget_cents, (o.request).time_in_force, (o.request).post_only, o.end_status,
      o.end_cancel_reason, o.fee_cents, context.at, (o.request).expires_at,
      case when o.end_status = 'cancelled' then context.at end
    from unnest(result.outcomes) as o
    where o.code is null
      and o.is_replay is null
      and (o.request).order_id is null
    returning id
  ),
  rested as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, queue_position, expires_at
    )
    select
      r.order_id, context.market_id, r.user_id, r.book_side, r.book_price,
      r.queue_position, r.expires_at
    from unnest(result.resting) with ordinality as r
    where r.ordinality > result.resting_read
      and result.resting_left[r.ordinality] > 0
    returning book_side, book_price
  ),
  deepened as (
    update trading.book_levels as l set
      quantity = l.quantity + c.quantity,
      order_count = l.order_count + c.order_count
    from trading.level_changes(result.resting, result.resting_left, result.resting_read) as c
    where l.market_id = context.market_id
      and l.book_price = c.book_price
      and l.book_side = c.book_side
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + result.changes,
      placed_count = b.placed_count + p.order_count,
      placed_id_sum = b.placed_id_sum + p.id_sum,
      last_trade_price = coalesce(result.last_trade_price, b.last_trade_price),
      yes_volume_cents = b.yes_volume_cents + result.yes_volume_cents,
      no_volume_cents = b.no_volume_cents + result.no_volume_cents,
      trade_count = b.trade_count + coalesce(cardinality(result.fills), 0),
      traders_count = b.traders_count + result.new_traders,
      front_yes_price = greatest(context.best_yes, r.best_yes),
      front_yes_position = case
        when r.best_yes > context.best_yes then 0 else context.first_yes_position
      end,
      front_no_price = greatest(context.best_no, r.best_no),
      front_no_position = case
        when r.best_no > context.best_no then 0 else context.first_no_position
      end
    from (
      select
        max(x.book_price) filter (where x.book_side = 'yes') as best_yes,
        max(x.book_price) filter (where x.book_side = 'no') as best_no
      from rested as x
    ) as r
    cross join (
      select count(*) as order_count, coalesce(sum(x.id), 0)::bigint as id_sum
      from placed as x
    ) as p
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c;

  if result.fills is not null then
    perform trading.settle_fills(context, money, result);
  end if;
end
$$;

comment on function trading.settle_orders(
  trading.market_context, trading.market_money, trading.match_result
) is
  'Writes what a batch came to, each table as one set, and announces the market''s new version. '
  'The rows of released orders are trading.settle_released''s.';
--! EndIncluded trading/functions/settle_orders.sql
--! Included trading/functions/announce_to_makers.sql
create or replace function trading.announce_to_makers(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if result.fills is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', f.maker_user_public_id,
        'event', json_build_object(
          'type', 'maker_fill',
          'marketId', context.market_public_id,
          'orderIds', f.order_ids,
          'fillCount', f.fill_count
        )
      )
    from (
      select
        u.maker_user_public_id,
        json_agg(u.maker_order_public_id order by u.trade_id) as order_ids,
        count(*) as fill_count
      from unnest(result.fills) as u
      group by u.request, u.maker_user_public_id
      order by min(u.trade_id)
    ) as f;
  end if;

  if result.cancelled_makers is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', d.user_public_id,
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', (d."order").order_public_id,
          'marketId', context.market_public_id,
          'marketTitle', context.title,
          'side', (d."order").side,
          'price', (d."order").price,
          'quantity', (d."order").quantity,
          'filledQuantity', d.filled_quantity,
          'cancelReason', d.reason
        )
      )
    from unnest(result.cancelled_makers) as d;
  end if;
end
$$;

comment on function trading.announce_to_makers(
  trading.market_context, trading.match_result
) is
  'Announces a batch to the makers it met: to each once for each request that filled it, and to '
  'the owner of each order found dead.';
--! EndIncluded trading/functions/announce_to_makers.sql
--! Included trading/functions/settle_scheduled.sql
create or replace function trading.settle_scheduled(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_release_at constant timestamptz :=
    context.at + context.live_delay_ms * interval '1 millisecond';
begin
  with scheduled as (
    select o.*
    from unnest(result.outcomes) as o
    where o.code is null
      and o.is_replay is null
  ),
  placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, budget_cents,
      time_in_force, post_only, status, created_at, expires_at, release_at
    )
    select
      o.order_id, o.order_public_id, context.market_id, (o.request).user_id, (o.request).side,
      (o.request).order_type, (o.request).price, o.quantity, (o.request).budget_cents,
      (o.request).time_in_force, (o.request).post_only, o.status, context.at,
      (o.request).expires_at, v_release_at
    from scheduled as o
    returning id
  ),
  counted as (
    update trading.market_state as b set
      placed_count = b.placed_count + p.order_count,
      placed_id_sum = b.placed_id_sum + p.id_sum
    from (
      select count(*) as order_count, coalesce(sum(x.id), 0)::bigint as id_sum
      from placed as x
    ) as p
    where b.market_id = context.market_id
      and p.order_count > 0
  ),
  waiting as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, expires_at, release_at
    )
    select
      o.order_id, context.market_id, (o.request).user_id, (o.request).book_side,
      (o.request).book_price, (o.request).expires_at, v_release_at
    from scheduled as o
  )
  insert into trading.outbox (channel, payload)
  select
    'user_event',
    json_build_object(
      'userId', o.user_public_id,
      'event', json_build_object(
        'type', 'order_pending',
        'orderId', o.order_public_id,
        'marketId', context.market_public_id,
        'side', (o.request).side,
        'price', (o.request).price,
        'quantity', o.quantity,
        'releaseAt', core.iso8601(v_release_at),
        'budgetCents', (o.request).budget_cents
      )
    )
  from scheduled as o;
end
$$;

comment on function trading.settle_scheduled(trading.market_context, trading.match_result) is
  'Writes the orders of a batch that a live market took, to wait for their release, and tells '
  'their users (order_pending). The book and its version stay as they are.';
--! EndIncluded trading/functions/settle_scheduled.sql
--! Included trading/functions/settle_batch.sql
create or replace function trading.settle_batch(
  context trading.market_context, batch trading.matched_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if context.live_delay_ms is not null then
    perform trading.settle_scheduled(context, batch.result);
  elsif (batch.result).changes > 0 then
    perform trading.settle_orders(context, batch.money, batch.result);
    perform trading.announce_to_makers(context, batch.result);
  end if;
end
$$;

comment on function trading.settle_batch(trading.market_context, trading.matched_batch) is
  'Writes what a batch came to and announces it; nothing, if nothing changed.';
--! EndIncluded trading/functions/settle_batch.sql
--! Included trading/functions/settle_keys.sql
create or replace function trading.settle_keys(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into trading.idempotency_keys as k (user_id, key, order_id, created_at)
  select (o.request).user_id, (o.request).idempotency_key, o.order_id, context.at
  from unnest(result.outcomes) as o
  where (o.request).idempotency_key is not null
    and o.code is null
    and o.is_replay is null
  on conflict (user_id, key) do update
  set order_id = excluded.order_id, created_at = excluded.created_at;
end
$$;

comment on function trading.settle_keys(trading.market_context, trading.match_result) is
  'Notes which orders of a batch the idempotency keys stand for. A key older than 24 hours is '
  'taken over.';
--! EndIncluded trading/functions/settle_keys.sql
--! Included trading/functions/order_answers.sql
create or replace function trading.order_answers(
  context trading.market_context, result trading.match_result
)
returns api.result[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at text := core.iso8601(context.at);
  v_outcome trading.order_result;
  v_request trading.order_request;
  v_answers api.result[];
  v_all_fills trading.fill[] := result.fills;
  v_all_dead trading.cancelled_maker[] := result.cancelled_makers;
  v_fill trading.fill;
  v_dead trading.cancelled_maker;
  v_fills text[];
  v_cancelled text[];
  v_place int := 0;
  f int := 1;
  d int := 1;
begin
  -- Fills and dead makers come in the order of the requests that met them.
  foreach v_outcome in array result.outcomes loop
    v_place := v_place + 1;
    if v_all_fills is not null then
      v_fills := '{}';
      loop
        v_fill := v_all_fills[f];
        exit when v_fill.request is distinct from v_place;
        v_fills[cardinality(v_fills) + 1] := trading.fill_object(
          v_fill.trade_public_id, context.market_public_id, v_fill.taker_side,
          v_fill.taker_order_public_id, v_fill.maker_order_public_id,
          v_fill.taker_user_public_id, v_fill.maker_user_public_id, v_fill.yes_price,
          v_fill.quantity, v_at
        );
        f := f + 1;
      end loop;
    end if;
    if v_all_dead is not null then
      v_cancelled := '{}';
      loop
        v_dead := v_all_dead[d];
        exit when v_dead.request is distinct from v_place;
        v_cancelled[cardinality(v_cancelled) + 1] := trading.order_object(
          (v_dead."order").order_public_id, v_dead.user_public_id, context.market_public_id,
          (v_dead."order").side, (v_dead."order").price, (v_dead."order").quantity,
          v_dead.filled_quantity, 'cancelled', (v_dead."order").order_type, 'gtc',
          v_dead.reason, (v_dead."order").expires_at,
          core.iso8601((v_dead."order").created_at), null
        );
        d := d + 1;
      end loop;
    end if;

    v_request := v_outcome.request;
    v_answers[v_place] := (
      v_outcome.code,
      v_outcome.message,
      v_outcome.is_replay is not null,
      case
        when v_outcome.code is not null then null
        when v_outcome.is_replay then trading.replay_answer(v_outcome, context.at)
        else format(
          '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
          trading.result_object(v_outcome, context, v_at, v_request.time_in_force),
          array_to_string(v_fills, ','),
          array_to_string(v_cancelled, ','),
          trading.balance_object(v_outcome.balance_cents),
          coalesce(v_outcome.fee_cents::text, 'null')
        )
      end
    )::api.result;
  end loop;
  return v_answers;
end
$$;

comment on function trading.order_answers(trading.market_context, trading.match_result) is
  'The answers to a batch, in the order of its requests: a refusal, or the documented body of '
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
--! Included trading/functions/settle_released.sql
create or replace function trading.settle_released(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with released as (
    select
      (r.request).order_id,
      coalesce(r.quantity, (r.request).quantity, 0) as quantity,
      coalesce(r.end_filled_quantity, 0) as filled_quantity,
      coalesce(r.end_status, 'cancelled') as status,
      coalesce(
        r.end_cancel_reason, trading.release_reason(r.code, (r.request).order_type)
      ) as cancel_reason,
      coalesce(r.fee_cents, 0) as fee_cents
    from unnest(result.outcomes) as r
    where r.code is distinct from 'CONFLICT_RETRY'
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
    cancelled_at = case when r.status = 'cancelled' then context.at end,
    fee_cents = r.fee_cents,
    released_at = context.at
  from released as r
  where o.id = r.order_id;
end
$$;

comment on function trading.settle_released(trading.market_context, trading.match_result) is
  'Writes what scheduled orders became at their release: each leaves its delay, and what refused '
  'it is why it is cancelled. Those that rest are put on the book by trading.settle_orders. One '
  'that could not be finished (CONFLICT_RETRY) stays scheduled and due.';
--! EndIncluded trading/functions/settle_released.sql
--! Included trading/functions/announce_released.sql
create or replace function trading.announce_released(
  context trading.market_context, result trading.match_result
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
      'userId', u.public_id,
      'event', json_build_object(
        'type', 'order_released',
        'orderId', (r.request).order_public_id,
        'marketId', context.market_public_id,
        'status', coalesce(r.status, 'cancelled'),
        'side', (r.request).side,
        'price', (r.request).price,
        'quantity', coalesce(r.quantity, (r.request).quantity, 0),
        'filledQuantity', coalesce(r.filled_quantity, 0),
        'cancelReason', coalesce(
          r.cancel_reason, trading.release_reason(r.code, (r.request).order_type)
        ),
        'fills', coalesce(f.fill_count, 0),
        'balance', r.balance_cents,
        'feeCents', r.fee_cents
      )
    )
  from unnest(result.outcomes) with ordinality as r
  join identity.users as u on u.id = (r.request).user_id
  left join (
    select x.request, count(*) as fill_count
    from unnest(result.fills) as x
    group by x.request
  ) as f on f.request = r.ordinality
  where r.code is distinct from 'CONFLICT_RETRY'
  order by r.ordinality;
end
$$;

comment on function trading.announce_released(trading.market_context, trading.match_result) is
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
begin
  perform trading.lock_market(release_orders.market_id);
  v_at := core.now();
  v_requests := array(
    select (
      o.user_id, o.side, o.order_type, o.price,
      case when o.budget_cents is null then o.quantity end, o.budget_cents,
      o.time_in_force, o.post_only, o.expires_at, null, b.book_side, b.book_price, null, null,
      false, trading.active_order_cost_cents(o, b, v_at), o.id, o.public_id, o.created_at
    )::trading.order_request
    from trading.active_orders as b
    cross join lateral (
      select x.* from trading.orders as x where x.id = b.order_id limit 1
    ) as o
    where b.market_id = release_orders.market_id
      and b.queue_position is null
      and b.release_at <= v_at
    order by b.release_at, b.order_id
    limit release_orders.most
  );
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  select c.* into v_context
  from trading.read_context(release_orders.market_id, v_at) as c;
  v_context.live_delay_ms := null; -- they have waited
  v_batch := trading.match_batch(v_context, v_requests, false);
  perform trading.settle_released(v_context, v_batch.result);
  perform trading.announce_released(v_context, v_batch.result);
  perform trading.settle_batch(v_context, v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint, int) is
  'Releases what is due of a market''s scheduled orders, at most so many, in the order of their '
  'release time and then of their acceptance: each is judged and matched as if it had just been '
  'placed, and whatever would have refused it cancels it. Returns how many. Locks as '
  'api.place_orders does.';
--! EndIncluded trading/functions/release_orders.sql
--! Included trading/functions/raise_version.sql
create or replace function trading.raise_version(market_id bigint, market_public_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version bigint;
begin
  update trading.market_state as b
  set version = b.version + 1
  where b.market_id = raise_version.market_id
  returning b.version into v_version;
  perform trading.announce_market(raise_version.market_public_id, v_version);
end
$$;

comment on function trading.raise_version(bigint, uuid) is
  'Counts one change of a market''s book and announces it. The caller holds the market''s lock.';
--! EndIncluded trading/functions/raise_version.sql
--! Included trading/functions/end_active_orders.sql
create or replace function trading.end_active_orders(
  market_id bigint, order_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns setof trading.active_orders
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
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
    returning o.id, o.quantity - o.filled_quantity as left_quantity
  ),
  thinned as (
    update trading.book_levels as l set
      quantity = l.quantity - x.quantity,
      order_count = l.order_count - x.order_count
    from (
      select
        g.book_side, g.book_price, sum(c.left_quantity) as quantity, count(*) as order_count
      from gone as g
      join cancelled as c on c.id = g.order_id
      where g.queue_position is not null
      group by g.book_side, g.book_price
    ) as x
    where l.market_id = end_active_orders.market_id
      and l.book_price = x.book_price
      and l.book_side = x.book_side
  )
  select g.*
  from gone as g
  order by g.order_id;
end
$$;

comment on function trading.end_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Takes open orders of one market off the book, or out of their delay, for one reason; gives '
  'those that were still there. Neither counts nor tells it. The caller holds the market''s lock.';
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
  v_market catalog.markets;
  v_ids bigint[];
  v_book_changed boolean;
begin
  select array_agg(e.order_id order by e.order_id), bool_or(e.queue_position is not null)
  into v_ids, v_book_changed
  from trading.end_active_orders(
    cancel_active_orders.market_id, cancel_active_orders.order_ids, cancel_active_orders.reason,
    cancel_active_orders.at
  ) as e;
  if v_ids is null then
    return 0;
  end if;

  select m.* into strict v_market
  from catalog.markets as m
  where m.id = cancel_active_orders.market_id;
  if cancel_active_orders.announced then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', u.public_id,
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', o.public_id,
          'marketId', v_market.public_id,
          'marketTitle', v_market.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'cancelReason', o.cancel_reason
        )
      )
    from unnest(v_ids) with ordinality as i (id, place)
    join trading.orders as o on o.id = i.id
    join identity.users as u on u.id = o.user_id
    order by i.place;
  end if;
  if v_book_changed then
    perform trading.raise_version(v_market.id, v_market.public_id);
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
    trading.balance_object(a.balance_cents)
  )
  into v_outcome.body
  from catalog.markets as m
  join ledger.accounts as a on a.user_id = v_order.user_id
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
  v_book trading.market_state;
  v_journal_id bigint;
  v_body text;
begin
  select b.* into strict v_book
  from trading.market_state as b
  where b.market_id = context.market_id;

  v_journal_id := ledger.post_journal(
    post_conversion.kind::text::ledger.journal_kind,
    context.market_id,
    array[traders.account_ids[1], v_book.escrow_account_id],
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
    context.market_public_id,
    post_conversion.quantity,
    trading.balance_object(traders.balance_cents[1] + v_cents),
    coalesce(
      json_agg(
        trading.position_object(p, m, v_book.last_trade_price) order by p.side
      ) filter (where p.quantity > 0),
      '[]'
    )
  )
  into v_body
  from catalog.markets as m
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
-- A split is judged as an order to buy that costs 100 cents a set: by the same functions.
create or replace function trading.split_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cost_cents constant bigint := 100 * split_position.quantity::bigint;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_limits trading.limit_arrays;
  v_market_id bigint;
  v_at timestamptz;
  v_code text;
begin
  v_request.order_type := 'buy';
  v_request.quantity := split_position.quantity;
  v_request.problem := trading.set_quantity_problem(split_position.quantity);
  select u.id into v_request.user_id
  from identity.users as u
  where u.public_id = split_position.user_public_id;
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = split_position.market_public_id;

  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;
  v_traders := trading.lock_traders(array[v_request], null, v_at);

  v_code := trading.request_rejection(
    v_request, v_context, v_traders.user_ids is not null, v_traders.blocked_by[1]
  );
  if v_code is null then
    if v_traders.limited[1] then
      v_limits := trading.read_limits(v_traders.user_ids, v_traders.user_ids, v_at);
    end if;
    v_code := trading.funding_rejection(
      v_request, v_cost_cents, v_cost_cents, v_traders.balance_cents[1], null,
      v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
    );
  end if;
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, v_request), false, null)::api.result;
  end if;

  insert into trading.positions as p (market_id, user_id, side, quantity, cost_cents)
  select v_market_id, v_request.user_id, s.side, v_request.quantity, 50 * v_request.quantity
  from unnest(enum_range(null::trading.side)) as s (side)
  on conflict (market_id, user_id, side) do update set
    quantity = p.quantity + excluded.quantity,
    cost_cents = p.cost_cents + excluded.cost_cents;

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
  c_share_cents constant int := 50;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_market_id bigint;
  v_at timestamptz;
  v_is_resolved boolean;
  v_code text;
  v_position trading.positions;
  v_cost_out bigint;
  v_fees_out bigint;
  v_realised bigint[] := '{}';
begin
  v_request.quantity := merge_position.quantity;
  v_request.problem := trading.set_quantity_problem(merge_position.quantity);
  select u.id into v_request.user_id
  from identity.users as u
  where u.public_id = merge_position.user_public_id;
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = merge_position.market_public_id;

  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;
  select m.status = 'resolved' into v_is_resolved
  from catalog.markets as m
  where m.id = v_market_id;
  v_traders := trading.lock_traders(array[v_request], null, v_at);

  v_code := case
    when v_request.problem is not null then 'INVALID_REQUEST'
    when v_traders.user_ids is null then 'UNAUTHORIZED'
    when v_market_id is null then 'MARKET_NOT_FOUND'
    when v_is_resolved then 'MARKET_NOT_OPEN'
    when (
      select count(*)
      from trading.positions as p
      where p.market_id = v_market_id
        and p.user_id = v_request.user_id
        and p.quantity >= v_request.quantity
    ) < 2 then 'INSUFFICIENT_BALANCE'
  end;
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, v_request), false, null)::api.result;
  end if;

  for v_position in
    select p.*
    from trading.positions as p
    where p.market_id = v_market_id
      and p.user_id = v_request.user_id
    order by p.side
  loop
    v_cost_out := core.half_up(
      v_position.cost_cents * v_request.quantity, v_position.quantity
    );
    v_fees_out := core.half_up(v_position.fee_cents * v_request.quantity, v_position.quantity);
    v_realised := v_realised || c_share_cents * v_request.quantity - v_cost_out - v_fees_out;
    update trading.positions as p set
      quantity = p.quantity - v_request.quantity,
      cost_cents = p.cost_cents - v_cost_out,
      fee_cents = p.fee_cents - v_fees_out,
      realised_cents = p.realised_cents + v_realised[cardinality(v_realised)]
    where p.market_id = v_market_id
      and p.user_id = v_request.user_id
      and p.side = v_position.side;
  end loop;

  return (
    null, null, false,
    trading.post_conversion(
      v_context, v_traders, 'merge', v_request.quantity, v_realised[1], v_realised[2]
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
  context trading.market_context, "order" trading.orders, quantity int
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update trading.orders as o
  set quantity = reduce_order.quantity
  where o.id = ("order").id;

  insert into trading.order_reductions (order_id, quantity_before, quantity_after, at)
  values (("order").id, ("order").quantity, reduce_order.quantity, context.at);

  update trading.book_levels as l
  set quantity = l.quantity - (("order").quantity - reduce_order.quantity)
  from trading.active_orders as b
  where b.order_id = ("order").id
    and l.market_id = b.market_id
    and l.book_price = b.book_price
    and l.book_side = b.book_side;

  perform trading.raise_version(context.market_id, context.market_public_id);
end
$$;

comment on function trading.reduce_order(trading.market_context, trading.orders, int) is
  'Takes shares off the end of a resting order, which keeps its place in the queue. quantity is '
  'the new total, above what is filled. The caller holds the market''s lock.';
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
  v_outcome trading.order_result;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

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
  v_request.relieved_cents := trading.active_order_cost_cents("order", v_active_order, context.at);

  v_batch := trading.match_batch(context, array[v_request], false);
  v_outcome := (v_batch.result).outcomes[1];
  if v_outcome.code is not null then
    if v_outcome.code = 'CONFLICT_RETRY' then
      -- The makers that it found dead so far are cancelled, or it would meet them again.
      perform trading.settle_batch(context, v_batch);
    end if;
    return (v_outcome.code, v_outcome.message, false, null)::api.result;
  end if;

  perform trading.end_active_orders(
    context.market_id, array[("order").id], 'user_amended', context.at
  );
  perform trading.settle_batch(context, v_batch);
  if context.live_delay_ms is not null and v_active_order.queue_position is not null then
    perform trading.raise_version(context.market_id, context.market_public_id);
  end if;

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.result_object(v_outcome, context, core.iso8601(context.at), null),
      trading.fills_of_order(v_outcome.order_id),
      ("order").public_id,
      coalesce(v_outcome.fee_cents, 0)
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
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = amend_order.user_public_id
  );
  v_order trading.orders;
  v_at timestamptz;
  v_context trading.market_context;
  v_request trading.order_request;
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
  select c.* into v_context
  from trading.read_context(v_order.market_id, v_at) as c;
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

  v_request.user_id := v_user_id;
  v_traders := trading.lock_traders(array[v_request], ('{}', 0, 0, null), v_at);
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
      perform trading.reduce_order(v_context, v_order, v_quantity);
    end if;
    v_body := format(
      '{"order":%s,"amended":%s,"queuePositionChanged":false}',
      trading.order_object(
        v_order.public_id, amend_order.user_public_id, v_context.market_public_id, v_order.side,
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
  update trading.positions as p
  set realised_cents = p.realised_cents
    + p.quantity * case p.side when 'yes' then v_yes_more_cents else v_no_more_cents end
    - case when v_is_first then p.cost_cents + p.fee_cents else 0 end
  where p.market_id = settle_market.market_id
    and p.quantity > 0;

  -- 2. Cash: computed, then locked in the order of the accounts, then moved.
  select array_agg(l.account_id), array_agg(l.amount_cents)
  into v_account_ids, v_amounts_cents
  from (
    select a.id as account_id, d.amount_cents
    from (
      select
        p.user_id,
        sum(
          p.quantity * case p.side when 'yes' then v_yes_more_cents else v_no_more_cents end
        )::bigint as amount_cents
      from trading.positions as p
      where p.market_id = settle_market.market_id
        and p.quantity > 0
      group by p.user_id
    ) as d
    join ledger.accounts as a on a.user_id = d.user_id
    where d.amount_cents <> 0
    order by a.id
    for no key update of a
  ) as l;

  if v_account_ids is not null then
    if v_is_first then
      v_account_ids := v_account_ids || (
        select b.escrow_account_id
        from trading.market_state as b
        where b.market_id = settle_market.market_id
      );
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
        from ledger.accounts as a
        where a.id = any (v_account_ids)
          and a.balance_cents < 0
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
  'whose cash moves, by ascending account, once all is computed.';
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
  if to_regclass(format('trading.%I', v_name)) is not null then
    return;
  end if;
  -- Made apart and then attached: that way nobody who reads the archive waits for it, nor it for
  -- them.
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
  'caller holds the row of trading.archive_progress, so that nobody else makes it too.';
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
  select b.book_price
  from trading.active_orders as b
  where b.market_id = best_price.market_id
    and b.book_side = best_price.book_side
    and b.queue_position is not null
    and (b.expires_at is null or b.expires_at > best_price.at)
  order by b.book_price desc, b.queue_position
  limit 1;
end;

comment on function trading.best_price(bigint, trading.side, timestamptz) is
  'Highest stored price of a side of a market''s book at a time, null when it is empty.';
--! EndIncluded trading/functions/best_price.sql
--! Included trading/functions/depth.sql
-- The settings hold also for plans made on empty tables. Of the indexes of open orders only that of
-- those that expire gives them sorted; by that of the book, a deep one would be read to its end.
create or replace function trading.depth(market_id bigint, at timestamptz)
returns table (book_side trading.side, book_price int, quantity bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select d.book_side, d.book_price, sum(d.quantity)::bigint
  from (
    select l.book_side, l.book_price, l.quantity
    from trading.book_levels as l
    where l.market_id = depth.market_id
      and l.quantity > 0
    union all
    select b.book_side, b.book_price, -o.remaining
    from (
      select e.order_id, e.book_side, e.book_price
      from trading.active_orders as e
      where e.market_id = depth.market_id
        and e.expires_at <= depth.at
        and e.queue_position is not null
      order by e.expires_at
    ) as b
    cross join lateral (
      select (o.quantity - o.filled_quantity)::bigint as remaining
      from trading.orders as o
      where o.id = b.order_id
      limit 1
    ) as o
  ) as d
  group by d.book_side, d.book_price
  having sum(d.quantity) > 0
$$;

comment on function trading.depth(bigint, timestamptz) is
  'Unfilled shares of a market''s book at each stored side and price, without orders that have '
  'expired and not been swept yet.';
--! EndIncluded trading/functions/depth.sql
--! Included trading/functions/shares_ahead.sql
-- Every look-up goes by an index whatever the planner expects: a subquery with a limit can only be
-- carried out once for each row that it belongs to.
create or replace function trading.shares_ahead(order_ids bigint[], at timestamptz)
returns table (order_id bigint, shares_ahead bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
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
    select e.market_id, e.book_side, e.book_price, sum(o.remaining) as quantity
    from trading.active_orders as e
    cross join lateral (
      select (o.quantity - o.filled_quantity)::bigint as remaining
      from trading.orders as o
      where o.id = e.order_id
      limit 1
    ) as o
    where e.expires_at <= shares_ahead.at
      and e.queue_position is not null
      and e.market_id in (select w.market_id from own as w)
    group by e.market_id, e.book_side, e.book_price
  ),
  levels as materialized (
    select
      b.market_id, b.book_side, l.book_price,
      sum(l.quantity - coalesce(e.quantity, 0)) over (
        partition by b.market_id, b.book_side
        order by l.book_price desc
        rows between unbounded preceding and 1 preceding
      ) as better_quantity
    from (
      select w.market_id, w.book_side, min(w.book_price) as lowest_price
      from own as w
      group by w.market_id, w.book_side
    ) as b
    cross join lateral (
      select x.book_price, x.quantity
      from trading.book_levels as x
      where x.market_id = b.market_id
        and x.book_side = b.book_side
        and x.book_price >= b.lowest_price
      limit 99
    ) as l
    left join expired as e
      on e.market_id = b.market_id and e.book_side = b.book_side and e.book_price = l.book_price
  ),
  queued as (
    select
      x.order_id,
      sum(o.remaining) over (
        partition by q.market_id, q.book_side, q.book_price
        order by x.queue_position
        rows between unbounded preceding and 1 preceding
      ) as earlier_quantity
    from (
      select w.market_id, w.book_side, w.book_price, max(w.queue_position) as last_position
      from own as w
      group by w.market_id, w.book_side, w.book_price
    ) as q
    cross join lateral (
      select b.order_id, b.queue_position
      from trading.active_orders as b
      where b.market_id = q.market_id
        and b.book_side = q.book_side
        and b.book_price = q.book_price
        and b.queue_position <= q.last_position
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > shares_ahead.at)
      order by b.queue_position
    ) as x
    cross join lateral (
      select (o.quantity - o.filled_quantity)::bigint as remaining
      from trading.orders as o
      where o.id = x.order_id
      limit 1
    ) as o
  )
  select
    w.order_id,
    (coalesce(l.better_quantity, 0) + coalesce(q.earlier_quantity, 0))::bigint
  from own as w
  join levels as l
    on l.market_id = w.market_id and l.book_side = w.book_side and l.book_price = w.book_price
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
  from risk.traders as t
  where t.user_id = v_user_id;
  if v_excluded_until > exclude.until then
    perform core.raise_error('INVALID_REQUEST', format(
      'excluded until %s already: an exclusion cannot be shortened', v_excluded_until
    ));
  end if;
  update risk.traders as t
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
  journal_id bigint,
  created_at timestamptz,
  price int,
  quantity bigint,
  is_taker boolean,
  order_id bigint,
  user_id bigint,
  book_side trading.side,
  fee_cents bigint,
  realised_cents bigint
)
language sql stable
begin atomic
  select t.id, t.market_id, t.journal_id, t.created_at, t.price::int, t.quantity::bigint, true,
    t.taker_order_id, t.taker_user_id, t.taker_side, t.fee_cents::bigint, t.taker_realised_cents
  from trading.trades as t
  union all
  select t.id, t.market_id, t.journal_id, t.created_at, t.price::int, t.quantity::bigint, false,
    t.maker_order_id, t.maker_user_id,
    case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side,
    0::bigint, t.maker_realised_cents
  from trading.trades as t;
end;

comment on function trading.fill_sides() is
  'Each trade twice, as it is for its taker and for its maker, for the proofs. price is the YES '
  'price; book_side is the stored side of the order; only the taker pays a fee.';
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
  select 'external cash equals the deposits less the withdrawals', 'account ' || a.id,
    coalesce(m.net_cents, 0)::text, a.external_cents::text
  from ledger.accounts as a
  left join (
    select
      c.account_id,
      sum(case c.kind when 'deposit' then c.amount_cents else -c.amount_cents end) as net_cents
    from ledger.cash_movements as c
    group by c.account_id
  ) as m on m.account_id = a.id
  where a.external_cents <> coalesce(m.net_cents, 0)

  union all
  select 'user has a cash account and a row of gates', 'user ' || u.id, 'both', 'not both'
  from identity.users as u
  where not exists (
    select from ledger.accounts as a where a.user_id = u.id and a.kind = 'user_cash'
  )
    or not exists (select from risk.traders as r where r.user_id = u.id)
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
  select 'journal sums to zero', 'journal ' || e.journal_id, '0', sum(e.amount_cents)::text
  from ledger.entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0

  union all
  select 'entry belongs to a journal', 'journal ' || e.journal_id, 'a journal', 'none'
  from ledger.entries as e
  where not exists (select from ledger.journals as j where j.id = e.journal_id)

  union all
  select 'entry belongs to an account', 'account ' || e.account_id, 'an account', 'none'
  from ledger.entries as e
  where not exists (select from ledger.accounts as a where a.id = e.account_id)
  group by e.account_id

  union all
  select 'entry starts at the balance of the one before',
    'account ' || e.account_id || ' version ' || e.account_version,
    e.expected_cents::text, e.balance_before_cents::text
  from (
    select
      x.account_id,
      x.account_version,
      x.balance_before_cents,
      lag(x.balance_after_cents, 1, 0::bigint)
        over (partition by x.account_id order by x.account_version) as expected_cents
    from ledger.entries as x
  ) as e
  where e.balance_before_cents <> e.expected_cents

  union all
  select 'only a correction takes an account below zero',
    'account ' || e.account_id || ' version ' || e.account_version,
    'a correction', concat_ws(' ', j.kind, 'to', e.balance_after_cents)
  from ledger.entries as e
  join ledger.accounts as a on a.id = e.account_id
  left join ledger.journals as j on j.id = e.journal_id
  where e.balance_after_cents < 0
    and case a.kind
      when 'outside_world' then false
      when 'user_cash' then j.kind is distinct from 'correction' and e.amount_cents < 0
      else true
    end
$$;

comment on function ledger.verify_entries() is
  'The part of ledger.verify() about the lines of the journals: what can be seen in the lines of '
  'one journal and of one account. One row for each broken invariant.';
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
  moves as (
    select
      e.account_id, e.account_version, e.balance_before_cents,
      (j.created_at at time zone 'UTC')::date as day,
      max((j.created_at at time zone 'UTC')::date) over earlier as moved_on,
      coalesce(
        sum(e.amount_cents) filter (where j.kind in ('deposit', 'withdrawal')) over earlier, 0
      ) as external_cents
    from ledger.entries as e
    join ledger.journals as j on j.id = e.journal_id
    window earlier as (
      partition by e.account_id order by e.account_version
      rows between unbounded preceding and 1 preceding
    )
  ),
  openings as (
    select m.account_id, m.day, m.balance_before_cents as balance_cents, m.external_cents
    from moves as m
    join ledger.accounts as a on a.id = m.account_id
    where a.kind = 'user_cash'
      and (m.moved_on is null or m.day > m.moved_on)
  )
  select 'day opening belongs to a user''s account',
    'account ' || d.account_id || ' day ' || d.day, 'a user''s account', 'none'
  from ledger.day_openings as d
  where not exists (
    select from ledger.accounts as a where a.id = d.account_id and a.kind = 'user_cash'
  )

  union all
  select 'day opening is the account before the first entry of the day',
    'account ' || coalesce(o.account_id, d.account_id) || ' day ' || coalesce(o.day, d.day),
    coalesce(o.balance_cents || ' of ' || o.external_cents, 'none'),
    coalesce(d.balance_cents || ' of ' || d.external_cents, 'none')
  from openings as o
  full join ledger.day_openings as d on d.account_id = o.account_id and d.day = o.day
  where (o.balance_cents, o.external_cents)
    is distinct from (d.balance_cents, d.external_cents::numeric)

  union all
  select 'account moved last on the day of its last entry', 'account ' || a.id,
    coalesce(o.moved_on, '-infinity')::text, a.moved_on::text
  from ledger.accounts as a
  left join (
    select x.account_id, max(x.day) as moved_on
    from openings as x
    group by x.account_id
  ) as o on o.account_id = a.id
  where a.kind = 'user_cash'
    and a.moved_on <> coalesce(o.moved_on, '-infinity')
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
  -- Everything that has a journal.
  happenings as (
    select t.journal_id, 'trade'::ledger.journal_kind as kind, t.market_id, t.created_at
    from trading.trades as t
    union all
    select c.journal_id, c.kind::text::ledger.journal_kind, c.market_id, c.created_at
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
  ),
  -- The lines that the journals must have, by what happened. Who buys or sells what is taken from
  -- the orders.
  user_lines as (
    select f.journal_id, f.market_id, o.user_id,
      case o.order_type when 'buy' then -1 else 1 end
        * f.quantity * case o.side when 'yes' then f.price else 100 - f.price end
        - f.fee_cents as amount_cents
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    union all
    select c.journal_id, c.market_id, c.user_id,
      case c.kind when 'split' then -100 else 100 end * c.quantity::bigint
    from trading.set_conversions as c
    union all
    select r.journal_id, r.market_id, s.user_id,
      sum(case when s.resolution_id = r.id then s.payout_cents else -s.payout_cents end)
    from trading.resolutions as r
    join trading.settlements as s on s.resolution_id in (r.id, r.corrects_resolution_id)
    group by r.id, s.user_id
  ),
  fee_lines as (
    select t.journal_id, t.market_id, t.fee_cents as amount_cents
    from trading.trades as t
    where t.fee_cents > 0
  ),
  lines as (
    select u.journal_id, a.id as account_id, u.amount_cents
    from user_lines as u
    join ledger.accounts as a on a.user_id = u.user_id
    where u.amount_cents <> 0
    union all
    select f.journal_id, a.id, f.amount_cents
    from fee_lines as f
    join ledger.accounts as a on a.market_id = f.market_id and a.kind = 'fee_revenue'
    union all
    select e.journal_id, a.id, e.amount_cents
    from (
      select l.journal_id, l.market_id, -sum(l.amount_cents) as amount_cents
      from (
        select u.journal_id, u.market_id, u.amount_cents from user_lines as u
        union all
        select f.journal_id, f.market_id, f.amount_cents from fee_lines as f
      ) as l
      group by l.journal_id, l.market_id
      having sum(l.amount_cents) <> 0
    ) as e
    join ledger.accounts as a on a.market_id = e.market_id and a.kind = 'market_escrow'
    union all
    select m.journal_id, l.account_id, l.amount_cents
    from ledger.cash_movements as m
    cross join (
      select a.id from ledger.accounts as a where a.kind = 'outside_world'
    ) as outside
    cross join lateral (
      values
        (m.account_id, case m.kind when 'deposit' then m.amount_cents else -m.amount_cents end),
        (outside.id, case m.kind when 'deposit' then -m.amount_cents else m.amount_cents end)
    ) as l (account_id, amount_cents)
  )
  select 'journal is of one thing that happened',
    'journal ' || coalesce(j.id, h.journal_id),
    coalesce(h.kind || coalesce(' in market ' || h.market_id, ''), 'nothing'),
    coalesce(j.kind || coalesce(' in market ' || j.market_id, ''), 'nothing')
  from ledger.journals as j
  full join (
    select x.journal_id, min(x.kind) as kind, min(x.market_id) as market_id, count(*) as times
    from happenings as x
    group by x.journal_id
  ) as h on h.journal_id = j.id
  where (h.kind, h.market_id, h.times) is distinct from (j.kind, j.market_id, 1::bigint)

  union all
  select 'journal has the time of what happened', 'journal ' || j.id,
    h.created_at::text, j.created_at::text
  from ledger.journals as j
  join happenings as h on h.journal_id = j.id
  where h.created_at <> j.created_at

  union all
  select 'journal has the lines of what happened',
    'journal ' || coalesce(l.journal_id, e.journal_id)
      || ' account ' || coalesce(l.account_id, e.account_id),
    coalesce(l.amount_cents, 0)::text, coalesce(e.amount_cents, 0)::text
  from lines as l
  full join ledger.entries as e
    on e.journal_id = l.journal_id and e.account_id = l.account_id
  where e.amount_cents is distinct from l.amount_cents
$$;

comment on function ledger.verify_journals() is
  'The part of ledger.verify() about why cash moved: each journal is of one trade, conversion, '
  'resolution, deposit or withdrawal, and has exactly the lines that follow from it. One row for '
  'each broken invariant.';
--! EndIncluded ledger/functions/verify_journals.sql
--! Included trading/functions/verify_orders.sql
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
    or o.released_at is not null and (o.release_at is null or o.released_at < o.release_at)
    or o.release_at < o.created_at

  union all
  select 'order is cancelled for a reason that fits it', 'order ' || o.public_id, 'another reason',
    concat_ws(' ', o.cancel_reason, o.order_type, o.time_in_force,
      'at ' || o.cancelled_at, 'expires at ' || o.expires_at)
  from all_orders as o
  where case o.cancel_reason
    when 'expired' then o.expires_at is null or o.expires_at > o.cancelled_at
    when 'post_only_would_cross' then not o.post_only or o.released_at is null
    when 'insufficient_liquidity' then o.time_in_force = 'gtc'
    when 'position_insufficient' then o.order_type = 'buy'
    when 'insufficient_funds' then o.order_type = 'sell'
    when 'loss_limit' then o.order_type = 'sell'
    else false
  end

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

  -- Both are numbered under the market's lock. Positions are worked out in this order.
  union all
  select 'trades and their journals have the same order', 'trade ' || t.id,
    '> ' || t.journal_id_before, t.journal_id::text
  from (
    select x.id, x.journal_id,
      lag(x.journal_id) over (partition by x.market_id order by x.id) as journal_id_before
    from trading.trades as x
  ) as t
  where t.journal_id <= t.journal_id_before
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
      f.market_id, o.user_id, o.side, f.journal_id as place,
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
      p.market_id, p.user_id, p.side, c_end, p.quantity, p.cost_cents, p.fee_cents,
      p.realised_cents - coalesce(e.realised_cents, 0), p.has_traded, '', null
    from trading.positions as p
    left join (
      select s.market_id, s.user_id, s.side, s.realised_cents
      from (
        select r.market_id, max(r.id) as id
        from trading.resolutions as r
        group by r.market_id
      ) as r
      join trading.settlements as s on s.resolution_id = r.id and s.market_id = r.market_id
    ) as e on e.market_id = p.market_id and e.user_id = p.user_id and e.side = p.side
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
      p.market_id,
      coalesce(sum(p.quantity) filter (where p.side = 'yes'), 0) as yes_quantity,
      coalesce(sum(p.quantity) filter (where p.side = 'no'), 0) as no_quantity
    from trading.positions as p
    group by p.market_id
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
    a.balance_cents::text
  from catalog.markets as m
  join ledger.accounts as a on a.market_id = m.id and a.kind = 'market_escrow'
  left join shares as s on s.market_id = m.id
  where case
    when m.status = 'resolved' then a.balance_cents <> 0
    else a.balance_cents <> 100 * coalesce(s.yes_quantity, 0)
      or a.balance_cents <> 100 * coalesce(s.no_quantity, 0)
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
    select b.*, o.quantity - o.filled_quantity as left_quantity
    from trading.active_orders as b
    join trading.orders as o on o.id = b.order_id
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
    concat_ws(' ', o.market_id, o.user_id, o.side, o.order_type, o.price, o.expires_at,
      o.release_at),
    concat_ws(' ', b.market_id, b.user_id, b.book_side, b.book_price, b.expires_at, b.release_at)
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where (b.market_id, b.user_id) <> (o.market_id, o.user_id)
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
    coalesce(r.quantity, 0) || ' in ' || coalesce(r.order_count, 0),
    coalesce(l.quantity, 0) || ' in ' || coalesce(l.order_count, 0)
  from trading.book_levels as l
  full join (
    select g.market_id, g.book_side, g.book_price,
      sum(g.left_quantity) as quantity, count(*) as order_count
    from resting as g
    group by g.market_id, g.book_side, g.book_price
  ) as r
    on r.market_id = l.market_id
    and r.book_side = l.book_side
    and r.book_price = l.book_price
  where coalesce(l.quantity, 0) <> coalesce(r.quantity, 0)
    or coalesce(l.order_count, 0) <> coalesce(r.order_count, 0)

  -- The engine updates these rows and would not miss one.
  union all
  select 'market has a level at each price of each side', 'market ' || b.market_id,
    '198', coalesce(l.level_count, 0)::text
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as level_count
    from trading.book_levels as x
    group by x.market_id
  ) as l on l.market_id = b.market_id
  where coalesce(l.level_count, 0) <> 198

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
      ('yes'::trading.side, b.front_yes_price, b.front_yes_position),
      ('no'::trading.side, b.front_no_price, b.front_no_position)
  ) as f (side, price, queue_position)
  where f.side = r.book_side
    and (r.book_price > f.price
      or (r.book_price = f.price and r.queue_position < f.queue_position))
$$;

comment on function trading.verify_books() is
  'The part of ledger.verify() about open orders: which are open, where they stand, and the depth '
  'that is kept of them. One row for each broken invariant.';
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
  select 'market has its book and its accounts', 'market ' || m.id,
    concat_ws(' ', e.id, f.id), concat_ws(' ', b.escrow_account_id, b.fee_account_id)
  from catalog.markets as m
  left join trading.market_state as b on b.market_id = m.id
  left join ledger.accounts as e on e.market_id = m.id and e.kind = 'market_escrow'
  left join ledger.accounts as f on f.market_id = m.id and f.kind = 'fee_revenue'
  where (e.id = b.escrow_account_id and f.id = b.fee_account_id) is not true

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
  select 'fee revenue equals the fees of the trades', 'market ' || a.market_id,
    coalesce(t.fee_cents, 0)::text, a.balance_cents::text
  from ledger.accounts as a
  left join trade_sums as t on t.market_id = a.market_id
  where a.kind = 'fee_revenue'
    and a.balance_cents <> coalesce(t.fee_cents, 0)

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
  'The part of ledger.verify() about the figures that are kept of markets and categories: each is '
  'the sum of what it counts. One row for each broken invariant.';
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
      a.balance_cents as escrow_cents,
      a.balance_cents - coalesce(k.escrow_cents, 0) as more_cents
    from touched as t
    join catalog.markets as m on m.id = t.market_id
    join trading.market_state as b on b.market_id = t.market_id
    join ledger.accounts as a on a.id = b.escrow_account_id
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
  from trading.trades_id_seq as q;
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
    a.balance_cents::text, k.escrow_cents::text
  from leaderboard.markets as k
  join trading.market_state as b on b.market_id = k.market_id
  join ledger.accounts as a on a.id = b.escrow_account_id
  where a.balance_cents <> k.escrow_cents
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
  v_escrow_account_id bigint;
  v_fee_account_id bigint;
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

  insert into ledger.accounts (kind, market_id)
  values ('market_escrow', v_market.id)
  returning id into v_escrow_account_id;
  insert into ledger.accounts (kind, market_id)
  values ('fee_revenue', v_market.id)
  returning id into v_fee_account_id;
  insert into trading.market_state (market_id, escrow_account_id, fee_account_id)
  values (v_market.id, v_escrow_account_id, v_fee_account_id);
  insert into trading.book_levels (market_id, book_side, book_price)
  select v_market.id, s, p
  from unnest(enum_range(null::trading.side)) as s
  cross join generate_series(1, 99) as p;

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
  insert into ledger.accounts (kind, user_id) values ('user_cash', v_user.id);
  insert into risk.traders (user_id) values (v_user.id);

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
  'Makes a user with an empty cash account and loss limits not reviewed yet. Returns the id. '
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
  v_trader risk.traders;
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
  from risk.traders as t
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
  update risk.traders as t set
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
  update risk.traders as t set
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
  update risk.traders as t set
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
    retry_after_seconds := null;
    for i in v_next .. v_end loop
      if v_free[v_checks.checked[i]] = 0 then
        allowed := false;
        v_counter := v_counters[v_checks.checked[i]];
        retry_after_seconds := greatest(retry_after_seconds, v_counter.retry_after_seconds);
      end if;
    end loop;

    requests_per_minute := null;
    burst_capacity := null;
    remaining := null;
    for i in v_next .. v_end loop
      -- What one counter refuses is not counted by the others either.
      if allowed then
        v_free[v_checks.checked[i]] := v_free[v_checks.checked[i]] - 1;
        v_granted[v_checks.checked[i]] := v_granted[v_checks.checked[i]] + 1;
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
  'id. It needs room in all of them, or is counted in none. What is refused counts nowhere. The '
  'policy and the whole tokens left are given for v1-trading. Errors: NOT_FOUND. Locks: the '
  'counters.';
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
create or replace function api.relay_outbox()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
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
create or replace function api.place_orders(market_id uuid, requests jsonb)
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
  v_has_keys constant boolean := jsonb_path_exists(
    place_orders.requests, '$[*].idempotencyKey ? (@ != null)'
  );
  v_requests trading.order_request[];
  v_market_id bigint;
  v_at timestamptz;
  v_context trading.market_context;
  v_maker trading.resting_order;
  v_holds_users boolean := false;
  v_batch trading.matched_batch;
  v_answer api.result;
begin
  v_requests := array(
    select r from trading.read_requests(place_orders.requests) as r
  );
  if cardinality(v_requests) = 0 then
    return;
  end if;

  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = place_orders.market_id;
  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;

  if cardinality(v_requests) = 1 and not v_has_keys and v_context.live_delay_ms is null then
    if not trading.crosses(v_requests[1], v_context) then
      v_answer := trading.rest_order(v_requests[1], v_context);
    else
      v_maker := trading.sole_maker(v_requests[1], v_context);
      if v_maker.order_id is not null then
        v_answer := trading.fill_order(v_requests[1], v_context, v_maker);
        v_holds_users := true;
      end if;
    end if;
    if v_answer.replayed is not null then
      return next v_answer;
      return;
    end if;
  end if;

  v_batch := trading.match_batch(v_context, v_requests, v_has_keys, v_holds_users);
  perform trading.settle_batch(v_context, v_batch);
  if v_has_keys then
    perform trading.settle_keys(v_context, v_batch.result);
  end if;

  foreach v_answer in array trading.order_answers(v_context, v_batch.result) loop
    return next v_answer;
  end loop;
end
$$;

comment on function api.place_orders(uuid, jsonb) is
  'Places orders in one market, in one transaction: admit, match, settle, announce. One row for '
  'each element of requests, in their order. An element is {userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its refusal is its row. CONFLICT_RETRY: the call cancelled as many makers as one may, and the '
  'request is to be placed again. Locks: the market, then the takers and the makers they can '
  'reach, by ascending account. May fail as a whole with 40001, 40P01 or 55P03, and is then to be '
  'called again.';
--! EndIncluded api/functions/place_orders.sql
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
    'balance', a.balance_cents,
    'createdAt', core.iso8601(u.created_at)
  )
  from identity.users as u
  join ledger.accounts as a on a.user_id = u.id
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
  select u.id, a.balance_cents into v_user_id, v_balance_cents
  from identity.users as u
  join ledger.accounts as a on a.user_id = u.id
  where u.public_id = get_portfolio.user_id;

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

  -- Counting rows would read them. A number that was given to a trade which then did not come to
  -- be is counted too.
  select case when s.is_called then s.last_value else 0 end into trades
  from trading.trades_id_seq as s;

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
  'One row of figures for monitoring, none of which takes a scan: how late the oldest order is '
  'that should have been released or expired by now (0: none is due), how long ago the ledger was '
  'last verified and what was broken (null: never), what PostgreSQL itself is short of. '
  'pending_announcements and waiting_jobs stop counting at 10,000; without the queue of jobs the '
  'latter is null.';
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
  v_requests jsonb;
  v_answer api.result;
begin
  select jsonb_agg(
    jsonb_build_object('userId', rehearse_orders.user_id, 'quantity', 10) || o
    order by i
  )
  into v_requests
  from unnest(rehearse_orders.orders) with ordinality as x (o, i);
  select p.* into v_answer
  from api.place_orders(rehearse_orders.market_id, v_requests) as p
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
    update ledger.accounts as a
    set balance_cents = 1000000
    from identity.users as u
    where u.id = a.user_id
      and u.public_id in (v_maker, v_taker);

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
  a.user_id as user_key,
  u.public_id as user_id,
  o.day,
  o.balance_cents,
  o.external_cents as net_deposits_cents
from ledger.day_openings as o
left join ledger.accounts as a on a.id = o.account_id
left join identity.users as u on u.id = a.user_id;

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
  a.balance_cents,
  a.external_cents as net_deposits_cents,
  a.overdraft_cents::bigint as overdraft_cents,
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
      select (a.external_cents - a.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.account_id = a.id
        and o.day >= (analytics.now() at time zone 'UTC')::date
      order by o.day
      limit 1
    ),
    0
  ) as day_net_spent_cents,
  coalesce(
    (
      select (a.external_cents - a.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.account_id = a.id
        and o.day >= (analytics.now() at time zone 'UTC')::date - 6
      order by o.day
      limit 1
    ),
    0
  ) as week_net_spent_cents,
  coalesce(
    (
      select (a.external_cents - a.balance_cents) - (o.external_cents - o.balance_cents)
      from ledger.day_openings as o
      where o.account_id = a.id
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
left join ledger.accounts as a on a.user_id = u.id
left join risk.traders as r on r.user_id = u.id;

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
  t.journal_id as journal_key,
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
create view analytics.journal_entries as
select
  e.journal_id as journal_key,
  j.kind::text as kind,
  j.market_id as market_key,
  m.public_id as market_id,
  e.account_id as account_key,
  a.kind::text as account_kind,
  a.user_id as user_key,
  u.public_id as user_id,
  e.amount_cents,
  e.balance_before_cents,
  e.balance_after_cents,
  e.account_version,
  j.created_at
from ledger.entries as e
left join ledger.journals as j on j.id = e.journal_id
left join catalog.markets as m on m.id = j.market_id
left join ledger.accounts as a on a.id = e.account_id
left join identity.users as u on u.id = a.user_id;

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
  a.user_id as user_key,
  u.public_id as user_id,
  c.kind::text as kind,
  c.amount_cents,
  j.created_at
from ledger.cash_movements as c
left join ledger.journals as j on j.id = c.journal_id
left join ledger.accounts as a on a.id = c.account_id
left join identity.users as u on u.id = a.user_id;

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
  a.balance_cents as escrow_cents
from catalog.markets as m
left join ledger.accounts as a on a.market_id = m.id and a.kind = 'market_escrow'
cross join lateral (
  select
    coalesce(sum(p.quantity) filter (where p.side = 'yes'), 0)::bigint as pair_count,
    count(*) filter (where p.side = 'yes' and p.quantity > 0) as yes_holder_count,
    count(*) filter (where p.side = 'no' and p.quantity > 0) as no_holder_count
  from trading.positions as p
  where p.market_id = m.id
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
  l.quantity - coalesce(g.quantity, 0) as quantity,
  l.order_count - coalesce(g.order_count, 0) as order_count
from trading.book_levels as l
left join (
  select
    b.market_id, b.book_side, b.book_price,
    sum(o.quantity - o.filled_quantity) as quantity,
    count(*) as order_count
  from trading.active_orders as b
  join trading.orders as o on o.id = b.order_id
  where b.queue_position is not null
    and b.expires_at <= analytics.now()
  group by b.market_id, b.book_side, b.book_price
) as g
  on g.market_id = l.market_id and g.book_side = l.book_side and g.book_price = l.book_price
left join catalog.markets as m on m.id = l.market_id
where l.quantity > coalesce(g.quantity, 0);

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
left join risk.traders as r on r.user_id = x.user_key
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
