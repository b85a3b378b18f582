import type { Damage } from "./damage.ts";

/** Ways to break keys and their replies, and switches, each with an invariant that must notice. */
export const commandsDamages: Damage[] = [
  [
    "idempotency key belongs to a user",
    "update trading.idempotency_keys set user_id = 0 where reply is not null",
  ],
  ...['{"order"', '{"results"'].map((start): Damage => [
    "reply is about orders of its user",
    `update trading.idempotency_keys set user_id = :dan where reply like '${start}%'`,
  ]),
  [
    "reply is about orders of its user",
    `update trading.idempotency_keys set reply = replace(reply, '"id":"', '"id":"no JSON {')`,
  ],
  [
    "order that a reply calls cancelled is cancelled",
    `update trading.ended_orders set status = 'filled', cancel_reason = null, filled_quantity = quantity
     where id = :cancelled_once`,
  ],
  ...['"quantity":3', '"marketId":"'].map((text): Damage => [
    "reply of a split or merge has its conversion",
    `update trading.idempotency_keys set reply = replace(reply, '${text}', '${text}4')
     where reply like '{"marketId"%'`,
  ]),
  [
    "reply of a split or merge has its conversion",
    "delete from trading.set_conversions where id = (select max(id) from trading.set_conversions)",
  ],
  [
    "loss limits are those of the last change",
    "update trading.traders set day_limit_cents = 1 where user_id = :ann",
  ],
  [
    "loss limits are those of the last change",
    "delete from risk.limit_changes where user_id = :ann",
  ],
  ["dead man's switch belongs to a user", "update trading.dead_man_switches set user_id = 0"],
  ...[":resting", "123456789"].map((order): Damage => [
    "switch that fires goes up to an order of its user",
    `update trading.dead_man_switches set last_order_id = ${order}`,
  ]),
  ...["null", "last_fired_at + interval '1 s'"].map((time): Damage => [
    "switch that fires says when",
    `update trading.dead_man_switches set last_fired_at = ${time}`,
  ]),
];

/** Ways to break the events that user streams continue from. */
export const eventsDamages: Damage[] = [
  [
    "event follows the one before",
    "delete from trading.sent_events where id = (select max(id) - 1 from trading.sent_events)",
  ],
  [
    "event follows the one before",
    `update trading.sent_events set position = position - 1
     where id = (select max(id) from trading.sent_events where trade_ids is not null)`,
  ],
  [
    "last event is that of the relay",
    "delete from trading.sent_events where id = (select max(id) from trading.sent_events)",
  ],
  ["last event is that of the relay", "update trading.outbox_relay set last_position = 1"],
  ["last event is that of the relay", "delete from trading.outbox_relay"],
  [
    "event is of trades of its time",
    `update trading.sent_events set traded_at = traded_at + interval '1 ms'
     where trade_ids is not null`,
  ],
  [
    "event is of trades of its time",
    "update trading.sent_events set trade_ids = '{0}' where trade_ids is not null",
  ],
  [
    "trade is announced once",
    `update trading.sent_events set trade_ids = null, traded_at = null
     where id = (select max(id) from trading.sent_events where trade_ids is not null)`,
  ],
  [
    "trade is announced once",
    "update trading.sent_events set trade_ids = trade_ids || trade_ids where trade_ids is not null",
  ],
  [
    "event of a user is of that user",
    "update trading.sent_events set user_id = :dan where user_id = :ann",
  ],
  [
    "event says why its order was cancelled",
    `update trading.sent_events
     set payload = replace(payload::text, '"expired"', '"user_cancelled"')::json
     where payload::text like '%"expired"%'`,
  ],
  [
    "event says why its order was cancelled",
    "delete from trading.ended_orders where id = :expired",
  ],
];
