import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { contend, neverDeadlocked } from "../helpers/contention.ts";
import { testExchange } from "../helpers/exchange.ts";
import type { Outcome } from "../helpers/exchange.ts";
import { buy, ioc, sell, spend } from "../helpers/orders.ts";
import type { Request } from "../helpers/orders.ts";
import { effort } from "../helpers/random.ts";

/** Many connections, few traders, all of them makers and takers in every market. */

const exchange = testExchange(test);

const WORKERS = 12;

function anyOf<T>(things: readonly T[]): T {
  return things[Math.floor(Math.random() * things.length)]!;
}

function between(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1));
}

function randomRequest(): Request {
  const side = anyOf(["yes", "no"] as const);
  const price = between(46, 54);
  const quantity = between(1, 15);
  const key = Math.random() < 0.2 ? { idempotencyKey: randomUUID() } : {};
  return anyOf([
    () => buy(side, quantity, price, key),
    () => buy(side, quantity, price, key),
    () => sell(side, quantity, price, key),
    () => sell(side, quantity),
    () => buy(side, quantity, price, { ...ioc, ...key }),
    () => spend(side, between(50, 900), key),
  ])();
}

test("nothing is lost, doubled or deadlocked, and every invariant holds all the time", async (t) => {
  const contention = contend(exchange);
  const markets = await exchange.makeMarkets(4);
  const traders = await exchange.makeTraders(6, { cents: 12_000 });
  for (const market of markets) {
    for (const trader of traders) {
      await exchange.giveShares(market, trader, "yes", 20);
      await exchange.giveShares(market, trader, "no", 20);
    }
  }
  const before = await countRows();
  const outcomes: Outcome[] = [];
  const cancelled: string[] = [];

  const placeSome = async () => {
    const batch = Array.from({ length: between(1, 12) }, (): [string, Request] => [
      anyOf(traders),
      randomRequest(),
    ]);
    // A batch may be sent twice, as by a client who lost its answer.
    const market = anyOf(markets);
    outcomes.push(...(await contention.placeBatch(market, batch)));
    if (Math.random() < 0.1) {
      const keyed = batch.filter(([, request]) => request.idempotencyKey !== undefined);
      outcomes.push(...(await contention.placeBatch(market, keyed)));
    }
  };
  const cancelOne = async () => {
    const trader = anyOf(traders);
    const { data } = await exchange.orders(trader);
    if (data.length === 0) return;
    const { id } = anyOf(data);
    const { code } = await contention.insist(() => exchange.cancel(trader, id));
    if (code === null) cancelled.push(id);
  };
  const moveCash = () => {
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
  const limit = () =>
    contention.insist(() =>
      exchange.operate("set_loss_limits", {
        user_id: anyOf(traders),
        day_cents: anyOf([null, null, 15_000]),
        week_cents: null,
        month_cents: null,
        immediate: true,
      }),
    );

  let isOver = false;
  const worker = async () => {
    for (let turn = 0; turn < effort(25); turn++) {
      const luck = Math.random();
      if (luck < 0.7) await placeSome();
      else if (luck < 0.85) await cancelOne();
      else if (luck < 0.95) await moveCash();
      else await limit();
    }
  };
  const watch = async () => {
    let looks = 0;
    while (!isOver) {
      t.deepEqual(await exchange.verify(), []);
      looks++;
      await delay(20);
    }
    return looks;
  };
  const watching = watch();
  await Promise.all(Array.from({ length: WORKERS }, worker));
  isOver = true;
  t.log(`${outcomes.length} requests, verified ${await watching} times meanwhile`);
  neverDeadlocked(t, contention);

  const placed = outcomes.filter(({ code, replayed }) => code === null && !replayed);
  const ids = placed.map(({ answer }) => answer!.order.id);
  t.true(ids.length > 100 && placed.some(({ answer }) => answer!.fills.length > 0));
  t.is(new Set(ids).size, ids.length);
  const after = await countRows();
  t.is(after.orders - before.orders, ids.length);
  t.is(await countRows(ids).then(({ orders }) => orders), ids.length);

  // Every fill was told to exactly one taker.
  const fills = placed.flatMap(({ answer }) => answer!.fills.map(({ id }) => id));
  t.is(new Set(fills).size, fills.length);
  t.is(after.trades - before.trades, fills.length);

  // Every replay was of an order that somebody was told of.
  const replays = outcomes.filter(({ replayed }) => replayed);
  t.deepEqual(
    replays.map(({ answer }) => answer!.order.id).filter((id) => !ids.includes(id)),
    [],
  );
  t.is(new Set(cancelled).size, cancelled.length);
  t.deepEqual(await exchange.verify(), []);
});

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
