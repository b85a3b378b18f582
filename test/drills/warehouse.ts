import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import { readDocument } from "../docs/document.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { readText } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { startLoad } from "./load.ts";
import type { Journal, Load } from "./load.ts";
import { isTrue, newJournal, runDrill, seed, switchesHaveFired, withClient } from "./run.ts";
import { startServer, startWorker } from "./server_process.ts";
import { connectToCluster, lockDown } from "./upgrade_steps.ts";

/**
 * `npm run drill:warehouse [-- --short]`: makes a warehouse under load, by the files of
 * `deploy/warehouse/` and the statements of docs/operating/standbys.md. Analysts get the same answers there,
 * also after it was down, and history that is deleted on the primary stays. Ends with 1 otherwise.
 *
 * The primary is npm's PostgreSQL 18, the warehouse Debian's oldest one, and in the long form then
 * the other way round. Without a PostgreSQL of Debian, both are npm's.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 1500 : 8000;
const clients = values.short ? 8 : 16;
const CATCHING_UP_TIMEOUT_MS = 120_000;

/** Of other people's data only keys are sent, and no limits. */
const VIEWS_OF_PEOPLE = ["analytics.loss_limits", "analytics.users"];
/** The cookbook's market, in whose place comes one of the drill's. */
const EXAMPLE_MARKET = "01900000-0000-7000-8000-000000000000";
/** Queries of docs/analytics.md that answer something about the drill's trading. */
const FEWEST_QUERIES = 5;

/** The books of the past, after the last trade of each market. */
const BOOKS = `
  select m.market_key, b.*
  from analytics.markets as m
  cross join lateral (
    select max(t.created_at) as at from analytics.trades as t where t.market_key = m.market_key
  ) as t
  cross join lateral analytics.book_as_of(m.market_id, t.at) as b
  order by 1, 2, 3`;

const COUNTS = `
  select (select count(*) from trading.trades)::int as trades,
    (select count(*) from ledger.posted_entries)::int as entries,
    (select count(*) from trading.archived_orders)::int as orders,
    (select sum(taker_cents + maker_cents) from trading.trades) as cents`;

const page = readDocument("docs/operating/standbys.md");
const cookbook = readDocument("docs/analytics.md");

interface Site {
  primary: TemporaryCluster;
  warehouse: TemporaryCluster;
  /** Of the warehouse, which is started again. */
  options: ClusterOptions;
  url: string;
  serverLog: () => string;
  destroy: () => Promise<void>;
}

type ClusterOptions = Parameters<typeof startTemporaryCluster>[1];

const programs = findDebianPostgres();
const npms: ClusterOptions = { settings: { wal_level: "logical" } };
const debians = programs === undefined ? npms : { ...npms, programsDirectory: programs };
await runDrill(() => startSite(npms, debians), drill);
if (!values.short && process.exitCode === 0 && debians !== npms) {
  await runDrill(() => startSite(debians, npms), drill);
}

async function startSite(ofPrimary: ClusterOptions, ofWarehouse: ClusterOptions): Promise<Site> {
  const primary = await startTemporaryCluster("drill", ofPrimary);
  const ends: (() => Promise<void>)[] = [primary.destroy];
  const destroy = async (): Promise<void> => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const warehouse = await startTemporaryCluster("drill", ofWarehouse);
    ends.push(warehouse.destroy);
    const { connectionString } = primary.server;
    await migrateDatabase(connectionString);
    await lockDown(primary);
    const worker = startWorker(connectionString);
    ends.push(worker.end);
    const server = await startServer(connectionString);
    ends.push(server.end);
    const options = ofWarehouse;
    return { primary, warehouse, options, url: server.url, serverLog: server.log, destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function drill(site: Site): Promise<boolean> {
  const journal = newJournal();
  const connect = () => connectToCluster(site.primary);
  const seeded = await withClient(connect, seed);
  const load = startLoad({ ...seeded, url: site.url, journal, clients, withKeys: true });
  try {
    await delay(loadMs);
    await migrateDatabase(site.warehouse.server.connectionString);
    await runFile(site.warehouse, "prepare");
    await runFile(site.primary, "publish");
    await subscribe(site);
    await delay(loadMs);
    await beDown(site, load);
    await delay(loadMs);
  } finally {
    await load.stop();
  }
  await switchesHaveFired(connect);
  if (!(await isTrue({ connect, serverLog: site.serverLog }, journal))) return false;
  await expectSameAnswers(site, "after it was down");
  await archiveIntoNextMonth(site.primary);
  await expectSameAnswers(site, "with a new partition");
  await keepWhatLeaves(site);
  await startAgain(site, journal);
  return true;
}

/** Runs a file of deploy/warehouse, with the clusters of the drill in the place of its own. */
async function runFile(cluster: TemporaryCluster, name: string, site?: Site): Promise<void> {
  const text = readText(`deploy/warehouse/${name}.sql`);
  const url = site?.primary.server.connectionString.replace("//postgres@", "//markets_warehouse@");
  const named = url === undefined ? text : text.replace(/'postgres:\/\/[^']*'/, `'${url}'`);
  // History of the drill is younger than a week.
  const aged = named.replaceAll("interval '7 days'", "interval '0'");
  await withClient(
    () => connectToCluster(cluster),
    (client) => client.query(aged),
  );
}

/** A statement of the page. */
function statement(info: string): string {
  const found = page.blocks.filter((block) => block.language === "sql" && block.info === info);
  if (found.length !== 1) throw new Error(`The page has ${found.length} blocks: sql ${info}`);
  return found[0]?.text ?? "";
}

async function subscribe(site: Site): Promise<void> {
  const began = performance.now();
  await runFile(site.warehouse, "subscribe", site);
  await withClient(
    () => connectToCluster(site.warehouse),
    async (client) => {
      const isCopied = async (): Promise<boolean> => {
        const { rows } = await client.query(statement("warehouse copied"));
        return rows[0]?.is_copied === true;
      };
      await until("all tables are copied", isCopied, CATCHING_UP_TIMEOUT_MS);
    },
  );
  console.log(`copied in ${secondsSince(began)} s`);
}

/** The warehouse stops under load, and starts again. The page's query shows what waits for it. */
async function beDown(site: Site, load: Load): Promise<void> {
  const { warehouse, primary, options } = site;
  await warehouse.server.stop();
  await delay(loadMs);
  await load.nextAccepted();
  await withClient(
    () => connectToCluster(primary),
    async (client) => {
      const { rows } = await client.query(statement("primary lag"));
      if (rows[0]?.active !== false) throw new Error(`not down: ${JSON.stringify(rows)}`);
      console.log(`while it was down, ${rows[0].waiting} of WAL waited for it`);
    },
  );
  const { directory } = warehouse;
  warehouse.server = await startEmbeddedPostgres({ ...options, directory });
}

/** Waits until the warehouse has all that the primary has committed by now. */
async function catchUp({ primary, warehouse }: Site): Promise<void> {
  const began = performance.now();
  const connect = () => connectToCluster(primary);
  await withClient(connect, async (client) => {
    const { rows } = await client.query("select pg_current_wal_insert_lsn() as lsn");
    const hasAll = async (): Promise<boolean> => {
      const found = await client.query(
        `select from pg_replication_slots
         where slot_name = 'pgmarkets_warehouse' and confirmed_flush_lsn >= $1`,
        [rows[0].lsn],
      );
      return found.rowCount === 1;
    };
    await until("the warehouse has caught up", hasAll, CATCHING_UP_TIMEOUT_MS);
  });
  await withClient(
    () => connectToCluster(warehouse),
    (client) => client.query("analyze"),
  );
  console.log(`caught up in ${secondsSince(began)} s`);
}

/** Each view of analysts, the cookbook and the books of the past are the same on both. */
async function expectSameAnswers(site: Site, when: string): Promise<void> {
  await catchUp(site);
  const [ours, theirs] = await Promise.all(
    [site.primary, site.warehouse].map((cluster) =>
      withClient(() => connectToCluster(cluster), readAnswers),
    ),
  );
  const questions = [...(ours?.keys() ?? [])];
  const different = questions.filter((question) => ours?.get(question) !== theirs?.get(question));
  if (different.length > 0) {
    const [first = ""] = different;
    throw new Error(
      `Not the same ${when}: ${different.join("\n")}\n${ours?.get(first)}\n${theirs?.get(first)}`,
    );
  }
  const answered = questions.filter((question) => !/^(\[\]|0 )/.test(ours?.get(question) ?? ""));
  const queries = answered.filter((question) => !question.startsWith("analytics."));
  if (queries.length < FEWEST_QUERIES) throw new Error(`Only ${queries.length} queries answered`);
  const views = answered.length - queries.length;
  console.log(`${when}: ${views} views and ${queries.length} queries have rows, the same on both`);
}

async function readAnswers(client: Client): Promise<Map<string, string>> {
  await client.query("set role exchange_analyst");
  const answers = new Map<string, string>();
  const { rows: views } = await client.query(
    `select c.oid::regclass::text as name from pg_class as c
     where c.relnamespace = 'analytics'::regnamespace and c.relkind = 'v' order by 1`,
  );
  for (const { name } of views as { name: string }[]) {
    if (VIEWS_OF_PEOPLE.includes(name)) continue;
    const { rows } = await client.query(
      `select count(*) || ' ' || coalesce(md5(string_agg(v::text, ' ' order by v::text)), '') as hash
       from ${name} as v`,
    );
    answers.set(name, rows[0].hash);
  }
  const { rows: markets } = await client.query(
    "select min(market_id::text) as id from analytics.markets",
  );
  for (const question of [...questionsOfCookbook(), BOOKS]) {
    answers.set(
      question,
      await answerTo(client, question.replaceAll(EXAMPLE_MARKET, markets[0].id)),
    );
  }
  return answers;
}

/** Some queries of the cookbook are refused, since their days are those of another history. */
async function answerTo(client: Client, question: string): Promise<string> {
  try {
    return JSON.stringify((await client.query(question)).rows);
  } catch (error) {
    return `[] ${String(error)}`;
  }
}

/** Those that name no people, and not the time at which they are asked. */
function questionsOfCookbook(): string[] {
  return cookbook.blocks
    .filter(({ language, info }) => language === "sql" && info === "")
    .map(({ text }) => text)
    .filter((text) => !/analytics\.(users|loss_limits|now\(\))|handle/.test(text));
}

/** Orders of the next month, as if they had waited for the archive: it makes their partition. */
async function archiveIntoNextMonth(primary: TemporaryCluster): Promise<void> {
  await withClient(
    () => connectToCluster(primary),
    async (client) => {
      await client.query(
        `update trading.ended_orders
         set ended_at = ended_at - interval '40 days',
           public_id = overlay(
             public_id::text
             placing left(core.uuid_v7_at(core.now() + interval '35 days')::text, 13) from 1 for 13
           )::uuid
         where filled_quantity = 0`,
      );
      const { rows } = await client.query("select trading.archive_orders(100000) as moved");
      if (!(rows[0].moved > 0)) throw new Error("Nothing was archived");
      console.log(`${rows[0].moved} orders moved into a partition that is new on the primary`);
    },
  );
}

async function countIn(cluster: TemporaryCluster): Promise<Record<string, unknown>> {
  return await withClient(
    () => connectToCluster(cluster),
    async (client) => (await client.query(COUNTS)).rows[0],
  );
}

/** What is deleted, truncated or detached on the primary. */
async function keepWhatLeaves(site: Site): Promise<void> {
  const before = await countIn(site.warehouse);
  await withClient(
    () => connectToCluster(site.primary),
    async (client) => {
      await client.query("set session_replication_role = replica");
      await client.query("delete from trading.trades where id % 2 = 0");
      await client.query("truncate ledger.posted_entries");
      const { rows } = await client.query(
        `select inhrelid::regclass as name from pg_inherits
         where inhparent = 'trading.archived_orders'::regclass`,
      );
      for (const { name } of rows) {
        await client.query(`alter table trading.archived_orders detach partition ${name}`);
      }
    },
  );
  await catchUp(site);
  await expectCounts(site, before, "after history left the primary");
  const left = await countIn(site.primary);
  if (left.entries !== 0 || left.orders !== 0 || left.trades === before.trades) {
    throw new Error(`Nothing left the primary: ${JSON.stringify(left)}`);
  }
}

async function expectCounts(site: Site, before: object, when: string): Promise<void> {
  const [told, expected] = [await countIn(site.warehouse), before].map((x) => JSON.stringify(x));
  if (told !== expected) throw new Error(`${when}: ${told} and not ${expected}`);
  console.log(`${when}, the warehouse has ${told}`);
}

/** The slot is lost, as with a primary that had it. History that is only here stays. */
async function startAgain(site: Site, journal: Journal): Promise<void> {
  const before = await countIn(site.warehouse);
  const onWarehouse = (text: string) =>
    withClient(
      () => connectToCluster(site.warehouse),
      (client) => client.query(text),
    );
  await onWarehouse(statement("warehouse disable"));
  await runFile(site.warehouse, "set_aside");
  await withClient(
    () => connectToCluster(site.primary),
    (client) => client.query(statement("primary forget")),
  );
  await subscribe(site);
  await runFile(site.warehouse, "put_back");
  await expectCounts(site, before, "after it was started again");
  console.log(`${journal.placings.length} orders were placed`);
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
