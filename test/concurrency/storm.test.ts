import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import { contend, neverDeadlocked } from "../helpers/exchange/contention.ts";
import { keyedCommands, newKey } from "../helpers/exchange/keyed_commands.ts";
import type { Done } from "../helpers/exchange/keyed_commands.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import type { Amended, Outcome } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell, spend } from "../helpers/exchange/orders.ts";
import type { Request } from "../helpers/exchange/orders.ts";
import { effort, randomFrom } from "../helpers/random.ts";
import type { Random } from "../helpers/random.ts";

/**
 * Many connections, few traders, all of them makers and takers in every market. Two of the markets
 * are live with a delay of 0: what they take is due at once, for the first call.
 */

const exchange = testExchange(test, { sessions: 20 });

const WORKERS = 12;

/** What these traders may lose of what they have; the limits of the others come and go. */
const LIMITS = [22_000, 24_000, 26_000];

function randomRequest({ anyOf, between, chance }: Random): Request {
  const side = anyOf(["yes", "no"] as const);
  const price = between(46, 54);
  const quantity = between(1, 15);
  const key = chance(0.2) ? { idempotencyKey: randomUUID() } : {};
  return anyOf([
    () => buy(side, quantity, price, key),
    () => buy(side, quantity, price, key),
    () => sell(side, quantity, price, key),
    () => sell(side, quantity),
    () => buy(side, quantity, price, { ...ioc, ...key }),
    () => buy(side, quantity, price, { timeInForce: "fok", ...key }),
    () => buy(side, quantity, price, { selfTrade: "cancel_resting", ...key }),
    () => spend(side, between(50, 900), key),
  ])();
}

test("nothing is lost, doubled or deadlocked, and every invariant holds all the time", async (t) => {
  const contention = contend(exchange);
  const commands = keyedCommands(exchange, contention);
  const markets = await exchange.makeMarkets(3);
  const limited: string[] = [];
  for (const cents of LIMITS) {
    limited.push(await exchange.makeTrader({ cents: 30_000, limits: [cents, null, null] }));
  }
  const free = await exchange.makeTraders(3, { cents: 30_000 });
  const traders = randomFrom("traders").shuffled([...limited, ...free]);
  for (let live = 0; live < 2; live++) {
    markets.push((await exchange.makeLiveMarket({ live_delay_ms: 0 })).market);
  }
  for (const market of markets) {
    for (const trader of traders) await exchange.split(market, trader, 30);
  }
  const before = await countRows();
  const outcomes: Outcome[] = [];
  const cancelled: string[] = [];
  const amended: Amended[] = [];
  let [converted, once, fired] = [0, 0, 0];

  const placeSome = async (random: Random) => {
    const { anyOf, between, chance } = random;
    const batch = Array.from({ length: between(1, 12) }, (): [string, Request] => [
      anyOf(traders),
      randomRequest(random),
    ]);
    // A batch may be sent twice, as by a client that lost the answer.
    const market = anyOf(markets);
    outcomes.push(...(await contention.placeBatch(market, batch)));
    if (chance(0.1)) {
      const keyed = batch.filter(([, request]) => request.idempotencyKey !== undefined);
      outcomes.push(...(await contention.placeBatch(market, keyed)));
    }
  };
  const cancelOne = async ({ anyOf }: Random) => {
    const trader = anyOf(traders);
    const { data } = await exchange.orders(trader);
    if (data.length === 0) return;
    const { id } = anyOf(data);
    const { code } = await contention.insist(() => exchange.cancel(trader, id));
    if (code === null) cancelled.push(id);
  };
  /** From two connections at once, as by a client that lost the answer. Null if it was rejected. */
  const twice = async (send: () => Promise<Done>): Promise<any> => {
    const accepted = (await Promise.all([send(), send()])).filter(({ code }) => code === null);
    const [first] = accepted;
    t.true(accepted.every(({ body }) => body === first!.body));
    const isOnce = accepted.filter(({ replayed }) => !replayed).length === 1;
    t.true(accepted.length === 0 || isOnce, "carried out twice");
    if (accepted.length > 0) once++;
    return first === undefined ? null : JSON.parse(first.body!);
  };
  const cancelAll = async ({ anyOf, chance }: Random) => {
    const [trader, key] = [anyOf(traders), newKey()];
    const market = chance(0.5) ? anyOf(markets) : null;
    await twice(() => commands.cancelAll(trader, key, market));
  };
  const cancelSome = async ({ anyOf, shuffled }: Random) => {
    const [trader, key] = [anyOf(traders), newKey()];
    const { data } = await exchange.orders(trader);
    const ids = shuffled(data.map(({ id }) => id)).slice(0, 5);
    cancelled.push(...(await twice(() => commands.cancelBatch(trader, ids, key))));
  };
  const batchOnce = async (random: Random) => {
    const [trader, key] = [random.anyOf(traders), newKey()];
    const orders = Array.from({ length: random.between(1, 6) }, () => ({
      ...randomRequest(random),
      marketId: random.anyOf(markets),
    }));
    const { results } = await twice(() => commands.placeBatch(trader, orders, key));
    const made = results.filter((result: Done) => result.body !== null);
    outcomes.push(...made.map((result: Done) => ({ ...result, answer: JSON.parse(result.body!) })));
  };
  const amendOnce = async ({ anyOf, between }: Random) => {
    const [trader, key] = [anyOf(traders), newKey()];
    const { data } = await exchange.orders(trader);
    if (data.length === 0) return;
    const change = { orderId: anyOf(data).id, price: between(46, 54), quantity: between(1, 15) };
    const answer = await twice(() => commands.run("amend", trader, change, key));
    if (answer?.amended) amended.push(answer);
  };
  const convertOnce = async ({ anyOf, between }: Random) => {
    const [trader, key] = [anyOf(traders), newKey()];
    const sets = { marketId: anyOf(markets), quantity: between(1, 4) };
    const command = anyOf(["split", "merge"] as const);
    if ((await twice(() => commands.run(command, trader, sets, key))) !== null) converted++;
  };
  const setSwitch = async ({ anyOf, chance }: Random) => {
    const [trader, key] = [anyOf(traders), newKey()];
    await twice(() => commands.setDeadMan(trader, chance(0.9) ? 1000 : 0, key));
  };
  const fire = async () => {
    const counts = await Promise.all([commands.fire(), commands.fire()]);
    fired += counts[0] + counts[1];
  };
  const amendOne = async ({ anyOf, between }: Random) => {
    const trader = anyOf(traders);
    const { data } = await exchange.orders(trader);
    if (data.length === 0) return;
    const { id } = anyOf(data);
    const change = anyOf([
      { quantity: between(1, 15) },
      { price: between(46, 54) },
      { price: between(46, 54), quantity: between(1, 15) },
    ]);
    const { answer } = await contention.insist(() => exchange.amend(trader, id, change));
    if (answer?.amended) amended.push(answer);
  };
  const releaseSome = async ({ anyOf }: Random) => {
    const market = anyOf(markets.slice(3));
    const release = () => contention.insist(() => exchange.release(market));
    await Promise.all([release(), release()]);
  };
  const convert = async ({ anyOf, between }: Random) => {
    const [market, trader] = [anyOf(markets), anyOf(traders)];
    const kind = anyOf(["split", "merge"] as const);
    const { code } = await contention.insist(() => exchange[kind](market, trader, between(1, 4)));
    if (code === null) converted++;
  };
  const moveCash = ({ anyOf, between }: Random) => {
    const reference = randomUUID();
    const [user_id, amount_cents] = [anyOf(traders), between(1, 1500)];
    const name = anyOf(["deposit", "withdraw"]);
    return contention
      .insist(() => exchange.operate(name, { user_id, amount_cents, reference }))
      .catch((error: unknown) => {
        // There was not so much to withdraw.
        if ((error as { code?: string }).code !== "EX011") throw error;
      });
  };
  const limit = ({ anyOf }: Random) =>
    contention.insist(() =>
      exchange.operate("set_loss_limits", {
        user_id: anyOf(free),
        day_cents: anyOf([null, null, 15_000]),
        week_cents: null,
        month_cents: null,
        immediate: true,
      }),
    );

  let isOver = false;
  const worker = async (name: string) => {
    const random = randomFrom(name);
    for (let turn = 0; turn < Math.max(25, effort(25)); turn++) {
      const luck = random.next();
      if (luck < 0.42) await placeSome(random);
      else if (luck < 0.46) await batchOnce(random);
      else if (luck < 0.53) await cancelOne(random);
      else if (luck < 0.54) await cancelAll(random);
      else if (luck < 0.56) await cancelSome(random);
      else if (luck < 0.62) await amendOne(random);
      else if (luck < 0.65) await amendOnce(random);
      else if (luck < 0.67) await convertOnce(random);
      else if (luck < 0.69) await setSwitch(random);
      else if (luck < 0.7) await fire();
      else if (luck < 0.82) await releaseSome(random);
      else if (luck < 0.9) await convert(random);
      else if (luck < 0.96) await moveCash(random);
      else await limit(random);
    }
  };
  const watch = async () => {
    let looks = 0;
    while (!isOver) {
      t.deepEqual(await exchange.verify(), []);
      await keepTheirLimits(t, limited);
      looks++;
      await delay(20);
    }
    return looks;
  };
  const watching = watch();
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(`worker ${index}`)));
  // Half of the traders are gone, while a worker looks.
  const gone = traders.slice(3);
  await Promise.all(gone.map((trader) => commands.setDeadMan(trader, 1000)));
  await delay(1000);
  await fire();
  t.deepEqual(await openBeforeTheFiring(gone), []);
  const random = randomFrom("the end");
  // The last of it happens while everything is settled.
  const resolutions = markets.map((market_id) => async () => {
    const values = { market_id, outcome: "custom", yes_payout_cents: random.between(0, 100) };
    await contention.insist(() => exchange.operate("resolve_market", values));
  });
  await Promise.all([
    ...resolutions.map((resolve) => resolve()),
    ...markets.map(() => placeSome(random)),
  ]);
  isOver = true;
  t.log(`${outcomes.length} requests, verified ${await watching} times meanwhile`);
  t.log(`${once} commands with keys sent twice, ${fired} orders cancelled by switches`);
  t.true(once > 20 && fired > 0);
  neverDeadlocked(t, contention);

  const placed = outcomes.filter(({ code, replayed }) => code === null && !replayed);
  const replacements = amended.filter(({ queuePositionChanged }) => queuePositionChanged);
  const ids = [
    ...placed.map(({ answer }) => answer!.order.id),
    ...replacements.map(({ order }) => order.id),
  ];
  const fills = [
    ...placed.flatMap(({ answer }) => answer!.fills.map(({ id }) => id)),
    ...replacements.flatMap((answer) =>
      "fills" in answer ? answer.fills.map(({ id }) => id) : [],
    ),
  ];
  t.log(`${amended.length} amended, ${replacements.length} by another, ${converted} converted`);
  t.true(ids.length > 100 && fills.length > 0 && replacements.length > 0 && converted > 0);
  t.is(new Set(ids).size, ids.length);
  const after = await countRows();
  t.is(after.orders - before.orders, ids.length);
  t.is(await countRows(ids).then(({ orders }) => orders), ids.length);

  // Every fill was sent to exactly one taker: in an answer, or at the release.
  const released = await countReleased();
  t.true(released.events > 0 && released.fills > 0);
  t.is(released.events, released.orders);
  t.is(new Set(fills).size, fills.length);
  t.is(after.trades - before.trades, fills.length + released.fills);

  // Every replay is of an order that some answer has shown.
  const replays = outcomes.filter(({ replayed }) => replayed);
  t.deepEqual(
    replays.map(({ answer }) => answer!.order.id).filter((id) => !ids.includes(id)),
    [],
  );
  t.is(new Set(cancelled).size, cancelled.length);
  t.deepEqual(await exchange.verify(), []);
  for (const market of markets) t.is((await exchange.accounts(market)).escrow, 0);
});

/** No trader has put more into trading than the limit: deposits less what is left. */
async function keepTheirLimits(t: ExecutionContext, limited: string[]): Promise<void> {
  const { rows } = await exchange.database.pool.query(
    `select t.external_cents - t.balance_cents as spent_cents
     from unnest($1::uuid[]) with ordinality as l (id, place)
     join trading.traders as t on t.public_id = l.id
     order by l.place`,
    [limited],
  );
  t.is(rows.length, LIMITS.length);
  rows.forEach(({ spent_cents: spent }, index) => {
    t.true(spent <= LIMITS[index]!, `${spent} of ${LIMITS[index]}`);
  });
}

/** Orders that a switch has left open, and switches that have not fired. */
async function openBeforeTheFiring(traders: string[]): Promise<unknown[]> {
  const { rows } = await exchange.database.pool.query(
    `select s.user_id, s.expires_at, o.id
     from trading.traders as t
     join trading.dead_man_switches as s on s.user_id = t.user_id
     left join trading.active_orders as b on b.user_id = s.user_id
     left join trading.orders as o on o.id = b.order_id and o.created_at < s.last_fired_at
     where t.public_id = any ($1)
       and (s.expires_at is not null or s.last_fired_at is null or o.id is not null)`,
    [traders],
  );
  return rows;
}

/** The events order_released, compared with the released orders; no stream is open here. */
async function countReleased(): Promise<{ events: number; fills: number; orders: number }> {
  const { rows } = await exchange.database.pool.query(
    `select
       (select count(*) from trading.orders where released_at is not null) as orders,
       count(distinct e.about ->> 'orderId') filter (where e.times = 1) as events,
       coalesce(sum((e.about ->> 'fills')::int), 0)::int as fills
     from (
       select a.payload -> 'event' as about,
         count(*) over (partition by a.payload -> 'event' ->> 'orderId') as times
       from trading.outbox as a
       where a.payload -> 'event' ->> 'type' = 'order_released'
     ) as e`,
  );
  return rows[0];
}

async function countRows(orders?: string[]): Promise<{ orders: number; trades: number }> {
  const { rows } = await exchange.database.pool.query(
    `select
       (select count(*) from trading.orders
        where $1::uuid[] is null or public_id = any ($1)) as orders,
       (select count(*) from trading.trades) as trades`,
    [orders ?? null],
  );
  return rows[0];
}
