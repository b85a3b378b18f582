import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { ordersIn } from "../helpers/exchange/orders.ts";
import { until } from "../helpers/until.ts";
import type { Journal } from "./load.ts";
import { isTrue, withClient } from "./run.ts";
import { connectTo } from "./system.ts";
import type { System } from "./system.ts";

/** A moment between two trades, to which a lost database is restored. */
export interface Moment {
  /** For `recovery_target_time`. */
  at: string;
  /** The taker's order of the trade before it, and of the one after it. */
  before: string;
  after: string;
}

/** Trades, notes the moment, trades again, and waits until the WAL is in the archive. */
export async function tradeAround(connect: System["connect"]): Promise<Moment> {
  return await withClient(connect, async (client) => {
    const before = await trade(client);
    await delay(50);
    const { rows } = await client.query("select clock_timestamp()::text as at");
    await delay(50);
    const after = await trade(client);
    await archiveAll(client);
    return { at: String(rows[0].at), before, after };
  });
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

/** How to connect to a restored cluster, once it is open. */
export async function whenOpen(connectionString: string): Promise<System["connect"]> {
  const connect = () => connectTo(connectionString);
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

/** Whether the database is that of the moment, sound, and one to go on with. */
export async function isOfMoment(
  system: Pick<System, "connect" | "serverLog">,
  journal: Journal,
  { before, after }: Moment,
): Promise<boolean> {
  const sound = await isTrue(system, journal);
  const { rows } = await withClient(system.connect, (client) =>
    client.query(
      `select o.public_id as id, count(t.id) as trades
       from trading.orders as o
       left join trading.trades as t on t.taker_order_id = o.id
       where o.public_id = any ($1)
       group by o.public_id`,
      [[before, after]],
    ),
  );
  const isCut = rows.length === 1 && rows[0].id === before && Number(rows[0].trades) === 1;
  if (!isCut) console.error(`expected the trade of ${before} only: ${JSON.stringify(rows)}`);
  await withClient(system.connect, trade);
  const goesOn = await isTrue(system, journal);
  if (sound && isCut && goesOn) {
    console.log("the first trade is there, the second is not, the ledger is sound and goes on");
  }
  return sound && isCut && goesOn;
}
