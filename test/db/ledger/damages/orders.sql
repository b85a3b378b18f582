/* Orders, trades and fees; books and figures; keys, switches, events and candles. */

-- order is cancelled for a reason that fits it
update trading.ended_orders set cancel_reason = 'self_trade' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'user_cancelled' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'user_amended' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'market_closed' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'trading_paused' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'self_excluded' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'expired' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'insufficient_funds' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'loss_limit' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'position_insufficient' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'self_trade' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'insufficient_liquidity' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'insufficient_funds' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'loss_limit' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'position_insufficient' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :taken_back;
update trading.ended_orders set cancel_reason = 'expired' where id = :taken_back;
update trading.ended_orders set ended_at = ended_at + interval '1 s' where id = :cut_short;
update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :blocked;
update trading.archived_orders set time_in_force = 'ioc';
update trading.ended_orders set expires_at = ended_at where id = :amended;
update trading.ended_orders set cancel_reason = 'expired' where id = :cancelled;
update trading.ended_orders set expires_at = ended_at + interval '1 s' where id = :expired;
update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :cancelled;
update trading.ended_orders set cancel_reason = 'insufficient_liquidity' where id = :cancelled;
update trading.ended_orders set cancel_reason = 'position_insufficient' where id = :cancelled;
update trading.ended_orders set order_type = 'sell', cancel_reason = 'insufficient_funds'
  where id = :cancelled;
update trading.ended_orders set order_type = 'sell', cancel_reason = 'loss_limit'
  where id = :cancelled;

-- order that ended for a self-trade met an order of its user
update trading.ended_orders set ended_at = ended_at + interval '1 s' where id = :blocked;
update trading.ended_orders set cancel_reason = 'self_trade' where id = :cancelled;
update trading.archived_orders set cancel_reason = 'self_trade';

-- amended order has its replacement
update trading.ended_orders set user_id = :dan where id = :amended;
update trading.ended_orders set side = 'yes' where id = :amended;
update trading.ended_orders set order_type = 'sell' where id = :amended;
update trading.ended_orders set post_only = true where id = :amended;
update trading.ended_orders set cancel_reason = 'user_amended' where id = :cancelled;
update trading.ended_orders set ended_at = ended_at + interval '1 ms' where id = :amended;

-- replacement takes the place of an amended order
update trading.order_replacements
  set replaced_order_id = (select id from trading.orders where id = :reduced and id < order_id);
update trading.order_replacements
  set replaced_order_id = (select id from trading.orders where id = :cancelled and id < order_id);

-- order has the status that fits what it is
update trading.ended_orders set quantity = 5 where id = :budget_taken_back;
update trading.active_orders set time_in_force = 'ioc' where order_id = :resting;
update trading.active_orders set released_at = release_at where order_id = :waiting;
update trading.active_orders set released_at = null where order_id = :released;
update trading.active_orders set released_at = release_at - interval '1 ms'
  where order_id = :released;
update trading.active_orders set created_at = release_at + interval '1 ms'
  where order_id = :waiting;
update trading.ended_orders set release_at = created_at where id = :filled;
update trading.ended_orders set quantity = quantity + 1 where id = :filled;
update trading.ended_orders set quantity = 0, filled_quantity = 0 where id = :filled;
update trading.ended_orders set cancel_reason = 'user_cancelled' where id = :filled;
update trading.ended_orders set cancel_reason = null where id = :cut_short;
update trading.ended_orders set filled_quantity = quantity + 1 where id = :cut_short;
update trading.ended_orders
  set status = 'cancelled', cancel_reason = 'user_cancelled', ended_at = created_at
  where id = :filled;

-- order has the time of its public id
update trading.active_orders set created_at = created_at + interval '3 days'
  where order_id = :resting;
update trading.ended_orders set created_at = created_at + interval '30 days' where id = :filled;
update trading.ended_orders set created_at = created_at - interval '2 hours' where id = :cancelled;
update trading.archived_orders set created_at = created_at - interval '2 hours';
update trading.active_orders set order_public_id = gen_random_uuid() where order_id = :resting;

-- order expires after it was placed
update trading.ended_orders set expires_at = created_at where id = :expired;

-- order waits no longer than an event may ask for
update trading.active_orders set release_at = created_at + interval '60.001 s'
  where order_id = :waiting;

-- order fee is what its schedule says
update trading.fee_schedules set taker_rate_bps = taker_rate_bps + 100;
delete from trading.fee_schedules;
update trading.trades as t set fee_cents = t.fee_cents + case t.id when x.first then 1 else -1 end
  from (
    select min(f.id) as first, max(f.id) as last
    from trading.trades as f where f.taker_order_id = :sweep
  ) as x
  where t.id in (x.first, x.last);

-- trade repeats its orders
update trading.trades set market_id = :resolved;
update trading.trades set taker_user_id = 0;
update trading.trades set taker_side = 'no';
update trading.trades set taker_realised_cents = null where taker_realised_cents is not null;

-- idempotency key stands for an order of its user
update trading.idempotency_keys set order_id = 0 where order_id is not null;
update trading.idempotency_keys set user_id = 0;

-- idempotency key stands for an order or for another command
update trading.idempotency_keys set reply = '{}' where order_id is not null;
update trading.idempotency_keys set cancelled_orders = 1 where order_id is not null;
update trading.idempotency_keys set order_id = null, request_fingerprint = null;

-- filled quantity equals the trades
update trading.active_orders set left_quantity = quantity + 1 where order_id = :resting;
update trading.active_orders set left_quantity = quantity - 3 where order_id = :resting;
update trading.active_orders set left_quantity = left_quantity - 1 where order_id = :resting;

-- order fee equals the fees of its trades
update trading.active_orders set fee_cents = fee_cents + 1 where order_id = :resting;

-- fill belongs to an order
delete from trading.ended_orders where id = :filled;

-- order has its user and market
update trading.active_orders set user_id = 0 where order_id = :resting;
update trading.active_orders set market_id = 0 where order_id = :resting;

-- archived order has its user and market
update trading.archived_orders set user_id = 0;
update trading.archived_orders set market_id = 0;

-- archived order is nowhere else
insert into trading.ended_orders (
    market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
    price, side, order_type, time_in_force, status, post_only, cancel_reason
  )
  select a.market_id, a.user_id, a.id, a.public_id, a.created_at, a.cancelled_at, a.quantity,
    a.filled_quantity, a.fee_cents, a.price, a.side, a.order_type, a.time_in_force, a.status,
    a.post_only, a.cancel_reason
  from trading.archived_orders as a;
update trading.active_orders as o set order_public_id = a.public_id
  from trading.archived_orders as a where o.order_id = :resting;
update trading.active_orders as b set order_id = a.id
  from trading.archived_orders as a where b.order_id = :resting;

-- fee schedule was in force at the trade
update trading.fee_schedules set effective_from = effective_from + interval '1 year'
  where effective_from > '-infinity';
delete from trading.fee_schedules where category_id is not null;
update trading.fee_schedules
  set effective_from = '-infinity', created_at = '-infinity'
  where category_id is not null;
update trading.trades set fee_schedule_id = (select min(id) from trading.fee_schedules)
  where taker_order_id = :sweep;
insert into trading.fee_schedules (market_id, taker_rate_bps, effective_from, created_at)
  values (:market, 0, '-infinity', '-infinity');
update catalog.markets set category_id = 0 where id = :resolved;

-- fills are within the budget of their order
update trading.ended_orders set budget_cents = 278 where id = :budget;

-- order takes before it makes
update trading.trades set id = -id where maker_order_id = :taker_and_maker;

-- orders are those that were placed
delete from trading.ended_orders where id = :cancelled;
with level as (update trading.market_state set depth[129] = 0 where market_id = :market)
  delete from trading.active_orders where order_id = :resting;
delete from trading.active_orders where order_id = :waiting;
delete from trading.archived_orders;
update trading.ended_orders set id = 1000000 where id = :cancelled;
update trading.ended_orders set market_id = :resolved where id = :cancelled;
update trading.market_state set placed_count = placed_count - 1 where market_id = :market;
update trading.market_state set placed_id_sum = placed_id_sum - 1 where market_id = :market;
delete from trading.active_orders where order_id = :resting;

-- order is of a form that can be placed
update trading.ended_orders set post_only = true, time_in_force = 'ioc' where id = :cancelled;
update trading.ended_orders set budget_cents = 400 where id = :cancelled;
update trading.ended_orders set order_type = 'sell' where id = :budget;
update trading.archived_orders set post_only = true, time_in_force = 'ioc';

-- reductions of an order lead to its quantity
update trading.active_orders set quantity = quantity + 1 where order_id = :reduced;
update trading.order_reductions set quantity_before = quantity_before - 1
  where quantity_before < 10;
delete from trading.order_reductions where quantity_after = 6;
update trading.order_reductions set order_id = 0;

-- idempotency key is as old as its order
update trading.idempotency_keys set created_at = created_at + interval '1 day';

-- trade is at the price of its maker
update trading.ended_orders set price = price + 1 where id = :filled;
update trading.ended_orders set price = price + 1 where id = :sold_to;

-- fill is within the limit of its order
update trading.ended_orders set price = 59 where id = :taker;
update trading.ended_orders set price = 51 where id = :first_sale;

-- post-only order never takes
update trading.ended_orders set post_only = true where id = :taker;

-- maker is an order that may rest
update trading.ended_orders set time_in_force = 'ioc' where id = :filled;

-- maker was placed before its taker
with moved as (update trading.ended_orders set id = 1000000 where id = :filled)
  update trading.trades set maker_order_id = 1000000 where maker_order_id = :filled;

-- order takes when it is placed or released
update trading.ended_orders set created_at = created_at - interval '1 s' where id = :taker;
update trading.ended_orders set released_at = released_at + interval '1 s'
  where id = :released_taker;

-- trade is at the best price that rested
update trading.active_orders set price = 48, book_price = 48 where order_id = :resting;
/* The two makers of an order that takes, the worse one first. */
update trading.trades as t set
    price = x.first_price + x.last_price - t.price,
    maker_order_id = x.first_maker + x.last_maker - t.maker_order_id
  from (
    select f.price as first_price, l.price as last_price,
      f.maker_order_id as first_maker, l.maker_order_id as last_maker
    from trading.trades as f
    join trading.trades as l on l.taker_order_id = f.taker_order_id and l.id > f.id
    where f.taker_order_id = :sweep
  ) as x
  where t.taker_order_id = :sweep;

-- orders of one price trade in the order they came
update trading.active_orders set price = 44, book_price = 44 where order_id = :resting;
update trading.trades set id = -id where maker_order_id = :second_of_two;

-- market is of an event of its category
update catalog.events set category_id = 0
  where id = (select event_id from catalog.markets where id = :live);

-- market is of the event that it was made for
update catalog.markets set event_id = (select event_id from catalog.markets where id = :live)
  where id = :market;
with other as (
    insert into catalog.events (category_id, title, live)
    select category_id, 'Another match', true from catalog.markets where id = :live
    returning id
  )
  update catalog.markets set event_id = (select id from other) where id = :live;

-- market whose orders waited has an event
update catalog.markets set event_id = null, "position" = null where id = :live;

-- last trade price is that of the last trade
update trading.market_state set last_trade_price = null where market_id = :market;

-- order is in one table at a time
insert into trading.ended_orders (
    market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
    price, side, order_type, time_in_force, status, post_only, cancel_reason
  )
  select b.market_id, b.user_id, b.order_id, gen_random_uuid(), b.created_at, now(), b.quantity,
    0, 0, b.price, b.side, b.order_type, b.time_in_force, 'cancelled', false, 'user_cancelled'
  from trading.active_orders as b where b.order_id = :resting;
update trading.ended_orders set public_id = (
    select b.order_public_id from trading.active_orders as b where b.order_id = :resting
  ) where id = :cancelled;

-- depth equals the resting orders
update trading.active_orders set queue_position = null, release_at = now()
  where order_id = :resting;
update trading.market_state set depth[129] = depth[129] + 1 where market_id = :market;
update trading.market_state set depth[129] = 0 where market_id = :market;
update trading.market_state set depth[106] = 1 where market_id = :market;
update trading.market_state set depth[106] = -1 where market_id = :market;
update trading.active_orders set left_quantity = left_quantity - 1 where order_id = :resting;

-- open order is stored as its trader gave it
update trading.active_orders set book_price = book_price + 1 where order_id = :resting;
update trading.active_orders set book_side = 'yes' where order_id = :resting;
update trading.active_orders set order_type = 'sell' where order_id = :resting;

-- depth has a place for each price of both sides
update trading.market_state set depth = depth[1:197] where market_id = :market;
update trading.market_state set depth = depth || 0::bigint where market_id = :market;

-- ended order was filled or cancelled
update trading.ended_orders set status = 'open' where id = :filled;

-- open order rests or waits for its release
update trading.active_orders set release_at = null where order_id = :waiting;
update trading.active_orders set left_quantity = 0 where order_id = :resting;
update trading.active_orders set left_quantity = -1 where order_id = :resting;
update trading.active_orders set left_quantity = 0 where order_id = :waiting;
update trading.active_orders set release_at = now() where order_id = :resting;

-- best price is that of the resting orders
update trading.market_state set best_yes_price = best_yes_price - 1 where market_id = :market;
update trading.market_state set best_yes_price = best_yes_price + 1 where market_id = :market;
update trading.market_state set best_no_price = 0 where market_id = :market;
update trading.market_state set best_no_price = 1 where market_id = :resolved;

-- book is not crossed
update trading.active_orders set book_price = 60 where order_id = :resting;

-- market figures equal its trades
update trading.market_state set trade_count = trade_count + 1 where market_id = :market;
update trading.market_state set yes_volume_cents = yes_volume_cents + 1 where market_id = :market;
update trading.market_state set no_volume_cents = no_volume_cents - 1 where market_id = :market;

-- no order stands before the front of its book
update trading.market_state set first_yes_position = 1000000 where market_id = :market;
update trading.market_state set first_no_position = 1000000 where market_id = :market;

-- traders count equals who traded
update trading.market_state set traders_count = traders_count + 1 where market_id = :market;
update trading.market_state set traders_count = traders_count - 1 where market_id = :market;

-- place in the queue is that of placing or release
update trading.active_orders set queue_position = queue_position + 1 where order_id = :resting;
update trading.active_orders set queue_position = order_id where order_id = :released;

-- order is open in a market that is open or paused
update catalog.markets set status = 'closed' where id = :market;
update catalog.markets set status = 'closed' where id = :live;
update trading.active_orders set market_id = :resolved where order_id = :resting;

-- market has its book and its accounts
delete from trading.market_state where market_id = :market;

-- version counts at least the orders that came without delay
update trading.market_state set version = 5 where market_id = :market;

-- category counts its events and markets
update catalog.categories set event_count = event_count + 1;
update catalog.categories set open_market_count = open_market_count + 1;
update catalog.categories set closed_market_count = closed_market_count - 1;
update catalog.categories set paused_market_count = paused_market_count + 1;
update catalog.markets set status = 'paused' where id = :live;

-- event stands in its list
update catalog.event_listings set list = 'none'
  where event_id = (select event_id from catalog.markets where id = :live);
update catalog.event_listings set close_time = '2001-01-01';
delete from catalog.event_listings;

-- market stands in its lists
delete from catalog.market_listings where market_id = :market and list = 'open';
update catalog.market_listings set close_time = '2001-01-01' where market_id = :market;
delete from catalog.market_listings where market_id = :market and list = 'open' and category_id = 0;
update catalog.market_listings set close_time = '2001-01-01'
  where market_id = :market and list = 'all' and category_id = 0;

-- idempotency key belongs to a user
update trading.idempotency_keys set user_id = 0 where reply is not null;

-- reply is about orders of its user
update trading.idempotency_keys set user_id = :dan where reply like '{"order"%';
update trading.idempotency_keys set user_id = :dan where reply like '{"results"%';
update trading.idempotency_keys set reply = replace(reply, '"id":"', '"id":"no JSON {');

-- order that a reply calls cancelled is cancelled
update trading.ended_orders set status = 'filled', cancel_reason = null, filled_quantity = quantity
  where id = :cancelled_once;

-- reply of a split or merge has its conversion
update trading.idempotency_keys set reply = replace(reply, '"quantity":3', '"quantity":34')
  where reply like '{"marketId"%';
update trading.idempotency_keys set reply = replace(reply, '"marketId":"', '"marketId":"4')
  where reply like '{"marketId"%';
delete from trading.set_conversions where id = (select max(id) from trading.set_conversions);

-- loss limits are those of the last change
update trading.traders set day_limit_cents = 1 where user_id = :ann;
update trading.traders set next_day_limit_cents = 1 where user_id = :ann;
delete from risk.limit_changes where user_id = :ann;

-- loss limit is not below zero, and the next one has its time
update trading.traders set day_limit_cents = -1 where user_id = :ann;
update trading.traders set next_month_limit_cents = -1, month_limit_changes_at = now()
  where user_id = :ann;
update trading.traders set next_week_limit_cents = 1, week_limit_changes_at = null
  where user_id = :ann;

-- age was confirmed at a time
update trading.traders set confirmed_age = 18, age_confirmed_at = null where user_id = :ann;
update trading.traders set confirmed_age = 0, age_confirmed_at = now() where user_id = :ann;
update trading.traders set confirmed_age = -1 where user_id = :ann;

-- dead man's switch belongs to a user
update trading.dead_man_switches set user_id = 0;

-- switch that fires goes up to an order of its user
update trading.dead_man_switches set last_order_id = :resting;
update trading.dead_man_switches set last_order_id = 123456789;

-- switch that fires says when
update trading.dead_man_switches set last_fired_at = null;
update trading.dead_man_switches set last_fired_at = last_fired_at + interval '1 s';

-- stop of orders goes up to an order of its user
insert into trading.order_stops values (:ann, 123456789, 'trading_paused', now());
insert into trading.order_stops values (0, :resting, 'trading_paused', now());

-- event follows the one before
delete from trading.sent_events where id = (select max(id) - 1 from trading.sent_events);
update trading.sent_events set position = position - 1
  where id = (select max(id) from trading.sent_events where trade_ids is not null);

-- last event is that of the relay
delete from trading.sent_events where id = (select max(id) from trading.sent_events);
update trading.outbox_relay set last_position = 1;
delete from trading.outbox_relay;

-- event is of trades of its time
update trading.sent_events set traded_at = traded_at + interval '1 ms' where trade_ids is not null;
update trading.sent_events set trade_ids = '{0}' where trade_ids is not null;

-- trade is announced once
update trading.sent_events set trade_ids = null, traded_at = null
  where id = (select max(id) from trading.sent_events where trade_ids is not null);
update trading.sent_events set trade_ids = trade_ids || trade_ids where trade_ids is not null;

-- event of a user is of that user
update trading.sent_events set user_id = :dan where user_id = :ann;

-- event says why its order was cancelled
update trading.sent_events
  set payload = replace(payload::text, '"expired"', '"user_cancelled"')::json
  where payload::text like '%"expired"%';
delete from trading.ended_orders where id = :expired;

-- candle equals its trades
update trading.candles set open_price =
    case open_price when low_price then high_price else low_price end
  where width_minutes = 1440;
update trading.candles set high_price = 99 where width_minutes = 1440;
update trading.candles set low_price = 1 where width_minutes = 1440;
update trading.candles set close_price =
    case close_price when low_price then high_price else low_price end
  where width_minutes = 1440;
update trading.candles set quantity = quantity + 1;
delete from trading.candles where width_minutes = 60;
delete from trading.candles;
insert into trading.candles
  select market_id, width_minutes, min(start_at) - interval '1 day', 1, 1, 1, 1, 1, 1
  from trading.candles where width_minutes = 1440 group by 1, 2;
delete from trading.candle_progress;

-- candles are made of the trades up to the last
update trading.candle_progress set trade_count = trade_count - 1;
update trading.candle_progress set last_trade_id = last_trade_id + 1;
