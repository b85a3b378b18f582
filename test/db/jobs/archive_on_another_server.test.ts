import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { createDatabase } from "../../helpers/database/test_database.ts";
import type { OwnDatabase } from "../../helpers/database/test_database.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { readText } from "../../helpers/repository.ts";

/**
 * A month of the archive moves to another server by deploy/archive/. The other server is another
 * database of the cluster, which the primary reaches as it would reach one elsewhere.
 */

const exchange = testExchange(test);
const { cancel, clock, makeMarketWith, orders, place, rest, work } = exchange;

const DAY = 86_400_000;
const LOGIN = `markets_archive_${process.pid}`;

/** A file of deploy/archive, for this login, this database and the month of the test. */
async function run(on: Pick<OwnDatabase, "pool">, name: string, other: string): Promise<void> {
  const { rows } = await exchange.database.pool.query(
    "select split_part(current_setting('unix_socket_directories'), ',', 1) as host, current_setting('port') as port",
  );
  const { host, port } = rows[0];
  const text = readText(`deploy/archive/${name}.sql`)
    .replaceAll(/\bmarkets_archive\b/g, LOGIN)
    .replaceAll("2026_01", "2030_01")
    .replace("database pgmarkets", `database ${other}`)
    .replace(
      "host 'archive.example', dbname 'pgmarkets'",
      `host '${host}', port '${port}', dbname '${other}'`,
    )
    // Nobody needs a password for the cluster of the tests.
    .replace("'change-me-8')", "'change-me-8', password_required 'false')");
  const client = await on.pool.connect();
  try {
    await client.query(text);
  } finally {
    client.release(true);
  }
}

const nameOf = ({ connectionString }: OwnDatabase) =>
  decodeURIComponent(new URL(connectionString.replace("//postgres@/", "//h/")).pathname.slice(1));

test.serial("a month on another server is read and proved as if it were here", async (t) => {
  const { pool } = exchange.database;
  const { rows: versions } = await pool.query(
    "select current_setting('server_version_num')::int >= 160000 as is_able",
  );
  if (versions[0].is_able !== true) {
    t.pass("PostgreSQL 15 has no triggers on truncate for tables of another server");
    return;
  }
  const [market, ann, bob] = await makeMarketWith(2);
  await clock.freeze("2030-01-10T00:00:00Z");
  const ids = await rest(market, ann, buy("yes", 3, 20), buy("no", 5, 30), buy("yes", 7, 10));
  const [, , late] = ids;
  await place(market, bob, buy("yes", 1, 70));
  await clock.advance(DAY);
  await cancel(ann, ids[0]);
  await clock.freeze("2030-03-20T00:00:00Z");
  t.is(await work("archive_orders"), 1);

  const seen = async () => ({
    orders: await orders(ann, { status: "all" }),
    analysts: (await pool.query("select * from analytics.orders order by order_key")).rows,
    book: (
      await pool.query(
        "select * from analytics.book_as_of($1, '2030-01-10T12:00:00Z') order by 1, 2",
        [market],
      )
    ).rows,
    operator: (await pool.query("select * from admin.orders order by created_at, order_id")).rows,
  });
  const before = await seen();
  t.true(before.book.length > 0);

  const other = await createDatabase();
  try {
    await run(other, "other_server", nameOf(other));
    await run(exchange.database, "primary", nameOf(other));
    await run(exchange.database, "move", nameOf(other));
    const { rows } = await other.pool.query(
      "select public_id::text as id from trading.archived_orders_2030_01",
    );
    t.deepEqual(rows, [{ id: ids[0] }]);
    t.deepEqual(await seen(), before);
    t.deepEqual(await exchange.verify(), []);
    await t.throwsAsync(pool.query("delete from trading.archived_orders_2030_01"), {
      code: "EX019",
    });

    // An order of that month which is cancelled later stays here, and those of other months go.
    await cancel(ann, late);
    const [next] = await rest(market, ann, buy("no", 1, 1));
    await cancel(ann, next);
    await clock.advance(31 * DAY);
    t.is(await work("archive_orders"), 1);
    const now = JSON.stringify(await orders(ann, { status: "all" }));
    t.true(now.includes(late) && now.includes(next));
    t.deepEqual(await exchange.verify(), []);

    // Trading goes on while the other server is away.
    await other.pool.query(`alter role ${LOGIN} nologin`);
    await other.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = $1",
      [LOGIN],
    );
    await t.throwsAsync(orders(ann, { status: "all" }), { code: "08001" });
    const [placed] = await rest(market, ann, buy("no", 2, 2));
    await place(market, bob, buy("yes", 1, 70));
    await cancel(ann, placed);
    await other.pool.query(`alter role ${LOGIN} login`);
    t.deepEqual(await exchange.verify(), []);

    await run(exchange.database, "move_back", nameOf(other));
    t.deepEqual(await exchange.verify(), []);
  } finally {
    await pool.query("drop schema if exists pgmarkets_archive cascade");
    await other.pool.query(`drop owned by ${LOGIN}`);
    await other.pool.query(`drop role ${LOGIN}`);
    await other.drop();
  }
});
