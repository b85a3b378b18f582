import pg from "pg";
import type { Pool } from "pg";
import { readDocument } from "../docs/document.ts";
import type { Block } from "../docs/document.ts";
import { checkAndDrop } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import { seedOldRows } from "./old_rows_seed.ts";
import { restLiquidity } from "./orders.ts";
import { markdownTable } from "./report.ts";

/** The days over which the old rows are spread. */
const DAYS = 50;

/** How many of these days lie before the first of the page's made-up days. */
const DAYS_BEFORE = 10;

/** Of so many markets one is resolved, whichever the page asks about is not. */
const MARKETS_A_RESOLUTION = 10;
const ASKED_MARKET = 7;

/** What PostgreSQL says of a statement that took longer than the login may. */
const STATEMENT_TIMEOUT = "57014";

/** What the oldest orders offer, on either side: less than the makers of all trades after them. */
const UNTRADED_PRICE = 25;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * What each question of docs/analytics.md takes when the tables are full: by a login as the page
 * makes it, the second time it is asked.
 */
export async function timeCookbook({ sizes, cluster }: Bench): Promise<string> {
  const page = readDocument("docs/analytics.md");
  const database = await cluster.createDatabase("cookbook");
  const { pool } = database;
  await restLiquidity(pool, sizes.markets, UNTRADED_PRICE);
  for (const table of ["catalog.markets", "trading.active_orders", "trading.ended_orders"]) {
    await pool.query(`update ${table} set created_at = created_at - interval '${DAYS + 1} days'`);
  }
  // The calls that made the markets are in the audit log, which is append-only.
  await pool.query(
    `begin;
     set local session_replication_role = replica;
     update admin.audit_log set at = at - interval '${DAYS + 1} days'
     where action = 'create_market';
     commit`,
  );
  // The identifier of an order tells when it was made.
  for (const table of ["trading.active_orders", "trading.ended_orders"]) {
    const column = table === "trading.ended_orders" ? "public_id" : "order_public_id";
    const moved = `core.uuid_v7_at(core.uuid_v7_time(${column}) - interval '${DAYS + 1} days')`;
    await pool.query(
      `update ${table} set ${column} = (left(${moved}::text, 14) || substr(${column}::text, 15))::uuid`,
    );
  }
  await seedOldRows(database, sizes.oldRows, DAYS);
  await resolveSome(pool, sizes.markets);
  await pool.query("vacuum (analyze)");

  const client = new pg.Client(await makeAnalyst(database, page.blocks));
  await client.connect();
  const lines: string[][] = [];
  for (const { heading, text } of page.blocks.filter(isQuestion)) {
    const question = inTermsOfTheSeed(text);
    await timeQuery(client, question);
    const { rows, ms } = await timeQuery(client, question);
    console.error(`  ${heading} ${ms} ms`);
    lines.push([heading, rows, ms]);
  }
  await client.end();
  await checkAndDrop(database);
  const number = sizes.oldRows.toLocaleString("en");
  return [
    `### The questions of docs/analytics.md, asked of ${number} trades and as many orders`,
    markdownTable(["question", "rows", "ms"], lines),
  ].join("\n\n");
}

async function resolveSome(pool: Pool, markets: number): Promise<void> {
  for (let market = MARKETS_A_RESOLUTION; market <= markets; market += MARKETS_A_RESOLUTION) {
    const outcome = market % (2 * MARKETS_A_RESOLUTION) === 0 ? "yes" : "no";
    await pool.query("select admin.resolve_market(market_id => $1, outcome => $2)", [
      publicId(market),
      outcome,
    ]);
  }
}

/** Makes the page's login; returns how it connects. */
async function makeAnalyst(
  { pool, connectionString }: BenchDatabase,
  blocks: Block[],
): Promise<pg.ClientConfig> {
  const [dba] = blocks.filter(({ info }) => info === "dba");
  for (const statement of dba?.text.split(/;$/m) ?? []) await pool.query(statement);
  return {
    connectionString: connectionString.replace("//postgres@", "//ada:change-me-5@"),
    application_name: "pgmarkets bench",
  };
}

function isQuestion({ language, info, heading }: Block): boolean {
  return language === "sql" && info === "" && heading.endsWith("?");
}

/** Puts a market, traders and days that the seed has in the place of the page's. */
function inTermsOfTheSeed(sql: string): string {
  const firstDay = Date.now() - (DAYS - DAYS_BEFORE) * DAY_MS;
  return sql
    .replaceAll(/\btitle = '[^']*'/g, `title = 'Market ${ASKED_MARKET}'`)
    .replaceAll(/\bhandle in \([^)]*\)/g, "handle in ('trader1', 'trader2')")
    .replaceAll(/\b2030-\d\d-\d\d\b/g, (day) => {
      const shifted = firstDay + (Date.parse(day) - Date.parse("2030-01-01"));
      return new Date(shifted).toISOString().slice(0, "2030-01-01".length);
    });
}

async function timeQuery(client: pg.Client, sql: string): Promise<Record<"rows" | "ms", string>> {
  const began = performance.now();
  try {
    const { rowCount } = await client.query(sql);
    const ms = Math.round(performance.now() - began);
    return { rows: (rowCount ?? 0).toLocaleString("en"), ms: ms.toLocaleString("en") };
  } catch (error) {
    const tooLong = error instanceof pg.DatabaseError && error.code === STATEMENT_TIMEOUT;
    if (tooLong) return { rows: "-", ms: "over 60,000" };
    throw error;
  }
}
