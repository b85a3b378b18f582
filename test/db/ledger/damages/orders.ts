import type { Damage } from "./damage.ts";

/** What cannot end an order that was matched at once, traded a part and may not rest. */
const unfitReasons = [
  "self_trade",
  "user_cancelled",
  "user_amended",
  "market_closed",
  "trading_paused",
  "self_excluded",
  "expired",
  "insufficient_funds",
  "loss_limit",
  "position_insufficient",
  "post_only_would_cross",
];

/** What cannot end an order that waits for its release. */
const unfitInDelay = [
  "self_trade",
  "insufficient_liquidity",
  "insufficient_funds",
  "loss_limit",
  "position_insufficient",
  "post_only_would_cross",
  "expired",
];

/** Ways to break how orders end and when they are made. */
const endings: Damage[] = [
  ...unfitReasons.map((reason): Damage => [
    "order is cancelled for a reason that fits it",
    `update trading.ended_orders set cancel_reason = '${reason}' where id = :cut_short`,
  ]),
  ...unfitInDelay.map((reason): Damage => [
    "order is cancelled for a reason that fits it",
    `update trading.ended_orders set cancel_reason = '${reason}' where id = :taken_back`,
  ]),
  [
    "order is cancelled for a reason that fits it",
    `update trading.ended_orders set ended_at = ended_at + interval '1 s' where id = :cut_short`,
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'user_cancelled' where id = :unfilled",
  ],
  [
    "order that ended for a self-trade met an order of its user",
    `update trading.ended_orders set ended_at = ended_at + interval '1 s' where id = :blocked`,
  ],
  [
    "order that ended for a self-trade met an order of its user",
    "update trading.ended_orders set cancel_reason = 'self_trade' where id = :cancelled",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :blocked",
  ],
  [
    "order that ended for a self-trade met an order of its user",
    "update trading.archived_orders set cancel_reason = 'self_trade'",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.archived_orders set time_in_force = 'ioc'",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set expires_at = ended_at where id = :amended",
  ],
  ...["user_id = :dan", "side = 'yes'", "order_type = 'sell'", "post_only = true"].map(
    (change): Damage => [
      "amended order has its replacement",
      `update trading.ended_orders set ${change} where id = :amended`,
    ],
  ),
  [
    "amended order has its replacement",
    "update trading.ended_orders set cancel_reason = 'user_amended' where id = :cancelled",
  ],
  ...["id = :reduced", "id = :cancelled"].map((other): Damage => [
    "replacement takes the place of an amended order",
    `update trading.order_replacements
     set replaced_order_id = (select id from trading.orders where ${other} and id < order_id)`,
  ]),
  [
    "amended order has its replacement",
    `update trading.ended_orders set ended_at = ended_at + interval '1 ms' where id = :amended`,
  ],
  [
    "order has the status that fits what it is",
    "update trading.ended_orders set quantity = 5 where id = :budget_taken_back",
  ],
  [
    "order has the time of its public id",
    "update trading.active_orders set created_at = created_at + interval '3 days' where order_id = :resting",
  ],
  [
    "order has the time of its public id",
    "update trading.ended_orders set created_at = created_at + interval '30 days' where id = :filled",
  ],
  [
    "order has the time of its public id",
    "update trading.ended_orders set created_at = created_at - interval '2 hours' where id = :cancelled",
  ],
  [
    "order has the time of its public id",
    "update trading.archived_orders set created_at = created_at - interval '2 hours'",
  ],
  [
    "order expires after it was placed",
    "update trading.ended_orders set expires_at = created_at where id = :expired",
  ],
  [
    "order waits no longer than an event may ask for",
    "update trading.active_orders set release_at = created_at + interval '60.001 s' where order_id = :waiting",
  ],
];

/** Ways to break orders, trades and fees, each with an invariant that must notice. */
export const ordersDamages: Damage[] = [
  ...endings,
  [
    "order fee is what its schedule says",
    "update trading.fee_schedules set taker_rate_bps = taker_rate_bps + 100",
  ],
  ["order fee is what its schedule says", "delete from trading.fee_schedules"],
  ["trade repeats its orders", "update trading.trades set market_id = :resolved"],
  ["trade repeats its orders", "update trading.trades set taker_user_id = 0"],
  ["trade repeats its orders", "update trading.trades set taker_side = 'no'"],
  [
    "trade repeats its orders",
    `update trading.trades set taker_realised_cents = null
     where taker_realised_cents is not null`,
  ],
  [
    "idempotency key stands for an order of its user",
    "update trading.idempotency_keys set order_id = 0 where order_id is not null",
  ],
  [
    "idempotency key stands for an order of its user",
    "update trading.idempotency_keys set user_id = 0",
  ],
  [
    "filled quantity equals the trades",
    "update trading.active_orders set left_quantity = quantity - 3 where order_id = :resting",
  ],
  [
    "order fee equals the fees of its trades",
    "update trading.active_orders set fee_cents = fee_cents + 1 where order_id = :resting",
  ],
  ["fill belongs to an order", "delete from trading.ended_orders where id = :filled"],
  [
    "order has its user and market",
    "update trading.active_orders set user_id = 0 where order_id = :resting",
  ],
  [
    "order has its user and market",
    "update trading.active_orders set market_id = 0 where order_id = :resting",
  ],
  ["archived order has its user and market", "update trading.archived_orders set user_id = 0"],
  ["archived order has its user and market", "update trading.archived_orders set market_id = 0"],
  [
    "archived order is nowhere else",
    `insert into trading.ended_orders (
       market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
       price, side, order_type, time_in_force, status, post_only, cancel_reason
     )
     select a.market_id, a.user_id, a.id, a.public_id, a.created_at, a.cancelled_at, a.quantity,
       a.filled_quantity, a.fee_cents, a.price, a.side, a.order_type, a.time_in_force, a.status,
       a.post_only, a.cancel_reason
     from trading.archived_orders as a`,
  ],
  [
    "archived order is nowhere else",
    `update trading.active_orders as o set order_public_id = a.public_id
     from trading.archived_orders as a where o.order_id = :resting`,
  ],
  [
    "archived order is nowhere else",
    `update trading.active_orders as b set order_id = a.id
     from trading.archived_orders as a where b.order_id = :resting`,
  ],
  [
    "order fee is what its schedule says",
    `update trading.trades as t set fee_cents = t.fee_cents + case t.id when x.first then 1 else -1 end
     from (
       select min(f.id) as first, max(f.id) as last
       from trading.trades as f where f.taker_order_id = :sweep
     ) as x
     where t.id in (x.first, x.last)`,
  ],
  [
    "fee schedule was in force at the trade",
    `update trading.fee_schedules set effective_from = effective_from + interval '1 year'
     where effective_from > '-infinity'`,
  ],
  [
    "fee schedule was in force at the trade",
    "delete from trading.fee_schedules where category_id is not null",
  ],
  [
    "fee schedule was in force at the trade",
    `update trading.fee_schedules
     set effective_from = '-infinity', created_at = '-infinity'
     where category_id is not null`,
  ],
  [
    "fee schedule was in force at the trade",
    `update trading.trades set fee_schedule_id = (select min(id) from trading.fee_schedules)
     where taker_order_id = :sweep`,
  ],
  [
    "fee schedule was in force at the trade",
    `insert into trading.fee_schedules (market_id, taker_rate_bps, effective_from, created_at)
     values (:market, 0, '-infinity', '-infinity')`,
  ],
  [
    "fee schedule was in force at the trade",
    "update catalog.markets set category_id = 0 where id = :resolved",
  ],
  [
    "fills are within the budget of their order",
    "update trading.ended_orders set budget_cents = 278 where id = :budget",
  ],
  [
    "order takes before it makes",
    "update trading.trades set id = -id where maker_order_id = :taker_and_maker",
  ],
  ["orders are those that were placed", "delete from trading.ended_orders where id = :cancelled"],
  [
    "orders are those that were placed",
    `with level as (update trading.market_state set depth[129] = 0 where market_id = :market)
     delete from trading.active_orders where order_id = :resting`,
  ],
  [
    "orders are those that were placed",
    "delete from trading.active_orders where order_id = :waiting",
  ],
  ["orders are those that were placed", "delete from trading.archived_orders"],
  [
    "orders are those that were placed",
    "update trading.ended_orders set id = 1000000 where id = :cancelled",
  ],
  [
    "orders are those that were placed",
    "update trading.ended_orders set market_id = :resolved where id = :cancelled",
  ],
  [
    "orders are those that were placed",
    "update trading.market_state set placed_count = placed_count - 1 where market_id = :market",
  ],
  [
    "orders are those that were placed",
    "update trading.market_state set placed_id_sum = placed_id_sum - 1 where market_id = :market",
  ],
  [
    "order is of a form that can be placed",
    "update trading.ended_orders set post_only = true, time_in_force = 'ioc' where id = :cancelled",
  ],
  [
    "order is of a form that can be placed",
    "update trading.ended_orders set budget_cents = 400 where id = :cancelled",
  ],
  [
    "order is of a form that can be placed",
    "update trading.ended_orders set order_type = 'sell' where id = :budget",
  ],
  [
    "order is of a form that can be placed",
    "update trading.archived_orders set post_only = true, time_in_force = 'ioc'",
  ],
  [
    "order has the status that fits what it is",
    "update trading.active_orders set time_in_force = 'ioc' where order_id = :resting",
  ],
  [
    "order has the status that fits what it is",
    "update trading.active_orders set released_at = release_at where order_id = :waiting",
  ],
  [
    "order has the status that fits what it is",
    "update trading.active_orders set released_at = null where order_id = :released",
  ],
  [
    "order has the status that fits what it is",
    `update trading.active_orders set released_at = release_at - interval '1 ms'
     where order_id = :released`,
  ],
  [
    "order has the status that fits what it is",
    `update trading.active_orders set created_at = release_at + interval '1 ms'
     where order_id = :waiting`,
  ],
  [
    "order has the status that fits what it is",
    "update trading.ended_orders set release_at = created_at where id = :filled",
  ],
  [
    "order has the status that fits what it is",
    `update trading.ended_orders
     set status = 'cancelled', cancel_reason = 'user_cancelled', ended_at = created_at
     where id = :filled`,
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'expired' where id = :cancelled",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set expires_at = ended_at + interval '1 s' where id = :expired",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'post_only_would_cross' where id = :cancelled",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'insufficient_liquidity' where id = :cancelled",
  ],
  [
    "order is cancelled for a reason that fits it",
    "update trading.ended_orders set cancel_reason = 'position_insufficient' where id = :cancelled",
  ],
  [
    "order is cancelled for a reason that fits it",
    `update trading.ended_orders set order_type = 'sell', cancel_reason = 'insufficient_funds'
     where id = :cancelled`,
  ],
  [
    "order is cancelled for a reason that fits it",
    `update trading.ended_orders set order_type = 'sell', cancel_reason = 'loss_limit'
     where id = :cancelled`,
  ],
  [
    "reductions of an order lead to its quantity",
    "update trading.active_orders set quantity = quantity + 1 where order_id = :reduced",
  ],
  [
    "reductions of an order lead to its quantity",
    `update trading.order_reductions set quantity_before = quantity_before - 1
     where quantity_before < 10`,
  ],
  [
    "reductions of an order lead to its quantity",
    "delete from trading.order_reductions where quantity_after = 6",
  ],
  [
    "reductions of an order lead to its quantity",
    "update trading.order_reductions set order_id = 0",
  ],
  [
    "idempotency key is as old as its order",
    "update trading.idempotency_keys set created_at = created_at + interval '1 day'",
  ],
  [
    "trade is at the price of its maker",
    "update trading.ended_orders set price = price + 1 where id = :filled",
  ],
  [
    "trade is at the price of its maker",
    "update trading.ended_orders set price = price + 1 where id = :sold_to",
  ],
  [
    "fill is within the limit of its order",
    "update trading.ended_orders set price = 59 where id = :taker",
  ],
  [
    "fill is within the limit of its order",
    "update trading.ended_orders set price = 51 where id = :first_sale",
  ],
  [
    "post-only order never takes",
    "update trading.ended_orders set post_only = true where id = :taker",
  ],
  [
    "maker is an order that may rest",
    "update trading.ended_orders set time_in_force = 'ioc' where id = :filled",
  ],
  [
    "maker was placed before its taker",
    `with moved as (update trading.ended_orders set id = 1000000 where id = :filled)
     update trading.trades set maker_order_id = 1000000 where maker_order_id = :filled`,
  ],
  [
    "order takes when it is placed or released",
    "update trading.ended_orders set created_at = created_at - interval '1 s' where id = :taker",
  ],
  [
    "order takes when it is placed or released",
    `update trading.ended_orders set released_at = released_at + interval '1 s'
     where id = :released_taker`,
  ],
  [
    "trade is at the best price that rested",
    "update trading.active_orders set price = 48, book_price = 48 where order_id = :resting",
  ],
  // The two makers of an order that takes, the worse one first.
  [
    "trade is at the best price that rested",
    `update trading.trades as t set
       price = x.first_price + x.last_price - t.price,
       maker_order_id = x.first_maker + x.last_maker - t.maker_order_id
     from (
       select f.price as first_price, l.price as last_price,
         f.maker_order_id as first_maker, l.maker_order_id as last_maker
       from trading.trades as f
       join trading.trades as l on l.taker_order_id = f.taker_order_id and l.id > f.id
       where f.taker_order_id = :sweep
     ) as x
     where t.taker_order_id = :sweep`,
  ],
  [
    "orders of one price trade in the order they came",
    "update trading.active_orders set price = 44, book_price = 44 where order_id = :resting",
  ],
  [
    "orders of one price trade in the order they came",
    `update trading.trades set id = -id where maker_order_id = :second_of_two`,
  ],
];
