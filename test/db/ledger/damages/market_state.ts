import type { Damage } from "./damage.ts";

/** Ways to break open orders, depth and figures, each with an invariant that must notice. */
export const booksDamages: Damage[] = [
  [
    "market is of an event of its category",
    `update catalog.events set category_id = 0
     where id = (select event_id from catalog.markets where id = :live)`,
  ],
  [
    "market is of the event that it was made for",
    `update catalog.markets set event_id = (select event_id from catalog.markets where id = :live)
     where id = :market`,
  ],
  [
    "market is of the event that it was made for",
    `with other as (
       insert into catalog.events (category_id, title, live)
       select category_id, 'Another match', true from catalog.markets where id = :live
       returning id
     )
     update catalog.markets set event_id = (select id from other) where id = :live`,
  ],
  [
    "market whose orders waited has an event",
    `update catalog.markets set event_id = null, "position" = null where id = :live`,
  ],
  [
    "last trade price is that of the last trade",
    "update trading.market_state set last_trade_price = null where market_id = :market",
  ],
  [
    "order is in one table at a time",
    `insert into trading.ended_orders (
       market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
       price, side, order_type, time_in_force, status, post_only, cancel_reason
     )
     select b.market_id, b.user_id, b.order_id, gen_random_uuid(), b.created_at, now(), b.quantity,
       0, 0, b.price, b.side, b.order_type, b.time_in_force, 'cancelled', false, 'user_cancelled'
     from trading.active_orders as b where b.order_id = :resting`,
  ],
  [
    "order is in one table at a time",
    `update trading.ended_orders set public_id = (
       select b.order_public_id from trading.active_orders as b where b.order_id = :resting
     ) where id = :cancelled`,
  ],
  [
    "orders are those that were placed",
    "delete from trading.active_orders where order_id = :resting",
  ],
  [
    "depth equals the resting orders",
    `update trading.active_orders set queue_position = null, release_at = now()
     where order_id = :resting`,
  ],
  [
    "open order is stored as its trader gave it",
    "update trading.active_orders set book_price = book_price + 1 where order_id = :resting",
  ],
  [
    "open order is stored as its trader gave it",
    "update trading.active_orders set book_side = 'yes' where order_id = :resting",
  ],
  [
    "open order is stored as its trader gave it",
    "update trading.active_orders set order_type = 'sell' where order_id = :resting",
  ],
  [
    "filled quantity equals the trades",
    "update trading.active_orders set left_quantity = left_quantity - 1 where order_id = :resting",
  ],
  [
    "open order rests or waits for its release",
    "update trading.active_orders set left_quantity = 0 where order_id = :waiting",
  ],
  [
    "order has the time of its public id",
    "update trading.active_orders set order_public_id = gen_random_uuid() where order_id = :resting",
  ],
  [
    "depth equals the resting orders",
    "update trading.market_state set depth[129] = depth[129] + 1 where market_id = :market",
  ],
  [
    "depth equals the resting orders",
    "update trading.market_state set depth[129] = 0 where market_id = :market",
  ],
  [
    "depth equals the resting orders",
    "update trading.market_state set depth[106] = 1 where market_id = :market",
  ],
  [
    "depth equals the resting orders",
    "update trading.active_orders set left_quantity = left_quantity - 1 where order_id = :resting",
  ],
  [
    "best price is that of the resting orders",
    "update trading.market_state set best_yes_price = best_yes_price - 1 where market_id = :market",
  ],
  [
    "best price is that of the resting orders",
    "update trading.market_state set best_yes_price = best_yes_price + 1 where market_id = :market",
  ],
  [
    "best price is that of the resting orders",
    "update trading.market_state set best_no_price = 0 where market_id = :market",
  ],
  [
    "best price is that of the resting orders",
    "update trading.market_state set best_no_price = 1 where market_id = :resolved",
  ],
  [
    "book is not crossed",
    "update trading.active_orders set book_price = 60 where order_id = :resting",
  ],
  [
    "market figures equal its trades",
    "update trading.market_state set trade_count = trade_count + 1 where market_id = :market",
  ],
  [
    "market figures equal its trades",
    "update trading.market_state set yes_volume_cents = yes_volume_cents + 1 where market_id = :market",
  ],
  [
    "market figures equal its trades",
    "update trading.market_state set no_volume_cents = no_volume_cents - 1 where market_id = :market",
  ],
  [
    "no order stands before the front of its book",
    "update trading.market_state set first_yes_position = 1000000 where market_id = :market",
  ],
  [
    "no order stands before the front of its book",
    "update trading.market_state set first_no_position = 1000000 where market_id = :market",
  ],
  [
    "traders count equals who traded",
    "update trading.market_state set traders_count = traders_count + 1 where market_id = :market",
  ],
  [
    "fee revenue equals the fees of the trades less the payouts",
    "update trading.market_state set revenue_cents = revenue_cents + 1 where market_id = :market",
  ],
  [
    "fee revenue equals the fees of the trades less the payouts",
    "update trading.trades set fee_cents = fee_cents + 1 where market_id = :market",
  ],
  [
    "open order rests or waits for its release",
    "update trading.active_orders set release_at = now() where order_id = :resting",
  ],
  [
    "place in the queue is that of placing or release",
    `update trading.active_orders set queue_position = queue_position + 1
     where order_id = :resting`,
  ],
  [
    "place in the queue is that of placing or release",
    `update trading.active_orders set queue_position = order_id
     where order_id = :released`,
  ],
  [
    "order is open in a market that is open or paused",
    "update catalog.markets set status = 'closed' where id = :market",
  ],
  [
    "order is open in a market that is open or paused",
    "update catalog.markets set status = 'closed' where id = :live",
  ],
  [
    "order is open in a market that is open or paused",
    "update trading.active_orders set market_id = :resolved where order_id = :resting",
  ],
  [
    "market has its book and its accounts",
    "delete from trading.market_state where market_id = :market",
  ],
  [
    "version counts at least the orders that came without delay",
    "update trading.market_state set version = 5 where market_id = :market",
  ],
  [
    "category counts its events and markets",
    "update catalog.categories set event_count = event_count + 1",
  ],
  [
    "category counts its events and markets",
    "update catalog.categories set open_market_count = open_market_count + 1",
  ],
  [
    "category counts its events and markets",
    "update catalog.categories set closed_market_count = closed_market_count - 1",
  ],
  [
    "category counts its events and markets",
    "update catalog.categories set paused_market_count = paused_market_count + 1",
  ],
  [
    "category counts its events and markets",
    "update catalog.markets set status = 'paused' where id = :live",
  ],
  [
    "event stands in its list",
    "update catalog.event_listings set list = 'none' where event_id = (select event_id from catalog.markets where id = :live)",
  ],
  ["event stands in its list", "update catalog.event_listings set close_time = '2001-01-01'"],
  ["event stands in its list", "delete from catalog.event_listings"],
  [
    "market stands in its lists",
    "delete from catalog.market_listings where market_id = :market and list = 'open'",
  ],
  [
    "market stands in its lists",
    "update catalog.market_listings set close_time = '2001-01-01' where market_id = :market",
  ],
  [
    "market stands in its lists",
    "delete from catalog.market_listings where market_id = :market and list = 'open' and category_id = 0",
  ],
  [
    "market stands in its lists",
    "update catalog.market_listings set close_time = '2001-01-01' where market_id = :market and list = 'all' and category_id = 0",
  ],
  [
    "traders count equals who traded",
    "update trading.market_state set traders_count = traders_count - 1 where market_id = :market",
  ],
];
