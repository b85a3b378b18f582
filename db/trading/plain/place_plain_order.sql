-- The rules of trading.match_batch and trading.write_batch for what most orders are, in a part of
-- their time.
create or replace function trading.place_plain_order("order" jsonb, waits boolean)
returns trading.order_answer
language plpgsql volatile
as $$
declare
  r constant trading.order_request := jsonb_populate_record(
    null::trading.order_request, place_plain_order."order"
  );
  v_time_in_force constant trading.time_in_force := coalesce(r."timeInForce", 'gtc');
  v_is_yes constant boolean := r.side = 'yes';
  v_at timestamptz;
  v_found record;
  v_market_id bigint;
  v_market trading.market_state;
  v_minimum_age int;
  v_best int; -- price of the other side, 0 without orders
  v_maker trading.active_orders; -- the first one at that price
  v_fee_schedule trading.fee_schedules;
  v_taker trading.traders;
  v_owner trading.traders; -- of the maker
  v_traders trading.traders[];
  v_crosses boolean;
  v_fee_cents bigint := 0;
  v_cost_cents bigint;
  v_order_id bigint;
  v_public_id uuid;
  v_fill text;
begin
  if r."orderType" = 'sell' or r.price is null or r.quantity is null
    or trading.request_problem(
      r.side, r.price, r.quantity, r."budgetCents", 'buy', v_time_in_force, r."postOnly",
      r."selfTrade"
    ) is not null
  then
    return null;
  end if;
  select m.id, t as trader into v_found
  from catalog.markets as m
  cross join trading.traders as t
  where m.public_id = r."marketId" and t.public_id = r."userId";
  if not found then
    return null;
  end if;
  v_market_id := v_found.id;
  v_taker := v_found.trader;
  if place_plain_order.waits then
    perform trading.lock_market(v_market_id);
  elsif not trading.lock_market_if_free(v_market_id) then
    return null;
  end if;

  v_at := core.now();
  select s as market, m.category_id, x.minimum_age into v_found
  from core.settings as x
  cross join catalog.markets as m
  join trading.market_state as s on s.market_id = m.id
  left join catalog.events as e on e.id = m.event_id
  where m.id = v_market_id
    and not x.trading_paused
    and m.status = 'open'
    and (m.close_time is null or m.close_time > v_at)
    and e.live is not true;
  if not found or r."expiresAt" <= v_at then
    return null;
  end if;
  v_market := v_found.market;
  v_minimum_age := v_found.minimum_age;
  v_best := case when v_is_yes then v_market.best_no_price else v_market.best_yes_price end;
  v_crosses := r.price + v_best >= 100;
  if v_crosses then
    select f.* into v_fee_schedule
    from trading.fee_in_force(v_market_id, v_found.category_id, v_at) as f;
    select a as maker, t as trader into v_found
    from trading.active_orders as a
    join trading.traders as t on t.user_id = a.user_id
    where a.market_id = v_market_id
      and a.book_side = case when v_is_yes then 'no' else 'yes' end::trading.side
      and a.book_price = v_best
      and a.queue_position >= case when v_is_yes then v_market.first_no_position
        else v_market.first_yes_position end
    order by a.queue_position
    limit 1;
    v_maker := v_found.maker;
    v_owner := v_found.trader;
    if v_maker.order_type is distinct from 'buy' or v_maker.left_quantity < r.quantity
      or v_maker.user_id = v_taker.user_id or v_maker.expires_at <= v_at or r."postOnly"
    then
      return null;
    end if;
    v_fee_cents := trading.fee_cents(
      v_fee_schedule.taker_rate_bps, r.quantity::bigint * v_best * (100 - v_best)
    );
    v_cost_cents := r.quantity * (100 - v_best) + v_fee_cents;
  elsif v_time_in_force = 'gtc' then
    v_cost_cents := r.quantity * r.price;
  else
    return null;
  end if;

  -- Asked before the users are locked as well: most that go the general way then hold no user yet
  -- when it locks all that it may meet, by ascending id.
  for v_look in 1 .. 2 loop
    if not trading.is_plain_trader(v_taker, v_cost_cents, v_crosses, v_minimum_age, v_at)
      or v_crosses
        and not trading.is_plain_trader(v_owner, r.quantity * v_best, true, v_minimum_age, v_at)
    then
      return null;
    end if;
    exit when v_look = 2;
    v_traders := array(
      select t
      from trading.traders as t
      where t.user_id = any (array[v_taker.user_id, v_owner.user_id])
      order by t.user_id
      for no key update
    );
    v_taker := v_traders[1 + (v_crosses and v_taker.user_id > v_owner.user_id)::int];
    v_owner := v_traders[1 + (v_traders[1].user_id = v_taker.user_id)::int];
  end loop;
  -- A switch may have expired while this call waited for the users.
  if exists (select from trading.dead_man_switches as s where s.expires_at <= core.now())
    or exists (
      select
      from trading.dead_man_switches as s
      where s.last_fired_at > v_at and s.last_fired_at <= core.now()
    )
    or exists (select from trading.order_stops as s where s.user_id = v_owner.user_id)
    or exists (
      select from trading.idempotency_keys as k
      where k.user_id = v_taker.user_id
        and k.key = r."idempotencyKey"
    )
  then
    return null;
  end if;

  -- From here on it is placed.
  v_order_id := nextval('trading.order_ids');
  v_public_id := core.uuid_v7();
  if r."idempotencyKey" is not null then
    insert into trading.idempotency_keys (user_id, key, order_id, created_at, request_fingerprint)
    values (v_taker.user_id, r."idempotencyKey", v_order_id, v_at, r."requestFingerprint");
  end if;
  if v_crosses then
    v_fill := trading.write_plain_fill(
      r, v_at, v_order_id, v_public_id, v_market, v_maker, v_taker, v_owner, v_fee_schedule.id,
      v_fee_cents
    );
  else
    perform trading.write_plain_rest(r, v_at, v_order_id, v_public_id, v_market, v_taker);
  end if;
  return (
    null, null, false,
    trading.order_body(
      trading.order_object(
        v_public_id, r."userId", r."marketId", r.side, r.price, r.quantity,
        case when v_crosses then r.quantity else 0 end,
        case when v_crosses then 'filled' else 'open' end::trading.order_status, 'buy',
        v_time_in_force, null, r."expiresAt", core.iso8601(v_at), null
      ),
      v_fill, null, v_taker.balance_cents - case when v_crosses then v_cost_cents else 0 end,
      v_fee_cents
    ),
    v_market.version + 1
  )::trading.order_answer;
end
$$;

comment on function trading.place_plain_order(jsonb, boolean) is
  'Places the order of a call that has only one, if it is plain: a buy with a price, of a user '
  'without loss limits, which rests as a whole, or is filled as a whole by the first order of '
  'the other side, itself such a buy. Returns its answer. Null if the order is not plain, is to '
  'be rejected, or is a replay: then nothing is written, some locks may be held, and '
  'trading.place_batch goes its general way. Errors: UNFIT_SESSION, 55P03. Locks: the market, '
  'without waits only if it is free; then the one or two users, by ascending id.';
