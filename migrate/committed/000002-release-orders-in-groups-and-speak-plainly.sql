--! Previous: sha1:bdba9c1e6234d650133670a090ebc3f643d1edf5
--! Hash: sha1:486cfef6148e1baab54b4f65b125b2f295c81cc3
--! Message: Release orders in groups, and speak plainly

set local lock_timeout = '2s';
set local role exchange_owner;

-- The result of these changes its type.
drop function leaderboard.take_facts(leaderboard.state, int);

--! Included core/functions/raise_violation.sql
create or replace function core.raise_violation(constraint_name text, column_name text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error('INVALID_REQUEST', case raise_violation.constraint_name
    when '' then 'A value is required for ' || replace(raise_violation.column_name, '_', ' ')
    when 'categories_slug_is_url_safe' then
      'The slug must have from 1 to 60 characters: lower-case letters, digits and single hyphens '
      'between them; "all" is reserved'
    when 'categories_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'events_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'events_end_after_their_start' then 'The event must end after it starts'
    when 'events_start_and_end_at_a_moment_or_at_none' then
      'The start and the end of the event must not be infinite; null leaves them open'
    when 'events_live_delay_is_sane' then 'The live delay must be from 0 to 60000 milliseconds'
    when 'markets_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'users_email_looks_like_one' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'users_display_name_is_not_blank' then
      'The display name must not be blank or longer than 100 characters'
    when 'users_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'api_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_role_is_analyst_or_operator' then 'The role must be analyst or operator'
    when 'rate_is_from_1_to_1000000' then
      'The requests per minute and the burst capacity must each be from 1 to 1000000'
    when 'max_requests_is_from_1_to_1000000000' then 'The maximum must be from 1 to 1000000000'
    when 'window_seconds_is_from_1_to_86400' then
      'The window must be from 1 to 86400 seconds long'
    else 'A value breaks the rule ' || raise_violation.constraint_name
  end);
end
$$;

comment on function core.raise_violation(text, text) is
  'Raises INVALID_REQUEST for a value that breaks a check constraint, or, with an empty '
  'constraint_name, for a column that must not be null. The message says what the rule is.';
--! EndIncluded core/functions/raise_violation.sql
--! Included core/functions/raise_unfit_session.sql
create or replace function core.raise_unfit_session()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform core.raise_error('UNFIT_SESSION', format(
      'The transaction isolation is %s; the exchange needs read committed',
      current_setting('transaction_isolation')
    ));
  end if;
  perform core.raise_error('UNFIT_SESSION', format(
    'The session_replication_role is %s; the exchange needs origin',
    current_setting('session_replication_role')
  ));
  return 0;
end
$$;

comment on function core.raise_unfit_session() is
  'Raises UNFIT_SESSION and says which setting of the session is at fault.';
--! EndIncluded core/functions/raise_unfit_session.sql
--! Included core/functions/check_session.sql
-- Under a higher isolation a command reads a snapshot that is older than the lock that it waited
-- for. Under another replication role no trigger and no foreign key is checked.
create or replace function core.check_session()
returns bigint
language sql stable
return case
  when current_setting('transaction_isolation') = 'read committed'
    and current_setting('session_replication_role') = 'origin' then 0
  else core.raise_unfit_session()
end;

comment on function core.check_session() is
  'Returns 0, or raises UNFIT_SESSION if a setting of the session would let a command compute a '
  'wrong result. Called by everything that takes a lock.';
--! EndIncluded core/functions/check_session.sql
--! Included core/functions/half_up.sql
create or replace function core.half_up(numerator bigint, denominator bigint)
returns bigint
language sql immutable parallel safe
return (2 * numerator + denominator) / (2 * denominator); -- mutant: half_down

comment on function core.half_up(bigint, bigint) is
  'numerator / denominator rounded half up, for numerator >= 0 and denominator > 0.';
--! EndIncluded core/functions/half_up.sql
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
  'Whether a table exists and the caller may read it. For tables of other tools (graphile-migrate, '
  'graphile-worker), which an installation may lack.';
--! EndIncluded core/functions/can_read.sql
--! Included core/functions/all_ended_before.sql
create or replace function core.all_ended_before(xid xid8)
returns boolean
language sql stable parallel safe
return xid <= pg_snapshot_xmin(pg_current_snapshot())
  -- A number of the future is of the cluster that this database was restored from.
  or xid > pg_snapshot_xmax(pg_current_snapshot());

comment on function core.all_ended_before(xid8) is
  'Whether all transactions with lower numbers have ended, in the snapshot of the current '
  'statement: from then on all that they wrote is visible. Null for null.';
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
--! Included ledger/views/accounts.sql
create or replace view ledger.accounts as
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
create or replace view ledger.journals as
select j.id, j.kind, j.market_id, j.created_at
from ledger.posted_journals as j
union all
select t.id, 'trade', t.market_id, t.created_at
from trading.trades as t;

comment on view ledger.journals is
  'One row for each movement of cash; its lines are ledger.entries. A trade is its own journal, '
  'with the same id.';
comment on column ledger.journals.id is
  'From the sequence ledger.journal_ids; of a trade the id of the trade.';
comment on column ledger.journals.kind is 'Why cash moved.';
comment on column ledger.journals.market_id is 'Null for deposits and withdrawals.';
comment on column ledger.journals.created_at is 'When it happened.';
--! EndIncluded ledger/views/journals.sql
--! Included ledger/views/entries.sql
create or replace view ledger.entries as
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
  'EUR-cents added to the account; negative if they were taken from it. Never 0.';
comment on column ledger.entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column ledger.entries.balance_after_cents is 'The account''s balance after it.';
comment on column ledger.entries.account_version is
  'The line''s number among those of the account, from 1.';
--! EndIncluded ledger/views/entries.sql
--! Included trading/views/positions.sql
create or replace view trading.positions as
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
create or replace view trading.book_levels as
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
    perform core.raise_error('NOT_FOUND', format('There is no category %s', category_id.slug));
  end if;
  return v_id;
end
$$;

comment on function catalog.category_id(text) is
  'The key of a category by its slug. Errors: NOT_FOUND.';
--! EndIncluded catalog/functions/category_id.sql
--! Included catalog/functions/market_id.sql
create or replace function catalog.market_id(market_id uuid)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  select m.id into v_id
  from catalog.markets as m
  where m.public_id = market_id.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no market %s', coalesce(market_id.market_id::text, 'null')
    ));
  end if;
  return v_id;
end
$$;

comment on function catalog.market_id(uuid) is
  'The key of a market by its public id. Errors: NOT_FOUND.';
--! EndIncluded catalog/functions/market_id.sql
--! Included catalog/functions/check_close_time.sql
create or replace function catalog.check_close_time(close_time timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if check_close_time.close_time = 'infinity' then
    perform core.raise_error(
      'INVALID_REQUEST', 'The close time must not be infinity; null means that there is none'
    );
  elsif check_close_time.close_time <= core.now() then
    perform core.raise_error('INVALID_REQUEST', format(
      'The close time must be in the future, and %s is not', check_close_time.close_time
    ));
  end if;
end
$$;

comment on function catalog.check_close_time(timestamptz) is
  'Checks a close time that an operator gives to a market; null is none. Errors: INVALID_REQUEST.';
--! EndIncluded catalog/functions/check_close_time.sql
--! Included identity/functions/user_id.sql
create or replace function identity.user_id(user_id uuid)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  select u.id into v_id
  from identity.users as u
  where u.public_id = user_id.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no user %s', coalesce(user_id.user_id::text, 'null')
    ));
  end if;
  return v_id;
end
$$;

comment on function identity.user_id(uuid) is
  'The key of a user by its public id. Errors: NOT_FOUND.';
--! EndIncluded identity/functions/user_id.sql
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
  for no key update; -- mutant: user_not_locked
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no user %s', lock_user.user_id));
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
  '(43 characters), and the CRC-32 of all that in base62 (6 characters), which shows without a '
  'look-up that a text is no key.';
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
  events as (
    insert into trading.outbox (channel, payload)
    select 'session_ended', json_build_object('sessionId', e.public_id)
    from ended as e
    returning id
  )
  select count(*) from events
$$;

comment on function identity.end_sessions(bigint[]) is
  'Ends sessions and their tokens, and writes a session_ended event for the servers. Returns how '
  'many there were. Locks: their rows.';
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

  -- An account's id modulo 4 is its kind, and its id divided by 4 the key of the row that has it.
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
      m.balance_cents, m.balance_cents + m.amount_cents, m.version + 1 -- mutant: line_with_a_wrong_balance
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
      escrow_cents = s.escrow_cents + m.escrow_cents, -- mutant: escrow_left_behind
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
      when post_journal.kind = 'correction' then greatest(0, -(u.balance_cents + u.amount_cents)) -- mutant: correction_takes_no_debt
      else least(t.overdraft_cents, greatest(0, -(u.balance_cents + u.amount_cents)))
    end,
    moved_on = greatest(u.moved_on, v_today) -- mutant: day_opened_again
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
  'may be long: each statement works on the whole set. Only a correction may take a user below '
  'zero. The caller has locked the accounts. Trades do not use it: a trade is its own journal. '
  'Error: INVALID_STATE when the amounts do not sum to zero, as when an account does not exist.';
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
    perform core.raise_error('INVALID_REQUEST', 'The amount must be above 0');
  end if;
  if move_cash.amount_cents > 1000000000000000 then
    perform core.raise_error(
      'INVALID_REQUEST', 'The amount must be at most 10,000,000,000,000.00 EUR'
    );
  end if;
  if coalesce(move_cash.reference, '') !~ '[^[:space:]]' or length(move_cash.reference) > 200 then
    perform core.raise_error(
      'INVALID_REQUEST', 'A reference of at most 200 characters is required'
    );
  end if;

  -- The outside world goes before all users, so that no two movements wait for each other.
  perform
  from ledger.outside_world as w
  for no key update;

  select t.* into v_trader
  from trading.traders as t
  where t.public_id = move_cash.user_id
  for no key update; -- mutant: cash_moved_without_lock
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no user %s', move_cash.user_id));
  end if;

  select m.amount_cents into v_moved_cents
  from ledger.cash_movements as m
  where m.user_id = v_trader.user_id -- mutant: reference_of_everybody
    and m.kind = move_cash.kind
    and m.reference = move_cash.reference;
  if found then
    if v_moved_cents <> move_cash.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'The reference %L is already used for a %s of %s cents',
        move_cash.reference, move_cash.kind, v_moved_cents
      ));
    end if;
    return v_trader.balance_cents;
  end if;

  if move_cash.kind = 'withdrawal' and v_trader.frozen_at is not null then -- mutant: frozen_may_withdraw
    perform core.raise_error(
      'ACCOUNT_FROZEN', 'The account is frozen: deposits are possible, withdrawals are not'
    );
  end if;

  v_signed_cents := case move_cash.kind
    when 'deposit' then move_cash.amount_cents
    else -move_cash.amount_cents
  end;
  if v_signed_cents < 0 and v_trader.balance_cents + v_signed_cents < 0 then
    perform core.raise_error('INSUFFICIENT_BALANCE', format(
      'The balance is only %s cents', v_trader.balance_cents
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
  set external_cents = t.external_cents + v_signed_cents -- mutant: withdrawal_raises_external_cash
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
--! Included risk/functions/blocked_by.sql
create or replace function risk.blocked_by(trader trading.traders, at timestamptz)
returns text
language sql immutable parallel safe
return case
  when (trader).excluded_until > blocked_by.at then 'SELF_EXCLUDED' -- mutant: excluded
  when (trader).frozen_at is not null then 'ACCOUNT_FROZEN'
  when (trader).limits_reviewed_at is null then 'LIMITS_SETUP_REQUIRED'
end;

comment on function risk.blocked_by(trading.traders, timestamptz) is
  'Why a trader may not trade at a time, as a code, the first in order of precedence; null when '
  'the trader may.';
--! EndIncluded risk/functions/blocked_by.sql
--! Included risk/functions/limits_in_force.sql
create or replace function risk.limits_in_force(trader trading.traders, at timestamptz)
returns risk.loss_limits
language sql immutable parallel safe
return row(
  case when at >= (trader).day_limit_changes_at -- mutant: raise_a_moment_late
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
      and o.day >= net_spent_since.day -- mutant: window_from_the_day_after
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
    greatest(0, (untraded).day_cents - balance_cents) + cost_cents > (limits).day_cents, false -- mutant: day_limit
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
  inout limit_cents bigint,
  inout next_limit_cents bigint,
  inout changes_at timestamptz,
  wanted_cents bigint,
  immediate boolean,
  at timestamptz
)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := '24 hours'; -- mutant: raise_at_once
  v_in_force_cents constant bigint := case
    when change_limit.at >= changes_at then next_limit_cents
    else limit_cents
  end;
  v_is_raise constant boolean := v_in_force_cents is not null
    and (wanted_cents is null or wanted_cents > v_in_force_cents);
  v_is_waiting constant boolean := coalesce(changes_at > change_limit.at, false)
    and next_limit_cents is not distinct from wanted_cents;
begin
  if immediate or not v_is_raise then
    limit_cents := wanted_cents;
    next_limit_cents := null;
    changes_at := null;
  elsif not v_is_waiting then
    limit_cents := v_in_force_cents;
    next_limit_cents := wanted_cents;
    changes_at := change_limit.at + c_delay;
  end if;
end
$$;

comment on function risk.change_limit(
  bigint, bigint, timestamptz, bigint, boolean, timestamptz
) is
  'A loss limit after a change to it: limit_cents holds, and next_limit_cents from changes_at on, '
  'if that is set. A lower limit holds at once; a higher one, or none (null), after 24 hours, '
  'unless immediate. Asking again for the change that is waiting does not restart the wait.';
--! EndIncluded risk/functions/change_limit.sql
--! Included rate_limits/functions/standard_policy.sql
create or replace function rate_limits.standard_policy()
returns rate_limits.policy
language sql immutable parallel safe
return row('standard', 120, 10, null)::rate_limits.policy;

comment on function rate_limits.standard_policy() is
  'The policy of all users without one of their own in force: 120 trading requests a minute, and '
  '10 back to back. It does not expire.';
--! EndIncluded rate_limits/functions/standard_policy.sql
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
  'The counters that the requests given to api.take_requests use, and how often.';
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
  on conflict on constraint windows_pkey do update set taken = w.taken where false; -- mutant: counters_not_locked

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
  v_spent := greatest(v_spent - v_rate * v_microseconds, 0); -- mutant: bucket_refills_twice_as_fast
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
  'The state of a user''s token bucket at this time: spent tokens have come back at the rate of '
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
  'The state of the locked counters at this time; null for an unknown bucket.';
--! EndIncluded rate_limits/functions/read_counters.sql
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
  -- The request that has to leave the window, by its number. One that this very call allows
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
  'After how many seconds a counter has room for so many requests, counted from its present state: '
  'those that the same call allows are among them. Call it only if the counter has less room.';
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
  'Records how many requests each of the locked counters allowed at this time. Once in a window it '
  'also removes the grants that have left it.';
--! EndIncluded rate_limits/functions/record_grants.sql
--! Included trading/functions/lock_market.sql
create or replace function trading.lock_market(market_id bigint)
returns void
language sql volatile
return pg_advisory_xact_lock((29037::bigint << 44) | market_id | core.check_session()); -- mutant: market_lock_shared

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
  'Locks markets until the transaction ends, one after the other. The ids must be ascending.';
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
    if v_market_id is null or pg_try_advisory_xact_lock((29037::bigint << 44) | v_market_id) then -- mutant: free_market_lock
      v_locked := v_locked || v_market_id;
    end if;
  end loop;
  return v_locked;
end
$$;

comment on function trading.lock_free_markets(bigint[]) is
  'Locks those of the markets that no other transaction has locked, until this one ends; returns '
  'their ids in the order given, with nulls kept.';
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
  if pg_try_advisory_xact_lock((29037::bigint << 44) | try_lock_market.market_id) then -- mutant: release_without_lock
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
  'waits: wait 250 ms for it, for markets that are never free for long. For jobs, which do what '
  'they can and repeat the rest.';
--! EndIncluded trading/functions/try_lock_market.sql
--! Included trading/functions/fee_cents.sql
create or replace function trading.fee_cents(rate_bps int, weight bigint)
returns bigint
language sql immutable parallel safe
return (rate_bps * weight + 999999) / 1000000; -- mutant: fee_rounded_down

comment on function trading.fee_cents(int, bigint) is
  'Fee of an order: rate_bps x weight / 1000000 cents rounded up, weight being the sum over its '
  'fills of quantity x p x (100 - p).';
--! EndIncluded trading/functions/fee_cents.sql
--! Included trading/functions/trader_rejection.sql
create or replace function trading.trader_rejection(
  site_paused boolean, known boolean, blocked_by text
)
returns text
language sql immutable parallel safe
return case
  when site_paused then 'TRADING_PAUSED' -- mutant: exclusion_before_pause
  when not known then 'UNAUTHORIZED'
  else blocked_by
end;

comment on function trading.trader_rejection(boolean, boolean, text) is
  'Why a trader may not place anything new, in order of precedence; null when the trader may. '
  'known: the user exists; blocked_by: see risk.blocked_by.';
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
  when (request).order_id is null and (request).expires_at <= (context).at -- mutant: past_expiry
    then 'INVALID_REQUEST' -- mutant: past_expiry
  else coalesce(
    trading.trader_rejection((context).site_paused, known, blocked_by),
    case
      when (context).market_id is null then 'MARKET_NOT_FOUND'
      when not (context).is_open then 'MARKET_NOT_OPEN'
      when (request).expires_at <= (context).at then 'INVALID_REQUEST' -- mutant: released_at_its_expiry
    end
  )
end;

comment on function trading.request_rejection(
  trading.order_request, trading.market_context, boolean, text
) is
  'Why a request is rejected before the book is read, in order of precedence; null when it is not. '
  'An expiry in the past is a fault of a new request, and comes first. A scheduled order that is '
  'released (order_id) may have expired since, which comes last: so its reason is the same whether '
  'a late release or a late closing of the market comes first. known: its user exists; blocked_by: '
  'see risk.blocked_by.';
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
  when required_cents > balance_cents then 'INSUFFICIENT_BALANCE' -- mutant: limit_before_balance
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
        and s.effective_from <= fee_in_force.at -- mutant: category_fee_before_its_date
      order by s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id is null
        and s.effective_from <= fee_in_force.at -- mutant: fee_before_its_date
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
    + trading.fee_cents(taker_rate_bps, quantity::bigint * price * (100 - price)) -- mutant: scheduled_without_fee
end;

comment on function trading.scheduled_cost_cents(trading.order_type, int, int, int, int) is
  'The most that a scheduled order could cost, in cents: its budget, or all of it at its price '
  '(99 for a market buy) with the fee.';
--! EndIncluded trading/functions/scheduled_cost_cents.sql
--! Included trading/functions/active_order_cost_cents.sql
create or replace function trading.active_order_cost_cents(
  open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
return case
  when (open_order).order_type = 'sell' or (open_order).expires_at <= at then 0 -- mutant: expired_order_counts
  when (open_order).queue_position is not null
    then (open_order).left_quantity::bigint * (open_order).book_price
  else trading.scheduled_order_cost_cents((open_order).order_id, at)
end;

comment on function trading.active_order_cost_cents(trading.active_orders, timestamptz) is
  'What an open order could still cost, in cents: a resting buy what is left of it at its price, '
  'a scheduled one its worst case. Nothing once it has expired.';
--! EndIncluded trading/functions/active_order_cost_cents.sql
--! Included trading/functions/best_in_depth.sql
create or replace function trading.best_in_depth(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c_base constant int := case best_in_depth.book_side when 'yes' then 0 else 99 end; -- mutant: best_price_of_the_other_side
begin
  for p in reverse best_in_depth.from_price .. 1 loop -- mutant: best_price_one_below
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
    best_yes_price = v_best_yes_price, -- mutant: best_price_left_behind
    first_yes_position = case
      when v_best_yes_price = s.best_yes_price then s.first_yes_position else 0
    end,
    best_no_price = v_best_no_price,
    first_no_position = case
      when v_best_no_price = s.best_no_price then s.first_no_position else 0 -- mutant: first_position_of_another_price
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
  'moves its best prices down to what is left. counted: raise the version of the market by one, '
  'with a market_changed event. The caller holds the market''s lock.';
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
        m.status = 'open' and (m.close_time is null or m.close_time > read_markets.at), -- mutant: market_open_a_moment_longer
        (
          select e.live_delay_ms
          from catalog.events as e
          where e.id = m.event_id
            and e.live
            and (e.starts_at is null or e.starts_at <= read_markets.at)
            and (e.ends_at is null or e.ends_at > read_markets.at) -- mutant: live_a_moment_longer
        ),
        f.taker_rate_bps, f.id, s.escrow_cents, s.escrow_version, s.revenue_cents,
        s.revenue_version, s.best_yes_price, s.first_yes_position, s.best_no_price,
        s.first_no_position
      )::trading.market_context
      order by u.place
    )
    from unnest(read_markets.market_ids) with ordinality as u (id, place)
    cross join core.settings as x
    left join catalog.markets as m on m.id = u.id
    left join trading.market_state as s on s.market_id = u.id
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
      when r.order_type = 'sell' and r.quantity is null then 'quantity: required for a sell'
      when r.quantity is not null and r.budget_cents is not null
        then 'budgetCents: excludes quantity'
      when r.quantity is null and r.budget_cents is null
        then 'quantity: required without budgetCents'
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
    v_request.market := array_position(market_ids, v_request.market_id); -- mutant: places_beside_a_busy_market
    if v_request.market is not null then
      v_kept := v_kept || v_request;
    end if;
  end loop;
  return v_kept;
end
$$;

comment on function trading.requests_of_markets(trading.order_request[], bigint[]) is
  'Those of the requests that are for certain markets, with their places among these.';
--! EndIncluded trading/functions/requests_of_markets.sql
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
        and x.created_at > read_replays.at - interval '24 hours' -- mutant: key_age
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
--! EndIncluded trading/functions/read_replays.sql
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
          k.queue_position, k.left_quantity, k.available = 0 -- mutant: best_queue_forgets_expiry
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
        end >= 100 -- mutant: touching_prices_not_read
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
          order by x.queue_position -- mutant: queue_reversed
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
            k.book_price, k.queue_position, k.left_quantity, coalesce(k.expires_at <= k.at, false) -- mutant: maker_lives_a_moment_longer
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
  order by t.user_id -- mutant: traders_locked_from_above
  for no key update; -- mutant: traders_not_locked
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
  for no key update nowait; -- mutant: later_makers_waited_for
end
$$;

comment on function trading.lock_more_traders(bigint[]) is
  'Locks users when others are locked already. Waiting could deadlock, so a user who is locked '
  'elsewhere is an error (lock_not_available): the caller''s transaction must be repeated.';
--! EndIncluded trading/functions/lock_more_traders.sql
--! Included trading/functions/holding_key.sql
create or replace function trading.holding_key(market int, trader int)
returns bigint
language sql immutable parallel safe
return market * 1000000::bigint + trader; -- mutant: shares_of_another_market

comment on function trading.holding_key(int, int) is
  'The key in trading.holding_arrays of the places of a market and a trader.';
--! EndIncluded trading/functions/holding_key.sql
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
    array_agg(t.limits order by t.place), -- mutant: limits_of_others
    array_agg(
      (
        t.balance_cents + risk.net_spent_since(t.trader, v_today),
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 6), -- mutant: week_of_eight_days
        t.balance_cents + risk.net_spent_since(t.trader, v_today - 29) -- mutant: month_of_29_days
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
  2 * (request).market - ((request).book_side = 'no')::int, -- mutant: book_of_another_market
  (request).book_price,
  100 - (request).book_price, -- mutant: touching_prices_miss
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
          else min(q.ordinality) over (partition by q.user_id, q.idempotency_key) -- mutant: key_of_everybody
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
    cross join lateral (select batch.markets[r.market] as context offset 0) as c -- mutant: fee_of_another_market
  );
end
$$;

comment on function trading.read_request_arrays(
  trading.matched_batch, trading.book_slice, boolean
) is
  'The requests of a batch as matching reads them, once its markets, books, traders and holdings '
  'are read. has_keys: some request has an idempotency key.';
--! EndIncluded trading/functions/read_request_arrays.sql
--! Included trading/functions/affordable_quantity.sql
create or replace function trading.affordable_quantity(
  budget_cents int, spent_cents bigint, rate_bps int, weight bigint, price int
)
returns bigint
language sql immutable parallel safe
return ((budget_cents - spent_cents) * 1000000 - rate_bps * weight) -- mutant: budget_forgets_its_fee
  / (price * 1000000::bigint + rate_bps * price * (100 - price));

comment on function trading.affordable_quantity(int, bigint, int, bigint, int) is
  'The most shares n at a price with spent + n x price + fee(weight + n x price x (100 - price)) '
  'within the budget, fee by trading.fee_cents; spent and weight are of the fills before.';
--! EndIncluded trading/functions/affordable_quantity.sql
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
    v_result.left_quantity := (cancelled[-v_left]).left_quantity; -- mutant: replay_of_the_dead
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
  'The result of a request in a live market: it is judged by its worst case '
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
    if replays is not null and not r.is_malformed then -- mutant: replay_after_the_gates
      j := v_for_key[(batch.request_arrays).twins[i]];
      if replays[i] is not null or (j < i and (v_results[j]).code is null) then -- mutant: key_of_a_refusal
        v_results[i] := trading.replayed_result(
          j, v_results[j], replays[i], (batch.maker_arrays).order_ids, k_left, v_cancelled,
          t_balance[t]
        );
        continue next_request;
      end if;
      v_for_key[(batch.request_arrays).twins[i]] := i; -- mutant: key_of_the_first_refusal
    end if;
    if r.code is not null then
      v_results[i] := trading.order_rejected(r.code);
      continue next_request;
    end if;

    -- 2. A live market takes the order now and judges it against the book when it is released.
    t_open_cost[t] := t_open_cost[t] - r.relieved_cents; -- mutant: replaced_order_counts
    if r.scheduled_cost_cents is not null then -- mutant: replaced_schedule_counts
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
          v_code := 'SELF_TRADE_BLOCKED'; -- mutant: self_trade
          exit;
        else
          v_reason := trading.maker_cancel_reason(
            n, n * k_cents[k], h_quantity[k_shares[k]], t_balance[m], t_excluded[m], -- mutant: maker_judged_by_the_whole_order
            t_limited[m], limits.limits[m], limits.untraded[m]
          );
        end if;
        if v_reason is not null then -- mutant: dead_maker
          v_code := case when v_cleared_count = most_cleared then 'CONFLICT_RETRY' end;
          exit when v_code is not null;
          v_cancelled_count := v_cancelled_count + 1;
          v_is_starved[v_cancelled_count] := v_reason <> 'expired' and t_traded_with[m] = i; -- mutant: starved_makers_cleared
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
          i, k, n, trading.fee_cents(r.taker_rate_bps, v_weight) - v_fee -- mutant: fee_rounded_for_each_fill
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
        when r.is_post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS' -- mutant: post_only_blocked_by_the_dead
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
          k_left[j] := k_left[j] + n; -- mutant: met_quantity_not_given_back
          t_balance[m] := t_balance[m] - n * k_cents[j]; -- mutant: planned_cash_not_given_back
          h_quantity[k_shares[j]] := h_quantity[k_shares[j]] - n * k_gain[j]; -- mutant: planned_shares_not_given_back
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
        t_balance[t] := t_balance[t] - v_spent - v_fee -- mutant: answered_without_the_fee
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
        if coalesce(k_price[b_first[r.book]], 0) < r.book_price then -- mutant: queue_lost_in_a_batch
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
      perform trading.lock_traders(v_user_ids); -- mutant: makers_before_the_taker
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
        x.market, x.market_id, m_public_ids[x.market], x.user_id, t_public_ids[x.trader], x.side, -- mutant: order_names_another_market
        x.order_type, x.price, x.book_side, x.book_price, x.budget_cents, x.time_in_force,
        x.post_only, x.expires_at, x.idempotency_key, x.problem, x.order_id is not null,
        case when x.status = 'scheduled'
          then batch.at + m_delay[x.market] * interval '1 millisecond' end, -- mutant: delay_of_another_market
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
    v_price := 100 - v_maker_price; -- mutant: improvement_kept
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
      v_trade.taker_cents := n * v_maker_price - v_fill.fee_cents; -- mutant: seller_spared_the_fee
      v_trade.taker_realised_cents := v_trade.taker_cents - v_cost_out - v_fees_out; -- mutant: buy_fees_forgotten
      s_realised[s] := s_realised[s] + v_trade.taker_realised_cents;
    end if;
    s_touched[s] := true;
    if v_trade.taker_cents <> 0 then -- mutant: empty_taker_leg_counted
      t_balance[t] := t_balance[t] + v_trade.taker_cents;
      t_version[t] := t_version[t] + 1;
    end if;
    v_trade.taker_balance_cents := t_balance[t];
    v_trade.taker_version := t_version[t];

    -- The maker's.
    if v_maker_buys then
      s_quantity[g] := s_quantity[g] + n;
      s_cost[g] := s_cost[g] + n * v_maker_price;
      v_trade.maker_cents := -(n * v_maker_price); -- mutant: improvement_to_the_maker
      v_trade.maker_realised_cents := null;
    else
      v_cost_out := core.half_up(s_cost[g] * n, s_quantity[g]);
      v_fees_out := core.half_up(s_fee[g] * n, s_quantity[g]);
      s_quantity[g] := s_quantity[g] - n;
      s_cost[g] := s_cost[g] - v_cost_out; -- mutant: maker_keeps_cost
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
    if v_escrow_cents <> 0 then -- mutant: escrow_leg
      m_escrow[j] := m_escrow[j] + v_escrow_cents; -- mutant: escrow_of_another_market
      m_escrow_version[j] := m_escrow_version[j] + 1;
    end if;
    if v_fill.fee_cents > 0 then -- mutant: empty_fee_leg_counted
      m_revenue[j] := m_revenue[j] + v_fill.fee_cents; -- mutant: revenue_of_another_market
      m_revenue_version[j] := m_revenue_version[j] + 1;
    end if;
    v_trade.escrow_balance_cents := m_escrow[j];
    v_trade.escrow_version := m_escrow_version[j];
    v_trade.revenue_balance_cents := m_revenue[j];
    v_trade.revenue_version := m_revenue_version[j];
    v_trades[f] := v_trade;

    m_last_price[j] := v_trade.price; -- mutant: price_of_another_market
    m_yes_volume[j] := m_yes_volume[j] + n * v_trade.price;
    m_no_volume[j] := m_no_volume[j] + n * (100 - v_trade.price); -- mutant: volume_of_one_side
    m_trade_count[j] := m_trade_count[j] + 1;

    if not h_has_traded[(s + 1) / 2] then -- mutant: taker_counted_twice
      h_has_traded[(s + 1) / 2] := true;
      m_new_traders[j] := m_new_traders[j] + 1;
    end if;
    if not h_has_traded[(g + 1) / 2] then -- mutant: maker_not_counted
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
        and v_left[width_bucket(b.order_id, v_ids)] <= 0 -- mutant: dead_maker_kept
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
      when o.was_scheduled then nextval('trading.orders_id_seq') -- mutant: released_to_the_front
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
  when first_left is not null then first_left -- mutant: first_position_runs_ahead
  when best = best_before then greatest(position_before, last_gone + 1) -- mutant: first_position_kept_at_another_price
  else 0
end;

comment on function trading.first_position(bigint, int, int, bigint, bigint) is
  'A queue position of a side, after a batch, with no resting order of the best price before it. '
  'first_left is the first of the orders there that the batch read and left, last_gone the last '
  'one that it took away.';
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
        (v_order.status <> 'scheduled')::int, (not v_order.was_scheduled)::int, -- mutant: single_order_changes
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
          o.id is not null and o.status <> 'scheduled' -- mutant: schedule_raises_version
          or o.code is not null and o.place = any (v_emptied) -- mutant: cleared_book_unannounced
        )::int as changes,
        (o.id is not null and not o.was_scheduled)::int as placed, -- mutant: released_order_counted_again
        case when not o.was_scheduled then o.id end as id
      from unnest(market_changes.orders) with ordinality as o (
        market, market_id, market_public_id, user_id, user_public_id, side, order_type, price,
        book_side, book_price, budget_cents, time_in_force, post_only, expires_at,
        idempotency_key, problem, was_scheduled, release_at, id, public_id, code, replay_of,
        replayed_order_id, status, quantity, left_quantity, cancel_reason, fee_cents,
        balance_cents, end_status, end_left_quantity, end_cancel_reason, place
      )
      where o.id is not null or o.code is not null and o.place = any (v_emptied)
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
      having sum(l.changes) > 0 or sum(l.placed) > 0 -- mutant: scheduled_order_not_counted
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
  v_change trading.market_change;
  v_old trading.market_state;
  v_depth bigint[];
  v_best_yes int;
  v_best_no int;
  v_payloads json[];
  n int; -- place of the market
begin
  foreach v_change in array coalesce(
    trading.market_changes(batch, write_market_state.orders), '{}'
  ) loop
    n := v_change.market;
    select s.* into strict v_old
    from trading.market_state as s
    where s.market_id = m_ids[n];
    v_depth := trading.changed_depth(v_old.depth, v_change.places, v_change.depth_changes);
    v_best_yes := trading.best_after(
      v_depth, 'yes', greatest(v_old.best_yes_price, v_change.highest_yes) -- mutant: best_price_not_raised
    );
    v_best_no := trading.best_after(
      v_depth, 'no', greatest(v_old.best_no_price, v_change.highest_no)
    );
    update trading.market_state as s set
      version = s.version + v_change.changes, -- mutant: version_once_a_batch
      placed_count = s.placed_count + v_change.placed, -- mutant: batch_not_counted
      placed_id_sum = s.placed_id_sum + v_change.id_sum, -- mutant: order_not_counted
      last_trade_price = coalesce(accounted.last_trade_prices[n], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(accounted.yes_volumes_cents[n], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[n], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[n], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[n], 0),
      escrow_cents = coalesce(accounted.escrows_cents[n], s.escrow_cents), -- mutant: escrow_written_to_another
      escrow_version = coalesce(accounted.escrow_versions[n], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[n], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[n], s.revenue_version),
      depth = v_depth,
      best_yes_price = v_best_yes,
      best_no_price = v_best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, v_best_yes,
        v_change.first_left[array_position(v_change.places, v_best_yes)],
        v_change.last_gone[array_position(v_change.places, v_best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, v_best_no,
        v_change.first_left[array_position(v_change.places, 99 + v_best_no)],
        v_change.last_gone[array_position(v_change.places, 99 + v_best_no)]
      )
    where s.market_id = m_ids[n];
    if v_change.changes > 0 then
      v_payloads := v_payloads || json_build_object(
        'marketId', m_public_ids[n], 'version', v_old.version + v_change.changes -- mutant: version_of_another_market
      );
    end if;
  end loop;
  if v_payloads is not null then
    insert into trading.outbox (channel, payload)
    select 'market_changed', p from unnest(v_payloads) as p;
  end if;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, with market_changed events of their new versions.';
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
          'marketId', m_public_ids[r_market[f.request]], -- mutant: maker_told_of_another_market
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
      group by u.request, u.maker_user_id -- mutant: maker_told_of_each_fill
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
  'Writes the events of a batch for its users: maker_fill for each maker, once for each request '
  'that filled their orders; order_cancelled for the owner of each cancelled maker; order_pending '
  'for each order that a live market took.';
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
  'Writes the results of a batch, each table as one set, and its events to the outbox; nothing, if '
  'nothing changed. The rows of scheduled orders that it releases are written by the caller. The '
  'caller holds the locks of trading.match_batch.';
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
  if v_unfinished is null then -- mutant: atomic_clears_nothing
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
          (batch.market_arrays).live_delays_ms[o.market] is not null -- mutant: atomic_on_a_live_market
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
  v_body text;
  o trading.placed_order;
  f trading.placed_order; -- the order that its answer shows
  n int := 0;
begin
  if written.trades is not null then
    r_public_ids := array(select w.public_id from unnest(written.orders) as w);
    for v_request, v_object in
      select
        y.request,
        string_agg(
          trading.fill_object(
            y.public_id, m_public_ids[r_market[y.request]], y.taker_side, r_public_ids[y.request], -- mutant: fill_names_another_market
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

  foreach o in array written.orders loop
    n := n + 1;
    if o.code is not null then
      v_body := null;
    elsif o.replayed_order_id is not null then
      v_body := trading.replay_answer(
        o.replayed_order_id, o.left_quantity, o.cancel_reason, o.balance_cents, batch.at
      );
    else
      -- A replay of an order of this call: the answer to its first request, as it stood then.
      f := case when o.replay_of is null then o else written.orders[o.replay_of] end;
      v_body := format(
        '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
        trading.order_object(
          f.public_id, f.user_public_id, f.market_public_id, f.side, f.price, o.quantity,
          o.quantity - o.left_quantity, o.status, f.order_type, f.time_in_force,
          o.cancel_reason, f.expires_at, v_at,
          case when f.release_at is not null
            then trading.schedule_members(f.release_at, f.budget_cents, batch.at) end
        ),
        v_fills[coalesce(o.replay_of, n)],
        case when o.replay_of is null then v_cancelled[n] end,
        trading.balance_object(o.balance_cents),
        case when o.replay_of is null then coalesce(o.fee_cents::text, 'null') else 'null' end
      );
    end if;
    return next (
      o.code,
      trading.rejection_message(o.code, o.problem),
      o.replay_of is not null or o.replayed_order_id is not null,
      v_body
    )::api.result;
  end loop;
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
  'The cancel reason of a scheduled order whose release was rejected with a code. An order that '
  'was accepted can have become invalid only by expiring.';
--! EndIncluded trading/functions/release_reason.sql
--! Included trading/functions/due_requests.sql
create or replace function trading.due_requests(market_ids bigint[], most int, at timestamptz)
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
    select d.*
    from unnest(due_requests.market_ids) as u (id)
    cross join lateral (
      select b.*
      from trading.active_orders as b
      where b.market_id = u.id
        and b.queue_position is null
        and b.release_at <= due_requests.at -- mutant: release_a_moment_early
      order by b.release_at, b.order_id
      limit due_requests.most
    ) as d
    order by d.release_at, d.order_id -- mutant: release_out_of_order
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

comment on function trading.due_requests(bigint[], int, timestamptz) is
  'The scheduled orders of some markets that are due to be released, at most so many, as requests, '
  'in the order of their release time and then of their acceptance, all with market 1: see '
  'trading.requests_of_markets. The caller holds the locks of the markets.';
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
  'its delay, and a rejection is its cancel reason. Those that rest are put on the book by '
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
  where (x.placed).code is distinct from 'CONFLICT_RETRY' -- mutant: release_told_twice
  order by i;
end
$$;

comment on function trading.announce_released(trading.matched_batch, trading.placed_order[]) is
  'Writes an order_released event for each scheduled order that was released, as it stood right '
  'after its own matching. Balance and fee are null for those that were rejected.';
--! EndIncluded trading/functions/announce_released.sql
--! Included trading/functions/release_orders.sql
create or replace function trading.release_orders(market_ids bigint[], most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_ids bigint[];
  v_markets trading.market_context[];
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
  v_orders trading.placed_order[];
begin
  v_requests := trading.due_requests(release_orders.market_ids, release_orders.most, v_at);
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  v_market_ids := array(
    select distinct r.market_id from unnest(v_requests) as r order by r.market_id
  );
  v_requests := trading.requests_of_markets(v_requests, v_market_ids);
  v_markets := trading.read_markets(v_market_ids, v_at);
  for i in 1 .. cardinality(v_markets) loop
    v_markets[i].live_delay_ms := null; -- the orders have waited
  end loop;
  v_batch := trading.match_batch(v_markets, v_requests, v_at);
  v_orders := trading.placed_orders(v_batch);
  perform trading.write_released(v_batch, v_orders);
  perform trading.announce_released(v_batch, v_orders);
  perform trading.write_batch(v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets, at most so many, in the order of '
  'their release time and then of their acceptance: each is judged and matched as if it had just '
  'been placed, and a rejection cancels it. Returns how many. The caller holds the locks of the '
  'markets. Locks the users of the orders and the makers they can reach, by ascending user id.';
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
  'Takes open orders of one market off the book, or out of their delay, for one reason; returns '
  'those that were still there, by id. counted: a change of the book raises the version of the '
  'market by one, with a market_changed event. The caller holds the market''s lock.';
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
      cancel_active_orders.at, counted => true -- mutant: version_not_raised
    ) as e
  );
begin
  if cancel_active_orders.announced and cardinality(v_ids) > 0 then -- mutant: owner_not_told
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
  'were still there. announced: write order_cancelled events for the owners, who did not ask for '
  'it. The caller holds the market''s lock. One change of the market, however many orders leave '
  'its book.';
--! EndIncluded trading/functions/cancel_active_orders.sql
--! Included trading/functions/cancel_order.sql
create or replace function trading.cancel_order(user_public_id uuid, order_public_id uuid)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result api.result;
  v_order trading.orders;
  v_has_expired boolean;
  v_cancelled int;
  v_at timestamptz;
begin
  v_result.replayed := false;

  select o.* into v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if not found then
    v_result.code := 'ORDER_NOT_FOUND';
    return v_result;
  end if;

  perform trading.lock_market(v_order.market_id); -- mutant: cancel_without_lock
  v_at := core.now();
  v_has_expired := coalesce(v_order.expires_at <= v_at, false);
  v_cancelled := trading.cancel_active_orders(
    v_order.market_id,
    array[v_order.id],
    case when v_has_expired then 'expired' else 'user_cancelled' end::trading.cancel_reason,
    v_at,
    v_has_expired -- mutant: canceller_told
  );

  select o.* into strict v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if v_cancelled = 0 or v_has_expired then
    v_result.code := 'ORDER_NOT_CANCELLABLE';
    v_result.message := 'Cannot cancel order with status: ' || v_order.status;
    return v_result;
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
  into v_result.body
  from catalog.markets as m
  join trading.traders as t on t.user_id = v_order.user_id
  where m.id = v_order.market_id;
  return v_result;
end
$$;

comment on function trading.cancel_order(uuid, uuid) is
  'Cancels a user''s open order: the documented body of DELETE /orders/:id, or a rejection. An '
  'order past its expiry expires instead. Locks: the market.';
--! EndIncluded trading/functions/cancel_order.sql
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
  'back, and the row of trading.set_conversions; returns the body of the answer. traders is the '
  'one trader, locked.';
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

  perform trading.lock_market(v_request.market_id); -- mutant: split_without_lock
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
    no_cost_cents = h.no_cost_cents + v_side_cost_cents -- mutant: split_costs_nothing
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
  'body of POST /positions/split, or a rejection. Locks: the market, then the user.';
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

  perform trading.lock_market(v_request.market_id); -- mutant: merge_without_lock
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
    v_held.yes_cost_cents * v_request.quantity, v_held.yes_quantity -- mutant: merge_cost_of_all
  );
  v_yes_fees_out := core.half_up(v_held.yes_fee_cents * v_request.quantity, v_held.yes_quantity);
  v_no_cost_out := core.half_up(v_held.no_cost_cents * v_request.quantity, v_held.no_quantity);
  v_no_fees_out := core.half_up(v_held.no_fee_cents * v_request.quantity, v_held.no_quantity);
  update trading.holdings as h set
    yes_quantity = h.yes_quantity - v_request.quantity,
    yes_cost_cents = h.yes_cost_cents - v_yes_cost_out,
    yes_fee_cents = h.yes_fee_cents - v_yes_fees_out, -- mutant: merge_keeps_fees
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
  'Turns complete sets of a user into 100 cents each, 50 for either share: the body of POST '
  '/positions/merge, or a rejection. Only the resolution of the market prevents it: no pause, '
  'exclusion or limit does. Locks: the market, then the user.';
--! EndIncluded trading/functions/merge_position.sql
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
    array[-v_taken_off], -- mutant: level_keeps_what_was_taken_off
    counted => true
  );
end
$$;

comment on function trading.reduce_order(trading.orders, int, timestamptz) is
  'Takes shares off the end of a resting order, which keeps its place in the queue. quantity is '
  'the new total, above what is filled. Raises the version of the market by one, with a '
  'market_changed event. The caller holds the market''s lock.';
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
  v_request.quantity := replace_order.quantity - ("order").filled_quantity; -- mutant: amend_forgets_fills
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
  'with a total quantity that counts what is filled, or changes nothing if that is rejected. '
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
  when quantity <= ("order").filled_quantity then 'BELOW_FILLED' -- mutant: amend_to_what_is_filled
  when ("order").budget_cents is not null then 'BUDGET_ORDER_NOT_AMENDABLE'
end;

comment on function trading.amend_rejection(trading.orders, boolean, int) is
  'Why an order cannot be amended to a new total quantity (null keeps it), in order of precedence; '
  'null when it can. The order is null when the user has no such order.';
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
  perform trading.lock_market(v_order.market_id); -- mutant: amend_without_lock
  v_at := core.now();
  v_context := (trading.read_markets(array[v_order.market_id], v_at))[1];
  select o.* into v_order -- mutant: amend_by_an_old_look
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o; -- mutant: amend_by_an_old_look

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
  'the order. The documented body of PATCH /orders/:id, or a rejection. An order past its expiry '
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
    and v_market.close_time <= v_at -- mutant: late_closing_forgotten
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
      'A close time can be given only to open a paused or closed market; '
      'admin.edit_market changes it otherwise'
    );
  end if;
  if v_market.status = change_market_status.status then
    return;
  end if;
  if v_market.status = 'resolved'
    or (v_market.status, change_market_status.status) = ('closed', 'paused')
  then
    perform core.raise_error('INVALID_STATE', format(
      'A %s market cannot become %s', v_market.status, change_market_status.status
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
    perform core.raise_error('INVALID_REQUEST', 'The outcome must be yes, no or custom');
  elsif v_cents is null then
    perform core.raise_error(
      'INVALID_REQUEST', 'A custom outcome needs yes_payout_cents'
    );
  elsif v_cents not between 0 and 100 then
    perform core.raise_error('INVALID_REQUEST', 'A YES share must pay from 0 to 100 cents');
  elsif v_cents <> yes_payout_cents.yes_payout_cents then
    perform core.raise_error('INVALID_REQUEST', format(
      'A YES share pays %s cents when the outcome is %s', v_cents, yes_payout_cents.outcome
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
      else 100 - payouts.yes_payout_cents -- mutant: no_paid_as_yes
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
-- The sets are as long as the market has positions: plans are made for their length, so none is
-- generic, and JIT would cost more than it saves.
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
  -- 1. What belongs to the market, while its users are not locked yet. The status comes first: it
  -- locks the row of the category, which must be locked before any user.
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
    else -v_yes_more_cents -- mutant: correction_with_a_wrong_sign
  end;
  update trading.holdings as h set
    yes_realised_cents = h.yes_realised_cents + h.yes_quantity * v_yes_more_cents
      - case when v_is_first then h.yes_cost_cents + h.yes_fee_cents else 0 end, -- mutant: settlement_forgets_fees
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
    for no key update of t -- mutant: settle_without_locking_users
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
  'resolution that holds by the differences; returns the operator''s summary. corrected and reason '
  'are null for the first resolution. The caller holds the market''s lock; locks the users whose '
  'cash moves, by ascending user, once all is computed.';
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
  perform trading.lock_market(resolve_market.market_id); -- mutant: resolve_without_lock
  select m.status into strict v_status
  from catalog.markets as m
  where m.id = resolve_market.market_id
  for no key update;
  if v_status = 'resolved' then
    perform core.raise_error(
      'INVALID_STATE', 'The market is already resolved; admin.correct_resolution corrects that'
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
  'market, its row, then the users who are paid.';
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
  perform trading.lock_market(correct_resolution.market_id); -- mutant: correct_without_lock
  perform -- mutant: correct_without_lock
  from catalog.markets as m -- mutant: correct_without_lock
  where m.id = correct_resolution.market_id -- mutant: correct_without_lock
  for no key update; -- mutant: correct_without_lock

  select r.* into v_corrected
  from trading.resolutions as r
  where r.market_id = correct_resolution.market_id
  order by r.id desc
  limit 1;
  if not found then
    perform core.raise_error('INVALID_STATE', 'The market is not resolved');
  elsif (v_corrected.outcome, v_corrected.yes_payout_cents)
    = (correct_resolution.outcome, correct_resolution.yes_payout_cents)
  then
    perform core.raise_error('INVALID_STATE', format(
      'The market already has this resolution: %s, a YES share pays %s cents',
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
  'INVALID_STATE. Locks: the market, its row, then the users whose cash moves.';
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
      where b.expires_at <= v_at -- mutant: expiry_a_moment_late
        and (m.close_time is null or b.expires_at < m.close_time)
    ),
    'expired',
    v_at,
    true
  );
end
$$;

comment on function trading.expire_orders(bigint, bigint[]) is
  'Cancels those of some orders of a market that are past their expiry; returns how many. Orders '
  'that expire at the close time of the market or later are left to its closing, scheduled ones to '
  'their release. The caller holds the market''s lock.';
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
  'Ends open orders of one market, with events for their owners: those past their expiry expire, '
  'the others are cancelled for a reason; returns how many were cancelled. The caller holds the '
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
        perform trading.lock_market(v_market_id); -- mutant: exclude_without_markets
        v_market_ids := v_market_ids || v_market_id;
      end loop;
      perform identity.lock_user(lock_user_with_markets.user_id);
      if exists (
        select from trading.active_orders as b
        where b.user_id = v_user_id and b.market_id <> all (v_market_ids) -- mutant: exclude_looks_once
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
  'markets: these orders change no more until the transaction ends. Errors: NOT_FOUND. Locks: the '
  'markets in ascending id, then the user.';
--! EndIncluded trading/functions/lock_user_with_markets.sql
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
    and m.close_time <= v_at; -- mutant: closing_a_moment_late
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
  -- A transaction that attached a partition keeps this lock until every session knows of the
  -- partition. It unlocks the row of trading.archive_progress a moment before.
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
  'caller holds the row of trading.archive_progress, so that no other transaction makes it too. '
  'Locks trading.archived_orders against other changes of its partitions, not against reading and '
  'writing.';
--! EndIncluded trading/functions/make_archive_partition.sql
--! Included trading/functions/archive_orders.sql
create or replace function trading.archive_orders(most int, out looked_at int, out archived int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := interval '30 days'; -- mutant: archive_a_day_early
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
  -- Weeks before its first order comes, so that no reader can find an order moved to a partition
  -- that its session does not know yet.
  perform trading.make_archive_partition(v_at);

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
      and o.filled_quantity = 0 -- mutant: archive_takes_trades
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
  'notes when to look again at those that may become due later. Makes the partition of this month '
  'beforehand. Locks: the row of trading.archive_progress; does nothing while another transaction '
  'has it. Cancelled orders never change, so it needs no market.';
--! EndIncluded trading/functions/archive_orders.sql
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
            and e.book_price > q.book_price -- mutant: shares_ahead_with_expired
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
        rows between unbounded preceding and 1 preceding -- mutant: shares_ahead_with_its_own
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
    perform core.raise_error('INVALID_REQUEST', 'The end of the exclusion must be in the future');
  end if;
  v_user_id := identity.user_id(exclude.user_id);
  v_market_ids := trading.lock_user_with_markets(exclude.user_id);
  v_at := core.now();
  select t.excluded_until into v_excluded_until
  from trading.traders as t
  where t.user_id = v_user_id;
  if v_excluded_until > exclude.until then -- mutant: exclusion_shortened
    perform core.raise_error('INVALID_REQUEST', format(
      'The user is already excluded until %s; an exclusion cannot be shortened', v_excluded_until
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
--! Included ledger/functions/verify_entries.sql
create or replace function ledger.verify_entries()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- All lines of journals; of trades also those of 0 cents.
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

  -- Who buys and who sells is taken from the orders. Escrow gets what the lines of taker, maker and
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
--! Included trading/functions/verify_priority.sql
-- Decided by ids alone, which are drawn under the market's lock: the clock may have been set back.
-- An order that was cancelled counts as resting up to its last trade, since nothing but the clock
-- shows how long it stayed. One that was released counts for nothing: its place in the queue is
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
--! Included trading/functions/verify_positions.sql
-- One pass over what moved each position, in its order, followed by the position as it is:
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
      v_cost_out := core.half_up(v_cost * v_shares, v_quantity); -- mutant: proof_rounds_down
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
  'The part of ledger.verify() about positions: computes each again from its trades, splits and '
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
  'The part of ledger.verify() about escrow and settlements: each resolution settles all positions '
  'by its outcome, and the last one holds. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_settlements.sql
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
  -- import, only its orders show that it has one.
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
-- Every row is read. The settings make that whole tables by hashes and sorts, and never row by row
-- through an index, which the planner may prefer where it expects few rows.
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
  select * from trading.verify_positions() -- mutant: proof_left_out
  union all -- mutant: proof_left_out
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
--! Included leaderboard/functions/share.sql
create or replace function leaderboard.share(part bigint, whole bigint)
returns float8
language sql immutable parallel safe
return case share.whole when 0 then 0 else share.part / share.whole::float8 end;

comment on function leaderboard.share(bigint, bigint) is 'part / whole; 0 if whole is 0.';
--! EndIncluded leaderboard/functions/share.sql
--! Included leaderboard/functions/take_facts.sql
-- One statement, so that all of it is of one moment:
--
--   new_*: the next trades, conversions and resolutions that were not taken yet
--   realised: what they realised, one row for each position that they moved
--   changes: the same by day, category and user, which is what comes out
--   touched, moved, kept: how far each market is taken, which is written
--   interest: the open interest, which is written
--   ends: how far to read on, where more was there than may be taken
create or replace function leaderboard.take_facts(
  state leaderboard.state,
  most int,
  out changes leaderboard.change[],
  out resolution_ids bigint[],
  out through_trade_id bigint,
  out through_conversion_id bigint,
  out through_resolution_id bigint,
  out is_current boolean
)
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
  select
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
  from ends as e
$$;

comment on function leaderboard.take_facts(leaderboard.state, int) is
  'Takes trades, conversions and resolutions that the leaderboard does not have yet, about so '
  'many of each at most, and notes in leaderboard.markets and leaderboard.open_interest that it '
  'has them. Returns the changes that follow, the resolutions taken and, for each kind that was '
  'cut off at that number, the last id taken (through_): every visible id up to it was taken. '
  'is_current: nothing was left of any kind. One statement, hence one moment of all markets. The '
  'caller holds the row of leaderboard.state.';
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
  'Writes the wins of resolutions, and removes those of the resolutions that they correct.';
--! EndIncluded leaderboard/functions/replace_wins.sql
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
  'Counts users whose profile changed as public or private, as they are now. The caller holds the '
  'row of leaderboard.state.';
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
  v_facts record;
  v_all_ended boolean;
  v_at timestamptz;
  v_day date;
begin
  perform core.check_session();
  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that takes an id has locked rows before, which gave it its number.
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
  'each kind at most. Returns whether nothing was left; only then snapshot_at moves. Null if waits '
  'is false and another refresh is running. Pauses so long between its parts, to leave processor '
  'and disk to trading. Readers see all of it or nothing, once it is committed. Locks: the row of '
  'leaderboard.state; nothing that trading waits for.';
--! EndIncluded leaderboard/functions/refresh.sql
--! Included leaderboard/functions/verify.sql
-- What was realised is read from the ledger's side as a whole, and compared with what the
-- leaderboard has taken bit by bit:
--
--   settled, realised: what resolutions, trades and conversions brought, by user, market and day
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
      'ALREADY_EXISTS', format('The category %s already exists', create_category.slug)
    );
end
$$;

comment on function admin.create_category(text, text, int) is
  'Makes a category; without a position it comes last. Returns its slug. Errors: '
  'INVALID_REQUEST, ALREADY_EXISTS.';
--! EndIncluded admin/functions/create_category.sql
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
    perform core.raise_error('NOT_FOUND', format('There is no event %s', set_event_live.event_id));
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
      perform core.raise_error('NOT_FOUND', format('There is no event %s', create_market.event_id));
    end if;
    if v_event.category_id <> v_category_id then
      perform core.raise_error('INVALID_REQUEST', format(
        'The event %s is not in category %L', create_market.event_id, create_market.category
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
  'Makes an open market in a category, of an event of that category if one is given. Returns its '
  'id. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the category.';
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
  v_market_id bigint;
  v_market catalog.markets;
  v_closes_at timestamptz;
  v_constraint text;
  v_column text;
begin
  if edit_market.no_close_time and edit_market.close_time is not null then
    perform core.raise_error(
      'INVALID_REQUEST', 'Give close_time or no_close_time => true, but not both'
    );
  end if;

  v_market_id := catalog.market_id(edit_market.market_id);
  perform trading.lock_market(v_market_id);
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = v_market_id
  for no key update;
  if v_market.status = 'resolved' then
    perform core.raise_error('INVALID_STATE', 'A resolved market cannot be edited');
  end if;

  v_closes_at := case
    when edit_market.no_close_time then null
    else coalesce(edit_market.close_time, v_market.close_time)
  end;
  -- Past its close time a market is closed, even if the job that does it is late.
  if v_closes_at is distinct from v_market.close_time
    and v_market.status <> 'closed'
    and v_market.close_time <= core.now() -- mutant: passed_close_time_moved
  then
    perform core.raise_error('INVALID_STATE', format(
      'The market closed at %s; admin.set_market_status opens it again, with a new close time',
      v_market.close_time
    ));
  end if;
  perform catalog.check_close_time(edit_market.close_time);

  update catalog.markets as m set
    title = coalesce(edit_market.title, m.title),
    description = coalesce(edit_market.description, m.description),
    close_time = v_closes_at
  where m.id = v_market_id;
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
  'as it is, no_close_time removes the close time. Orders stay, and so does the version, which '
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
  v_market_id bigint;
begin
  if set_market_status.status is null
    or set_market_status.status not in ('open', 'paused', 'closed')
  then
    perform core.raise_error('INVALID_REQUEST', 'The status must be open, paused or closed');
  end if;

  v_market_id := catalog.market_id(set_market_status.market_id);
  perform trading.lock_market(v_market_id); -- mutant: status_without_lock
  perform trading.change_market_status(
    v_market_id,
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
  'closed one takes the close time given, or none; a paused one keeps its own unless one is given. '
  'Setting the present status changes nothing; admin.edit_market changes the close time then. '
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
  v_market_id constant bigint := catalog.market_id(resolve_market.market_id);
  v_summary jsonb;
begin
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
  'market, then the users who are paid.';
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
  v_market_id constant bigint := catalog.market_id(preview_resolution.market_id);
begin
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
  'What resolving a market would pay each position, and what that would realise: payout less cost '
  'and buy fees. For a resolved market: the figures with which a correction would replace the '
  'present ones. Changes nothing and locks nothing. Errors: INVALID_REQUEST, NOT_FOUND.';
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
    perform core.raise_error('INVALID_REQUEST', 'A reason of at most 1000 characters is required');
  end if;
  v_market_id := catalog.market_id(correct_resolution.market_id);
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
  'usersBelowZero}: no other function may take balances below zero. Errors: INVALID_REQUEST, '
  'NOT_FOUND, INVALID_STATE (not resolved, or that way already). Locks: the market, then the users '
  'whose cash moves.';
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
      'ALREADY_EXISTS', 'A user with this e-mail address or handle already exists'
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
  v_user_id constant bigint := identity.user_id(set_profile.user_id);
  v_constraint text;
  v_column text;
begin
  update identity.users as u set
    private = coalesce(set_profile.private, u.private),
    leaderboard_opt_out = coalesce(set_profile.leaderboard_opt_out, u.leaderboard_opt_out),
    display_name = coalesce(set_profile.display_name, u.display_name),
    avatar_url = coalesce(set_profile.avatar_url, u.avatar_url)
  where u.id = v_user_id;
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
  'Changes the given parts of a user''s profile; null leaves a part as it is. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the row of the user in identity.users, for which no trading '
  'waits.';
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
  values (identity.user_id(create_api_key.user_id), create_api_key.name, v_key_hash)
  returning public_id into v_key_id;
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
declare
  v_user_id constant bigint := identity.user_id(list_api_keys.user_id);
begin
  perform admin.audit('list_api_keys', jsonb_build_object('user_id', list_api_keys.user_id));
  return query
  select k.public_id, k.name, k.created_at, k.last_used_at, k.revoked_at
  from identity.api_keys as k
  where k.user_id = v_user_id
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
    perform core.raise_error('NOT_FOUND', format('There is no API key %s', revoke_api_key.key_id));
  end if;
  insert into trading.outbox (channel, payload)
  values ('api_key_revoked', json_build_object('apiKeyId', revoke_api_key.key_id));
  perform admin.audit('revoke_api_key', jsonb_build_object('key_id', revoke_api_key.key_id));
end
$$;

comment on function admin.revoke_api_key(uuid) is
  'Revokes an API key, and writes an api_key_revoked event for the servers. Revoking it again '
  'changes nothing. Errors: NOT_FOUND. Locks: the row of the key.';
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
      'ALREADY_EXISTS', format('A key with the name %L already exists', create_staff_key.name)
    );
end
$$;

comment on function admin.create_staff_key(text, text) is
  'Makes a key for an analyst (ja_) or an operator (jo_) and returns it; it is not kept and can '
  'never be shown again. Errors: INVALID_REQUEST, ALREADY_EXISTS.';
--! EndIncluded admin/functions/create_staff_key.sql
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
    perform core.raise_error(
      'NOT_FOUND', format('There is no staff key %s', revoke_staff_key.key_id)
    );
  end if;
  perform admin.audit('revoke_staff_key', jsonb_build_object('key_id', revoke_staff_key.key_id));
end
$$;

comment on function admin.revoke_staff_key(uuid) is
  'Revokes the key of an analyst or an operator, at once. Revoking it again changes nothing. '
  'Errors: NOT_FOUND. Locks: the row of the key.';
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
  v_user_id constant bigint := identity.user_id(create_session.user_id);
  v_session_id uuid;
begin
  if create_session.valid_for is null or v_at + create_session.valid_for <= v_at then
    perform core.raise_error('INVALID_REQUEST', 'A session must be valid for longer than zero');
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
  v_user_id constant bigint := identity.user_id(end_sessions.user_id);
  v_ended bigint;
begin
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
    perform core.raise_error('NOT_FOUND', format('There is no bucket %s', set_rate_limit.bucket));
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
  'Sets how many requests a rolling window of this bucket has room for, and its length, from the '
  'next request on. A longer window counts the earlier requests that are still kept. Errors: '
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
    perform core.raise_error('NOT_FOUND', 'The holder must be address or user');
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
  'Sets how many event streams an address, or a user, may hold open at once, from the next opening '
  'on, on every server. Streams that are open stay. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the '
  'row of the holder.';
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
  v_user_id constant bigint := identity.user_id(set_rate_policy.user_id);
  v_requests_per_minute int := set_rate_policy.requests_per_minute;
  v_burst_capacity int := set_rate_policy.burst_capacity;
  v_constraint text;
  v_column text;
begin
  case set_rate_policy.tier
    when 'standard' then
      if coalesce(v_requests_per_minute, v_burst_capacity) is not null
        or set_rate_policy.expires_at is not null
      then
        perform core.raise_error(
          'INVALID_REQUEST', 'The standard policy takes no figures and no end'
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
        'INVALID_REQUEST', 'The tier must be standard, elevated or custom'
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
  '(600 a minute and 50 back to back by default) or custom one, until a time or for good. Tokens '
  'that were spent stay spent. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the policy.';
--! EndIncluded admin/functions/set_rate_policy.sql
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
  v_day record;
  v_week record;
  v_month record;
begin
  if least(
    set_loss_limits.day_cents, set_loss_limits.week_cents, set_loss_limits.month_cents
  ) < 0 then
    perform core.raise_error('INVALID_REQUEST', 'A loss limit must not be below 0');
  end if;

  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = v_user_id;
  v_day := risk.change_limit(
    v_trader.day_limit_cents, v_trader.next_day_limit_cents, v_trader.day_limit_changes_at,
    set_loss_limits.day_cents, set_loss_limits.immediate, v_at
  );
  v_week := risk.change_limit(
    v_trader.week_limit_cents, v_trader.next_week_limit_cents, v_trader.week_limit_changes_at,
    set_loss_limits.week_cents, set_loss_limits.immediate, v_at
  );
  v_month := risk.change_limit(
    v_trader.month_limit_cents, v_trader.next_month_limit_cents, v_trader.month_limit_changes_at,
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
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;
  if freeze_user.cancel_orders is null then
    perform core.raise_error('INVALID_REQUEST', 'The argument cancel_orders must be true or false');
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
  'rejected (ACCOUNT_FROZEN); cancelling, merging, reading and deposits are not. Cancels the open '
  'orders (trading_paused) and returns how many; with cancel_orders => false they stay and may '
  'still match, and scheduled ones end at their release. Freezing a frozen account keeps its time '
  'and changes its reason. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the markets of those orders '
  'in ascending id, then the user.';
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
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
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
  v_user_id constant bigint := identity.user_id(cancel_orders.user_id);
  v_market_ids bigint[];
  v_open_order_ids bigint[];
  v_cancelled int;
begin
  if cancel_orders.market_id is null then
    v_market_ids := trading.lock_user_with_markets(cancel_orders.user_id);
  else
    v_market_ids := array[catalog.market_id(cancel_orders.market_id)];
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
  'or in all; returns how many. Each sends order_cancelled to the user. Orders past their expiry '
  'expire, and are not counted. The audit row has the ids of the first 1,000 cancelled orders, '
  'oldest first. Errors: NOT_FOUND. Locks: the markets of those orders in ascending id, then the '
  'user; with a market_id that market alone.';
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
  'Pauses trading on the whole site, or ends the pause. Resting orders stay, cancels work. Pausing '
  'again keeps the time and changes the reason. admin.trading_pause shows both. Errors: '
  'INVALID_REQUEST. Locks: the row of core.settings, which trading only reads.';
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
    perform core.raise_error('INVALID_REQUEST', 'Give a category or a market, but not both');
  end if;
  if set_fee_schedule.taker_rate_bps is null
    or set_fee_schedule.taker_rate_bps not between 0 and 10000
  then
    perform core.raise_error('INVALID_REQUEST', 'The rate must be from 0 to 10000 bps');
  end if;
  if set_fee_schedule.category is not null then
    v_category_id := catalog.category_id(set_fee_schedule.category);
  end if;
  if set_fee_schedule.market_id is not null then
    v_market_id := catalog.market_id(set_fee_schedule.market_id);
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
  'The user of the API key with this SHA-256: one row, or none if it is unknown or revoked.';
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
  'Records the use of an API key, at most once a minute. Locks: the row of the key.';
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
  'The name and role of the staff key with this SHA-256: one row, or none if it is unknown or '
  'revoked. Records its use, at most once a minute. Locks: the row of the key.';
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
  'The user of the session whose cookie has this SHA-256: one row, or none if the session is '
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
  'The user and the session of the token with this SHA-256: one row, or none if it is unknown or '
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
  -- Locked, so that the session still exists when the token refers to it.
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
  'Those of the ids that belong neither to a valid API key nor to a session in force. For streams, '
  'which outlive the check of the request that opened them.';
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
set enable_memoize = off
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
      perform core.raise_error('NOT_FOUND', 'There is no such bucket');
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
      -- A request that one counter has no room for is not counted by the others either.
      if allowed then -- mutant: refused_requests_count
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
  'Counts requests, and returns for each, in their order, whether it is allowed and otherwise '
  'after how many seconds it may be repeated. A request is {bucket: subject, ...}: the buckets of '
  'rate_limits.buckets with an address or a user''s id, or v1-trading with a user''s id. It counts '
  'once, or count times where a bucket has {subject, count}. It needs room in all of them; a '
  'request that is not allowed is counted in none. retry_after_seconds is null where a request '
  'counts more times than there ever is room for. The policy and the whole tokens left are given '
  'for v1-trading. Errors: NOT_FOUND. Locks: the counters.';
--! EndIncluded api/functions/take_requests.sql
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
  -- The locks of an opening, in its order: of two closings at once each must see the other's count.
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
  'Stops counting a stream that api.open_stream has counted. Locks: advisory locks of the address '
  'and of the user; their counters.';
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
  'Ends the lease of a server process and stops counting its streams. Locks: its rows.';
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
  'They are counted without a check of the caps, since they are open. instead_of: the lease that '
  'it had before, which ends. Locks: the rows of that lease.';
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
  'Renews the lease of a server process, with the streams that it has open; returns false if the '
  'lease is gone. Locks: the lease.';
--! EndIncluded api/functions/renew_stream_lease.sql
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
set enable_memoize = off
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
  -- NOTIFY holds a lock through the commit: without the flush, that is a short time.
  set local synchronous_commit = off;

  -- One at a time, so that the ids of events are in the order of the commits.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that writes an event has written something before, which gave it its number.
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
  'The relay of the outbox: moves the events of committed transactions to trading.sent_events, '
  'oldest first, at most 1,000 at a time, and sends a notification without content on channel '
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
  'The events after an id, oldest first, at most so many; no row if there are none. If the event '
  'right after that id is not kept any more, if no event has that id yet, or without an id: one '
  'row without kind and payload, whose id is where to continue; events may be missing before it.';
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
set enable_memoize = off
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
      select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last -- mutant: markets_in_another_order
    );
  end if;
  v_locked_ids := v_market_ids;
  if place_orders.waits then -- mutant: busy_market_waited_for
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
  if v_busy is not null and (place_orders.atomic or cardinality(v_requests) = 0) then -- mutant: atomic_beside_a_busy_market
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

  if place_orders.atomic and cardinality(v_requests) > 0 then -- mutant: atomic_in_part
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
      ) as a on a.place = b.nth and not b.is_busy -- mutant: answers_beside_a_busy_market
      order by b.place;
  end if;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction. One row for each element of orders, in their '
  'order. An element is {marketId, userId, side, price, quantity, budgetCents, orderType, '
  'timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: its rejection is its row; '
  'atomic: if one is rejected, no order is placed, and the rows of the others have neither code '
  'nor body. waits => false: orders of markets whose lock is held are MARKET_BUSY, and must be '
  'placed again; in an atomic call all of them are. CONFLICT_RETRY: the call cancelled as many '
  'makers as one call may, and the request must be placed again. Locks: the markets, ascending; '
  'then the takers and the makers they can reach, by ascending user id. May fail as a whole with '
  '40001, 40P01 or 55P03: call it again.';
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
set enable_memoize = off
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
set enable_memoize = off
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
  'Rejections: those of an order, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE. A rejection changes nothing, except that an order past its expiry '
  'expires, and that CONFLICT_RETRY cancels makers: call it again. Locks: the market, then the '
  'user and the makers that a new order can reach. May fail with 40001, 40P01 or 55P03: call it '
  'again.';
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
  'Cancels an open order of a user at once. Rejections: ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. '
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
  'Makes complete sets of YES and NO for a user out of 100 cents each. Rejections, in order of '
  'precedence: INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
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
  'Turns complete sets of YES and NO of a user into 100 cents each. Rejections, in order of '
  'precedence: INVALID_REQUEST, UNAUTHORIZED, MARKET_NOT_FOUND, MARKET_NOT_OPEN (resolved), '
  'INSUFFICIENT_BALANCE. Locks: the market, then the user.';
--! EndIncluded api/functions/merge_position.sql
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
  'The body of GET /leaderboard/me: the caller''s entry, complete even if their profile is '
  'private, or null in its place when they realised nothing in the window; or null for an unknown '
  'category.';
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

  -- Unlike pg_stat_activity, it shows the sessions of others to all roles.
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
  'the oldest order is that should have been released or expired by now (0: none is due), how long '
  'ago the ledger was last verified and what was broken (null: never), what PostgreSQL itself may '
  'run out of. pending_announcements and waiting_jobs stop counting at 10,000; without the queue '
  'of jobs the latter is null.';
--! EndIncluded api/functions/get_metrics.sql
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
set enable_memoize = off
as $$
begin
  if not trading.try_lock_market(release_orders.market_id, release_orders.waits) then
    return null;
  end if;
  return trading.release_orders(array[release_orders.market_id], release_orders.most);
end
$$;

comment on function jobs.release_orders(bigint, int, boolean) is
  'Releases what is due of the scheduled orders of a market, at most so many, in the order of '
  'their release time; returns how many. Null when the market is locked: passed over, at once or, '
  'if it waits, after 250 ms. May fail with 40001, 40P01 or 55P03: call it again. Locks: the '
  'market, if it is free; then the users of the orders and the makers they can reach, for each of '
  'whom it waits 250 ms at most.';
--! EndIncluded jobs/functions/release_orders.sql
--! Included jobs/functions/due_release_groups.sql
create or replace function jobs.due_release_groups(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint[]
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select array_agg(n.market_id order by n.market_id)
  from (
    select
      d.market_id, d.is_alone, d.first_at,
      (row_number() over (partition by d.is_alone order by d.first_at, d.market_id) - 1)
        / case when d.is_alone then 1 else 8 end as nth_group
    from (
      select
        a.market_id,
        min(a.release_at) as first_at,
        -- Their release takes long. A budget has no quantity yet, and may take many orders.
        count(*) > 25 or bool_or(a.left_quantity = 0 or trading.is_large(a.left_quantity))
          as is_alone
      from (
        select b.market_id, b.release_at, b.left_quantity
        from trading.active_orders as b
        where b.queue_position is null
          and b.release_at <= (select core.now())
          and b.market_id <> all (due_release_groups.passing_over)
        order by b.release_at
        limit due_release_groups.most
      ) as a
      group by a.market_id
    ) as d
  ) as n
  group by n.is_alone, n.nth_group
  order by min(n.first_at)
$$;

comment on function jobs.due_release_groups(int, bigint[]) is
  'The markets of the scheduled orders whose release is due, in groups for jobs.release_group. A '
  'group has eight markets. A market is alone in its group if a large order, a budget or more than '
  '25 orders are due there. Groups that have waited longest come first. most: only so many of the '
  'orders are looked at, the earliest. passing_over: markets that are left out. Locks: none.';
--! EndIncluded jobs/functions/due_release_groups.sql
--! Included jobs/functions/release_group.sql
create or replace function jobs.release_group(
  market_ids bigint[], most int default 200, out released int, out busy bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  v_locked bigint[] := trading.lock_free_markets(release_group.market_ids);
begin
  released := trading.release_orders(v_locked, release_group.most);
  busy := array(
    select u.id from unnest(release_group.market_ids) as u (id) where u.id <> all (v_locked)
  );
end
$$;

comment on function jobs.release_group(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets in one transaction, at most so '
  'many, in the order of their release time. released: how many; busy: the markets that were '
  'locked and passed over. market_ids are ascending, as jobs.due_release_groups gives them. May '
  'fail with 40001, 40P01 or 55P03, and is then to be called again, or market by market. Locks: '
  'the markets that are free; then the users of the orders and the makers they can reach, for '
  'each of whom it waits 50 ms at most, since it holds the whole group meanwhile.';
--! EndIncluded jobs/functions/release_group.sql
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
  if not trading.try_lock_market(expire_orders.market_id, expire_orders.waits) then -- mutant: expire_without_lock
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
  if not trading.try_lock_market(close_markets.market_id, close_markets.waits) then -- mutant: close_without_lock
    return null;
  end if;
  return trading.close_market(close_markets.market_id, close_markets.most);
end
$$;

comment on function jobs.close_markets(bigint, int, boolean) is
  'Closes a market that is past its close time: cancels at most so many of its orders, and changes '
  'its status once none is left. Returns how many it cancelled, and one more for the status. Null '
  'when the market is locked: passed over, at once or, if it waits, after 250 ms. May fail with '
  '55P03: call it again. Locks: the market, if it is free; then its row in catalog.markets and '
  'that of the category, for which it waits 250 ms at most.';
--! EndIncluded jobs/functions/close_markets.sql
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
    -- A new order may be taking over an old key: it is skipped, so that neither side waits.
    for update skip locked
  ));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function jobs.remove_keys(int) is
  'Removes idempotency keys that are older than 24 hours and no longer count, at most so many; '
  'returns how many. Locks: the rows of the keys, without waiting for locked ones.';
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
  'read them within milliseconds, or start again from a snapshot. Locks: the rows of the oldest '
  'events, without waiting for locked ones.';
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
  'their rows, without waiting for locked ones.';
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
  -- Counters in use are skipped, so that neither side waits.
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
  'Removes counters that are not needed any more: windows that every grant has left, with their '
  'grants; token buckets that are full; the streams of server processes that were lost. At most so '
  'many of each; returns how many. Locks: the counters, without waiting for locked ones.';
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
  'Brings the leaderboard up to date by at most about so many new facts of each kind; returns 1 if '
  'more are left, and 0 if none is or another refresh is running. Pauses so long between its '
  'parts, to leave processor and disk to trading. Locks: the row of leaderboard.state, which only '
  'refreshes lock.';
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
  -- All of it is one transaction, so the users of one market stay locked when those of the next
  -- are locked: the lock timeout is below the time after which PostgreSQL looks for deadlocks, and
  -- a market that runs into it unlocks its own users.
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
    raise warning 'Passed over % locked market(s); call admin.run_due() again for them',
      v_passed_over;
  end if;
  return v_done;
end
$$;

comment on function admin.run_due() is
  'Does at once what the jobs would do now, in one transaction: in each market releases, then '
  'expiries, then its closing; then the archive and old idempotency keys. Returns how many of '
  'each: {released, expired, closed, archived, keysRemoved}. Like the jobs, it passes over what is '
  'locked: markets (a warning and the audit log count them), also those that wait longer than 250 '
  'ms for a user or a row of the catalogue, the archive while a job moves orders there, and keys '
  'in use. Call it again for these. Locks: the markets that are free, then what each job locks.';
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
  'Runs ledger.verify() and keeps the result in ledger.verifications; returns how many rows it '
  'had. It reads every entry, order and trade. It waits for no lock and blocks nothing, but while '
  'it runs vacuum cannot remove rows that die meanwhile. Locks: none.';
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
  'the first, null if it was rejected.';
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
        perform jobs.due_release_groups();
        perform jobs.release_group(array[v_market_id]);
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
  'Trades in a market of its own and rolls all of it back, so that a new connection has compiled '
  'and planned what its first order needs; also releases, in a live market. Only numbers of '
  'sequences are used up. Errors: UNFIT_SESSION. Locks: none that others wait for.';
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
  'Compiles and plans in a new connection what orders need, so that its first one is not slower '
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
  'Compiles and plans in a new connection what releases need, so that its first one is not slower '
  'than later ones. Changes nothing. Errors: UNFIT_SESSION.';
--! EndIncluded jobs/functions/warm_up.sql
--! Included analytics/functions/now.sql
create or replace function analytics.now()
returns timestamptz
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
  select core.now()
$$;

comment on function analytics.now() is 'The time by the clock of the exchange.';
--! EndIncluded analytics/functions/now.sql
--! Included analytics/views/categories.sql
create or replace view analytics.categories as
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
create or replace view analytics.events as
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
create or replace view analytics.markets as
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

comment on view analytics.markets is 'Binary questions, with their prices, volumes and counts.';
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
create or replace view analytics.day_openings as
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
create or replace view analytics.orders as
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
  'Internal key, for joins; ascending in the order of acceptance.';
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
  'Whether it is rejected rather than matched on arrival.';
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
create or replace view analytics.open_orders as
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
  'The orders of analytics.orders that are on a book or scheduled, without those past their '
  'expiry. A query reads only these, however many orders there were.';
comment on column analytics.open_orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
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
  'Whether it is rejected rather than matched on arrival.';
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
create or replace view analytics.users as
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
  'Unique short name. That of a private user is not published.';
comment on column analytics.users.display_name is
  'Name for display; null for a private user.';
comment on column analytics.users.is_private is
  'Whether the profile is private: its name is not published.';
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
create or replace view analytics.order_reductions as
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
create or replace view analytics.trades as
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
  'The taker''s order: internal key, for joins.';
comment on column analytics.trades.taker_order_id is 'The taker''s order: public id.';
comment on column analytics.trades.taker_user_key is 'The taker: internal key, for joins.';
comment on column analytics.trades.taker_user_id is 'The taker: public id.';
comment on column analytics.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column analytics.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column analytics.trades.maker_order_key is
  'The maker''s order: internal key, for joins.';
comment on column analytics.trades.maker_order_id is 'The maker''s order: public id.';
comment on column analytics.trades.maker_user_key is 'The maker: internal key, for joins.';
comment on column analytics.trades.maker_user_id is 'The maker: public id.';
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
create or replace view analytics.fills as
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
  'Every trade twice: once for the order of its taker, once for that of its maker.';
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
create or replace view analytics.positions as
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
create or replace view analytics.set_conversions as
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
comment on column analytics.set_conversions.conversion_key is 'Internal key, ascending in time.';
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
create or replace view analytics.resolutions as
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
  'The resolutions of markets and their corrections. The reasons, which operators write, are for '
  'operators: admin.resolutions.';
comment on column analytics.resolutions.resolution_key is
  'Internal key, for joins; ascending in time.';
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
create or replace view analytics.settlements as
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
  'again, so sum over those with is_final.';
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
create or replace view analytics.journal_entries as
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
  'Cents added to the account; negative if they were taken from it.';
comment on column analytics.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column analytics.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column analytics.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column analytics.journal_entries.created_at is 'When it happened.';
--! EndIncluded analytics/views/journal_entries.sql
--! Included analytics/views/cash_movements.sql
create or replace view analytics.cash_movements as
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
create or replace view analytics.open_interest as
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
create or replace view analytics.fee_schedules as
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
create or replace view analytics.fee_revenue as
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
create or replace view analytics.book_depth as
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
      message = format('There is no market %s', coalesce(market_key.market_id::text, 'null')),
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
-- Books of the past are not stored; they are computed from the orders:
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
    v_problem := 'The arguments step, since and until are required';
  elsif not isfinite(book_history.since) or not isfinite(book_history.until) then
    v_problem := 'The start (since) and the end (until) must be finite';
    v_hint := 'The book of a market begins at its created_at and is known until analytics.now().';
  elsif book_history.until < book_history.since then
    v_problem := 'The end (until) must not be before the start (since)';
  elsif book_history.step <= interval '0' then
    v_problem := format('The step must be above zero, not %s', book_history.step);
  else
    v_count := 1 + trunc(
      extract(epoch from book_history.until - book_history.since)
        / extract(epoch from book_history.step)
    );
    if v_count > c_most_moments then
      v_problem := format(
        'The book at %s moments is too much; the maximum is %s moments',
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
  'The books of a market at since and at each step after it, until included: bids and asks in YES '
  'prices, after all that happened at each time. A time with an empty book has no row. Steps of '
  'days and months are counted in UTC; at most 2,000 times. Reads the orders and trades of the '
  'market once, however many times. Errors: NOT_FOUND, INVALID_REQUEST.';
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
  'The book of a market at a time, after all that happened at that time: bids and asks in YES '
  'prices. analytics.book_history has the books at several times. Errors: NOT_FOUND, '
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
    v_problem := 'The arguments width, since and until are required';
  elsif candles.until <= candles.since then
    v_problem := 'The end (until) must be after the start (since)';
  elsif extract(year from candles.width) <> 0 or extract(month from candles.width) <> 0 then
    v_problem := format(
      'The width %s is not fixed: months and years differ in length', candles.width
    );
    v_hint := 'Give the width in weeks, days, hours, minutes or seconds.';
  elsif candles.width <= interval '0' then
    v_problem := format('The width must be above zero, not %s', candles.width);
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
        '%s candles are too many; the maximum is %s', v_count, c_most_candles
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
  'YES prices of the trades of a market from since on and before until, in candles of that width '
  '(seconds to weeks; not months). Candles begin at whole multiples of the width in UTC, counted '
  'from 2000-01-01. Without a trade there is no candle. At most 50,000 candles. Errors: NOT_FOUND, '
  'INVALID_REQUEST.';
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
      message = 'The end (until) must be a day after the start (since)',
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
  'What each trader did and realised on each UTC day from since on and before until; days on which '
  'nothing happened have no row. volume_cents is quantity x price of the fills, on the trader''s '
  'side: its sum over traders is not yes_volume_cents + no_volume_cents of the markets, because a '
  'transfer counts the same side for both. fee_cents are the fees paid, those of buys included. '
  'What sales, merges and settlements realised is profit and not proceeds: what they brought less '
  'their fees, and less what the shares had cost with their buy fees; realised_cents is the sum of '
  'the three. A correction counts on its own day, with the difference. Reads all trades once. '
  'Errors: INVALID_REQUEST.';
--! EndIncluded analytics/functions/daily_trader_results.sql
--! Included admin/views/categories.sql
create or replace view admin.categories as
select
  c.id as category_key,
  c.slug as category,
  c.name,
  c."position" as position,
  c.event_count::bigint as event_count,
  c.open_market_count::bigint as open_market_count,
  c.closed_market_count::bigint as closed_market_count
from catalog.categories as c;

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
create or replace view admin.events as
select
  e.id as event_key,
  e.public_id as event_id,
  e.category_id as category_key,
  c.slug as category,
  e.title,
  e.description,
  e.starts_at,
  e.ends_at,
  e.live as is_live,
  e.live_delay_ms,
  e.created_at,
  e.thumbnail_id,
  e.thumbnail_url
from catalog.events as e
left join catalog.categories as c on c.id = e.category_id;

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
create or replace view admin.markets as
select
  m.id as market_key,
  m.public_id as market_id,
  m.category_id as category_key,
  c.slug as category,
  m.event_id as event_key,
  e.public_id as event_id,
  m.title,
  m.description,
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
  b.version,
  m.thumbnail_id,
  m.thumbnail_url
from catalog.markets as m
left join catalog.categories as c on c.id = m.category_id
left join catalog.events as e on e.id = m.event_id
left join trading.market_state as b on b.market_id = m.id;

comment on view admin.markets is 'Binary questions, with their prices, volumes and counts.';
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
create or replace view admin.users as
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
comment on column admin.users.is_private is
  'Whether the profile is private: its name is not published.';
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
create or replace view admin.api_keys as
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
create or replace view admin.staff_keys as
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
comment on column admin.staff_keys.name is 'Who or what uses it.';
comment on column admin.staff_keys.role is 'analyst or operator.';
comment on column admin.staff_keys.created_at is 'When it was made.';
comment on column admin.staff_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.staff_keys.revoked_at is
  'When it was revoked; null while it is in force.';
--! EndIncluded admin/views/staff_keys.sql
--! Included admin/views/orders.sql
create or replace view admin.orders as
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
  'Internal key, for joins; ascending in the order of acceptance.';
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
  'Whether it is rejected rather than matched on arrival.';
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
create or replace view admin.order_reductions as
select
  x.order_id as order_key,
  x.quantity_before::int as quantity_before,
  x.quantity_after::int as quantity_after,
  x.at as reduced_at
from trading.order_reductions as x;

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
-- The same as analytics.trades, in the schema that operators may read.
create or replace view admin.trades as
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
comment on column admin.trades.taker_order_key is 'The taker''s order: internal key, for joins.';
comment on column admin.trades.taker_order_id is 'The taker''s order: public id.';
comment on column admin.trades.taker_user_key is 'The taker: internal key, for joins.';
comment on column admin.trades.taker_user_id is 'The taker: public id.';
comment on column admin.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column admin.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column admin.trades.maker_order_key is 'The maker''s order: internal key, for joins.';
comment on column admin.trades.maker_order_id is 'The maker''s order: public id.';
comment on column admin.trades.maker_user_key is 'The maker: internal key, for joins.';
comment on column admin.trades.maker_user_id is 'The maker: public id.';
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
-- The same as analytics.positions, in the schema that operators may read.
create or replace view admin.positions as
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
create or replace view admin.set_conversions as
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

comment on view admin.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each or given back for them.';
comment on column admin.set_conversions.conversion_key is 'Internal key, ascending in time.';
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
-- The same as analytics.journal_entries, in the schema that operators may read.
create or replace view admin.journal_entries as
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
  'Cents added to the account; negative if they were taken from it.';
comment on column admin.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column admin.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column admin.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column admin.journal_entries.created_at is 'When it happened.';
--! EndIncluded admin/views/journal_entries.sql
--! Included admin/views/cash_movements.sql
create or replace view admin.cash_movements as
select
  c.journal_id as journal_key,
  c.user_id as user_key,
  u.public_id as user_id,
  c.kind::text as kind,
  c.reference,
  c.amount_cents,
  j.created_at
from ledger.cash_movements as c
left join ledger.posted_journals as j on j.id = c.journal_id
left join identity.users as u on u.id = c.user_id;

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
create or replace view admin.resolutions as
select
  r.id as resolution_key,
  r.market_id as market_key,
  m.public_id as market_id,
  r.outcome::text as outcome,
  r.yes_payout_cents,
  r.corrects_resolution_id as corrects_resolution_key,
  r.reason,
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

comment on view admin.resolutions is 'The resolutions of markets and their corrections.';
comment on column admin.resolutions.resolution_key is 'Internal key, for joins; ascending in time.';
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
create or replace view admin.settlements as
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

comment on view admin.settlements is
  'What each resolution pays each position. A correction settles all positions of its market '
  'again, so sum over those with is_final.';
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
create or replace view admin.fee_schedules as
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
create or replace view admin.rate_limits as
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
create or replace view admin.stream_caps as
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
create or replace view admin.trading_pause as
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
create or replace view admin.verifications as
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
create or replace view admin.audit_entries as
select
  a.id as audit_key,
  a.at as called_at,
  a.operator,
  a.staff_key,
  a.action,
  a.arguments
from admin.audit_log as a;

comment on view admin.audit_entries is
  'The calls of the functions of schema admin: who, when, which one, with what arguments.';
comment on column admin.audit_entries.audit_key is
  'Internal key, ascending in the order of the calls.';
comment on column admin.audit_entries.called_at is 'When it was called.';
comment on column admin.audit_entries.operator is 'The login that called.';
comment on column admin.audit_entries.staff_key is
  'The name of the operator''s key, if the call came by GraphQL.';
comment on column admin.audit_entries.action is 'The function, without its schema.';
comment on column admin.audit_entries.arguments is
  'The arguments, and for some functions what they did; without secrets.';
--! EndIncluded admin/views/audit_entries.sql
--! Included grants.sql
-- The rights of the roles. A function that is not granted here can be called by its owner only.
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
-- The views of schema admin call these; operators have no right to their schemas.
grant execute on function analytics.now(), rate_limits.standard_policy() to exchange_operator;
--! EndIncluded grants.sql

-- What nothing calls any more.
drop function risk.change_limit(risk.limit_change, bigint, boolean, timestamptz);
drop type risk.limit_change;
drop type leaderboard.taken_facts;
drop function core.refuse_session();
drop function trading.release_orders(bigint, int);
drop function trading.due_requests(bigint, int, timestamptz);

-- Comments of what is as before.
comment on schema core is
  'What all other schemas use: the clock, identifiers, settings, error codes. Private.';
comment on schema identity is 'Users, their API keys and sessions, and the keys of staff. Private.';
comment on schema ledger is
  'Every cent, by double entry: accounts, journals, entries. Append-only, and checked by '
  'ledger.verify(). Private.';
comment on schema rate_limits is
  'The limits of requests and event streams, and their counters. Private.';
comment on schema leaderboard is
  'What traders realised, by day and by window, ranked. Derived from trading as of the last '
  'refresh, and compared with it by leaderboard.verify(). Private.';
comment on schema jobs is
  'Work that is due at some time, in pieces that are each one short transaction: a function does '
  'one piece and returns how much that was, 0 when nothing is left. For role exchange_worker.';
comment on type rate_limits.policy is
  'The limit of a user''s trading requests: the sustained rate, and how many back to back.';
comment on type rate_limits.counter is
  'The state of one counter: the requests that it has room for now. For a rolling window: its '
  'length, the number of the last request allowed, and whether it is time to clean up behind it. '
  'For v1-trading: what is spent, and the policy.';
comment on type trading.order_request is
  'One request of a batch, made ready: price and time in force as they take effect (99 or 1 for a '
  'market order, ioc for an order that cannot rest), the side and price it would be stored with. '
  'market is its place among the batch''s markets. market_id and user_id are null when there is no '
  'such market or user, quantity is null with a budget. problem says what is malformed; is_market, '
  'that it came without a price. relieved_cents is by how much it lowers the cost of its user''s '
  'open orders: that of the replaced order, or of the scheduled order itself. The last three are '
  'of the scheduled order that a request releases.';
comment on type trading.book_slice is
  'The tops of the books of a batch''s markets as deep as it can reach, each side in price-time '
  'order. A floor, for each market, is the last price read of a side with more orders at it or '
  'below; 0 when all that the batch can reach was read.';
comment on type trading.order_result is
  'The result of one request: a rejection (code), a replay of another request of the batch '
  '(replay_of, a place) or of an order from before (replayed_order_id), or an order as it stood '
  'right after its own matching. maker is its place among the makers if it came to rest. A replay '
  'of an order from before has a left_quantity, or a cancel_reason, only if it is a maker of the '
  'batch: otherwise its row has them.';
comment on type trading.match_result is
  'The result of matching a batch. reached_floor: it came to the end of a book slice and must be '
  'done again with a deeper one. rested are the requests that came to rest: they are makers, too, '
  'behind those of the slice. left_quantities is what is left of each maker, below 0 once '
  'cancelled.';
comment on type api.result is
  'The result of a command: the code and message of a rejection, or the body of the response as '
  'JSON text. replayed: the request had been carried out before.';
comment on table core.error_codes is
  'Every error code of the exchange. The engine returns codes as values; functions of schema admin '
  'raise errors with the SQLSTATE. src/database/error_codes.ts and docs/errors.md have the same '
  'list.';
comment on table core.settings is 'Settings of the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are rejected, cancels work.';
comment on column core.settings.trading_pause_reason is
  'The reason that the last call gave, whether it began or ended the pause.';
comment on table identity.staff_keys is
  'Keys of analysts and operators, who work by GraphQL and do not trade. The key itself is shown '
  'once, when it is made; only its SHA-256 is kept.';
comment on column identity.staff_keys.name is
  'Who or what uses the key, as in the audit log. No two keys in force have the same name.';
comment on column identity.staff_keys.role is
  'analyst: a key ja_..., for schema analytics; operator: a key jo_..., for schema admin.';
comment on table identity.sessions is
  'Browsers that are logged in on the website. A session that ends is deleted. Of the browser''s '
  'cookie only the SHA-256 is kept.';
comment on table identity.session_tokens is
  'Short-lived tokens with which the pages of a session call the API; only their SHA-256 is kept. '
  'They are deleted with their session. Unlogged: after a crash pages ask for new ones.';
comment on table ledger.posted_entries is
  'The lines of ledger.posted_journals: signed cents on an account, with the balance before and '
  'after and the account''s version. All lines of a journal arrive in one statement and sum to '
  'zero. ledger.entries shows them with those of the trades. Append-only. No foreign keys: '
  'ledger.post_journal is the only writer, and ledger.verify() checks what they would.';
comment on table rate_limits.rate_policies is
  'Users whose trading requests are limited by a policy of their own; all others have the standard '
  'one, also those whose own policy has expired. Operators change them by admin.set_rate_policy.';
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
comment on table rate_limits.grants is
  'The requests that were allowed: the exact log of each rolling window. Requests of one moment '
  'are one row. Their numbers run on, so how many a window holds is the difference of two of them, '
  'and no request has to be counted. Unlogged, as rate_limits.windows is.';
comment on table rate_limits.allowances is
  'The token buckets of trading requests (v1-trading), one for each user who made any lately; a '
  'user without a row has a full one. Unlogged: after a crash all are full.';
comment on column rate_limits.allowances.removable_at is
  'Not before the bucket is full again. Changed only now and then, as in rate_limits.windows.';
comment on table trading.orders is
  'Every order in the form its trader gave it. The columns that its indexes read never change, so '
  'that fills and cancels are HOT updates. No foreign keys: the engine is the only writer and '
  'looks market and user up itself; ledger.verify() checks what they would.';
comment on table trading.active_orders is
  'The resting and the scheduled orders, with the columns that matching reads. A row is inserted '
  'when an order becomes one of them and deleted when it is neither any more.';
comment on table trading.order_reductions is
  'Shares that amendments took off orders which kept their place in the queue: the only change of '
  'an order that its own row does not show. Books of the past need it. Append-only. No foreign '
  'key: the order may be in the archive.';
comment on table trading.archive_progress is
  'How far archival has come through trading.orders: one row, which archival locks.';
comment on table trading.archive_queue is
  'Orders without a fill that archival has passed, and when to look at them again: 30 days after '
  'they were cancelled or, if they were open, after they were seen, since they cannot be due '
  'before. Written by archival only, so that it costs trading nothing.';
comment on table trading.settlements is
  'What each resolution pays each position that holds shares. A correction settles all of them '
  'again: its rows are the whole figures, not differences, so that of each market the rows of the '
  'last resolution are the ones that hold. Append-only. No foreign keys: see trading.orders.';
comment on table trading.outbox is
  'The outbox: events written by the transactions that they are about. api.relay_outbox() moves '
  'them to trading.sent_events right after the commit. A transaction that notifies holds a lock of '
  'the whole cluster through the flush of its commit; one that writes here does not. Unlogged: '
  'after a crash every stream starts again from a snapshot.';
comment on table trading.outbox_relay is
  'At most one row: how far api.relay_outbox() has come. With it, it skips the entries of sent '
  'events, which stay in the index of trading.outbox until the next vacuum. Unlogged like '
  'trading.outbox: a crash removes the row, and api.relay_outbox() makes another.';
comment on column trading.outbox_relay.sent_through_id is
  'All events of trading.outbox up to this id are sent, and no other can appear there any more.';
comment on column trading.outbox_relay.noted_id is
  'The last id that was given out when noted_xid began: once all transactions before noted_xid '
  'have ended, all events up to this id are visible.';
comment on table leaderboard.state is
  'How far the leaderboard has come: one row, which a refresh locks.';
comment on column leaderboard.state.after_trade_id is
  'Every trade up to this one has been taken, or never will be. Later ones are looked at again '
  'each time, since ids do not commit in order; leaderboard.markets says which of them were taken. '
  'after_conversion_id and after_resolution_id likewise.';
comment on table leaderboard.markets is
  'How far the leaderboard has come in each market. Within a market ids commit in order, since '
  'they are given out under its lock, so all above the last one taken are new.';
comment on table leaderboard.days is
  'What each trader realised on each UTC day in each category, and in all together (category_id '
  '0). Corrections change the day of the first resolution. No foreign keys, since all of it is '
  'derived, and checked by leaderboard.verify().';
comment on table leaderboard.standings is
  'The sums of leaderboard.days over each window, for each user who realised something in it. '
  'Their order by rank is that of the index. No foreign keys: see leaderboard.days.';
comment on column leaderboard.standings.user_public_id is
  'As in identity.users: the last criterion of the rank.';
comment on table leaderboard.bands is
  'How many standings of a window fall into each band of profit. A rank is the count of the bands '
  'above and of the better ones within one band, so no query counts a million standings.';
comment on table leaderboard.profile_changes is
  'Users who became private or public, or left or joined the leaderboard, since the last refresh. '
  'Until then readers correct the counts of public traders by these rows. No foreign key: it would '
  'lock the user.';
comment on table admin.audit_log is
  'The calls of the functions of schema admin: who, when, which one, with what arguments. Written '
  'in the transaction of the call. Append-only.';
comment on column admin.audit_log.staff_key is
  'The name of the operator''s key, if the call came by GraphQL. The server has one login for all '
  'operators and puts the name into the setting exchange.operator, so it is as trustworthy as that '
  'login.';
comment on type trading.accounted_batch is
  'The accounting of the fills of a batch: a trade for each, with its cash; what traders and '
  'markets have after all of them, at their places in the batch, with what is to be added to a '
  'market''s figures; the holdings that changed.';
reset role;
