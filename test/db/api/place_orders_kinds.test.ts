import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell, shown } from "../../helpers/exchange/orders.ts";

/** What a match does to cash, shares and escrow, for buyers and sellers. */

const exchange = testExchange(test);
const { accounts, balance, giveShares, makeMarketWith, market, place, position, rest } = exchange;

test("buy meets buy: pairs are minted, both pay, 100 cents a pair go into escrow", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 40));
  const { order, fills, feeCents } = await place(id, bob, buy("yes", 10, 60));

  t.like(order, { status: "filled", filledQuantity: 10, side: "yes", price: 60 });
  t.deepEqual(shown(fills), ["10 @ 60"]);
  t.is(feeCents, 17); // 7 % of 10 x 0.60 x 0.40 EUR is 16.8 cents
  t.is(await balance(ann), 100_000 - 400);
  t.is(await balance(bob), 100_000 - 600 - 17);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 17 });
  t.deepEqual(await position(id, ann, "no"), { quantity: 10, cost: 400, fees: 0, realised: 0 });
  t.deepEqual(await position(id, bob, "yes"), { quantity: 10, cost: 600, fees: 17, realised: 0 });
});

test("a NO buyer takes from a resting YES buyer at the rest of 100", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("yes", 10, 60));
  const { fills, feeCents } = await place(id, bob, buy("no", 10, 40));

  t.deepEqual(shown(fills), ["10 @ 60"]);
  t.is(feeCents, 17);
  t.is(await balance(ann), 100_000 - 600);
  t.is(await balance(bob), 100_000 - 400 - 17);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 17 });
  t.deepEqual(await position(id, bob, "no"), { quantity: 10, cost: 400, fees: 17, realised: 0 });
});

test("a buyer takes from a resting seller: shares change hands, escrow stays", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await giveShares(id, ann, "yes", 10); // costs 500 and 17.5, so 18
  await rest(id, ann, sell("yes", 10, 60));
  const { fills, feeCents } = await place(id, bob, buy("yes", 10, 60));

  t.deepEqual(shown(fills), ["10 @ 60"]);
  t.is(feeCents, 17);
  t.is(await balance(ann), 100_000 - 518 + 600);
  t.is(await balance(bob), 100_000 - 617);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 18 + 17 });
  t.deepEqual(await position(id, ann, "yes"), {
    quantity: 0,
    cost: 0,
    fees: 0,
    realised: 600 - 500 - 18,
  });
  t.deepEqual(await position(id, bob, "yes"), { quantity: 10, cost: 600, fees: 17, realised: 0 });
});

test("a seller takes from a resting buyer: the fee comes out of the proceeds", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await giveShares(id, bob, "yes", 10);
  await rest(id, ann, buy("yes", 10, 55));
  const { order, fills, feeCents } = await place(id, bob, sell("yes", 10, 50));

  t.like(order, { status: "filled", side: "yes", orderType: "sell", price: 50 });
  t.deepEqual(shown(fills), ["10 @ 55"]);
  t.is(feeCents, 18); // 17.325
  t.is(await balance(ann), 100_000 - 550);
  t.is(await balance(bob), 100_000 - 518 + 550 - 18);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 18 + 18 });
  t.deepEqual(await position(id, bob, "yes"), {
    quantity: 0,
    cost: 0,
    fees: 0,
    realised: 550 - 18 - 500 - 18,
  });
});

test("a seller of NO takes from a resting buyer of NO", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await giveShares(id, bob, "no", 10);
  await rest(id, ann, buy("no", 10, 30));
  const { fills, feeCents } = await place(id, bob, sell("no", 10, 30));

  t.deepEqual(shown(fills), ["10 @ 70"]); // in YES prices
  t.is(feeCents, 15); // 14.7
  t.is(await balance(ann), 100_000 - 300);
  t.is(await balance(bob), 100_000 - 518 + 300 - 15);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 18 + 15 });
  t.like(await position(id, bob, "no"), { quantity: 0, realised: 300 - 15 - 500 - 18 });
  t.deepEqual(await position(id, ann, "no"), { quantity: 10, cost: 300, fees: 0, realised: 0 });
});

test("sell meets sell: pairs are burnt, escrow pays both", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await giveShares(id, ann, "yes", 10);
  await giveShares(id, bob, "no", 10);
  t.is((await accounts(id)).escrow, 2000);
  await rest(id, ann, sell("yes", 10, 55));
  const { fills, feeCents } = await place(id, bob, sell("no", 10, 45));

  t.deepEqual(shown(fills), ["10 @ 55"]);
  t.is(feeCents, 18);
  t.is(await balance(ann), 100_000 - 518 + 550);
  t.is(await balance(bob), 100_000 - 518 + 450 - 18);
  t.deepEqual(await accounts(id), { escrow: 1000, revenue: 18 + 18 + 18 });
  t.like(await position(id, ann, "yes"), { quantity: 0, realised: 550 - 500 - 18 });
  t.like(await position(id, bob, "no"), { quantity: 0, realised: 450 - 18 - 500 - 18 });
});

test("one order mints with a buyer and then takes over a seller's shares", async (t) => {
  const [id, ann, bob, cid] = await makeMarketWith(3);
  await giveShares(id, ann, "yes", 4);
  await rest(id, ann, sell("yes", 4, 60));
  await rest(id, bob, buy("no", 6, 40));
  const { fills, feeCents } = await place(id, cid, buy("yes", 10, 60));

  t.deepEqual(shown(fills), ["4 @ 60", "6 @ 60"]);
  t.is(feeCents, 17);
  t.deepEqual(await accounts(id), { escrow: 400 + 600, revenue: 7 + 17 });
  t.is(await balance(cid), 100_000 - 617);
});

test("a fill names the stored YES order as buy and the stored NO order as sell", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await giveShares(id, ann, "yes", 10);
  await giveShares(id, bob, "no", 10);
  const [anns] = await rest(id, ann, sell("yes", 5, 55)); // stored as NO at 45
  const { order: bobs, fills } = await place(id, bob, sell("no", 5, 45)); // stored as YES at 55
  t.like(fills[0], { buyOrderId: bobs.id, buyerId: bob, sellOrderId: anns, sellerId: ann });

  const [annsBuy] = await rest(id, ann, buy("yes", 5, 30));
  const { order: bobsBuy, fills: minted } = await place(id, bob, buy("no", 5, 70));
  t.like(minted[0], { buyOrderId: annsBuy, buyerId: ann, sellOrderId: bobsBuy.id, sellerId: bob });
  t.like(minted[0], { marketId: id, price: 30, quantity: 5 });
});

test("a match adds quantity x price to the volume of each side and sets the last price", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 40), buy("no", 5, 38));
  await place(id, bob, buy("yes", 12, 62));
  t.like(await market(id), {
    lastTradePrice: 62,
    yesVolume: 10 * 60 + 2 * 62,
    noVolume: 10 * 40 + 2 * 38,
  });
});

test("trades are listed in YES prices, newest first, page by page", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 1, 40), buy("no", 2, 39), buy("no", 3, 38));
  const { fills } = await place(id, bob, buy("yes", 6, 99));
  const page = (number: number) => exchange.trades(id, number, 2);
  const newestFirst = fills
    .map((fill) => ({
      id: fill.id,
      price: fill.price,
      quantity: fill.quantity,
      createdAt: fill.createdAt,
    }))
    .reverse();
  t.deepEqual(await page(1), {
    data: newestFirst.slice(0, 2),
    meta: { total: 3, page: 1, limit: 2, hasMore: true },
  });
  t.deepEqual(await page(2), {
    data: newestFirst.slice(2),
    meta: { total: 3, page: 2, limit: 2, hasMore: false },
  });
  t.deepEqual(await page(3), { data: [], meta: { total: 3, page: 3, limit: 2, hasMore: false } });
});

test("trades are at the maker's price: the taker gets the improvement, also in the fee", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 60));
  const { order, fills, feeCents } = await place(id, bob, buy("yes", 10, 70));
  t.is(order.price, 70);
  t.deepEqual(shown(fills), ["10 @ 40"]);
  t.is(feeCents, 17);
  t.is(await balance(bob), 100_000 - 417);
});

test("better prices are taken first, and at one price the earlier order", async (t) => {
  const [id, ann, bob, cid] = await makeMarketWith(3);
  const [first] = await rest(id, ann, buy("no", 3, 40));
  const [second] = await rest(id, bob, buy("no", 3, 40));
  const [best] = await rest(id, ann, buy("no", 3, 41));
  const { fills } = await place(id, cid, buy("yes", 7, 60));
  t.deepEqual(shown(fills), ["3 @ 59", "3 @ 60", "1 @ 60"]);
  t.deepEqual(
    fills.map((fill) => fill.sellOrderId),
    [best, first, second],
  );
  t.like(await exchange.order(bob, second), { status: "partially_filled", filledQuantity: 1 });
});

test("when the best price is taken, older orders at the next are met", async (t) => {
  const [market, maker, taker] = await makeMarketWith(2);
  await rest(market, maker, buy("no", 5, 30), buy("no", 5, 40), buy("no", 5, 40));
  // In part, so that a search begins behind the older order; then whole, and no further.
  for (const quantity of [5, 2, 3]) {
    t.deepEqual(shown((await place(market, taker, buy("yes", quantity, 60))).fills), [
      `${quantity} @ 60`,
    ]);
  }
  t.deepEqual(shown((await place(market, taker, buy("yes", 5, 70))).fills), ["5 @ 70"]);
});

test("within a batch too, the earlier of two orders at one price is taken first", async (t) => {
  const [id, ann, bob, cid] = await makeMarketWith(3);
  const outcomes = await exchange.placeBatch(id, [
    [ann, buy("no", 3, 40)],
    [bob, buy("no", 3, 40)],
    [ann, buy("no", 3, 41)],
    [cid, buy("yes", 4, 60)],
    [bob, buy("no", 3, 40)],
    [cid, buy("yes", 7, 60)],
  ]);
  const [first, second, best, taker, third, last] = outcomes.map(({ answer }) => answer!);
  const makers = (answer: typeof taker) =>
    answer!.fills.map((fill) => [fill.sellOrderId, fill.quantity]);
  t.deepEqual(makers(taker), [
    [best!.order.id, 3],
    [first!.order.id, 1],
  ]);
  t.deepEqual(makers(last), [
    [first!.order.id, 2],
    [second!.order.id, 3],
    [third!.order.id, 2],
  ]);
  t.deepEqual(await exchange.book(id), { bids: [], asks: ["1 @ 60"] });
});

test("within a batch too, orders are met where better ones stood and are gone", async (t) => {
  const [id, ann, bob, cid] = await makeMarketWith(3);
  await rest(id, ann, buy("no", 5, 60), buy("no", 5, 50));
  const outcomes = await exchange.placeBatch(id, [
    [cid, buy("yes", 5, 40)],
    [cid, buy("yes", 1, 50)],
    [bob, buy("no", 5, 70)],
    [bob, buy("no", 5, 55)],
    [cid, buy("yes", 12, 50)],
  ]);
  t.deepEqual(
    outcomes.map(({ answer }) => shown(answer!.fills)),
    [["5 @ 40"], ["1 @ 50"], [], [], ["5 @ 30", "5 @ 45", "2 @ 50"]],
  );
});

test("prices that only just fail to meet do not trade", async (t) => {
  const [id, ann, bob] = await makeMarketWith(2);
  await rest(id, ann, buy("no", 10, 40));
  await rest(id, bob, buy("yes", 10, 59));
  t.deepEqual(await exchange.book(id), { bids: ["10 @ 59"], asks: ["10 @ 60"] });
});

test("both sides may be held at once and are never merged", async (t) => {
  const [id, ann] = await makeMarketWith(1);
  await giveShares(id, ann, "yes", 10);
  await giveShares(id, ann, "no", 10);
  t.like(await position(id, ann, "yes"), { quantity: 10, cost: 500, realised: 0 });
  t.like(await position(id, ann, "no"), { quantity: 10, cost: 500, realised: 0 });
  t.is((await accounts(id)).escrow, 2000);
});
