import test from "ava";
import type { PoolClient } from "pg";
import { migrateDatabase } from "../../../src/database/migrations.ts";
import { createDatabase, withRollback } from "../../helpers/database/test_database.ts";
import type { OwnDatabase } from "../../helpers/database/test_database.ts";

/** What the ledger check says of the schema of a database that `npm run migrate` has made. */

let database: OwnDatabase;

test.before("migrate", async () => {
  database = await createDatabase({ empty: true });
  await migrateDatabase(database.connectionString);
});
test.after.always("drop the database", async () => {
  await database.drop();
});

const verify = async () =>
  (await database.pool.query("select name, object, expected, found from ledger.verify()")).rows;

test.serial("a migrated database is as it was installed, also when migrated again", async (t) => {
  t.deepEqual(await verify(), []);
  await migrateDatabase(database.connectionString);
  t.deepEqual(await verify(), [], "again");
});

// pg_dump writes what PostgreSQL makes of a definition, and a restore reads that.
test.serial("a restored dump has the same definitions", async (t) => {
  const objects = async (client: PoolClient) =>
    (
      await client.query(
        `select kind, name, md5(definition) as hash from installer.schema_objects()
         where kind in ('constraint', 'function', 'index', 'view', 'column') order by 1, 2`,
      )
    ).rows;
  await withRollback(database.pool, async (client) => {
    const before = await objects(client);
    await client.query(rewriteDefinitions);
    t.deepEqual(await objects(client), before);
  });
});

test.serial("what jobs make later and what an administrator adds is no change", async (t) => {
  await database.pool.query("select jobs.make_event_partitions()");
  await database.pool.query("select trading.make_archive_partition(now() + interval '2 months')");
  await database.pool.query(`
    create schema reports;
    create table reports.days (day date primary key, trades bigint check (trades >= 0));
    create view reports.prices as select id, price from trading.trades;
    create function reports.first() returns trigger language plpgsql as 'begin return new; end';
    create trigger first before insert on reports.days for each row
      execute function reports.first();
    grant usage on schema reports to exchange_analyst;
    grant select on all tables in schema reports to exchange_analyst;
    create index trades_by_price on trading.trades (price);
    create statistics trading.trade_prices on price, quantity from trading.trades;
    alter table trading.trades set (autovacuum_vacuum_scale_factor = 0.01)`);
  await database.pool.query("create role reporter nologin").catch(() => undefined);
  await database.pool.query("grant select on trading.trades to reporter");
  // A partition or an object of theirs would stand here by its name.
  t.deepEqual(await verify(), []);
  await database.pool.query("revoke select on trading.trades from reporter; drop role reporter");
});

test.serial("a change is named with the object, until it is taken back", async (t) => {
  const { rows } = await database.pool.query(
    "select pg_get_functiondef('ledger.refuse_change()'::regprocedure) as definition",
  );
  await database.pool.query(`
    create or replace function ledger.refuse_change() returns trigger language plpgsql
    set search_path = pg_catalog, pg_temp as 'begin return null; end'`);
  const found = await verify();
  t.deepEqual(
    found.map(({ name, object }) => ({ name, object })),
    [{ name: "schema is as it was installed", object: "function ledger.refuse_change()" }],
  );
  await database.pool.query(rows[0].definition);
  t.deepEqual(await verify(), []);
});

test.serial("rows that only a release changes are part of the schema", async (t) => {
  await withRollback(database.pool, async (client) => {
    await client.query(`
      update admin.commands set role = 'cash' where command = 'create_staff';
      delete from admin.commands where command = 'end_sessions';
      insert into admin.commands values ('my_own', null);
      update core.error_codes set http_status = 418 where code = 'NOT_FOUND'`);
    const { rows } = await client.query("select name, object from ledger.verify() order by object");
    t.deepEqual(
      rows,
      [
        ...["create_staff", "end_sessions", "my_own"].map((name) => `row admin.commands ${name}`),
        "row core.error_codes NOT_FOUND",
      ].map((object) => ({ name: "schema is as it was installed", object })),
    );
  });
});

/** Makes checks, indexes, views, functions and defaults once more, of what PostgreSQL shows of them. */
const rewriteDefinitions = `
  do $$
  declare
    v_statement text;
  begin
    for v_statement in
      select format(
        'alter table %s drop constraint %I; alter table %1$s add constraint %2$I %s',
        c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)
      )
      from pg_constraint as c
      join pg_class as r on r.oid = c.conrelid and not r.relispartition
      where c.contype = 'c' and c.coninhcount = 0 and r.relowner = 'exchange_owner'::regrole
      union all
      select format('drop index %s; %s', i.indexrelid::regclass, pg_get_indexdef(i.indexrelid))
      from pg_index as i
      join pg_class as r on r.oid = i.indrelid and r.relkind = 'r' and not r.relispartition
      where r.relowner = 'exchange_owner'::regrole
        and not exists (select from pg_constraint as c where c.conindid = i.indexrelid)
      union all
      select format(
        'alter table %s alter %I set default %s', r.oid::regclass, a.attname,
        pg_get_expr(d.adbin, d.adrelid)
      )
      from pg_attrdef as d
      join pg_attribute as a on a.attrelid = d.adrelid and a.attnum = d.adnum
      join pg_class as r on r.oid = d.adrelid and not r.relispartition
      where r.relowner = 'exchange_owner'::regrole and a.attgenerated = ''
      union all
      select format('create or replace view %s as %s', r.oid::regclass, pg_get_viewdef(r.oid))
      from pg_class as r
      where r.relkind = 'v' and r.relowner = 'exchange_owner'::regrole
      union all
      select pg_get_functiondef(p.oid)
      from pg_proc as p
      where p.proowner = 'exchange_owner'::regrole and p.prokind in ('f', 'p')
    loop
      execute v_statement;
    end loop;
  end
  $$`;
