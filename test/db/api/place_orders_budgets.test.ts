import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, placeOrders, shown, spend } from "../../helpers/exchange/orders.ts";

/** A budget covers shares and fee, buys the most whole shares that fit, and never rests. */

const exchange = testExchange(test);
const { makeMarketWith, makeTrader, operate, orders, place, refusal, rest } = exchange;

/** A market with these offers of YES, all of one maker. */
async function makeOffered(...offers: [quantity: number, price: number][]) {
  const [market, maker, taker] = await makeMarketWith(2, { cents: 3_000_000 });
  await rest(market, maker, ...offers.map(([quantity, price]) => buy("no", quantity, 100 - price)));
  return { market, maker, taker };
}

test("a budget ends filled when the rest of it can't pay for a share at the next price", async (t) => {
  const { market, taker } = await makeOffered([10, 50], [10, 60]);
  const answer = await place(market, taker, spend("yes", 520));
  t.like(answer.order, {
    status: "filled",
    cancelReason: null,
    quantity: 10,
    filledQuantity: 10,
    price: 99,
    timeInForce: "ioc",
  });
  t.deepEqual(shown(answer.fills), ["10 @ 50"]);
  t.is(answer.feeCents, 18);
  t.is(answer.balance.total, 3_000_000 - 518);
});

test("a budget ends cancelled, insufficient_liquidity, when there is nothing more to buy", async (t) => {
  const { market, taker } = await makeOffered([10, 50]);
  const answer = await place(market, taker, spend("yes", 10_000));
  t.like(answer.order, {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    quantity: 10,
    filledQuantity: 10,
  });
  t.is(answer.balance.total, 3_000_000 - 518);
});

test("a price beside the budget is its limit", async (t) => {
  const { market, taker } = await makeOffered([10, 50], [10, 60]);
  const answer = await place(market, taker, spend("yes", 5000, { price: 55 }));
  t.like(answer.order, {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    quantity: 10,
    price: 55,
    timeInForce: "ioc",
  });
  t.deepEqual((await exchange.book(market)).bids, []);
});

test("a budget buys the most whole shares that fit with their fee", async (t) => {
  const { market, taker } = await makeOffered([100, 50]);
  // 19 cost 950 and 33.25, so 984; 20 would cost 1035.
  const answer = await place(market, taker, spend("yes", 1000));
  t.like(answer.order, { status: "filled", quantity: 19, filledQuantity: 19 });
  t.is(answer.feeCents, 34);
  t.is(answer.balance.total, 3_000_000 - 984);
});

test("over several prices the fee is of the whole order", async (t) => {
  const { market, taker } = await makeOffered([5, 50], [5, 51], [100, 52]);
  // 250 + 255 + 8 x 52 = 921 and 31.4741, so 953; a ninth at 52 would make it 973 + 34.
  const answer = await place(market, taker, spend("yes", 1000));
  t.deepEqual(shown(answer.fills), ["5 @ 50", "5 @ 51", "8 @ 52"]);
  t.is(answer.feeCents, 32);
  t.is(answer.balance.total, 3_000_000 - 953);
  t.like(answer.order, { status: "filled", quantity: 18 });
});

test("a budget that fits to the cent is spent to the cent", async (t) => {
  const { market, taker } = await makeOffered([100, 50]);
  const answer = await place(market, taker, spend("yes", 5175));
  t.like(answer.order, { status: "filled", quantity: 100 });
  t.is(answer.balance.total, 3_000_000 - 5175);
});

test("INSUFFICIENT_LIQUIDITY: a budget that can't buy one share with its fee", async (t) => {
  const { market, taker } = await makeOffered([1, 50]);
  t.is(await refusal(market, taker, spend("yes", 51)), "INSUFFICIENT_LIQUIDITY");
  t.deepEqual((await orders(taker, { status: "all" })).data, []);
  const answer = await place(market, taker, spend("yes", 52));
  t.like(answer.order, { quantity: 1, filledQuantity: 1 });
});

test("INSUFFICIENT_LIQUIDITY: a budget finds no offer, or none within its limit", async (t) => {
  const { market, taker } = await makeOffered([10, 50]);
  t.is(await refusal(market, taker, spend("no", 1000)), "INSUFFICIENT_LIQUIDITY");
  t.is(await refusal(market, taker, spend("yes", 1000, { price: 49 })), "INSUFFICIENT_LIQUIDITY");
});

test("a budget may be larger than the balance: what it executes is what counts", async (t) => {
  const { market } = await makeOffered([10, 50]);
  const taker = await makeTrader({ cents: 518 });
  const answer = await place(market, taker, spend("yes", 1_000_000));
  t.is(answer.balance.total, 0);
});

test("INSUFFICIENT_BALANCE: what the budget would execute is more than the balance", async (t) => {
  const { market } = await makeOffered([10, 50]);
  const taker = await makeTrader({ cents: 517 });
  t.is(await refusal(market, taker, spend("yes", 518)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, taker, spend("yes", 1_000_000)), "INSUFFICIENT_BALANCE");
});

test("a budget buys 10,000 shares at most and is then filled", async (t) => {
  const { market, taker } = await makeOffered([10_000, 1], [10_000, 2]);
  const answer = await place(market, taker, spend("yes", 1_000_000));
  t.like(answer.order, { status: "filled", quantity: 10_000, filledQuantity: 10_000 });
  t.is(answer.feeCents, 693);
  t.is(answer.balance.total, 3_000_000 - 10_693);
});

test("a budget buys NO as it buys YES", async (t) => {
  const [market, maker, taker] = await makeMarketWith(2);
  await rest(market, maker, buy("yes", 100, 70));
  // 30 a share and 1.47 of fee: 31 cost 930 and 45.57, 32 would be 960 and 47.04.
  const answer = await place(market, taker, spend("no", 1000));
  t.like(answer.order, { status: "filled", quantity: 31, side: "no" });
  t.is(answer.balance.total, 100_000 - 930 - 46);
});

test("gtc has no effect on a budget order", async (t) => {
  const { market, taker } = await makeOffered([10, 50]);
  const more = { price: 60, timeInForce: "gtc" } as const;
  const answer = await place(market, taker, spend("yes", 5000, more));
  t.like(answer.order, { status: "cancelled", timeInForce: "ioc", quantity: 10 });
});

test("the fee in force counts into what a budget can buy", async (t) => {
  const { market, taker } = await makeOffered([10, 50]);
  await operate("set_fee_schedule", { taker_rate_bps: 10_000, market_id: market });
  t.is(await refusal(market, taker, spend("yes", 74)), "INSUFFICIENT_LIQUIDITY");
  const answer = await place(market, taker, spend("yes", 225));
  t.like(answer.order, { status: "filled", quantity: 3 });
  t.is(answer.balance.total, 3_000_000 - 225);
});

test("every budget is kept, and one share more would have exceeded it", async (t) => {
  const { market, taker } = await makeOffered([3, 48], [4, 50], [5, 53], [9, 60]);
  const prices = [48, 48, 48, 50, 50, 50, 50, 53, 53, 53, 53, 53, ...Array<number>(9).fill(60)];
  const costOf = (quantity: number) => {
    const taken = prices.slice(0, quantity);
    const weight = taken.reduce((sum, price) => sum + price * (100 - price), 0);
    return taken.reduce((sum, price) => sum + price, 0) + Math.ceil((700 * weight) / 1_000_000);
  };
  for (let budget = 1; budget < 1100; budget += 7) {
    await exchange.withRollback(async (client) => {
      const [outcome] = await placeOrders(client, [
        { marketId: market, userId: taker, ...spend("yes", budget) },
      ]);
      const { code } = outcome!;
      const body = code === null ? JSON.parse(outcome!.body) : null;
      const bought: number = code === null ? body.order.quantity : 0;
      t.is(code, bought === 0 ? "INSUFFICIENT_LIQUIDITY" : null);
      t.true(bought === 0 || costOf(bought) <= budget, `${bought} for ${budget}`);
      t.true(bought === prices.length || costOf(bought + 1) > budget, `${bought} for ${budget}`);
      if (code === null) t.is(3_000_000 - body.balance.total, costOf(bought));
    });
  }
});
