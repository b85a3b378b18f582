import test from "ava";
import type { ExecutionContext } from "ava";
import { leaveCash } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, postOnly, sell, shown, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** A resting order is judged again when it would match: those that can't go through are dead. */

const exchange = testExchange(test);
const { balance, book, clock, giveShares, makeMarketWith, makeTrader } = exchange;
const { operate, order, place, refusal, rest, version } = exchange;

const withdrawAll = (trader: string, leave = 0) => leaveCash(exchange, trader, leave);

/** Nothing that callers can do leaves an excluded trader with an order: a row is changed by hand. */
const excludeByHand = (trader: string) =>
  exchange.query(
    `update trading.traders set excluded_until = 'infinity'
     where user_id = (select id from identity.users where public_id = $1)`,
    [trader],
  );

interface Death {
  reason: string;
  /** Of a trader whose order to sell YES at 60, or to buy NO at 40, is in the way. */
  request: Request;
  prepare?: (market: string, trader: string) => Promise<unknown>;
  kill: (market: string, trader: string) => Promise<unknown>;
}

const limitsOf = (cents: number) => ({
  day_cents: cents,
  week_cents: null,
  month_cents: null,
});

const deaths: Death[] = [
  {
    reason: "expired",
    request: buy("no", 10, 40, { expiresAt: "2040-01-01T00:00:00Z" }),
    kill: () => clock.freeze("2040-01-01T00:00:00Z"),
  },
  { reason: "self_excluded", request: buy("no", 10, 40), kill: (_, ann) => excludeByHand(ann) },
  {
    reason: "insufficient_funds",
    request: buy("no", 10, 40),
    kill: (_, ann) => withdrawAll(ann, 399),
  },
  {
    reason: "position_insufficient",
    request: sell("yes", 10, 60),
    prepare: (market, ann) => giveShares(market, ann, "yes", 10),
    kill: async (market, ann) => {
      const bob = await makeTrader();
      await rest(market, bob, buy("yes", 1, 59));
      await place(market, ann, sell("yes", 1, 59));
    },
  },
  {
    reason: "loss_limit",
    request: buy("no", 10, 40),
    kill: (_, ann) => operate("set_loss_limits", { user_id: ann, ...limitsOf(399) }),
  },
];

/** An order that fails revalidation, and a valid one behind it at 61. */
async function makeDead({ request, prepare, kill }: Death) {
  await clock.freeze("2039-12-31T23:59:59.999Z");
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await prepare?.(market, ann);
  const [dead] = await rest(market, ann, request);
  await rest(market, bob, buy("no", 10, 39));
  await kill(market, ann);
  return { market, ann, bob, taker, dead };
}

for (const death of deaths) {
  const { reason } = death;

  test.serial(`${reason}: the maker is cancelled, and matching goes on behind it`, async (t) => {
    const { market, ann, taker, dead } = await makeDead(death);
    const answer = await place(market, taker, buy("yes", 10, 61));
    t.deepEqual(shown(answer.fills), ["10 @ 61"]);
    t.is(answer.cancelledOrders.length, 1);
    t.like(answer.cancelledOrders[0], {
      id: dead,
      userId: ann,
      marketId: market,
      status: "cancelled",
      cancelReason: reason,
      quantity: 10,
      filledQuantity: 0,
      price: death.request.price!,
      side: death.request.side,
      orderType: death.request.orderType ?? "buy",
      timeInForce: "gtc",
    });
    t.like(await order(ann, dead), { status: "cancelled", cancelReason: reason });
    t.deepEqual((await book(market)).asks, []);
  });

  test.serial(
    `INSUFFICIENT_LIQUIDITY: the only maker fails revalidation (${reason}) and is cancelled`,
    async (t) => {
      const { market, ann, taker, dead } = await makeDead(death);
      const before = await version(market);
      t.is(await refusal(market, taker, buy("yes", 10, 60, ioc)), "INSUFFICIENT_LIQUIDITY");
      t.like(await order(ann, dead), { status: "cancelled", cancelReason: reason });
      t.is(await version(market), before + 1);
      t.deepEqual((await exchange.orders(taker, { status: "all" })).data, []);
      t.is(await refusal(market, taker, buy("yes", 10, 60, ioc)), "INSUFFICIENT_LIQUIDITY");
      t.is(await version(market), before + 1);
    },
  );

  test.serial(
    `a postOnly order that meets only a maker with ${reason} rests, and the maker is cancelled`,
    async (t) => {
      const { market, ann, taker, dead } = await makeDead(death);
      const answer = await place(market, taker, buy("yes", 10, 60, postOnly));
      t.like(answer.order, { status: "open", filledQuantity: 0 });
      t.deepEqual(
        answer.cancelledOrders.map(({ id, cancelReason }) => ({ id, cancelReason })),
        [{ id: dead, cancelReason: reason as "expired" }],
      );
      t.like(await order(ann, dead), { status: "cancelled", cancelReason: reason });
      t.deepEqual(await book(market), { bids: ["10 @ 60"], asks: ["10 @ 61"] });
    },
  );
}

test.serial("an order fills behind an order of the same price that is cancelled", async (t) => {
  for (const death of deaths) {
    const { market, ann, taker, dead } = await makeDead(death);
    const ben = await makeTrader();
    await rest(market, ben, buy("no", 14, 40));
    const answer = await place(market, taker, buy("yes", 10, 60));
    t.like(answer.order, { status: "filled", filledQuantity: 10 }, death.reason);
    t.deepEqual(shown(answer.fills), ["10 @ 60"], death.reason);
    t.like(await order(ann, dead), { status: "cancelled", cancelReason: death.reason });
    t.deepEqual((await book(market)).asks, ["4 @ 60", "10 @ 61"], death.reason);
  }
});

/** A maker that fails revalidation, a valid one, and a rejected request: nothing may change. */
async function changesNothing(
  t: ExecutionContext,
  code: string,
  request: Request,
  prepare?: (market: string, taker: string) => Promise<unknown>,
) {
  const { market, ann, taker } = await makeDead(deaths[2]!);
  await prepare?.(market, taker);
  const before = await exchange.dump();
  t.is(await refusal(market, taker, request), code);
  t.deepEqual(await exchange.dump(), before);
  t.is((await exchange.orders(ann)).data.length, 1);
}

test.serial(
  "POST_ONLY_WOULD_CROSS behind a maker that fails revalidation changes nothing",
  async (t) => {
    await changesNothing(t, "POST_ONLY_WOULD_CROSS", buy("yes", 10, 61, postOnly));
  },
);

test.serial(
  "SELF_TRADE_BLOCKED behind a maker that fails revalidation changes nothing",
  async (t) => {
    await changesNothing(t, "SELF_TRADE_BLOCKED", buy("yes", 11, 62), (market, taker) =>
      rest(market, taker, buy("no", 1, 38)),
    );
  },
);

test.serial(
  "INSUFFICIENT_BALANCE behind a maker that fails revalidation changes nothing",
  async (t) => {
    await changesNothing(t, "INSUFFICIENT_BALANCE", buy("yes", 10, 61), (_, taker) =>
      withdrawAll(taker, 100),
    );
  },
);

test.serial(
  "INSUFFICIENT_BALANCE with only a maker that fails revalidation changes nothing",
  async (t) => {
    await changesNothing(t, "INSUFFICIENT_BALANCE", buy("yes", 10, 60), (_, taker) =>
      withdrawAll(taker, 599),
    );
  },
);

test.serial("LOSS_LIMIT behind a maker that fails revalidation changes nothing", async (t) => {
  await changesNothing(t, "LOSS_LIMIT", buy("yes", 10, 61), (_, taker) =>
    operate("set_loss_limits", { user_id: taker, ...limitsOf(100) }),
  );
});

test("a maker has to pay for this match only, not for all of its order", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  const [order] = await rest(market, ann, buy("no", 10, 40));
  await withdrawAll(ann, 200);
  const first = await place(market, taker, buy("yes", 5, 60));
  t.deepEqual(shown(first.fills), ["5 @ 60"]);
  t.is(await balance(ann), 0);
  const second = await place(market, taker, buy("yes", 1, 60));
  t.is(second.cancelledOrders[0]?.id, order);
  t.like(second.cancelledOrders[0], {
    cancelReason: "insufficient_funds",
    quantity: 10,
    filledQuantity: 5,
  });
  t.is(second.order.status, "open");
});

test("a maker who can pay for only a part of the match is cancelled", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40));
  await withdrawAll(ann, 399);
  const answer = await place(market, taker, buy("yes", 10, 60));
  t.deepEqual(answer.fills, []);
  t.is(answer.cancelledOrders[0]?.cancelReason, "insufficient_funds");
  t.is(await balance(ann), 399);
});

test("two orders of one maker in one match: the second is judged by what the first left", async (t) => {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  const [, second] = await rest(market, ann, buy("no", 10, 41), buy("no", 10, 40));
  await rest(market, bob, buy("no", 10, 40));
  await withdrawAll(ann, 500);
  const answer = await place(market, taker, buy("yes", 20, 60));
  t.deepEqual(shown(answer.fills), ["10 @ 59", "10 @ 60"]);
  t.deepEqual(
    answer.cancelledOrders.map((dead) => [dead.id, dead.cancelReason]),
    [[second, "insufficient_funds"]],
  );
  t.is(await balance(ann), 90);
});

test("two sells of the same shares: the second is position_insufficient once the first took them", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  const [, second] = await rest(market, ann, sell("yes", 10, 60), sell("yes", 10, 61));
  const answer = await place(market, taker, buy("yes", 15, 61));
  t.deepEqual(shown(answer.fills), ["10 @ 60"]);
  t.deepEqual(
    answer.cancelledOrders.map((dead) => [dead.id, dead.cancelReason]),
    [[second, "position_insufficient"]],
  );
  t.like(answer.order, { status: "partially_filled", filledQuantity: 10 });
});

test("a maker's proceeds pay for the maker's next order in the same match", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  await rest(market, ann, sell("yes", 10, 60), buy("no", 15, 39));
  await withdrawAll(ann);
  const answer = await place(market, taker, buy("yes", 25, 61));
  t.deepEqual(shown(answer.fills), ["10 @ 60", "15 @ 61"]);
  t.is(await balance(ann), 600 - 15 * 39);
});

test("loss_limit judges a maker by this match alone: other open orders don't count", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40), buy("no", 10, 39), buy("no", 10, 38));
  await operate("set_loss_limits", { user_id: ann, ...limitsOf(790) });
  const first = await place(market, taker, buy("yes", 10, 60));
  t.deepEqual(shown(first.fills), ["10 @ 60"]); // 400 of 790
  const second = await place(market, taker, buy("yes", 10, 61));
  t.deepEqual(shown(second.fills), ["10 @ 61"]); // 790 of 790
  const third = await place(market, taker, buy("yes", 1, 62));
  t.is(third.cancelledOrders[0]?.cancelReason, "loss_limit");
});

test("loss_limit judges a maker by this match alone: not by the rest of the order", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40));
  await operate("set_loss_limits", { user_id: ann, ...limitsOf(200) });
  const first = await place(market, taker, buy("yes", 5, 60));
  t.deepEqual(shown(first.fills), ["5 @ 60"]); // 200 of 200
  const second = await place(market, taker, buy("yes", 1, 60));
  t.is(second.cancelledOrders[0]?.cancelReason, "loss_limit");
});

test("loss_limit judges a maker by this match alone: also one with orders in the call", async (t) => {
  const [market, ann, taker] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40), buy("no", 10, 39));
  await operate("set_loss_limits", { user_id: ann, ...limitsOf(400) });
  const [own, met] = await exchange.placeBatch(market, [
    [ann, buy("no", 1, 1)],
    [taker, buy("yes", 10, 60)],
  ]);
  t.is(own!.code, "LOSS_LIMIT"); // 790 are open already
  t.deepEqual(shown(met!.answer!.fills), ["10 @ 60"]); // 400 of 400
});

test("a maker's shares and cash serve each order of a batch that meets them", async (t) => {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await exchange.giveShares(market, ann, "yes", 10);
  await rest(market, ann, sell("yes", 10, 60));
  await rest(market, bob, buy("no", 10, 39));
  await withdrawAll(bob, 390);
  const outcomes = await exchange.placeBatch(
    market,
    [60, 60, 61, 61].map((price) => [taker, buy("yes", 5, price)]),
  );
  t.deepEqual(
    outcomes.map(({ answer }) => shown(answer!.fills)),
    [["5 @ 60"], ["5 @ 60"], ["5 @ 61"], ["5 @ 61"]],
  );
});

test("a budget order cancels makers that fail revalidation like any order", async (t) => {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await rest(market, ann, buy("no", 10, 40));
  await rest(market, bob, buy("no", 10, 39));
  await withdrawAll(ann);
  const answer = await place(market, taker, spend("yes", 320));
  t.deepEqual(shown(answer.fills), ["5 @ 61"]); // 305 and 8.3265
  t.is(answer.cancelledOrders.length, 1);
  t.is(answer.order.status, "filled");
});

test("a cancelled maker is removed from its level with all of its quantity", async (t) => {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await rest(market, ann, buy("no", 10, 40));
  await rest(market, bob, buy("no", 7, 40));
  await withdrawAll(ann);
  await place(market, taker, buy("yes", 3, 60));
  t.deepEqual(await book(market), { bids: [], asks: ["4 @ 60"] });
});

test("a valid maker is reached behind any number of cancelled ones, alone and in a batch", async (t) => {
  for (const lone of [true, false]) {
    const [market, bob, taker] = await makeMarketWith(2);
    const dead: string[] = [];
    for (let price = 49; price > 29; price--) {
      const ann = await makeTrader({ cents: 5000 });
      dead.push(...(await rest(market, ann, buy("no", 50, price), buy("no", 50, price))));
      await withdrawAll(ann);
    }
    await rest(market, bob, buy("no", 10, 29));
    const requests: [string, Request][] = [[taker, buy("yes", 3, 99)]];
    if (!lone) requests.push([taker, buy("yes", 2, 99)]);
    const [first, second] = await exchange.placeBatch(market, requests);
    t.deepEqual(shown(first!.answer!.fills), ["3 @ 71"]);
    t.deepEqual(
      first!.answer!.cancelledOrders.map(({ id }) => id),
      dead,
    );
    if (!lone) t.deepEqual(shown(second!.answer!.fills), ["2 @ 71"]);
  }
});

test("a maker that a rejected request of the call met gets its cash and shares back", async (t) => {
  for (const maker of ["buyer", "seller"]) {
    const [market, ann, bob, cid] = await makeMarketWith(3);
    if (maker === "buyer") {
      await rest(market, ann, buy("no", 10, 40));
      await withdrawAll(ann, 400);
    } else {
      await giveShares(market, ann, "yes", 10);
      await rest(market, ann, sell("yes", 10, 60));
    }
    await withdrawAll(bob, 599);
    const [rejected, accepted] = await exchange.placeBatch(market, [
      [bob, buy("yes", 20, 60)],
      [cid, buy("yes", 10, 60)],
    ]);
    t.is(rejected?.code, "INSUFFICIENT_BALANCE", maker);
    t.deepEqual(
      accepted?.answer?.fills.map(({ quantity }) => quantity),
      [10],
      maker,
    );
  }
});
