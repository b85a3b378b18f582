import type { Damage } from "./damage.ts";

/** Ways to part the seals from history and from each other, each with an invariant that must notice. */
export const blocksDamages: Damage[] = [
  ["sealed rows are as they were", "update trading.trades set public_id = core.uuid_v7()"],
  [
    "sealed rows are as they were",
    "update trading.ended_orders set ended_at = ended_at + interval '1 ms' where id = :filled",
  ],
  ["sealed rows are as they were", "update admin.audit_log set operator = 'nobody' where id = 1"],
  [
    "table has no more rows than were sealed",
    "insert into ledger.fee_payouts select max(t.id), 'forged', 1 from trading.trades as t",
  ],
  [
    "block follows the one before",
    "delete from ledger.blocks where number = (select max(number) - 1 from ledger.blocks)",
  ],
  [
    "block follows the one before",
    `update ledger.blocks set previous_hash = sha256('forged')
     where number = (select max(number) from ledger.blocks)`,
  ],
  [
    "block has the hash of what it says",
    `update ledger.blocks set created_at = created_at + interval '1 s'
     where number = (select max(number) from ledger.blocks)`,
  ],
  [
    "block has the hash of what it says",
    `delete from ledger.block_ranges
     where block_number = (select max(number) from ledger.blocks)
       and table_name = 'admin.audit_log'`,
  ],
  [
    "range begins where the one before ended",
    `update ledger.block_ranges set after_id = after_id - 1
     where table_name = 'admin.audit_log' and after_id is not null`,
  ],
  [
    "order that was open is sealed once it has ended",
    "delete from ledger.awaited_orders where order_id = :resting",
  ],
];
