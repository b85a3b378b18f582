import test from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import type { PlaceOrder, Preview } from "../../src/website/api/types.ts";
import { feeCents, feeWeight } from "../../src/website/components/fee.ts";
import { estimate } from "../../src/website/components/market/estimate.ts";
import { rejectionWords } from "../../src/website/components/market/rejection_words.ts";
import { sharesFor } from "../../src/website/components/market/shares_for.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { randomFrom } from "../helpers/random.ts";

/** Figures that the pages work out themselves are those of the engine. */

const exchange = testExchange(test);
const random = randomFrom("figures of the website");
const rules = { feeRateBps: 700 };

async function preview(userId: string, order: PlaceOrder): Promise<Preview> {
  const { body } = await withClient(exchange.api, (client) =>
    call(client, api.previewOrder, { order: { userId, ...order } }),
  );
  return JSON.parse(body);
}

/** A market with orders on both sides, and its book as the pages have it. */
async function makeBook(most: number) {
  const [marketId, maker] = await exchange.makeMarketWith(1, { cents: 100_000_000 });
  const orders = Array.from({ length: 12 }, () =>
    buy(random.anyOf(["yes", "no"]), random.between(1, most), random.between(1, 49)),
  );
  await exchange.rest(marketId, maker, ...orders, buy("no", most, 49), buy("yes", most, 49));
  const { bids, asks } = await exchange.book(marketId);
  const levels = (side: string[]) =>
    side.map((level) => {
      const [quantity = 0, price = 0] = level.split(" @ ").map(Number);
      return { price, quantity };
    });
  const noBids = levels(asks).map(({ price, quantity }) => ({ price: 100 - price, quantity }));
  return { marketId, book: { yesBids: levels(bids), noBids } };
}

function anyOrder(marketId: string, most: number): PlaceOrder {
  const side = random.anyOf(["yes", "no"] as const);
  const price = random.chance(0.7) ? random.between(40, 60) : null;
  if (random.chance(0.3)) {
    return { marketId, side, price, budgetCents: random.between(1, most * 60) };
  }
  const orderType = random.anyOf(["buy", "sell"] as const);
  const timeInForce = random.anyOf(["gtc", "ioc"] as const);
  const quantity = random.between(1, Math.min(10_000, most * 4));
  return { marketId, side, orderType, price, quantity, timeInForce };
}

test("an estimate is what the preview answers while the book stays", async (t) => {
  const seen = new Set<string>();
  for (const most of [3, 50, 9000]) {
    const { marketId, book } = await makeBook(most);
    const trader = await exchange.makeTrader({ cents: 100_000_000 });
    await exchange.split(marketId, trader, 10_000);
    for (let count = 0; count < 60; count++) {
      const order = anyOrder(marketId, most);
      const { rejection, ...answer } = await preview(trader, order);
      const {
        filledQuantity,
        costCents,
        feeCents: fee,
        restingQuantity,
      } = estimate({ timeInForce: null, ...order }, book, rules);
      if (rejection === null) {
        t.like(
          answer,
          { filledQuantity, costCents, feeCents: fee, restingQuantity },
          JSON.stringify(order),
        );
      } else {
        t.deepEqual(
          [rejection.code, filledQuantity, restingQuantity],
          ["INSUFFICIENT_LIQUIDITY", 0, 0],
          JSON.stringify(order),
        );
      }
      seen.add(rejection?.code ?? answer.status);
    }
  }
  for (const name of ["open", "partially_filled", "filled", "cancelled"]) t.true(seen.has(name));
  t.true(seen.has("INSUFFICIENT_LIQUIDITY"));
});

test("a budget buys no more shares than an order may have", async (t) => {
  const [marketId, maker, trader] = await exchange.makeMarketWith(2, { cents: 10_000_000 });
  await exchange.rest(marketId, maker, buy("no", 10_000, 99), buy("no", 10_000, 99));
  const order: PlaceOrder = { marketId, side: "yes", price: null, budgetCents: 100_000 };
  const { filledQuantity, feeCents: fee } = await preview(trader, order);
  const book = { yesBids: [], noBids: [{ price: 99, quantity: 20_000 }] };
  t.is(filledQuantity, 10_000);
  t.like(estimate(order, book, rules), { filledQuantity, feeCents: fee, restingQuantity: 0 });
});

test("INSUFFICIENT_BALANCE: the most shares that the page names are the most that go through", async (t) => {
  const { marketId, book } = await makeBook(200);
  for (let count = 0; count < 12; count++) {
    const cents = random.between(200, 20_000);
    const trader = await exchange.makeTrader({ cents });
    const timeInForce = random.anyOf(["gtc", "ioc"] as const);
    const price = random.between(51, 99);
    const order: PlaceOrder = { marketId, side: "yes", price, quantity: 9000, timeInForce };
    const code = (await preview(trader, order)).rejection?.code;
    if (code === undefined) continue;
    const limit = { limitCents: null, usedCents: 0, pending: null };
    const limits = { reviewedAt: null, day: limit, week: limit, month: limit };
    const known = { book, ...rules, account: { balance: cents, limits }, positions: [] };
    const words = rejectionWords(code, order, known) ?? "";
    const quantity = Number(/enough for (\d+) share/.exec(words.replace(",", ""))?.[1]);
    t.is((await preview(trader, { ...order, quantity })).rejection, null, words);
    const more = await preview(trader, { ...order, quantity: quantity + 1 });
    t.is(more.rejection?.code, "INSUFFICIENT_BALANCE", words);
  }
});

test("the fee is the engine's, at any rate", async (t) => {
  const trades = Array.from({ length: 100 }, () => ({
    ...{ rate: random.between(0, 10_000), quantity: random.between(1, 10_000) },
    price: random.between(1, 99),
  }));
  const { rows } = await exchange.database.pool.query(
    `select trading.fee_cents(t.rate, t.quantity * t.price * (100 - t.price))::int as fee
    from jsonb_to_recordset($1) as t (rate int, quantity int, price int)`,
    [JSON.stringify(trades)],
  );
  t.deepEqual(
    rows.map(({ fee }) => fee),
    trades.map(({ rate, quantity, price }) => feeCents(feeWeight(quantity, price), rate)),
  );
});

test("an amount buys as many shares at a limit as it pays for, with the fee", async (t) => {
  const trader = await exchange.makeTrader({ cents: 100_000_000 });
  for (const price of [1, 7, 50, 62, 99]) {
    const [marketId, maker] = await exchange.makeMarketWith(1, { cents: 100_000_000 });
    await exchange.rest(marketId, maker, buy("no", 10_000, 100 - price));
    const paid = async (quantity: number): Promise<number> => {
      const answer = await preview(trader, { marketId, side: "yes", price, quantity });
      return answer.costCents + answer.feeCents;
    };
    for (const cents of [500, 2000, 5000, random.between(200, 9000)]) {
      const most = sharesFor(cents, price, rules.feeRateBps);
      t.true((await paid(most)) <= cents, `${most} at ${price}`);
      t.true((await paid(most + 1)) > cents, `${most + 1} at ${price}`);
    }
  }
  t.is(sharesFor(98, 99, 0), 0);
  t.is(sharesFor(99, 99, 700), 0);
  t.is(sharesFor(1_000_000, 1, 0), 10_000);
});
