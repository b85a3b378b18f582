import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PoolClient } from "pg";
import { z } from "zod";
import { call } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { KeyCaller, OrderRequest } from "../database/calls.ts";
import { makePool } from "../database/pools.ts";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";
import { categories, demoMarkets, events, makers, trader } from "./demo_catalogue.ts";
import type { DemoMarket } from "./demo_catalogue.ts";
import { actAs, at, createEvent, createFundedUser, createMarket } from "./demo_commands.ts";
import { inDays, inTransaction, place, placeOrders } from "./demo_commands.ts";
import { prepareLivingDemo } from "./demo_history.ts";
import type { LivingDemo } from "./demo_history.ts";
import { embeddedDirectory } from "./open_database.ts";
import { readIfPresent } from "./postgres_process.ts";

/** What people need to try the service. */
export interface Demo {
  /** The demo trader's. */
  apiKey: string;
  /** An open market where YES is for sale. */
  marketId: string;
  /** In an embedded database: what the demo traders trade in. */
  living: LivingDemo | undefined;
}

export interface DemoOptions {
  /**
   * The database is the embedded one, so nobody's money is in it: there is play money for all who
   * sign up, and demo traders trade. In a database of DATABASE_URL there is the catalogue only.
   */
  isEmbedded: boolean;
  keyFile?: string;
}

const MAKER_FUNDS_CENTS = 50_000_000;
const TRADER_FUNDS_CENTS = 1_000_000;
const PLAY_MONEY_CENTS = 100_000;

/**
 * Fills a database without categories with the demo catalogue, makers and a funded trader. At later
 * starts, makes sure that the key works and that YES is for sale. Undefined for a database with
 * another catalogue.
 */
export async function prepareDemo(
  connectionString: string,
  { isEmbedded, keyFile = join(embeddedDirectory, "demo.json") }: DemoOptions,
): Promise<Demo | undefined> {
  const pool = makePool({ connectionString, applicationName: "pgmarkets demo", max: 1 });
  try {
    // One transaction, so that there is never half a demo.
    const prepared = await inTransaction(pool, async (client) => {
      let existing = await findDemo(client);
      if (existing === undefined) {
        // Another process that starts now may be making it.
        await client.query("lock table catalog.categories in share row exclusive mode");
        existing = await findDemo(client);
      }
      if (existing === undefined) {
        if (await hasCategories(client)) return undefined;
        await createCategories(client);
      }
      // The past is made first, so that the ids of all trades rise with their times.
      const living = isEmbedded ? await prepareLivingDemo(client) : undefined;
      return { found: existing ?? (await createDemo(client)), living };
    });
    if (prepared === undefined) return undefined;
    const { found, living } = prepared;
    const apiKey = await inTransaction(pool, (client) => keyOf(client, found.traderId, keyFile));
    await inTransaction(pool, (client) => makeSureSomebodySells(client, found));
    if (isEmbedded) await inTransaction(pool, openSignUp);
    if (isEmbedded) await inTransaction(pool, refreshLeaderboard);
    return { apiKey, marketId: found.marketId, living };
  } finally {
    await pool.end();
  }
}

/** A command that trades in the demo, for a shell. */
export function describeTrade(url: string, { apiKey, marketId }: Demo): string {
  const order = { marketId, side: "yes", price: null, quantity: 10 };
  return (
    `curl -si ${url}/api/v1/orders -H 'Authorization: Bearer ${apiKey}' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`
  );
}

/** What later starts have to find again. */
interface Found {
  traderId: string;
  makerId: string;
  marketId: string;
}

// No function of the database knows of the demo, so these two read tables.

async function hasCategories(client: PoolClient): Promise<boolean> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<{ found: boolean }>(
    "select exists (select from catalog.categories) as found",
  );
  return rows[0]?.found === true;
}

async function findDemo(client: PoolClient): Promise<Found | undefined> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<Found>(
    `select
       (select u.public_id from identity.users as u where u.handle = $1) as "traderId",
       (select u.public_id from identity.users as u where u.handle = $2) as "makerId",
       (select m.public_id from catalog.markets as m
        where m.title = any ($3) and m.status = 'open' order by m.id limit 1) as "marketId"`,
    [trader.handle, makers[0].handle, demoMarkets.map((market) => market.title)],
  );
  const [found] = rows;
  const complete = found?.traderId && found.makerId && found.marketId;
  return complete ? found : undefined;
}

async function createCategories(client: PoolClient): Promise<void> {
  await actAs(client, "exchange_operator");
  for (const { name, slug } of categories) {
    await client.query("select admin.create_category(slug => $1, name => $2)", [slug, name]);
  }
}

async function createDemo(client: PoolClient): Promise<Found> {
  const eventIds = new Map<string, string>();
  for (const event of events) {
    const startsAt = inDays(event.startsInDays);
    eventIds.set(event.title, await createEvent(client, event, { startsAt }));
  }

  const makerIds: string[] = [];
  for (const maker of makers) {
    makerIds.push(await createFundedUser(client, maker, MAKER_FUNDS_CENTS));
  }
  const traderId = await createFundedUser(client, trader, TRADER_FUNDS_CENTS);

  const marketIds: string[] = [];
  for (const market of demoMarkets) {
    const eventId = eventIds.get(market.event ?? "");
    const marketId = await createMarket(client, market, eventId, inDays(market.closesInDays));
    marketIds.push(marketId);
    await place(client, openingOrders(marketId, market, makerIds));
  }
  return { traderId, makerId: at(makerIds, 0), marketId: at(marketIds, 0) };
}

/** Both sides quoted around the market's price by one maker, and some trades by the others. */
function openingOrders(marketId: string, market: DemoMarket, makerIds: string[]): OrderRequest[] {
  const [quoting, ...taking] = makerIds;
  const trades = market.trades.map(([side, quantity], index) => ({
    marketId,
    userId: at(taking, index % taking.length),
    side,
    price: null,
    quantity,
  }));
  return [...quotes(marketId, at([quoting], 0), market.price), ...trades];
}

/** Five levels on each side, in the form of buys: YES below the price, NO below the rest of 100. */
function quotes(marketId: string, userId: string, yesPrice: number): OrderRequest[] {
  const sizes = [200, 350, 500, 750, 1000];
  return sizes.flatMap((quantity, level) => [
    { marketId, userId, side: "yes", price: yesPrice - 1 - level, quantity },
    { marketId, userId, side: "no", price: 100 - yesPrice - 1 - level, quantity },
  ]);
}

/** Everybody may sign up and gets play money, unless an operator has set who may. */
async function openSignUp(client: PoolClient): Promise<void> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<{ isSet: boolean }>(
    `select s.changed_at is not null as "isSet" from identity.settings as s`,
  );
  if (rows[0]?.isSet !== false) return;
  await actAs(client, "exchange_operator");
  await client.query("select admin.set_sign_up(policy => 'open', play_money_cents => $1)", [
    PLAY_MONEY_CENTS,
  ]);
}

/** The history is ranked at once, and not when the worker does it. */
async function refreshLeaderboard(client: PoolClient): Promise<void> {
  await actAs(client, "exchange_operator");
  await client.query("select admin.refresh_leaderboard()");
}

/** The orders of the first start may all be filled. */
async function makeSureSomebodySells(client: PoolClient, found: Found): Promise<void> {
  await actAs(client, "exchange_api");
  const view = await call(client, api.getMarket, { marketId: found.marketId });
  const { bestAsk, bestBid } = z
    .object({ bestAsk: z.int().nullable(), bestBid: z.int().nullable() })
    .parse(JSON.parse(view?.body ?? "{}"));
  if (bestAsk !== null) return;
  const price = Math.max(bestBid ?? 50, 50);
  const { makerId: userId, marketId } = found;
  const order = { marketId, userId, side: "no", price: 99 - price, quantity: 1000 } as const;
  // A rejection, as of a maker without money, must not stop the start.
  await placeOrders(client, [order]);
}

/** The key that was made at an earlier start, if it is still good, or else a new one. */
async function keyOf(client: PoolClient, traderId: string, keyFile: string): Promise<string> {
  const kept = await readKey(keyFile);
  if (kept !== undefined) {
    await actAs(client, "exchange_api");
    const secret = { kinds: ["key"], hashes: [sha256Of(kept)], details: [null] };
    const [caller = null] = await call(client, api.authenticate, secret);
    if (caller !== null && (JSON.parse(caller) as KeyCaller).userId === traderId) return kept;
  }
  await actAs(client, "exchange_operator");
  const { rows } = await client.query<{ key: string }>(
    "select admin.create_api_key(user_id => $1, name => $2) as key",
    [traderId, "demo"],
  );
  const apiKey = at(rows, 0).key;
  await writeKey(keyFile, apiKey);
  return apiKey;
}

const keyFileSchema = z.object({
  apiKey: z.string().refine((key) => isWellFormedSecret(key, "jk_")),
});

async function readKey(keyFile: string): Promise<string | undefined> {
  const text = await readIfPresent(keyFile);
  if (text === undefined) return undefined;
  try {
    return keyFileSchema.parse(JSON.parse(text)).apiKey;
  } catch {
    return undefined; // damaged: as if missing
  }
}

async function writeKey(keyFile: string, apiKey: string): Promise<void> {
  await mkdir(dirname(keyFile), { recursive: true });
  const unfinished = `${keyFile}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify({ apiKey })}\n`, { mode: 0o600 });
  await rename(unfinished, keyFile);
}
