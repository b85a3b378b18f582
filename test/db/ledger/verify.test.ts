import { randomUUID } from "node:crypto";
import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange.ts";
import { buy, sell } from "../../helpers/orders.ts";

/** ledger.verify() finds every kind of damage: each is done to a sound database, then undone. */

const exchange = testExchange(test);

interface Rows {
  market: number;
  ann: number;
  /** Ann's cash account, the market's escrow. */
  account: number;
  escrow: number;
  resting: number;
  filled: number;
  /** A market that is resolved, and its second resolution, which corrects the first. */
  resolved: number;
  correction: number;
}

let rows: Rows;

test.before("trade a little", async () => {
  const { makeMarket, makeTraders, place, rest } = exchange;
  const market = await makeMarket();
  const [ann, bob] = (await makeTraders(2)) as [string, string];
  const [filled] = (await rest(market, ann, buy("no", 10, 40))) as [string];
  await place(market, bob, buy("yes", 12, 60));
  const [resting] = (await rest(market, ann, buy("no", 10, 30))) as [string];
  await exchange.cancel(ann, (await rest(market, ann, buy("no", 10, 20)))[0]!);
  await exchange.cancel(ann, (await rest(market, ann, buy("no", 10, 10)))[0]!);
  await exchange.clock.advance(30 * 86_400_000);
  await exchange.work("archive_orders");
  await exchange.cancel(ann, (await rest(market, ann, buy("no", 10, 20)))[0]!);

  const resolved = await makeMarket();
  await rest(resolved, ann, buy("yes", 20, 55, { idempotencyKey: randomUUID() }));
  await place(resolved, bob, buy("no", 10, 45));
  await rest(resolved, ann, buy("no", 4, 35));
  await place(resolved, bob, sell("no", 4, 35));
  await exchange.operate("resolve_market", { market_id: resolved, outcome: "yes" });
  await exchange.operate("correct_resolution", {
    market_id: resolved,
    outcome: "custom",
    yes_payout_cents: 20,
    reason: "a mistake",
  });
  const { rows: found } = await exchange.database.pool.query(
    `select
       b.market_id as market, u.id as ann, a.id as account, b.escrow_account_id as escrow,
       (select id from trading.orders where public_id = $3) as resting,
       (select id from trading.orders where public_id = $4) as filled,
       (select id from catalog.markets where public_id = $5) as resolved,
       (select max(id) from trading.resolutions) as correction
     from trading.books as b, identity.users as u, ledger.accounts as a
     where b.market_id = (select id from catalog.markets where public_id = $1)
       and u.public_id = $2 and a.user_id = u.id`,
    [market, ann, resting, filled, resolved],
  );
  rows = found[0];
});

/** What a change makes verify() say, with triggers and foreign keys out of the way. */
async function foundAfter(damage: string): Promise<string[]> {
  return exchange.withRollback(async (client: PoolClient) => {
    await client.query("set local session_replication_role = replica");
    const text = damage.replace(/:(\w+)/g, (_, name: keyof Rows) => String(rows[name]));
    const { rowCount } = await client.query(text);
    if (rowCount === 0) throw new Error(`nothing was damaged: ${text}`);
    const { rows: found } = await client.query("select distinct name from ledger.verify()");
    return found.map((row) => row.name).sort();
  });
}

const damages: [invariant: string, damage: string][] = [
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
    "escrow is 100 x shares of each side",
    `update trading.positions set quantity = quantity + 1
     where market_id = :market and user_id = :ann and side = 'no'`,
  ],
  [
    "position equals what was traded, split and merged",
    `update trading.positions set quantity = quantity - 1
     where market_id = :market and user_id = :ann and side = 'no'`,
  ],
  [
    "position equals what was traded, split and merged",
    "delete from trading.positions where market_id = :market and user_id = :ann",
  ],
  [
    "realised cash is the sum of sales, merges and the settlement",
    `update trading.positions set realised_cents = realised_cents + 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "realised cash is the sum of sales, merges and the settlement",
    `update trading.trades set taker_realised_cents = taker_realised_cents + 1
     where taker_realised_cents is not null`,
  ],
  [
    "cost and fees are what was paid less what was taken out",
    `update trading.positions set cost_cents = cost_cents + 1
     where market_id = :market and user_id = :ann and side = 'no'`,
  ],
  [
    "cost and fees are what was paid less what was taken out",
    `update trading.positions set cost_cents = cost_cents - 1, fee_cents = fee_cents + 1
     where market_id = :market and user_id = :ann and side = 'no'`,
  ],
  [
    "settlement repeats its position",
    "update trading.settlements set quantity = quantity + 1 where resolution_id = :correction",
  ],
  [
    "settlement repeats its position",
    `update trading.settlements set cost_cents = cost_cents + 1, fee_cents = 0,
       realised_cents = realised_cents - 1 + fee_cents
     where resolution_id = :correction`,
  ],
  [
    "settlement repeats its position",
    "delete from trading.settlements where resolution_id = :correction and user_id = :ann",
  ],
  [
    "settlement repeats its position",
    "update trading.settlements set resolution_id = 0 where resolution_id = :correction",
  ],
  [
    "settlement pays what the outcome says",
    `update trading.settlements
     set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
     where resolution_id = :correction and user_id = :ann`,
  ],
  [
    "settlement pays what the outcome says",
    "update trading.resolutions set yes_payout_cents = 21 where id = :correction",
  ],
  [
    "resolution equals its settlements",
    "update trading.resolutions set payout_cents = payout_cents + 1 where id = :correction",
  ],
  [
    "resolution equals its settlements",
    "update trading.resolutions set position_count = 1 where id = :correction",
  ],
  [
    "resolution corrects the one before",
    "update trading.resolutions set corrects_resolution_id = id where id = :correction",
  ],
  [
    "resolution corrects the one before",
    `delete from trading.resolutions where market_id = :resolved and reason is null`,
  ],
  [
    "market is resolved as its last resolution says",
    "update catalog.markets set yes_payout_cents = 21 where id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    "update catalog.markets set resolved_at = resolved_at + interval '1 s' where id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    "delete from trading.resolutions where market_id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    `update catalog.markets set resolved_outcome = 'no', yes_payout_cents = 0,
       resolved_at = now(), status = 'resolved'
     where id = :market`,
  ],
  [
    "escrow is 100 x shares of each side",
    `update catalog.markets set status = 'closed', resolved_outcome = null,
       yes_payout_cents = null, resolved_at = null
     where id = :resolved`,
  ],
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
    "update trading.idempotency_keys set order_id = 0",
  ],
  [
    "idempotency key stands for an order of its user",
    "update trading.idempotency_keys set user_id = 0",
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
    `update ledger.entries set account_id = :escrow
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
    "last trade price is that of the last trade",
    "update trading.books set last_trade_price = null where market_id = :market",
  ],
  [
    "filled quantity equals the trades",
    "update trading.orders set filled_quantity = 3, status = 'partially_filled' where id = :resting",
  ],
  [
    "order fee equals the fees of its trades",
    "update trading.orders set fee_cents = fee_cents + 1 where id = :resting",
  ],
  ["fill belongs to an order", "delete from trading.orders where id = :filled"],
  ["order has its user and market", "update trading.orders set user_id = 0 where id = :resting"],
  ["order has its user and market", "update trading.orders set market_id = 0 where id = :resting"],
  ["archived order has its user and market", "update trading.archived_orders set user_id = 0"],
  ["archived order has its user and market", "update trading.archived_orders set market_id = 0"],
  [
    "archived order is nowhere else",
    "insert into trading.orders select a.* from trading.archived_orders as a",
  ],
  [
    "archived order is nowhere else",
    `update trading.orders as o set public_id = a.public_id
     from trading.archived_orders as a where o.id = :resting`,
  ],
  [
    "archived order is nowhere else",
    `update trading.open_orders as b set order_id = a.id
     from trading.archived_orders as a where b.order_id = :resting`,
  ],
  [
    "journal is of one thing that happened",
    `update trading.trades set journal_id =
       (select min(id) from ledger.journals where kind = 'deposit')`,
  ],
  [
    "order is open while its status says so",
    "delete from trading.open_orders where order_id = :resting",
  ],
  [
    "order is open while its status says so",
    `update trading.orders set status = 'cancelled', cancel_reason = 'expired', cancelled_at = now()
     where id = :resting`,
  ],
  [
    "order is open while its status says so",
    `update trading.open_orders set queue_position = null, release_at = now()
     where order_id = :resting`,
  ],
  [
    "order is open while its status says so",
    "update trading.orders set status = 'scheduled', release_at = now() where id = :resting",
  ],
  ["order is open while its status says so", "delete from trading.orders where id = :resting"],
  [
    "open order repeats its order",
    "update trading.open_orders set book_price = book_price + 1 where order_id = :resting",
  ],
  [
    "open order repeats its order",
    "update trading.open_orders set book_side = 'yes' where order_id = :resting",
  ],
  [
    "open order repeats its order",
    "update trading.open_orders set expires_at = now() where order_id = :resting",
  ],
  [
    "open order repeats its order",
    "update trading.open_orders set user_id = 0 where order_id = :resting",
  ],
  [
    "depth equals the resting orders",
    "update trading.book_levels set quantity = quantity + 1 where quantity > 0",
  ],
  [
    "depth equals the resting orders",
    "update trading.book_levels set order_count = order_count + 1 where order_count > 0",
  ],
  [
    "depth equals the resting orders",
    `update trading.book_levels set quantity = 1, order_count = 1
     where market_id = :market and book_side = 'no' and book_price = 7`,
  ],
  [
    "book is not crossed",
    "update trading.open_orders set book_price = 40 where order_id = :resting",
  ],
  [
    "market figures equal its trades",
    "update trading.books set trade_count = trade_count + 1 where market_id = :market",
  ],
  [
    "market figures equal its trades",
    "update trading.books set yes_volume_cents = yes_volume_cents + 1 where market_id = :market",
  ],
  [
    "market figures equal its trades",
    "update trading.books set no_volume_cents = no_volume_cents - 1 where market_id = :market",
  ],
  [
    "no order stands before the front of its book",
    "update trading.books set front_yes_price = 0, front_no_price = 0",
  ],
  [
    "traders count equals who traded",
    "update trading.books set traders_count = traders_count + 1 where market_id = :market",
  ],
  [
    "fee revenue equals the fees of the trades",
    "update trading.trades set fee_cents = fee_cents + 1 where market_id = :market",
  ],
];

for (const [invariant, damage] of damages) {
  test(`${invariant}: broken by ${damage.replace(/\s+/g, " ").slice(0, 70)}...`, async (t) => {
    t.true((await foundAfter(damage)).includes(invariant));
  });
}

test("balance is not below zero: broken once the table would let it be", async (t) => {
  const found = await exchange.withRollback(async (client) => {
    await client.query(
      `alter table ledger.accounts
       drop constraint accounts_stay_above_zero_but_for_the_outside_and_corrections`,
    );
    await client.query("update ledger.accounts set balance_cents = -1 where id = $1", [
      rows.account,
    ]);
    const { rows: broken } = await client.query(
      "select expected, found from ledger.verify() where name = 'balance is not below zero'",
    );
    return broken;
  });
  t.deepEqual(found, [{ expected: ">= 0", found: "-1" }]);
});

test("every invariant that verify() knows is broken here at least once", async (t) => {
  const { rows: source } = await exchange.database.pool.query(
    "select prosrc from pg_proc where oid = 'ledger.verify()'::regprocedure",
  );
  const known = [...source[0].prosrc.matchAll(/^ {2}select '((?:[^']|'')+)',/gm)].map(([, name]) =>
    name.replaceAll("''", "'"),
  );
  t.true(known.length >= 24);
  const broken = [...damages.map(([name]) => name), "balance is not below zero"];
  t.deepEqual([...new Set(broken)].sort(), known.sort());
});

test("a row tells the name of the invariant, the object, what was expected and what was found", async (t) => {
  const found = await exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    await client.query("update trading.books set traders_count = 9 where market_id = $1", [
      rows.market,
    ]);
    return (await client.query("select * from ledger.verify()")).rows;
  });
  t.deepEqual(found, [
    {
      name: "traders count equals who traded",
      object: `market ${rows.market}`,
      expected: "2",
      found: "9",
    },
  ]);
});
