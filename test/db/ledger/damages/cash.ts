import type { Damage } from "./damage.ts";

/** Ways to break accounts, entries and journals, each with an invariant that must notice. */
export const cashDamages: Damage[] = [
  [
    "journal sums to zero",
    `update ledger.entries
     set amount_cents = amount_cents + 1, balance_after_cents = balance_after_cents + 1
     where account_id = :account and account_version = 1`,
  ],
  [
    "entry belongs to a journal",
    "delete from ledger.journals where id = (select min(journal_id) from ledger.entries)",
  ],
  ["entry belongs to an account", "delete from ledger.accounts where id = :account"],
  [
    "day opening belongs to a user's account",
    "update ledger.day_openings set account_id = :escrow where account_id = :account",
  ],
  [
    "balance equals the sum of entries",
    "update ledger.accounts set balance_cents = balance_cents + 1 where id = :account",
  ],
  [
    "version equals the number of entries",
    "update ledger.accounts set version = version + 1 where id = :account",
  ],
  [
    "version equals the number of entries",
    `update ledger.entries set account_version = account_version + 1
     where (account_id, account_version) in
       (select account_id, max(account_version) from ledger.entries group by account_id)`,
  ],
  [
    "entry starts at the balance of the one before",
    `update ledger.entries set
       balance_before_cents = balance_before_cents + 1,
       balance_after_cents = balance_after_cents + 1
     where account_id = :account and account_version = 2`,
  ],
  [
    "cash is conserved",
    "update ledger.accounts set balance_cents = balance_cents + 1 where id = :escrow",
  ],
  [
    "cash inside equals what came from outside",
    "update ledger.accounts set external_cents = external_cents + 1 where id = :account",
  ],
  [
    "external cash equals the deposits less the withdrawals",
    "update ledger.cash_movements set amount_cents = amount_cents + 1 where account_id = :account",
  ],
  [
    "external cash equals the deposits less the withdrawals",
    "update ledger.cash_movements set kind = 'withdrawal' where account_id = :account",
  ],
  [
    "journal has the lines of what happened",
    "update trading.trades set price = price + 1 where market_id = :market",
  ],
  [
    "journal has the lines of what happened",
    "delete from ledger.entries where account_id = :account and account_version = 1",
  ],
  [
    "journal has the lines of what happened",
    `update ledger.entries set account_id = :escrow, account_version = account_version + 1000
     where account_id = :account and account_version > 1`,
  ],
  [
    "journal has the lines of what happened",
    `update trading.settlements
     set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
     where resolution_id = :correction and user_id = :ann`,
  ],
  [
    "journal is of one thing that happened",
    "update ledger.journals set market_id = :resolved where market_id = :market",
  ],
  [
    "journal is of one thing that happened",
    "update trading.resolutions set journal_id = null where id = :correction",
  ],
  [
    "journal is of one thing that happened",
    `update trading.trades set journal_id =
       (select min(id) from ledger.journals where kind = 'deposit')`,
  ],
  [
    "only a correction takes an account below zero",
    "update ledger.journals set kind = 'settlement' where kind = 'correction'",
  ],
  [
    "only a correction takes an account below zero",
    `update ledger.entries
     set balance_after_cents = -1, balance_before_cents = -1 - amount_cents
     where account_id = :account and account_version = 2`,
  ],
  [
    "only a correction takes an account below zero",
    `update ledger.entries
     set balance_after_cents = -1, balance_before_cents = -1 - amount_cents
     where account_id = :escrow and account_version = 1`,
  ],
  [
    "overdraft is what the balance is below zero",
    "update ledger.accounts set overdraft_cents = overdraft_cents + 1 where id = :account",
  ],
  [
    "overdraft is what the balance is below zero",
    "update ledger.accounts set overdraft_cents = overdraft_cents + 1 where overdraft_cents > 0",
  ],
  ["user has a cash account and a row of gates", "delete from trading.traders where user_id = :ann"],
  ["user has a cash account and a row of gates", "delete from ledger.accounts where id = :account"],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.day_openings set balance_cents = balance_cents + 1
     where account_id = :account and balance_cents > 0`,
  ],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.day_openings set external_cents = external_cents + 1
     where account_id = :account and external_cents > 0`,
  ],
  [
    "day opening is the account before the first entry of the day",
    "delete from ledger.day_openings where account_id = :account",
  ],
  [
    "day opening is the account before the first entry of the day",
    `insert into ledger.day_openings
     select account_id, day + 1, balance_cents, external_cents from ledger.day_openings
     where account_id = :account`,
  ],
  [
    "day opening is the account before the first entry of the day",
    `update ledger.journals set created_at = created_at - interval '1 day'
     where kind = 'deposit'`,
  ],
  [
    "account moved last on the day of its last entry",
    "update ledger.accounts set moved_on = moved_on - 1 where id = :account",
  ],
  [
    "account moved last on the day of its last entry",
    "update ledger.accounts set moved_on = moved_on + 1 where id = :account",
  ],
  [
    "journal has the time of what happened",
    `update ledger.journals set created_at = created_at + interval '1 s'
     where kind = 'trade' and market_id = :market`,
  ],
  [
    "journal has the time of what happened",
    "update trading.set_conversions set created_at = created_at + interval '1 s'",
  ],
  [
    "journal has the time of what happened",
    "update trading.resolutions set created_at = created_at + interval '1 s'",
  ],
];
