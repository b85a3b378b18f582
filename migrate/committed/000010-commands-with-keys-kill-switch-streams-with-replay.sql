--! Previous: sha1:f59b0834d4f4d4d121248d87ad8b50e3e7f81409
--! Hash: sha1:a5845517e005d67497f0479463402ef9fa7645dc
--! Message: Commands with keys, kill switch, streams with replay

set local lock_timeout = '2s';
set local role exchange_owner;
-- All at first, in the order of a command: each later would be one more chance of a deadlock.
lock table
  identity.api_keys, trading.idempotency_keys, trading.active_orders, trading.outbox_relay,
  trading.outbox, trading.sent_events
  in access exclusive mode;

insert into core.error_codes (sqlstate, code, http_status, code_shown, message) values
  ('EX035', 'IDEMPOTENCY_KEY_REUSED', 422, true,
    'The idempotency key was used by another request'),
  ('EX036', 'DEAD_MAN_FIRED', 409, true,
    'The dead man''s switch has fired; orders are being cancelled'),
  ('EX037', 'BODY_TOO_LARGE', 413, false, 'The body is larger than 64 KiB'),
  ('EX038', 'INTERNAL_ERROR', 500, false, 'Internal server error'),
  ('EX039', 'SERVICE_UNAVAILABLE', 503, false, 'Service unavailable'),
  ('EX040', 'EVENTS_GONE', 409, true, 'The events after this id are not kept any more'),
  ('EX041', 'KEY_SCOPE', 403, true, 'The API key does not have the scope for this');
insert into rate_limits.buckets (bucket, max_requests, window_seconds) values
  ('v1-cancel-all', 60, 60);

comment on type trading.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
alter type trading.order_request
  add attribute request_fingerprint uuid,
  add attribute cancels_own boolean;
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
alter type trading.maker_arrays
  drop attribute has_expired,
  add attribute end_reasons trading.cancel_reason[];
comment on type trading.maker_arrays is
  'The resting orders that a batch might meet, as matching reads them. books and shares are places '
  'as in trading.match_request. cents is what a match brings the maker for each share, below 0 for '
  'a buy; gains is how its shares change by it, 1 for a buy and -1 for a sell. end_reasons: why an '
  'order that has expired, or is stopped by the dead man''s switch, is cancelled when it is met.';
alter type trading.trader_arrays
  add attribute stopped_order_ids bigint[],
  add attribute missed_switch boolean[];
comment on type trading.trader_arrays is
  'The traders a batch might touch, in ascending user id, one place for each in every array. '
  'blocked_by is why one may not trade (risk.blocked_by); of makers only excluded counts. '
  'limited are those with a loss limit, now or soon. stopped_order_ids: the open orders up to this '
  'one are stopped by the dead man''s switch (trading.last_stopped_order). missed_switch: the '
  'switch expired between the time of the batch and the moment at which it had the trader''s lock. '
  'Both are null when no switch has expired.';
alter type trading.match_request
  add attribute is_fok boolean,
  add attribute cancels_own boolean;
alter type trading.placed_order
  add attribute request_fingerprint uuid,
  add attribute cancels_own boolean;

alter table trading.active_orders add column cancels_own boolean;
comment on column trading.active_orders.cancels_own is
  'Whether own resting orders that it meets at its release or amendment are cancelled; null: no.';

-- Only functions of the database read it, and they come with this migration.
-- squawk-ignore ban-drop-not-null
alter table trading.idempotency_keys alter column order_id drop not null;
alter table trading.idempotency_keys
  add column request_fingerprint uuid,
  add column reply text,
  add column cancelled_orders int,
  add constraint idempotency_keys_stand_for_an_order_or_a_request check (
    order_id is not null or request_fingerprint is not null
  ) not valid,
  add constraint idempotency_keys_of_orders_have_no_reply check (
    order_id is null or (reply is null and cancelled_orders is null)
  ) not valid;
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

alter table trading.outbox
  add column user_id bigint,
  add column trade_ids bigint[],
  add column traded_at timestamptz,
  add column user_ids bigint[];
alter table trading.outbox set logged;
comment on table trading.outbox is
  'The outbox: events written by the transactions that they are about. api.relay_outbox() moves '
  'them to trading.sent_events right after the commit. A transaction that notifies holds a lock of '
  'the whole cluster through the flush of its commit; one that writes here does not.';
comment on column trading.outbox.channel is
  'The kind of the event, see trading.sent_events. Its other columns are described there too.';
comment on column trading.outbox.user_id is
  'Of a user_event: whose it is. Null: the relay looks the user up.';

alter table trading.outbox_relay
  add column last_position bigint not null default 0,
  add column last_sent_at timestamptz not null default '-infinity',
  add column removed_through_id bigint not null default 0,
  add column cluster text;
alter table trading.outbox_relay set logged;
insert into trading.outbox_relay (sent_through_id, noted_id, noted_xid, last_event_id)
values (0, 0, '3', floor(extract(epoch from now()) * 1000000)::bigint)
on conflict do nothing;
update trading.outbox_relay set removed_through_id = last_event_id;
comment on table trading.outbox_relay is
  'One row: how far api.relay_outbox() has come. With it, it skips the entries of sent events, '
  'which stay in the index of trading.outbox until the next vacuum.';
comment on column trading.outbox_relay.last_event_id is
  'The id of the last event in trading.sent_events, also once that is removed. last_position and '
  'last_sent_at are of the same event.';
comment on column trading.outbox_relay.removed_through_id is
  'The id of the last event that jobs.remove_sent_events() removed.';
comment on column trading.outbox_relay.cluster is
  'The cluster and the timeline of the last event. Another one means that the database was '
  'restored or that a standby was promoted: ids then go on from a far higher number, so that an id '
  'that was given out before and is lost stays unknown.';

-- The events of the last minutes were for servers, which begin again from snapshots.
-- squawk-ignore ban-drop-table
drop table trading.sent_events;
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
  'market_changed ({marketId, version}), user_event ({userId, event}), market_status ({marketId, '
  'status}), market_settled ({marketId, outcome, resolutionId, balances}), api_key_revoked '
  '({apiKeyId}), session_ended ({sessionId}), or tick: an hour passed without an event.';
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
-- The next migration builds it, and by that waits for all calls of before.
-- squawk-ignore require-concurrent-index-deletion
drop index trading.dead_man_switches_by_firing;

alter table identity.api_keys
  add column scopes text[] not null default '{read,trade}',
  add column expires_at timestamptz,
  add column allowed_addresses cidr[],
  add column last_used_address inet,
  add column replaces bigint;
alter table identity.api_keys
  add constraint api_keys_scopes_are_read_trade_or_both check (
    scopes in ('{read}', '{trade}', '{read,trade}')
  ) not valid,
  add constraint api_keys_expire_at_a_moment_after_they_are_made check (
    expires_at > created_at and isfinite(expires_at)
  ) not valid,
  add constraint api_keys_allow_from_1_to_20_addresses check (
    allowed_addresses is null
    or (
      array_ndims(allowed_addresses) = 1
      and cardinality(allowed_addresses) <= 20
      and array_position(allowed_addresses, null) is null
    ) is true
  ) not valid,
  add constraint api_keys_allow_ipv4_addresses_as_such check (
    not inet '::ffff:0:0/96' >>= any (allowed_addresses)
  ) not valid,
  add constraint api_keys_last_used_address_is_that_of_a_use check (
    last_used_address is null or last_used_at is not null
  ) not valid,
  add constraint api_keys_last_used_address_is_of_one_host check (
    masklen(last_used_address) = case family(last_used_address) when 4 then 32 else 128 end
    and not last_used_address <<= inet '::ffff:0:0/96'
  ) not valid,
  add constraint api_keys_replaces_fkey foreign key (replaces) references identity.api_keys (id) not valid;
-- The column is new and empty, and no order waits for this table.
-- squawk-ignore disallowed-unique-constraint, constraint-missing-not-valid
alter table identity.api_keys add constraint api_keys_are_replaced_once unique (replaces);
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

drop function jobs.next_work(bigint[]);
drop function admin.create_api_key(uuid, text);
drop function api.create_key(uuid, text);
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
    when 'email_claims_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'settings_sign_up_policy_is_open_invitation_or_closed' then
      'The policy must be open, invitation or closed'
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
--! Included identity/functions/plain_address.sql
create or replace function identity.plain_address(address inet)
returns inet
language sql immutable parallel safe
return case
  when plain_address.address <<= inet '::ffff:0:0/96'
    then inet '0.0.0.0' + (host(plain_address.address)::inet - inet '::ffff:0:0')
  else host(plain_address.address)::inet -- mutant: networks_count_as_addresses
end;

comment on function identity.plain_address(inet) is
  'The address of a host without a network, and as IPv4 if it is IPv4 written as IPv6.';
--! EndIncluded identity/functions/plain_address.sql
--! Included identity/functions/is_key_in_force.sql
create or replace function identity.is_key_in_force(key identity.api_keys)
returns boolean
language sql stable
return (key).revoked_at is null
  and ((key).expires_at is null or (key).expires_at > core.now()); -- mutant: keys_never_expire

comment on function identity.is_key_in_force(identity.api_keys) is
  'Whether an API key is neither revoked nor expired.';
--! EndIncluded identity/functions/is_key_in_force.sql
--! Included identity/functions/add_api_key.sql
create or replace function identity.add_api_key(
  user_id bigint,
  name text,
  key_hash bytea,
  scopes text[],
  expires_at timestamptz,
  allowed_addresses cidr[],
  replaces bigint default null
)
returns identity.api_keys
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.api_keys (
    user_id, name, key_hash, scopes, expires_at, allowed_addresses, replaces
  )
  values (
    add_api_key.user_id, add_api_key.name, add_api_key.key_hash,
    array(
      select s.scope from unnest(add_api_key.scopes) as s (scope) order by s.scope collate "C"
    ),
    add_api_key.expires_at, add_api_key.allowed_addresses, add_api_key.replaces
  )
  returning *
$$;

comment on function identity.add_api_key(
  bigint, text, bytea, text[], timestamptz, cidr[], bigint
) is
  'Adds an API key with this SHA-256. The scopes may be in any order. Errors: those of the checks '
  'of identity.api_keys.';
--! EndIncluded identity/functions/add_api_key.sql
--! Included identity/functions/revoke_api_keys.sql
create or replace function identity.revoke_api_keys(key_ids bigint[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with revoked as (
    update identity.api_keys as k
    set revoked_at = coalesce(k.revoked_at, core.now())
    where k.id = any (revoke_api_keys.key_ids)
    returning k.public_id
  )
  insert into trading.outbox (channel, payload)
  select 'api_key_revoked', json_build_object('apiKeyId', r.public_id)
  from revoked as r
$$;

comment on function identity.revoke_api_keys(bigint[]) is
  'Revokes API keys, and writes an api_key_revoked event of each for the servers. Revoking one '
  'again changes nothing. Locks: the rows of the keys.';
--! EndIncluded identity/functions/revoke_api_keys.sql
--! Included identity/functions/rotate_api_key.sql
create or replace function identity.rotate_api_key(
  key_id bigint, overlap interval, key_hash bytea
)
returns identity.api_keys
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_least constant interval := '5 minutes';
  c_most constant interval := '7 days';
  -- A moment of a later year would not be written with four digits.
  c_last constant timestamptz := timestamptz '9999-12-31T23:59:59.999Z';
  v_at timestamptz := core.now();
  v_old identity.api_keys;
begin
  -- A shorter overlap could end before each server has looked at the key anew.
  if rotate_api_key.overlap is null
    or not (rotate_api_key.overlap = '0' or rotate_api_key.overlap between c_least and c_most)
  then
    perform core.raise_error(
      'INVALID_REQUEST', 'The overlap must be zero, or from 5 minutes to 7 days'
    );
  end if;
  select k.* into strict v_old
  from identity.api_keys as k
  where k.id = rotate_api_key.key_id
  for no key update; -- mutant: keys_rotated_at_once
  if not identity.is_key_in_force(v_old) then
    perform core.raise_error('INVALID_STATE', 'The key is not in force any more');
  end if;
  if exists (
    select
    from identity.api_keys as k
    where k.replaces = v_old.id
  ) then
    perform core.raise_error('INVALID_STATE', 'The key was rotated before, and ends by itself');
  end if;

  if rotate_api_key.overlap = '0' then
    perform identity.revoke_api_keys(array[v_old.id]); -- mutant: rotated_keys_stay
  else
    update identity.api_keys as k
    set expires_at = least(k.expires_at, v_at + rotate_api_key.overlap) -- mutant: rotation_prolongs
    where k.id = v_old.id;
  end if;
  return identity.add_api_key(
    user_id => v_old.user_id,
    name => v_old.name,
    key_hash => rotate_api_key.key_hash,
    scopes => v_old.scopes, -- mutant: rotation_adds_scopes
    expires_at => case when v_old.expires_at is not null then
      least(v_at
        + extract(epoch from v_old.expires_at - v_old.created_at) * interval '1 second', c_last)
    end,
    allowed_addresses => v_old.allowed_addresses, -- mutant: rotation_opens_addresses
    replaces => v_old.id
  );
end
$$;

comment on function identity.rotate_api_key(bigint, interval, bytea) is
  'Makes a key with this SHA-256 in the place of another: with its name, scopes, addresses and, if '
  'it expires, as long a life, to the end of the year 9999 at most. The other one is valid for an '
  'overlap from now on, and not longer than it was; with an overlap of zero it is revoked. A key '
  'is rotated once. Errors: INVALID_REQUEST, INVALID_STATE. Locks: the row of the key.';
--! EndIncluded identity/functions/rotate_api_key.sql
--! Included identity/functions/check_key_counts.sql
create or replace function identity.check_key_counts(user_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 50;
  c_most_a_day constant int := 100;
begin
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = check_key_counts.user_id
      and identity.is_key_in_force(k)
      and not exists (
        select
        from identity.api_keys as n
        where n.replaces = k.id
      )
  ) > c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s keys: revoke one first', c_most)
    );
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = check_key_counts.user_id
      and k.created_at > core.now() - interval '1 day' -- mutant: keys_without_end
  ) > c_most_a_day then
    perform core.raise_error(
      'INVALID_STATE', format('An account makes at most %s keys in 24 hours', c_most_a_day)
    );
  end if;
end
$$;

comment on function identity.check_key_counts(bigint) is
  'Ends a transaction that made an API key for a user with too many: 50 are in force, without '
  'those that were rotated, and 100 are made in 24 hours. The caller has locked the user''s row. '
  'Errors: INVALID_STATE.';
--! EndIncluded identity/functions/check_key_counts.sql
--! Included identity/functions/key_details.sql
create or replace function identity.key_details(key identity.api_keys)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'name', (key).name,
    'scopes', (key).scopes,
    'expiresAt', core.iso8601((key).expires_at),
    -- As inet, an address is written without its length.
    'allowedAddresses', (key).allowed_addresses::inet[],
    'rotated', (key).replaces is not null
  )
$$;

comment on function identity.key_details(identity.api_keys) is
  'What a mail says of a new API key: its name and its powers.';
--! EndIncluded identity/functions/key_details.sql
--! Included identity/functions/notify_user.sql
create or replace function identity.notify_user(
  kind text, user_id bigint, details json default '{}'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_a_day constant int := 20;
  v_at timestamptz := core.now();
begin
  -- One that a worker has taken is passed over, and not waited for.
  update identity.mails as m
  set details = notify_user.details
  where m.id = (
    select x.id
    from identity.mails as x
    join identity.users as u on u.id = x.user_id
    where notify_user.kind <> 'new_key'
      and x.user_id = notify_user.user_id
      and x.kind = notify_user.kind
      and x.due_at is not null
      and x.attempts = 0
      and x.address = u.email
    limit 1
    for update of x skip locked
  );
  if found then -- mutant: every_notice_is_sent
    return;
  end if;
  perform identity.queue_mail(notify_user.kind, u.id, u.email, notify_user.details)
  from identity.users as u
  where u.id = notify_user.user_id
    and identity.is_confirmed(u)
    and (notify_user.kind = 'new_key' or (
      select count(*)
      from identity.mails as m
      where m.user_id = notify_user.user_id
        and m.kind = notify_user.kind
        and m.created_at > v_at - interval '1 day'
    ) < c_most_a_day); -- mutant: notices_without_end
end
$$;

comment on function identity.notify_user(text, bigint, json) is
  'Writes a notice to a user into the outbox, unless the address is not confirmed yet. One of the '
  'same kind that waits gets these details instead, and there are at most 20 of a kind in 24 '
  'hours. Of new keys each is reported: another one must not hide it, and their number is limited '
  'itself.';
--! EndIncluded identity/functions/notify_user.sql
--! Included identity/functions/lock_key_maker.sql
create or replace function identity.lock_key_maker(user_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
begin
  -- Held, so that the keys are counted one creation after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = lock_key_maker.user_id
  for no key update;
  if not identity.is_confirmed(v_user) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  return v_user.id;
end
$$;

comment on function identity.lock_key_maker(uuid) is
  'Begins a transaction in which a user makes an API key: locks the user, and returns the key of '
  'the row. Errors: EMAIL_UNCONFIRMED. Locks: the row of the user in identity.users, for which no '
  'trading waits.';
--! EndIncluded identity/functions/lock_key_maker.sql
--! Included identity/functions/accept_new_key.sql
create or replace function identity.accept_new_key(made identity.api_keys)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform identity.check_key_counts((made).user_id);
  perform identity.notify_user('new_key', (made).user_id, identity.key_details(made));
end
$$;

comment on function identity.accept_new_key(identity.api_keys) is
  'Ends a transaction in which a user made an API key: it is one too many, or a mail reports it. '
  'The caller has locked the user (identity.lock_key_maker). Errors: INVALID_STATE.';
--! EndIncluded identity/functions/accept_new_key.sql
--! Included rate_limits/functions/policy_of.sql
create or replace function rate_limits.policy_of(user_id uuid, at timestamptz)
returns rate_limits.policy
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy rate_limits.policy;
begin
  select p.tier, p.requests_per_minute::int, p.burst_capacity::int, p.expires_at
  into v_policy
  from identity.users as u
  join rate_limits.rate_policies as p on p.user_id = u.id
  where u.public_id = policy_of.user_id
    and (p.expires_at is null or p.expires_at > policy_of.at);
  return case when found then v_policy else rate_limits.standard_policy() end;
end
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
  'The counters that the requests given to api.count_requests use, and how often.';
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
  if 'v1-trading' <> any (lock_counters.checks.buckets) then
    insert into rate_limits.windows as w (bucket, subject, removable_at)
    select c.bucket, c.subject, '-infinity'
    from unnest(lock_counters.checks.buckets, lock_counters.checks.subjects) with ordinality
      as c (bucket, subject, place)
    where c.bucket <> 'v1-trading'
    order by c.place
    on conflict on constraint windows_pkey do update set taken = w.taken where false; -- mutant: counters_not_locked
  end if;

  if 'v1-trading' = any (lock_counters.checks.buckets) then
    insert into rate_limits.allowances as a (user_id, at, removable_at)
    select c.subject::uuid, 'epoch', '-infinity'
    from unnest(lock_counters.checks.buckets, lock_counters.checks.subjects) with ordinality
      as c (bucket, subject, place)
    where c.bucket = 'v1-trading'
    order by c.place
    on conflict on constraint allowances_pkey do update set spent = a.spent where false;
  end if;
end
$$;

comment on function rate_limits.lock_counters(rate_limits.checks) is
  'Makes the counters that are missing, and locks all of them until the transaction ends: rolling '
  'windows by bucket and subject, then allowances by user.';
--! EndIncluded rate_limits/functions/lock_counters.sql
--! Included rate_limits/functions/record_grants.sql
create or replace function rate_limits.record_grants(
  counters rate_limits.counter[], granted int[], at timestamptz
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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
end
$$;

comment on function rate_limits.record_grants(rate_limits.counter[], int[], timestamptz) is
  'Records how many requests each of the locked rolling windows allowed at this time. Once in a '
  'window it also removes the grants that have left it. Token buckets: rate_limits.spend_tokens.';
--! EndIncluded rate_limits/functions/record_grants.sql
--! Included rate_limits/functions/spend_tokens.sql
create or replace function rate_limits.spend_tokens(
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
  update rate_limits.allowances as a set
    spent = n.spent,
    at = spend_tokens.at,
    removable_at = case
      when a.removable_at between n.full_at and n.full_at + c_slack then a.removable_at
      else n.full_at + c_slack
    end
  from unnest(spend_tokens.counters, spend_tokens.granted) as c (
    bucket, subject, free, taken, width, is_due, spent, policy, granted
  )
  cross join lateral (
    select
      c.spent + c.granted * c_token as spent,
      spend_tokens.at + make_interval(
        secs => (c.spent + c.granted * c_token) / ((c.policy).requests_per_minute * 1000000.0)
      ) as full_at
  ) as n
  where a.user_id = case c.bucket when 'v1-trading' then c.subject::uuid end
    and c.granted > 0;
end
$$;

comment on function rate_limits.spend_tokens(rate_limits.counter[], int[], timestamptz) is
  'Records how many requests each of the locked token buckets allowed at this time. Rolling '
  'windows: rate_limits.record_grants.';
--! EndIncluded rate_limits/functions/spend_tokens.sql
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
  'see trading.request_blocked_by.';
--! EndIncluded trading/functions/request_rejection.sql
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
      when r.self_trade not in ('reject', 'cancel_resting')
        then 'selfTrade: must be one of reject, cancel_resting'
      when r.post_only and r.time_in_force <> 'gtc'
        then 'postOnly: needs a price and gtc, and no budgetCents'
    end,
    r.is_market,
    0::bigint,
    null::bigint,
    null::uuid,
    null::timestamptz,
    r.request_fingerprint,
    r.self_trade is not distinct from 'cancel_resting'
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
        when (q.price is null or q."budgetCents" is not null)
          and q."timeInForce" is distinct from 'fok' then 'ioc'
        else coalesce(q."timeInForce", 'gtc')
      end::trading.time_in_force as time_in_force,
      coalesce(q."postOnly", false) as post_only,
      q."expiresAt" as expires_at,
      q."idempotencyKey" as idempotency_key,
      q."requestFingerprint" as request_fingerprint,
      q."selfTrade" as self_trade
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
        "postOnly" boolean,
        "requestFingerprint" uuid,
        "selfTrade" text
      )
    ) with ordinality as q (
      "marketId", "userId", side, price, quantity, "budgetCents", "orderType", "timeInForce",
      "idempotencyKey", "expiresAt", "postOnly", "requestFingerprint", "selfTrade",
      ordinality
    )
  ) as r
  order by r.ordinality;
end;

comment on function trading.read_requests(jsonb) is
  'The requests of a batch from a JSON array of objects with marketId, userId, side, price, '
  'quantity, budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly, '
  'requestFingerprint (the body of POST /orders and its user), in the order of the array. A value '
  'of the wrong type is an error of the whole call; a value out of bounds becomes the problem of '
  'its request.';
--! EndIncluded trading/functions/read_requests.sql
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
      select case
        -- The key of another command, or of an order that was sent otherwise.
        when x.order_id is null or x.request_fingerprint <> r.request_fingerprint then -1 -- mutant: order_of_another_request
        else x.order_id
      end
      from trading.idempotency_keys as x
      where x.user_id = r.user_id -- mutant: order_of_another_user
        and x.key = r.idempotency_key -- mutant: order_key_ignored
        and x.created_at > read_replays.at - interval '24 hours' -- mutant: key_age
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null; -1 where the '
  'key is of another request, and the request is to be rejected. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
--! EndIncluded trading/functions/read_replays.sql
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
        relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
        cancels_own, place
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
--! Included trading/functions/last_order_until.sql
create or replace function trading.last_order_until(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce((
    select o.id
    from trading.orders as o
    where o.user_id = last_order_until.user_id
      and o.created_at <= last_order_until.at -- mutant: later_orders_stopped_too
    order by o.user_id desc, o.id desc
    limit 1
  ), 0);
end;

comment on function trading.last_order_until(bigint, timestamptz) is
  'The id of the last order that a user had placed by then, 0 if there is none. Its cost is in the '
  'orders that were placed later.';
--! EndIncluded trading/functions/last_order_until.sql
--! Included trading/functions/last_stopped_order.sql
create or replace function trading.last_stopped_order(
  switch trading.dead_man_switches,
  at timestamptz,
  grace interval default interval '2 seconds' -- mutant: stopped_before_its_renewal
)
returns bigint
language sql stable
return case
  when (switch).fired_at is not null or (switch).expires_at <= at - grace -- mutant: renewed_while_it_fires
    then coalesce(
      (switch).last_order_id,
      trading.last_order_until((switch).user_id, (switch).expires_at)
    )
end;

comment on function trading.last_stopped_order(
  trading.dead_man_switches, timestamptz, interval
) is
  'The last of the orders that a dead man''s switch stops, 0 if it has expired and stops none; '
  'null if it is off or has not expired. Stopped orders trade no more, and are cancelled by a '
  'worker or when they are met. grace: a switch that no worker has found expired stops nothing '
  'for so long after its expiry. Two seconds, since a renewal that was in time may still be '
  'committing; none for api.set_dead_man and workers, who lock the switch first.';
--! EndIncluded trading/functions/last_stopped_order.sql
--! Included trading/functions/read_traders.sql
create or replace function trading.read_traders(user_ids bigint[], at timestamptz)
returns trading.trader_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Later than the time of the batch by the wait for the traders' locks.
  v_now constant timestamptz := core.now();
  v_traders trading.trader_arrays;
begin
  v_traders := (
    select (
      array_agg(t.user_id),
      array_agg(t.public_id),
      array_agg(t.balance_cents),
      array_agg(t.account_version::bigint),
      array_agg(risk.blocked_by(t, read_traders.at)),
      array_agg(coalesce(t.excluded_until > read_traders.at, false)),
      array_agg(risk.has_limits(t)),
      null,
      case
        when exists (select from trading.dead_man_switches as s where s.expires_at <= v_now)
          or exists (
            select from trading.dead_man_switches as s where s.last_fired_at > read_traders.at
          )
          then '{}'::boolean[]
      end
    )::trading.trader_arrays
    from (
      select x.*
      from trading.traders as x
      where x.user_id = any (read_traders.user_ids)
      order by x.user_id
    ) as t
  );
  -- Hardly ever: a worker cancels the orders of an expired switch within a moment.
  if v_traders.missed_switch is not null then
    select array_agg(w.stopped_order_id order by u.place), array_agg(w.is_missed order by u.place)
    into v_traders.stopped_order_ids, v_traders.missed_switch
    from unnest(v_traders.user_ids) with ordinality as u (id, place)
    left join lateral (
      select
        trading.last_stopped_order(s, read_traders.at) as stopped_order_id,
        s.expires_at > read_traders.at and s.expires_at <= v_now -- mutant: switch_missed_while_waiting
        or s.last_fired_at > read_traders.at as is_missed -- mutant: switch_fired_while_waiting
      from trading.dead_man_switches as s
      where s.user_id = u.id
    ) as w on true;
  end if;
  return v_traders;
end
$$;

comment on function trading.read_traders(bigint[], timestamptz) is
  'The cash of users and whether they may trade, in ascending id; of their orders, which ones the '
  'dead man''s switch has stopped, or would have to stop. To be called with the users locked.';
--! EndIncluded trading/functions/read_traders.sql
--! Included trading/functions/request_blocked_by.sql
create or replace function trading.request_blocked_by(
  traders trading.trader_arrays, trader int, order_id bigint
)
returns text
language sql immutable parallel safe
return case
  when (traders).missed_switch[trader] or order_id <= (traders).stopped_order_ids[trader] -- mutant: stopped_order_released
    then 'DEAD_MAN_FIRED'
  else (traders).blocked_by[trader]
end;

comment on function trading.request_blocked_by(trading.trader_arrays, int, bigint) is
  'Why a request may not trade, null if it may: its user may not (risk.blocked_by); the dead '
  'man''s switch expired while the request waited for its user''s lock, so that no firing would '
  'see its order; or it releases a scheduled order that the switch has stopped. trader is the '
  'place of the user; order_id is null unless an order is released.';
--! EndIncluded trading/functions/request_blocked_by.sql
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
  (request).time_in_force <> 'gtc',
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
  trading.request_rejection(request, context, trader is not null, blocked_by),
  (request).time_in_force = 'fok',
  coalesce((request).cancels_own, false)
)::trading.match_request;

comment on function trading.match_request(
  trading.order_request, trading.market_context, trading.book_slice, int, int, text
) is
  'A request as matching reads it. trader and holding are the places of its user and of what the '
  'user has in its market, null without; blocked_by: see trading.request_blocked_by.';
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
      trading.request_blocked_by(batch.traders, v_trader, v_request.order_id)
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
          r, c.context, slice, u.trader, h.holding,
          trading.request_blocked_by(batch.traders, u.trader, r.order_id)
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
      array_agg(case
        when k.has_expired then 'expired'
        when k.order_id <= (batch.traders).stopped_order_ids[u.trader] then 'user_cancelled' -- mutant: stopped_order_trades
      end::trading.cancel_reason)
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
--! Included trading/functions/replay_or_reuse.sql
create or replace function trading.replay_or_reuse(
  batch trading.matched_batch,
  request int,
  twin int,
  twin_result trading.order_result,
  replay bigint,
  left_quantities int[],
  cancelled trading.cancelled_maker[],
  balance_cents bigint
)
returns trading.order_result
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if replay = -1
    or (
      replay is null
      and (batch.requests[twin]).request_fingerprint -- mutant: twin_of_another_request
        <> (batch.requests[request]).request_fingerprint -- mutant: twin_of_another_request
    )
  then
    return trading.order_rejected('IDEMPOTENCY_KEY_REUSED');
  end if;
  return trading.replayed_result(
    twin, twin_result, replay, (batch.maker_arrays).order_ids, left_quantities, cancelled,
    balance_cents
  );
end
$$;

comment on function trading.replay_or_reuse(
  trading.matched_batch, int, int, trading.order_result, bigint, int[], trading.cancelled_maker[],
  bigint
) is
  'The result of a request whose idempotency key was used before, by an order from before (replay, '
  'see trading.read_replays) or by an earlier request of the batch (twin, with its result): a '
  'replay, or IDEMPOTENCY_KEY_REUSED if that was another request. The rest is as in '
  'trading.replayed_result.';
--! EndIncluded trading/functions/replay_or_reuse.sql
--! Included trading/functions/without_starved.sql
create or replace function trading.without_starved(
  cancelled trading.cancelled_maker[], is_starved boolean[], before int
)
returns trading.cancelled_maker[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(without_starved.cancelled), 0) <= without_starved.before then
    return without_starved.cancelled;
  end if;
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
  k_end_reason trading.cancel_reason[] := (batch.maker_arrays).end_reasons;
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
        v_results[i] := trading.replay_or_reuse(
          batch, i, j, v_results[j], replays[i], k_left, v_cancelled, t_balance[t]
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
      v_may_meet_own boolean := not r.cancels_own
        and (shares_before_own[i] is not null or coalesce(v_rests_here[r.holding], false));
      v_open_cost bigint := t_open_cost[t]; -- with own orders that it cancels
      v_is_done boolean;
      v_so_far text; -- what it would be rejected with, as far as it has come
      v_beyond int := 0;
      v_own int := 0; -- own orders in its way
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
        if k_end_reason[k] is not null then
          v_reason := k_end_reason[k];
        elsif n = 0 then -- the budget ends here
          v_wanted := v_bought;
          exit;
        elsif m = t and r.cancels_own and v_own < c_most_beyond then -- mutant: others_cancelled, own_orders_without_bound
          v_own := v_own + 1;
          v_reason := 'self_trade';
          t_traded_with[t] := i; -- it stays if the request is rejected -- mutant: own_order_lost
          t_open_cost[t] := t_open_cost[t] + k_left[k] * least(0, k_cents[k]); -- mutant: cancelled_own_order_counts
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
          v_is_starved[v_cancelled_count] := k_end_reason[k] is null and t_traded_with[m] = i; -- mutant: starved_makers_cleared
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
        k := case when k_left[k] = 0 then k_next[k] else k end;
        exit when v_bought = v_wanted;
        -- Once it is sure to be rejected, only the reason can still change: by the user's own
        -- order, or by cash that ends after the loss limit. It is not looked for far away.
        v_so_far := case when r.is_post_only then 'POST_ONLY_WOULD_CROSS'
          else trading.funding_rejection(
            r.is_buy, v_wanted, v_spent, v_spent, t_balance[t], h_quantity[r.shares],
            limits.limits[t], limits.untraded[t], t_open_cost[t]
          )
        end;
        v_beyond := v_beyond + (v_so_far is not null)::int;
        exit when v_beyond = c_most_beyond
          or (v_so_far <> 'LOSS_LIMIT' and not v_may_meet_own and not r.is_fok); -- mutant: fok_not_tried_to_its_end
      end loop;
      -- 4. Verdict. A buy must be covered with its fee, and with what is left of it if that rests.
      v_is_done := v_bought = v_wanted or 0 = trading.affordable_quantity( -- the budget is spent
        r.budget_cents, v_spent, r.taker_rate_bps, v_weight, 1
      );
      v_required := v_spent + case when v_beyond = c_most_beyond then 0
        else v_fee + case when r.is_ioc then 0 else (v_wanted - v_bought) * r.price end end;
      v_code := coalesce(v_code, case
        when v_beyond = c_most_beyond and v_may_meet_own
          and v_wanted > coalesce(shares_before_own[i], 0) then 'SELF_TRADE_BLOCKED'
        when r.is_post_only and v_bought > 0 then 'POST_ONLY_WOULD_CROSS' -- mutant: post_only_blocked_by_the_dead
        when r.is_ioc and v_bought = 0 then 'INSUFFICIENT_LIQUIDITY'
        when r.is_fok and v_is_done is not true and v_beyond < c_most_beyond -- mutant: fok_in_part
          then 'INSUFFICIENT_LIQUIDITY'
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
        t_open_cost[t] := v_open_cost;
        v_results[i] := trading.order_rejected(v_code);
        if v_code not in ('INSUFFICIENT_LIQUIDITY', 'CONFLICT_RETRY') then
          v_cancelled_count := v_cancelled_before;
          v_cleared_count := v_cleared_before;
          continue next_request;
        end if;
        v_cancelled := trading.without_starved(
          v_cancelled[1 : v_cancelled_count], v_is_starved, v_cancelled_before
        );
        v_cancelled_count := coalesce(cardinality(v_cancelled), 0);
      elsif v_bought > 0 then
        t_balance[t] := t_balance[t] - v_spent - v_fee -- mutant: answered_without_the_fee
          + case when r.is_buy then 0 else 100 * v_bought end;
        h_quantity[r.shares] := h_quantity[r.shares] + r.gain * v_bought;
      end if;
      for p in v_cancelled_before + 1 .. v_cancelled_count loop
        j := (v_cancelled[p]).maker;
        m := k_trader[j];
        t_open_cost[m] := t_open_cost[m] + case when (v_cancelled[p]).reason
          in ('expired', 'self_trade') then 0 else k_left[j] * least(0, k_cents[j]) end;
        k_left[j] := -p;
      end loop;
      continue next_request when v_code = 'CONFLICT_RETRY'
        or (v_code is not null and (r.is_fok or r.cancels_own)); -- mutant: book_lost_by_a_rejected_fok
      -- What it met is gone, but for the rest of the last one: the other side begins there.
      for p in greatest(v_met, k_price[k] + 1) .. coalesce(k_price[b_first[r.opposite]], 0) loop
        b_last[r.opposite][p] := 0;
      end loop;
      b_first[r.opposite] := k;
      continue next_request when v_code is not null;
      -- 6. What is left joins the book, or is cancelled.
      v_status := case
        when v_is_done then 'filled'
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
    false, v_results, case when v_fill_count > 0 then v_fills[1 : v_fill_count] end,
    case when v_cancelled_count > 0 then v_cancelled[1 : v_cancelled_count] end, v_rested, k_left
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
        v_result.balance_cents, v_result.status, v_result.left_quantity, v_result.cancel_reason,
        v_request.request_fingerprint, v_request.cancels_own
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
        coalesce(c.reason, x.cancel_reason),
        x.request_fingerprint, x.cancels_own
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
        is_market, relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
        cancels_own,
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
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, place
    )
    where o.id = k_order_ids[c.maker]
    returning
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, o.created_at
  ),
  all_cancelled as (
    select c.* from cancelled as c
    union all
    -- Orders of the batch itself.
    select
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, batch.at
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, place
    )
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
    order by a.place
  )
  into v_cancelled
  from all_cancelled as a;
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
    insert into trading.idempotency_keys as k (
      user_id, key, order_id, created_at, request_fingerprint
    )
    select o.user_id, o.idempotency_key, o.id, write_orders.at, o.request_fingerprint
    from accepted as o
    where write_orders.has_keys
      and o.idempotency_key is not null
    on conflict (user_id, key) do update
    set
      order_id = excluded.order_id,
      created_at = excluded.created_at,
      request_fingerprint = excluded.request_fingerprint,
      reply = null,
      cancelled_orders = null
  )
  insert into trading.active_orders (
    market_id, user_id, order_id, queue_position, order_public_id, left_quantity, book_price,
    book_side, order_type, expires_at, release_at, cancels_own
  )
  select
    o.market_id, o.user_id, o.id,
    case
      when o.release_at is not null then null
      when o.was_scheduled then nextval('trading.orders_id_seq') -- mutant: released_to_the_front
      else o.id
    end,
    o.public_id, o.end_left_quantity, o.book_price, o.book_side, o.order_type, o.expires_at,
    o.release_at, nullif(o.cancels_own, false)
  from accepted as o
  where o.end_status in ('scheduled', 'open', 'partially_filled');
end
$$;

comment on function trading.write_orders(trading.placed_order[], timestamptz, boolean) is
  'Writes the orders that a batch accepted, what of them rests or waits for its release, and which '
  'orders their idempotency keys stand for (has_keys: some request has one). A key older than 24 '
  'hours is taken over.';
--! EndIncluded trading/functions/write_orders.sql
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
        balance_cents, end_status, end_left_quantity, end_cancel_reason, request_fingerprint,
          cancels_own, place
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
  v_trade_ids bigint[];
begin
  if accounted.trades is not null then
    v_trade_ids := array(select t.id from unnest(accounted.trades) as t); -- mutant: fills_not_told
  end if;
  with changed as (
    update trading.market_state as s set
      version = s.version + d.changes, -- mutant: version_once_a_batch
      placed_count = s.placed_count + d.placed, -- mutant: batch_not_counted
      placed_id_sum = s.placed_id_sum + d.id_sum, -- mutant: order_not_counted
      last_trade_price = coalesce(accounted.last_trade_prices[d.market], s.last_trade_price),
      yes_volume_cents = s.yes_volume_cents + coalesce(accounted.yes_volumes_cents[d.market], 0),
      no_volume_cents = s.no_volume_cents + coalesce(accounted.no_volumes_cents[d.market], 0),
      trade_count = s.trade_count + coalesce(accounted.trade_counts[d.market], 0),
      traders_count = s.traders_count + coalesce(accounted.new_traders[d.market], 0),
      escrow_cents = coalesce(accounted.escrows_cents[d.market], s.escrow_cents), -- mutant: escrow_written_to_another
      escrow_version = coalesce(accounted.escrow_versions[d.market], s.escrow_version),
      revenue_cents = coalesce(accounted.revenues_cents[d.market], s.revenue_cents),
      revenue_version = coalesce(accounted.revenue_versions[d.market], s.revenue_version),
      depth = d.depth,
      best_yes_price = d.best_yes,
      best_no_price = d.best_no,
      first_yes_position = trading.first_position(
        s.first_yes_position, s.best_yes_price, d.best_yes,
        d.first_left[array_position(d.places, d.best_yes)],
        d.last_gone[array_position(d.places, d.best_yes)]
      ),
      first_no_position = trading.first_position(
        s.first_no_position, s.best_no_price, d.best_no,
        d.first_left[array_position(d.places, 99 + d.best_no)],
        d.last_gone[array_position(d.places, 99 + d.best_no)]
      )
    from (
      select
        b.*,
        trading.best_after(b.depth, 'yes', greatest(b.best_yes_price, b.highest_yes)) as best_yes, -- mutant: best_price_not_raised
        trading.best_after(b.depth, 'no', greatest(b.best_no_price, b.highest_no)) as best_no
      from (
        select
          c.*, o.best_yes_price, o.best_no_price,
          trading.changed_depth(o.depth, c.places, c.depth_changes) as depth
        from unnest(trading.market_changes(batch, write_market_state.orders)) as c
        cross join lateral (
          select x.depth, x.best_yes_price, x.best_no_price
          from trading.market_state as x
          where x.market_id = m_ids[c.market]
          limit 1
        ) as o
        offset 0
      ) as b
      offset 0
    ) as d
    where s.market_id = m_ids[d.market]
    returning d.market, d.changes, s.version
  )
  insert into trading.outbox (channel, payload, trade_ids, traded_at)
  select
    'market_changed', json_build_object('marketId', e.public_id, 'version', e.version),
    case when e.is_first then v_trade_ids end,
    case when e.is_first and v_trade_ids is not null then batch.at end
  from (
    select
      c.market, c.version, m_public_ids[c.market] as public_id, -- mutant: version_of_another_market
      row_number() over (order by c.market) = 1 as is_first
    from changed as c
    where c.changes > 0
  ) as e
  order by e.market;
end
$$;

comment on function trading.write_market_state(
  trading.matched_batch, trading.placed_order[], trading.accounted_batch
) is
  'Writes what a batch changed of its markets, with market_changed events of their new versions; '
  'the first of them has the trades of the batch.';
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
    insert into trading.outbox (channel, user_id, payload)
    select
      'user_event',
      f.maker_user_id,
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
          is_market, relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
          cancels_own,
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
--! Included trading/functions/release_reason.sql
create or replace function trading.release_reason(code text, order_type trading.order_type)
returns trading.cancel_reason
language sql immutable parallel safe
return case code
  when 'TRADING_PAUSED' then 'trading_paused'
  when 'SELF_EXCLUDED' then 'self_excluded'
  when 'ACCOUNT_FROZEN' then 'trading_paused'
  when 'MARKET_NOT_OPEN' then 'market_closed'
  when 'DEAD_MAN_FIRED' then 'user_cancelled'
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
    v_request.cancels_own := v_active_order.cancels_own;
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
--! Included trading/functions/end_active_orders.sql
create or replace function trading.end_active_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean,
  counted boolean
)
returns table (order_id bigint, has_expired boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_expired_by constant timestamptz := case
    when end_active_orders.expires then end_active_orders.at -- mutant: expired_counted_as_cancelled
  end;
  v_gone trading.active_orders[];
  v_market_id bigint;
  v_places int[];
  v_changes bigint[];
begin
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (end_active_orders.order_ids)
    returning b.*
  ),
  cancelled as (
    update trading.orders as o set
      status = 'cancelled',
      cancel_reason = case
        when o.expires_at <= c_expired_by then 'expired'
        else end_active_orders.reason
      end,
      cancelled_at = end_active_orders.at
    where o.id = any (array(select g.order_id from gone as g))
  )
  select array_agg(g::trading.active_orders order by g.order_id)
  into v_gone
  from gone as g;

  for v_market_id, v_places, v_changes in
    select
      g.market_id,
      array_agg(trading.depth_place(g.book_side, g.book_price)),
      array_agg(-g.left_quantity::bigint)
    from unnest(v_gone) as g
    where g.queue_position is not null
    group by g.market_id
    order by g.market_id
  loop
    perform trading.write_depth(v_market_id, v_places, v_changes, end_active_orders.counted);
  end loop;
  return query
    select g.order_id, coalesce(g.expires_at <= c_expired_by, false)
    from unnest(v_gone) as g;
end
$$;

comment on function trading.end_active_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Takes open orders of any markets off their books, or out of their delay, for one reason; '
  'returns those that were still there, by id. expires: those past their expiry expire instead. '
  'counted: a change of a book raises the version of its market by one, however many orders leave '
  'it, with a market_changed event. The caller holds the locks of the markets.';
--! EndIncluded trading/functions/end_active_orders.sql
--! Included trading/functions/announce_cancelled.sql
create or replace function trading.announce_cancelled(order_ids bigint[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
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
  from unnest(announce_cancelled.order_ids) with ordinality as i (id, place)
  join trading.orders as o on o.id = i.id
  join trading.traders as u on u.user_id = o.user_id
  join catalog.markets as m on m.id = o.market_id
  order by i.place
$$;

comment on function trading.announce_cancelled(bigint[]) is
  'Writes an order_cancelled event for the owner of each of these orders, which have just been '
  'cancelled, in the order given.';
--! EndIncluded trading/functions/announce_cancelled.sql
--! Included trading/functions/cancel_active_orders.sql
create or replace function trading.cancel_active_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean default false,
  announced boolean default true
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_announced_ids bigint[];
  v_cancelled int;
begin
  select
    array_agg(e.order_id) filter (
      where cancel_active_orders.announced -- mutant: owner_not_told, switch_fires_silently
        or e.has_expired
    ),
    count(*) filter (where not e.has_expired)
  into v_announced_ids, v_cancelled
  from trading.end_active_orders(
    cancel_active_orders.order_ids, cancel_active_orders.reason, cancel_active_orders.at,
    expires => cancel_active_orders.expires,
    counted => true -- mutant: version_not_raised
  ) as e;
  if v_announced_ids is not null then
    perform trading.announce_cancelled(v_announced_ids);
  end if;
  return v_cancelled;
end
$$;

comment on function trading.cancel_active_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Cancels open orders of any markets, resting and scheduled ones, for one reason; returns how '
  'many were still there. expires: those past their expiry expire instead, and are not counted. '
  'announced: with order_cancelled events for the owners, who did not ask for it; an order that '
  'expires instead always has one. One change of each market, however many orders leave its book. '
  'The caller holds the locks of the markets.';
--! EndIncluded trading/functions/cancel_active_orders.sql
--! Included trading/functions/comes_from_before.sql
create or replace function trading.comes_from_before(order_id bigint, last_order_id bigint)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive chain (id) as (
    select r.replaced_order_id
    from trading.order_replacements as r
    where r.order_id = comes_from_before.order_id
    union all
    select r.replaced_order_id
    from chain as c
    join trading.order_replacements as r on r.order_id = c.id
    where c.id > comes_from_before.last_order_id -- mutant: second_replacement_survives
  )
  select coalesce(min(c.id) <= comes_from_before.last_order_id, false) -- mutant: replacement_survives
  from chain as c
$$;

comment on function trading.comes_from_before(bigint, bigint) is
  'Whether an order came by amendments in the place of an order up to last_order_id.';
--! EndIncluded trading/functions/comes_from_before.sql
--! Included trading/functions/began_until.sql
create or replace function trading.began_until(order_id bigint, last_order_id bigint)
returns boolean
language sql stable
return order_id <= last_order_id -- mutant: later_orders_cancelled_too
  or trading.comes_from_before(order_id, last_order_id);

comment on function trading.began_until(bigint, bigint) is
  'Whether an order is one of those up to last_order_id, or came by amendments in the place of '
  'one of them.';
--! EndIncluded trading/functions/began_until.sql
--! Included trading/functions/open_orders_until.sql
create or replace function trading.open_orders_until(
  user_id bigint, last_order_id bigint, only_market_id bigint, most int
)
returns table (order_id bigint, market_id bigint)
language sql stable
begin atomic
  select b.order_id, b.market_id
  from trading.active_orders as b
  where b.user_id = open_orders_until.user_id -- mutant: orders_of_all_users
    and (
      open_orders_until.only_market_id is null -- mutant: all_markets
      or b.market_id = open_orders_until.only_market_id
    )
    and trading.began_until(b.order_id, open_orders_until.last_order_id)
  order by b.order_id
  limit open_orders_until.most;
end;

comment on function trading.open_orders_until(bigint, bigint, bigint, int) is
  'Open orders of a user, resting and scheduled ones: those up to last_order_id and those that '
  'came in the place of such, at most so many, oldest first. only_market_id: in this market; '
  'null: in all.';
--! EndIncluded trading/functions/open_orders_until.sql
--! Included trading/functions/find_reply.sql
create or replace function trading.find_reply(
  user_id bigint, key uuid, request_fingerprint uuid
)
returns api.result
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_kept trading.idempotency_keys;
begin
  if find_reply.key is null then
    return null;
  end if;
  select k.* into v_kept
  from trading.idempotency_keys as k
  where k.user_id = find_reply.user_id -- mutant: reply_to_another_user
    and k.key = find_reply.key
    and k.created_at > v_at - interval '24 hours'; -- mutant: reply_kept_too_long
  if not found then -- mutant: reply_ignored
    return null;
  elsif v_kept.request_fingerprint is distinct from find_reply.request_fingerprint then -- mutant: another_request_answered
    return ('IDEMPOTENCY_KEY_REUSED', null, false, null)::api.result;
  elsif v_kept.reply is null then
    return null;
  end if;
  return (null, null, true, v_kept.reply)::api.result;
end
$$;

comment on function trading.find_reply(bigint, uuid, uuid) is
  'What a user''s idempotency key says of a command other than an order: its first answer, as a '
  'replay; IDEMPOTENCY_KEY_REUSED, if the key was used by another request; null, if the command is '
  'to be carried out. To be asked under the locks of the command, and before, so that a replay '
  'waits for none of them.';
--! EndIncluded trading/functions/find_reply.sql
--! Included trading/functions/keep_reply.sql
create or replace function trading.keep_reply(
  user_id bigint,
  key uuid,
  request_fingerprint uuid,
  reply text,
  cancelled_orders int default null
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
begin
  insert into trading.idempotency_keys as k (
    user_id, key, created_at, request_fingerprint, reply, cancelled_orders
  )
  values (
    keep_reply.user_id, keep_reply.key, v_at, keep_reply.request_fingerprint, keep_reply.reply,
    keep_reply.cancelled_orders
  )
  on conflict on constraint idempotency_keys_pkey do update set
    order_id = null,
    created_at = excluded.created_at,
    request_fingerprint = excluded.request_fingerprint,
    reply = excluded.reply,
    cancelled_orders = excluded.cancelled_orders
  where k.created_at <= v_at - interval '24 hours' -- mutant: key_taken_over
    or (
      k.order_id is null
      and k.reply is null
      and k.request_fingerprint = excluded.request_fingerprint
    );
  if not found then
    raise exception 'Another request with this idempotency key came first'
      using errcode = 'serialization_failure';
  end if;
end
$$;

comment on function trading.keep_reply(bigint, uuid, uuid, text, int) is
  'Keeps the answer of a command in the transaction that carries it out. A key older than 24 hours '
  'is taken over. A command of several transactions keeps null until its last one, with the number '
  'of the orders that it has cancelled so far. Errors: 40001, if another request has used the key '
  'meanwhile: then the whole call has no effect, and finds that request when it is made again. The '
  'caller holds the user''s lock.';
--! EndIncluded trading/functions/keep_reply.sql
--! Included trading/functions/cancel_order.sql
create or replace function trading.cancel_order(user_public_id uuid, order_public_id uuid)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result api.result;
  v_order trading.orders;
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
  v_cancelled := trading.cancel_active_orders(
    array[v_order.id], 'user_cancelled', v_at,
    expires => true,
    announced => false -- mutant: canceller_told
  );

  select o.* into strict v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if v_cancelled = 0 then
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
    and ("order").time_in_force <> 'gtc'
    and v_request.book_price = 99;
  v_request.cancels_own := v_active_order.cancels_own;
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
    array[("order").id], 'user_amended', context.at,
    expires => false, counted => context.live_delay_ms is not null
  );
  v_written := trading.write_batch(v_batch);
  insert into trading.order_replacements (order_id, replaced_order_id)
  values ((v_written.orders[1]).id, ("order").id);

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
  v_is_open boolean;
  v_has_expired boolean;
  v_last_stopped_id bigint;
  v_is_stopped boolean;
  v_may_be_renewed boolean;
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

  v_is_open := v_order.status in ('scheduled', 'open', 'partially_filled');
  v_has_expired := v_is_open and v_order.expires_at <= v_at;
  select
    trading.last_stopped_order(s, v_at, grace => '0'),
    trading.last_stopped_order(s, v_at) is null
  into v_last_stopped_id, v_may_be_renewed
  from trading.dead_man_switches as s
  where s.user_id = v_user_id;
  v_is_stopped := v_is_open
    and coalesce(v_order.id <= v_last_stopped_id, false); -- mutant: stopped_order_amended
  v_price := coalesce(amend_order.price, v_order.price);
  v_quantity := coalesce(amend_order.quantity, v_order.quantity);
  v_code := trading.amend_rejection(
    v_order, v_has_expired or v_is_stopped, amend_order.quantity
  );
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
    -- A renewal that was in time may still be committing: then a worker decides in a moment.
    if v_has_expired or v_is_stopped and not v_may_be_renewed then -- mutant: cancelled_beside_its_renewal
      perform trading.cancel_active_orders(
        array[v_order.id], 'user_cancelled', v_at, expires => true
      );
    end if;
    v_message := 'Cannot amend order with status: '
      || case when v_has_expired or v_is_stopped then 'cancelled' else v_order.status end;
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
  'expires instead; one from before the expiry of its user''s dead man''s switch is cancelled. '
  'Locks: the market, then the user and the makers that a new order can reach.';
--! EndIncluded trading/functions/amend_order.sql
--! Included trading/functions/announce_to_many.sql
create or replace function trading.announce_to_many(
  kind text, payload jsonb, user_ids bigint[], balances_cents bigint[] default null
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into trading.outbox (channel, payload, user_ids)
  select
    announce_to_many.kind,
    (
      announce_to_many.payload || case
        when announce_to_many.balances_cents is null then '{}'
        else jsonb_build_object('balances', jsonb_agg(u.balance_cents order by u.user_id))
      end
    )::json,
    array_agg(u.user_id order by u.user_id)
  from (
    select x.user_id, x.balance_cents, row_number() over (order by x.user_id) as place
    from unnest(announce_to_many.user_ids, announce_to_many.balances_cents)
      as x (user_id, balance_cents)
  ) as u
  group by (u.place - 1) / 1000
  order by (u.place - 1) / 1000
$$;

comment on function trading.announce_to_many(text, jsonb, bigint[], bigint[]) is
  'Writes an event for many users to the outbox: a row for each 1,000 of them, in ascending order.';
--! EndIncluded trading/functions/announce_to_many.sql
--! Included trading/functions/announce_market_status.sql
create or replace function trading.announce_market_status(
  market_id bigint, status catalog.market_status
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb;
  v_user_ids constant bigint[] := array(
    select h.user_id
    from trading.holdings as h
    where h.market_id = announce_market_status.market_id
      and (h.yes_quantity > 0 or h.no_quantity > 0)
    union
    select o.user_id
    from trading.orders as o
    where o.id = any (trading.active_orders_of_market(announce_market_status.market_id))
  );
begin
  select jsonb_build_object('marketId', m.public_id, 'status', announce_market_status.status)
  into strict v_payload
  from catalog.markets as m
  where m.id = announce_market_status.market_id;
  if cardinality(v_user_ids) > 0 then
    perform trading.announce_to_many('market_status', v_payload, v_user_ids);
  else
    -- Streams of the market show its status, too.
    insert into trading.outbox (channel, payload) values ('market_status', v_payload::json);
  end if;
end
$$;

comment on function trading.announce_market_status(bigint, catalog.market_status) is
  'Writes the new status of a market to the outbox, for the users who have open orders or shares '
  'there. The caller holds the market''s lock, and has not cancelled the orders yet.';
--! EndIncluded trading/functions/announce_market_status.sql
--! Included trading/functions/announce_closing.sql
create or replace function trading.announce_closing(market_id bigint, user_ids bigint[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select trading.announce_to_many(
    'market_status',
    jsonb_build_object('marketId', m.public_id, 'status', 'closed'),
    array(
      select u.id
      from unnest(announce_closing.user_ids) as u (id)
      where not exists (
        select from trading.holdings as h
        where h.market_id = announce_closing.market_id
          and h.user_id = u.id
          and (h.yes_quantity > 0 or h.no_quantity > 0)
      )
      and not exists (
        select from trading.active_orders as o
        where o.user_id = u.id
          and o.market_id = announce_closing.market_id
      )
    )
  )
  from catalog.markets as m
  where m.id = announce_closing.market_id
$$;

comment on function trading.announce_closing(bigint, bigint[]) is
  'While a market is closed piece by piece: tells those of some users who have neither orders nor '
  'shares there any more, and so would not hear of its new status at the end. The caller holds the '
  'market''s lock.';
--! EndIncluded trading/functions/announce_closing.sql
--! Included trading/functions/announce_settlement.sql
create or replace function trading.announce_settlement(
  resolution_id bigint, market_id bigint, outcome catalog.outcome
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select trading.announce_to_many(
    'market_settled',
    jsonb_build_object(
      'marketId', m.public_id,
      'outcome', announce_settlement.outcome,
      'resolutionId', announce_settlement.resolution_id
    ),
    s.user_ids,
    s.balances_cents
  )
  from catalog.markets as m
  cross join (
    select
      array_agg(t.user_id order by t.user_id) as user_ids,
      array_agg(t.balance_cents order by t.user_id) as balances_cents
    from trading.traders as t
    where t.user_id in (
      select x.user_id
      from trading.settlements as x
      where x.resolution_id = announce_settlement.resolution_id
    )
  ) as s
  where m.id = announce_settlement.market_id
    and s.user_ids is not null
$$;

comment on function trading.announce_settlement(bigint, bigint, catalog.outcome) is
  'Writes a resolution to the outbox for the users whose positions it settled, with their balances '
  'after it. What each was paid is in trading.settlements.';
--! EndIncluded trading/functions/announce_settlement.sql
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
    perform trading.announce_market_status(v_market.id, 'closed');
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

  perform trading.announce_market_status(
    change_market_status.market_id, change_market_status.status
  );
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
  'Moves a market to open, paused or closed with all that goes with it, and tells its users. '
  'A market past its close time counts as closed. Errors: INVALID_STATE, INVALID_REQUEST (a '
  'close time that would not be taken, or is not in the future). The caller holds the market''s '
  'lock.';
--! EndIncluded trading/functions/change_market_status.sql
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

  if v_is_first then
    perform trading.announce_market_status(settle_market.market_id, 'resolved');
  end if;
  perform trading.announce_settlement(
    v_resolution_id, settle_market.market_id, settle_market.outcome
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
  'resolution that holds by the differences; tells its users; returns the operator''s summary. '
  'corrected and reason are null for the first resolution. The caller holds the market''s lock; '
  'locks the users whose cash moves, by ascending user, once all is computed.';
--! EndIncluded trading/functions/settle_market.sql
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
        and b.market_id = expire_orders.market_id
        and (m.close_time is null or b.expires_at < m.close_time)
    ),
    'expired',
    v_at
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
    clear_orders.order_ids, clear_orders.reason, clear_orders.at
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
--! Included trading/functions/close_market.sql
create or replace function trading.close_market(market_id bigint, most int default null)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_order_ids bigint[];
  v_owners bigint[];
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
  if close_market.most is null or v_count < close_market.most then
    perform trading.change_market_status(close_market.market_id, 'closed');
    return v_count + 1;
  end if;
  v_owners := array(
    select distinct o.user_id from trading.orders as o where o.id = any (v_order_ids)
  );
  perform trading.clear_orders(close_market.market_id, v_order_ids, 'market_closed', v_at);
  perform trading.announce_closing(close_market.market_id, v_owners);
  return v_count;
end
$$;

comment on function trading.close_market(bigint, int) is
  'Closes a market that is past its close time, at once or as much of it as is done by cancelling '
  'so many orders; returns how many it cancelled, and one more for the market. 0: it is not due. '
  'The caller holds the market''s lock.';
--! EndIncluded trading/functions/close_market.sql
--! Included trading/functions/make_event_partition.sql
create or replace function trading.make_event_partition(day timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day constant date := (make_event_partition.day at time zone 'UTC')::date;
  v_name constant text := 'sent_events_' || to_char(v_day, 'YYYY_MM_DD');
begin
  if to_regclass(format('trading.%I', v_name)) is not null then
    return false;
  end if;
  -- A transaction that attached a partition keeps this lock until every session knows of it.
  lock table only trading.sent_events in share update exclusive mode;
  if to_regclass(format('trading.%I', v_name)) is not null then
    return false;
  end if;
  -- Made apart and then attached, so that readers do not wait for it, nor it for readers.
  execute format(
    'create table trading.%I (like trading.sent_events including all)', v_name
  );
  execute format(
    'alter table trading.sent_events attach partition trading.%I for values from (%L) to (%L)',
    v_name, v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
  );
  return true;
end
$$;

comment on function trading.make_event_partition(timestamptz) is
  'Makes the partition of trading.sent_events for a day (UTC); false if it is there. Its first row '
  'must be of a later transaction, because a reader that began before may not know the partition '
  'yet. Locks trading.sent_events against other changes of its partitions, not against reading and '
  'writing.';
--! EndIncluded trading/functions/make_event_partition.sql
--! Included trading/functions/expired_orders.sql
create or replace function trading.expired_orders(market_id bigint, at timestamptz, most int)
returns table (order_id bigint)
language sql stable
begin atomic
  select b.order_id
  from trading.active_orders as b
  cross join lateral (
    select x.close_time
    from catalog.markets as x
    where x.id = b.market_id
    limit 1
  ) as m
  where b.market_id = expired_orders.market_id
    and b.expires_at <= expired_orders.at
    and b.queue_position is not null
    and (m.close_time is null or b.expires_at < m.close_time)
  order by b.expires_at
  limit expired_orders.most;
end;

comment on function trading.expired_orders(bigint, timestamptz, int) is
  'Resting orders of a market that are past their expiry at a time, those that have waited longest '
  'first, at most so many. Without those that expire when the market has closed: its closing '
  'cancels them.';
--! EndIncluded trading/functions/expired_orders.sql
--! Included trading/functions/time_of_book.sql
-- Most reads find nothing past its expiry, and take no lock. Few orders are cancelled: one is
-- enough, and the reader waits for it. The wait for the lock is short: it keeps a connection from
-- other reads.
create or replace function trading.time_of_book(market_id bigint)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  c_most constant int := 20;
  v_at timestamptz := core.now();
begin
  if not exists (select from trading.expired_orders(time_of_book.market_id, v_at, 1)) then -- mutant: version_of_two_books
    return v_at;
  end if;
  begin
    perform trading.lock_market(time_of_book.market_id);
  exception when lock_not_available then
    return v_at;
  end;
  v_at := core.now();
  perform trading.expire_orders(
    time_of_book.market_id,
    array(
      select e.order_id
      from trading.expired_orders(time_of_book.market_id, v_at, c_most) as e
    )
  );
  return v_at;
end
$$;

comment on function trading.time_of_book(bigint) is
  'The time as of which a read shows the book of a market, so that one version is one book. Reads '
  'leave out what is past its expiry. If such an order still rests, it is in the book that the '
  'version has named until now. Then this first cancels up to 20 of them, which raises the '
  'version; no read of the new version shows the others, which the worker cancels. Not done while '
  'another transaction holds the lock of the market for 50 ms, nor for what the closing of the '
  'market has to cancel. Locks: the market, if there is something to cancel.';
--! EndIncluded trading/functions/time_of_book.sql
--! Included trading/functions/market_snapshot.sql
-- Without sequential scans every look-up goes by a key, also in plans made on empty tables.
create or replace function trading.market_snapshot(market_id bigint, at timestamptz)
returns table (version bigint, body text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_most_trades constant int := 50;
begin
  return query
  select
    b.version,
    format(
      '{"orderBook":{"yesBids":[%s],"noBids":[%s]},"recentTrades":[%s],"tradersCount":%s}',
      d.yes_bids, d.no_bids, t.trades, b.traders_count
    )
  from trading.market_state as b
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
      from trading.depth(b.market_id, market_snapshot.at) as s
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
      where s.market_id = b.market_id
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
  where b.market_id = market_snapshot.market_id;
end
$$;

comment on function trading.market_snapshot(bigint, timestamptz) is
  'A frame of the market stream, with the book as of a time (trading.time_of_book): depth by '
  'stored side and price, the 50 latest trades and the number of traders, as JSON text on one '
  'line; and the version of the market that it shows. No row for an unknown market. Names of '
  'takers with private profiles are null.';
--! EndIncluded trading/functions/market_snapshot.sql
--! Included trading/functions/own_fills.sql
-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function trading.own_fills(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, price int, quantity int, fill json)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    l.id,
    p.price,
    l.quantity,
    json_build_object(
      'id', l.public_id,
      'orderId', o.public_id,
      'marketId', m.public_id,
      'side', case when s.is_of_yes then 'yes' else 'no' end,
      'orderType', case when l.realised_cents is null then 'buy' else 'sell' end,
      'price', p.price,
      'quantity', l.quantity,
      'liquidity', case when l.is_taker then 'taker' else 'maker' end,
      'feeCents', l.fee_cents,
      'cashCents', l.cents,
      'balanceAfter', l.balance_cents,
      'realisedPnl', l.realised_cents,
      'createdAt', core.iso8601(l.created_at)
    )
  from (
    select
      t.id, t.public_id, t.market_id, t.price::int as yes_price, t.quantity::int as quantity,
      t.created_at, r.is_taker,
      case when r.is_taker then t.taker_order_id else t.maker_order_id end as order_id,
      r.is_taker = (t.taker_side = 'yes') as is_yes_book,
      case when r.is_taker then t.taker_cents else t.maker_cents end as cents,
      case when r.is_taker then t.taker_balance_cents else t.maker_balance_cents end
        as balance_cents,
      case when r.is_taker then t.taker_realised_cents else t.maker_realised_cents end
        as realised_cents,
      case when r.is_taker then t.fee_cents::bigint else 0 end as fee_cents
    from unnest(own_fills.trade_ids) as i (id)
    cross join lateral (
      select x.* from trading.trades as x where x.id between i.id and i.id order by x.id limit 1
    ) as t
    cross join lateral (
      select t.taker_user_id = own_fills.user_id as is_taker
    ) as r
  ) as l
  -- A sell is stored as a buy of the other side.
  cross join lateral (
    select l.is_yes_book = (l.realised_cents is null) as is_of_yes
  ) as s
  cross join lateral (
    select case when s.is_of_yes then l.yes_price else 100 - l.yes_price end as price
  ) as p
  cross join lateral (
    select y.public_id
    from trading.orders as y
    where y.id between l.order_id and l.order_id
    order by y.id
    limit 1
  ) as o
  cross join lateral (
    select z.public_id
    from catalog.markets as z
    where z.id between l.market_id and l.market_id
    order by z.id
    limit 1
  ) as m
$$;

comment on function trading.own_fills(bigint[], bigint) is
  'Trades as one of their two users sees them: prices are of the own order''s side, cashCents is '
  'what a trade moved on the own account with the fee, realisedPnl is null for a buy.';
--! EndIncluded trading/functions/own_fills.sql
--! Included trading/functions/fill_events.sql
-- Joined by hashing, which those who call it forbid, so that it is linear. The joins that look up
-- one row of a table each time cannot be made otherwise.
-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function trading.fill_events(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, event json)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  return query
  with own as materialized (
    select
      t.id,
      case
        when t.taker_user_id = fill_events.user_id then t.taker_order_id else t.maker_order_id
      end as order_id
    from unnest(fill_events.trade_ids) as i (id)
    cross join lateral (
      select x.* from trading.trades as x where x.id between i.id and i.id order by x.id limit 1
    ) as t
  ),
  -- The last of these trades of each order. All trades of an order as taker follow one another
  -- among those of its user; of those as maker, the latest are looked at first. An order that is
  -- still open is not asked.
  ordered as materialized (
    select
      o.id, o.status, o.time_in_force, d.last_trade_id,
      case when o.status in ('filled', 'cancelled') then
        coalesce(
          (
            select x.taker_order_id = o.id
            from trading.trades as x
            where (x.taker_user_id, x.id) > (fill_events.user_id, d.last_trade_id)
              and x.taker_user_id <= fill_events.user_id
            order by x.taker_user_id, x.id
            limit 1
          ),
          false
        )
        or coalesce(
          (
            select true
            from trading.trades as x
            where x.maker_order_id >= o.id
              and x.maker_order_id <= o.id
              and x.id > d.last_trade_id
            order by x.maker_order_id desc
            limit 1
          ),
          false
        )
      end as goes_on
    from (
      select w.order_id, max(w.id) as last_trade_id
      from own as w
      group by w.order_id
    ) as d
    cross join lateral (
      select y.id, y.status, y.time_in_force
      from trading.orders as y
      where y.id between d.order_id and d.order_id
      order by y.id
      limit 1
    ) as o
  )
  select
    f.trade_id,
    (
      '{"type":"fill",' || substr(f.fill::text, 2, length(f.fill::text) - 2)
      || ',"orderStatus":"' || case
        when f.trade_id < o.last_trade_id or o.goes_on then 'partially_filled'
        when o.status = 'filled' then 'filled'
        when o.status = 'cancelled' and o.time_in_force = 'ioc' then 'cancelled'
        else 'partially_filled'
      end || '"}'
    )::json
  from trading.own_fills(fill_events.trade_ids, fill_events.user_id) as f
  join own as w on w.id = f.trade_id
  join ordered as o on o.id = w.order_id;
end
$$;

comment on function trading.fill_events(bigint[], bigint) is
  'The fill events of trades for one of their two users: as in GET /me/fills, with the status of '
  'the order right after the trade. It is cancelled on the last fill of an order that cannot rest '
  'and was not filled.';
--! EndIncluded trading/functions/fill_events.sql
--! Included trading/functions/position_sent_at.sql
create or replace function trading.position_sent_at("position" bigint)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_relay trading.outbox_relay;
  v_event record;
begin
  select r.* into strict v_relay
  from trading.outbox_relay as r
  where r.singleton;
  if position_sent_at.position = v_relay.last_position then
    return greatest(v_relay.last_sent_at, core.now());
  end if;
  select e.sent_at, e.position - coalesce(cardinality(e.trade_ids), 0) - 1 as before into v_event
  from trading.sent_events as e
  where e.position >= position_sent_at.position
  order by e.position
  limit 1;
  -- The very first position is before all events.
  return case
    when position_sent_at.position > v_event.before
      or position_sent_at.position = v_event.before and v_event.before = 0
    then v_event.sent_at
  end;
end
$$;

comment on function trading.position_sent_at(bigint) is
  'When the event at a position of the user streams was sent; of the last position now, because '
  'nothing came after it. Null for a position that was never given out, that a restore has undone, '
  'or whose event is not kept any more.';
--! EndIncluded trading/functions/position_sent_at.sql
--! Included trading/functions/positions_of_trades.sql
-- An event may have thousands of trades: [:] unpacks it once, and not for each trade.
-- Rows are looked up by a range of one value, in order, which one index alone gives: on an empty
-- table the planner may choose another, in which that column does not come first, and keep to it.
create or replace function trading.positions_of_trades(trade_ids bigint[])
returns table (trade_id bigint, "position" bigint, first_trade_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select i.id, e.before + p.place, e.trade_ids[1]
  from (
    select t.created_at as traded_at, array_agg(t.id) as trade_ids
    from unnest(positions_of_trades.trade_ids) as a (id)
    cross join lateral (
      select x.id, x.created_at
      from trading.trades as x
      where x.id between a.id and a.id
      order by x.id
      limit 1
    ) as t
    group by t.created_at
  ) as g
  cross join lateral (
    select
      s.position - cardinality(s.trade_ids) - 1 as before,
      s.trade_ids[:] as trade_ids,
      g.trade_ids as asked_ids
    from trading.sent_events as s
    where s.traded_at between g.traded_at and g.traded_at
      and s.trade_ids is not null
    order by s.traded_at
    offset 0
  ) as e
  cross join lateral unnest(e.asked_ids) as i (id)
  cross join lateral (
    select width_bucket(i.id, e.trade_ids) as place
    offset 0
  ) as p
  where e.trade_ids[p.place] = i.id;
end
$$;

comment on function trading.positions_of_trades(bigint[]) is
  'The positions of the frames of trades in user streams, with the first trade of the same event. '
  'Without those that are not sent yet, and those whose events are not kept any more.';
--! EndIncluded trading/functions/positions_of_trades.sql
--! Included trading/functions/own_trade_ids.sql
-- The user is given as a range: an equality would let the planner walk the primary key, past the
-- trades of all others.
create or replace function trading.own_trade_ids(
  user_id bigint, from_id bigint, ascending boolean, most int
)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if own_trade_ids.ascending then
    return query
    select y.id
    from (
      (
        select x.id
        from trading.trades as x
        where (x.taker_user_id, x.id) >= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.taker_user_id <= own_trade_ids.user_id
        order by x.taker_user_id, x.id
        limit own_trade_ids.most
      )
      union all
      (
        select x.id
        from trading.trades as x
        where (x.maker_user_id, x.id) >= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.maker_user_id <= own_trade_ids.user_id
        order by x.maker_user_id, x.id
        limit own_trade_ids.most
      )
    ) as y
    order by y.id
    limit own_trade_ids.most;
  else
    return query
    select y.id
    from (
      (
        select x.id
        from trading.trades as x
        where (x.taker_user_id, x.id) <= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.taker_user_id >= own_trade_ids.user_id
        order by x.taker_user_id desc, x.id desc
        limit own_trade_ids.most
      )
      union all
      (
        select x.id
        from trading.trades as x
        where (x.maker_user_id, x.id) <= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.maker_user_id >= own_trade_ids.user_id
        order by x.maker_user_id desc, x.id desc
        limit own_trade_ids.most
      )
    ) as y
    order by y.id desc
    limit own_trade_ids.most;
  end if;
end
$$;

comment on function trading.own_trade_ids(bigint, bigint, boolean, int) is
  'Ids of a user''s trades, at most so many: from an id on, or from it back.';
--! EndIncluded trading/functions/own_trade_ids.sql
--! Included trading/functions/fills_after.sql
-- A user's trades get their ids under the lock on the user, so in the order of their ids they also
-- have rising positions. Trades of others lie between them in another order: where to begin is
-- found from any trade of about that time, by going back over the user's own.
create or replace function trading.fills_after(
  user_id bigint,
  after_position bigint,
  through_position bigint,
  most int
)
returns table ("position" bigint, trade_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_at_once constant int := 1000;
  v_first_at timestamptz;
  v_from_id bigint;
  v_back_id bigint;
  v_is_before boolean;
  v_ids bigint[];
  v_at_once int;
  v_left int := fills_after.most;
  v_here int;
  v_positions bigint[];
  v_trade_ids bigint[];
  v_last_position bigint;
begin
  -- The first trade of this event that is behind the position, or its last.
  select e.trade_ids[
    least(
      greatest(1, fills_after.after_position - e.position + cardinality(e.trade_ids) + 2),
      cardinality(e.trade_ids)
    )
  ] into v_from_id
  from trading.sent_events as e
  where e.position > fills_after.after_position
    and e.trade_ids is not null
  order by e.position
  limit 1;
  if not found then
    return;
  end if;
  select e.traded_at into v_first_at
  from trading.sent_events as e
  where e.trade_ids is not null
  order by e.traded_at
  limit 1;

  -- Event by event: from a trade to the first of its event.
  v_back_id := v_from_id;
  v_at_once := 1;
  loop
    v_ids := array(
      select i.id
      from trading.own_trade_ids(fills_after.user_id, v_back_id - 1, false, v_at_once) as i (id)
    );
    select
      least(
        v_from_id,
        min(p.first_trade_id) filter (where p.position > fills_after.after_position) -- mutant: fills_skipped
      ),
      coalesce(bool_or(p.position <= fills_after.after_position), false)
    into v_from_id, v_is_before
    from trading.positions_of_trades(v_ids) as p;
    exit when v_is_before
      or cardinality(v_ids) < v_at_once
      or (
        select t.created_at
        from trading.trades as t
        where t.id between v_ids[v_at_once] and v_ids[v_at_once]
        order by t.id
        limit 1
      ) < v_first_at;
    v_back_id := least(v_from_id, v_ids[v_at_once]);
    v_at_once := least(v_at_once * 5, c_most_at_once);
  end loop;

  -- Few at first: the next fill may be far behind what is asked for.
  v_at_once := 10;
  loop
    v_at_once := least(v_at_once, fills_after.most);
    v_ids := array(
      select i.id
      from trading.own_trade_ids(fills_after.user_id, v_from_id, true, v_at_once) as i (id)
    );
    select
      array_agg(p.position order by p.trade_id),
      array_agg(p.trade_id order by p.trade_id),
      max(p.position) filter (where p.trade_id = v_ids[v_at_once])
    into v_positions, v_trade_ids, v_last_position
    from trading.positions_of_trades(v_ids) as p;
    return query
    select f.position, f.trade_id
    from unnest(v_positions, v_trade_ids) as f (position, trade_id)
    where f.position > fills_after.after_position -- mutant: fills_twice
      and f.position <= fills_after.through_position
    order by f.trade_id
    limit v_left;
    get diagnostics v_here = row_count;
    v_left := v_left - v_here;
    -- The last one is missing if there is no other, or if it is not sent yet.
    exit when v_left = 0
      or v_last_position is null
      or v_last_position >= fills_after.through_position;
    v_from_id := v_ids[v_at_once] + 1;
    v_at_once := v_at_once * 5;
  end loop;
end
$$;

comment on function trading.fills_after(bigint, bigint, bigint, int) is
  'The trades of a user behind a position of the user streams and through another, oldest first, '
  'at most so many, with the positions of their frames. Trades that are not sent yet are left out.';
--! EndIncluded trading/functions/fills_after.sql
--! Included trading/functions/event_of_many.sql
-- By side, as the primary key has them: on an empty table the planner may choose the index by user,
-- and keep to it.
create or replace function trading.event_of_many(event trading.sent_events, user_id bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case event_of_many.event.kind
    when 'market_status' then json_build_object(
      'type', 'market_status',
      'marketId', event_of_many.event.payload -> 'marketId',
      'status', event_of_many.event.payload -> 'status'
    )
    when 'market_settled' then json_build_object(
      'type', 'settled',
      'marketId', event_of_many.event.payload -> 'marketId',
      'outcome', event_of_many.event.payload -> 'outcome',
      'payoutCents', (
        select sum(x.payout_cents)
        from (
          select s.payout_cents
          from trading.settlements as s
          where s.resolution_id = (event_of_many.event.payload ->> 'resolutionId')::bigint
            and s.user_id = event_of_many.user_id
          order by s.side
          limit 2
        ) as x
      ),
      'balance', event_of_many.event.payload -> 'balances' -> (
        array_position(event_of_many.event.user_ids, event_of_many.user_id) - 1
      )
    )
  end
$$;

comment on function trading.event_of_many(trading.sent_events, bigint) is
  'What one of the users of an event for many gets.';
--! EndIncluded trading/functions/event_of_many.sql
--! Included trading/functions/user_events_after.sql
create or replace function trading.user_events_after(
  user_id bigint,
  after_position bigint,
  with_fills boolean,
  with_settlements boolean,
  with_markets boolean,
  most int
)
returns table ("position" bigint, event json)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The user is given as a range: for an equality, a plan made without events may read those of all
  -- users by their positions.
  v_own_positions constant bigint[] := array(
    select e.position
    from trading.sent_events as e
    where (e.user_id, e.position) > (user_events_after.user_id, user_events_after.after_position)
      and e.user_id <= user_events_after.user_id
    order by e.user_id, e.position
    limit user_events_after.most
  );
  -- Behind so many events of the user nothing is looked for: it is not shown.
  v_through bigint := coalesce(v_own_positions[user_events_after.most], 9223372036854775807);
  v_positions bigint[];
  v_trade_ids bigint[];
begin
  if user_events_after.with_fills then
    select array_agg(f.position order by f.trade_id), array_agg(f.trade_id order by f.trade_id)
    into v_positions, v_trade_ids
    from trading.fills_after(
      user_events_after.user_id, user_events_after.after_position, v_through,
      user_events_after.most
    ) as f;
  end if;
  -- Nor behind so many events and fills together.
  if v_positions is not null then
    v_through := coalesce(
      (
        select p.position
        from unnest(v_own_positions || v_positions) as p (position)
        order by p.position
        offset user_events_after.most - 1
        limit 1
      ),
      v_through
    );
    v_trade_ids := v_trade_ids[:width_bucket(v_through, v_positions)];
  end if;
  return query
  select s.position, s.event
  from (
    (
      select e.position, e.payload -> 'event' as event
      from trading.sent_events as e
      where (e.user_id, e.position)
          > (user_events_after.user_id, user_events_after.after_position) -- mutant: event_skipped
        and (e.user_id, e.position) <= (user_events_after.user_id, v_through) -- mutant: events_of_others
        and e.user_id is not null
      order by e.user_id, e.position
      limit user_events_after.most
    )
    union all
    select v_positions[array_position(v_trade_ids, f.trade_id)], f.event
    from trading.fill_events(v_trade_ids, user_events_after.user_id) as f
    union all
    (
      select e.position, trading.event_of_many(e, user_events_after.user_id)
      from trading.sent_events as e
      where (user_events_after.with_settlements or user_events_after.with_markets)
        and e.user_ids is not null
        and e.position > user_events_after.after_position
        and e.position <= v_through
        and e.user_ids[1] <= user_events_after.user_id
        and e.user_ids[cardinality(e.user_ids)] >= user_events_after.user_id
        and user_events_after.user_id = any (e.user_ids) -- mutant: settlement_of_others
        and case e.kind
          when 'market_settled' then user_events_after.with_settlements
          when 'market_status' then user_events_after.with_markets
          else false
        end
      order by e.position
      limit user_events_after.most
    )
  ) as s
  order by s.position -- mutant: events_out_of_order
  limit user_events_after.most;
end
$$;

comment on function trading.user_events_after(bigint, bigint, boolean, boolean, boolean, int) is
  'What the stream of a user gets behind a position, oldest first, at most so many: the events of '
  'the user and, if asked for, fills, settlements and new statuses of markets. The same on every '
  'call, whenever and by whichever server it is made.';
--! EndIncluded trading/functions/user_events_after.sql
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
  ),
  met as not materialized (
    select x.user_id, x.market_id, x.created_at, x.released_at, x.cancelled_at, x.cancel_reason,
      x.public_id, (x.side = 'yes') = (x.order_type = 'buy') as is_yes
    from all_orders as x
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
  -- the book. An order that may not rest ends at its placing or release, or in its delay. A dead
  -- man's switch can end it at its release.
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
        when 'self_trade' then o.time_in_force <> 'gtc'
          and (o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at)
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
      or o.time_in_force = 'fok' and o.filled_quantity > 0
      or o.time_in_force <> 'gtc' and not x.is_waiting and (
        o.cancelled_at <> x.taken_at
        or o.cancel_reason = 'user_amended'
        or o.cancel_reason = 'user_cancelled' and not exists (
          select from trading.dead_man_switches as s where s.user_id = o.user_id
        )
        or o.filled_quantity > 0 and o.cancel_reason <> 'insufficient_liquidity'
        or o.released_at is null and o.filled_quantity = 0
      )
    )

  -- At its release an order ends by itself; on the book it makes way for one that takes then.
  union all
  select 'order that ended for a self-trade met an order of its user', 'order ' || o.public_id,
    'an order of the other side, matched at ' || o.cancelled_at, 'none'
  from met as o
  where o.cancel_reason = 'self_trade'
    and o.cancelled_at is distinct from o.released_at
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.created_at = o.cancelled_at
    )
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.released_at = o.cancelled_at
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
  select 'replacement takes the place of an amended order', 'order ' || r.order_id,
    'an order of its user and market, amended when it was made', 'order ' || r.replaced_order_id
  from trading.order_replacements as r
  left join all_orders as n on n.id = r.order_id
  left join all_orders as o on o.id = r.replaced_order_id
  where (o.market_id, o.user_id, o.cancel_reason, o.cancelled_at)
    is distinct from (n.market_id, n.user_id, 'user_amended'::trading.cancel_reason, n.created_at)

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
  where k.order_id is not null
    and o.user_id is distinct from k.user_id

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
--! Included trading/functions/verify_commands.sql
-- A reply is text, and no JSON is parsed: one that is no JSON any more must give a row, and not end
-- the proof. The bodies in the reply to a batch are strings in a string: before each of their
-- quotes is a backslash, for which the pattern has a dot.
create or replace function trading.verify_commands()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  all_orders as not materialized (
    select o.id, o.public_id, o.user_id, o.status from trading.orders as o
    union all
    select a.id, a.public_id, a.user_id, a.status from trading.archived_orders as a
  )
  select 'idempotency key belongs to a user', 'key ' || k.key, 'user ' || k.user_id, 'none'
  from trading.idempotency_keys as k
  where not exists (select from trading.traders as t where t.user_id = k.user_id)

  union all
  select 'reply is about orders of its user', 'key ' || r.key, 'orders of user ' || r.user_id,
    'order ' || r.order_id
  from (
    select k.key, k.user_id, m.found[1] as order_id
    from trading.idempotency_keys as k
    cross join lateral regexp_matches(
      k.reply, '"order.?":[{].?"id.?":.?"(.{36})', 'g'
    ) as m (found)
  ) as r
  left join all_orders as o on o.public_id::text = r.order_id
  where o.user_id is distinct from r.user_id

  union all
  select 'order that a reply calls cancelled is cancelled', 'key ' || r.key,
    'order ' || r.order_id || ' cancelled', o.status::text
  from (
    select k.key, substring(k.reply from '^[{]"order":[{]"id":"(.{36})') as order_id
    from trading.idempotency_keys as k
    where k.reply ~ '^[{]"order":[{][^}]*"status":"cancelled"'
  ) as r
  join all_orders as o on o.public_id::text = r.order_id
  where o.status <> 'cancelled'

  union all
  select 'reply of a split or merge has its conversion', 'key ' || r.key,
    r.quantity || ' sets in market ' || r.market_id, 'none'
  from (
    select k.key, k.user_id, k.created_at, m.found[1] as market_id, m.found[2] as quantity
    from trading.idempotency_keys as k
    cross join lateral regexp_matches(
      k.reply, '^[{]"marketId":"([^"]*)","quantity":([0-9]+),'
    ) as m (found)
  ) as r
  where not exists (
    select
    from trading.set_conversions as c
    join catalog.markets as m on m.id = c.market_id
    where c.user_id = r.user_id
      and m.public_id::text = r.market_id
      and c.quantity::text = r.quantity
      and c.created_at between r.created_at - interval '1 hour' and r.created_at
        + interval '1 hour'
  )

  union all
  select 'dead man''s switch belongs to a user', 'switch of user ' || s.user_id, 'a user', 'none'
  from trading.dead_man_switches as s
  where not exists (select from trading.traders as t where t.user_id = s.user_id)

  union all
  select 'switch that fires goes up to an order of its user', 'switch of user ' || s.user_id,
    'an order of the user', 'order ' || s.last_order_id
  from trading.dead_man_switches as s
  left join all_orders as o on o.id = s.last_order_id
  where s.last_order_id <> 0
    and o.user_id is distinct from s.user_id

  union all
  select 'switch that fires says when', 'switch of user ' || s.user_id,
    s.expires_at::text, s.last_fired_at::text
  from trading.dead_man_switches as s
  where s.last_fired_at is distinct from s.expires_at
    and s.fired_at is not null
$$;

comment on function trading.verify_commands() is
  'The part of ledger.verify() about what idempotency keys of commands and dead man''s switches '
  'stand for. One row for each broken invariant.';
--! EndIncluded trading/functions/verify_commands.sql
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
  select * from trading.verify_commands()
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
  union all
  select * from trading.verify_events()
$$;

comment on function ledger.verify() is
  'One row for each broken invariant of ledger, shares, orders and book: its name, the object, '
  'what was expected and what was found. No row on a sound database. One statement of stable '
  'functions, one for each subject, which all read its one snapshot: it may run while trading goes '
  'on.';
--! EndIncluded ledger/functions/verify.sql
--! Included admin/functions/create_api_key.sql
create or replace function admin.create_api_key(
  user_id uuid,
  name text,
  scopes text[] default '{read,trade}',
  expires_at timestamptz default null,
  allowed_addresses cidr[] default null
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_made identity.api_keys;
  v_constraint text;
  v_column text;
begin
  v_made := identity.add_api_key(
    user_id => identity.user_id(create_api_key.user_id),
    name => create_api_key.name,
    key_hash => v_key_hash,
    scopes => create_api_key.scopes,
    expires_at => create_api_key.expires_at,
    allowed_addresses => create_api_key.allowed_addresses
  );
  perform admin.audit('create_api_key', jsonb_build_object(
    'user_id', create_api_key.user_id,
    'name', create_api_key.name,
    'scopes', v_made.scopes,
    'expires_at', create_api_key.expires_at,
    'allowed_addresses', create_api_key.allowed_addresses,
    'key_id', v_made.public_id
  ));
  return v_key;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_api_key(uuid, text, text[], timestamptz, cidr[]) is
  'Makes an API key and returns it; it is not kept and can never be shown again. It may read, '
  'trade or both, until it expires (null: it does not), from these addresses and networks (null: '
  'from all). Errors: INVALID_REQUEST, NOT_FOUND.';
--! EndIncluded admin/functions/create_api_key.sql
--! Included admin/functions/rotate_api_key.sql
create or replace function admin.rotate_api_key(key_id uuid, overlap interval default '1 day')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_old_id bigint;
  v_user_id bigint;
  v_made identity.api_keys;
begin
  select k.id, k.user_id into v_old_id, v_user_id
  from identity.api_keys as k
  where k.public_id = rotate_api_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no API key %s', coalesce(rotate_api_key.key_id::text, 'null')
    ));
  end if;
  perform identity.lock_account(v_user_id);
  v_made := identity.rotate_api_key(
    key_id => v_old_id,
    overlap => rotate_api_key.overlap,
    key_hash => v_key_hash
  );
  perform admin.audit('rotate_api_key', jsonb_build_object(
    'key_id', rotate_api_key.key_id,
    'overlap', rotate_api_key.overlap,
    'new_key_id', v_made.public_id
  ));
  return v_key;
end
$$;

comment on function admin.rotate_api_key(uuid, interval) is
  'Makes an API key in the place of another and returns it; it is not kept and can never be shown '
  'again. It has the name, the scopes, the addresses and the life of the other, which is valid for '
  'the overlap from now on: 0, or from 5 minutes to 7 days. Errors: INVALID_REQUEST, '
  'INVALID_STATE (it is not in force, or was rotated before), NOT_FOUND. Locks: the rows of '
  'the user and of the key.';
--! EndIncluded admin/functions/rotate_api_key.sql
--! Included admin/functions/revoke_api_key.sql
create or replace function admin.revoke_api_key(key_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_id bigint;
begin
  select k.id into v_key_id
  from identity.api_keys as k
  where k.public_id = revoke_api_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no API key %s', revoke_api_key.key_id));
  end if;
  perform identity.revoke_api_keys(array[v_key_id]);
  perform admin.audit('revoke_api_key', jsonb_build_object('key_id', revoke_api_key.key_id));
end
$$;

comment on function admin.revoke_api_key(uuid) is
  'Revokes an API key, and writes an api_key_revoked event for the servers. Revoking it again '
  'changes nothing. Errors: NOT_FOUND. Locks: the row of the key.';
--! EndIncluded admin/functions/revoke_api_key.sql
--! Included api/functions/authenticate_key.sql
create or replace function api.authenticate_key(key_hash bytea, address inet default null)
returns table (user_id uuid, api_key_id uuid, scopes text[], valid_for_ms int)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    u.public_id,
    k.public_id,
    k.scopes,
    floor(least(5000, extract(epoch from k.expires_at - core.now()) * 1000))::int -- mutant: keys_outlive_their_expiry
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.key_hash = authenticate_key.key_hash
    and identity.is_key_in_force(k)
    and (
      k.allowed_addresses is null -- mutant: keys_valid_everywhere
      or identity.plain_address(authenticate_key.address) <<= any (k.allowed_addresses) -- mutant: mapped_addresses_are_others
    )
$$;

comment on function api.authenticate_key(bytea, inet) is
  'The user of the API key with this SHA-256, the scopes of the key, and for how many milliseconds '
  'a server may remember this answer for this address: 5000 at most, and not after the key '
  'expires. One row, or none if the key is unknown, revoked or expired, or if the address is not '
  'among those that it allows.';
--! EndIncluded api/functions/authenticate_key.sql
--! Included api/functions/authenticate.sql
create or replace function api.authenticate(key_hash bytea)
returns table (user_id uuid, api_key_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select a.user_id, a.api_key_id
  from api.authenticate_key(key_hash => authenticate.key_hash) as a
  where a.scopes = '{read,trade}' -- mutant: old_servers_get_every_key
    and a.valid_for_ms = 5000 -- mutant: old_servers_outlive_an_expiry
$$;

comment on function api.authenticate(bytea) is
  'For servers of version 0.2.0, which know neither scopes nor addresses, and remember each answer '
  'for 5 s: the user of the API key with this SHA-256. One row, or none if the key is unknown, '
  'revoked, expired or about to expire, or if it has less power than all.';
--! EndIncluded api/functions/authenticate.sql
--! Included api/functions/note_key_use.sql
create or replace function api.note_key_use(api_key_id uuid, address inet default null)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update identity.api_keys as k
  set last_used_at = core.now(),
    last_used_address = identity.plain_address(note_key_use.address)
  where k.public_id = note_key_use.api_key_id
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute')
$$;

comment on function api.note_key_use(uuid, inet) is
  'Records the use of an API key and from where it came, at most once a minute. Locks: the row of '
  'the key.';
--! EndIncluded api/functions/note_key_use.sql
--! Included api/functions/record_key_use.sql
create or replace function api.record_key_use(api_key_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select api.note_key_use(api_key_id => record_key_use.api_key_id)
$$;

comment on function api.record_key_use(uuid) is
  'For servers of version 0.2.0: api.note_key_use without an address. Locks: the row of the key.';
--! EndIncluded api/functions/record_key_use.sql
--! Included api/functions/list_credential_ends.sql
create or replace function api.list_credential_ends(credential_ids uuid[])
returns table (credential_id uuid, ends_in_ms double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    i.id,
    case
      when c.is_valid then ceil(extract(epoch from c.expires_at - core.now()) * 1000)
      else 0
    end
  from unnest(list_credential_ends.credential_ids) as i (id)
  left join lateral (
    select true as is_valid, k.expires_at
    from identity.api_keys as k
    where k.public_id = i.id
      and identity.is_key_in_force(k)
    union all
    select true, s.expires_at
    from identity.sessions as s
    where s.public_id = i.id
      and s.expires_at > core.now()
  ) as c on true
$$;

comment on function api.list_credential_ends(uuid[]) is
  'In how many milliseconds each of these API keys and sessions ends: 0 if it has ended, null if '
  'it has no end. For streams, which outlive the check of the request that opened them.';
--! EndIncluded api/functions/list_credential_ends.sql
--! Included api/functions/list_ended_credentials.sql
create or replace function api.list_ended_credentials(credential_ids uuid[])
returns setof uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select e.credential_id
  from api.list_credential_ends(
    credential_ids => list_ended_credentials.credential_ids
  ) as e
  where e.ends_in_ms = 0
$$;

comment on function api.list_ended_credentials(uuid[]) is
  'For servers of version 0.2.0: those of the ids that belong neither to a valid API key nor to a '
  'session in force.';
--! EndIncluded api/functions/list_ended_credentials.sql
--! Included api/functions/list_keys.sql
create or replace function api.list_keys(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', k.public_id,
        'name', k.name,
        'scopes', k.scopes,
        'createdAt', core.iso8601(k.created_at),
        'expiresAt', core.iso8601(k.expires_at),
        -- As inet, an address is written without its length.
        'allowedAddresses', k.allowed_addresses::inet[],
        'lastUsedAt', core.iso8601(k.last_used_at),
        'lastUsedAddress', host(k.last_used_address),
        'replacedBy', n.public_id
      )
      order by k.id desc
    ),
    '[]'
  ))
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  left join identity.api_keys as n on n.replaces = k.id
  where u.public_id = list_keys.user_id
    and identity.is_key_in_force(k)
$$;

comment on function api.list_keys(uuid) is
  'The body of GET /api/account/keys: a user''s API keys in force, newest first.';
--! EndIncluded api/functions/list_keys.sql
--! Included api/functions/create_key.sql
create or replace function api.create_key(
  user_id uuid,
  name text,
  scopes text[] default '{read,trade}',
  expires_at timestamptz default null,
  allowed_addresses text[] default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_user_id bigint;
  v_made identity.api_keys;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  v_user_id := identity.lock_key_maker(create_key.user_id);
  v_made := identity.add_api_key(
    user_id => v_user_id,
    name => create_key.name,
    key_hash => v_key_hash,
    scopes => create_key.scopes,
    expires_at => create_key.expires_at,
    allowed_addresses => create_key.allowed_addresses::cidr[]
  );
  perform identity.accept_new_key(v_made);
  return json_build_object('id', v_made.public_id, 'name', v_made.name, 'key', v_key);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when invalid_text_representation then
    perform core.raise_error(
      'INVALID_REQUEST',
      'allowedAddresses: must be addresses or networks, such as 203.0.113.7 or 10.0.0.0/8'
    );
end
$$;

comment on function api.create_key(uuid, text, text[], timestamptz, text[]) is
  'Makes an API key for its user and returns the body of POST /api/account/keys, with the key, '
  'which is not kept. A mail reports it with its powers. At most 50 keys are in force, and 100 are '
  'made in 24 hours. Errors: INVALID_REQUEST, EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. '
  'Locks: the row of the user in identity.users, for which no trading waits.';
--! EndIncluded api/functions/create_key.sql
--! Included api/functions/rotate_key.sql
create or replace function api.rotate_key(user_id uuid, key_id uuid, overlap_seconds int)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_old_id bigint;
  v_made identity.api_keys;
begin
  perform core.check_session();
  select k.id into v_old_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.public_id = rotate_key.key_id
    and u.public_id = rotate_key.user_id;
  if not found then
    return null;
  end if;
  perform identity.lock_key_maker(rotate_key.user_id);
  v_made := identity.rotate_api_key(
    key_id => v_old_id,
    overlap => make_interval(secs => rotate_key.overlap_seconds),
    key_hash => v_key_hash
  );
  perform identity.accept_new_key(v_made);
  return (
    select json_build_object(
      'id', v_made.public_id,
      'name', v_made.name,
      'key', v_key,
      'oldKeyEndsAt', core.iso8601(coalesce(k.revoked_at, k.expires_at))
    )
    from identity.api_keys as k
    where k.id = v_old_id
  );
end
$$;

comment on function api.rotate_key(uuid, uuid, int) is
  'Makes an API key in the place of another of its user (identity.rotate_api_key) and returns the '
  'body of POST /api/account/keys/:id/rotate, with the key, which is not kept. A mail reports it. '
  'Null: the user has no such key. Errors: INVALID_REQUEST, EMAIL_UNCONFIRMED, INVALID_STATE, '
  'UNFIT_SESSION. Locks: the row of the user in identity.users, for which no trading waits, and '
  'that of the key.';
--! EndIncluded api/functions/rotate_key.sql
--! Included api/functions/revoke_key.sql
create or replace function api.revoke_key(user_id uuid, key_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_id bigint;
begin
  select k.id into v_key_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.public_id = revoke_key.key_id
    and u.public_id = revoke_key.user_id;
  if not found then
    return false;
  end if;
  perform identity.revoke_api_keys(array[v_key_id]);
  return true;
end
$$;

comment on function api.revoke_key(uuid, uuid) is
  'Ends an API key of a user; servers hear of it by api_key_revoked. Revoking it again changes '
  'nothing. False: the user has no such key. Locks: the row of the key.';
--! EndIncluded api/functions/revoke_key.sql
--! Included api/functions/revoke_keys.sql
create or replace function api.revoke_keys(user_id uuid)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_key_ids bigint[];
begin
  perform core.check_session();
  -- Held, so that a key is made before this, and revoked, or after it.
  select u.id into strict v_user_id
  from identity.users as u
  where u.public_id = revoke_keys.user_id
  for no key update; -- mutant: keys_made_beside_a_revocation
  v_key_ids := array(
    select k.id
    from identity.api_keys as k
    where k.user_id = v_user_id
      and identity.is_key_in_force(k)
  );
  perform identity.revoke_api_keys(v_key_ids);
  return cardinality(v_key_ids);
end
$$;

comment on function api.revoke_keys(uuid) is
  'Ends all API keys of a user; servers hear of it by api_key_revoked. Returns how many ended. '
  'Errors: UNFIT_SESSION. Locks: the row of the user in identity.users, for which no trading '
  'waits, and those of the keys.';
--! EndIncluded api/functions/revoke_keys.sql
--! Included api/functions/count_requests.sql
create or replace function api.count_requests(requests json)
returns table (
  allowed boolean,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint,
  windows json
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
  v_checks rate_limits.checks := rate_limits.read_checks(count_requests.requests);
  v_at timestamptz;
  v_counters rate_limits.counter[];
  v_counter rate_limits.counter;
  v_free bigint[] := '{}';
  v_granted int[] := array_fill(0, array[cardinality(v_checks.buckets)]);
  v_fits boolean;
  v_has_windows boolean;
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
    windows := null;
    v_has_windows := false;
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
      else
        v_has_windows := true;
      end if;
    end loop;
    if v_has_windows then
      windows := (
        select json_agg(
          json_build_object(
            'bucket', b.bucket, 'quota', b.max_requests, 'seconds', b.window_seconds,
            'remaining', v_free[u.checked]
          )
          order by u.place
        )
        from unnest(v_checks.checked[v_next : v_end]) with ordinality as u (checked, place)
        cross join lateral (
          select x.bucket, x.max_requests, x.window_seconds
          from rate_limits.buckets as x
          where x.bucket = v_checks.buckets[u.checked]
          limit 1
        ) as b
      );
    end if;
    v_next := v_end + 1;
    return next;
  end loop;

  if 'v1-trading' <> any (v_checks.buckets) then
    perform rate_limits.record_grants(v_counters, v_granted, v_at);
  end if;
  if 'v1-trading' = any (v_checks.buckets) then
    perform rate_limits.spend_tokens(v_counters, v_granted, v_at);
  end if;
end
$$;

comment on function api.count_requests(json) is
  'Counts requests, and returns for each, in their order, whether it is allowed and otherwise '
  'after how many seconds it may be repeated. A request is {bucket: subject, ...}: the buckets of '
  'rate_limits.buckets with an address or a user''s id, or v1-trading with a user''s id. It counts '
  'once, or count times where a bucket has {subject, count}. It needs room in all of them; a '
  'request that is not allowed is counted in none. retry_after_seconds is null where a request '
  'counts more times than there ever is room for. The policy and the whole tokens left are given '
  'for v1-trading; windows says of the others: bucket, quota, seconds of the window, remaining. '
  'Errors: NOT_FOUND. Locks: the counters.';
--! EndIncluded api/functions/count_requests.sql
--! Included api/functions/take_requests.sql
create or replace function api.take_requests(requests json)
returns table (
  allowed boolean,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.allowed, c.retry_after_seconds, c.requests_per_minute, c.burst_capacity, c.remaining
  from api.count_requests(take_requests.requests) as c
$$;

comment on function api.take_requests(json) is
  'As api.count_requests, without the windows: for servers of version 0.2.0.';
--! EndIncluded api/functions/take_requests.sql
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
  c_longest_silence constant interval := interval '1 hour';
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_at constant timestamptz := core.now();
  v_cluster constant text := (select s.system_identifier from pg_control_system() as s) || '.'
    || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  v_last_id bigint;
  v_done trading.outbox_relay;
  v_moves_on boolean;
  v_sent_id bigint;
  v_count bigint;
  v_positions bigint;
  v_ticks boolean;
begin
  -- One at a time, so that the ids of events are in the order of the commits. The commit is flushed
  -- like any other: what servers have delivered under an id must be there under it after a crash.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Its first row must be of a later transaction.
  if trading.make_event_partition(v_at) then
    return 1;
  end if;

  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that writes an event has written something before, which gave it its number.
  select q.last_value - (not q.is_called)::int into v_last_id
  from trading.outbox_id_seq as q;
  select a.* into strict v_done
  from trading.outbox_relay as a;
  if v_done.cluster <> v_cluster then -- mutant: lost_ids_given_again
    -- No lost id can be as high, unless there were a million events a second.
    v_done.last_event_id :=
      greatest(v_done.last_event_id + 1, floor(extract(epoch from v_at) * 1000000)::bigint);
    v_done.last_position :=
      greatest(v_done.last_position + 1, floor(extract(epoch from v_at) * 1000000)::bigint);
  end if;
  v_moves_on := coalesce(
    v_is_first_write
    and core.all_ended_before(v_done.noted_xid)
    and v_last_id > v_done.sent_through_id,
    false
  );

  with moved as (
    delete from trading.outbox as a
    -- An array, not in (...): a plan made on an empty table would join, and read the list anew
    -- for each row.
    where a.id = any (array(
      select b.id
      from trading.outbox as b
      where b.id > v_done.sent_through_id
      order by b.id
      limit c_most_rows
    ))
    returning
      a.id, a.channel, a.payload, a.user_id, a.trade_ids, a.traded_at, a.user_ids,
      1 + coalesce(cardinality(a.trade_ids), 0) as positions
  ),
  sent as (
    insert into trading.sent_events (
      id, position, kind, payload, sent_at, user_id, trade_ids, traded_at, user_ids
    )
    select
      v_done.last_event_id + row_number() over by_id,
      v_done.last_position + sum(m.positions) over by_id, -- mutant: positions_overlap
      m.channel, m.payload, v_at,
      case when m.channel = 'user_event' then coalesce(
        m.user_id,
        (
          select t.user_id
          from trading.traders as t
          where t.public_id = (m.payload ->> 'userId')::uuid
          limit 1
        )
      ) end,
      m.trade_ids, m.traded_at, m.user_ids
    from moved as m
    window by_id as (order by m.id)
  )
  select count(*), max(m.id), coalesce(sum(m.positions), 0)
  into v_count, v_sent_id, v_positions
  from moved as m;

  -- So that the last id of a quiet exchange is never old.
  v_ticks := v_count = 0 and v_at > v_done.last_sent_at + c_longest_silence;
  if v_ticks then
    insert into trading.sent_events (id, position, kind, payload, sent_at)
    values (v_done.last_event_id + 1, v_done.last_position + 1, 'tick', '{}', v_at);
    v_positions := 1;
  end if;

  if v_positions > 0 or v_moves_on then
    update trading.outbox_relay as a set
      last_event_id = case
        when v_positions > 0 then v_done.last_event_id + v_count + v_ticks::int
        else a.last_event_id
      end,
      last_position = case
        when v_positions > 0 then v_done.last_position + v_positions else a.last_position
      end,
      last_sent_at = case when v_positions > 0 then v_at else a.last_sent_at end,
      cluster = case when v_positions > 0 then v_cluster else a.cluster end,
      sent_through_id = case
        when not v_moves_on then a.sent_through_id
        when v_count < c_most_rows then a.noted_id
        else least(a.noted_id, v_sent_id)
      end,
      noted_id = case when v_moves_on then v_last_id else a.noted_id end,
      noted_xid = case when v_moves_on then pg_current_xact_id() else a.noted_xid end;
  end if;
  if v_positions > 0 then
    notify pgmarkets_events;
  end if;
  return v_count;
end
$$;

comment on function api.relay_outbox() is
  'The relay of the outbox: moves the events of committed transactions to trading.sent_events, '
  'oldest first, at most 1,000 at a time, numbers them, and sends a notification without content '
  'on channel pgmarkets_events; returns how many, or 1 when it has made the partition of the day '
  'and is to be called again. Every server process calls it right after a command, and every '
  '100 ms besides. Locks: an advisory lock of its own, so that there is one call at a time.';
--! EndIncluded api/functions/relay_outbox.sql
--! Included api/functions/follow_events.sql
-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function api.follow_events(after_id bigint default null, most int default 1000)
returns table (id bigint, "position" bigint, kind text, payload json, user_ids uuid[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_relay trading.outbox_relay;
begin
  select a.* into strict v_relay
  from trading.outbox_relay as a
  where a.singleton;
  if v_relay.last_event_id = follow_events.after_id then
    return;
  end if;
  if follow_events.after_id between v_relay.removed_through_id and v_relay.last_event_id then
    return query
    select
      e.id, e.position, e.kind, e.payload,
      case when e.user_ids is not null or e.trade_ids is not null then array(
        select u.public_id
        from (
          select x.id from unnest(e.user_ids) as x (id)
          union
          select r.user_id
          from unnest(e.trade_ids) as i (id)
          cross join lateral (
            select y.taker_user_id, y.maker_user_id
            from trading.trades as y
            where y.id between i.id and i.id
            order by y.id
            limit 1
          ) as t
          cross join lateral (values (t.taker_user_id), (t.maker_user_id)) as r (user_id)
        ) as s
        cross join lateral (
          select z.public_id from trading.traders as z where z.user_id = s.id limit 1
        ) as u
      ) end
    from trading.sent_events as e
    where e.id > follow_events.after_id -- mutant: first_event_missed
    order by e.id
    limit follow_events.most;
  else
    return query
    select v_relay.last_event_id, v_relay.last_position, null::text, null::json, null::uuid[];
  end if;
end
$$;

comment on function api.follow_events(bigint, int) is
  'The events after an id, oldest first, at most so many; no row if there are none. user_ids are '
  'those for whose streams the event has frames, apart from the user of a user_event. If the event '
  'right after that id is not kept any more, if no event has that id yet, or without an id: one '
  'row without kind and payload, whose id is where to continue; events may be missing before it.';
--! EndIncluded api/functions/follow_events.sql
--! Included api/functions/read_events.sql
create or replace function api.read_events(after_id bigint default null, most int default 1000)
returns table (id bigint, kind text, payload json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return query
  select e.id, e.kind, e.payload
  from api.follow_events(read_events.after_id, read_events.most) as e;
end
$$;

comment on function api.read_events(bigint, int) is
  'api.follow_events() without its later columns.';
--! EndIncluded api/functions/read_events.sql
--! Included api/functions/find_user_position.sql
create or replace function api.find_user_position(last_event_id bigint default null)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_kept constant interval := interval '24 hours';
begin
  if find_user_position.last_event_id is null then
    return (select r.last_position from trading.outbox_relay as r where r.singleton);
  end if;
  if trading.position_sent_at(find_user_position.last_event_id) >= core.now() - c_kept then -- mutant: old_events_continued
    return find_user_position.last_event_id;
  end if;
  return null;
end
$$;

comment on function api.find_user_position(bigint) is
  'Where a user stream begins: at the present position or, given the id of the last frame that its '
  'client has, there. Null when that is older than 24 hours, or was never given out.';
--! EndIncluded api/functions/find_user_position.sql
--! Included api/functions/read_user_events.sql
-- What has an order is read by the index that gives it, as if there were much to sort.
create or replace function api.read_user_events(
  user_ids uuid[],
  positions bigint[],
  with_fills boolean[],
  with_settlements boolean[],
  with_markets boolean[],
  most int
)
returns table (stream int, "position" bigint, event json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
as $$
declare
  v_last_position constant bigint := (
    select r.last_position from trading.outbox_relay as r where r.singleton
  );
  v_user_id bigint;
  v_count int;
begin
  for i in 1 .. cardinality(read_user_events.user_ids) loop
    if trading.position_sent_at(read_user_events.positions[i]) is null then
      return query select i, null::bigint, null::json;
      continue;
    end if;
    select t.user_id into strict v_user_id
    from trading.traders as t
    where t.public_id = read_user_events.user_ids[i];
    return query
    select i, e.position, e.event
    from trading.user_events_after(
      v_user_id, read_user_events.positions[i], read_user_events.with_fills[i],
      read_user_events.with_settlements[i], read_user_events.with_markets[i],
      read_user_events.most
    ) as e
    order by e.position;
    get diagnostics v_count = row_count;
    if v_count < read_user_events.most then
      return query select i, v_last_position, null::json;
    end if;
  end loop;
end
$$;

comment on function api.read_user_events(
  uuid[], bigint[], boolean[], boolean[], boolean[], int
) is
  'What streams of users get behind their positions: for each stream, counted from 1, at most so '
  'many events, oldest first, and then, if there are no more, a row without an event whose '
  'position is the last one of all. A row with neither: the position is not known, or its event is '
  'not kept any more.';
--! EndIncluded api/functions/read_user_events.sql
--! Included api/functions/place_orders_versioned.sql
create or replace function api.place_orders_versioned(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns table (
  code text,
  message text,
  replayed boolean,
  body text,
  market_version bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_results constant api.result[] := array(
    select r
    from api.place_orders(
      place_orders_versioned.orders, place_orders_versioned.atomic, place_orders_versioned.waits
    ) as r
  );
begin
  -- The version is that of the whole call: nobody sees one in between.
  return query
    select
      r.code, r.message, r.replayed, r.body,
      (
        select s.version
        from catalog.markets as m
        join trading.market_state as s on s.market_id = m.id
        where m.public_id
          = (place_orders_versioned.orders -> (r.place - 1)::int ->> 'marketId')::uuid
      )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place);
end
$$;

comment on function api.place_orders_versioned(jsonb, boolean, boolean) is
  'As api.place_orders, and market_version: the version of the order''s market after the call, '
  'which is the first one that shows it. Null if there is no such market.';
--! EndIncluded api/functions/place_orders_versioned.sql
--! Included api/functions/cancel_all_orders.sql
create or replace function api.cancel_all_orders(
  user_id uuid,
  market_id uuid default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  until_order_id bigint default null,
  cancelled_before int default 0,
  most int default 200,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out cancelled int,
  out last_order_id bigint
)
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
  c_most_markets constant int := 16;
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = cancel_all_orders.user_id
  );
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = cancel_all_orders.market_id
  );
  v_kept api.result;
  v_market_ids bigint[];
  v_order_ids bigint[];
begin
  message := null; -- the standard one of the code
  replayed := false;
  code := case
    when v_user_id is null then 'UNAUTHORIZED'
    when cancel_all_orders.market_id is not null and v_market_id is null then 'MARKET_NOT_FOUND'
  end;
  if code is not null then
    return;
  end if;
  v_kept := trading.find_reply(
    v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint
  );
  if v_kept.replayed is not null then
    code := v_kept.code;
    replayed := v_kept.replayed;
    body := v_kept.body;
    return;
  end if;

  last_order_id := coalesce(cancel_all_orders.until_order_id, (
    select max(b.order_id) from trading.active_orders as b where b.user_id = v_user_id
  ), 0);
  v_market_ids := array(
    select distinct o.market_id
    from trading.open_orders_until(
      v_user_id, last_order_id, v_market_id, cancel_all_orders.most
    ) as o
    order by o.market_id
    limit c_most_markets
  );
  cancelled := 0;
  if cardinality(v_market_ids) > 0 then
    -- Only the first one is waited for, so that no market is kept locked meanwhile.
    perform trading.lock_market(v_market_ids[1]); -- mutant: cancel_all_without_lock
    v_market_ids := v_market_ids[1] || trading.lock_free_markets(v_market_ids[2 : c_most_markets]);
    v_order_ids := array(
      select o.order_id
      from trading.open_orders_until(
        v_user_id, last_order_id, v_market_id, cancel_all_orders.most
      ) as o
      where o.market_id = any (v_market_ids)
    );
    cancelled := trading.cancel_active_orders(
      v_order_ids, 'user_cancelled', core.now(),
      expires => true,
      announced => false -- mutant: canceller_of_all_told
    );
  end if;
  cancelled := cancelled + cancel_all_orders.cancelled_before;

  if cancel_all_orders.idempotency_key is not null then
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint
    );
    if v_kept.replayed is not null then
      raise exception 'The command is finished by another call'
        using errcode = 'serialization_failure';
    end if;
    -- The count of all calls of the command is in the row of its key.
    cancelled := cancelled - cancel_all_orders.cancelled_before + coalesce(( -- mutant: cancelled_of_the_last_call
      select k.cancelled_orders
      from trading.idempotency_keys as k
      where k.user_id = v_user_id
        and k.key = cancel_all_orders.idempotency_key
        and k.request_fingerprint = cancel_all_orders.request_fingerprint
        and k.created_at > core.now() - interval '24 hours'
    ), 0);
  end if;

  if not exists (
    select from trading.open_orders_until(v_user_id, last_order_id, v_market_id, 1)
  ) then
    body := format(
      '{"cancelled":%s,"balance":%s}',
      cancelled,
      (
        select trading.balance_object(t.balance_cents)
        from trading.traders as t
        where t.user_id = v_user_id
      )
    );
  end if;
  if cancel_all_orders.idempotency_key is not null then
    perform trading.keep_reply(
      v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint, body,
      cancelled
    );
  end if;
end
$$;

comment on function api.cancel_all_orders(uuid, uuid, uuid, uuid, bigint, int, int) is
  'Cancels open orders of a user (user_cancelled), resting and scheduled ones, in one market or '
  'in all: at most so many, of at most 16 markets. body is null while there are more: then it is '
  'to be called again with until_order_id => last_order_id and cancelled_before => cancelled. '
  'Only orders up to that id count, and those that amendments put in their place, so that it ends '
  'however fast new ones come. The user gets no events, but those of orders that were past their '
  'expiry: these expire, and are not counted. With an idempotency key the calls of one command '
  'are counted together, and the last one keeps the answer. Rejections: UNAUTHORIZED, '
  'MARKET_NOT_FOUND, IDEMPOTENCY_KEY_REUSED. May fail with 40001: call it again. Locks: the first '
  'of the markets, those of the others that are free; with a key then the user.';
--! EndIncluded api/functions/cancel_all_orders.sql
--! Included api/functions/set_dead_man.sql
create or replace function api.set_dead_man(
  user_id uuid,
  timeout_ms int,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out fired_at text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  c_told_for constant interval := interval '24 hours';
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = set_dead_man.user_id
  );
  v_kept api.result;
  v_switch trading.dead_man_switches;
  v_at timestamptz;
  v_expires_at timestamptz;
  v_last_stopped_id bigint;
  v_is_locked boolean; -- the user is
begin
  replayed := false;
  if v_user_id is null then
    code := 'UNAUTHORIZED';
  elsif set_dead_man.timeout_ms is null
    or (set_dead_man.timeout_ms <> 0 and set_dead_man.timeout_ms not between 1000 and 300000)
  then
    code := 'INVALID_REQUEST';
    message := 'timeoutMs: must be 0, or from 1000 to 300000';
  end if;
  if code is not null then
    return;
  end if;
  if set_dead_man.idempotency_key is not null then
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, set_dead_man.idempotency_key, set_dead_man.request_fingerprint
    );
    if v_kept.replayed is not null then
      code := v_kept.code;
      replayed := v_kept.replayed;
      body := v_kept.body;
      fired_at := (
        select core.iso8601(s.last_fired_at)
        from trading.dead_man_switches as s
        where s.user_id = v_user_id
          and s.last_fired_at > core.now() - c_told_for
      );
      return;
    end if;
  end if;

  -- Orders that came in time may still be under way. A switch in force is renewed beside them.
  v_is_locked := set_dead_man.idempotency_key is not null;
  if not v_is_locked and exists (
    select
    from trading.dead_man_switches as s
    where s.user_id = v_user_id
      and s.expires_at <= core.now()
  ) then
    perform trading.lock_traders(array[v_user_id]);
    v_is_locked := true;
  end if;
  insert into trading.dead_man_switches (user_id)
  values (v_user_id)
  on conflict on constraint dead_man_switches_pkey do nothing;
  select s.* into strict v_switch
  from trading.dead_man_switches as s
  where s.user_id = v_user_id
  for update;
  v_at := core.now();

  -- Renewed in time, or fired: the clock decides under the lock, and not who comes first.
  v_last_stopped_id := trading.last_stopped_order(v_switch, v_at, grace => '0'); -- mutant: renewed_too_late
  if v_last_stopped_id is not null and (
    not v_is_locked -- mutant: switch_ended_beside_an_order
    or exists (select from trading.open_orders_until(v_user_id, v_last_stopped_id, null, 1))
  ) then
    code := 'DEAD_MAN_FIRED';
    return;
  end if;
  v_expires_at := case
    when set_dead_man.timeout_ms > 0
      then v_at + set_dead_man.timeout_ms * interval '1 millisecond'
  end;
  if v_last_stopped_id is not null then
    v_switch.last_fired_at := v_switch.expires_at;
  end if;
  update trading.dead_man_switches as s set
    expires_at = v_expires_at, -- mutant: switch_not_renewed
    fired_at = null,
    last_order_id = null,
    last_fired_at = v_switch.last_fired_at
  where s.user_id = v_user_id;
  if v_switch.last_fired_at > v_at - c_told_for then
    fired_at := core.iso8601(v_switch.last_fired_at);
  end if;

  body := json_build_object('expiresAt', core.iso8601(v_expires_at))::text;
  if set_dead_man.idempotency_key is not null then
    perform trading.keep_reply(
      v_user_id, set_dead_man.idempotency_key, set_dead_man.request_fingerprint, body
    );
  end if;
end
$$;

comment on function api.set_dead_man(uuid, int, uuid, uuid) is
  'Sets or renews the dead man''s switch of a user: unless it is called again within timeout_ms '
  '(1000-300000), all open orders of the user are cancelled; 0 turns it off. fired_at: when it '
  'expired last, if that was within 24 hours. A switch that has expired cannot be renewed before '
  'the orders of that time are cancelled: DEAD_MAN_FIRED, and nothing changes. Rejections: '
  'UNAUTHORIZED, INVALID_REQUEST, IDEMPOTENCY_KEY_REUSED, DEAD_MAN_FIRED. Locks: the user, with a '
  'key or if the switch has expired; then the switch.';
--! EndIncluded api/functions/set_dead_man.sql
--! Included api/functions/get_dead_man.sql
create or replace function api.get_dead_man(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('expiresAt', core.iso8601((
    select s.expires_at
    from trading.traders as t
    join trading.dead_man_switches as s on s.user_id = t.user_id
    where t.public_id = get_dead_man.user_id
  )))
$$;

comment on function api.get_dead_man(uuid) is
  'The body of GET /orders/dead-man: when the switch of a user fires, null while it is off. A time '
  'in the past: it has fired, and orders are being cancelled.';
--! EndIncluded api/functions/get_dead_man.sql
--! Included api/functions/run_command.sql
create or replace function api.run_command(
  command text,
  user_id uuid,
  order_id uuid default null,
  market_id uuid default null,
  price int default null,
  quantity int default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out market_version bigint
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
  c_is_keyed constant boolean := run_command.idempotency_key is not null;
  v_user_id bigint;
  v_market_id bigint;
  v_result api.result;
begin
  if run_command.order_id is not null then
    select o.user_id, o.market_id into v_user_id, v_market_id
    from trading.find_order(run_command.user_id, run_command.order_id) as o;
  else
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = run_command.market_id;
  end if;

  -- A replay waits for no lock. Under the lock of the market an identical request is over.
  if c_is_keyed then
    v_user_id := coalesce(v_user_id, (
      select t.user_id from trading.traders as t where t.public_id = run_command.user_id
    ));
    v_result := trading.find_reply(
      v_user_id, run_command.idempotency_key, run_command.request_fingerprint
    );
    if v_result.replayed is null then
      perform trading.lock_market(v_market_id);
      v_result := trading.find_reply( -- mutant: key_read_before_the_lock
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint -- mutant: key_read_before_the_lock
      ); -- mutant: key_read_before_the_lock
    end if;
  end if;

  if v_result.replayed is null then
    v_result := case run_command.command
      when 'cancel' then api.cancel_order(run_command.user_id, run_command.order_id)
      when 'amend' then api.amend_order(
        run_command.user_id, run_command.order_id, run_command.price, run_command.quantity
      )
      when 'split' then api.split_position(
        run_command.user_id, run_command.market_id, run_command.quantity
      )
      when 'merge' then api.merge_position(
        run_command.user_id, run_command.market_id, run_command.quantity
      )
    end;
    if c_is_keyed and v_result.code is null then -- mutant: reply_not_kept
      perform trading.lock_traders(array[v_user_id]);
      perform trading.keep_reply(
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint, v_result.body
      );
    end if;
  end if;

  code := v_result.code;
  message := v_result.message;
  replayed := v_result.replayed;
  body := v_result.body;
  market_version := (
    select s.version from trading.market_state as s where s.market_id = v_market_id
  );
end
$$;

comment on function api.run_command(text, uuid, uuid, uuid, int, int, uuid, uuid) is
  'Carries out a command other than an order: cancel (order_id), amend (order_id, price, '
  'quantity), split or merge (market_id, quantity); see api.cancel_order, api.amend_order, '
  'api.split_position and api.merge_position for rejections and locks. With an idempotency key '
  'the answer is kept in the same transaction, and the same request gets it again for 24 hours; '
  'another request with the key is rejected with IDEMPOTENCY_KEY_REUSED. A rejection keeps '
  'nothing, so its key can be used again. market_version is that of the market after the command, '
  'null if there is no such order or market. May fail with 40001, 40P01 or 55P03: call it again. '
  'Locks: with a key, the user behind those of the command.';
--! EndIncluded api/functions/run_command.sql
--! Included api/functions/begin_command.sql
create or replace function api.begin_command(
  user_id uuid, idempotency_key uuid, request_fingerprint uuid
)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = begin_command.user_id
  );
  v_kept api.result;
begin
  v_kept := trading.find_reply(
    v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;
  perform trading.keep_reply(
    v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint, null
  );
  return (null, null, false, null)::api.result;
end
$$;

comment on function api.begin_command(uuid, uuid, uuid) is
  'Says what the idempotency key of a command of several transactions stands for: its first '
  'answer (replayed), IDEMPOTENCY_KEY_REUSED, or nothing: then the key is this command''s from '
  'now on, and the command is to be carried out and ended by api.end_command. A repetition may do '
  'that, too: each part has a key of its own. Locks: the user.';
--! EndIncluded api/functions/begin_command.sql
--! Included api/functions/end_command.sql
create or replace function api.end_command(
  user_id uuid, idempotency_key uuid, request_fingerprint uuid, reply text
)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = end_command.user_id
  );
  v_kept api.result;
begin
  perform trading.lock_traders(array[v_user_id]);
  v_kept := trading.find_reply(
    v_user_id, end_command.idempotency_key, end_command.request_fingerprint
  );
  if v_kept.replayed is not null then
    return v_kept;
  end if;
  perform trading.keep_reply(
    v_user_id, end_command.idempotency_key, end_command.request_fingerprint, end_command.reply
  );
  return (null, null, false, end_command.reply)::api.result;
end
$$;

comment on function api.end_command(uuid, uuid, uuid, text) is
  'Keeps the answer of a command that api.begin_command began, and returns it; or the answer that '
  'another server kept first (replayed). Locks: the user.';
--! EndIncluded api/functions/end_command.sql
--! Included api/functions/place_batch.sql
create or replace function api.place_batch(
  user_id uuid,
  orders jsonb,
  atomic boolean,
  idempotency_key uuid,
  request_fingerprint uuid
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
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = place_batch.user_id
  );
  v_kept api.result;
  v_results api.result[];
  v_unfinished int;
  v_reply text;
begin
  v_kept := trading.find_reply(
    v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_markets(array(
      select distinct r.market_id
      from trading.read_requests(place_batch.orders) as r
      order by r.market_id nulls last
    ));
    v_kept := trading.find_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;

  begin
    v_results := array(
      select (r.code, r.message, r.replayed, r.body)::api.result
      from api.place_orders(place_batch.orders, place_batch.atomic) as r
    );
    v_unfinished := (
      select min(r.place)
      from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
      where r.code = 'CONFLICT_RETRY'
    );
    if v_unfinished is not null and not place_batch.atomic then -- mutant: unfinished_batch_in_part
      raise exception using errcode = 'triggered_action_exception';
    end if;
  exception when triggered_action_exception then
    -- Nothing is placed. The makers in the way of this order are cancelled, as if it came alone.
    perform
    from api.place_orders(jsonb_build_array(place_batch.orders -> (v_unfinished - 1)), true);
  end;
  if v_unfinished is not null then
    return ('CONFLICT_RETRY', null, false, null)::api.result;
  end if;

  v_reply := (
    select json_build_object(
      'results', coalesce(
        json_agg(
          json_build_object(
            'code', r.code, 'message', r.message, 'replayed', r.replayed, 'body', r.body
          )
          order by r.place
        ),
        '[]'
      ),
      'balance', (
        select trading.balance_object(t.balance_cents)::json
        from trading.traders as t
        where t.user_id = v_user_id
      )
    )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
  )::text;
  if not place_batch.atomic
    or not exists (select from unnest(v_results) as r where r.code is not null)
  then
    perform trading.lock_traders(array[v_user_id]);
    perform trading.keep_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint, v_reply
    );
  end if;
  return (null, null, false, v_reply)::api.result;
end
$$;

comment on function api.place_batch(uuid, jsonb, boolean, uuid, uuid) is
  'Places the orders of a batch with an idempotency key, as api.place_orders does, in one '
  'transaction that also keeps the answer: a JSON object of results ({code, message, replayed, '
  'body} for each order) and balance. The same request gets it again for 24 hours (replayed); '
  'another request with the key is rejected with IDEMPOTENCY_KEY_REUSED. CONFLICT_RETRY: makers '
  'were cancelled, no order is placed, and the batch is to be placed again. The answer of an '
  'atomic batch that is rejected is not kept. May fail with 40001, 40P01 or 55P03: call it again. '
  'Locks: the markets, ascending; then the users as api.place_orders does.';
--! EndIncluded api/functions/place_batch.sql
--! Included api/functions/get_market.sql
create or replace function api.get_market(market_id uuid)
returns table (version bigint, body json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_market.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
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
  where m.id = v_market_id;
end
$$;

comment on function api.get_market(uuid) is
  'The body of GET /markets/:id and the version of the market; no row for an unknown market. '
  'Locks: those of trading.time_of_book().';
--! EndIncluded api/functions/get_market.sql
--! Included api/functions/get_order_book.sql
create or replace function api.get_order_book(market_id uuid)
returns table (version bigint, body json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_order_book.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
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
  from trading.market_state as b
  left join lateral trading.depth(b.market_id, v_at) as d on true
  where b.market_id = v_market_id
  group by b.version;
end
$$;

comment on function api.get_order_book(uuid) is
  'The body of GET /markets/:id/orderbook, in YES prices, and the version of the market; no row '
  'for an unknown market. Locks: those of trading.time_of_book().';
--! EndIncluded api/functions/get_order_book.sql
--! Included api/functions/get_market_snapshot.sql
create or replace function api.get_market_snapshot(market_id uuid)
returns table (version bigint, body text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_market_snapshot.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query select s.version, s.body from trading.market_snapshot(v_market_id, v_at) as s;
end
$$;

comment on function api.get_market_snapshot(uuid) is
  'A frame of the market stream and the version of the market that it shows, as '
  'trading.market_snapshot() makes them. No row for an unknown market. Locks: those of '
  'trading.time_of_book().';
--! EndIncluded api/functions/get_market_snapshot.sql
--! Included api/functions/follow_market.sql
-- Without sequential scans every look-up goes by a key, also in plans made on empty tables.
create or replace function api.follow_market(
  market_id uuid, after_trade_id bigint default null, with_snapshot boolean default false
)
returns table (
  version bigint, status text, levels json, trades json, last_trade_id bigint, snapshot text
)
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
  c_most_trades constant int := 200;
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = follow_market.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query
  select
    b.version,
    m.status::text,
    (
      select format('[%s]', string_agg(
        format('["%s",%s,%s]', d.book_side, d.book_price, d.quantity), ','
      ))::json
      from trading.depth(m.id, v_at) as d
    ),
    case when n.count <= c_most_trades then n.trades end,
    coalesce(l.id, n.last_id, follow_market.after_trade_id, 0),
    s.body
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  cross join lateral (
    select
      count(*) as count,
      max(r.id) as last_id,
      format('[%s]', string_agg(
        format(
          '{"id":"%s","price":%s,"quantity":%s,"side":"%s","createdAt":"%s"}',
          r.public_id, r.price, r.quantity, r.taker_side, core.iso8601(r.created_at)
        ),
        ',' order by r.id
      ))::json as trades
    from (
      select t.*
      from trading.trades as t
      where t.market_id = m.id
        and t.id > follow_market.after_trade_id -- mutant: trade_repeated
      order by t.id
      limit c_most_trades + 1
    ) as r
  ) as n
  left join lateral (
    select t.id
    from trading.trades as t
    where t.market_id = m.id
      and (n.count > c_most_trades or follow_market.after_trade_id is null)
    order by t.id desc
    limit 1
  ) as l on true
  left join lateral trading.market_snapshot(m.id, v_at) as s on follow_market.with_snapshot
  where m.id = v_market_id;
end
$$;

comment on function api.follow_market(uuid, bigint, boolean) is
  'A market as it is now: its version and status, the levels of its book ([stored side, price, '
  'shares]), the trades after one, oldest first (null when there are more than 200), the id of the '
  'last trade and, if asked for, what api.get_market_snapshot() returns. All of one moment. No row '
  'for an unknown market. Locks: those of trading.time_of_book().';
--! EndIncluded api/functions/follow_market.sql
--! Included jobs/functions/next_work.sql
create or replace function jobs.next_work(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision,
  out mail_in_ms double precision,
  out dead_man_in_ms double precision
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select
    d.release_in_ms,
    d.expire_in_ms,
    d.close_in_ms,
    1000 * extract(epoch from m.due_at - n.at),
    1000 * extract(epoch from s.expires_at - n.at)
  from jobs.next_due(next_work.passing_over) as d
  cross join core.now() as n (at)
  left join lateral (
    select x.due_at
    from identity.mails as x
    where x.due_at is not null
    order by x.due_at
    limit 1
  ) as m on true
  left join lateral (
    select x.expires_at
    from trading.dead_man_switches as x
    where x.expires_at is not null
    order by x.expires_at
    limit 1
  ) as s on true
$$;

comment on function jobs.next_work(bigint[]) is
  'What jobs.next_due says, and in how many milliseconds the next mail is to be sent and the next '
  'dead man''s switch fires. Locks: none.';
--! EndIncluded jobs/functions/next_work.sql
--! Included jobs/functions/due_dead_man_orders.sql
create or replace function jobs.due_dead_man_orders(
  most int default 5000, passing_over bigint[] default '{}'
)
returns table (market_id bigint, order_ids bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  c_most_of_a_user constant int := 200;
  c_most_of_a_market constant int := 200;
  c_overdue constant interval := interval '20 milliseconds';
  v_at constant timestamptz := core.now();
  v_overdue_user_id constant bigint := (
    select x.user_id
    from trading.dead_man_switches as x
    where x.expires_at <= v_at - c_overdue
      and x.fired_at is null
    order by random()
    limit 1
  );
  v_user_ids bigint[];
begin
  -- The row of a user whom many trade with is hardly ever free. So of the users who were skipped
  -- one is waited for, before anything else is locked.
  if v_overdue_user_id is not null then -- mutant: busy_user_skipped
    begin
      perform trading.lock_traders(array[v_overdue_user_id]);
    exception when lock_not_available then
      null;
    end;
  end if;
  v_user_ids := array(
    select x.user_id
    from trading.dead_man_switches as x
    cross join lateral (
      select t.user_id from trading.traders as t where t.user_id = x.user_id
    ) as u
    where x.expires_at <= v_at -- mutant: switch_fires_early
      and x.fired_at is null
    order by x.expires_at
    limit due_dead_man_orders.most
    -- One that is being renewed is skipped, and one whose user has an order under way, which may
    -- be of a time before the expiry: it is looked at again.
    for update skip locked
  );
  -- A statement of its own: it sees the orders that were committed before the locks were had.
  update trading.dead_man_switches as s set
    fired_at = v_at,
    last_fired_at = s.expires_at,
    last_order_id = trading.last_stopped_order(s, v_at, grace => '0')
  where s.user_id = any (v_user_ids);

  update trading.dead_man_switches as s set
    expires_at = null,
    fired_at = null,
    last_order_id = null
  where s.user_id = any (array(
    select x.user_id
    from trading.dead_man_switches as x
    where x.expires_at <= v_at
      and x.fired_at is not null
      and not exists ( -- mutant: switch_ends_too_soon
        select
        from trading.open_orders_until(x.user_id, x.last_order_id, null, 1)
      )
    order by x.expires_at
    limit due_dead_man_orders.most
    for update skip locked
  ));

  return query
    select
      d.market_id,
      (array_agg(d.order_id order by d.fired_at, d.order_id))[1 : c_most_of_a_market]
    from (
      select s.fired_at, o.market_id, o.order_id
      from trading.dead_man_switches as s
      cross join lateral (
        select x.market_id, x.order_id
        from trading.open_orders_until(
          s.user_id, s.last_order_id, null,
          c_most_of_a_user
        ) as x
        where x.market_id <> all (due_dead_man_orders.passing_over)
      ) as o
      where s.expires_at <= v_at
        and s.fired_at is not null
      order by s.expires_at
      limit due_dead_man_orders.most
    ) as d
    group by d.market_id
    order by min(d.fired_at), d.market_id;
end
$$;

comment on function jobs.due_dead_man_orders(int, bigint[]) is
  'Fires the dead man''s switches that have expired, ends those whose orders are cancelled, and '
  'returns the orders that are still to be cancelled, by market: at most 200 of each and so many '
  'in all, none of the markets to pass over. Locks: the switches and their users, without waiting '
  'for locked ones; of those that were locked before, one user is waited for, 50 ms at most.';
--! EndIncluded jobs/functions/due_dead_man_orders.sql
--! Included jobs/functions/cancel_dead_man_orders.sql
create or replace function jobs.cancel_dead_man_orders(
  market_ids bigint[],
  order_ids bigint[],
  waits boolean default false,
  out cancelled int,
  out busy bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_locked bigint[];
begin
  if cancel_dead_man_orders.waits and cardinality(cancel_dead_man_orders.market_ids) = 1 then
    v_locked := case
      when trading.try_lock_market(cancel_dead_man_orders.market_ids[1], true)
        then cancel_dead_man_orders.market_ids
      else '{}'
    end;
  else
    v_locked := trading.lock_free_markets(cancel_dead_man_orders.market_ids); -- mutant: switch_without_lock
  end if;
  cancelled := trading.cancel_active_orders(
    array(
      select b.order_id
      from trading.active_orders as b
      where b.order_id = any (cancel_dead_man_orders.order_ids)
        and b.market_id = any (v_locked) -- mutant: busy_market_done_too
        and exists ( -- mutant: orders_without_a_switch
          select
          from trading.dead_man_switches as s
          where s.user_id = b.user_id
            and s.fired_at is not null
            and trading.began_until(b.order_id, s.last_order_id)
        )
    ),
    'user_cancelled',
    core.now(),
    expires => true
  );
  busy := array(
    select u.id
    from unnest(cancel_dead_man_orders.market_ids) as u (id)
    where u.id <> all (v_locked)
  );
end
$$;

comment on function jobs.cancel_dead_man_orders(bigint[], bigint[], boolean) is
  'Cancels orders of users whose dead man''s switch has fired, as jobs.due_dead_man_orders gives '
  'them, in one transaction; returns how many it cancelled, and the markets that were locked and '
  'passed over. waits: a single market is waited for, 250 ms at most. An order that has ended '
  'meanwhile is left out. Locks: the markets that are free.';
--! EndIncluded jobs/functions/cancel_dead_man_orders.sql
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
    where x.created_at <= (select core.now()) - interval '24 hours' -- mutant: keys_removed_early
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
--! Included jobs/functions/make_event_partitions.sql
create or replace function jobs.make_event_partitions()
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::int
  from generate_series(0, 2) as d (days)
  where trading.make_event_partition(core.now() + make_interval(days => d.days))
$$;

comment on function jobs.make_event_partitions() is
  'Makes the partitions of trading.sent_events for today and the next two days; returns how many '
  'were not there. Without them, api.relay_outbox() makes that of the day itself.';
--! EndIncluded jobs/functions/make_event_partitions.sql
--! Included jobs/functions/remove_sent_events.sql
create or replace function jobs.remove_sent_events(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  c_kept constant interval := interval '25 hours';
  v_last_name constant text := 'sent_events_'
    || to_char((core.now() - c_kept) at time zone 'UTC', 'YYYY_MM_DD');
  v_name text;
  v_last_id bigint;
  v_count int := 0;
begin
  -- The relay's lock: nothing is sent while a partition goes.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);
  for v_name in
    select c.relname::text
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    where i.inhparent = 'trading.sent_events'::regclass
      and c.relname < v_last_name
    order by c.relname
    limit remove_sent_events.most
  loop
    execute format('select max(e.id) from trading.%I as e', v_name) into v_last_id;
    execute format('drop table trading.%I', v_name);
    update trading.outbox_relay as r
    set removed_through_id = greatest(r.removed_through_id, v_last_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

comment on function jobs.remove_sent_events(int) is
  'Drops the partitions of trading.sent_events whose events were all sent more than 25 hours ago, '
  'at most so many; returns how many. May fail with 55P03 while somebody reads them for long: call '
  'it again. Locks: the relay''s advisory lock, then trading.sent_events, for which it waits '
  '250 ms at most.';
--! EndIncluded jobs/functions/remove_sent_events.sql
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
  v_order_ids bigint[];
  v_busy bigint[];
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
  v_busy := '{}';
  loop
    v_count := 0;
    for v_market_id, v_order_ids in
      select d.market_id, d.order_ids from jobs.due_dead_man_orders(passing_over => v_busy) as d
    loop
      select v_count + 1, v_busy || c.busy into v_count, v_busy
      from jobs.cancel_dead_man_orders(array[v_market_id], v_order_ids) as c;
    end loop;
    exit when v_count = 0;
  end loop;
  v_passed_over := v_passed_over + cardinality(v_busy);

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
  'Does at once what the jobs would do now, in one transaction: cancels the orders of dead man''s '
  'switches that have expired; in each market releases, then expiries, then its closing; then the '
  'archive and old idempotency keys. Returns how many: {released, expired, closed, archived, '
  'keysRemoved}. Like the jobs, it passes over what is '
  'locked: markets (a warning and the audit log count them), also those that wait longer than 250 '
  'ms for a user or a row of the catalogue, the archive while a job moves orders there, and keys '
  'in use. Call it again for these. Locks: the markets that are free, then what each job locks.';
--! EndIncluded admin/functions/run_due.sql
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
  v_body jsonb;
begin
  select jsonb_agg(
    jsonb_build_object(
      'marketId', rehearse_orders.market_id, 'userId', rehearse_orders.user_id, 'quantity', 10
    ) || o
    order by i
  )
  into v_orders
  from unnest(rehearse_orders.orders) with ordinality as x (o, i);
  select p.body::jsonb into v_body
  from api.place_orders_versioned(v_orders) as p
  limit 1;
  return (v_body -> 'order' ->> 'id')::uuid;
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
        perform jobs.next_work();
        perform jobs.due_release_groups();
        perform jobs.release_group(array[v_market_id]);
      end if;
      perform api.run_command('amend', v_maker, v_order, price => 42);
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
      perform api.run_command('split', v_maker, market_id => v_market, quantity => 2);
      perform trading.rehearse_orders(
        v_market, v_maker, '{"side": "yes", "price": 99, "quantity": 1, "orderType": "sell"}'
      );
      perform api.run_command('merge', v_maker, market_id => v_market, quantity => 1);
      perform api.run_command('cancel', v_maker, v_order);
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
--! Included admin/views/api_keys.sql
create or replace view admin.api_keys as
select
  k.public_id as key_id,
  k.user_id as user_key,
  u.public_id as user_id,
  k.name,
  k.created_at,
  k.last_used_at,
  k.revoked_at,
  k.scopes,
  k.expires_at,
  k.allowed_addresses,
  k.last_used_address,
  r.public_id as replaces
from identity.api_keys as k
left join identity.users as u on u.id = k.user_id
left join identity.api_keys as r on r.id = k.replaces;

comment on view admin.api_keys is
  'API keys of traders, revoked and expired ones too. The keys themselves are not kept.';
comment on column admin.api_keys.key_id is 'Public id, as admin.revoke_api_key takes it.';
comment on column admin.api_keys.user_key is 'The user: internal key, for joins.';
comment on column admin.api_keys.user_id is 'The user: public id.';
comment on column admin.api_keys.name is 'What the user calls it.';
comment on column admin.api_keys.created_at is 'When it was made.';
comment on column admin.api_keys.last_used_at is
  'When it was last used, to the minute; null is never.';
comment on column admin.api_keys.revoked_at is
  'When it was revoked; null while it is not.';
comment on column admin.api_keys.scopes is 'What it may do: read, trade (commands) or both.';
comment on column admin.api_keys.expires_at is
  'From when on it is not valid any more; null: it does not expire.';
comment on column admin.api_keys.allowed_addresses is
  'From where it may be used: addresses and networks; null: from everywhere.';
comment on column admin.api_keys.last_used_address is
  'From where it was used at last_used_at; null is not known.';
comment on column admin.api_keys.replaces is
  'The key that was rotated when this one was made: its key_id.';
--! EndIncluded admin/views/api_keys.sql

reset role;
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
  admin.sign_up, admin.unconfirmed_emails, admin.mails, admin.verifications, admin.audit_entries
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
