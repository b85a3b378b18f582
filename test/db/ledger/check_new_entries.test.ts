import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** A journal that doesn't sum to zero can't be written in any way. */

const exchange = testExchange(test);

interface Line {
  journal: number;
  account: number;
  cents: number;
  before: number;
  after?: number;
  version: number;
}

/** Two new empty cash accounts, in a session of the owner, who may write to all tables. */
async function asOwner<T>(work: (client: PoolClient, accounts: [number, number]) => Promise<T>) {
  const traders = await exchange.makeTraders(2, { cents: 0 });
  return exchange.withRollback(async (client) => {
    const { rows } = await client.query(
      `select ledger.user_account_id(t.user_id) as id from trading.traders as t
       where t.public_id = any ($1) order by t.user_id`,
      [traders],
    );
    await client.query("set local role exchange_owner");
    return work(client, [rows[0].id, rows[1].id]);
  });
}

const insert = (client: PoolClient, lines: Line[]) =>
  client.query(
    `insert into ledger.posted_entries (
       journal_id, account_id, amount_cents, balance_before_cents, balance_after_cents,
       account_version
     )
     select l.journal, l.account, l.cents, l.before, coalesce(l.after, l.before + l.cents), l.version
     from jsonb_to_recordset($1) as l (
       journal bigint, account bigint, cents bigint, before bigint, after bigint, version bigint
     )`,
    [JSON.stringify(lines)],
  );

test("lines that sum to zero are written", async (t) => {
  await asOwner(async (client, [a, b]) => {
    const { rowCount } = await insert(client, [
      { journal: 901, account: a, cents: 100, before: 0, version: 1 },
      { journal: 901, account: b, cents: -100, before: 0, version: 1 },
    ]);
    t.is(rowCount, 2);
  });
});

test("INVALID_STATE: lines that don't sum to zero", async (t) => {
  const written = asOwner((client, [a, b]) =>
    insert(client, [
      { journal: 901, account: a, cents: 100, before: 0, version: 1 },
      { journal: 901, account: b, cents: -99, before: 0, version: 1 },
    ]),
  );
  await t.throwsAsync(written, { code: "EX019" });
});

test("INVALID_STATE: two journals whose sums cancel out", async (t) => {
  const written = asOwner((client, [a, b]) =>
    insert(client, [
      { journal: 901, account: a, cents: 100, before: 0, version: 1 },
      { journal: 902, account: b, cents: -100, before: 0, version: 1 },
    ]),
  );
  await t.throwsAsync(written, { code: "EX019" });
});

test("INVALID_STATE: one line by itself", async (t) => {
  const written = asOwner((client, [a]) =>
    insert(client, [{ journal: 901, account: a, cents: 100, before: 0, version: 1 }]),
  );
  await t.throwsAsync(written, { code: "EX019" });
});

test("the table rejects a line of zero cents, a wrong sum, or a repeated version", async (t) => {
  for (const [flaw, constraint] of [
    [{ cents: 0, before: 0, version: 1 }, "posted_entries_move_something"],
    [{ cents: 100, before: 0, after: 99, version: 1 }, "posted_entries_add_up"],
  ] as const) {
    const written = asOwner((client, [a]) =>
      insert(client, [{ journal: 901, account: a, ...flaw }]),
    );
    await t.throwsAsync(written, { message: new RegExp(constraint) });
  }
  const twice = asOwner((client, [a]) =>
    insert(client, [
      { journal: 901, account: a, cents: 100, before: 0, version: 1 },
      { journal: 901, account: a, cents: -100, before: 100, version: 1 },
    ]),
  );
  await t.throwsAsync(twice, { code: "23505" });
});

test("no balance of a user goes below zero", async (t) => {
  const overdrawn = asOwner((client, [a]) =>
    client.query("update trading.traders set balance_cents = -1 where user_id = $1::bigint / 4", [
      a,
    ]),
  );
  await t.throwsAsync(overdrawn, { code: "23514", message: /traders_stay_above_zero/ });
});
