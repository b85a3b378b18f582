import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** The ledger is append-only, also for its owner. */

const exchange = testExchange(test);

const appendOnly = [
  "admin.audit_log",
  ...["ledger.balance_proofs", "ledger.block_ranges", "ledger.blocks", "ledger.cash_movements"],
  ...["ledger.closed_days", "ledger.closed_figures", "ledger.day_openings", "ledger.fee_payouts"],
  ...["ledger.posted_entries", "ledger.posted_journals", "ledger.verifications"],
  "risk.limit_changes",
  ...["trading.archived_orders", "trading.exit_values", "trading.order_reductions"],
  ...["trading.order_replacements", "trading.resolutions", "trading.set_conversions"],
  ...["trading.settlements", "trading.trades", "trading.voided_positions", "trading.voids"],
];

test.before("trade once, and archive an order", async () => {
  const [market, ann] = await exchange.makeMarketWith(1);
  await exchange.giveShares(market, ann, "yes", 10);
  const [order] = await exchange.rest(market, ann, buy("yes", 2, 1));
  await exchange.amend(ann, order, { quantity: 1 });
  await exchange.amend(ann, order, { price: 3 });
  await exchange.clock.advance(30 * 86_400_000);
  await exchange.work("archive_orders");
  await exchange.work("value_accounts");
  await exchange.database.pool.query(`
    insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
    values (core.now(), core.now(), 0, '[]')`);
  await exchange.operate("pay_out_fees", { amount_cents: 1, reference: "transfer 1" });
  await exchange.split(market, ann, 1);
  await exchange.operate("resolve_market", { market_id: market, outcome: "yes" });
  await exchange.operate("reconcile", { day: "2020-01-01", bank: "[]" });
  await exchange.operate("close_day", { day: "2020-01-01" });
  await exchange.operate("publish_proof");
  await exchange.database.pool.query("select ledger.seal()");
  await exchange.operate("void_market", { market_id: market, reason: "no answer" });
});

test("these tables are append-only, and no others", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `select g.tgrelid::regclass::text as name
     from pg_trigger as g
     join pg_class as c on c.oid = g.tgrelid and not c.relispartition
     where g.tgfoid = 'ledger.refuse_change()'::regprocedure and g.tgenabled = 'O'
     order by 1`,
  );
  t.deepEqual(
    rows.map((row) => row.name),
    appendOnly,
  );
});

for (const table of appendOnly) {
  test(`INVALID_STATE: ${table} can't be updated, deleted from or truncated`, async (t) => {
    const { rows } = await exchange.database.pool.query(
      `select
         (select count(*) from ${table}) as count,
         (select quote_ident(a.attname) from pg_attribute as a
          where a.attrelid = $1::regclass and a.attnum > 0 and a.attidentity = ''
          order by a.attnum desc limit 1) as "column"`,
      [table],
    );
    const { count, column } = rows[0];
    t.true(count > 0, "there is something to change");
    for (const role of [undefined, "exchange_owner"] as const) {
      for (const statement of [
        `update ${table} set ${column} = ${column}`,
        `update ${table} set ${column} = ${column} where false`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
      ]) {
        const change = exchange.withRollback(async (client) => {
          if (role) await client.query(`set local role ${role}`);
          await client.query(statement);
        });
        await t.throwsAsync(change, { code: "EX019" }, statement);
      }
    }
  });
}
