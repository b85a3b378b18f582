import test from "ava";
import type { PoolClient } from "pg";
import { testDatabase, withRollback } from "../../helpers/database/test_database.ts";

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

test.serial("a night takes a million rows of what was sealed before the last run", async (t) => {
  const firstAndLast = (rowCounts: number[], full = false) =>
    withRollback(database.pool, async (client) => {
      await client.query(
        `insert into ledger.blocks (
           number, created_at, row_count, open_order_ids, ended_order_ids, previous_hash, hash
         )
         select u.number, '2020-01-01', u.row_count, '{}', '{}',
           case when u.number > 1 then sha256('') end, sha256('')
         from unnest($1::bigint[]) with ordinality as u (row_count, number)`,
        [rowCounts],
      );
      const { rows } = await client.query<{ blocks: number[] }>(
        `select array[first_block, last_block]::int[] as blocks
         from ledger.blocks_to_verify("full" => $1)`,
        [full],
      );
      return rows[0]!.blocks;
    });
  t.deepEqual(await firstAndLast([600_000, 400_000, 1, 1]), [1, 2]);
  t.deepEqual(await firstAndLast(Array.from({ length: 6 }, () => 1_000_000)), [1, 1]);
  t.deepEqual(await firstAndLast([5_000_000, 1, 1]), [1, 1]);
  t.deepEqual(await firstAndLast([5_000_000, 1, 1], true), [1, 3]);
});

const ROWS_OF_BLOCK = 500_000;

/** A night: so many blocks are sealed, and a run ends. How many blocks it leaves unverified. */
async function night(client: PoolClient, number: number, sealed: number, brokenCount = 0) {
  await client.query(
    `insert into ledger.blocks (
       number, created_at, row_count, open_order_ids, ended_order_ids, previous_hash, hash
     )
     select h.last + n, timestamptz '2040-01-01' + make_interval(days => $1, mins => -n), $3,
       '{}', '{}', case when h.last + n > 1 then sha256('') end, sha256('')
     from (select coalesce(max(number), 0) as last from ledger.blocks) as h
     cross join generate_series(1, $2::int) as n`,
    [number, sealed, ROWS_OF_BLOCK],
  );
  await client.query(
    `insert into ledger.verifications (
       started_at, finished_at, broken_count, first_rows, verified_block
     )
     select a.at, a.at, $2::int, case when $2::int = 0 then '[]'::jsonb else '[{"name": "n"}]' end,
       nullif(t.last_block, 0)
     from (values (timestamptz '2040-01-01' + make_interval(days => $1))) as a (at)
     cross join ledger.blocks_to_verify("full" => false) as t`,
    [number, brokenCount],
  );
  const { rows } = await client.query<{ left: number }>(
    `select block_count::int as left from ledger.unverified_blocks`,
  );
  return rows[0]!.left;
}

test.serial("a backlog gets smaller each night, however much is sealed", async (t) => {
  await withRollback(database.pool, async (client) => {
    // Each night twice what the day sealed, but at least a million rows: two blocks.
    t.is(await night(client, 1, 0), 0);
    const left = [await night(client, 2, 12, 1)];
    for (let number = 3; number <= 7; number++) left.push(await night(client, number, 3));
    t.deepEqual(left, [12, 9, 6, 3, 0, 0]);
    t.deepEqual(
      [
        await night(client, 8, 8, 1),
        await night(client, 9, 1),
        await night(client, 10, 1),
        await night(client, 11, 0),
      ],
      [8, 7, 6, 4],
    );
  });
});

test.serial("a quiet day after busy ones leaves nothing for the next night", async (t) => {
  await withRollback(database.pool, async (client) => {
    const left: number[] = [];
    for (const [day, sealed] of [20, 20, 20, 2, 0].entries()) {
      left.push(await night(client, day + 1, sealed));
    }
    t.deepEqual(left, [0, 0, 0, 0, 0]);
  });
});
