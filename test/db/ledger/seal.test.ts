import test from "ava";
import type { PoolClient } from "pg";
import {
  computeBlocks,
  endReducedOrder,
  readBlocks,
  sealAll,
  verifySeals,
} from "../../helpers/exchange/sealed_history.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { createDatabase, withClient } from "../../helpers/database/test_database.ts";
import { rowsHandled } from "../../helpers/database/plans.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { tradeALittle } from "./damages/history.ts";
import type { Named } from "./damages/history.ts";
import { operateALittle } from "./damages/operations.ts";

/** ledger.seal() makes a chain of blocks of history, and ledger.verify() finds what was changed. */

const exchange = testExchange(test);
const pool = () => exchange.database.pool;
const query = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await pool().query(text, values)).rows;

const tableNames = async (): Promise<string[]> =>
  (await query("select table_name as name from ledger.sealed_tables order by 1")).map(
    ({ name }) => name,
  );

let rows: Named;

test.before("trade a little, and seal", async (t) => {
  rows = { ...(await tradeALittle(exchange)), ...(await operateALittle(exchange)) };
  await endReducedOrder(exchange);
  const unsealed = await query("select * from ledger.unsealed_rows() order by 1");
  t.deepEqual(
    unsealed.map(({ table_name }) => table_name),
    await tableNames(),
    "there is history of each kind",
  );
  const count = unsealed.reduce((sum: number, row) => sum + Number(row.row_count), 0);
  t.is(await sealAll(pool(), 7), count, "each row once");
  t.true((await readBlocks(pool())).length > 10);
});

test.serial("everything final is sealed, and verified", async (t) => {
  t.deepEqual(await query("select * from ledger.unsealed_rows()"), []);
  t.is(await sealAll(pool()), 0);
  t.deepEqual(await verifySeals(pool()), []);
});

test.serial("the hashes are those of the documented texts, each with the one before", async (t) => {
  const computed = await withClient(pool(), computeBlocks);
  t.deepEqual(await readBlocks(pool()), computed);
  for (const [index, { number, previousHash }] of computed.entries()) {
    t.is(number, index + 1);
    t.is(previousHash, computed[index - 1]?.hash ?? null);
  }
});

test.serial("settings of the session make no difference", async (t) => {
  for (const settings of [
    "set local timezone = 'Asia/Kathmandu'; set local datestyle = 'German'",
    "set local timezone = 'America/Lima'; set local datestyle = 'SQL, DMY'",
    "set local extra_float_digits = -15; set local intervalstyle = 'iso_8601'",
    "set local bytea_output = 'escape'; set local standard_conforming_strings = off",
    "set local lc_numeric = 'C'; set local enable_indexscan = off; set local work_mem = '64kB'",
  ]) {
    await exchange.withRollback(async (client) => {
      await client.query(settings);
      t.deepEqual(await verifySeals(client), [], settings);
    });
  }
});

/** What a change by a superuser, with triggers off, makes the check find. */
async function foundAfter(...damage: string[]): Promise<{ name: string; object: string }[]> {
  return exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    for (const statement of damage) {
      const { rowCount } = await client.query(
        statement.replace(/(?<!:):([a-z]\w*)/g, (_, name: string) => String(rows[name])),
      );
      if (rowCount === 0) throw new Error(`nothing was damaged: ${statement}`);
    }
    return verifySeals(client);
  });
}

const namesOf = (found: { name: string }[]): string[] => [
  ...new Set(found.map(({ name }) => name)),
];

const isOf = (table: string) => (found: { object: string }) => found.object.endsWith(`, ${table}`);

// Each table is named by itself, so one row of each is deleted at a time.
for (const orders of ["trading.ended_orders", "trading.archived_orders"]) {
  for (const part of [0, 0.5, 1]) {
    test.serial(
      `a row of any sealed table that is deleted is missed: ${orders}, ${part}`,
      async (t) => {
        const names = await tableNames();
        const damage: string[] = [];
        for (const name of names) {
          const table = name === "trading.final_orders" ? orders : name;
          const places = await query(`select ctid, tableoid from ${table}`);
          t.true(places.length > 0, table);
          const { ctid, tableoid } = places[Math.floor((places.length - 1) * part)];
          damage.push(`delete from ${table} where ctid = '${ctid}' and tableoid = ${tableoid}`);
        }
        const found = await foundAfter(...damage);
        const missed = found.filter(({ name }) => name === "sealed rows are as they were");
        for (const name of names) t.true(missed.some(isOf(name)), name);
      },
    );
  }
}

test.serial("a row that is inserted in the middle is found", async (t) => {
  const found = await foundAfter(
    `insert into ledger.posted_entries
     select e.journal_id, e.account_id, e.amount_cents, e.balance_before_cents,
       e.balance_after_cents, e.account_version + 1000
     from ledger.posted_entries as e limit 1`,
  );
  t.deepEqual(namesOf(found), [
    "sealed rows are as they were",
    "table has no more rows than were sealed",
  ]);
});

test.serial("a row between the rows of other tables with its ids is found", async (t) => {
  // After the last fee payout, and before the last journal.
  const found = await foundAfter(
    `insert into ledger.fee_payouts
     select max(t.id), 'forged', 1 from trading.trades as t`,
  );
  t.true(found.length > 0);
  t.true(
    found.every(
      ({ object }) => object === "ledger.fee_payouts" || isOf("ledger.fee_payouts")({ object }),
    ),
  );
});

test.serial("an order that is moved to the archive keeps its seal", async (t) => {
  await exchange.withRollback(async (client) => {
    const archived = () =>
      client
        .query("select count(*)::int as n from trading.archived_orders")
        .then((r) => r.rows[0].n);
    const before = await archived();
    await client.query(
      `create or replace function core.now() returns timestamptz language sql volatile
       return clock_timestamp() + interval '100 days'`,
    );
    await client.query("select trading.archive_orders(1000)");
    t.true((await archived()) > before);
    t.deepEqual(await verifySeals(client), []);
  });
});

test.serial("an order that was open is sealed once it has ended", async (t) => {
  const [market, ann] = await exchange.makeMarketWith(1);
  const [open] = await exchange.rest(market, ann, buy("yes", 5, 10));
  const [ended] = await exchange.rest(market, ann, buy("yes", 5, 11));
  await exchange.amend(ann, open, { quantity: 4 });
  await exchange.cancel(ann, ended);
  const kept = `select count(*)::int as count from ledger.block_ranges as r
                join ledger.blocks as b on b.number = r.block_number
                where r.table_name = $1 and cardinality(b.ended_order_ids) = 1`;
  await sealAll(pool());
  const awaited = await query(
    `select o.public_id as id from ledger.awaited_orders as w
     join trading.orders as o on o.id = w.order_id`,
  );
  t.true(awaited.some(({ id }) => id === open));
  t.false(awaited.some(({ id }) => id === ended));

  await exchange.cancel(ann, open);
  t.deepEqual(
    (await query("select table_name, row_count from ledger.unsealed_rows()")).map(
      ({ table_name }) => table_name,
    ),
    ["trading.final_orders", "trading.order_reductions"],
  );
  t.is(await sealAll(pool()), 2);
  t.deepEqual(await query(kept, ["trading.order_reductions"]), [{ count: 1 }]);
  t.deepEqual(await verifySeals(pool()), []);
  t.deepEqual(await readBlocks(pool()), await withClient(pool(), computeBlocks));
});

test.serial("of very many open orders those that ended are looked for once a minute", async (t) => {
  const [market, ann] = await exchange.makeMarketWith(1);
  const [open] = await exchange.rest(market, ann, buy("yes", 5, 10));
  const [ended] = await exchange.rest(market, ann, buy("yes", 5, 11));
  await exchange.cancel(ann, ended);
  await sealAll(pool());
  await exchange.cancel(ann, open);
  await exchange.operate("deposit", { user_id: ann, amount_cents: 1, reference: "a row" });
  const sealed = `select max(sealed_through) as at, sum(cardinality(ended_order_ids))::int as ended
                  from ledger.blocks`;
  const [before] = await query(sealed);
  await exchange.withRollback(async (client) => {
    await client.query(
      "update pg_class set reltuples = 1e18 where oid = 'ledger.awaited_orders'::regclass",
    );
    t.true(Number((await client.query("select ledger.seal() as rows")).rows[0].rows) > 0);
    t.deepEqual((await client.query(sealed)).rows, [before]);
    t.deepEqual(await verifySeals(client), [], "it is still awaited");
    await client.query(
      `create or replace function core.now() returns timestamptz language sql volatile
       return timestamptz '2040-01-01'`,
    );
    await client.query("select ledger.seal()");
    t.is((await client.query(sealed)).rows[0].ended - before.ended, 1, "a minute later");
  });
  await sealAll(pool());
  const [after] = await query(sealed);
  t.is(after.ended - before.ended, 1);
  t.true(after.at > before.at);
});

/** A transaction that has an id and is not committed. */
async function openDeposit(trader: string): Promise<{ end: () => Promise<void> }> {
  const client = await pool().connect();
  await client.query("begin");
  await client.query("select admin.deposit($1, 100, 'slow')", [trader]);
  let isOpen = true;
  return {
    end: async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.query("commit");
      client.release();
    },
  };
}

test.serial("a slow transaction with a lower id is sealed after its commit", async (t) => {
  const [market, ann, ben, cem] = await exchange.makeMarketWith(3);
  await sealAll(pool());
  const slow = await openDeposit(cem);
  t.teardown(slow.end);
  // These trade and commit meanwhile: their ids are higher.
  await exchange.rest(market, ann, buy("no", 5, 40));
  await exchange.place(market, ben, buy("yes", 5, 60));
  await sealAll(pool());
  t.deepEqual(
    (await query("select table_name as name from ledger.unsealed_rows()")).map(({ name }) => name),
    ["trading.trades"],
    "the trade waits, the orders are sealed",
  );
  await slow.end();
  t.true((await sealAll(pool())) >= 5, "trade, journal, entries, movement and call");
  t.deepEqual(await query("select * from ledger.unsealed_rows()"), []);
  t.deepEqual(await verifySeals(pool()), []);
});

test.serial("a prepared transaction of a copy in the same cluster delays nothing", async (t) => {
  const [{ most }] = await query("select current_setting('max_prepared_transactions') as most");
  if (most === "0") {
    t.pass("a cluster that was given may have none");
    return;
  }
  // Both are made of one template, so their sequences have the same oids.
  const copy = await createDatabase({ shuffled: true });
  const oid = "select 'ledger.journal_ids'::regclass::oid as oid";
  t.deepEqual(await query(oid), (await copy.pool.query(oid)).rows);
  const prepare = `seal_${process.pid}`;
  try {
    await withClient(copy.pool, async (client) => {
      await client.query("begin");
      await client.query("select nextval('ledger.journal_ids')");
      await client.query(`prepare transaction '${prepare}'`);
    });
    const settled = "select sequence_name from ledger.settled_ids() order by 1";
    const name = "ledger.journal_ids";
    t.true((await query(settled)).some((row) => row.sequence_name === name));
    const { rows: own } = await copy.pool.query(settled);
    t.false(own.some((row) => row.sequence_name === name));
    await copy.pool.query(`rollback prepared '${prepare}'`);
  } finally {
    await copy.drop();
  }
});

test.serial("the open orders of a block are read once, not for each ended one", async (t) => {
  const openOrders = 20_000;
  const [{ ended }] = await query("select count(*)::int as ended from trading.final_orders");
  t.true(ended > 10);
  await withClient(pool(), async (client) => {
    const rows = await rowsHandled(
      client,
      `select from ledger.hash_ranges(
         'trading.final_orders',
         array[jsonb_populate_record(null::ledger.blocks, jsonb_build_object(
           'number', 1, 'ended_order_ids', '{}',
           'open_order_ids', array(select 1000000000 + generate_series(1, ${openOrders}))
         ))],
         array[('trading.final_orders', 1, null, 1000000000, null, null)::ledger.block_ranges]
       )`,
    );
    t.true(rows > openOrders, "they are rows of the plan");
    t.true(rows < 6 * openOrders, `${rows} rows`);
  });
});

test.serial("several at once make one chain", async (t) => {
  const [market, trader] = await exchange.makeMarketWith(1);
  for (let round = 0; round < 5; round++) {
    const [order] = await exchange.rest(market, trader, buy("yes", 1, 1));
    await exchange.cancel(trader, order);
    await Promise.all(Array.from({ length: 4 }, () => query("select ledger.seal()")));
  }
  t.deepEqual(await verifySeals(pool()), []);
});

test.serial(
  "UNFIT_SESSION: an older snapshot than that of the statement would miss rows",
  async (t) => {
    await exchange.withRollback(async (client) => {
      await client.query("set transaction isolation level repeatable read");
      await t.throwsAsync(client.query("select ledger.seal()"), { code: "EX025" });
    });
  },
);

test.serial("a column that a release adds does not change what older rows are", async (t) => {
  await exchange.withRollback(async (client) => {
    await client.query("alter table trading.trades add column note text");
    t.deepEqual(await verifySeals(client), []);
    await client.query("set local session_replication_role = replica");
    await client.query(
      "update trading.trades set note = '' where id = (select min(id) from trading.trades)",
    );
    t.deepEqual(namesOf(await verifySeals(client)), ["sealed rows are as they were"]);
  });
});

test.serial("a kept head shows that everything was sealed anew", async (t) => {
  const blocks = await readBlocks(pool());
  const kept = blocks[5]!;
  const compare = async (client: PoolClient) =>
    (await client.query("select * from ledger.compare_head($1, $2)", [kept.number, kept.hash]))
      .rows[0];
  const inChain = { result: "in the chain", missing_from: null, missing_through: null };
  await exchange.withRollback(async (client) => {
    t.deepEqual(await compare(client), inChain);
    await client.query("set local session_replication_role = replica");
    await client.query(
      `update trading.trades set public_id = core.uuid_v7()
       where id = (select min(id) from trading.trades)`,
    );
    await client.query(
      "delete from ledger.block_ranges; delete from ledger.blocks; delete from ledger.awaited_orders",
    );
    await client.query("set local session_replication_role = origin");
    await sealAll(client, 7);
    t.deepEqual(await verifySeals(client), [], "the chain is sound in itself");
    t.is((await compare(client)).result, "another hash");
  });
});

test.serial("a kept head shows which blocks a restore or a cut took away", async (t) => {
  const blocks = await readBlocks(pool());
  const { number, hash } = blocks.at(-1)!;
  await exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    await client.query("delete from ledger.block_ranges where block_number > $1", [number - 2]);
    await client.query("delete from ledger.blocks where number > $1", [number - 2]);
    const { rows: compared } = await client.query("select * from ledger.compare_head($1, $2)", [
      number,
      hash.toUpperCase(),
    ]);
    t.deepEqual(compared, [
      { result: "missing", missing_from: number - 1, missing_through: number },
    ]);
  });
  await exchange.withRollback(async (client) => {
    const { rows: compared } = await client.query(
      "select result from ledger.compare_head($1, $2)",
      [number, hash.toUpperCase()],
    );
    t.deepEqual(compared, [{ result: "in the chain" }]);
  });
});
