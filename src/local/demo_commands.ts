import type { Pool, PoolClient } from "pg";
import { call } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { CommandResult, OrderRequest } from "../database/calls.ts";
import type { DatabaseRole } from "../database/pools.ts";

/** What the demo asks of the database at a start, each part as the role whose part it is. */

const DAY_MS = 86_400_000;

/** A user of the demo. */
export interface DemoUser {
  email: string;
  name: string;
  handle: string;
}

/** A user with cash, and without loss limits. */
export async function createFundedUser(
  client: PoolClient,
  { email, handle, name }: DemoUser,
  fundsCents: number,
): Promise<string> {
  await actAs(client, "exchange_operator");
  const { rows } = await client.query<{ id: string }>(
    "select admin.create_user(email => $1, display_name => $2, handle => $3) as id",
    [email, name, handle],
  );
  const { id } = at(rows, 0);
  await client.query(
    `select admin.set_loss_limits(
       user_id => $1, day_cents => null, week_cents => null, month_cents => null
     )`,
    [id],
  );
  await client.query("select admin.give_bonus(name => $1, users => $2)", [
    "demo",
    JSON.stringify([{ user_id: id, amount_cents: fundsCents }]),
  ]);
  return id;
}

export async function createEvent(
  client: PoolClient,
  event: { title: string; category: string; description: string; isExclusive?: true },
  { startsAt, endsAt, live = false }: { startsAt: Date; endsAt?: Date; live?: boolean },
): Promise<string> {
  await actAs(client, "exchange_operator");
  const { rows } = await client.query<{ id: string }>(
    `select admin.create_event(
       title => $1, category => $2, description => $3, starts_at => $4, ends_at => $5, live => $6,
       exclusive => $7
     ) as id`,
    [
      ...[event.title, event.category, event.description, startsAt, endsAt, live],
      event.isExclusive ?? false,
    ],
  );
  return at(rows, 0).id;
}

/** A market of the demo. `source` says what decides its outcome, and where that is found. */
export interface DemoMarket {
  title: string;
  category: string;
  description: string;
  outcomeName?: string;
  source?: { rules: string; url: string };
}

export async function createMarket(
  client: PoolClient,
  market: DemoMarket,
  eventId: string | undefined,
  closesAt: Date,
): Promise<string> {
  await actAs(client, "exchange_operator");
  const { rows } = await client.query<{ id: string }>(
    `select admin.create_market(
       title => $1, category => $2, description => $3, event_id => $4, close_time => $5,
       outcome_name => $6
     ) as id`,
    [market.title, market.category, market.description, eventId, closesAt, market.outcomeName],
  );
  const { id } = at(rows, 0);
  if (market.source !== undefined) {
    await client.query(
      "select admin.set_market_source(market_id => $1, rules => $2, source_url => $3)",
      [id, market.source.rules, market.source.url],
    );
  }
  return id;
}

/** Places orders that are good. */
export async function place(client: PoolClient, orders: OrderRequest[]): Promise<void> {
  await actAs(client, "exchange_api");
  const results = await placeOrders(client, orders);
  const rejected = results.find(({ code }) => code !== null);
  if (rejected) throw new Error(`A demo order was rejected: ${rejected.message ?? ""}`);
}

export async function placeOrders(
  client: PoolClient,
  orders: OrderRequest[],
): Promise<CommandResult[]> {
  return await call(client, api.placeOrders, { orders, atomic: false, waits: true });
}

export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** The login may become any of the roles. Each role may do its own part only. */
export async function actAs(client: PoolClient, role: DatabaseRole): Promise<void> {
  await client.query(`set local role ${role}`);
}

export function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

export function at<T>(items: readonly (T | undefined)[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`There is no item ${index}`);
  return item;
}
