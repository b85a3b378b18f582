--! Previous: -
--! Hash: sha1:89c40ac7aa1b7857809f2beee046ef3df9fbb8cb

--! Included tables.sql
-- The tables of the database, and what they are made of, in the order they build on each other. The
-- first migration includes this file. Later ones say what changes: docs/development.md.

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

  -- A role that was made for another purpose may have more rights than ours.
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
    -- From 16 on, the creator of a role is a member of it, but can't set role to it.
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
  ) then
    execute format('grant exchange_owner to %I', current_user);
  end if;

  -- All roles of the cluster may connect to a new database and make temporary objects in it. Where
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
  'What all other schemas use: the clock, identifiers, settings, error codes. Private.';
--! EndIncluded core/schema.sql
--! Included installer/schema.sql
create schema installer authorization exchange_owner;
comment on schema installer is
  'What npm run migrate has put into the database: which functions, and how they were then. '
  'Private, but servers and workers read installer.installations.';
--! EndIncluded installer/schema.sql
--! Included identity/schema.sql
create schema identity authorization exchange_owner;
comment on schema identity is 'Users, their API keys and sessions, and the keys of staff. Private.';
--! EndIncluded identity/schema.sql
--! Included catalog/schema.sql
create schema catalog authorization exchange_owner;
comment on schema catalog is 'What can be traded: categories, events, markets. Private.';
--! EndIncluded catalog/schema.sql
--! Included ledger/schema.sql
create schema ledger authorization exchange_owner;
comment on schema ledger is
  'Every cent, by double entry: accounts, journals, entries. Append-only, and checked by '
  'ledger.verify(). Private.';
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
comment on schema rate_limits is
  'The limits of requests and event streams, and their counters. Private.';
--! EndIncluded rate_limits/schema.sql
--! Included leaderboard/schema.sql
create schema leaderboard authorization exchange_owner;
comment on schema leaderboard is
  'What traders realised, by day and by window, ranked. Derived from trading as of the last '
  'refresh, and compared with it by leaderboard.verify(). Private.';
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
  'Work that is due at some time, in pieces that are each one short transaction: a function does '
  'one piece and returns how much that was, 0 when nothing is left. For role exchange_worker.';
--! EndIncluded jobs/schema.sql
--! Included analytics/schema.sql
create schema analytics authorization exchange_owner;
comment on schema analytics is
  'Stable views and functions for analysts: reading only, with every column described. For role '
  'exchange_analyst.';
--! EndIncluded analytics/schema.sql

set local role exchange_owner;

-- Types of columns
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
  'outside_world', 'user_cash', 'market_escrow', 'fee_revenue', 'event_escrow'
);
comment on type ledger.account_kind is
  'outside_world mirrors all cash that comes in and goes out; user_cash is one per user; '
  'market_escrow and fee_revenue are one each per market; event_escrow is one per exclusive event.';

create type ledger.journal_kind as enum (
  'deposit', 'withdrawal', 'trade', 'split', 'merge', 'settlement', 'correction', 'void',
  'bonus', 'adjustment', 'reversal', 'fee_payout', 'convert', 'redeem'
);
comment on type ledger.journal_kind is 'Why cash moved.';
--! EndIncluded ledger/types.sql
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
--! EndIncluded trading/types.sql
--! Included leaderboard/types.sql
create type leaderboard.window_kind as enum ('day', 'week', 'month', 'ytd', 'all');
comment on type leaderboard.window_kind is
  'UTC days that count: today, the last 7, the last 30, the year to date, all.';
--! EndIncluded leaderboard/types.sql

-- Functions of defaults, checks and triggers
--! Included core/functions/now.sql
create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. Read once by each command, after it has the lock of its market, '
  'so that times never run against the order of its commits. Tests replace this function, and so '
  'does the embedded demo in the transaction that makes its history; nothing else can move it.';
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
--! Included core/functions/is_web_address.sql
create or replace function core.is_web_address(address text)
returns boolean
language sql immutable parallel safe
return length(address) <= 2000 and address ~* '^https?://[^[:space:][:cntrl:]"<>`\\]+$';

comment on function core.is_web_address(text) is
  'Whether a page may show this as a link or load a picture from it: http or https, at most 2,000 '
  'characters, without spaces, control characters, quotes and angle brackets. Null of null.';
--! EndIncluded core/functions/is_web_address.sql
--! Included core/functions/is_blank.sql
create or replace function core.is_blank(text text)
returns boolean
language sql immutable parallel safe
return text !~ (
  '[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f'
  || '\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0'
  || '\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
);

comment on function core.is_blank(text) is
  'Whether nobody would see anything of a text: white space, control characters, and those of '
  'Unicode without width or ink. By their numbers, so that it does not depend on a locale. Null of '
  'null.';
--! EndIncluded core/functions/is_blank.sql
--! Included ledger/functions/refuse_change.sql
create or replace function ledger.refuse_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error(
    'INVALID_STATE',
    format(
      'The table %I.%I is append-only: %s is not allowed',
      tg_table_schema, tg_table_name, lower(tg_op)
    )
  );
  return null;
end
$$;

comment on function ledger.refuse_change() is
  'Trigger of append-only tables: every update, delete and truncate is an error, also for the '
  'owner.';
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
      format('The entries of journal %s do not sum to zero', v_journal_id)
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
  if tg_op <> 'INSERT' then
    update catalog.categories as c set
      open_market_count = c.open_market_count - (old.status = 'open')::int,
      paused_market_count = c.paused_market_count - (old.status = 'paused')::int,
      closed_market_count = c.closed_market_count - (old.status in ('closed', 'resolved'))::int
    where c.id = old.category_id;
  end if;
  if tg_op <> 'DELETE' then
    update catalog.categories as c set
      open_market_count = c.open_market_count + (new.status = 'open')::int,
      paused_market_count = c.paused_market_count + (new.status = 'paused')::int,
      closed_market_count = c.closed_market_count + (new.status in ('closed', 'resolved'))::int
    where c.id = new.category_id;
  end if;
  return null;
end
$$;

comment on function catalog.count_market() is
  'Trigger: keeps the counts of markets in catalog.categories. Locks: the row of the category.';
--! EndIncluded catalog/functions/count_market.sql
--! Included catalog/functions/list_market.sql
create or replace function catalog.list_market()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    delete from catalog.market_listings as l
    where l.category_id in (0, old.category_id)
      and l.list in ('open', 'closed', 'all')
      and l.market_id = old.id;
  end if;
  if tg_op <> 'DELETE' then
    insert into catalog.market_listings (category_id, list, market_id, close_time, volume_cents)
    select c.category_id, l.list, new.id, coalesce(new.close_time, 'infinity'), coalesce(
      (
        select b.yes_volume_cents + b.no_volume_cents
        from trading.market_state as b
        where b.market_id = new.id
      ), 0
    )
    from (values (0), (new.category_id)) as c (category_id)
    cross join (values
      ('all', true),
      ('open', new.status = 'open'),
      ('closed', new.status in ('closed', 'resolved'))
    ) as l (list, has_it)
    where l.has_it;
  end if;
  return null;
end
$$;

comment on function catalog.list_market() is
  'Trigger of catalog.markets: keeps the lists in which a market stands.';
--! EndIncluded catalog/functions/list_market.sql
--! Included catalog/functions/list_event.sql
create or replace function catalog.list_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event_id constant bigint := case when tg_op = 'DELETE' then old.event_id else new.event_id end;
begin
  if v_event_id is null then
    return null;
  end if;
  insert into catalog.event_listings (event_id, list, close_time, volume_cents)
  values (v_event_id, 'none', 'infinity', 0)
  on conflict on constraint event_listings_pkey do nothing;
  -- What another transaction has just changed in the event is seen once its row is held.
  perform from catalog.event_listings as l
  where l.event_id = v_event_id
  for no key update;
  update catalog.event_listings as l set
    list = n.list,
    close_time = n.close_time,
    volume_cents = n.volume_cents
  from catalog.event_listing(v_event_id) as n
  where l.event_id = v_event_id
    and (l.list, l.close_time, l.volume_cents)
      is distinct from (n.list, n.close_time, n.volume_cents);
  return null;
end
$$;

comment on function catalog.list_event() is
  'Trigger of catalog.markets: keeps the list in which the event of a market stands. Locks: the '
  'row of the event in catalog.event_listings, which comes after that of the category.';
--! EndIncluded catalog/functions/list_event.sql
--! Included catalog/functions/set_words.sql
create or replace function catalog.set_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
begin
  if tg_op = 'INSERT' then
    -- An event whose title is being changed does not see this market yet: its new title is waited
    -- for.
    perform
    from catalog.events as e
    where e.id = new.event_id
    for share;
  end if;
  v_text := concat_ws(' ', new.title, (
    select e.title
    from catalog.events as e
    where e.id = new.event_id
  ));
  new.words := to_tsvector('simple', v_text) || to_tsvector('english', v_text);
  return new;
end
$$;

comment on function catalog.set_words() is
  'Trigger of catalog.markets: keeps the words by which a market is found. Locks: for a new '
  'market, the row of the event.';
--! EndIncluded catalog/functions/set_words.sql
--! Included catalog/functions/renew_words.sql
create or replace function catalog.renew_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from catalog.markets as m
  where m.event_id = new.id
  order by m.id
  for no key update;
  -- The trigger of the markets makes their words anew.
  update catalog.markets as m set title = m.title
  where m.event_id = new.id;
  return null;
end
$$;

comment on function catalog.renew_words() is
  'Trigger of catalog.events: when the title of an event changes, its markets are found by the new '
  'one. Locks: the rows of the markets in catalog.markets, by ascending key, for which no trading '
  'waits.';
--! EndIncluded catalog/functions/renew_words.sql
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
--! Included identity/functions/is_email.sql
create or replace function identity.is_email(email text)
returns boolean
language sql immutable parallel safe
return email ~ '^[^@[:space:]]+@[^@[:space:]]+$' and length(email) <= 320;

comment on function identity.is_email(text) is
  'Whether a text looks like an e-mail address: name@domain without spaces, at most 320 '
  'characters. Null for null.';
--! EndIncluded identity/functions/is_email.sql
--! Included identity/functions/is_handle.sql
create or replace function identity.is_handle(handle text)
returns boolean
language sql immutable parallel safe
return handle ~ '^[A-Za-z0-9_.-]{1,40}$';

comment on function identity.is_handle(text) is
  'Whether a text may be a handle: from 1 to 40 letters, digits, dots, hyphens and underscores. '
  'Null for null.';
--! EndIncluded identity/functions/is_handle.sql
--! Included catalog/functions/is_payout_of.sql
create or replace function catalog.is_payout_of(outcome catalog.outcome, yes_payout_cents int)
returns boolean
language sql immutable parallel safe
return case outcome
  when 'yes' then yes_payout_cents = 100
  when 'no' then yes_payout_cents = 0
  when 'custom' then yes_payout_cents between 0 and 100
end;

comment on function catalog.is_payout_of(catalog.outcome, int) is
  'Whether an outcome may pay a YES share so many cents: 100 (yes), 0 (no), or from 0 to 100 '
  '(custom). Null without an outcome.';
--! EndIncluded catalog/functions/is_payout_of.sql
--! Included trading/settle/check_event_payouts.sql
create or replace function trading.check_event_payouts()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event record;
begin
  select
    e.title,
    e.escrow_cents,
    coalesce(sum(m.yes_payout_cents) filter (where v.id is null), 0) as cents,
    bool_and(m.status = 'resolved' and v.id is null) as are_resolved
  into v_event
  from catalog.markets as x
  join catalog.events as e on e.id = x.event_id and e.exclusive
  join catalog.markets as m on m.event_id = e.id
  left join trading.voids as v on v.market_id = m.id and v.trade_id is null
  where x.id = new.market_id
  group by e.id;
  if v_event.cents > 100
    or v_event.are_resolved and (v_event.cents < 100 or v_event.escrow_cents <> 0)
  then
    perform core.raise_error('INVALID_STATE', format(
      'The YES shares of the exclusive event %L would pay %s cents in all, and %s cents would be '
      'left for them', v_event.title, v_event.cents, v_event.escrow_cents
    ));
  end if;
  return null;
end
$$;

comment on function trading.check_event_payouts() is
  'Trigger, at the end of the command and of the transaction: the YES shares of the resolved '
  'markets of an exclusive event pay at most 100 cents, and once all are resolved exactly 100, '
  'with nothing left of the escrow of the event. A voided market pays nothing; with one, less is '
  'possible. Errors: INVALID_STATE.';
--! EndIncluded trading/settle/check_event_payouts.sql

-- Tables
--! Included installer/tables/installations.sql
create table installer.installations (
  id bigint generated always as identity primary key,
  version text not null,
  hash text not null,
  server_version int not null,
  installed_at timestamptz not null default clock_timestamp()
);

comment on table installer.installations is
  'Each time that functions and views were put in place, in their order. Every call of a server or '
  'a worker holds a lock on this table to its end. The installer takes it alone before it commits, '
  'so a call runs with the functions of before or with the new ones.';
comment on column installer.installations.version is
  'The version of pgmarkets, as in package.json.';
comment on column installer.installations.hash is
  'Of the text that was put in place. A server is ready if its own hash is in the table.';
comment on column installer.installations.server_version is
  'The major version of PostgreSQL. Definitions read differently in another one.';
--! EndIncluded installer/tables/installations.sql
--! Included installer/tables/files.sql
create table installer.files (
  path text primary key,
  hash text not null
);

comment on table installer.files is
  'The files of db/ that were put in place, and a hash of what was. Views, types and comments are '
  'put in place again only if their hash has changed.';
--! EndIncluded installer/tables/files.sql
--! Included installer/tables/objects.sql
create table installer.objects (
  kind text not null,
  name text not null,
  hash text not null,
  constraint objects_pkey primary key (kind, name)
);

comment on table installer.objects is
  'The objects of the schema after the last installation: what installer.schema_objects() gave, '
  'with an MD5 of each definition. installer.changed_objects() compares them.';
--! EndIncluded installer/tables/objects.sql
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
  'Every error code of the exchange. The engine returns codes as values; functions of schema admin '
  'raise errors with the SQLSTATE. src/database/error_codes.ts and docs/errors.md have the same '
  'list.';
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
    'An order of the batch was rejected, and none was placed'),
  ('EX027', 'WRONG_ORIGIN', 403, true, 'The request comes from another site'),
  ('EX028', 'SIGN_UP_CLOSED', 403, true, 'Sign-up needs an invitation'),
  ('EX029', 'INVALID_LINK', 400, true, 'The link is not valid any more'),
  ('EX030', 'WRONG_CREDENTIALS', 401, false, 'Wrong e-mail or password'),
  ('EX031', 'WRONG_PASSWORD', 403, true, 'Wrong password'),
  ('EX032', 'EMAIL_UNCONFIRMED', 403, true, 'Confirm your e-mail address first'),
  ('EX033', 'INVALID_PASSKEY', 403, true, 'The passkey was not accepted'),
  ('EX034', 'SIGN_IN_AGAIN', 403, true, 'Sign in again first'),
  ('EX035', 'IDEMPOTENCY_KEY_REUSED', 422, true,
    'The idempotency key was used by another request'),
  ('EX036', 'DEAD_MAN_FIRED', 409, true,
    'The dead man''s switch has fired; orders are being cancelled'),
  ('EX037', 'BODY_TOO_LARGE', 413, false, 'The body is larger than 64 KiB'),
  ('EX038', 'INTERNAL_ERROR', 500, false, 'Internal server error'),
  ('EX039', 'SERVICE_UNAVAILABLE', 503, false, 'Service unavailable'),
  ('EX040', 'EVENTS_GONE', 409, true, 'The events after this id are not kept any more'),
  ('EX041', 'KEY_SCOPE', 403, true, 'The API key does not have the scope for this'),
  ('EX042', 'ROLE_REQUIRED', 403, true, 'The role of staff that this needs is missing'),
  ('EX043', 'APPROVAL_REQUIRED', 403, true, 'Another member of staff must approve this'),
  ('EX044', 'OWN_PROPOSAL', 403, true, 'Nobody approves their own proposal'),
  ('EX045', 'PROPOSAL_CHANGED', 409, true,
    'What the proposal rests on has changed: propose it again'),
  ('EX046', 'NOT_EXCLUSIVE', 400, true, 'The event is not exclusive'),
  ('EX047', 'NOT_OPEN_TO_DISPUTE', 400, true, 'The market has no resolution to dispute now'),
  ('EX048', 'NO_SHARES_HELD', 403, true, 'Only users who held shares may dispute it'),
  ('EX049', 'ALREADY_DISPUTED', 409, true, 'You have disputed this resolution already'),
  ('EX050', 'AGE_NOT_CONFIRMED', 400, true, 'Confirm that you are old enough');
--! EndIncluded core/tables/error_codes.sql
--! Included core/tables/settings.sql
create table core.settings (
  singleton boolean primary key default true,
  trading_paused boolean not null default false,
  trading_pause_reason text,
  trading_paused_at timestamptz,
  dispute_window_hours int not null default 72,
  minimum_age int not null default 0,
  constraint settings_is_one_row check (singleton),
  constraint settings_say_since_when_trading_is_paused
    check (trading_paused = (trading_paused_at is not null)),
  constraint settings_disputes_are_open_for_at_most_a_year
    check (dispute_window_hours between 0 and 8760),
  constraint settings_minimum_age_is_below_100 check (minimum_age between 0 and 99)
);

comment on table core.settings is 'Settings of the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are rejected, cancels work.';
comment on column core.settings.trading_pause_reason is
  'The reason that the last call gave, whether it began or ended the pause.';
comment on column core.settings.trading_paused_at is
  'Since when trading is paused; null: it is not paused.';
comment on column core.settings.dispute_window_hours is
  'How long after a resolution or a correction its traders may dispute it; 0: not at all.';
comment on column core.settings.minimum_age is
  'The age in years that users confirm before they sign up or trade; 0: none.';

insert into core.settings default values;
--! EndIncluded core/tables/settings.sql
--! Included core/tables/job_ticks.sql
create table core.job_ticks (
  job text primary key,
  ticked_at timestamptz not null
);

comment on table core.job_ticks is
  'The last time at which each job of the crontab was requested, so that one worker requests it.';
comment on column core.job_ticks.ticked_at is
  'By the database''s clock: a whole minute, or of a job that runs more often its second.';
--! EndIncluded core/tables/job_ticks.sql
--! Included core/tables/worker_heartbeat.sql
create table core.worker_heartbeat (
  singleton boolean primary key default true,
  beat_at timestamptz,
  constraint worker_heartbeat_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table core.worker_heartbeat is
  'One row: when a worker last said that it works. Each worker does so every few seconds.';
comment on column core.worker_heartbeat.beat_at is 'Null: no worker has worked yet.';

insert into core.worker_heartbeat default values;
--! EndIncluded core/tables/worker_heartbeat.sql
--! Included core/tables/processes.sql
create unlogged table core.processes (
  process_id uuid primary key,
  kind text not null,
  host text not null,
  system_number int not null,
  version text not null,
  first_seen_at timestamptz not null default core.now(),
  seen_at timestamptz not null,
  constraint processes_are_servers_or_workers check (kind in ('server', 'worker'))
) with (fillfactor = 50);

comment on table core.processes is
  'The servers and workers that run. Each notes itself every 10 seconds and removes its row when '
  'it ends; the row of one that was killed stays for an hour. Unlogged: after a crash of the '
  'database each process notes itself anew.';
comment on column core.processes.process_id is 'Chosen by the process when it starts.';
comment on column core.processes.host is 'The name of its machine.';
comment on column core.processes.system_number is 'Its number in the operating system.';
comment on column core.processes.version is 'The version of pgmarkets that it runs.';
--! EndIncluded core/tables/processes.sql
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
  browser_generation int not null default 0,
  created_at timestamptz not null default core.now(),
  erased_at timestamptz,
  reality_check_minutes int,
  constraint users_public_id_is_unique unique (public_id),
  constraint users_email_looks_like_one check (identity.is_email(email)),
  constraint users_display_name_is_not_blank
    check (not core.is_blank(display_name) and length(display_name) <= 100),
  constraint users_handle_is_a_word check (identity.is_handle(handle)),
  constraint users_avatar_url_is_short check (length(avatar_url) <= 2000),
  constraint users_reality_check_comes_after_one_of_four_times
    check (reality_check_minutes in (15, 30, 60, 120))
);

create unique index users_email_is_unique on identity.users (lower(email collate "C"));
create unique index users_handle_is_unique on identity.users (lower(handle collate "C"));

comment on table identity.users is
  'Traders. Their cash, their checks and their limits are in trading.traders.';
comment on column identity.users.private is
  'A private profile: its name is withheld from the market stream and the leaderboard.';
comment on column identity.users.erased_at is
  'When admin.erase_user took the names and the address away; null: it has not.';
comment on column identity.users.browser_generation is
  'Part of the mark of known browsers (api.get_browser_mark): with another one none is known.';
comment on column identity.users.reality_check_minutes is
  'After how much time on the website the user is reminded of it; null: never.';
--! EndIncluded identity/tables/users.sql
--! Included identity/tables/api_keys.sql
create table identity.api_keys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  name text not null,
  key_hash bytea not null,
  key_prefix text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  scopes text[] not null default '{read,trade}',
  expires_at timestamptz,
  allowed_addresses cidr[],
  last_used_address inet,
  replaces bigint references identity.api_keys (id),
  constraint api_keys_public_id_is_unique unique (public_id),
  constraint api_keys_hash_is_unique unique (key_hash),
  constraint api_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint api_keys_prefix_has_six_characters_of_the_key
    check (key_prefix ~ '^jk_[0-9A-Za-z]{6}$'),
  constraint api_keys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint api_keys_scopes_are_read_trade_or_both check (
    scopes = '{read}' or scopes = '{trade}' or scopes = '{read,trade}'
  ),
  constraint api_keys_expire_at_a_moment_after_they_are_made check (
    expires_at > created_at and isfinite(expires_at)
  ),
  constraint api_keys_allow_from_1_to_20_addresses check (
    allowed_addresses is null
    or (
      array_ndims(allowed_addresses) = 1
      and cardinality(allowed_addresses) <= 20
      and array_position(allowed_addresses, null) is null
    ) is true
  ),
  constraint api_keys_allow_ipv4_addresses_as_such check (
    not inet '::ffff:0:0/96' >>= any (allowed_addresses)
  ),
  constraint api_keys_last_used_address_is_that_of_a_use check (
    last_used_address is null or last_used_at is not null
  ),
  constraint api_keys_last_used_address_is_of_one_host check (
    masklen(last_used_address) = case family(last_used_address) when 4 then 32 else 128 end
    and not last_used_address <<= inet '::ffff:0:0/96'
  ),
  constraint api_keys_are_replaced_once unique (replaces)
);

create index api_keys_of_a_user on identity.api_keys (user_id, id);

comment on table identity.api_keys is
  'API keys of traders. The key itself is shown once, when it is made; only its SHA-256 is kept.';
comment on column identity.api_keys.key_prefix is
  'How the key begins: tells whose it is if it is found somewhere, and opens nothing.';
comment on column identity.api_keys.last_used_at is
  'Kept to the minute: servers report a key''s use at most that often.';
comment on column identity.api_keys.scopes is
  'What it may do: read, trade (commands) or both, in this order.';
comment on column identity.api_keys.expires_at is
  'From when on it is not valid any more; null: it does not expire.';
comment on column identity.api_keys.allowed_addresses is
  'Where it may be used: addresses and networks; null: everywhere. IPv4 is written as IPv4.';
comment on column identity.api_keys.last_used_address is
  'From where it was used at last_used_at; null: not known.';
comment on column identity.api_keys.replaces is
  'The key that was rotated when this one was made.';
--! EndIncluded identity/tables/api_keys.sql
--! Included identity/tables/sessions.sql
create table identity.sessions (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  cookie_hash bytea not null,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  browser text,
  last_seen_at timestamptz,
  last_address inet,
  visit_started_at timestamptz not null default core.now(),
  reminded_at timestamptz,
  constraint sessions_public_id_is_unique unique (public_id),
  constraint sessions_cookie_hash_is_unique unique (cookie_hash),
  constraint sessions_cookie_hash_is_a_sha256 check (length(cookie_hash) = 32),
  constraint sessions_expire_after_they_are_made check (expires_at > created_at)
);

create index sessions_of_a_user on identity.sessions (user_id);
create index sessions_by_expiry on identity.sessions (expires_at);

comment on table identity.sessions is
  'Browsers that are logged in on the website. A session that ends is deleted. Of the browser''s '
  'cookie only the SHA-256 is kept.';
comment on column identity.sessions.browser is
  'What the browser called itself when it signed in; null: unknown.';
comment on column identity.sessions.last_seen_at is
  'When a page of the session last asked for a token, to the minute, or it began.';
comment on column identity.sessions.last_address is
  'From where that was; null: not known.';
comment on column identity.sessions.visit_started_at is
  'Since when its pages have been looked at without a break of more than 30 minutes.';
comment on column identity.sessions.reminded_at is
  'When the user last went on after a reality check, or chose how often it comes; null: never.';
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
  'Short-lived tokens with which the pages of a session call the API; only their SHA-256 is kept. '
  'They are deleted with their session. Unlogged: after a crash pages ask for new ones.';
--! EndIncluded identity/tables/session_tokens.sql
--! Included identity/tables/settings.sql
create table identity.settings (
  singleton boolean primary key default true,
  sign_up_policy text not null default 'closed',
  play_money_cents core.amount not null default 0,
  changed_at timestamptz,
  decoy_secret bytea,
  constraint settings_is_one_row check (singleton),
  constraint settings_sign_up_policy_is_open_invitation_or_closed
    check (sign_up_policy in ('open', 'invitation', 'closed')),
  constraint settings_play_money_is_a_bonus check (play_money_cents <= 1000000000000000)
);

comment on table identity.settings is 'Who may sign up on the website: one row.';
comment on column identity.settings.sign_up_policy is
  'open: every visitor; invitation: who has a link from admin.invite_user; closed: no visitor.';
comment on column identity.settings.play_money_cents is
  'What a new account gets at sign-up, as a bonus. Only the demo gives money away.';
comment on column identity.settings.changed_at is
  'When admin.set_sign_up was last called; null: never.';
comment on column identity.settings.decoy_secret is
  'Made at the first sign-in. Salts for e-mail addresses without an account are made from it, so '
  'that an address always has the same one.';

insert into identity.settings default values;
--! EndIncluded identity/tables/settings.sql
--! Included identity/tables/passwords.sql
create table identity.passwords (
  user_id bigint primary key references identity.users (id),
  password_hash text not null,
  changed_at timestamptz not null default core.now(),
  constraint passwords_are_argon2id_in_phc_form check (
    password_hash ~ '^\$argon2id\$v=19\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$'
  )
);

comment on table identity.passwords is
  'Passwords of users who sign in on the website. A user without a row has none.';
comment on column identity.passwords.password_hash is
  'Argon2id in PHC form: parameters, salt and digest. Servers compute it. They can read the part '
  'before the digest, by api.get_password_settings; the database compares.';
--! EndIncluded identity/tables/passwords.sql
--! Included identity/tables/email_claims.sql
create table identity.email_claims (
  user_id bigint primary key references identity.users (id),
  email text not null,
  handle text,
  created_at timestamptz not null default core.now(),
  constraint email_claims_look_like_an_email check (identity.is_email(email)),
  constraint email_claims_handle_is_a_word check (identity.is_handle(handle))
);

create index email_claims_by_email on identity.email_claims (lower(email collate "C"));
create index email_claims_by_age on identity.email_claims (created_at);

comment on table identity.email_claims is
  'E-mail addresses that users gave and have not confirmed. They need not be unique: only a '
  'confirmed address is taken, so a claim does not show whether an address has an account.';
comment on column identity.email_claims.handle is
  'The handle that was asked for at sign-up, which the user also gets with the confirmation. Null: '
  'a user with a confirmed address asked for another address.';
--! EndIncluded identity/tables/email_claims.sql
--! Included identity/tables/staff.sql
create table identity.staff (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  email text not null,
  name text not null,
  roles text[] not null,
  login text,
  password_hash text,
  password_changed_at timestamptz,
  created_at timestamptz not null default core.now(),
  removed_at timestamptz,
  constraint staff_public_id_is_unique unique (public_id),
  constraint staff_email_looks_like_one check (identity.is_email(email)),
  constraint staff_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint staff_roles_are_known check (
    (
      roles <@ array['audit', 'cash', 'incidents', 'markets', 'staff', 'users']
      and cardinality(roles) between 1 and 6
    ) is true
  ),
  constraint staff_password_is_argon2id_in_phc_form check (
    password_hash ~ '^\$argon2id\$v=19\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$'
  ),
  constraint staff_password_has_its_time
    check ((password_hash is null) = (password_changed_at is null)),
  constraint staff_who_are_removed_have_no_password
    check (removed_at is null or password_hash is null)
);

create unique index staff_email_is_unique on identity.staff (lower(email collate "C"))
  where removed_at is null;
create unique index staff_login_is_unique on identity.staff (login) where removed_at is null;

comment on table identity.staff is
  'The people who run the exchange. They sign in by password and passkey, both of their own, and '
  'do not trade. Who is removed stays here, as the audit log names them.';
comment on column identity.staff.roles is
  'What they may do: markets, cash, users, incidents, audit (reads only), staff; admin.commands '
  'says which functions each role calls.';
comment on column identity.staff.login is
  'The login of the database that is the same person; null: none is known. Such a person cannot '
  'approve by one what they proposed by the other.';
comment on column identity.staff.password_hash is
  'Argon2id in PHC form, as in identity.passwords. Null: the invitation was not accepted yet.';
comment on column identity.staff.removed_at is 'When they were removed; null: they are staff.';
--! EndIncluded identity/tables/staff.sql
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
  staff_id bigint references identity.staff (id),
  constraint staff_keys_public_id_is_unique unique (public_id),
  constraint staff_keys_hash_is_unique unique (key_hash),
  constraint staff_keys_hash_is_a_sha256 check (length(key_hash) = 32),
  constraint staff_keys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100),
  constraint staff_keys_role_is_analyst_or_operator check (role in ('analyst', 'operator'))
);

create unique index staff_keys_in_force_have_different_names on identity.staff_keys (name)
  where revoked_at is null;

comment on table identity.staff_keys is
  'Keys of analysts and operators, who work by GraphQL and do not trade. The key itself is shown '
  'once, when it is made.';
comment on column identity.staff_keys.key_hash is
  'SHA-256 of the SHA-256 of the key, which is a credential (identity.acting): who reads this has '
  'none.';
comment on column identity.staff_keys.name is
  'Who or what uses the key, as in the audit log. No two keys in force have the same name.';
comment on column identity.staff_keys.role is
  'analyst: a key ja_..., for schema analytics; operator: a key jo_..., for schema admin.';
comment on column identity.staff_keys.staff_id is
  'The member of staff who made the key, with whom it ends, and who acts by an operator''s; null: '
  'a login made it that is of no member of staff.';
comment on column identity.staff_keys.last_used_at is 'Kept to the minute.';
--! EndIncluded identity/tables/staff_keys.sql
--! Included identity/tables/staff_passkeys.sql
create table identity.staff_passkeys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  staff_id bigint not null references identity.staff (id),
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  last_used_address inet,
  constraint staff_passkeys_public_id_is_unique unique (public_id),
  constraint staff_passkeys_credential_id_is_unique unique (credential_id),
  constraint staff_passkeys_credential_id_has_16_to_1023_bytes
    check (length(credential_id) between 16 and 1023),
  constraint staff_passkeys_public_key_has_1_to_2000_bytes
    check (length(public_key) between 1 and 2000),
  constraint staff_passkeys_sign_count_is_an_unsigned_32_bit_number
    check (sign_count between 0 and 4294967295),
  constraint staff_passkeys_transports_are_known check (
    transports <@ array['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
    and cardinality(transports) <= 6
  ),
  constraint staff_passkeys_name_is_not_blank
    check (not core.is_blank(name) and length(name) <= 100)
);

create index staff_passkeys_of_a_member on identity.staff_passkeys (staff_id, id);

comment on table identity.staff_passkeys is
  'Passkeys (WebAuthn) of staff: the second factor of each sign-in. The columns mean what they '
  'mean in identity.passkeys.';
--! EndIncluded identity/tables/staff_passkeys.sql
--! Included identity/tables/staff_sessions.sql
create table identity.staff_sessions (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  staff_id bigint not null references identity.staff (id),
  cookie_hash bytea not null,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  browser text,
  last_address inet,
  constraint staff_sessions_public_id_is_unique unique (public_id),
  constraint staff_sessions_cookie_hash_is_unique unique (cookie_hash),
  constraint staff_sessions_cookie_hash_is_a_sha256 check (length(cookie_hash) = 32),
  constraint staff_sessions_last_at_most_12_hours
    check (expires_at - created_at between interval '1 second' and interval '12 hours')
);

create index staff_sessions_of_a_member on identity.staff_sessions (staff_id);

comment on table identity.staff_sessions is
  'Browsers in which staff are signed in. A session that ends is deleted.';
comment on column identity.staff_sessions.cookie_hash is
  'SHA-256 of the SHA-256 of the cookie, as identity.staff_keys.key_hash.';
comment on column identity.staff_sessions.browser is
  'What the browser called itself when it signed in; null: unknown.';
comment on column identity.staff_sessions.last_address is
  'From where it signed in; null: not known.';
--! EndIncluded identity/tables/staff_sessions.sql
--! Included identity/tables/links.sql
create table identity.links (
  token_hash bytea primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  staff_id bigint references identity.staff (id),
  email text,
  created_at timestamptz not null default core.now(),
  expires_at timestamptz not null,
  constraint links_hash_is_a_sha256 check (length(token_hash) = 32),
  constraint links_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'recovery', 'sign_in', 'invitation', 'staff_invitation'
    )
  ),
  constraint links_are_of_a_user_or_invitations
    check ((user_id is null) = (kind in ('invitation', 'staff_invitation'))),
  constraint links_of_staff_are_invitations
    check ((staff_id is not null) = (kind = 'staff_invitation')),
  constraint links_name_the_address_that_they_prove
    check ((email is not null) = (kind in ('confirm_email', 'invitation')))
);

create index links_of_a_user on identity.links (user_id, kind);
create index links_of_an_invited_address on identity.links (lower(email collate "C"))
  where kind = 'invitation';
create index links_of_staff on identity.links (staff_id) where staff_id is not null;
create index links_by_expiry on identity.links (expires_at);

comment on table identity.links is
  'The links in mails, each good once. The token itself is only in the mail; here is its SHA-256.';
comment on column identity.links.kind is
  'confirm_email proves an address, password_reset sets a password, recovery too and in a frozen '
  'account, sign_in opens a session, invitation allows to sign up with its address, '
  'staff_invitation sets the password and the first passkey of a member of staff.';
--! EndIncluded identity/tables/links.sql
--! Included identity/tables/passkeys.sql
create table identity.passkeys (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  user_id bigint not null references identity.users (id),
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default core.now(),
  last_used_at timestamptz,
  last_used_address inet,
  constraint passkeys_public_id_is_unique unique (public_id),
  constraint passkeys_credential_id_is_unique unique (credential_id),
  constraint passkeys_credential_id_has_16_to_1023_bytes
    check (length(credential_id) between 16 and 1023),
  constraint passkeys_public_key_has_1_to_2000_bytes check (length(public_key) between 1 and 2000),
  constraint passkeys_sign_count_is_an_unsigned_32_bit_number
    check (sign_count between 0 and 4294967295),
  constraint passkeys_transports_are_known check (
    transports <@ array['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
    and cardinality(transports) <= 6
  ),
  constraint passkeys_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100)
);

create index passkeys_of_a_user on identity.passkeys (user_id, id);

comment on table identity.passkeys is
  'Passkeys (WebAuthn) with which users sign in on the website. The private key never leaves the '
  'user''s device.';
comment on column identity.passkeys.credential_id is
  'Made by the device, which sends it with each signature.';
comment on column identity.passkeys.public_key is
  'The key that checks signatures, in COSE form. Servers read it by api.get_passkey.';
comment on column identity.passkeys.sign_count is
  'The signatures that the device had made at the last sign-in. Each sign-in must have a higher '
  'number, or a copy of the key was used; devices that do not count always send 0.';
comment on column identity.passkeys.transports is
  'How browsers reach the device, as the device said.';
comment on column identity.passkeys.last_used_at is 'The last sign-in; null: never.';
comment on column identity.passkeys.last_used_address is
  'From where that sign-in came; null: not known.';
--! EndIncluded identity/tables/passkeys.sql
--! Included identity/tables/passkey_challenges.sql
create unlogged table identity.passkey_challenges (
  challenge bytea primary key,
  session_id bigint references identity.sessions (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint passkey_challenges_are_one_for_each_session unique (session_id),
  constraint passkey_challenges_have_32_bytes check (length(challenge) = 32),
  constraint passkey_challenges_last_at_most_5_minutes
    check (expires_at - created_at between interval '0' and interval '5 minutes')
);

create index passkey_challenges_by_expiry on identity.passkey_challenges (expires_at);

comment on table identity.passkey_challenges is
  'Random bytes that a passkey must sign, each good once. Unlogged: after a crash pages ask for '
  'new ones.';
comment on column identity.passkey_challenges.session_id is
  'The session that adds a passkey; null: for a sign-in.';
--! EndIncluded identity/tables/passkey_challenges.sql
--! Included identity/tables/mails.sql
create table identity.mails (
  id bigint generated always as identity primary key,
  kind text not null,
  user_id bigint references identity.users (id),
  address text not null,
  details json not null default '{}',
  created_at timestamptz not null default core.now(),
  due_at timestamptz default core.now(),
  attempts int not null default 0,
  sent_at timestamptz,
  last_error text,
  constraint mails_are_due_until_they_are_sent check (sent_at is null or due_at is null),
  constraint mails_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'recovery', 'invitation', 'new_sign_in', 'new_key',
      'passkey_added', 'passkey_removed', 'password_changed', 'email_change_asked', 'email_changed',
      'limits_changed', 'self_excluded', 'staff_invitation', 'dispute_answered'
    )
  )
);

create index mails_that_are_due on identity.mails (due_at) where due_at is not null;
create index mails_with_links_that_are_due on identity.mails (due_at)
  where due_at is not null
    and kind in (
      'confirm_email', 'password_reset', 'recovery', 'invitation', 'staff_invitation'
    );
create index mails_that_wait_by_address on identity.mails (lower(address collate "C"), kind)
  where due_at is not null;
create index mails_of_a_user on identity.mails (user_id, kind, created_at);
create index mails_that_were_given_up on identity.mails (id)
  where due_at is null and sent_at is null;
create index mails_by_age on identity.mails (created_at);

comment on table identity.mails is
  'The outbox of e-mail. The worker sends what is due (jobs.take_mail, jobs.finish_mail). A mail '
  'with a link has no token here: the worker makes it when it sends the mail.';
comment on column identity.mails.kind is
  'Which mail: confirm_email, password_reset, recovery, invitation and staff_invitation have a '
  'link; the others are notices.';
comment on column identity.mails.user_id is 'Whom it is about; null: no account is named.';
comment on column identity.mails.details is 'What the text names: no secret.';
comment on column identity.mails.due_at is
  'When it is sent, or tried again; null: it was sent or given up.';
--! EndIncluded identity/tables/mails.sql
--! Included catalog/tables/categories.sql
create table catalog.categories (
  id bigint generated always as identity primary key,
  slug text not null,
  name text not null,
  "position" int not null,
  event_count core.amount not null default 0,
  open_market_count core.amount not null default 0,
  closed_market_count core.amount not null default 0,
  paused_market_count core.amount not null default 0,
  constraint categories_slug_is_unique unique (slug),
  constraint categories_slug_is_url_safe
    check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60 and slug <> 'all'),
  constraint categories_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100)
);

comment on table catalog.categories is 'Groups of events and markets, in display order.';
comment on column catalog.categories.slug is
  'URL-safe name; "all" is kept for the leaderboard of every category.';
comment on column catalog.categories.event_count is
  'Events of the category, kept by a trigger of catalog.events; the counts of markets likewise by '
  'catalog.markets. So the total of a list costs nothing, however long it is.';
comment on column catalog.categories.closed_market_count is
  'Markets that are closed or resolved.';
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
  exclusive boolean not null default false,
  escrow_cents bigint not null default 0,
  escrow_version core.amount not null default 0,
  constraint events_public_id_is_unique unique (public_id),
  constraint events_title_is_not_blank check (not core.is_blank(title) and length(title) <= 300),
  constraint events_end_after_their_start check (ends_at > starts_at),
  constraint events_start_and_end_at_a_moment_or_at_none
    check (isfinite(starts_at) and isfinite(ends_at)),
  constraint events_live_delay_is_sane check (live_delay_ms between 0 and 60000),
  constraint events_thumbnail_is_an_address_of_the_web
    check (core.is_web_address(thumbnail_url))
);

create index events_of_a_category on catalog.events (category_id, id);

create trigger events_are_counted
  after insert or delete or update of category_id on catalog.events
  for each row execute function catalog.count_event();

create trigger events_renew_words_of_their_markets
  after update of title on catalog.events
  for each row when (old.title <> new.title) execute function catalog.renew_words();

comment on table catalog.events is 'Real-world occurrences, each with one or more markets.';
comment on column catalog.events.live is
  'Live-traded: within [starts_at, ends_at) new orders wait live_delay_ms before they match.';
comment on column catalog.events.exclusive is
  'Exactly one of its markets resolves YES. No market comes to it, and this does not change, once '
  'shares were made in one of them or one is resolved (trading.check_exclusive_change).';
comment on column catalog.events.escrow_cents is
  'What conversions of its shares left over of the escrow of its markets, or took out of it beyond '
  'that, and what the resolutions of its markets then take or give: 0 once all are resolved '
  '(trading.verify_conversions). escrow_version is the number of entries of this account.';
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
  words tsvector,
  open_time timestamptz,
  outcome_name text,
  "position" int,
  rules text,
  source_url text,
  constraint markets_public_id_is_unique unique (public_id),
  constraint markets_title_is_not_blank check (not core.is_blank(title) and length(title) <= 300),
  constraint markets_have_an_outcome_once_resolved check (
    (status = 'resolved') = (resolved_outcome is not null)
    and (status = 'resolved') = (yes_payout_cents is not null)
    and (status = 'resolved') = (resolved_at is not null)
  ),
  constraint markets_pay_what_the_outcome_says
    check (catalog.is_payout_of(resolved_outcome, yes_payout_cents)),
  constraint markets_open_by_themselves_while_paused
    check (open_time is null or status = 'paused'),
  constraint markets_open_before_they_close check (open_time < close_time),
  constraint markets_open_at_a_moment check (isfinite(open_time)),
  constraint markets_have_an_outcome_name_and_place_in_an_event
    check (event_id is not null or outcome_name is null and "position" is null),
  constraint markets_outcome_name_is_not_blank
    check (not core.is_blank(outcome_name) and length(outcome_name) <= 100),
  constraint markets_have_a_place_from_1_to_1000000 check ("position" between 1 and 1000000),
  constraint markets_rules_are_not_blank check (not core.is_blank(rules) and length(rules) <= 4000),
  constraint markets_source_is_an_address_of_the_web check (core.is_web_address(source_url)),
  constraint markets_thumbnail_is_an_address_of_the_web
    check (core.is_web_address(thumbnail_url))
);

create index markets_of_a_category on catalog.markets (category_id, status, id);
create index markets_of_an_event on catalog.markets (event_id, id) where event_id is not null;
create index markets_that_will_close on catalog.markets (close_time)
  where status in ('open', 'paused') and close_time is not null;

create index markets_that_will_open on catalog.markets (open_time)
  where open_time is not null;

create index markets_by_words on catalog.markets using gin (words);

create trigger markets_have_words
  before insert or update of title, event_id on catalog.markets
  for each row execute function catalog.set_words();

create trigger markets_are_counted
  after insert or delete or update of category_id, status on catalog.markets
  for each row execute function catalog.count_market();

create trigger markets_are_listed
  after insert or delete or update of category_id, status, close_time on catalog.markets
  for each row execute function catalog.list_market();

create trigger markets_list_their_event
  after insert or delete or update of status, close_time on catalog.markets
  for each row execute function catalog.list_event();

comment on table catalog.markets is
  'Binary questions. What trading moves (prices, volumes, version) is in trading.market_state.';
comment on column catalog.markets.yes_payout_cents is
  'What a YES share was paid at resolution, 0-100; a NO share got the rest.';
comment on column catalog.markets.open_time is
  'When a paused market opens by itself; null: an operator opens it.';
comment on column catalog.markets.outcome_name is
  'What the market is called among the outcomes of its event, such as a name; null: its title.';
comment on column catalog.markets."position" is
  'Its place in the event: by default one after the last. The event of a market never changes.';
comment on column catalog.markets.words is
  'The words of the titles of the market and its event, as they are and by their English stems, '
  'for the search. Kept by a trigger.';
comment on column catalog.markets.rules is
  'What decides the outcome, in words; null: nothing was given.';
comment on column catalog.markets.source_url is
  'Where the outcome will be read, an address that begins with http:// or https://; null: none.';
--! EndIncluded catalog/tables/markets.sql
--! Included catalog/tables/market_listings.sql
create table catalog.market_listings (
  category_id bigint not null,
  list text not null,
  market_id bigint not null references catalog.markets (id) on delete cascade,
  close_time timestamptz not null,
  volume_cents bigint not null,
  primary key (category_id, list, market_id),
  constraint market_listings_are_of_a_list check (list in ('open', 'closed', 'all'))
);

create index market_listings_by_close_time
  on catalog.market_listings (category_id, list, close_time, market_id desc);
create index market_listings_by_volume
  on catalog.market_listings (category_id, list, volume_cents desc, market_id desc);

comment on table catalog.market_listings is
  'The lists in which a market stands: by its status and of all statuses, in its category and in '
  'all categories. So a page of a list is a range of an index, however many markets there are. '
  'Kept by a trigger of catalog.markets.';
comment on column catalog.market_listings.category_id is '0: the list has all categories.';
comment on column catalog.market_listings.list is
  'open, closed (resolved ones too) or all; a paused market stands in all only.';
comment on column catalog.market_listings.close_time is 'infinity: the market has none.';
comment on column catalog.market_listings.volume_cents is
  'Volume of both sides when jobs.make_candles() last ran. The volume of trading.market_state '
  'changes with each trade, so no index is on it.';
--! EndIncluded catalog/tables/market_listings.sql
--! Included catalog/tables/event_listings.sql
create table catalog.event_listings (
  event_id bigint primary key references catalog.events (id) on delete cascade,
  list text not null,
  close_time timestamptz not null,
  volume_cents bigint not null,
  constraint event_listings_are_of_a_list check (list in ('open', 'closed', 'none'))
);

create index event_listings_by_event on catalog.event_listings (list, event_id desc);
create index event_listings_by_close_time
  on catalog.event_listings (list, close_time, event_id desc);
create index event_listings_by_volume
  on catalog.event_listings (list, volume_cents desc, event_id desc);

comment on table catalog.event_listings is
  'The list in which an event that has markets stands, by their status. So a page of a list is a '
  'range of an index, however many events there are. Kept by a trigger of catalog.markets.';
comment on column catalog.event_listings.list is
  'open: at least one of its markets is; closed: all of them are, or are resolved; none: the '
  'others, such as paused ones.';
comment on column catalog.event_listings.close_time is
  'The first of its open markets, or of all if none is open; infinity: there is none.';
comment on column catalog.event_listings.volume_cents is
  'The sum of the volumes in catalog.market_listings.';
--! EndIncluded catalog/tables/event_listings.sql
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
  confirmed_age int not null default 0,
  age_confirmed_at timestamptz,
  constraint traders_public_id_is_unique unique (public_id),
  constraint traders_stay_above_zero_but_for_their_overdraft
    check (balance_cents + overdraft_cents >= 0),
  constraint traders_limits_are_not_negative check (
    least(
      day_limit_cents, week_limit_cents, month_limit_cents,
      next_day_limit_cents, next_week_limit_cents, next_month_limit_cents
    ) >= 0
  ),
  constraint traders_limits_that_wait_say_until_when check (
    (next_day_limit_cents is null or day_limit_changes_at is not null)
    and (next_week_limit_cents is null or week_limit_changes_at is not null)
    and (next_month_limit_cents is null or month_limit_changes_at is not null)
  ),
  constraint traders_are_frozen_by_an_operator_for_a_reason check (
    (frozen_at is null) = (frozen_by is null)
    and (frozen_at is null) = (frozen_reason is null)
  ),
  constraint traders_confirmed_their_age_at_a_time
    check (confirmed_age >= 0 and (confirmed_age > 0) = (age_confirmed_at is not null))
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
  'Deposits, bonuses and adjustments less withdrawals and reversals. external_cents - '
  'balance_cents is the net cash the user has put into trading.';
comment on column trading.traders.overdraft_cents is
  'How far corrections of resolutions, voids and reversals of deposits, and nothing else, took the '
  'user below zero.';
comment on column trading.traders.account_version is 'Number of ledger.entries of the user.';
comment on column trading.traders.moved_on is
  'UTC day of the last entry; -infinity before the first.';
comment on column trading.traders.limits_reviewed_at is
  'When the loss limits were first reviewed; until then no order may be placed.';
comment on column trading.traders.excluded_until is
  'Self-excluded until then; infinity is for good. It never moves to an earlier time, but '
  'admin.end_self_exclusion may end it.';
comment on column trading.traders.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column trading.traders.frozen_by is
  'The member of staff, or else the login, that froze it, and in brackets the name of the key that '
  'was used. Of several calls the last one, as with the reason.';
comment on column trading.traders.frozen_reason is 'Why it is frozen, for operators only.';
comment on column trading.traders.day_limit_cents is
  'Most that may be put into trading today (UTC); null is no limit. Likewise over the last 7 '
  '(week) and 30 days (month).';
comment on column trading.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits. Null is none, if '
  'day_limit_changes_at is set.';
comment on column trading.traders.confirmed_age is
  'The user has confirmed to be this many years old or older; 0: has not been asked.';
comment on column trading.traders.age_confirmed_at is 'When that was; null: never.';
--! EndIncluded trading/tables/traders.sql
--! Included risk/tables/limit_changes.sql
create table risk.limit_changes (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  day_limit_cents bigint,
  week_limit_cents bigint,
  month_limit_cents bigint,
  next_day_limit_cents bigint,
  next_week_limit_cents bigint,
  next_month_limit_cents bigint,
  day_limit_changes_at timestamptz,
  week_limit_changes_at timestamptz,
  month_limit_changes_at timestamptz,
  created_at timestamptz not null
);

create index limit_changes_of_a_user on risk.limit_changes (user_id, id);

create trigger limit_changes_are_append_only
  before update or delete or truncate on risk.limit_changes
  for each statement execute function ledger.refuse_change();

comment on table risk.limit_changes is
  'The loss limits of a trader after each call that set them: the columns of trading.traders. '
  'Append-only. No foreign key: see trading.orders.';
--! EndIncluded risk/tables/limit_changes.sql
--! Included ledger/tables/outside_world.sql
create table ledger.outside_world (
  singleton boolean primary key default true,
  balance_cents bigint not null default 0,
  account_version core.amount not null default 0,
  constraint outside_world_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table ledger.outside_world is
  'The account that mirrors all cash that comes in and goes out: one row. It is locked '
  'before any market and any user.';

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
  constraint posted_journals_of_trading_name_their_market check (
    (
      kind in (
        'deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal', 'fee_payout', 'convert',
        'redeem'
      )
    ) = (market_id is null)
  )
);

create index posted_journals_of_a_market on ledger.posted_journals (market_id)
  where market_id is not null;

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
  'ledger.post_journal is the only writer, and ledger.verify() checks what they would.';
--! EndIncluded ledger/tables/posted_entries.sql
--! Included ledger/tables/cash_movements.sql
create table ledger.cash_movements (
  journal_id bigint primary key references ledger.posted_journals (id),
  user_id bigint not null references trading.traders (user_id),
  kind ledger.journal_kind not null,
  reference text not null,
  amount_cents bigint not null,
  reason text,
  constraint cash_movements_are_external
    check (kind in ('deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal')),
  constraint cash_movements_happen_once unique (user_id, kind, reference),
  constraint cash_movements_reference_is_not_blank
    check (not core.is_blank(reference) and length(reference) <= 200),
  constraint cash_movements_are_above_zero_but_for_adjustments
    check (amount_cents > 0 or kind = 'adjustment' and amount_cents < 0),
  constraint cash_movements_have_a_reason_if_they_adjust_or_reverse
    check ((kind in ('adjustment', 'reversal')) = (reason is not null))
);

create index cash_movements_of_a_reference on ledger.cash_movements (reference);

create trigger cash_movements_are_append_only
  before update or delete or truncate on ledger.cash_movements
  for each statement execute function ledger.refuse_change();

comment on table ledger.cash_movements is
  'Cash of users that came in or went out: deposits, withdrawals, bonuses, adjustments and '
  'reversals of deposits, by the operator''s reference: the same one twice is one movement.';
comment on column ledger.cash_movements.reference is
  'The operator''s reference; of a bonus its name, play money for what a new account got; of a '
  'reversal that of the deposit.';
comment on column ledger.cash_movements.amount_cents is
  'Above zero, also for withdrawals and reversals; an adjustment may be below zero.';
comment on column ledger.cash_movements.reason is
  'Why a balance was adjusted or a deposit reversed; else null.';
--! EndIncluded ledger/tables/cash_movements.sql
--! Included ledger/tables/fee_payouts.sql
create table ledger.fee_payouts (
  journal_id bigint primary key references ledger.posted_journals (id),
  reference text not null,
  amount_cents bigint not null,
  constraint fee_payouts_happen_once unique (reference),
  constraint fee_payouts_reference_is_not_blank
    check (not core.is_blank(reference) and length(reference) <= 200),
  constraint fee_payouts_are_above_zero check (amount_cents > 0)
);

create trigger fee_payouts_are_append_only
  before update or delete or truncate on ledger.fee_payouts
  for each statement execute function ledger.refuse_change();

comment on table ledger.fee_payouts is
  'Fees that the exchange took out, by the operator''s reference: the same one twice is one '
  'payout. Which markets'' fees they were is in the lines of the journal.';
--! EndIncluded ledger/tables/fee_payouts.sql
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
  verified_block bigint,
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
comment on column ledger.verifications.verified_block is
  'The last block of history that the run recomputed, or an earlier run; null: there was none.';
--! EndIncluded ledger/tables/verifications.sql
--! Included ledger/tables/closed_days.sql
create table ledger.closed_days (
  id bigint generated always as identity primary key,
  day date not null,
  closed_at timestamptz not null,
  bank_entries int not null,
  differences jsonb not null,
  reason text,
  constraint closed_days_are_closed_once unique (day),
  constraint closed_days_with_differences_have_a_reason
    check (differences = '[]' or reason is not null),
  constraint closed_days_reason_is_not_blank
    check (not core.is_blank(reason) and length(reason) <= 1000)
);

create trigger closed_days_are_append_only
  before update or delete or truncate on ledger.closed_days
  for each statement execute function ledger.refuse_change();

comment on table ledger.closed_days is
  'The UTC days whose books operators have closed, one after the other, each compared with the '
  'entries of the bank. Append-only.';
comment on column ledger.closed_days.bank_entries is
  'How many entries of the bank the day was compared with.';
comment on column ledger.closed_days.differences is
  'The references of which the bank and the ledger have different amounts, as admin.reconcile '
  'gives them.';
comment on column ledger.closed_days.reason is
  'Why the day was closed as it is; null only without differences.';
--! EndIncluded ledger/tables/closed_days.sql
--! Included ledger/tables/closed_figures.sql
create table ledger.closed_figures (
  closed_day_id bigint not null references ledger.closed_days (id),
  account_kind ledger.account_kind not null,
  item text not null,
  amount_cents bigint not null,
  primary key (closed_day_id, account_kind, item)
);

create trigger closed_figures_are_append_only
  before update or delete or truncate on ledger.closed_figures
  for each statement execute function ledger.refuse_change();

comment on table ledger.closed_figures is
  'The figures of closed days: of each kind of account the opening balance, what journals of each '
  'kind moved, and the closing balance. The amounts of an item sum to zero. Append-only.';
comment on column ledger.closed_figures.item is
  'opening, closing, or a kind of journals; a kind that moved nothing has no row.';
comment on column ledger.closed_figures.amount_cents is
  'The sum of the balances, or what they grew by; negative if they shrank.';
--! EndIncluded ledger/tables/closed_figures.sql
--! Included ledger/tables/balance_proofs.sql
create table ledger.balance_proofs (
  id bigint generated always as identity primary key,
  published_at timestamptz not null,
  leaf_count core.amount not null,
  total_cents core.amount not null,
  receivable_cents core.amount not null,
  escrow_cents core.amount not null,
  revenue_cents core.amount not null,
  outside_cents bigint not null,
  outside_version core.amount not null,
  root bytea not null,
  constraint balance_proofs_sum_to_zero check (
    total_cents - receivable_cents + escrow_cents + revenue_cents + outside_cents = 0
  ),
  constraint balance_proofs_have_roots_of_32_bytes check (length(root) = 32)
);

create trigger balance_proofs_are_append_only
  before update or delete or truncate on ledger.balance_proofs
  for each statement execute function ledger.refuse_change();

comment on table ledger.balance_proofs is
  'The published proofs of balances: the root and the total of a Merkle sum tree over the cash of '
  'all users at one moment, and the other accounts at that moment. Written by '
  'ledger.publish_proof(). Append-only.';
comment on column ledger.balance_proofs.published_at is
  'The moment of the balances: just before the snapshot that all of them were read in.';
comment on column ledger.balance_proofs.leaf_count is 'Users; each has a leaf.';
comment on column ledger.balance_proofs.total_cents is
  'The sum of all balances that were above zero: what the exchange owed its users in cash.';
comment on column ledger.balance_proofs.receivable_cents is
  'How far the other balances were below zero, all together.';
comment on column ledger.balance_proofs.escrow_cents is 'The escrow of all markets and events.';
comment on column ledger.balance_proofs.revenue_cents is 'The fee revenue of all markets.';
comment on column ledger.balance_proofs.outside_cents is
  'The balance of the outside world, after its entry outside_version.';
comment on column ledger.balance_proofs.root is
  'The hash of the top of the tree; without users the SHA-256 of nothing.';
--! EndIncluded ledger/tables/balance_proofs.sql
--! Included ledger/tables/proof_leaves.sql
create table ledger.proof_leaves (
  leaf_index core.amount primary key,
  user_id bigint not null,
  public_id uuid not null,
  balance_cents core.amount not null,
  account_version core.amount not null,
  salt bytea not null,
  constraint proof_leaves_are_one_for_each_user unique (public_id),
  constraint proof_leaves_have_salts_of_32_bytes check (length(salt) = 32)
);

comment on table ledger.proof_leaves is
  'The leaves of the last of ledger.balance_proofs, one for each user, in random order. The next '
  'proof replaces them. The salts are secrets: with one, somebody can guess the user and the cash '
  'of a leaf. No foreign keys: a user who never signed in may be removed, and a reference would '
  'lock the rows of users.';
comment on column ledger.proof_leaves.leaf_index is 'The place in the tree, from 0.';
comment on column ledger.proof_leaves.public_id is
  'identity.users.public_id, which is in the hash.';
comment on column ledger.proof_leaves.balance_cents is 'The cash; 0 if it was below zero.';
comment on column ledger.proof_leaves.account_version is
  'The number of the user''s last entry at the moment of the proof: the cash is that after it.';
comment on column ledger.proof_leaves.salt is '32 random bytes.';
--! EndIncluded ledger/tables/proof_leaves.sql
--! Included ledger/tables/proof_nodes.sql
create table ledger.proof_nodes (
  level int not null,
  position core.amount not null,
  sum_cents core.amount not null,
  hash bytea not null,
  primary key (level, position)
);

comment on table ledger.proof_nodes is
  'The nodes of the tree of the last of ledger.balance_proofs: on level 0 those of its leaves, and '
  'on each level above one for each two below. The next proof replaces them.';
comment on column ledger.proof_nodes.level is '0 for the leaves; the root has the highest.';
comment on column ledger.proof_nodes.position is
  'From 0. Below it are the positions twice this and one more of the level before.';
comment on column ledger.proof_nodes.sum_cents is 'The sum of all leaves below.';
comment on column ledger.proof_nodes.hash is
  'ledger.leaf_hash or ledger.node_hash. A node with one child has the hash of that child.';
--! EndIncluded ledger/tables/proof_nodes.sql
--! Included ledger/tables/blocks.sql
create table ledger.blocks (
  number bigint primary key,
  created_at timestamptz not null,
  sealed_through timestamptz,
  row_count core.amount not null,
  open_order_ids bigint[] not null,
  ended_order_ids bigint[] not null,
  previous_hash bytea,
  hash bytea not null,
  constraint blocks_follow_one_another check ((number = 1) = (previous_hash is null)),
  constraint blocks_have_hashes_of_32_bytes
    check (length(hash) = 32 and length(previous_hash) = 32)
);

create trigger blocks_are_append_only
  before update or delete or truncate on ledger.blocks
  for each statement execute function ledger.refuse_change();

comment on table ledger.blocks is
  'The seals of history, a chain: each block has a hash of rows that were new (its '
  'ledger.block_ranges) and the hash of the block before. Written by ledger.seal(). Append-only.';
comment on column ledger.blocks.sealed_through is
  'All rows that were committed by then are in this block or in an earlier one, but for orders '
  'that were open; null until that was so once.';
comment on column ledger.blocks.open_order_ids is
  'The orders within the block''s range of order ids that were still open: a later block has them. '
  'Ascending.';
comment on column ledger.blocks.ended_order_ids is
  'Orders that an earlier block left out as open, and that are in this one. Ascending.';
comment on column ledger.blocks.hash is
  'SHA-256 of the block and of its ranges: see ledger.hash_block.';
--! EndIncluded ledger/tables/blocks.sql
--! Included ledger/tables/block_ranges.sql
create table ledger.block_ranges (
  table_name text not null,
  block_number bigint not null references ledger.blocks (number),
  after_id bigint,
  through_id bigint not null,
  row_count core.amount not null,
  hash bytea not null,
  primary key (table_name, block_number),
  constraint block_ranges_do_not_end_before_they_begin check (after_id <= through_id),
  constraint block_ranges_have_rows check (row_count > 0),
  constraint block_ranges_have_hashes_of_32_bytes check (length(hash) = 32)
);

create index block_ranges_of_a_block on ledger.block_ranges (block_number);

create trigger block_ranges_are_append_only
  before update or delete or truncate on ledger.block_ranges
  for each statement execute function ledger.refuse_change();

comment on table ledger.block_ranges is
  'Which rows of a table a block seals: those with ids above after_id up to through_id. Tables '
  'that share a sequence of ids have the same range; one without rows in it is left out. '
  'Append-only.';
comment on column ledger.block_ranges.table_name is 'Of ledger.sealed_tables.';
comment on column ledger.block_ranges.after_id is
  'Where the last range of the sequence ended; null: this is the first.';
comment on column ledger.block_ranges.hash is
  'SHA-256 of the hashes of its rows: see ledger.hash_ranges.';
--! EndIncluded ledger/tables/block_ranges.sql
--! Included ledger/tables/awaited_orders.sql
create table ledger.awaited_orders (
  order_id bigint primary key
);

comment on table ledger.awaited_orders is
  'The orders that a block left out because they were open, and that no later block has: of all '
  'blocks, open_order_ids less ended_order_ids. Written by ledger.seal().';
--! EndIncluded ledger/tables/awaited_orders.sql
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
  ('v1-cancel-all', 60, 60),
  ('unknown-key', 120, 60),
  ('graphql', 600, 60),
  ('sse:market', 120, 60),
  ('sse:user', 30, 60),
  ('sse:user-ip', 120, 60),
  ('sign-in', 30, 900),
  ('sign-in-account', 10, 900),
  ('sign-in-strangers', 100, 900),
  ('sign-up', 10, 3600),
  ('mail', 60, 3600),
  ('mail-account', 5, 3600);
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
  'one, also those whose own policy has expired. Operators change them by admin.set_rate_policy.';
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
  'The counters of rolling windows, one for each bucket and each address or user that it counts. '
  'The requests that were allowed are in rate_limits.grants. Unlogged: after a crash counting '
  'starts at zero.';
comment on column rate_limits.windows.taken is
  'Requests allowed since the row was made; it numbers them.';
comment on column rate_limits.windows.kept_from is
  'Before this time there are no grants of this counter.';
comment on column rate_limits.windows.removable_at is
  'Not before every grant has left the window. Changed only once in a window, so that counting '
  'does not touch the indexes.';
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
  'The requests that were allowed: the exact log of each rolling window. Requests of one moment '
  'are one row. Their numbers run on, so how many a window holds is the difference of two of them, '
  'and no request has to be counted. Unlogged, as rate_limits.windows is.';
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
  'The token buckets of trading requests (v1-trading), one for each user who made any lately; a '
  'user without a row has a full one. Unlogged: after a crash all are full.';
comment on column rate_limits.allowances.spent is
  'What was missing to a full bucket, in sixty-millionths of a token: a rate of so many requests a '
  'minute gives back just as many of these in a microsecond, so nothing is ever rounded.';
comment on column rate_limits.allowances.removable_at is
  'Not before the bucket is full again. Changed only now and then, as in rate_limits.windows.';
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
  'How many event streams an address or a user holds open in each server process; a stream of '
  'many markets counts several times. Unlogged, as rate_limits.stream_leases is.';
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
--! Included trading/tables/fee_cancellations.sql
create table trading.fee_cancellations (
  id bigint generated always as identity primary key,
  fee_schedule_id bigint not null references trading.fee_schedules (id),
  created_at timestamptz not null default core.now(),
  constraint fee_cancellations_happen_once unique (fee_schedule_id)
);

comment on table trading.fee_cancellations is
  'Fee schedules that were withdrawn before they were in force, and so never are.';
--! EndIncluded trading/tables/fee_cancellations.sql
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
--! Included trading/tables/active_orders.sql
create sequence trading.order_ids;

comment on sequence trading.order_ids is
  'The ids of orders, and the places in the queues of the book.';

create table trading.active_orders (
  market_id bigint not null,
  user_id bigint not null,
  order_id bigint primary key,
  queue_position bigint,
  order_public_id uuid not null,
  created_at timestamptz not null,
  quantity trading.order_quantity not null,
  left_quantity int not null,
  fee_cents core.amount not null default 0,
  price trading.price not null,
  book_price trading.price not null,
  book_side trading.side not null,
  side trading.side not null,
  order_type trading.order_type not null,
  time_in_force trading.time_in_force not null,
  post_only boolean not null default false,
  cancels_own boolean not null default false,
  budget_cents trading.budget_cents,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  constraint active_orders_public_id_is_unique unique (order_public_id),
  constraint active_orders_rest_or_wait_for_release
    check (queue_position is not null or release_at is not null),
  constraint active_orders_on_the_book_have_shares_left
    check (left_quantity > 0 or queue_position is null),
  constraint active_orders_fill_up_to_their_quantity check (left_quantity <= quantity)
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
  'The orders that may still change: resting and scheduled ones, in the form their trader gave '
  'them and as the book stores them. An order is in one table at a time: once it is filled or '
  'cancelled its row moves to trading.ended_orders. trading.orders shows both. No foreign keys: '
  'the engine is the only writer and looks market and user up itself; ledger.verify() checks what '
  'they would.';
comment on column trading.active_orders.queue_position is
  'Place in the queue of its price, from the sequence of order ids; null while scheduled.';
comment on column trading.active_orders.quantity is
  'Shares ordered; 0 of a budget order that is scheduled.';
comment on column trading.active_orders.left_quantity is 'Shares not filled yet.';
comment on column trading.active_orders.price is
  'EUR-cents a share of the trader''s side; the protection price (99 buy, 1 sell) of a market '
  'order.';
comment on column trading.active_orders.fee_cents is 'Taker fee paid so far, in cents.';
comment on column trading.active_orders.cancels_own is
  'Whether own resting orders that it meets at its release or amendment are cancelled.';
--! EndIncluded trading/tables/active_orders.sql
--! Included trading/tables/ended_orders.sql
create table trading.ended_orders (
  market_id bigint not null,
  user_id bigint not null,
  id bigint primary key,
  public_id uuid not null,
  created_at timestamptz not null,
  ended_at timestamptz not null,
  quantity trading.order_quantity not null,
  filled_quantity int not null,
  fee_cents core.amount not null,
  price trading.price not null,
  side trading.side not null,
  order_type trading.order_type not null,
  time_in_force trading.time_in_force not null,
  status trading.order_status not null,
  post_only boolean not null,
  cancel_reason trading.cancel_reason,
  budget_cents trading.budget_cents,
  expires_at timestamptz,
  release_at timestamptz,
  released_at timestamptz,
  constraint ended_orders_public_id_is_unique unique (public_id),
  constraint ended_orders_fill_up_to_their_quantity check (filled_quantity between 0 and quantity),
  constraint ended_orders_are_filled_or_cancelled_for_a_reason check (
    case status
      when 'filled' then filled_quantity = quantity and quantity > 0 and cancel_reason is null
      when 'cancelled' then cancel_reason is not null
      else false
    end
  )
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create index ended_orders_of_a_user on trading.ended_orders (user_id, id);
create index ended_orders_to_archive on trading.ended_orders (ended_at)
  where filled_quantity = 0;
create index ended_orders_cancelled_after_a_fill on trading.ended_orders (ended_at)
  where filled_quantity > 0 and status = 'cancelled';

comment on table trading.ended_orders is
  'The orders that were filled or cancelled. Rows are only added; trading.archive_orders() moves '
  'those that never filled to trading.archived_orders.';
comment on column trading.ended_orders.quantity is
  'Shares ordered; of a budget order the shares bought.';
comment on column trading.ended_orders.fee_cents is 'Taker fee paid, in cents.';
--! EndIncluded trading/tables/ended_orders.sql
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
  'Shares that amendments took off orders which kept their place in the queue: the only change of '
  'an order that its own row does not show. Books of the past need it. Append-only. No foreign '
  'key: the order may be in the archive.';
comment on column trading.order_reductions.quantity_before is
  'Shares ordered until then, of which some may have been filled.';
--! EndIncluded trading/tables/order_reductions.sql
--! Included trading/tables/order_replacements.sql
create table trading.order_replacements (
  order_id bigint primary key,
  replaced_order_id bigint not null,
  constraint order_replacements_are_of_different_orders check (order_id > replaced_order_id),
  constraint order_replacements_happen_once_to_an_order unique (replaced_order_id)
);

create trigger order_replacements_are_append_only
  before update or delete or truncate on trading.order_replacements
  for each statement execute function ledger.refuse_change();

comment on table trading.order_replacements is
  'Which order an amendment put in the place of which. Amendments before version 0.3.0 have no '
  'row. Append-only. No foreign keys: see trading.orders.';
--! EndIncluded trading/tables/order_replacements.sql
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
  constraint archived_orders_are_cancelled check (status = 'cancelled'),
  constraint archived_orders_never_filled check (filled_quantity = 0 and fee_cents = 0)
) partition by range (public_id);

create index archived_orders_of_a_user on trading.archived_orders (user_id, id);
create index archived_orders_by_id on trading.archived_orders (id);

create trigger archived_orders_are_append_only
  before update or delete or truncate on trading.archived_orders
  for each statement execute function ledger.refuse_change();

comment on table trading.archived_orders is
  'Orders that were cancelled without a fill, moved here from trading.orders 30 days after. The '
  'same columns. A partition for each month in which orders were made, made when it is first '
  'needed; the month is in the public_id, so that an order is looked up in one partition. Each '
  'partition has its primary key, and ranges do not overlap, so a public_id is there once. The '
  'table itself has none: PostgreSQL takes no partition on another server into a table with one.';
--! EndIncluded trading/tables/archived_orders.sql
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
create index trades_of_a_taker on trading.trades (taker_user_id, id);
create index trades_of_a_maker on trading.trades (maker_user_id, id);
create index trades_of_a_maker_order on trading.trades (maker_order_id);
create index trades_of_a_taker_order on trading.trades (taker_order_id);
create index trades_by_public_id on trading.trades (public_id);

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
--! Included trading/tables/candles.sql
create table trading.candles (
  market_id bigint not null,
  width_minutes int not null,
  start_at timestamptz not null,
  open_price trading.price not null,
  high_price trading.price not null,
  low_price trading.price not null,
  close_price trading.price not null,
  quantity bigint not null,
  trade_count bigint not null,
  primary key (market_id, width_minutes, start_at),
  constraint candles_are_a_minute_an_hour_or_a_day_wide check (width_minutes in (1, 60, 1440)),
  constraint candles_lie_between_low_and_high check (
    low_price <= least(open_price, close_price) and high_price >= greatest(open_price, close_price)
  )
) with (fillfactor = 80);

comment on table trading.candles is
  'YES prices of trades by minute, hour and day (UTC), made of trading.trades by jobs.make_candles '
  'so that a chart does not read them. Without a trade there is no candle.';
comment on column trading.candles.quantity is 'Shares traded.';
--! EndIncluded trading/tables/candles.sql
--! Included trading/tables/candle_progress.sql
create table trading.candle_progress (
  market_id bigint primary key references catalog.markets (id),
  last_trade_id bigint not null default 0,
  trade_count bigint not null default 0
);

comment on table trading.candle_progress is
  'Up to which trade the candles of a market are made, and of how many trades. The ids of a '
  'market''s trades rise with time.';
--! EndIncluded trading/tables/candle_progress.sql
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
  side trading.side,
  cents core.amount,
  constraint set_conversions_realise_by_giving_shares_back check (
    (kind in ('merge', 'redeem') or kind = 'convert' and side = 'no')
      = (yes_realised_cents is not null)
    and (yes_realised_cents is null) = (no_realised_cents is null)
  ),
  constraint set_conversions_of_events_are_of_one_side check (
    (kind in ('convert', 'redeem')) = (side is not null)
    and (side is null) = (cents is null)
    and (kind <> 'redeem' or side = 'yes')
  )
);

create index set_conversions_of_a_market on trading.set_conversions (market_id, id);
create index set_conversions_of_a_user on trading.set_conversions (user_id, id);
create index set_conversions_of_a_user_by_time on trading.set_conversions (user_id, created_at);

create trigger set_conversions_are_append_only
  before update or delete or truncate on trading.set_conversions
  for each statement execute function ledger.refuse_change();

comment on table trading.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each (split) or given back for them '
  '(merge); and shares of an exclusive event that were exchanged, a row for each of its markets, '
  'all with the same journal: NO shares given for YES shares of the other markets and cash '
  '(convert), YES shares of all markets given for cash (redeem). Append-only. No foreign keys: see '
  'trading.orders.';
comment on column trading.set_conversions.yes_realised_cents is
  'What was realised on the YES shares that were given: 50 cents a share, in an event cents, less '
  'cost taken out and buy fees taken out; 0: no YES shares were given; null: shares came. '
  'no_realised_cents likewise.';
comment on column trading.set_conversions.side is
  'The shares that a convert or redeem moved: of a convert YES shares came, NO shares were given. '
  'Null: both sides.';
comment on column trading.set_conversions.cents is
  'What these shares brought, if they were given, or else what they cost. Null: 50 cents a share.';
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
  evidence text,
  constraint resolutions_are_corrected_once unique (corrects_resolution_id),
  constraint resolutions_pay_what_the_outcome_says
    check (catalog.is_payout_of(outcome, yes_payout_cents)),
  constraint resolutions_that_correct_have_a_reason check (
    (corrects_resolution_id is null) = (reason is null)
    and (reason is null or not core.is_blank(reason) and length(reason) <= 1000)
  ),
  constraint resolutions_evidence_is_not_blank
    check (not core.is_blank(evidence) and length(evidence) <= 2000)
);

create unique index resolutions_begin_once_in_a_market on trading.resolutions (market_id)
  where corrects_resolution_id is null;
create index resolutions_of_a_market on trading.resolutions (market_id, id);

create trigger resolutions_are_append_only
  before update or delete or truncate on trading.resolutions
  for each statement execute function ledger.refuse_change();

-- One command may correct several markets of an event: only together they pay what they must.
create constraint trigger resolutions_pay_100_in_an_exclusive_event
  after insert on trading.resolutions
  deferrable initially deferred
  for each row execute function trading.check_event_payouts();

comment on table trading.resolutions is
  'How markets were resolved and corrected. The last one of a market is the one that holds; each '
  'but the first corrects the one before. Append-only.';
comment on column trading.resolutions.journal_id is
  'The settlement, or the correction, that moved the cash; null when none had to move.';
comment on column trading.resolutions.yes_payout_cents is
  'What a YES share pays, 0-100 cents; a NO share pays the rest.';
comment on column trading.resolutions.payout_cents is
  'What the positions are paid in all; of a correction too the whole, and not the difference.';
comment on column trading.resolutions.evidence is
  'What the outcome rests on, for everybody to read; null: nothing was given.';
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
  'again: its rows are the whole figures, not differences, so that of each market the rows of the '
  'last resolution are the ones that hold. Append-only. No foreign keys: see trading.orders.';
comment on column trading.settlements.cost_cents is
  'What was paid for the shares, and fee_cents the buy fees, at the time of the resolution.';
--! EndIncluded trading/tables/settlements.sql
--! Included trading/tables/disputes.sql
create table trading.disputes (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  resolution_id bigint not null references trading.resolutions (id),
  user_id bigint not null references identity.users (id),
  text text not null,
  created_at timestamptz not null,
  answer text,
  answered_at timestamptz,
  constraint disputes_public_id_is_unique unique (public_id),
  constraint disputes_are_made_once unique (resolution_id, user_id),
  constraint disputes_text_is_not_blank check (not core.is_blank(text) and length(text) <= 2000),
  constraint disputes_answer_is_not_blank
    check (not core.is_blank(answer) and length(answer) <= 2000),
  constraint disputes_are_answered_at_a_time
    check ((answer is null) = (answered_at is null))
);

create index disputes_of_a_user on trading.disputes (user_id, id);
create index disputes_that_are_open on trading.disputes (id) where answered_at is null;

comment on table trading.disputes is
  'What users who held shares say against a resolution, once a user and resolution, and what staff '
  'answer. An erasure replaces text and answer.';
comment on column trading.disputes.resolution_id is
  'The resolution or correction that held when the dispute was made.';
comment on column trading.disputes.answer is
  'What the user reads; null: not answered. The audit log has who answered.';
--! EndIncluded trading/tables/disputes.sql
--! Included trading/tables/voids.sql
create table trading.voids (
  id bigint generated by default as identity primary key,
  market_id bigint not null references catalog.markets (id),
  trade_id bigint,
  journal_id bigint references ledger.posted_journals (id),
  taker_realised_cents bigint,
  maker_realised_cents bigint,
  fee_cents core.amount not null,
  outside_cents core.amount not null,
  reason text not null,
  created_at timestamptz not null,
  constraint voids_undo_a_trade_once unique (trade_id),
  constraint voids_of_a_trade_realise_for_both check (
    (trade_id is null) = (taker_realised_cents is null)
    and (trade_id is null) = (maker_realised_cents is null)
  ),
  constraint voids_give_back_fees_that_were_paid_out check (outside_cents <= fee_cents),
  constraint voids_have_a_reason check (not core.is_blank(reason) and length(reason) <= 1000)
);

create unique index voids_undo_a_market_once on trading.voids (market_id) where trade_id is null;
create index voids_of_a_market on trading.voids (market_id, id);

create trigger voids_are_append_only
  before update or delete or truncate on trading.voids
  for each statement execute function ledger.refuse_change();

comment on table trading.voids is
  'What operators undid: a trade, or a market as a whole. The trades stay as they were; a journal '
  'of the kind void moves their cash back. Append-only. No foreign key to trades: see '
  'trading.orders.';
comment on column trading.voids.trade_id is 'The trade; null if it is the whole market.';
comment on column trading.voids.journal_id is 'What moved the cash; null when none had to move.';
comment on column trading.voids.taker_realised_cents is
  'Of a trade: what the void realised for its taker. A buyer gives the shares back for what they '
  'cost; a seller''s result of the trade is taken back. maker_realised_cents likewise.';
comment on column trading.voids.fee_cents is 'The fees that were given back.';
comment on column trading.voids.outside_cents is
  'The part of them that had been paid out, and so came from the outside world.';
--! EndIncluded trading/tables/voids.sql
--! Included trading/tables/voided_positions.sql
create table trading.voided_positions (
  void_id bigint not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  quantity core.amount not null,
  cost_cents core.amount not null,
  fee_cents core.amount not null,
  realised_cents bigint not null,
  primary key (void_id, user_id, side)
);

create index voided_positions_of_a_user on trading.voided_positions (user_id, market_id);

create trigger voided_positions_are_append_only
  before update or delete or truncate on trading.voided_positions
  for each statement execute function ledger.refuse_change();

comment on table trading.voided_positions is
  'The positions of voided markets as they were before: in trading.holdings their figures are 0. '
  'Those without shares and result are left out. Append-only. No foreign keys: see trading.orders.';
--! EndIncluded trading/tables/voided_positions.sql
--! Included trading/tables/valued_days.sql
create table trading.valued_days (
  day date primary key,
  market_ids bigint[] not null,
  yes_bids int[] not null,
  no_bids int[] not null,
  last_user_id bigint not null default 0,
  finished_at timestamptz,
  constraint valued_days_have_two_bids_for_each_market check (
    cardinality(yes_bids) = cardinality(market_ids)
    and cardinality(no_bids) = cardinality(market_ids)
  )
);

comment on table trading.valued_days is
  'The UTC days of which jobs.value_accounts has written the exit values, or is writing them.';
comment on column trading.valued_days.market_ids is
  'The markets with a bid at the end of the day that were not resolved then.';
comment on column trading.valued_days.yes_bids is
  'Of each of these markets the best bid for a YES share at the end of the day, 0 without one; '
  'no_bids likewise for a NO share.';
comment on column trading.valued_days.last_user_id is 'Up to which user the values are written.';
comment on column trading.valued_days.finished_at is
  'When the value of the last user was written; null: values may be missing.';
--! EndIncluded trading/tables/valued_days.sql
--! Included trading/tables/exit_values.sql
create table trading.exit_values (
  user_id bigint not null,
  day date not null,
  exit_cents core.amount not null,
  primary key (user_id, day)
);

create trigger exit_values_are_append_only
  before update or delete or truncate on trading.exit_values
  for each statement execute function ledger.refuse_change();

comment on table trading.exit_values is
  'What the shares of each user were worth at the end of a UTC day at the best bids of that '
  'moment, before fees. A user without a row had 0, if trading.valued_days says that the day is '
  'finished. A void or correction of a later day changes nothing here. Append-only. No foreign '
  'key: see trading.orders.';
--! EndIncluded trading/tables/exit_values.sql
--! Included trading/tables/idempotency_keys.sql
create table trading.idempotency_keys (
  user_id bigint not null,
  key uuid not null,
  order_id bigint,
  created_at timestamptz not null,
  request_fingerprint uuid,
  reply text,
  cancelled_orders int,
  primary key (user_id, key),
  constraint idempotency_keys_stand_for_an_order_or_a_request check (
    order_id is not null or request_fingerprint is not null
  ),
  constraint idempotency_keys_of_orders_have_no_reply check (
    order_id is null or (reply is null and cancelled_orders is null)
  )
);

create index idempotency_keys_by_age on trading.idempotency_keys (created_at);

comment on table trading.idempotency_keys is
  'What a trader''s idempotency key stands for: an order, or another command with its answer. A '
  'key counts for 24 hours and is removed some time after.';
comment on column trading.idempotency_keys.order_id is
  'The order that was placed with the key; null: the key is of another command.';
comment on column trading.idempotency_keys.request_fingerprint is
  'Half of the SHA-256 of the request; null: any further request with the key is the same order.';
comment on column trading.idempotency_keys.reply is
  'The body of the first answer; null: the key is of an order, or the command is under way.';
comment on column trading.idempotency_keys.cancelled_orders is
  'Of a command that cancels all orders: how many it has cancelled so far.';
--! EndIncluded trading/tables/idempotency_keys.sql
--! Included trading/tables/dead_man_switches.sql
create table trading.dead_man_switches (
  user_id bigint primary key,
  expires_at timestamptz,
  fired_at timestamptz,
  last_order_id bigint,
  last_fired_at timestamptz,
  constraint dead_man_switches_fire_when_they_have_expired check (
    fired_at is null or (expires_at is not null and expires_at <= fired_at)
  ),
  constraint dead_man_switches_that_fired_say_which_orders check (
    (fired_at is null) = (last_order_id is null)
  )
) with (fillfactor = 70);

create index dead_man_switches_by_expiry on trading.dead_man_switches (expires_at, user_id)
  where expires_at is not null;
create index dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at)
  where last_fired_at is not null;

comment on table trading.dead_man_switches is
  'The dead man''s switches: a row for each user who ever set one. One that is not renewed before '
  'it expires fires, and the orders of its user are cancelled. The row is also the lock on the '
  'switch. No foreign key: see trading.orders.';
comment on column trading.dead_man_switches.expires_at is
  'When it fires unless it is renewed; null: it is off. It stays until a firing is over.';
comment on column trading.dead_man_switches.fired_at is
  'When a worker found it expired. From then on it cannot be renewed, whatever the clock says, '
  'until the orders are cancelled; null: it has not fired, or that is over.';
comment on column trading.dead_man_switches.last_order_id is
  'The last of the open orders that were placed by its expiry, 0 if there was none. Those up to '
  'this one are cancelled, and what replaced them.';
comment on column trading.dead_man_switches.last_fired_at is
  'The expiry at which it fired last; null: it never did.';
--! EndIncluded trading/tables/dead_man_switches.sql
--! Included trading/tables/outbox.sql
create table trading.outbox (
  id bigint generated always as identity primary key,
  channel text not null,
  payload json not null,
  user_id bigint,
  trade_ids bigint[],
  traded_at timestamptz,
  user_ids bigint[]
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

comment on table trading.outbox is
  'The outbox: events written by the transactions that they are about. api.relay_outbox() moves '
  'them to trading.sent_events right after the commit. A transaction that notifies holds a lock of '
  'the whole cluster through the flush of its commit; one that writes here does not.';
comment on column trading.outbox.channel is
  'The kind of the event, see trading.sent_events. Its other columns are described there too.';
comment on column trading.outbox.user_id is
  'Of a user_event: whose it is. Null: the relay looks the user up.';
--! EndIncluded trading/tables/outbox.sql
--! Included trading/tables/sent_events.sql
create table trading.sent_events (
  id bigint not null,
  position bigint not null,
  kind text not null,
  payload json not null,
  sent_at timestamptz not null,
  user_id bigint,
  trade_ids bigint[],
  traded_at timestamptz,
  user_ids bigint[],
  primary key (id, sent_at),
  constraint sent_events_of_trades_have_their_time check ((trade_ids is null) = (traded_at is null))
) partition by range (sent_at);

create index sent_events_by_position on trading.sent_events (position);
create index sent_events_of_a_user on trading.sent_events (user_id, position)
  where user_id is not null;
create index sent_events_of_many_users on trading.sent_events (position)
  where user_ids is not null;
create index sent_events_with_trades on trading.sent_events (position)
  where trade_ids is not null;
create index sent_events_of_a_trade on trading.sent_events (traded_at)
  where trade_ids is not null;

comment on table trading.sent_events is
  'The events of committed transactions, in the order in which servers deliver them. Written by '
  'api.relay_outbox() alone. Partitioned by day (UTC): jobs.make_event_partitions() makes '
  'partitions ahead, jobs.remove_sent_events() drops those whose events are all older than 25 '
  'hours. User streams continue from here after a reconnect, for 24 hours.';
comment on column trading.sent_events.id is
  'Rises by one with each event, so that a server sees whether one is missing. Once the database '
  'was restored or a standby was promoted, it goes on from a far higher number.';
comment on column trading.sent_events.position is
  'The place of the event among the frames of user streams: the id of its own frame. An event with '
  'n trades also has the n positions before it, one for each trade in the order of their ids.';
comment on column trading.sent_events.kind is
  'market_changed ({marketId, version}); user_event ({userId, event}; maker_fill once for each '
  'order of a transaction); market_status ({marketId, status}; also for users with open orders or '
  'shares); market_settled ({marketId, outcome, resolutionId, balances}); api_key_revoked '
  '({apiKeyId}; also of a key that was rotated without overlap); session_ended ({sessionId}; also '
  'of one that expired, when it is removed); or tick: an hour passed without an event.';
comment on column trading.sent_events.user_id is 'Of a user_event: whose it is.';
comment on column trading.sent_events.trade_ids is
  'The trades of the transaction, ascending, on its first market_changed event. The frames of '
  'fills are read from them.';
comment on column trading.sent_events.traded_at is
  'created_at of the trades: by it the event of a trade is found.';
comment on column trading.sent_events.user_ids is
  'The users of an event for many, market_status and market_settled, ascending; at most 1,000, '
  'after which the next event goes on. balances of market_settled has the same order.';
--! EndIncluded trading/tables/sent_events.sql
--! Included trading/tables/outbox_relay.sql
create table trading.outbox_relay (
  singleton boolean primary key default true,
  sent_through_id bigint not null,
  noted_id bigint not null,
  noted_xid xid8 not null,
  last_event_id bigint not null,
  last_position bigint not null default 0,
  last_sent_at timestamptz not null default '-infinity',
  removed_through_id bigint not null default 0,
  cluster text,
  constraint outbox_relay_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table trading.outbox_relay is
  'One row: how far api.relay_outbox() has come. With it, it skips the entries of sent events, '
  'which stay in the index of trading.outbox until the next vacuum.';
comment on column trading.outbox_relay.sent_through_id is
  'All events of trading.outbox up to this id are sent, and no other can appear there any more.';
comment on column trading.outbox_relay.noted_id is
  'The last id that was given out when noted_xid began: once all transactions before noted_xid '
  'have ended, all events up to this id are visible.';
comment on column trading.outbox_relay.last_event_id is
  'The id of the last event in trading.sent_events, also once that is removed. last_position and '
  'last_sent_at are of the same event.';
comment on column trading.outbox_relay.removed_through_id is
  'The id of the last event that jobs.remove_sent_events() removed.';
comment on column trading.outbox_relay.cluster is
  'The cluster and the timeline of the last event. Another one means that the database was '
  'restored or that a standby was promoted: ids then go on from a far higher number, so that an id '
  'that was given out before and is lost stays unknown.';

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
  'How far the leaderboard has come: one row, which a refresh locks.';
comment on column leaderboard.state.snapshot_at is
  'When it was last complete; null before the first time.';
comment on column leaderboard.state.day is 'The UTC day on which its windows end.';
comment on column leaderboard.state.after_trade_id is
  'Every trade up to this one has been taken, or never will be. Later ones are looked at again '
  'each time, since ids do not commit in order; leaderboard.markets says which of them were taken. '
  'after_conversion_id and after_resolution_id likewise.';
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
  escrow_cents core.amount not null,
  last_void_id bigint not null default 0
) with (fillfactor = 80);

comment on table leaderboard.markets is
  'How far the leaderboard has come in each market. Within a market ids commit in order, since '
  'they are given out under its lock, so all above the last one taken are new.';
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
  '0). Corrections change the day of the first resolution, voids that of what they undo. No '
  'foreign keys, since all of it is derived, and checked by leaderboard.verify().';
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
  'The sums of leaderboard.days over each window, for each user who realised something in it. '
  'Their order by rank is that of the index. No foreign keys: see leaderboard.days.';
comment on column leaderboard.standings.user_public_id is
  'As in identity.users: the last criterion of the rank.';
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
  'above and of the better ones within one band, so no query counts a million standings.';
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
  'it, none of voided markets: twice, under its category and under 0 for all. For the biggest '
  'single win. No foreign keys: see leaderboard.days.';
comment on column leaderboard.wins.day is 'The UTC day of the first resolution.';
--! EndIncluded leaderboard/tables/wins.sql
--! Included leaderboard/tables/profile_changes.sql
create table leaderboard.profile_changes (
  id bigint generated always as identity primary key,
  user_id bigint not null
);

comment on table leaderboard.profile_changes is
  'Users who became private or public, or left or joined the leaderboard, since the last refresh. '
  'Until then readers correct the counts of public traders by these rows. No foreign key: it would '
  'lock the user.';
--! EndIncluded leaderboard/tables/profile_changes.sql
--! Included admin/tables/commands.sql
create table admin.commands (
  command text primary key,
  role text,
  approval text not null default 'never',
  has_amount boolean not null default false,
  personal text[] not null default '{}',
  constraint commands_role_is_one_of_staff
    check (role in ('audit', 'cash', 'incidents', 'markets', 'staff', 'users')),
  constraint commands_need_approval_never_by_rule_or_always
    check (approval in ('never', 'by rule', 'always')),
  constraint commands_that_may_need_approval_have_a_role
    check (approval = 'never' or role is not null),
  constraint commands_have_an_amount_for_the_bound_of_a_rule
    check (approval = 'by rule' or not has_amount)
);

comment on table admin.commands is
  'The functions of schema admin that operators call and the audit log notes, with the role of '
  'staff that each needs.';
comment on column admin.commands.command is 'The function, without its schema.';
comment on column admin.commands.role is 'The role that a member of staff needs; null: any.';
comment on column admin.commands.approval is
  'Whether another member of staff must approve a call: never, by rule (admin.rules), or always.';
comment on column admin.commands.has_amount is
  'Whether a rule may begin at an amount in cents.';
comment on column admin.commands.personal is
  'Those of its arguments that say something about a person: the audit log keeps them apart '
  '(admin.personal_arguments).';

insert into admin.commands (command, role, approval, has_amount) values
  ('add_note', 'users', 'never', false),
  ('adjust_balance', 'cash', 'by rule', true),
  ('answer_dispute', 'markets', 'never', false),
  ('approve', null, 'never', false),
  ('cancel_fee_schedule', 'cash', 'never', false),
  ('cancel_orders', 'incidents', 'never', false),
  ('close_day', 'cash', 'by rule', false),
  ('copy_market', 'markets', 'never', false),
  ('correct_resolution', 'markets', 'by rule', false),
  ('create_api_key', 'users', 'never', false),
  ('create_category', 'markets', 'never', false),
  ('create_event', 'markets', 'never', false),
  ('create_market', 'markets', 'never', false),
  ('create_markets', 'markets', 'never', false),
  ('create_session', 'users', 'never', false),
  ('create_staff', 'staff', 'by rule', false),
  ('create_staff_key', 'staff', 'never', false),
  ('create_user', 'users', 'never', false),
  ('deposit', 'cash', 'by rule', true),
  ('edit_event', 'markets', 'never', false),
  ('edit_market', 'markets', 'never', false),
  ('end_self_exclusion', 'users', 'always', false),
  ('end_sessions', 'users', 'never', false),
  ('erase_user', 'users', 'by rule', false),
  ('export_user', 'users', 'never', false),
  ('freeze_user', 'users', 'never', false),
  ('give_bonus', 'cash', 'by rule', true),
  ('invite_staff', 'staff', 'by rule', false),
  ('invite_user', 'users', 'never', false),
  ('list_api_keys', null, 'never', false),
  ('list_staff_keys', null, 'never', false),
  ('pay_out_fees', 'cash', 'by rule', true),
  ('preview_resolution', null, 'never', false),
  ('propose', null, 'never', false),
  ('publish_proof', 'cash', 'never', false),
  ('reconcile', 'cash', 'never', false),
  ('recover_account', 'users', 'by rule', false),
  ('refresh_leaderboard', 'incidents', 'never', false),
  ('reject', null, 'never', false),
  ('remove_approval_rule', 'staff', 'by rule', false),
  ('remove_staff', 'staff', 'by rule', false),
  ('remove_staff_passkey', 'staff', 'by rule', false),
  ('resolve_market', 'markets', 'by rule', false),
  ('reverse_deposit', 'cash', 'by rule', true),
  ('revoke_api_key', 'users', 'never', false),
  ('revoke_staff_key', 'staff', 'never', false),
  ('rotate_api_key', 'users', 'never', false),
  ('run_due', 'incidents', 'never', false),
  ('self_exclude', 'users', 'never', false),
  ('set_approval_rule', 'staff', 'by rule', false),
  ('set_cash_cap', 'staff', 'by rule', false),
  ('set_dispute_window', 'markets', 'never', false),
  ('set_event_live', 'markets', 'never', false),
  ('set_fee_schedule', 'cash', 'never', false),
  ('set_loss_limits', 'users', 'never', false),
  ('set_market_source', 'markets', 'never', false),
  ('set_market_status', 'markets', 'never', false),
  ('set_minimum_age', 'users', 'by rule', false),
  ('set_profile', 'users', 'never', false),
  ('set_rate_limit', 'incidents', 'never', false),
  ('set_rate_policy', 'users', 'never', false),
  ('set_sign_up', 'users', 'by rule', false),
  ('set_staff_roles', 'staff', 'by rule', false),
  ('set_stream_cap', 'incidents', 'never', false),
  ('set_trading_pause', 'incidents', 'never', false),
  ('sign_in_link', 'users', 'never', false),
  ('statement', null, 'never', false),
  ('unfreeze_user', 'users', 'by rule', false),
  ('user_access', null, 'never', false),
  ('void_market', 'markets', 'by rule', false),
  ('void_trade', 'markets', 'by rule', false),
  ('withdraw', 'cash', 'by rule', true);

update admin.commands as c
set personal = p.arguments
from (
  values
    ('answer_dispute', array['answer']),
    ('create_api_key', array['name', 'allowed_addresses']),
    ('create_user', array['email', 'display_name', 'handle']),
    ('end_self_exclusion', array['reason']),
    ('freeze_user', array['reason']),
    ('invite_user', array['email']),
    ('propose', array['arguments', 'reason']),
    ('recover_account', array['email', 'email_before']),
    ('reject', array['reason']),
    ('set_profile', array['display_name', 'avatar_url']),
    ('unfreeze_user', array['reason'])
) as p (command, arguments)
where c.command = p.command;
--! EndIncluded admin/tables/commands.sql
--! Included admin/tables/rules.sql
create table admin.rules (
  command text primary key references admin.commands (command),
  role text not null,
  from_cents bigint,
  constraint rules_role_is_one_of_staff
    check (role in ('audit', 'cash', 'incidents', 'markets', 'staff', 'users')),
  constraint rules_begin_above_zero check (from_cents > 0)
);

comment on table admin.rules is
  'The commands that another member of staff must approve. A call of such a command holds the '
  'table in mode row share until it has committed, and a change of a rule in mode exclusive: it '
  'waits for those calls, and later ones heed the rule.';
comment on column admin.rules.role is 'Of those who may approve.';
comment on column admin.rules.from_cents is
  'The least amount of a call that needs approval, whatever its sign; null: every call.';
--! EndIncluded admin/tables/rules.sql
--! Included admin/tables/proposed_calls.sql
create table admin.proposed_calls (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  command text not null references admin.commands (command),
  arguments jsonb not null,
  reason text not null,
  proposed_by bigint not null references identity.staff (id),
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  basis jsonb not null,
  preview jsonb,
  is_running boolean not null default false,
  status text not null default 'open',
  decided_by bigint references identity.staff (id),
  decided_at timestamptz,
  rejection text,
  result jsonb,
  constraint proposed_calls_public_id_is_unique unique (public_id),
  constraint proposed_calls_have_a_reason
    check (not core.is_blank(reason) and length(reason) <= 1000),
  constraint proposed_calls_expire_after_they_are_made check (expires_at > proposed_at),
  constraint proposed_calls_are_open_approved_or_rejected
    check (status in ('open', 'approved', 'rejected')),
  constraint proposed_calls_are_open_until_somebody_decides check (
    (status = 'open') = (decided_by is null)
    and (status = 'open') = (decided_at is null)
  ),
  constraint proposed_calls_are_approved_by_another_than_proposed
    check (status <> 'approved' or decided_by <> proposed_by),
  constraint proposed_calls_are_rejected_for_a_reason check (
    (status = 'rejected') = (rejection is not null)
    and (not core.is_blank(rejection) and length(rejection) <= 1000) is not false
  )
);

create index proposed_calls_that_run on admin.proposed_calls (id) where is_running;

comment on table admin.proposed_calls is
  'Calls of functions of schema admin that a member of staff proposed, for another to approve.';
comment on column admin.proposed_calls.basis is
  'What the decision rests on, as admin.basis found it: if that has changed, no approval is '
  'possible.';
comment on column admin.proposed_calls.preview is
  'What the command returned when it was tried and rolled back; null if it returns nothing.';
comment on column admin.proposed_calls.is_running is
  'Whether the command is being tried or carried out now. Only the transaction that does it sees '
  'true, and commits false: so nobody else can pass for it.';
comment on column admin.proposed_calls.result is
  'What the command returned when it was carried out; null if it returns nothing.';
--! EndIncluded admin/tables/proposed_calls.sql
--! Included admin/tables/audit_log.sql
create table admin.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default core.now(),
  operator text not null,
  staff_key text,
  action text not null,
  arguments jsonb not null,
  staff_id bigint references identity.staff (id),
  proposal_id bigint references admin.proposed_calls (id),
  personal_digest bytea
);

create index audit_log_about_a_user on admin.audit_log (
  (coalesce(arguments ->> 'user_id', arguments #>> '{arguments,user_id}')), id
);
create index audit_log_about_a_market on admin.audit_log (
  (coalesce(arguments ->> 'market_id', arguments #>> '{arguments,market_id}')), id
);
create index audit_log_of_a_member on admin.audit_log (staff_id, id) where staff_id is not null;

create trigger audit_log_is_append_only
  before update or delete or truncate on admin.audit_log
  for each statement execute function ledger.refuse_change();

comment on table admin.audit_log is
  'The calls of the functions of schema admin: who, when, which one, with what arguments. Written '
  'in the transaction of the call. Append-only.';
comment on column admin.audit_log.arguments is
  'Without those that are personal: admin.personal_arguments has them.';
comment on column admin.audit_log.personal_digest is
  'SHA-256 of the salt and the text of the personal arguments, which are in '
  'admin.personal_arguments until the person is erased; null: the call has none.';
comment on column admin.audit_log.operator is 'The login that called, not the role it took.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key by which the call was made; null: by none.';
comment on column admin.audit_log.staff_id is
  'The member of staff who called; null: a login or a key of no member of staff.';
comment on column admin.audit_log.proposal_id is
  'The proposal that this call carried out; the caller is who approved it.';
--! EndIncluded admin/tables/audit_log.sql
--! Included admin/tables/personal_arguments.sql
create table admin.personal_arguments (
  audit_id bigint primary key references admin.audit_log (id),
  user_id uuid,
  salt bytea,
  arguments jsonb,
  erased_by bigint references admin.audit_log (id),
  constraint personal_arguments_are_there_or_erased check (
    (erased_by is null) = (salt is not null)
    and (erased_by is null) = (arguments is not null)
  )
);

create index personal_arguments_of_a_user on admin.personal_arguments (user_id);
create index personal_arguments_of_an_address
  on admin.personal_arguments (lower((arguments ->> 'email') collate "C"))
  where user_id is null;

comment on table admin.personal_arguments is
  'The arguments of calls in admin.audit_log that say something about a person. The log has only '
  'their SHA-256 with a random salt: so admin.erase_user can take them away, and the sealed '
  'history stays as it was.';
comment on column admin.personal_arguments.user_id is
  'The user whom they are about: public id; null: none is known.';
comment on column admin.personal_arguments.arguments is
  'As an object by their names; of a proposal, all arguments of the proposed command.';
comment on column admin.personal_arguments.erased_by is
  'The call of admin.erase_user that took salt and arguments away; null: they are there.';
--! EndIncluded admin/tables/personal_arguments.sql
--! Included admin/tables/bank_comparisons.sql
create table admin.bank_comparisons (
  day date primary key,
  at timestamptz not null,
  bank_entries int not null,
  differences jsonb not null
);

comment on table admin.bank_comparisons is
  'The last comparison of each UTC day with the entries of the bank: what admin.close_day takes '
  'over.';
comment on column admin.bank_comparisons.differences is
  'As admin.reconcile returned them: an array of objects.';
--! EndIncluded admin/tables/bank_comparisons.sql
--! Included admin/tables/user_notes.sql
create table admin.user_notes (
  id bigint generated always as identity primary key,
  user_id bigint not null references identity.users (id),
  at timestamptz not null,
  staff_id bigint references identity.staff (id),
  operator text not null,
  note text not null,
  constraint user_notes_are_not_blank check (not core.is_blank(note) and length(note) <= 4000)
);

create index user_notes_of_a_user on admin.user_notes (user_id, id);

comment on table admin.user_notes is
  'What staff wrote about users, for other staff. The audit log does not repeat the words: they '
  'are personal data.';
comment on column admin.user_notes.staff_id is
  'Who wrote it; null: a login or a key of no member of staff.';
comment on column admin.user_notes.operator is 'The login that called.';
--! EndIncluded admin/tables/user_notes.sql
--! Included admin/tables/caps.sql
create table admin.caps (
  kind ledger.journal_kind primary key,
  per_call_cents bigint,
  per_day_cents bigint,
  constraint caps_of_a_call_are_not_below_zero check (per_call_cents >= 0),
  constraint caps_of_a_day_are_not_below_zero check (per_day_cents >= 0)
);

comment on table admin.caps is
  'How much cash one member of staff, login or key may move, by the kind of the movement.';
comment on column admin.caps.per_call_cents is 'By one call; null: no cap.';
comment on column admin.caps.per_day_cents is 'By all calls of a day (UTC); null: no cap.';

insert into admin.caps (kind)
values ('deposit'), ('withdrawal'), ('bonus'), ('adjustment'), ('reversal'), ('fee_payout');
--! EndIncluded admin/tables/caps.sql
--! Included admin/tables/moved_cash.sql
create table admin.moved_cash (
  kind ledger.journal_kind,
  mover text,
  day date,
  moved_cents numeric not null,
  primary key (kind, mover, day)
);

comment on table admin.moved_cash is
  'How much cash each member of staff, login or key has moved on each day (UTC), by the kind of '
  'the movement: what admin.count_cash compares with the caps. Kept for good: a clock that was '
  'ahead takes away nothing.';
comment on column admin.moved_cash.mover is
  'The public id of the member of staff, else login and name of the key.';
--! EndIncluded admin/tables/moved_cash.sql

reset role;
--! EndIncluded tables.sql
