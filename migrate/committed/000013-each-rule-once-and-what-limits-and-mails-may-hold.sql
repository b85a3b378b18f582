--! Previous: sha1:f98b0cf59dc5ef83bdbb7c5ca66cd0208eb55196
--! Hash: sha1:8fec7aa7bb38ae635335d2be5f95269dfd0421e2
--! Message: Each rule once, and what limits and mails may hold

set local lock_timeout = '2s';
set local role exchange_owner;
-- All at first, in the order of a command: each later would be one more chance of a deadlock.
lock table
  catalog.markets, trading.traders, identity.users, identity.email_claims, trading.resolutions,
  identity.mails
  in access exclusive mode;
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
alter table trading.traders
  add constraint traders_limits_that_wait_say_until_when check (
    (next_day_limit_cents is null or day_limit_changes_at is not null)
    and (next_week_limit_cents is null or week_limit_changes_at is not null)
    and (next_month_limit_cents is null or month_limit_changes_at is not null)
  ) not valid;
comment on column trading.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits. Null is none, if '
  'day_limit_changes_at is set.';
alter table identity.mails
  add constraint mails_are_of_a_known_kind check (
    kind in (
      'confirm_email', 'password_reset', 'invitation', 'new_sign_in', 'new_key', 'passkey_added',
      'passkey_removed', 'password_changed', 'email_change_asked', 'email_changed',
      'limits_changed', 'self_excluded'
    )
  ) not valid;
alter table catalog.markets
  drop constraint markets_pay_what_the_outcome_says,
  add constraint markets_pay_what_the_outcome_says
    check (catalog.is_payout_of(resolved_outcome, yes_payout_cents)) not valid;
alter table trading.resolutions
  drop constraint resolutions_pay_what_the_outcome_says,
  add constraint resolutions_pay_what_the_outcome_says
    check (catalog.is_payout_of(outcome, yes_payout_cents)) not valid;
alter table identity.users
  drop constraint users_email_looks_like_one,
  drop constraint users_handle_is_a_word,
  add constraint users_email_looks_like_one check (identity.is_email(email)) not valid,
  add constraint users_handle_is_a_word check (identity.is_handle(handle)) not valid;
alter table identity.email_claims
  drop constraint email_claims_look_like_an_email,
  drop constraint email_claims_handle_is_a_word,
  add constraint email_claims_look_like_an_email check (identity.is_email(email)) not valid,
  add constraint email_claims_handle_is_a_word check (identity.is_handle(handle)) not valid;
--! Included catalog/functions/market_object.sql
create or replace function catalog.market_object(
  market catalog.markets, category text, event_id uuid, state trading.market_state
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', (market).public_id,
  'title', (market).title,
  'description', (market).description,
  'category', category,
  'status', (market).status,
  'eventId', event_id,
  'lastTradePrice', (state).last_trade_price,
  'yesVolume', (state).yes_volume_cents,
  'noVolume', (state).no_volume_cents,
  'closeTime', core.iso8601((market).close_time),
  'createdAt', core.iso8601((market).created_at),
  'resolvedOutcome', (market).resolved_outcome,
  'thumbnailId', (market).thumbnail_id,
  'thumbnailUrl', (market).thumbnail_url
);

comment on function catalog.market_object(
  catalog.markets, text, uuid, trading.market_state
) is
  'A market as lists of markets show it, with the slug of its category and the public id of its '
  'event.';
--! EndIncluded catalog/functions/market_object.sql
--! Included trading/functions/terms_problem.sql
create or replace function trading.terms_problem(price int, quantity int)
returns text
language sql immutable parallel safe
return case
  when price not between 1 and 99 then 'price: must be between 1 and 99'
  when quantity not between 1 and 10000 then 'quantity: must be between 1 and 10000'
end;

comment on function trading.terms_problem(int, int) is
  'What is wrong with a price (cents) or a quantity (shares), the price first; null when nothing '
  'is. Null is not judged.';
--! EndIncluded trading/functions/terms_problem.sql
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
      when trading.terms_problem(r.price, r.quantity) is not null
        then trading.terms_problem(r.price, r.quantity)
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
  'quantity, budgetCents, orderType, timeInForce, selfTrade (reject or cancel_resting), '
  'idempotencyKey, requestFingerprint (the body of POST /orders and its user), expiresAt, '
  'postOnly, in the order of the array. A value of the wrong type is an error of the whole call; '
  'a value out of bounds becomes the problem of its request.';
--! EndIncluded trading/functions/read_requests.sql
--! Included trading/functions/key_lifetime.sql
create or replace function trading.key_lifetime()
returns interval
language sql immutable parallel safe
return interval '24 hours';

comment on function trading.key_lifetime() is
  'How long an idempotency key counts from its first use. Afterwards it is a new key.';
--! EndIncluded trading/functions/key_lifetime.sql
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
        and x.created_at > read_replays.at - trading.key_lifetime() -- mutant: key_age
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
    and k.created_at > v_at - trading.key_lifetime(); -- mutant: reply_kept_too_long
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
  where k.created_at <= v_at - trading.key_lifetime() -- mutant: key_taken_over
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
--! Included trading/functions/set_quantity_problem.sql
create or replace function trading.set_quantity_problem(quantity int)
returns text
language sql immutable parallel safe
return case
  when quantity is null then 'quantity: required'
  else trading.terms_problem(null, quantity)
end;

comment on function trading.set_quantity_problem(int) is
  'What is wrong with a number of complete sets; null when it may be split or merged.';
--! EndIncluded trading/functions/set_quantity_problem.sql
--! Included trading/functions/amend_order.sql
create or replace function trading.amend_order(
  user_public_id uuid, order_public_id uuid, price int, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem constant text := case
    when amend_order.price is null and amend_order.quantity is null
      then 'price: required without quantity'
    else trading.terms_problem(amend_order.price, amend_order.quantity)
  end;
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
  if v_problem is not null then
    return ('INVALID_REQUEST', v_problem, false, null)::api.result;
  end if;
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
  'For servers of version 0.2.0: the user of the API key with this SHA-256. They know neither '
  'scopes nor addresses, and remember each answer for 5 s. One row, or none if the key is '
  'unknown, revoked, expired or about to expire, or if it has less power than all.';
--! EndIncluded api/functions/authenticate.sql
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
  'For servers of version 0.2.0: api.count_requests without the windows.';
--! EndIncluded api/functions/take_requests.sql
--! Included api/functions/return_requests.sql
create or replace function api.return_requests(counters json)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks rate_limits.checks := rate_limits.read_checks(
    json_build_array(return_requests.counters)
  );
  v_taken bigint;
begin
  perform rate_limits.lock_counters(v_checks);
  for i in 1 .. cardinality(v_checks.buckets) loop
    select w.taken into v_taken
    from rate_limits.windows as w
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
    delete from rate_limits.grants as g
    where g.bucket = v_checks.buckets[i]
      and g.subject = v_checks.subjects[i]
      and g.first_number = v_taken
      and g.last_number = v_taken;
    if not found then
      update rate_limits.grants as g
      set last_number = v_taken - 1
      where g.bucket = v_checks.buckets[i]
        and g.subject = v_checks.subjects[i]
        and g.last_number = v_taken;
      continue when not found;
    end if;
    update rate_limits.windows as w
    set taken = v_taken - 1
    where w.bucket = v_checks.buckets[i] and w.subject = v_checks.subjects[i];
  end loop;
end
$$;

comment on function api.return_requests(json) is
  'Takes one request back in each of these rolling windows, such as an attempt that was right: '
  'the newest that is counted. counters is one request as api.count_requests has them. Locks: the '
  'counters.';
--! EndIncluded api/functions/return_requests.sql
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
  'For servers of version 0.2.0: api.follow_events without its later columns.';
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
  'timeInForce, selfTrade, idempotencyKey, requestFingerprint, expiresAt, postOnly}, as '
  'trading.read_requests has it. Each stands alone: its rejection is its row; atomic: if one is '
  'rejected, no order is placed, and the rows of the others have neither code nor body. waits => '
  'false: orders of markets whose lock is held are MARKET_BUSY, and must be placed again; in an '
  'atomic call all of them are. CONFLICT_RETRY: the call cancelled as many makers as one call '
  'may, and the request must be placed again. Locks: the markets, ascending; then the takers and '
  'the makers they can reach, by ascending user id. May fail as a whole with 40001, 40P01 or '
  '55P03: call it again.';
--! EndIncluded api/functions/place_orders.sql
--! Included api/functions/amend_order.sql
create or replace function api.amend_order(
  user_id uuid, order_id uuid, price int default null, quantity int default null
)
returns api.result
language sql volatile security definer
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
  select trading.amend_order(
    amend_order.user_id, amend_order.order_id, amend_order.price, amend_order.quantity
  )
$$;

comment on function api.amend_order(uuid, uuid, int, int) is
  'For servers of version 0.2.0: the command amend of api.run_command, without a key.';
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
  'For servers of version 0.2.0: the command cancel of api.run_command, without a key.';
--! EndIncluded api/functions/cancel_order.sql
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
        and k.created_at > core.now() - trading.key_lifetime()
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
  'For servers of version 0.2.0: the command split of api.run_command, without a key.';
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
  'For servers of version 0.2.0: the command merge of api.run_command, without a key.';
--! EndIncluded api/functions/merge_position.sql
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
      when 'cancel' then trading.cancel_order(run_command.user_id, run_command.order_id)
      when 'amend' then trading.amend_order(
        run_command.user_id, run_command.order_id, run_command.price, run_command.quantity
      )
      when 'split' then trading.split_position(
        run_command.user_id, run_command.market_id, run_command.quantity
      )
      when 'merge' then trading.merge_position(
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
  'Carries out a command other than an order. cancel: ends an open order (order_id) at once. '
  'amend: gives an open order (order_id) a new price (1-99), a new total quantity (1-10000), or '
  'both. split: makes complete sets of YES and NO (market_id, quantity) out of 100 cents each; '
  'merge turns them back. With an idempotency key the answer is kept in the same transaction, and '
  'the same request gets it again for 24 hours; another request with the key is rejected with '
  'IDEMPOTENCY_KEY_REUSED. A rejection keeps nothing, so its key can be used again. '
  'market_version is that of the market after the command, null if there is no such order or '
  'market. Rejections of cancel: ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. Of amend: '
  'INVALID_REQUEST, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE and those of an order; they change nothing, except that an order '
  'past its expiry expires, and that CONFLICT_RETRY cancels makers: call it again. Of split, in '
  'order of precedence: INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
  'ACCOUNT_FROZEN, LIMITS_SETUP_REQUIRED, MARKET_NOT_FOUND, MARKET_NOT_OPEN, '
  'INSUFFICIENT_BALANCE, LOSS_LIMIT. Of merge, in order of precedence: INVALID_REQUEST, '
  'UNAUTHORIZED, MARKET_NOT_FOUND, MARKET_NOT_OPEN (resolved), INSUFFICIENT_BALANCE. May fail '
  'with 40001, 40P01 or 55P03: call it again. Locks: the market; then the user, but for a cancel '
  'without a key; of an amendment also the makers that a new order can reach.';
--! EndIncluded api/functions/run_command.sql
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
  'or all; meta.total comes with the last two, and both have archived orders too. Errors: '
  'INVALID_REQUEST.';
--! EndIncluded api/functions/list_orders.sql
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
      json_agg(catalog.market_object(m, v_category.slug, e.public_id, b) order by m.id desc),
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
--! Included api/functions/list_markets.sql
create or replace function api.list_markets(
  page int,
  page_size int,
  query text default null,
  category text default null,
  status text default 'open',
  sort text default 'volume'
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_first bigint := (list_markets.page - 1)::bigint * list_markets.page_size + 1;
  v_category_id bigint;
  v_query tsquery;
  v_ids bigint[];
begin
  if list_markets.status not in ('open', 'closed', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if list_markets.sort not in ('volume', 'newest', 'closing') then
    perform core.raise_error('INVALID_REQUEST', 'sort: unknown');
  end if;
  if list_markets.category is not null then
    select c.id into v_category_id
    from catalog.categories as c
    where c.slug = list_markets.category;
    if not found then
      return null;
    end if;
  end if;
  if list_markets.query ~ '[^[:space:]]' then
    v_query := catalog.search_query(list_markets.query);
  end if;

  v_ids := array(
    select m.id
    from (
      -- Either all markets, or by the index those with the words: one of the two is empty.
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where v_query is null
      union all
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where x.words @@ v_query
    ) as m
    where (v_category_id is null or m.category_id = v_category_id)
      and case list_markets.status
        when 'open' then m.status = 'open'
        when 'closed' then m.status in ('closed', 'resolved')
        else true
      end
    order by
      case when list_markets.sort = 'volume' then (
        select b.yes_volume_cents + b.no_volume_cents
        from trading.market_state as b
        where b.market_id = m.id
      ) end desc,
      case when list_markets.sort = 'closing' then m.close_time end,
      m.id desc
  );

  return (
    select core.page_object(
      json_agg(catalog.market_object(m, c.slug, e.public_id, b) order by p.place),
      cardinality(v_ids),
      list_markets.page,
      list_markets.page_size
    )
    from unnest(
      case when v_first <= cardinality(v_ids)
        then v_ids[v_first:v_first + list_markets.page_size - 1]
      end
    ) with ordinality as p (id, place)
    join catalog.markets as m on m.id = p.id
    join catalog.categories as c on c.id = m.category_id
    join trading.market_state as b on b.market_id = m.id
    left join catalog.events as e on e.id = m.event_id
  );
end
$$;

comment on function api.list_markets(int, int, text, text, text, text) is
  'The body of GET /markets, or null for an unknown category: markets whose title, with that of '
  'the event, has all words of query. status: open, closed (resolved ones too) or all; sort: '
  'volume (both sides, in cents), newest, or closing (soonest first, without a close time last); '
  'page counts from 1. Cost: a row for each market, or with words for each that has them, and for '
  'volume one more; no trade is read. Errors: INVALID_REQUEST.';
--! EndIncluded api/functions/list_markets.sql
--! Included jobs/functions/next_work.sql
create or replace function jobs.next_work(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision,
  out mail_in_ms double precision,
  out dead_man_in_ms double precision
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
      and b.market_id <> all (next_work.passing_over)
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
      and b.market_id <> all (next_work.passing_over)
    order by b.expires_at
    limit 1
  ) - v_at);
  close_in_ms := 1000 * extract(epoch from (
    select m.close_time
    from catalog.markets as m
    where m.status in ('open', 'paused')
      and m.close_time is not null
      and m.id <> all (next_work.passing_over)
    order by m.close_time
    limit 1
  ) - v_at);
  mail_in_ms := 1000 * extract(epoch from (
    select x.due_at
    from identity.mails as x
    where x.due_at is not null
    order by x.due_at
    limit 1
  ) - v_at);
  dead_man_in_ms := 1000 * extract(epoch from (
    select x.expires_at
    from trading.dead_man_switches as x
    where x.expires_at is not null
    order by x.expires_at
    limit 1
  ) - v_at);
end
$$;

comment on function jobs.next_work(bigint[]) is
  'In how many milliseconds the next scheduled order is to be released, the next resting one '
  'expires, the next market closes, the next mail is to be sent and the next dead man''s switch '
  'fires; below 0 when it is overdue, null when there is none. The markets to pass over don''t '
  'count. Locks: none.';
--! EndIncluded jobs/functions/next_work.sql
--! Included jobs/functions/next_due.sql
create or replace function jobs.next_due(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.release_in_ms, n.expire_in_ms, n.close_in_ms
  from jobs.next_work(next_due.passing_over) as n
$$;

comment on function jobs.next_due(bigint[]) is
  'For workers of version 0.2.0: jobs.next_work without its later columns. Locks: none.';
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
  'For workers of version 0.2.0: the markets of the scheduled orders whose release is due, those '
  'that have waited longest first; of so many orders at most, and none of the markets to pass '
  'over. Locks: none.';
--! EndIncluded jobs/functions/due_releases.sql
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
    where x.created_at <= (select core.now()) - trading.key_lifetime() -- mutant: keys_removed_early
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
--! Included admin/functions/fire_due_switches.sql
create or replace function admin.fire_due_switches(out cancelled int, out passed_over int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due record;
  v_done record;
  v_busy bigint[] := '{}';
  v_found boolean := true;
begin
  cancelled := 0;
  while v_found loop
    v_found := false;
    for v_due in
      select d.market_id, d.order_ids from jobs.due_dead_man_orders(passing_over => v_busy) as d
    loop
      v_found := true;
      select c.cancelled, c.busy into v_done
      from jobs.cancel_dead_man_orders(array[v_due.market_id], v_due.order_ids) as c;
      cancelled := cancelled + v_done.cancelled;
      v_busy := v_busy || v_done.busy;
    end loop;
  end loop;
  passed_over := cardinality(v_busy);
end
$$;

comment on function admin.fire_due_switches() is
  'Fires the dead man''s switches that have expired and cancels their orders: how many, and how '
  'many locked markets it passed over. Private to the schema. Locks: those of '
  'jobs.due_dead_man_orders and jobs.cancel_dead_man_orders.';
--! EndIncluded admin/functions/fire_due_switches.sql
--! Included admin/functions/process_due_markets.sql
create or replace function admin.process_due_markets(
  out released int, out expired int, out closed int, out passed_over int
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_id bigint;
  v_count int;
  v_released int;
  v_expired int;
  v_closed int;
begin
  released := 0;
  expired := 0;
  closed := 0;
  passed_over := 0;
  -- All of it is one transaction, so the users of one market stay locked when those of the next
  -- are locked: the caller's lock timeout is below the time after which PostgreSQL looks for
  -- deadlocks, and a market that runs into it unlocks its own users.
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
      passed_over := passed_over + 1;
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

      -- Only now: what a market did before it failed is undone, and does not count.
      released := released + v_released;
      expired := expired + v_expired;
      closed := closed + v_closed;
    exception when lock_not_available or deadlock_detected then
      passed_over := passed_over + 1;
    end;
  end loop;
end
$$;

comment on function admin.process_due_markets() is
  'Releases, expires and closes what is due, market by market in this order: how many orders, '
  'orders and markets, and how many markets it passed over because they, a user or a row of the '
  'catalogue were locked. Private to the schema. Locks: the markets that are free, by ascending '
  'id, then what each job locks.';
--! EndIncluded admin/functions/process_due_markets.sql
--! Included admin/functions/archive_due_orders.sql
create or replace function admin.archive_due_orders()
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece record;
  v_archived int := 0;
begin
  loop
    select a.looked_at, a.archived into v_piece
    from trading.archive_orders(1000) as a;
    exit when v_piece.looked_at = 0;
    v_archived := v_archived + v_piece.archived;
  end loop;
  return v_archived;
end
$$;

comment on function admin.archive_due_orders() is
  'Archives all orders that are due, and returns how many; none while a job archives. Private to '
  'the schema. Locks: those of trading.archive_orders.';
--! EndIncluded admin/functions/archive_due_orders.sql
--! Included admin/functions/remove_due_keys.sql
create or replace function admin.remove_due_keys()
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int;
  v_removed int := 0;
begin
  loop
    v_count := jobs.remove_keys();
    exit when v_count = 0;
    v_removed := v_removed + v_count;
  end loop;
  return v_removed;
end
$$;

comment on function admin.remove_due_keys() is
  'Removes all idempotency keys that no longer count and are not in use, and returns how many. '
  'Private to the schema. Locks: those of jobs.remove_keys.';
--! EndIncluded admin/functions/remove_due_keys.sql
--! Included admin/functions/run_due.sql
create or replace function admin.run_due()
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  v_switches record;
  v_markets record;
  v_archived int;
  v_keys int;
  v_passed_over int;
  v_done jsonb;
begin
  v_switches := admin.fire_due_switches();
  v_markets := admin.process_due_markets();
  v_archived := admin.archive_due_orders();
  v_keys := admin.remove_due_keys();
  v_passed_over := v_switches.passed_over + v_markets.passed_over;
  v_done := jsonb_build_object(
    'released', v_markets.released,
    'expired', v_markets.expired,
    'closed', v_markets.closed,
    'archived', v_archived,
    'keysRemoved', v_keys
  );
  perform admin.audit('run_due', v_done || jsonb_build_object(
    'deadManCancelled', v_switches.cancelled,
    'passedOver', v_passed_over
  ));
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
  'keysRemoved}; the audit log has these, and how many orders switches cancelled '
  '(deadManCancelled). Like the jobs, it passes over what is locked: markets (a warning and the '
  'audit log count them), also those that wait longer than 250 ms for a user or a row of the '
  'catalogue, the archive while a job moves orders there, and keys in use. Call it again for '
  'these. Locks: the markets that are free, then what each job locks.';
--! EndIncluded admin/functions/run_due.sql
reset role;
