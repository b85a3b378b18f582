import type { Damage } from "./damage.ts";

/** Ways to break accounts, entries and journals, each with an invariant that must notice. */
export const cashDamages: Damage[] = [
  [
    "cash movement has the time of its call",
    `update ledger.posted_journals set created_at = created_at - interval '300 days'
     where id = (select max(id) from ledger.posted_journals where kind = 'deposit')`,
  ],
  [
    "cash movement has the time of its call",
    `update ledger.posted_journals set created_at = created_at + interval '2 hours'
     where kind = 'withdrawal'`,
  ],
  ...["bonus", "adjustment", "reversal", "fee_payout"].map((kind): Damage => [
    "cash movement has the time of its call",
    `update ledger.posted_journals set created_at = created_at - interval '2 hours'
     where kind = '${kind}'`,
  ]),
  [
    "journal sums to zero",
    `update ledger.posted_entries
     set amount_cents = amount_cents + 1, balance_after_cents = balance_after_cents + 1
     where account_id = :account and account_version = 1`,
  ],
  [
    "entry belongs to a journal",
    `delete from ledger.posted_journals
     where id = (select min(journal_id) from ledger.posted_entries)`,
  ],
  ["entry belongs to an account", "delete from trading.traders where user_id = :ann"],
  ["entry belongs to an account", "delete from trading.market_state where market_id = :market"],
  ["entry belongs to an account", "delete from ledger.outside_world"],
  [
    "day opening belongs to a user",
    "update ledger.day_openings set user_id = 0 where user_id = :ann",
  ],
  [
    "balance equals the sum of entries",
    "update trading.traders set balance_cents = balance_cents + 1 where user_id = :ann",
  ],
  [
    "balance equals the sum of entries",
    "update trading.market_state set escrow_cents = escrow_cents + 1 where market_id = :market",
  ],
  [
    "balance equals the sum of entries",
    "update trading.market_state set revenue_cents = revenue_cents + 1 where market_id = :market",
  ],
  [
    "balance equals the sum of entries",
    "update ledger.outside_world set balance_cents = balance_cents + 1",
  ],
  [
    "version equals the number of entries",
    "update trading.traders set account_version = account_version + 1 where user_id = :ann",
  ],
  [
    "version equals the number of entries",
    "update trading.market_state set escrow_version = escrow_version - 1 where market_id = :market",
  ],
  [
    "version equals the number of entries",
    "update trading.market_state set revenue_version = revenue_version + 1 where market_id = :market",
  ],
  [
    "version equals the number of entries",
    "update ledger.outside_world set account_version = account_version + 1",
  ],
  [
    "version equals the number of entries",
    `update ledger.posted_entries set account_version = account_version + 1
     where (account_id, account_version) in
       (select account_id, max(account_version) from ledger.entries group by account_id)`,
  ],
  [
    "versions of an account have no gap",
    `update ledger.posted_entries set account_version = account_version + 1
     where (account_id, account_version) in
       (select account_id, max(account_version) from ledger.entries group by account_id)`,
  ],
  [
    "versions of an account have no gap",
    "update trading.trades set taker_version = taker_version + 1 where taker_order_id = :sweep",
  ],
  [
    "versions of an account have no gap",
    "update trading.trades set maker_version = maker_version - 1 where taker_order_id = :taker",
  ],
  [
    "versions of an account have no gap",
    "update trading.trades set escrow_version = escrow_version + 1 where taker_order_id = :sweep",
  ],
  [
    "versions of an account have no gap",
    "update trading.trades set revenue_version = revenue_version + 1 where taker_order_id = :taker",
  ],
  // Two of one number, and none of the next.
  [
    "versions of an account have no gap",
    `update trading.trades as t set taker_version = x.first_version
     from (
       select min(f.taker_version) as first_version
       from trading.trades as f where f.taker_order_id = :sweep
     ) as x
     where t.taker_order_id = :sweep`,
  ],
  [
    "entry starts at the balance of the one before",
    `update ledger.posted_entries set
       balance_before_cents = balance_before_cents + 1,
       balance_after_cents = balance_after_cents + 1
     where account_id = :account and account_version > 1`,
  ],
  [
    "entry starts at the balance of the one before",
    `update trading.trades set taker_balance_cents = taker_balance_cents + 1
     where taker_order_id = :taker`,
  ],
  [
    "entry starts at the balance of the one before",
    `update trading.trades set maker_balance_cents = maker_balance_cents - 1
     where taker_order_id = :taker`,
  ],
  [
    "entry starts at the balance of the one before",
    `update trading.trades set escrow_balance_cents = escrow_balance_cents + 1
     where taker_order_id = :taker`,
  ],
  [
    "entry starts at the balance of the one before",
    `update trading.trades set revenue_balance_cents = revenue_balance_cents + 1
     where taker_order_id = :taker`,
  ],
  // Shares that go from one to the other leave the escrow as it was.
  [
    "a leg of 0 cents keeps balance and version",
    `update trading.trades set escrow_balance_cents = escrow_balance_cents + 1
     where taker_order_id = :first_sale`,
  ],
  [
    "a leg of 0 cents keeps balance and version",
    `update trading.trades set escrow_version = escrow_version + 1
     where taker_order_id = :first_sale`,
  ],
  [
    "journals of an account have the order of its versions",
    "update trading.trades set id = -id where taker_order_id = :sweep",
  ],
  // As it was some trades before.
  [
    "journals of an account have the order of its versions",
    `update trading.trades as t set
       escrow_balance_cents = x.escrow_balance_cents, escrow_version = x.escrow_version
     from trading.trades as x
     where t.taker_order_id = :first_sale and x.taker_order_id = :taker`,
  ],
  [
    "journals of an account have the order of its versions",
    `update ledger.posted_entries set journal_id = -journal_id
     where journal_id in (select journal_id from trading.set_conversions)`,
  ],
  [
    "cash is conserved",
    "update trading.market_state set escrow_cents = escrow_cents + 1 where market_id = :market",
  ],
  [
    "cash inside equals what came from outside",
    "update trading.traders set external_cents = external_cents + 1 where user_id = :ann",
  ],
  [
    "external cash equals the sum of the cash movements",
    "update ledger.cash_movements set amount_cents = amount_cents + 1 where user_id = :ann",
  ],
  [
    "external cash equals the sum of the cash movements",
    "update ledger.cash_movements set kind = 'withdrawal' where user_id = :ann",
  ],
  [
    "external cash equals the sum of the cash movements",
    "update ledger.cash_movements set amount_cents = amount_cents + 1 where kind = 'bonus'",
  ],
  [
    "external cash equals the sum of the cash movements",
    "update ledger.cash_movements set amount_cents = -amount_cents where kind = 'adjustment'",
  ],
  [
    "cash inside equals what came from outside",
    "update ledger.fee_payouts set amount_cents = amount_cents + 1",
  ],
  [
    "trade moves the cash of its orders",
    "update trading.trades set price = price + 1 where market_id = :market",
  ],
  [
    "trade moves the cash of its orders",
    `update trading.trades set taker_cents = taker_cents + 1, maker_cents = maker_cents - 1
     where taker_order_id = :taker`,
  ],
  [
    "trade moves the cash of its orders",
    "update trading.trades set maker_cents = maker_cents + 1 where taker_order_id = :first_sale",
  ],
  [
    "journal has the lines of what happened",
    "delete from ledger.posted_entries where account_id = :account and account_version = 1",
  ],
  [
    "journal has the lines of what happened",
    `update ledger.posted_entries
     set account_id = :escrow, account_version = account_version + 1000
     where account_id = :account and account_version > 1`,
  ],
  [
    "journal has the lines of what happened",
    `update trading.settlements
     set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
     where resolution_id = :correction and user_id = :ann`,
  ],
  [
    "journal has the lines of what happened",
    "update trading.set_conversions set user_id = :ann where user_id = :dan",
  ],
  [
    "journal is of one thing that happened",
    "update ledger.posted_journals set market_id = :resolved where market_id = :market",
  ],
  [
    "journal is of one thing that happened",
    "update trading.resolutions set journal_id = null where id = :correction",
  ],
  [
    "journal is of one thing that happened",
    `update trading.trades
     set id = (select min(id) from ledger.posted_journals where kind = 'deposit')
     where taker_order_id = :taker`,
  ],
  // A bonus is no deposit, nor the other way round.
  [
    "journal is of one thing that happened",
    "update ledger.posted_journals set kind = 'deposit' where kind = 'bonus'",
  ],
  [
    "journal is of one thing that happened",
    `update ledger.cash_movements set kind = 'bonus'
     where kind = 'deposit' and user_id = :dan`,
  ],
  [
    "journal is of one thing that happened",
    "update ledger.posted_journals set kind = 'withdrawal' where kind = 'adjustment'",
  ],
  ["journal is of one thing that happened", "delete from ledger.fee_payouts"],
  [
    "journal is of one thing that happened",
    `insert into ledger.fee_payouts (journal_id, reference, amount_cents)
     select journal_id, journal_id::text, amount_cents from ledger.cash_movements where kind = 'bonus'`,
  ],
  [
    "journal has the lines of what happened",
    "update ledger.cash_movements set amount_cents = amount_cents - 1 where kind = 'adjustment'",
  ],
  [
    "journal has the lines of what happened",
    "update ledger.fee_payouts set amount_cents = amount_cents - 1",
  ],
  // The escrow pays, or a user.
  ...[":escrow", ":account"].map((account): Damage => [
    "journal has the lines of what happened",
    `update ledger.posted_entries
     set account_id = ${account}, account_version = account_version + 1000
     where account_id % 4 = 2 and journal_id in (select journal_id from ledger.fee_payouts)`,
  ]),
  [
    "only a correction, void or reversal takes an account below zero",
    "update ledger.posted_journals set kind = 'settlement' where kind = 'correction'",
  ],
  [
    "only a correction, void or reversal takes an account below zero",
    "update trading.trades set maker_balance_cents = -1 where taker_order_id = :taker",
  ],
  [
    "only a correction, void or reversal takes an account below zero",
    "update trading.trades set escrow_balance_cents = -1 where taker_order_id = :taker",
  ],
  [
    "only a correction, void or reversal takes an account below zero",
    `update ledger.posted_entries
     set balance_after_cents = -1, balance_before_cents = -1 - amount_cents
     where account_id = :escrow`,
  ],
  [
    "reversal is of a deposit",
    "delete from ledger.cash_movements where kind = 'deposit' and reference = 'not covered'",
  ],
  [
    "reversal is of a deposit",
    "update ledger.cash_movements set amount_cents = 71 where kind = 'reversal'",
  ],
  [
    "overdraft is what the balance is below zero",
    "update trading.traders set overdraft_cents = overdraft_cents + 1 where user_id = :ann",
  ],
  [
    "overdraft is what the balance is below zero",
    "update trading.traders set overdraft_cents = overdraft_cents + 1 where overdraft_cents > 0",
  ],
  ["user has a row of cash and checks", "delete from trading.traders where user_id = :ann"],
  ["user has a row of cash and checks", "delete from identity.users where id = :ann"],
  [
    "user has a row of cash and checks",
    "update trading.traders set public_id = gen_random_uuid() where user_id = :ann",
  ],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.day_openings set balance_cents = balance_cents + 1
     where user_id = :ann and balance_cents > 0`,
  ],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.day_openings set external_cents = external_cents + 1
     where user_id = :ann and external_cents > 0`,
  ],
  [
    "day opening is the account before the first entry of the day",
    "delete from ledger.day_openings where user_id = :ann",
  ],
  [
    "day opening is the account before the first entry of the day",
    `insert into ledger.day_openings
     select user_id, max(day) + 1, 0, 0 from ledger.day_openings
     where user_id = :ann group by user_id`,
  ],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.posted_journals set created_at = created_at - interval '1 day'
     where kind = 'deposit'`,
  ],
  [
    "day opening is the account before the first entry of the day",
    `update trading.trades set created_at = created_at + interval '1 day'
     where taker_order_id = :sweep`,
  ],
  [
    "account moved last on the day of its last entry",
    "update trading.traders set moved_on = moved_on - 1 where user_id = :ann",
  ],
  [
    "account moved last on the day of its last entry",
    "update trading.traders set moved_on = moved_on + 1 where user_id = :ann",
  ],
  [
    "journal has the time of what happened",
    `update ledger.posted_journals set created_at = created_at + interval '1 s'
     where kind = 'split' and market_id = :market`,
  ],
  [
    "journal has the time of what happened",
    "update trading.set_conversions set created_at = created_at + interval '1 s'",
  ],
  [
    "journal has the time of what happened",
    "update trading.resolutions set created_at = created_at + interval '1 s'",
  ],
  // Unlike setval(), this is undone with its transaction.
  ...[
    "identity.users_id_seq restart with 1",
    "ledger.journal_ids restart with 1",
    "trading.order_ids restart with 2",
    "trading.outbox_id_seq restart with 1",
    "admin.audit_log_id_seq restart with 1",
  ].map((change): Damage => [
    "sequence has given out the ids of its tables",
    `alter sequence ${change}`,
  ]),
];
