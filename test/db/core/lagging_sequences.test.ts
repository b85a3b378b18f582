import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { makeQueue } from "../../helpers/exchange/test_worker.ts";
import { tradeALittle } from "../ledger/damages/history.ts";

/** core.lagging_sequences() and core.set_sequences(), on a database as logical replication copies it. */

const exchange = testExchange(test);

test.before("trade a little, and have a queue", async () => {
  await tradeALittle(exchange);
  const { pool } = exchange.database;
  await makeQueue(exchange.database);
  await pool.query("select graphile_worker.add_job('some__job')");
  const { rows } = await pool.query("select api.relay_outbox()");
  if (rows.length === 0) throw new Error("nothing was relayed");
});

interface Column {
  sequence: string;
  table: string;
  column: string;
}

/** Those that the catalogue knows: of identities, and of defaults. */
async function columnsWithSequences(client: PoolClient): Promise<Column[]> {
  const { rows } = await client.query(
    `select s.sequence, s.table, s.column
     from (
       select
         coalesce(
           pg_get_serial_sequence(a.attrelid::regclass::text, a.attname),
           substring(pg_get_expr(d.adbin, d.adrelid) from 'nextval\\(''(.*)''::regclass\\)')
         ) as sequence,
         a.attrelid::regclass::text as table, a.attname as column
       from pg_attribute as a
       join pg_class as c on c.oid = a.attrelid and c.relkind in ('r', 'p')
       left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where c.relowner = 'exchange_owner'::regrole and a.attnum > 0 and not a.attisdropped
     ) as s
     where s.sequence is not null`,
  );
  return rows;
}

/** The sequences as they are in a copy: at their beginning. */
async function restartAll(client: PoolClient): Promise<Column[]> {
  const { rows } = await client.query(
    "select oid::regclass::text as name from pg_class where relkind = 'S' and relowner = 'exchange_owner'::regrole",
  );
  for (const { name } of rows) await client.query(`alter sequence ${name} restart`);
  return await columnsWithSequences(client);
}

const lagging = async (client: PoolClient) =>
  (await client.query("select * from core.lagging_sequences()")).rows;

test.serial("no sequence lags in a database that made its own ids", async (t) => {
  await exchange.withRollback(async (client) => {
    t.deepEqual(await lagging(client), []);
    t.deepEqual((await client.query("select * from core.set_sequences()")).rows, []);
  });
});

test.serial("in a copy each sequence lags whose tables have an id, and is then set", async (t) => {
  await exchange.withRollback(async (client) => {
    const expected = new Map<string, number>();
    for (const { sequence, table, column } of await restartAll(client)) {
      const { rows } = await client.query(`select max(${column}) as id from ${table}`);
      if (rows[0].id !== null) expected.set(sequence, Number(rows[0].id));
    }
    const { rows } = await client.query(
      `select max(t.id) as trade, r.noted_id,
         (select max(o.id) from trading.orders as o) as order,
         (select max(a.id) from trading.archived_orders as a) as archived
       from trading.trades as t, trading.outbox_relay as r
       group by r.noted_id`,
    );
    const [row] = rows;
    const journals = "ledger.journal_ids";
    expected.set(journals, Math.max(expected.get(journals) ?? 0, row.trade));
    expected.set("trading.order_ids", Math.max(row.order, row.archived));
    expected.set("trading.outbox_id_seq", row.noted_id);
    t.true(expected.size > 10);
    t.true([...expected.keys()].some((sequence) => sequence.startsWith("graphile_worker.")));

    const found = await lagging(client);
    t.deepEqual(
      new Map(found.map((each) => [each.sequence_name, each.highest_id])),
      new Map([...expected].sort()),
    );
    t.true(found.every((each) => each.last_id === 0));

    const { rows: verified } = await client.query("select * from ledger.verify()");
    t.is(verified.length, expected.size);
    // Released orders have places in the queue from the same sequence, above their ids.
    expected.set("trading.order_ids", expected.get("trading.order_ids")! + 1_000_000);
    const { rows: set } = await client.query("select * from core.set_sequences()");
    t.deepEqual(
      new Map(set.map((each) => [each.sequence_name, each.last_id])),
      new Map([...expected].sort()),
    );
    t.deepEqual(await lagging(client), []);
    t.deepEqual((await client.query("select * from ledger.verify()")).rows, []);
  });
});

test.serial("a sequence that is ahead of its ids is left where it is", async (t) => {
  await exchange.withRollback(async (client) => {
    await client.query("alter sequence identity.users_id_seq restart with 9000000000");
    t.deepEqual((await client.query("select * from core.set_sequences()")).rows, []);
    const { rows } = await client.query("select nextval('identity.users_id_seq') as id");
    t.is(rows[0].id, 9000000000);
  });
});

test.serial("every sequence that a function draws from is looked at", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `select distinct m[1] as name, pg_get_functiondef('core.lagging_sequences()'::regprocedure) as text
     from pg_proc as p, regexp_matches(p.prosrc, 'nextval\\(''([a-z_.]+)''', 'g') as m
     where p.pronamespace in (select n.oid from pg_namespace as n where n.nspname !~ '^pg_')
       and p.pronamespace <> all (array(
         select n.oid from pg_namespace as n where n.nspname in ('test_ids', 'graphile_worker')
       ))`,
  );
  t.true(rows.length > 2);
  // Those of identities are found by the catalogue; two tables draw from their own.
  const named = rows.filter(({ name, text }) => text.includes(name)).map(({ name }) => name);
  t.deepEqual(
    rows
      .map(({ name }) => name)
      .filter((name) => !named.includes(name))
      .sort(),
    ["trading.resolutions_id_seq", "trading.voids_id_seq"],
  );
});
