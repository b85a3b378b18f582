--! Previous: sha1:0e8612d8e8d24aa0c7870b38cf781f7adec2401e
--! Hash: sha1:af3b88666c7107b2786bba7db74befecb0a4f1a6
--! Message: Bound what operators give

set local lock_timeout = '2s';
set local role exchange_owner;
-- Calls that were under way when the migration before committed may call what this one drops. It
-- waits until they have ended, 5 s at most.
do $$
declare
  v_under_way constant text[] := array(
    select l.virtualtransaction
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    where l.locktype = 'virtualxid'
      and l.pid <> pg_backend_pid()
      and a.datname = current_database()
      and a.usename is not null
  );
begin
  for i in 1 .. 250 loop
    exit when not exists (
      select
      from pg_locks as l
      where l.locktype = 'virtualxid'
        and l.virtualtransaction = any (v_under_way)
    );
    perform pg_sleep(0.02);
  end loop;
end
$$;
drop function if exists trading.match_orders(
  trading.matched_batch, trading.limit_arrays, bigint[], bigint[], int
);
drop function if exists trading.without_starved(trading.cancelled_maker[], boolean[], int);
drop function if exists trading.starved_that_stay(boolean[], trading.cancelled_maker[], boolean);
drop function if exists trading.clear_way(
  trading.market_context[], trading.order_request[], trading.matched_batch
);
drop function if exists trading.atomic_rejections(trading.matched_batch);
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
    when 'email_claims_look_like_an_email' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'users_display_name_is_not_blank' then
      'The display name must not be blank or longer than 100 characters'
    when 'users_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'users_avatar_url_is_short' then
      'The avatar URL must have at most 2000 characters'
    when 'email_claims_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'settings_sign_up_policy_is_open_invitation_or_closed' then
      'The policy must be open, invitation or closed'
    when 'settings_play_money_is_a_deposit' then
      'The play money must be at most 10,000,000,000,000.00 EUR'
    when 'api_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'api_keys_scopes_are_read_trade_or_both' then
      'The scopes must be read, trade or both, each once'
    when 'api_keys_expire_at_a_moment_after_they_are_made' then
      'The key must expire at a moment in the future; null is never'
    when 'api_keys_allow_from_1_to_20_addresses' then
      'The allowed addresses must be a list of 1 to 20 addresses or networks; null allows all'
    when 'api_keys_allow_ipv4_addresses_as_such' then
      'Write an IPv4 address or network as such, and not as IPv6'
    when 'passkeys_name_is_not_blank' then
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
      (
        select least(coalesce(max(c."position"), 0), 2147483646) + 1
        from catalog.categories as c
      )
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
  if create_session.valid_for is null
    or create_session.valid_for > interval '100 years'
    or v_at + create_session.valid_for <= v_at
  then
    perform core.raise_error(
      'INVALID_REQUEST', 'A session must be valid for longer than zero, and 100 years at most'
    );
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
  if not isfinite(set_fee_schedule.effective_from) then
    perform core.raise_error('INVALID_REQUEST', 'The schedule must begin at a moment');
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
--! Included trading/functions/verify_events.sql
-- Only events behind the last one that was removed count. A clock that was set back can have sent
-- later events into an older partition, which is dropped with it.
create or replace function trading.verify_events()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  kept as not materialized (
    select e.*
    from trading.sent_events as e
    where e.id > (select r.removed_through_id from trading.outbox_relay as r)
  ),
  announced as (
    select u.trade_id, e.id as event_id, e.traded_at, (e.sent_at at time zone 'UTC')::date as day
    from kept as e
    cross join lateral unnest(e.trade_ids) as u (trade_id)
  )
  -- After a restore or a failover both numbers go on from the microseconds of the clock.
  select 'event follows the one before', 'event ' || x.id,
    'event ' || x.id_before + 1 || ' at ' || x.position_before + x.width,
    'at ' || x.position
  from (
    select e.id, e.position,
      1 + coalesce(cardinality(e.trade_ids), 0) as width,
      lag(e.id) over by_id as id_before,
      lag(e.position) over by_id as position_before,
      floor(extract(epoch from e.sent_at) * 1000000)::bigint as restart
    from kept as e
    window by_id as (order by e.id)
  ) as x
  where (x.id, x.position) <> (x.id_before + 1, x.position_before + x.width)
    and (x.id, x.position) <> (
      greatest(x.id_before + 1, x.restart) + 1,
      greatest(x.position_before + 1, x.restart) + x.width
    )

  union all
  select 'last event is that of the relay', 'event ' || r.last_event_id,
    r.last_event_id || ' at ' || r.last_position, e.id || ' at ' || e.position
  from trading.outbox_relay as r
  cross join (
    select max(x.id) as id, max(x.position) as position from kept as x
  ) as e
  where (e.id, e.position) <> (r.last_event_id, r.last_position)

  union all
  select 'last event is that of the relay', 'row of trading.outbox_relay', '1', '0'
  where not exists (select from trading.outbox_relay)

  union all
  select 'event is of trades of its time', 'event ' || a.event_id,
    'trade ' || a.trade_id || ' of ' || a.traded_at, coalesce('of ' || t.created_at, 'none')
  from announced as a
  left join trading.trades as t on t.id = a.trade_id
  where t.created_at is distinct from a.traded_at

  -- Trades of the first day may have been announced the day before.
  union all
  select 'trade is announced once', 'trade ' || t.id, '1', coalesce(s.count, 0)::text
  from trading.trades as t
  left join (
    select x.trade_id, count(*) as count
    from (
      select a.trade_id from announced as a
      union all
      select u.trade_id
      from trading.outbox as o
      cross join lateral unnest(o.trade_ids) as u (trade_id)
    ) as x
    group by x.trade_id
  ) as s on s.trade_id = t.id
  where t.id > (
      select max(a.trade_id)
      from announced as a
      where a.day = (select min(b.day) from announced as b)
    )
    and coalesce(s.count, 0) <> 1

  union all
  select 'event of a user is of that user', 'event ' || e.id,
    coalesce('user ' || t.user_id, 'no user'), coalesce('user ' || e.user_id, 'no user')
  from kept as e
  left join trading.traders as t on t.public_id::text = e.payload ->> 'userId'
  where e.kind = 'user_event'
    and e.user_id is distinct from t.user_id

  union all
  select 'event says why its order was cancelled', 'event ' || e.id,
    coalesce(o.cancel_reason::text, 'no cancelled order'),
    e.payload -> 'event' ->> 'cancelReason'
  from kept as e
  left join (
    select x.public_id, x.cancel_reason from trading.orders as x
    union all
    select y.public_id, y.cancel_reason from trading.archived_orders as y
  ) as o on o.public_id::text = e.payload -> 'event' ->> 'orderId'
  where e.kind = 'user_event'
    and e.payload -> 'event' ->> 'type' = 'order_cancelled'
    and o.cancel_reason::text is distinct from e.payload -> 'event' ->> 'cancelReason'
$$;

comment on function trading.verify_events() is
  'The part of ledger.verify() about the events that user streams continue from: none is missing '
  'between two others, and they fit the trades and orders that they are about. One row for each '
  'broken invariant.';
--! EndIncluded trading/functions/verify_events.sql
update identity.users
set avatar_url = null
where length(avatar_url) > 2000;
alter table identity.users
  add constraint users_avatar_url_is_short check (length(avatar_url) <= 2000) not valid;
update identity.settings
set play_money_cents = 1000000000000000
where play_money_cents > 1000000000000000;
alter table identity.settings
  add constraint settings_play_money_is_a_deposit
    check (play_money_cents <= 1000000000000000) not valid;
reset role;
