import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, postOnly, sell, shown } from "../../helpers/exchange/orders.ts";

/** How long an order lives: gtc, ioc, market orders, postOnly, expiresAt. */

const exchange = testExchange(test);
const { balance, book, giveShares, makeMarketWith, order, place, refusal, rest } = exchange;

async function makeQuoted() {
  const [market, ann, bob, cid] = await exchange.makeMarketWith(3);
  await rest(market, ann, buy("no", 10, 40), buy("no", 10, 35)); // asks 10 @ 60, 10 @ 65
  await rest(market, bob, buy("yes", 10, 40), buy("yes", 10, 35)); // bids 10 @ 40, 10 @ 35
  return { market, ann, bob, cid };
}

test("a gtc order that meets nothing rests: open, no fill, no fee, no cash moved", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const answer = await place(market, ann, buy("yes", 10, 40));
  t.like(answer.order, {
    userId: ann,
    marketId: market,
    side: "yes",
    price: 40,
    quantity: 10,
    filledQuantity: 0,
    status: "open",
    orderType: "buy",
    timeInForce: "gtc",
    cancelReason: null,
    expiresAt: null,
  });
  t.deepEqual(answer.fills, []);
  t.deepEqual(answer.cancelledOrders, []);
  t.deepEqual(answer.balance, { total: 100_000, available: 100_000 });
  t.is(answer.feeCents, 0);
  t.deepEqual(await book(market), { bids: ["10 @ 40"], asks: [] });
});

test("the remainder of a gtc order rests at its own price, behind what it took", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 15, 62));
  t.like(answer.order, { status: "partially_filled", filledQuantity: 10, cancelReason: null });
  t.deepEqual(await book(market), {
    bids: ["5 @ 62", "10 @ 40", "10 @ 35"],
    asks: ["10 @ 65"],
  });
  t.is(answer.feeCents, 17);
  t.is(answer.balance.total, 100_000 - 617);
});

test("a sell is shown as it was given and rests in the book as an ask", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "yes", 10);
  await giveShares(market, ann, "no", 10);
  const { order: yes } = await place(market, ann, sell("yes", 10, 70));
  t.like(yes, { side: "yes", price: 70, orderType: "sell", status: "open" });
  await place(market, ann, sell("no", 4, 45)); // as good as buying YES at 55
  t.deepEqual(await book(market), { bids: ["4 @ 55"], asks: ["10 @ 70"] });
});

test("an ioc order takes what it can; its remainder is cancelled, insufficient_liquidity", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 15, 62, ioc));
  t.like(answer.order, {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    quantity: 15,
    filledQuantity: 10,
    timeInForce: "ioc",
  });
  t.deepEqual(await book(market), { bids: ["10 @ 40", "10 @ 35"], asks: ["10 @ 65"] });
  t.is(await balance(cid), 100_000 - 617);
});

test("an ioc order that is filled is filled", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 20, 65, ioc));
  t.like(answer.order, { status: "filled", filledQuantity: 20, cancelReason: null });
  t.deepEqual(shown(answer.fills), ["10 @ 60", "10 @ 65"]);
});

test("an ioc order pays only for what it executes", async (t) => {
  const { market } = await makeQuoted();
  const dan = await exchange.makeTrader({ cents: 617 });
  const answer = await place(market, dan, buy("yes", 10_000, 60, ioc));
  t.is(answer.balance.total, 0);
});

test("INSUFFICIENT_LIQUIDITY: an ioc order that meets nothing leaves no order", async (t) => {
  const { market, cid } = await makeQuoted();
  t.is(await refusal(market, cid, buy("yes", 10, 59, ioc)), "INSUFFICIENT_LIQUIDITY");
  t.is(await refusal(market, cid, buy("no", 10, 59, ioc)), "INSUFFICIENT_LIQUIDITY");
  t.deepEqual((await exchange.orders(cid, { status: "all" })).data, []);
});

test("a market buy walks the book and shows 99 as its price, ioc as its time in force", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 15));
  t.like(answer.order, { status: "filled", price: 99, timeInForce: "ioc", quantity: 15 });
  t.deepEqual(shown(answer.fills), ["10 @ 60", "5 @ 65"]);
  t.is(answer.feeCents, 25); // 7 % of 10 x 0.24 + 5 x 0.2275 EUR: 24.7625
  t.is(answer.balance.total, 100_000 - 600 - 325 - 25);
});

test("a market buy is funded by what it executes, never by 99 a share", async (t) => {
  const { market } = await makeQuoted();
  const dan = await exchange.makeTrader({ cents: 617 });
  const answer = await place(market, dan, buy("yes", 10));
  t.is(answer.balance.total, 0);
});

test("a market buy of more than the book has gets all of the book", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("no", 1000));
  t.like(answer.order, {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    quantity: 1000,
    filledQuantity: 20,
  });
  t.deepEqual(shown(answer.fills), ["10 @ 40", "10 @ 35"]);
});

test("a market sell takes any bid and shows 1 as its price", async (t) => {
  const { market, cid } = await makeQuoted();
  const dan = await exchange.makeTrader();
  await place(market, cid, buy("yes", 12));
  await rest(market, dan, buy("yes", 1, 1));
  const answer = await place(market, cid, sell("yes", 12));
  t.like(answer.order, {
    status: "filled",
    price: 1,
    timeInForce: "ioc",
    orderType: "sell",
  });
  t.deepEqual(shown(answer.fills), ["10 @ 40", "2 @ 35"]);
});

test("a market sell of NO takes the YES offers' other side", async (t) => {
  const { market, cid } = await makeQuoted();
  await giveShares(market, cid, "no", 5);
  const answer = await place(market, cid, sell("no", 5));
  t.deepEqual(shown(answer.fills), ["5 @ 60"]);
  t.is(answer.feeCents, 9); // 8.4
  t.is(answer.balance.total, 100_000 - 250 - 9 + 200 - 9);
});

test("INSUFFICIENT_LIQUIDITY: a market sell finds no bid", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "yes", 1);
  t.is(await refusal(market, ann, sell("yes", 1)), "INSUFFICIENT_LIQUIDITY");
});

test("a null price is ioc even where gtc is asked for", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 30, undefined, { timeInForce: "gtc" }));
  t.like(answer.order, { status: "cancelled", filledQuantity: 20, timeInForce: "ioc" });
  t.deepEqual((await book(market)).asks, []);
});

test("postOnly rests where it crosses nothing", async (t) => {
  const { market, cid } = await makeQuoted();
  const answer = await place(market, cid, buy("yes", 10, 59, postOnly));
  t.is(answer.order.status, "open");
  t.deepEqual((await book(market)).bids, ["10 @ 59", "10 @ 40", "10 @ 35"]);
});

test("POST_ONLY_WOULD_CROSS: postOnly would trade, if only one share", async (t) => {
  const { market, cid } = await makeQuoted();
  t.is(await refusal(market, cid, buy("yes", 10, 60, postOnly)), "POST_ONLY_WOULD_CROSS");
  t.is(await refusal(market, cid, buy("no", 1, 60, postOnly)), "POST_ONLY_WOULD_CROSS");
  t.deepEqual(await book(market), {
    bids: ["10 @ 40", "10 @ 35"],
    asks: ["10 @ 60", "10 @ 65"],
  });
});

test("INVALID_REQUEST: postOnly goes with a price and gtc only", async (t) => {
  const { market, cid } = await makeQuoted();
  for (const request of [
    buy("yes", 10, 30, { ...postOnly, ...ioc }),
    buy("yes", 10, undefined, postOnly),
    { side: "yes", budgetCents: 500, postOnly: true },
    { side: "yes", price: 30, budgetCents: 500, postOnly: true },
    sell("yes", 10, undefined, postOnly),
  ] as const) {
    t.is(await refusal(market, cid, request), "INVALID_REQUEST");
  }
});

test("expiresAt comes back in UTC with milliseconds", async (t) => {
  const { market, cid } = await makeQuoted();
  const expiresAt = "2099-05-06T09:08:09.123+02:00";
  const answer = await place(market, cid, buy("yes", 10, 30, { expiresAt }));
  t.is(answer.order.expiresAt, "2099-05-06T07:08:09.123Z");
  t.is((await order(cid, answer.order.id)).expiresAt, "2099-05-06T07:08:09.123Z");
});

test("INVALID_REQUEST: an expiresAt that is not in the future", async (t) => {
  const { market, cid } = await makeQuoted();
  const expiresAt = "2020-01-01T00:00:00Z";
  t.is(await refusal(market, cid, buy("yes", 10, 30, { expiresAt })), "INVALID_REQUEST");
  t.is(await refusal(market, cid, buy("yes", 10, 60, { expiresAt, ...ioc })), "INVALID_REQUEST");
});

test.serial("INVALID_REQUEST: an expiresAt of this moment; the next one will do", async (t) => {
  const { market, cid } = await makeQuoted();
  await exchange.clock.freeze("2040-01-01T12:00:00Z");
  const now = { expiresAt: "2040-01-01T12:00:00.000Z" };
  t.is(await refusal(market, cid, buy("yes", 10, 30, now)), "INVALID_REQUEST");
  t.is(await refusal(market, cid, buy("yes", 10, 60, now)), "INVALID_REQUEST");
  const next = { expiresAt: "2040-01-01T12:00:00.001Z" };
  t.is((await place(market, cid, buy("yes", 10, 60, next))).order.status, "filled");
  await exchange.clock.release();
});
