import type { PoolClient } from "pg";
import { actAs, at, createEvent, createFundedUser, createMarket } from "./demo_commands.ts";
import { inDays, place } from "./demo_commands.ts";
import { chanceFrom, livingMakers, PAST_HOURS, planPast, planQuotes } from "./demo_plans.ts";
import type { Chance } from "./demo_plans.ts";
import { livingMarkets, livingTraders } from "./living_catalogue.ts";
import type { LivingMarket } from "./living_catalogue.ts";

/** What the demo traders trade in. */
export interface LivingDemo {
  /** In the order of the catalogue. */
  traderIds: string[];
  /** Those that are open. */
  markets: { id: string; market: LivingMarket }[];
}

const FUNDS_CENTS = 10_000_000;
const HOUR_MS = 3_600_000;
const SEED = 20_261;
/** A market that is renewed has at least so long to go after a start. */
const LEAST_HOURS = 4;

/**
 * Makes the living part of the demo, with four weeks of history, unless it is there, and otherwise
 * renews what is over. To be called in one transaction, by the superuser of the embedded cluster.
 */
export async function prepareLivingDemo(client: PoolClient): Promise<LivingDemo> {
  const existing = await findTraders(client);
  const chance = chanceFrom(SEED);
  if (existing.length === 0) await createPast(client, chance);
  else await renew(client, existing, chance);
  return { traderIds: await findTraders(client), markets: await findOpenMarkets(client) };
}

async function createPast(client: PoolClient, chance: Chance): Promise<void> {
  const now = Date.now();
  const { steps, prices } = planPast(chance);
  const traderIds: string[] = [];
  let marketIds: string[] = [];
  await inThePast(client, async (moveTo) => {
    await moveTo(now - PAST_HOURS * HOUR_MS);
    for (const trader of livingTraders) {
      traderIds.push(await createFundedUser(client, trader, FUNDS_CENTS));
    }
    marketIds = await createMarkets(client, livingMarkets);
    for (const { hoursAgo, orders, resolved } of steps) {
      await moveTo(now - hoursAgo * HOUR_MS);
      await place(
        client,
        orders.map(({ market, trader, terms }) => ({
          ...terms,
          marketId: at(marketIds, market),
          userId: at(traderIds, trader),
        })),
      );
      for (const index of resolved) {
        const { resolved: end } = at(livingMarkets, index);
        if (end !== undefined) await resolve(client, at(marketIds, index), end);
      }
    }
  });
  const open = livingMarkets.flatMap(({ resolved }, index) =>
    resolved === undefined ? [{ id: at(marketIds, index), price: at(prices, index) }] : [],
  );
  await openBooks(client, open, traderIds, chance);
}

/**
 * Runs `work` with a clock that it sets. Trades and ids have the time of the database's one clock,
 * and no function moves it, so that nobody can do so in production. Here its owner replaces it, as
 * tests do, and puts it back in the same transaction. No other session ever sees the replaced one,
 * and after an error, or when the process is killed, it was never there.
 */
async function inThePast(
  client: PoolClient,
  work: (moveTo: (ms: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<{ now: string; uuid: string }>(
    `select pg_get_functiondef('core.now()'::regprocedure) as now,
       pg_get_functiondef('core.uuid_v7()'::regprocedure) as uuid`,
  );
  await client.query(pastClock);
  await work(async (ms) => {
    const time = new Date(ms).toISOString();
    await client.query("select set_config('pgmarkets_demo.time', $1, true)", [time]);
  });
  await actAs(client, "exchange_owner");
  const { now, uuid } = at(rows, 0);
  await client.query(now);
  await client.query(uuid);
}

const pastClock = `
create or replace function core.now() returns timestamptz language sql volatile parallel safe
return current_setting('pgmarkets_demo.time')::timestamptz;

create or replace function core.uuid_v7() returns uuid language sql volatile parallel safe
return (
  lpad(to_hex((extract(epoch from core.now()) * 1000)::bigint), 12, '0') || '7'
  || substr(replace(gen_random_uuid()::text, '-', ''), 14)
)::uuid;
`;

/** Makes what is renewed and has less than some hours to go once more; resolves what is closed. */
async function renew(client: PoolClient, traderIds: string[], chance: Chance): Promise<void> {
  const titles = livingMarkets.flatMap(({ isRenewed, title }) => (isRenewed ? [title] : []));
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<Ending>(
    `select
       m.public_id as id, m.title, b.last_trade_price as price,
       m.status = 'closed' or m.close_time <= core.now() as "isOver",
       m.close_time < core.now() + $2 * interval '1 hour' as "isEnding"
     from catalog.markets as m
     join trading.market_state as b on b.market_id = m.id
     where m.title = any ($1) and m.status <> 'resolved'`,
    [titles, LEAST_HOURS],
  );
  for (const { id, isOver, price } of rows) {
    const outcome = (price ?? 50) < 50 ? "no" : "yes";
    const evidence = "The demo takes the likelier answer once its invented event is over.";
    if (isOver) await resolve(client, id, { outcome, evidence });
  }
  const missing = livingMarkets.filter(
    ({ isRenewed, title }) =>
      isRenewed && rows.every((row) => row.title !== title || row.isOver || row.isEnding),
  );
  const marketIds = await createMarkets(client, missing);
  const open = missing.map(({ price }, index) => ({ id: at(marketIds, index), price }));
  await openBooks(client, open, traderIds, chance);
}

interface Ending {
  id: string;
  title: string;
  price: number | null;
  isOver: boolean;
  isEnding: boolean;
}

async function createMarkets(client: PoolClient, markets: LivingMarket[]): Promise<string[]> {
  const eventIds = new Map<string, string>();
  const marketIds: string[] = [];
  for (const market of markets) {
    const { closesInDays, event } = market;
    if (event !== undefined && !eventIds.has(event.title)) {
      const closesAt = inDays(closesInDays);
      const span = event.isLive
        ? { startsAt: new Date(), endsAt: closesAt, live: true }
        : { startsAt: closesAt };
      eventIds.set(event.title, await createEvent(client, event, span));
    }
    const eventId = event && eventIds.get(event.title);
    marketIds.push(await createMarket(client, market, eventId, inDays(closesInDays)));
  }
  return marketIds;
}

async function resolve(
  client: PoolClient,
  marketId: string,
  { outcome, evidence }: { outcome: string; evidence: string },
): Promise<void> {
  await actAs(client, "exchange_operator");
  await client.query(
    "select admin.resolve_market(market_id => $1, outcome => $2, evidence => $3)",
    [marketId, outcome, evidence],
  );
}

/** The first quotes of the makers. In a live market the worker releases them. */
async function openBooks(
  client: PoolClient,
  markets: { id: string; price: number }[],
  traderIds: string[],
  chance: Chance,
): Promise<void> {
  const nothing = { cashCents: FUNDS_CENTS, shares: { yes: 0, no: 0 }, quotes: [] };
  const orders = markets.flatMap(({ id, price }) =>
    livingMakers.flatMap(({ index, spacing }) =>
      planQuotes(spacing, price, nothing, chance).orders.map((terms) => ({
        ...terms,
        marketId: id,
        userId: at(traderIds, index),
      })),
    ),
  );
  if (orders.length > 0) await place(client, orders);
}

// No function of the database knows of the demo, so these two read tables.

async function findTraders(client: PoolClient): Promise<string[]> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<{ id: string }>(
    `select u.public_id as id from identity.users as u
     where u.handle = any ($1) order by array_position($1, u.handle)`,
    [livingTraders.map(({ handle }) => handle)],
  );
  return rows.map(({ id }) => id);
}

async function findOpenMarkets(client: PoolClient): Promise<LivingDemo["markets"]> {
  await actAs(client, "exchange_owner");
  const { rows } = await client.query<{ id: string; title: string }>(
    `select m.public_id as id, m.title from catalog.markets as m
     where m.title = any ($1) and m.status = 'open' order by m.id`,
    [livingMarkets.map(({ title }) => title)],
  );
  return rows.flatMap(({ id, title }) => {
    const market = livingMarkets.find((living) => living.title === title);
    return market === undefined ? [] : [{ id, market }];
  });
}
