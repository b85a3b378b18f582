/* Accounts, entries and journals; seals, closed days and proofs of balances. */

-- sealed rows are as they were
update trading.trades set public_id = core.uuid_v7();
update trading.ended_orders set ended_at = ended_at + interval '1 ms' where id = :filled;
update admin.audit_log set operator = 'nobody' where id = 1;

-- table has no more rows than were sealed
insert into ledger.fee_payouts select max(t.id), 'forged', 1 from trading.trades as t;

-- block follows the one before
delete from ledger.blocks where number = (select max(number) - 1 from ledger.blocks);
update ledger.blocks set previous_hash = sha256('forged')
  where number = (select max(number) from ledger.blocks);

-- block has the hash of what it says
update ledger.blocks set created_at = created_at + interval '1 s'
  where number = (select max(number) from ledger.blocks);
delete from ledger.block_ranges
  where block_number = (select max(number) from ledger.blocks)
    and table_name = 'admin.audit_log';

-- range begins where the one before ended
update ledger.block_ranges set after_id = after_id - 1
  where table_name = 'admin.audit_log' and after_id is not null;

-- order that was open is sealed once it has ended
delete from ledger.awaited_orders where order_id = :resting;

-- cash movement has the time of its call
update ledger.posted_journals set created_at = created_at - interval '300 days'
  where id = (select max(id) from ledger.posted_journals where kind = 'deposit');
update ledger.posted_journals set created_at = created_at + interval '2 hours'
  where kind = 'withdrawal';
update ledger.posted_journals set created_at = created_at - interval '2 hours' where kind = 'bonus';
update ledger.posted_journals set created_at = created_at - interval '2 hours'
  where kind = 'adjustment';
update ledger.posted_journals set created_at = created_at - interval '2 hours'
  where kind = 'reversal';
update ledger.posted_journals set created_at = created_at - interval '2 hours'
  where kind = 'fee_payout';

-- journal sums to zero
update ledger.posted_entries
  set amount_cents = amount_cents + 1, balance_after_cents = balance_after_cents + 1
  where account_id = :account and account_version = 1;

-- entry belongs to a journal
delete from ledger.posted_journals where id = (select min(journal_id) from ledger.posted_entries);

-- entry belongs to an account
delete from trading.traders where user_id = :ann;
delete from trading.market_state where market_id = :market;
delete from ledger.outside_world;

-- day opening belongs to a user
update ledger.day_openings set user_id = 0 where user_id = :ann;

-- balance equals the sum of entries
update trading.traders set balance_cents = balance_cents + 1 where user_id = :ann;
update trading.market_state set escrow_cents = escrow_cents + 1 where market_id = :market;
update trading.market_state set revenue_cents = revenue_cents + 1 where market_id = :market;
update ledger.outside_world set balance_cents = balance_cents + 1;

-- version equals the number of entries
update trading.traders set account_version = account_version + 1 where user_id = :ann;
update trading.market_state set escrow_version = escrow_version - 1 where market_id = :market;
update trading.market_state set revenue_version = revenue_version + 1 where market_id = :market;
update ledger.outside_world set account_version = account_version + 1;
update ledger.posted_entries set account_version = account_version + 1
  where (account_id, account_version) in
    (select account_id, max(account_version) from ledger.entries group by account_id);

-- versions of an account have no gap
update ledger.posted_entries set account_version = account_version + 1
  where (account_id, account_version) in
    (select account_id, max(account_version) from ledger.entries group by account_id);
update trading.trades set taker_version = taker_version + 1 where taker_order_id = :sweep;
update trading.trades set maker_version = maker_version - 1 where taker_order_id = :taker;
update trading.trades set escrow_version = escrow_version + 1 where taker_order_id = :sweep;
update trading.trades set revenue_version = revenue_version + 1 where taker_order_id = :taker;
/* Two of one number, and none of the next. */
update trading.trades as t set taker_version = x.first_version
  from (
    select min(f.taker_version) as first_version
    from trading.trades as f where f.taker_order_id = :sweep
  ) as x
  where t.taker_order_id = :sweep;

-- entry starts at the balance of the one before
update ledger.posted_entries set
    balance_before_cents = balance_before_cents + 1,
    balance_after_cents = balance_after_cents + 1
  where account_id = :account and account_version > 1;
update trading.trades set taker_balance_cents = taker_balance_cents + 1
  where taker_order_id = :taker;
update trading.trades set maker_balance_cents = maker_balance_cents - 1
  where taker_order_id = :taker;
update trading.trades set escrow_balance_cents = escrow_balance_cents + 1
  where taker_order_id = :taker;
update trading.trades set revenue_balance_cents = revenue_balance_cents + 1
  where taker_order_id = :taker;

-- a leg of 0 cents keeps balance and version
/* Shares that go from one to the other leave the escrow as it was. */
update trading.trades set escrow_balance_cents = escrow_balance_cents + 1
  where taker_order_id = :first_sale;
update trading.trades set escrow_version = escrow_version + 1 where taker_order_id = :first_sale;

-- journals of an account have the order of its versions
update trading.trades set id = -id where taker_order_id = :sweep;
/* As it was some trades before. */
update trading.trades as t set
    escrow_balance_cents = x.escrow_balance_cents, escrow_version = x.escrow_version
  from trading.trades as x
  where t.taker_order_id = :first_sale and x.taker_order_id = :taker;
update ledger.posted_entries set journal_id = -journal_id
  where journal_id in (select journal_id from trading.set_conversions);

-- cash is conserved
update trading.market_state set escrow_cents = escrow_cents + 1 where market_id = :market;

-- cash inside equals what came from outside
update trading.traders set external_cents = external_cents + 1 where user_id = :ann;
update ledger.fee_payouts set amount_cents = amount_cents + 1;

-- external cash equals the sum of the cash movements
update ledger.cash_movements set amount_cents = amount_cents + 1 where user_id = :ann;
update ledger.cash_movements set kind = 'withdrawal' where user_id = :ann;
update ledger.cash_movements set amount_cents = amount_cents + 1 where kind = 'bonus';
update ledger.cash_movements set amount_cents = -amount_cents where kind = 'adjustment';

-- trade moves the cash of its orders
update trading.trades set price = price + 1 where market_id = :market;
update trading.trades set taker_cents = taker_cents + 1, maker_cents = maker_cents - 1
  where taker_order_id = :taker;
update trading.trades set maker_cents = maker_cents + 1 where taker_order_id = :first_sale;

-- journal has the lines of what happened
delete from ledger.posted_entries where account_id = :account and account_version = 1;
update ledger.posted_entries
  set account_id = :escrow, account_version = account_version + 1000
  where account_id = :account and account_version > 1;
update trading.settlements
  set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
  where resolution_id = :correction and user_id = :ann;
update trading.set_conversions set user_id = :ann where user_id = :dan;
update ledger.cash_movements set amount_cents = amount_cents - 1 where kind = 'adjustment';
update ledger.fee_payouts set amount_cents = amount_cents - 1;
/* The escrow pays, or a user. */
update ledger.posted_entries
  set account_id = :escrow, account_version = account_version + 1000
  where account_id % 4 = 2 and journal_id in (select journal_id from ledger.fee_payouts);
update ledger.posted_entries
  set account_id = :account, account_version = account_version + 1000
  where account_id % 4 = 2 and journal_id in (select journal_id from ledger.fee_payouts);
update ledger.posted_entries set account_id = account_id + 4
  where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  ) and account_id % 4 = 3;
update trading.voided_positions set cost_cents = cost_cents + 1 where quantity > 0;

-- journal is of one thing that happened
update ledger.posted_journals set market_id = :resolved where market_id = :market;
update trading.resolutions set journal_id = null where id = :correction;
update trading.trades
  set id = (select min(id) from ledger.posted_journals where kind = 'deposit')
  where taker_order_id = :taker;
/* A bonus is no deposit, nor the other way round. */
update ledger.posted_journals set kind = 'deposit' where kind = 'bonus';
update ledger.cash_movements set kind = 'bonus' where kind = 'deposit' and user_id = :dan;
update ledger.posted_journals set kind = 'withdrawal' where kind = 'adjustment';
delete from ledger.fee_payouts;
insert into ledger.fee_payouts (journal_id, reference, amount_cents)
  select journal_id, journal_id::text, amount_cents from ledger.cash_movements where kind = 'bonus';
update trading.voids set journal_id = null where trade_id is null;

-- only a correction, void or reversal takes an account below zero
update ledger.posted_journals set kind = 'settlement' where kind = 'correction';
update trading.trades set maker_balance_cents = -1 where taker_order_id = :taker;
update trading.trades set escrow_balance_cents = -1 where taker_order_id = :taker;
update ledger.posted_entries
  set balance_after_cents = -1, balance_before_cents = -1 - amount_cents
  where account_id = :escrow;

-- reversal is of a deposit
delete from ledger.cash_movements where kind = 'deposit' and reference = 'not covered';
update ledger.cash_movements set amount_cents = 71 where kind = 'reversal';

-- overdraft is what the balance is below zero
update trading.traders set overdraft_cents = overdraft_cents + 1 where user_id = :ann;
update trading.traders set overdraft_cents = overdraft_cents + 1 where overdraft_cents > 0;

-- user has a row of cash and checks
delete from trading.traders where user_id = :ann;
delete from identity.users where id = :ann;
update trading.traders set public_id = gen_random_uuid() where user_id = :ann;

-- day opening is the account before the first entry of the day
update ledger.day_openings set balance_cents = balance_cents + 1
  where user_id = :ann and balance_cents > 0;
update ledger.day_openings set external_cents = external_cents + 1
  where user_id = :ann and external_cents > 0;
delete from ledger.day_openings where user_id = :ann;
insert into ledger.day_openings
  select user_id, max(day) + 1, 0, 0 from ledger.day_openings
  where user_id = :ann group by user_id;
update ledger.posted_journals set created_at = created_at - interval '1 day' where kind = 'deposit';
update trading.trades set created_at = created_at + interval '1 day' where taker_order_id = :sweep;

-- account moved last on the day of its last entry
update trading.traders set moved_on = moved_on - 1 where user_id = :ann;
update trading.traders set moved_on = moved_on + 1 where user_id = :ann;

-- journal has the time of what happened
update ledger.posted_journals set created_at = created_at + interval '1 s'
  where kind = 'split' and market_id = :market;
update trading.set_conversions set created_at = created_at + interval '1 s';
update trading.resolutions set created_at = created_at + interval '1 s';

-- sequence has given out the ids of its tables
/* Unlike setval(), this is undone with its transaction. */
alter sequence identity.users_id_seq restart with 1;
alter sequence ledger.journal_ids restart with 1;
alter sequence trading.order_ids restart with 2;
alter sequence trading.outbox_id_seq restart with 1;
alter sequence admin.audit_log_id_seq restart with 1;

-- figure of a closed day is that of the ledger
update ledger.closed_figures set amount_cents = amount_cents + 1
  where item = 'closing' and account_kind = 'user_cash';
insert into ledger.closed_figures (closed_day_id, account_kind, item, amount_cents)
  select max(id), 'user_cash', 'bonus', 1 from ledger.closed_days;
delete from ledger.closed_figures where item = 'opening' and account_kind = 'fee_revenue';

-- days are closed one after the other
update ledger.closed_days set day = day + 1 where id = (select max(id) from ledger.closed_days);

-- leaf of the last proof is the cash of its user
update ledger.proof_leaves set balance_cents = balance_cents + 1 where leaf_index = 0;
update ledger.proof_leaves set account_version = 1000000 where user_id = :fay;
update ledger.proof_leaves set balance_cents = 1 where user_id = :fay;
delete from ledger.posted_entries where account_id = ledger.user_account_id(:fay);

-- leaf of the last proof has the last entry of its user
update ledger.balance_proofs set published_at = published_at + interval '1 hour';
  update ledger.proof_leaves set account_version = account_version - 1 where user_id = :fay;

-- user of the last proof has a leaf
update ledger.balance_proofs set published_at = published_at + interval '1 hour';
  update ledger.proof_leaves set public_id = gen_random_uuid() where user_id = :fay;
update ledger.balance_proofs set published_at = published_at + interval '1 hour';
  delete from ledger.proof_leaves where user_id = :fay;

-- node of the last proof is made of what is below
update ledger.proof_leaves set salt = sha256(salt) where user_id = :fay;
update ledger.proof_leaves set public_id = gen_random_uuid() where user_id = :fay;
update ledger.proof_leaves set leaf_index = 1000 where user_id = :fay;
delete from ledger.proof_leaves where user_id = :fay;
update ledger.proof_nodes set sum_cents = sum_cents + 1 where level = 1 and position = 0;
delete from ledger.proof_nodes where level = 1 and position = 1;
insert into ledger.proof_nodes (level, position, sum_cents, hash)
  select max(level) + 1, 0, 0, sha256('') from ledger.proof_nodes;

-- last proof is that of its leaves and of the ledger
update ledger.balance_proofs set root = sha256(root);
update ledger.balance_proofs set total_cents = total_cents + 1, escrow_cents = escrow_cents - 1;
update ledger.balance_proofs
  set receivable_cents = receivable_cents + 1, escrow_cents = escrow_cents + 1;
update ledger.balance_proofs set outside_cents = outside_cents - 1, escrow_cents = escrow_cents + 1;
update ledger.balance_proofs set outside_version = outside_version - 1;
update ledger.balance_proofs set leaf_count = leaf_count + 1;
delete from ledger.balance_proofs;
