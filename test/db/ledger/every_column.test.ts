import test from "ava";
import type { PoolClient } from "pg";
import { verifyRows } from "../../helpers/database/invariants.ts";
import { endReducedOrder, sealAll, verifySeals } from "../../helpers/exchange/sealed_history.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { tradeALittle } from "./damages/history.ts";
import { operateALittle } from "./damages/operations.ts";

/** Each column of history is changed, and `ledger.verify("full" => true)` must notice. */

const exchange = testExchange(test);

/** Tables that are no history: whole schemas, or single tables. docs/proof.md says it in words. */
const notHistory: Record<string, string> = {
  core: "settings, and what the worker does",
  installer: "what is installed",
  identity: "users, staff and their ways in, which change",
  catalog: "categories, events and markets, which change; the calls that changed them are sealed",
  rate_limits: "counters and settings",
  leaderboard: "computed from the trades; leaderboard.verify() does it again",
  "admin.commands": "what a release brings",
  "admin.caps": "settings; the calls that made them are sealed",
  "admin.moved_cash": "counters of a day",
  "admin.rules": "settings; the calls that made them are sealed",
  "admin.user_notes": "personal data, which may be removed; the calls that wrote them are sealed",
  "admin.bank_comparisons": "replaced by the next one; what closed a day is sealed with it",
  "admin.proposed_calls": "change until they are decided; the calls about them are sealed",
  "ledger.outside_world": "a balance, which is the sum of sealed entries",
  "trading.traders": "balances, limits and exclusions, which change",
  "trading.market_state": "figures that follow from trades and orders",
  "trading.active_orders": "may still change",
  "trading.holdings": "follow from trades, conversions and settlements",
  "trading.candles": "follow from trades",
  "trading.candle_progress": "how far the candles have come",
  "trading.valued_days": "how far the exit values have come, and bids that follow from orders",
  "trading.exit_values": "follow from trades and orders, as analytics.daily_equity has them again",
  "trading.disputes": "words of users, which may be removed; the calls that answered are sealed",
  "trading.idempotency_keys": "removed after a day",
  "trading.dead_man_switches": "change",
  "trading.order_stops": "removed once the orders are cancelled",
  "trading.outbox": "moved to the sent events",
  "trading.sent_events": "removed after a day",
  "trading.outbox_relay": "how far the relay has come",
};

interface Column {
  table: string;
  name: string;
  type: string;
  isEnum: boolean;
}

let columns: Column[];
let tables: string[];

test.before("trade a little, and seal", async () => {
  await tradeALittle(exchange);
  await operateALittle(exchange);
  await endReducedOrder(exchange);
  const { pool } = exchange.database;
  await sealAll(pool, 50);
  const { rows } = await pool.query<Column & { schema: string }>(
    `select n.nspname as schema, c.oid::regclass::text as table, quote_ident(a.attname) as name,
       format_type(case t.typtype when 'd' then t.typbasetype else t.oid end, null) as type,
       t.typtype = 'e' as "isEnum"
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type as t on t.oid = a.atttypid
     where c.relkind in ('r', 'p') and not c.relispartition
       and c.relowner = 'exchange_owner'::regrole
     order by 2, a.attnum`,
  );
  tables = [...new Set(rows.map(({ table }) => table))];
  columns = rows.filter(({ schema, table }) => !(schema in notHistory) && !(table in notHistory));
});

/** A value that differs from the one that a column has, by its type. */
function otherValue({ name, type, isEnum }: Column): string {
  if (isEnum) {
    return `(select v from unnest(enum_range(null::${type})) as v
             where v is distinct from c.${name} limit 1)`;
  }
  const values: Record<string, string> = {
    bigint: `coalesce(c.${name}, 0) + 1`,
    integer: `coalesce(c.${name}, 0) % 98 + 1`,
    text: `coalesce(c.${name}, '') || '?'`,
    boolean: `c.${name} is not true`,
    date: `c.${name} + 1`,
    uuid: "core.uuid_v7()",
    jsonb: `jsonb_build_array(c.${name})`,
    bytea: `sha256(coalesce(c.${name}, ''))`,
    "bigint[]": `c.${name} || 1`,
    "timestamp with time zone": `coalesce(
       case when isfinite(c.${name}) then c.${name} end, '2030-01-01') + interval '1 us'`,
  };
  const value = values[type];
  if (value === undefined) throw new Error(`there is no other value of type ${type}`);
  return value;
}

/** What is in the way of a column being changed alone. */
async function dropConstraints(client: PoolClient, table: string): Promise<void> {
  const { rows } = await client.query<{ drop: string }>(
    `select format('alter table %s drop constraint %I cascade', conrelid::regclass, conname) as drop
     from pg_constraint
     where conrelid = $1::regclass and contype in ('c', 'p', 'u') and conparentid = 0`,
    [table],
  );
  for (const { drop } of rows) await client.query(drop);
}

/** Whether a change of a column, in its last row, is noticed. */
async function isNoticed(column: Column): Promise<boolean> {
  const { table, name } = column;
  return exchange.withRollback(async (client) => {
    await dropConstraints(client, table);
    await client.query(`alter table ${table} alter column ${name} drop identity if exists`);
    await client.query("set local session_replication_role = replica");
    const { rowCount } = await client.query(
      `update ${table} as c set ${name} = ${otherValue(column)}
       where (c.tableoid, c.ctid) = (
         select l.tableoid, l.ctid from ${table} as l order by l.ctid desc limit 1
       )`,
    );
    if (rowCount !== 1) throw new Error(`${table} has no row`);
    if ((await verifySeals(client)).length > 0) return true;
    return (await verifyRows(client)).length > 0;
  });
}

test.serial("each table is history, or the list says why it is not", (t) => {
  const named = Object.keys(notHistory).filter((name) => name.includes("."));
  t.deepEqual(
    named.filter((name) => !tables.includes(name)),
    [],
    "in the list, and no table",
  );
  t.deepEqual([...new Set(columns.map(({ table }) => table))].sort(), [
    ...["admin.audit_log", "admin.personal_arguments"],
    ...["ledger.awaited_orders", "ledger.balance_proofs", "ledger.block_ranges", "ledger.blocks"],
    ...["ledger.cash_movements", "ledger.closed_days", "ledger.closed_figures"],
    ...["ledger.day_openings", "ledger.fee_payouts", "ledger.posted_entries"],
    ...["ledger.posted_journals", "ledger.proof_leaves", "ledger.proof_nodes"],
    "ledger.verifications",
    "risk.limit_changes",
    ...["trading.archived_orders", "trading.ended_orders", "trading.fee_cancellations"],
    ...["trading.fee_schedules", "trading.order_reductions", "trading.order_replacements"],
    ...["trading.resolutions", "trading.set_conversions", "trading.settlements", "trading.trades"],
    ...["trading.voided_positions", "trading.voids"],
  ]);
});

test.serial("a change of any column of history is noticed", async (t) => {
  t.true(columns.length > 150);
  const unnoticed: string[] = [];
  for (const column of columns) {
    if (!(await isNoticed(column))) unnoticed.push(`${column.table}.${column.name}`);
  }
  t.deepEqual(unnoticed, []);
});
