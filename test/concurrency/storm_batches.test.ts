import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { Pool } from "pg";
import { contend, failure, neverDeadlocked } from "../helpers/exchange/contention.ts";
import { switchWorker } from "../helpers/exchange/dead_man_switches.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell, spend } from "../helpers/exchange/orders.ts";
import type { Request } from "../helpers/exchange/orders.ts";
import { effort, randomFrom } from "../helpers/random.ts";
import type { Random } from "../helpers/random.ts";

/**
 * Two servers place batches of many markets at the same moment, for few traders, in all the ways
 * that there are; markets close and open, traders exclude themselves, and jobs run beside them.
 */

const exchange = testExchange(test, { sessions: 20 });
const { fire } = switchWorker(exchange);

const WORKERS = 12;
const PLAIN = 6;
const LIVE = 2;

interface Placed {
  marketId: string;
  userId: string;
  idempotencyKey?: string;
  [term: string]: unknown;
}

interface Row {
  code: string | null;
  replayed: boolean;
  body: any;
}

const allWays = [
  ...(["waits", "waits", "does not wait", "skips locked users"] as const),
  ...(["atomic", "atomic, does not wait"] as const),
];
type Way = (typeof allWays)[number];

test("batches of many markets neither lose, double nor deadlock anything", async (t) => {
  t.timeout(240_000);
  const contention = contend(exchange);
  const servers = [exchange.api, exchange.database.connectAs("exchange_api", { max: 20 })] as const;
  const plain = await exchange.makeMarkets(PLAIN);
  const live: string[] = [];
  while (live.length < LIVE) {
    live.push((await exchange.makeLiveMarket({ live_delay_ms: 0 })).market);
  }
  const markets = [...plain, ...live];
  const free = await exchange.makeTraders(3, { cents: 40_000 });
  const limited = [];
  for (const day of [30_000, 35_000]) {
    limited.push(await exchange.makeTrader({ cents: 40_000, limits: [day, null, null] }));
  }
  const traders = [...free, ...limited];
  for (const market of markets) {
    for (const trader of traders) await exchange.split(market, trader, 20);
  }
  const ordersBefore = await countOrders();

  const acknowledged: string[] = [];
  const keys = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

  const note = (requests: Placed[], rows: Row[]) => {
    t.is(rows.length, requests.length);
    rows.forEach(({ code, replayed, body }, index) => {
      const { idempotencyKey: key, marketId, userId } = requests[index]!;
      count(code ?? "accepted");
      if (body === null) return;
      if (!replayed) {
        acknowledged.push(body.order.id);
        t.deepEqual([body.order.marketId, body.order.userId], [marketId, userId]);
      }
      if (key !== undefined) keys.set(key, (keys.get(key) ?? new Set()).add(body.order.id));
    });
  };
  const send = async (server: Pool, requests: Placed[], way: Way): Promise<void> => {
    const atomic = way.startsWith("atomic");
    const skips = way === "skips locked users";
    const waits = !skips && !way.endsWith("does not wait");
    const rows = await contention.insist(async () => {
      const found = await server.query(
        `select code, message, replayed, body from api.run_orders(
           orders => $1, atomic => $2, waits => $3, skips => $4
         )`,
        [JSON.stringify(requests), atomic, waits, skips],
      );
      return found.rows.map((row): Row => ({ ...row, body: JSON.parse(row.body) }));
    });
    note(requests, rows);
    if (atomic) {
      const codes = rows.map(({ code }) => code).filter((code) => code !== null);
      t.is(rows.filter(({ body }) => body !== null).length, codes.length > 0 ? 0 : rows.length);
      if (codes.length === 0) count("carried out as a whole");
      return;
    }
    const busy = requests.filter((_, index) => rows[index]!.code === "AGAIN");
    if (busy.length > 0) await send(server, busy, "waits");
  };
  const placeSome = async (random: Random) => {
    const { anyOf, between, chance } = random;
    const way = anyOf(allWays);
    const isAtomic = way.startsWith("atomic");
    const requests = Array.from({ length: isAtomic ? between(1, 3) : between(1, 14) }, () => ({
      ...{ marketId: anyOf(isAtomic ? plain : markets), userId: anyOf(traders) },
      ...randomRequest(random),
    })) as Placed[];
    await send(anyOf(servers), requests, way);
    // Sent once more, as by a client that lost the answer, perhaps to both servers.
    const keyed = requests.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
    if (chance(0.3) && keyed.length > 0) {
      await Promise.all(servers.map((server) => send(server, keyed, "waits")));
    }
  };
  const ownOrder = async ({ anyOf }: Random): Promise<[trader: string, order: string] | null> => {
    const trader = anyOf(traders);
    const { data } = await exchange.orders(trader);
    return data.length === 0 ? null : [trader, anyOf(data).id];
  };
  const cancelOne = async (random: Random) => {
    const own = await ownOrder(random);
    if (own === null) return;
    const { code } = await contention.insist(() => exchange.cancel(...own));
    if (code === null) count("cancelled");
  };
  const amendOne = async (random: Random) => {
    const own = await ownOrder(random);
    if (own === null) return;
    const change = { price: random.between(46, 54), quantity: random.between(1, 15) };
    const { answer } = await contention.insist(() => exchange.amend(...own, change));
    if (!answer?.amended) return;
    count("amended");
    if (answer.queuePositionChanged) acknowledged.push(answer.order.id);
  };
  const release = async ({ anyOf }: Random) => {
    const market = anyOf(live);
    const one = () => contention.insist(() => exchange.release(market));
    if ((await Promise.all([one(), one()])).some((released) => released > 0)) count("released");
  };
  const convert = async ({ anyOf, between }: Random) => {
    const [market, trader] = [anyOf(markets), anyOf(traders)];
    const kind = anyOf(["split", "merge"] as const);
    const { code } = await contention.insist(() => exchange[kind](market, trader, between(1, 4)));
    if (code === null) count(kind);
  };
  const closeOne = async ({ anyOf }: Random) => {
    const market_id = anyOf(plain);
    const set = (status: string) =>
      contention.insist(() =>
        failure(exchange.operate("set_market_status", { market_id, status })),
      );
    if ((await set("closed")) === null) count("closed");
    await set("open");
  };
  const exclude = async ({ anyOf }: Random) => {
    const values = { user_id: anyOf(traders), until: new Date(Date.now() + 100) };
    const refused = await contention.insist(() =>
      failure(exchange.operate("self_exclude", values)),
    );
    if (refused === null) count("excluded");
  };
  const fireSwitches = () => contention.insist(fire);
  const expire = () => contention.insist(() => exchange.work("expire_orders"));

  const turns: [weight: number, turn: (random: Random) => Promise<unknown>][] = [
    [50, placeSome],
    [10, cancelOne],
    [12, amendOne],
    [10, release],
    [8, convert],
    [3, closeOne],
    [3, exclude],
    [3, expire],
    [1, fireSwitches],
  ];
  const worker = async (name: string) => {
    const random = randomFrom(name);
    for (let turn = 0; turn < Math.max(20, effort(20)); turn++) {
      let luck = random.between(1, 100);
      const turnAt = turns.find(([weight]) => (luck -= weight) <= 0);
      await turnAt![1](random);
    }
  };
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      t.deepEqual(await exchange.verify(), []);
      await delay(50);
    }
  };
  const watching = watch();
  try {
    await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(`server ${index}`)));
  } finally {
    isOver = true;
    await watching;
  }
  t.log(JSON.stringify(Object.fromEntries([...counts].sort())));
  neverDeadlocked(t, contention);
  t.deepEqual(await exchange.verify(), []);

  const ways = ["accepted", "AGAIN", "carried out as a whole", "amended", "released"];
  for (const way of [...ways, "cancelled", "closed", "excluded"]) t.true(counts.has(way), way);
  // Every order that was acknowledged is there once, and no other.
  t.is(new Set(acknowledged).size, acknowledged.length);
  t.is(await countOrders(acknowledged), acknowledged.length);
  t.is((await countOrders()) - ordersBefore, acknowledged.length);
  for (const orders of keys.values()) t.is(orders.size, 1);
  for (const [name, query] of Object.entries(untoldOrTwice)) {
    const { rows } = await exchange.database.pool.query(`${events} ${query}`);
    t.deepEqual(rows, [], name);
  }
});

function randomRequest({ anyOf, between, chance }: Random): Request {
  const side = anyOf(["yes", "no"] as const);
  const price = between(46, 54);
  const quantity = between(1, 12);
  const key = chance(0.2) ? { idempotencyKey: randomUUID() } : {};
  const soon = () => ({ ...key, expiresAt: new Date(Date.now() + 200).toISOString() });
  return anyOf([
    () => buy(side, quantity, price, key),
    () => buy(side, quantity, price, key),
    () => buy(side, quantity, price, soon()),
    () => buy(side, between(101, 300), between(1, 9), key),
    () => sell(side, quantity, price, key),
    () => sell(side, quantity, price, key),
    () => buy(side, quantity, price, { ...ioc, ...key }),
    () => buy(side, quantity, price, { timeInForce: "fok", ...key }),
    () => buy(side, quantity, price, { selfTrade: "cancel_resting", ...key }),
    () => spend(side, between(50, 900), key),
  ])();
}

async function countOrders(ids?: string[]): Promise<number> {
  const { rows } = await exchange.database.pool.query(
    `select count(*) as count from trading.orders where $1::uuid[] is null or public_id = any ($1)`,
    [ids ?? null],
  );
  return rows[0].count;
}

/** The events of users: one row for each order of an event. */
const events = `
  with told as (
    select e.type, o.id::uuid as order_id, e.event ->> 'status' as status
    from (
      select payload -> 'event' as event, payload -> 'event' ->> 'type' as type
      from trading.outbox
      where channel = 'user_event'
    ) as e
    cross join lateral json_array_elements_text(
      coalesce(e.event -> 'orderIds', json_build_array(e.event ->> 'orderId'))
    ) as o (id)
  )`;

/** Rows are orders whose events are not those that must have been sent, each of them once. */
const untoldOrTwice = {
  "a fill is told to its maker": `
    select order_id, told.count, traded.count
    from (
      select order_id, count(*) as count from told where type = 'maker_fill' group by order_id
    ) as told
    full join (
      select o.public_id as order_id, count(*) as count
      from trading.trades as t join trading.orders as o on o.id = t.maker_order_id
      group by o.public_id
    ) as traded using (order_id)
    where told.count is distinct from traded.count`,
  "a scheduled order is told": `
    select order_id, told.count, release_at
    from (
      select order_id, count(*) as count from told where type = 'order_pending' group by order_id
    ) as told
    full join (
      select public_id as order_id, release_at from trading.orders where release_at is not null
    ) as scheduled using (order_id)
    where told.count is distinct from 1 or release_at is null`,
  "a release is told": `
    select order_id, told.count, released_at
    from (
      select order_id, count(*) as count from told where type = 'order_released' group by order_id
    ) as told
    full join (
      select public_id as order_id, released_at from trading.orders where released_at is not null
    ) as released using (order_id)
    where told.count is distinct from 1 or released_at is null`,
  "an order that others than its user end is told": `
    select order_id, told.count, cancel_reason
    from (
      select order_id, count(*) as count from told
      where type = 'order_cancelled' or (type = 'order_released' and status = 'cancelled')
      group by order_id
    ) as told
    full join (
      select public_id as order_id, cancel_reason from trading.orders
      where status = 'cancelled'
        and (
          cancel_reason not in ('user_cancelled', 'user_amended', 'insufficient_liquidity')
          or (cancel_reason = 'insufficient_liquidity' and released_at is not null)
        )
    ) as ended using (order_id)
    where told.count is distinct from 1 or cancel_reason is null`,
};
