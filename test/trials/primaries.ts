import pg from "pg";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { buildSchema, noteInstallation } from "../helpers/database/schema.ts";

/** Two primaries, each with the whole schema, the same users and markets of its own. */

/** One of the primaries. Whatever is done at both is done at the first one first. */
export type Side = 0 | 1;

export const sides: readonly Side[] = [0, 1];

/** A thing of each primary. */
export type Both<T> = [T, T];

export function otherSide(side: Side): Side {
  return side === 0 ? 1 : 0;
}

/** A user of both primaries. */
export interface User {
  /** The public id in each of them. */
  ids: Both<string>;
  /** Where the user's cash is. Elsewhere is an allowance. */
  home: Side;
}

/** What the processes of the trial have to know; it can be sent to a child. */
export interface Exchange {
  /** Connection strings. */
  addresses: Both<string>;
  /** Public ids. */
  markets: Both<string[]>;
  users: User[];
}

export interface Sizes {
  /** In the second primary; the first one has twice as many, so that it can have all orders. */
  markets: number;
  users: number;
}

/** What a user gets from outside, at home. */
export const FUNDS_CENTS = 10_000_000;
/** Enough for both offers of a maker. */
const MAKER_FUNDS_CENTS = 10_000_000;
const MAKER_PRICE = 45;
const MOST_SHARES = 10_000;

/** As durable as in production, and room for prepared transactions. */
const settings = {
  max_prepared_transactions: "64",
  max_wal_size: "4GB",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

/** Starts a cluster. */
export async function startPrimary(): Promise<TemporaryCluster> {
  return await startTemporaryCluster("trial", { settings });
}

/** A session whose loss ends nothing but itself. */
export async function connectTo(address: string, role?: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: address,
    ...(role !== undefined && { options: `-c role=${role}` }),
    application_name: "pgmarkets trial",
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Builds the schema in both, with users, markets and offers, by the functions of operators. */
export async function seedExchange(addresses: Both<string>, sizes: Sizes): Promise<Exchange> {
  const users: User[] = Array.from({ length: sizes.users }, (_, index) => ({
    ids: ["", ""],
    home: index % 2 === 0 ? 0 : 1,
  }));
  const markets: Both<string[]> = [[], []];
  const seed = async (side: Side) => {
    const client = await connectTo(addresses[side]);
    await buildSchema(client);
    await noteInstallation(client);
    await client.query("begin");
    for (const [index, user] of users.entries()) {
      const funds = user.home === side ? FUNDS_CENTS : 0;
      user.ids[side] = await makeUser(client, `user${index}`, funds);
    }
    await client.query("select admin.create_category(slug => 'trial', name => 'Trial')");
    const count = side === 0 ? 2 * sizes.markets : sizes.markets;
    for (let index = 0; index < count; index++) {
      markets[side].push(await makeMarket(client, index));
    }
    await client.query("commit");
    await client.query("vacuum (analyze)");
    await client.end();
  };
  await Promise.all(sides.map(seed));
  return { addresses, markets, users };
}

/** What came from outside into both primaries. */
export function depositedCents({ markets, users }: Exchange): number {
  return users.length * FUNDS_CENTS + markets.flat().length * MAKER_FUNDS_CENTS;
}

async function makeUser(client: pg.Client, name: string, fundsCents: number): Promise<string> {
  const { rows } = await client.query(
    `select admin.create_user(
       email => $1 || '@trial.example', display_name => $1, handle => $1
     ) as id`,
    [name],
  );
  const { id } = rows[0];
  await client.query(
    `select admin.set_loss_limits(
       user_id => $1, day_cents => null, week_cents => null, month_cents => null
     )`,
    [id],
  );
  if (fundsCents > 0) {
    await client.query(
      "select admin.deposit(user_id => $1, amount_cents => $2, reference => 'start')",
      [id, fundsCents],
    );
  }
  return id;
}

/** A market with a maker of its own, who offers both sides. */
async function makeMarket(client: pg.Client, index: number): Promise<string> {
  const { rows } = await client.query(
    "select admin.create_market(title => $1, category => 'trial') as id",
    [`Market ${index}`],
  );
  const marketId: string = rows[0].id;
  const userId = await makeUser(client, `maker${index}`, MAKER_FUNDS_CENTS);
  const offers = ["yes", "no"].map((side) => ({
    ...{ marketId, userId, side, price: MAKER_PRICE, quantity: MOST_SHARES },
  }));
  const placed = await client.query("select code from api.place_orders(orders => $1)", [
    JSON.stringify(offers),
  ]);
  if (placed.rows.some(({ code }) => code !== null)) throw new Error("an offer was rejected");
  return marketId;
}
