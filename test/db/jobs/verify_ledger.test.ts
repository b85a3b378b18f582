import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

test.serial("a sound ledger leaves a row without violations", async (t) => {
  const worker = database.connectAs("exchange_worker");
  const { rows } = await worker.query("select jobs.verify_ledger() as broken");
  t.deepEqual(rows, [{ broken: 0 }]);
  const kept = await database.pool.query(
    `select broken_count, first_rows, finished_at >= started_at as in_order
     from ledger.verifications`,
  );
  t.deepEqual(kept.rows, [{ broken_count: 0, first_rows: [], in_order: true }]);
});

test.serial("violations are counted, and the first 20 are kept", async (t) => {
  const { pool } = database;
  for (let user = 1; user <= 25; user++) {
    await pool.query("select admin.create_user($1, 'U', $2)", [
      `u${user}@test.example`,
      `user-${user}`,
    ]);
  }
  await pool.query("update trading.traders set balance_cents = 5");
  const verified = await pool.query("select * from ledger.verify()");
  t.true(verified.rowCount! >= 25);

  const { rows } = await pool.query("select jobs.verify_ledger() as broken");
  t.deepEqual(rows, [{ broken: verified.rowCount }]);
  const kept = await pool.query(
    "select broken_count, first_rows from ledger.verifications order by id desc limit 1",
  );
  t.is(kept.rows[0].broken_count, verified.rowCount);
  t.is(kept.rows[0].first_rows.length, 20);
  for (const row of kept.rows[0].first_rows) {
    t.deepEqual(Object.keys(row).sort(), ["expected", "found", "name", "object"]);
  }
});

test.serial("a night takes a million rows, or half of what is left", async (t) => {
  const { pool } = database;
  const client = await pool.connect();
  const lastBlock = async (rowCounts: number[], full = false): Promise<number> => {
    await client.query("begin");
    await client.query(
      `insert into ledger.blocks (
         number, created_at, row_count, open_order_ids, ended_order_ids, previous_hash, hash
       )
       select u.number, '2030-01-01', u.row_count, '{}', '{}',
         case when u.number > 1 then sha256('') end, sha256('')
       from unnest($1::bigint[]) with ordinality as u (row_count, number)`,
      [rowCounts],
    );
    const { rows } = await client.query('select * from ledger.blocks_to_verify("full" => $1)', [
      full,
    ]);
    await client.query("rollback");
    t.is(Number(rows[0].first_block), 1);
    return Number(rows[0].last_block);
  };
  try {
    t.is(await lastBlock([600_000, 400_000, 1, 1]), 2);
    // 3,000,000 of six are before the fourth block: it is the first that is left for later.
    t.is(await lastBlock(Array.from({ length: 6 }, () => 1_000_000)), 3);
    t.is(await lastBlock([5_000_000, 1, 1]), 1);
    t.is(await lastBlock([5_000_000, 1, 1], true), 3);
  } finally {
    client.release();
  }
});
