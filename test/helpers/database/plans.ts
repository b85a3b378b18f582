import type { ClientBase, Pool } from "pg";
import { withClient } from "./test_database.ts";

/**
 * How many rows the plans of a statement handle, those of the functions that it calls included: what
 * each node returns or sorts out, in all its loops. It grows with the work, on any machine. Locks are
 * not counted: the view shows those of all sessions.
 */
export async function rowsHandled(client: ClientBase, statement: string): Promise<number> {
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_format = 'json';
    set client_min_messages = log;
  `);
  const plans: any[] = [];
  const note = ({ message = "" }: { message?: string | undefined }) => {
    const json = /plan:\n(\{.*\})\s*$/s.exec(message)?.[1];
    if (json !== undefined) plans.push(JSON.parse(json).Plan);
  };
  client.on("notice", note);
  try {
    await client.query(statement);
  } finally {
    client.off("notice", note);
    await client.query("set auto_explain.log_min_duration = -1; reset client_min_messages");
  }
  if (plans.length === 0) throw new Error("No plan was logged");
  return plans.reduce<number>((sum, plan) => sum + rowsOf(plan), 0);
}

/**
 * How many rows a statement reads from tables and indexes, or from one table, without those that
 * functions read.
 */
export async function rowsScanned(
  pool: Pool,
  { text, values }: { text: string; values?: unknown[] },
  table?: string,
): Promise<number> {
  const { rows } = await pool.query(`explain (analyze, timing off, format json) ${text}`, values);
  return scannedBy(rows[0]["QUERY PLAN"][0].Plan, table);
}

function scannedBy(node: any, table: string | undefined): number {
  const name = node["Relation Name"];
  const isMeant = name !== undefined && (table === undefined || name === table);
  const own = isMeant ? rowsOf({ ...node, Plans: [] }) : 0;
  return (node.Plans ?? []).reduce((sum: number, plan: any) => sum + scannedBy(plan, table), own);
}

function rowsOf(node: any): number {
  if (node["Function Name"] === "pg_lock_status") return 0;
  const each = Object.entries(node)
    .filter(([name]) => name === "Actual Rows" || name.startsWith("Rows Removed by "))
    .reduce((sum, [, rows]) => sum + Number(rows), 0);
  const own = each * Number(node["Actual Loops"] ?? 0);
  return (node.Plans ?? []).reduce((sum: number, plan: any) => sum + rowsOf(plan), own);
}

/** How many pages of tables and indexes a statement reads, its functions included. */
export async function pagesRead(client: ClientBase, statement: string): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement}`);
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
}

/**
 * How many rows of these tables a call reads, and how many pages of them and their indexes. `grow`
 * runs when the session has made its plans.
 */
export async function readingOf(
  pool: Pool,
  tables: string[],
  work: (client: ClientBase) => Promise<unknown>,
  grow?: () => Promise<unknown>,
): Promise<{ rows: number; pages: number }> {
  return await withClient(pool, async (client) => {
    // Generic plans come after a few calls.
    for (let warm = 0; warm < 7; warm++) await work(client);
    await grow?.();
    await client.query("begin");
    const read = async () => {
      const result = await client.query(
        `select
           sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows,
           sum(pg_stat_get_xact_blocks_fetched(relid) + (
             select coalesce(sum(pg_stat_get_xact_blocks_fetched(i.indexrelid)), 0)
             from pg_index as i where i.indrelid = relid
           ))::int as pages
         from pg_stat_xact_all_tables where schemaname || '.' || relname = any ($1)`,
        [tables],
      );
      return result.rows[0] as { rows: number; pages: number };
    };
    const before = await read();
    await work(client);
    const after = await read();
    await client.query("commit");
    return { rows: after.rows - before.rows, pages: after.pages - before.pages };
  });
}

/** The rows of it. */
export async function rowsRead(...given: Parameters<typeof readingOf>): Promise<number> {
  return (await readingOf(...given)).rows;
}
