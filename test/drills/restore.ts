import { chown, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "pg";
import { copyCluster } from "./copies.ts";
import type { Copy } from "./copies.ts";
import type { Journal } from "./load.ts";
import { countAnswers, commandsOf, isTrue, runDrill, startDrillLoad, withClient } from "./run.ts";
import { connectTo, dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";
import { ordersIn } from "../helpers/exchange/orders.ts";
import { until } from "../helpers/until.ts";

/**
 * `npm run drill:restore [-- --short]`: takes a base backup under load, loses the database, and
 * restores backup and archived WAL to a moment between two trades. What was answered before the
 * moment is there, what came after is not, and the ledger is sound. Ends with 1 otherwise.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 500 : 5000;

/** Where the WAL goes, beside the data; for a real one, another machine. */
const ARCHIVE = "archive";

await runDrill(startArchivingSystem, drill);

async function startArchivingSystem(): Promise<System> {
  return await startSystem({
    // %p is relative to the data directory. What is there already must not be overwritten.
    settings: {
      archive_mode: "on",
      archive_command: `test ! -f ../${ARCHIVE}/%f && cp %p ../${ARCHIVE}/%f.part && mv ../${ARCHIVE}/%f.part ../${ARCHIVE}/%f`,
    },
    prepare: async ({ directory, server }) => {
      const path = join(directory, ARCHIVE);
      const { uid, gid } = await stat(join(directory, "postgres"));
      await mkdir(path, { mode: 0o700 });
      await chown(path, uid, gid);
      return server.connectionString;
    },
  });
}

async function drill(system: System): Promise<boolean> {
  const { cluster, connect } = system;
  const { journal, load } = await startDrillLoad(system);
  await delay(loadMs);
  const copy = await copyCluster(cluster);
  try {
    await delay(loadMs);
    await load.stop();
    console.log(`copied under load; ${countAnswers(commandsOf(journal))}`);

    const { first, moment, second } = await withClient(connect, async (client) => {
      const before = await trade(client);
      await delay(50);
      const { rows } = await client.query("select clock_timestamp()::text as moment");
      await delay(50);
      return { first: before, moment: String(rows[0].moment), second: await trade(client) };
    });
    await withClient(connect, archiveAll);
    await system.killDatabase();

    const began = performance.now();
    const restored = await restore(
      copy,
      join(await dataDirectoryOf(cluster), "..", ARCHIVE),
      moment,
    );
    console.log(`restored to ${moment} in ${(performance.now() - began).toFixed(0)} ms`);
    return await check({ ...system, connect: restored }, journal, first, second);
  } finally {
    await copy.destroy();
  }
}

/** Two traders meet in a market of their own; gives the taker's order. */
async function trade(client: Client): Promise<string> {
  const market = await client.query(
    "select admin.create_market(title => 'Apart', category => 'drill') as id",
  );
  const users = await client.query(
    "select u.public_id as id from identity.users as u order by u.id limit 2",
  );
  const place = async (user: { id: string }, side: string): Promise<string> => {
    const order = { userId: user.id, side, price: 50, quantity: 1, expiresAt: "2099-01-01" };
    const { rows } = await client.query(
      "select code, body::json -> 'order' ->> 'id' as id from api.place_orders(orders => $1)",
      [ordersIn(market.rows[0].id, [order])],
    );
    if (rows[0].code !== null) throw new Error(`An order was refused: ${String(rows[0].code)}`);
    return String(rows[0].id);
  };
  await place(users.rows[0], "no");
  return await place(users.rows[1], "yes");
}

/** Closes the segment that is being written and waits until it is in the archive. */
async function archiveAll(client: Client): Promise<void> {
  const { rows } = await client.query("select pg_walfile_name(pg_switch_wal()) as segment");
  const isArchived = "select last_archived_wal >= $1 as done from pg_stat_archiver";
  await until(
    "the WAL is archived",
    async () => (await client.query(isArchived, [rows[0].segment])).rows[0].done === true,
    30_000,
  );
}

/** Starts the copy, which takes WAL from the archive up to the moment; settles when it is open. */
async function restore(
  copy: Copy,
  archive: string,
  moment: string,
): Promise<() => Promise<Client>> {
  const { server } = await copy.start("recovery", {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_time: moment,
    recovery_target_action: "promote",
  });
  const connect = () => connectTo(server.connectionString);
  const isRecovering = "select pg_is_in_recovery() as value";
  await withClient(connect, (client) =>
    until(
      "the restored cluster is open",
      async () => (await client.query(isRecovering)).rows[0].value === false,
      60_000,
    ),
  );
  return connect;
}

async function check(
  system: Pick<System, "connect" | "serverLog">,
  journal: Journal,
  first: string,
  second: string,
): Promise<boolean> {
  const sound = await isTrue(system, journal);
  const { rows } = await withClient(system.connect, (client) =>
    client.query(
      `select o.public_id as id, count(t.id) as trades
       from trading.orders as o
       left join trading.trades as t on t.taker_order_id = o.id
       where o.public_id = any ($1)
       group by o.public_id`,
      [[first, second]],
    ),
  );
  const isCut = rows.length === 1 && rows[0].id === first && Number(rows[0].trades) === 1;
  if (!isCut) console.error(`expected the trade of ${first} only: ${JSON.stringify(rows)}`);
  // It is a database to go on with.
  await withClient(system.connect, trade);
  const after = await isTrue(system, journal);
  if (sound && isCut && after) {
    console.log("the first trade is there, the second is not, the ledger is sound and goes on");
  }
  return sound && isCut && after;
}
