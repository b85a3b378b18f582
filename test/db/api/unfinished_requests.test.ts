import { randomUUID } from "node:crypto";
import test from "ava";
import { call } from "../../../src/database/call.ts";
import { ALL_ORDERS, api } from "../../../src/database/calls.ts";
import type { OrderRequest } from "../../../src/database/calls.ts";
import { noteChanges } from "../../helpers/database/schema.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { buy, ioc, postOnly, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { effort, randomFrom } from "../../helpers/random.ts";

/**
 * Requests that are not finished at once (CONFLICT_RETRY), at random: one call may cancel only two
 * makers here, so that most requests have to be repeated, or end where they have come.
 */

const exchange = testExchange(test);
const { balance, makeMarkets, makeTraders, operate } = exchange;
const random = randomFrom("unfinished requests");

const MOST_CANCELLED = 2;

test.before("one call cancels few makers", async () => {
  await exchange.database.pool.query(
    `create or replace function trading.most_cancelled() returns int
     language sql immutable parallel safe return ${MOST_CANCELLED}`,
  );
  await noteChanges(exchange.database.pool);
});

/** What an unfinished request must not change, and the number of orders that rest. */
async function look() {
  const { rows } = await exchange.database.pool.query(
    `select
       (select count(*)::int from trading.active_orders) as resting,
       (select count(*)::int from trading.orders) as orders,
       (select count(*)::int from trading.trades) as trades,
       (select json_agg(t.balance_cents order by t.user_id) from trading.traders as t) as cash,
       (select json_agg(k.key order by k.key) from trading.idempotency_keys as k) as keys`,
  );
  return rows[0];
}

interface Answer {
  code: string | null;
  /** Orders that were accepted. */
  accepted: number;
  /** Rejected without having looked for shares to trade. */
  isRejectedForGood: boolean;
}

type Send = () => Promise<Answer>;

function answerOf(codes: (string | null)[], isWhole: boolean): Answer {
  const isUnfinished = codes.includes("CONFLICT_RETRY");
  const isRejected = isWhole && codes.some((code) => code !== null);
  return {
    code: isUnfinished ? "CONFLICT_RETRY" : null,
    accepted: isRejected ? 0 : codes.filter((code) => code === null).length,
    isRejectedForGood: codes.every((code) => code !== "INSUFFICIENT_LIQUIDITY") && isRejected,
  };
}

const single =
  (request: OrderRequest): Send =>
  async () => {
    const orders = [request];
    const [result] = await withClient(exchange.api, (client) =>
      call(client, api.placeOrders, { orders, atomic: false, waits: true }),
    );
    return answerOf([result!.code], true);
  };

const atomicCall =
  (orders: OrderRequest[]): Send =>
  async () => {
    const results = await withClient(exchange.api, (client) =>
      call(client, api.placeOrders, { orders, atomic: true, waits: true }),
    );
    return answerOf(
      results.map(({ code }) => code),
      true,
    );
  };

function keyedBatch(userId: string, orders: OrderRequest[], atomic: boolean): Send {
  const key = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  return async () => {
    const [result] = await withClient(exchange.api, (client) =>
      call(client, api.runOrders, { ...ALL_ORDERS, userId, orders, atomic, ...key }),
    );
    if (result === undefined) throw new Error("a batch has a result");
    if (result.code !== null) return answerOf([result.code], true);
    const { results } = JSON.parse(result.body) as { results: { code: string | null }[] };
    return answerOf(
      results.map(({ code }) => code),
      atomic,
    );
  };
}

function amendment(userId: string, orderId: string, price: number): Send {
  return async () => {
    const { code } = await exchange.amend(userId, orderId, { price });
    return answerOf([code], true);
  };
}

function drawRequest(): Request {
  const side = random.anyOf(["yes", "no"] as const);
  const quantity = random.between(1, 6);
  const price = random.between(40, 60);
  const terms = random.anyOf([{}, {}, {}, ioc, { timeInForce: "fok" as const }, postOnly]);
  const own = random.chance(0.3) ? { selfTrade: "cancel_resting" as const } : {};
  if (random.chance(0.1)) return spend(side, random.between(50, 400));
  if (random.chance(0.1)) return sell(side, quantity, price, own);
  return buy(side, quantity, price, { ...terms, ...own });
}

/** A command of one trader in any markets, and the number of its requests. */
function drawCommand(markets: string[], trader: string): { send: Send; isBatch: boolean } {
  const draw = () => ({ marketId: random.anyOf(markets), userId: trader, ...drawRequest() });
  const orders = Array.from({ length: random.between(1, 4) }, draw);
  switch (random.between(1, 4)) {
    case 1:
      return { send: atomicCall(orders), isBatch: true };
    case 2:
      return { send: keyedBatch(trader, orders, true), isBatch: true };
    case 3:
      return { send: keyedBatch(trader, orders, false), isBatch: true };
    default:
      return { send: single(draw()), isBatch: false };
  }
}

test("a request that is not finished changes nothing but dead makers, gets further each time, and is placed once", async (t) => {
  t.timeout(120_000);
  const markets = await makeMarkets(2);
  const makers = await makeTraders(4);
  const takers = await makeTraders(3);
  let repetitions = 0;
  for (let turn = 0; turn < effort(40) || (repetitions <= 10 && turn < 200); turn++) {
    // Makers with many orders, and now and then with little cash.
    for (const maker of makers) {
      await operate("deposit", { user_id: maker, amount_cents: 10_000, reference: `in ${turn}` });
      const market = random.anyOf(markets);
      const side = random.anyOf(["yes", "no"] as const);
      for (let count = random.between(0, 6); count > 0; count--) {
        const request = buy(side, random.between(1, 3), random.between(35, 50));
        await exchange.placeBatch(market, [[maker, request]]);
      }
      const leave = random.anyOf([0, 60, 130, 5000]);
      const cents = (await balance(maker)) - leave;
      if (cents > 0) {
        await operate("withdraw", {
          user_id: maker,
          amount_cents: cents,
          reference: `out ${turn}`,
        });
      }
    }

    for (const taker of takers) {
      const { data } = await exchange.orders(taker);
      const resting = data.find(({ budgetCents }) => (budgetCents ?? null) === null);
      const { send, isBatch } =
        resting !== undefined && random.chance(0.2)
          ? { send: amendment(taker, resting.id, random.between(40, 60)), isBatch: false }
          : drawCommand(markets, taker);
      for (;;) {
        const before = await look();
        const answer = await send();
        const after = await look();
        if (answer.code === null) {
          const isReplaced = !isBatch && after.orders === before.orders;
          t.true(isReplaced || after.orders - before.orders === answer.accepted);
          if (answer.isRejectedForGood) t.deepEqual(after, before, "a rejection changes nothing");
          break;
        }
        t.deepEqual({ ...after, resting: 0 }, { ...before, resting: 0 });
        t.true(after.resting < before.resting, "makers were cancelled");
        t.true(before.resting - after.resting <= MOST_CANCELLED);
        repetitions += 1;
      }
    }
    t.deepEqual(await exchange.verify(), []);
  }
  t.true(repetitions > 10, `${repetitions} repetitions`);
});
