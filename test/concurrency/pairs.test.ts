import { randomUUID } from "node:crypto";
import test from "ava";
import { failure, pairsOf } from "../helpers/exchange/contention.ts";
import { switchWorker } from "../helpers/exchange/dead_man_switches.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell } from "../helpers/exchange/orders.ts";

/** Two things at the same moment: whichever comes first, both come out right. */

const exchange = testExchange(test, { sessions: 20 });
const { fire } = switchWorker(exchange);
const {
  balance,
  giveShares,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  operate,
} = exchange;
const { order, orders, position, rest } = exchange;

const pair = pairsOf(test, exchange, 20);

const withdraw = (user_id: string, amount_cents: number) =>
  failure(operate("withdraw", { user_id, amount_cents, reference: randomUUID() }));

pair(
  "an order is taken while its owner cancels it: it is filled or cancelled",
  ["cancelled", "filled"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [taken, cancelled] = await contention.together([
      () => contention.place(market, bob, buy("yes", 10, 60, ioc)),
      () => exchange.cancel(ann, id),
    ] as const);
    const { status, filledQuantity } = await order(ann, id);
    if (cancelled.code === null) {
      t.is(taken.code, "INSUFFICIENT_LIQUIDITY");
      t.deepEqual([status, filledQuantity, await balance(ann)], ["cancelled", 0, 100_000]);
      return "cancelled";
    }
    t.is(cancelled.code, "ORDER_NOT_CANCELLABLE");
    t.is(taken.answer!.order.status, "filled");
    t.deepEqual([status, filledQuantity, await balance(ann)], ["filled", 10, 100_000 - 400]);
    return "filled";
  },
);

pair(
  "an order is cancelled twice: one cancel succeeds",
  ["first", "second"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const outcomes = await contention.together([
      () => exchange.cancel(ann, id),
      () => exchange.cancel(ann, id),
    ] as const);
    t.deepEqual(outcomes.map(({ code }) => code).sort(), ["ORDER_NOT_CANCELLABLE", null].sort());
    t.is(await exchange.version(market), 2);
    return outcomes[0].code === null ? "first" : "second";
  },
);

pair(
  "a taker withdraws what the order would cost: one of the two is refused",
  ["placed", "withdrawn"],
  async (contention, t) => {
    const [market, bob] = await makeMarketWith(1);
    const ann = await makeTrader({ cents: 617 });
    await rest(market, bob, buy("no", 10, 40));
    const [placed, withdrawn] = await contention.together([
      () => contention.place(market, ann, buy("yes", 10, 60)),
      () => withdraw(ann, 617),
    ] as const);
    t.is(await balance(ann), 0);
    if (placed.code === null) {
      t.is(withdrawn, "EX011");
      return "placed";
    }
    t.deepEqual([placed.code, withdrawn], ["INSUFFICIENT_BALANCE", null]);
    return "withdrawn";
  },
);

pair(
  "a maker withdraws while being matched: the maker pays, or the order is cancelled",
  ["dead", "paid"],
  async (contention, t) => {
    const [market, bob] = await makeMarketWith(1);
    const ann = await makeTrader({ cents: 400 });
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [placed, withdrawn] = await contention.together([
      () => contention.place(market, bob, buy("yes", 10, 60)),
      () => withdraw(ann, 400),
    ] as const);
    t.is(await balance(ann), 0);
    const { status, cancelReason } = await order(ann, id);
    if (withdrawn === null) {
      t.deepEqual([status, cancelReason], ["cancelled", "insufficient_funds"]);
      t.is(placed.answer!.order.status, "open");
      return "dead";
    }
    t.deepEqual([status, placed.answer!.order.status], ["filled", "filled"]);
    return "paid";
  },
);

pair(
  "a deposit arrives with the order that it pays for: neither is lost",
  ["placed", "refused"],
  async (contention, t) => {
    const [market, bob] = await makeMarketWith(1);
    const ann = await makeTrader({ cents: 600 });
    await rest(market, bob, buy("no", 10, 40));
    const [placed] = await contention.together([
      () => contention.place(market, ann, buy("yes", 10, 60)),
      () => operate("deposit", { user_id: ann, amount_cents: 17, reference: "more" }),
    ] as const);
    t.is(await balance(ann), placed.code === null ? 0 : 617);
    if (placed.code !== null) t.is(placed.code, "INSUFFICIENT_BALANCE");
    return placed.code === null ? "placed" : "refused";
  },
);

pair("the same cash in two markets: spent once", ["first", "second"], async (contention, t) => {
  const markets = await makeMarkets(2);
  const bob = await makeTrader();
  const ann = await makeTrader({ cents: 617 });
  for (const market of markets) await rest(market, bob, buy("no", 10, 40));
  const outcomes = await contention.together(
    markets.map((market) => () => contention.place(market, ann, buy("yes", 10, 60))),
  );
  t.deepEqual(outcomes.map(({ code }) => code).sort(), ["INSUFFICIENT_BALANCE", null].sort());
  t.is(await balance(ann), 0);
  return outcomes[0]!.code === null ? "first" : "second";
});

pair(
  "a maker's cash in two markets: it pays for one, the other order is cancelled",
  ["first", "second"],
  async (contention, t) => {
    const [one, two] = await makeMarkets(2);
    const [bob, cid] = await makeTraders(2);
    const ann = await makeTrader({ cents: 400 });
    const [first] = await rest(one, ann, buy("no", 10, 40));
    const [second] = await rest(two, ann, buy("no", 10, 40));
    await contention.together([
      () => contention.place(one, bob, buy("yes", 10, 60)),
      () => contention.place(two, cid, buy("yes", 10, 60)),
    ] as const);
    const reasons = [await order(ann, first), await order(ann, second)].map(
      ({ status, cancelReason }) => cancelReason ?? status,
    );
    t.deepEqual(reasons.toSorted(), ["filled", "insufficient_funds"]);
    t.is(await balance(ann), 0);
    return reasons[0] === "filled" ? "first" : "second";
  },
);

pair(
  "two traders take from each other in two markets at once",
  ["first", "second"],
  async (contention, t) => {
    const [one, two] = await makeMarkets(2);
    const [ann, bob] = await makeTraders(2);
    await rest(one, ann, buy("no", 10, 40));
    await rest(two, bob, buy("no", 10, 40));
    const outcomes = await contention.together([
      () => contention.place(one, bob, buy("yes", 10, 60)),
      () => contention.place(two, ann, buy("yes", 10, 60)),
    ] as const);
    t.deepEqual(
      outcomes.map(({ answer }) => answer!.order.status),
      ["filled", "filled"],
    );
    t.deepEqual([await balance(ann), await balance(bob)], [98_983, 98_983]);
    const [first, second] = outcomes.map(({ answer }) => answer!.fills[0]!.id);
    return first! < second! ? "first" : "second";
  },
);

pair(
  "the same shares are offered twice: they are sold once",
  ["first", "second"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    await giveShares(market, ann, "yes", 10);
    await rest(market, bob, buy("yes", 20, 40));
    const outcomes = await contention.together([
      () => contention.place(market, ann, sell("yes", 10)),
      () => contention.place(market, ann, sell("yes", 10)),
    ] as const);
    t.deepEqual(outcomes.map(({ code }) => code).sort(), ["INSUFFICIENT_BALANCE", null].sort());
    t.is((await position(market, ann, "yes")).quantity, 0);
    return outcomes[0].code === null ? "first" : "second";
  },
);

pair(
  "the same loss limit in two markets: it holds for both together",
  ["0", "1", "2"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const ann = await makeTrader({ limits: [1000, null, null] });
    const outcomes = await contention.together(
      markets.map((market) => () => contention.place(market, ann, buy("yes", 10, 60))),
    );
    t.deepEqual(outcomes.map(({ code }) => code).sort(), ["LOSS_LIMIT", "LOSS_LIMIT", null].sort());
    return (["0", "1", "2"] as const)[outcomes.findIndex(({ code }) => code === null)]!;
  },
);

pair(
  "self-exclusion while orders are placed: afterwards none is open and none ever fills",
  ["excluded first", "between", "placed first"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const [ann, bob] = await makeTraders(2);
    await rest(markets[0], ann, buy("yes", 1, 10));
    const [excluded, ...outcomes] = await contention.together([
      () => operate("self_exclude", { user_id: ann }) as Promise<number>,
      ...[...markets, ...markets].map(
        (market) => () => contention.place(market, ann, buy("yes", 2, 40)),
      ),
    ] as const);
    await fire();
    t.deepEqual((await orders(ann)).data, []);
    const accepted = outcomes.filter(({ code }) => code === null).length;
    t.true(outcomes.every(({ code }) => code === null || code === "SELF_EXCLUDED"));
    t.is(excluded, 1 + accepted);
    for (const market of markets) {
      const { answer } = await contention.place(market, bob, buy("no", 20, 60));
      t.deepEqual(answer!.fills, []);
      t.deepEqual(answer!.cancelledOrders, []);
    }
    if (accepted === 0) return "excluded first";
    return accepted === outcomes.length ? "placed first" : "between";
  },
);

pair(
  "closing while orders are placed: afterwards none is open in the market",
  ["closed first", "between", "placed first"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    await rest(market, ann, buy("yes", 1, 10));
    const [, ...outcomes] = await contention.together([
      () => operate("set_market_status", { market_id: market, status: "closed" }),
      ...[ann, bob, ann, bob].map(
        (trader) => () => contention.place(market, trader, buy("yes", 2, 40)),
      ),
    ] as const);
    t.deepEqual((await exchange.book(market)).bids, []);
    t.deepEqual([...(await orders(ann)).data, ...(await orders(bob)).data], []);
    t.true(outcomes.every(({ code }) => code === null || code === "MARKET_NOT_OPEN"));
    t.is((await contention.place(market, bob, buy("no", 2, 60))).code, "MARKET_NOT_OPEN");
    const accepted = outcomes.filter(({ code }) => code === null).length;
    if (accepted === 0) return "closed first";
    return accepted === outcomes.length ? "placed first" : "between";
  },
);

pair(
  "a loss limit is lowered while an order is placed: it holds for the next one",
  ["limit first", "order first"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const limits = { day_cents: 100, week_cents: null, month_cents: null };
    const [, placed] = await contention.together([
      () => operate("set_loss_limits", { user_id: ann, ...limits }),
      () => contention.place(market, ann, buy("yes", 10, 40)),
    ] as const);
    // Once lowered, the limit holds for the next order, in either order of the two.
    const next = await contention.place(market, ann, buy("yes", 10, 40));
    t.is(next.code, "LOSS_LIMIT");
    const [id] = (await orders(ann)).data.map((open) => open.id);
    if (placed.code !== null) {
      t.deepEqual([placed.code, id], ["LOSS_LIMIT", undefined]);
      return "limit first";
    }
    t.is(id, placed.answer!.order.id);
    return "order first";
  },
);

pair(
  "orders of many traders in one market: its version counts each of them once",
  ["yes first", "no first"],
  async (contention, t) => {
    const market = await makeMarket();
    const traders = await makeTraders(6);
    const outcomes = await contention.together(
      traders.map(
        (trader, index) => () =>
          contention.place(market, trader, buy(index % 2 === 0 ? "yes" : "no", 5, 50)),
      ),
    );
    t.true(outcomes.every(({ code }) => code === null));
    t.is(await exchange.version(market), 6);
    // Ids of orders ascend, and a market's orders come one after another.
    const ids = outcomes.map(({ answer }) => answer!.order.id);
    return ids.indexOf(ids.toSorted()[0]!) % 2 === 0 ? "yes first" : "no first";
  },
);

pair(
  "an order is made smaller while it is filled: never below what is filled",
  ["smaller", "filled"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [taken, amended] = await contention.together([
      () => contention.place(market, bob, buy("yes", 7, 60, ioc)),
      () => exchange.amend(ann, id, { quantity: 5 }),
    ] as const);
    const { status, quantity, filledQuantity } = await order(ann, id);
    t.is(taken.answer!.order.filledQuantity, filledQuantity);
    t.is(await balance(ann), 100_000 - 40 * filledQuantity);
    if (amended.code === null) {
      t.deepEqual([status, quantity, filledQuantity], ["filled", 5, 5]);
      return "smaller";
    }
    t.is(amended.code, "BELOW_FILLED");
    t.deepEqual([status, quantity, filledQuantity], ["partially_filled", 10, 7]);
    t.deepEqual((await exchange.book(market)).asks, ["3 @ 60"]);
    return "filled";
  },
);

pair(
  "an order is replaced while it is filled: the two together fill no more than was ordered",
  ["replaced", "filled"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [taken, amended] = await contention.together([
      () => contention.place(market, bob, buy("yes", 6, 60, ioc)),
      () => exchange.amend(ann, id, { quantity: 12 }),
    ] as const);
    t.is(taken.answer!.order.status, "filled");
    t.is(amended.code, null);
    const old = await order(ann, id);
    const next = await order(ann, amended.answer!.order.id);
    t.deepEqual([old.status, old.cancelReason], ["cancelled", "user_amended"]);
    t.is(old.filledQuantity + next.quantity, 12);
    t.is(old.filledQuantity + next.filledQuantity, 6);
    t.is((await position(market, ann, "no")).quantity, 6);
    t.deepEqual((await exchange.book(market)).asks, ["6 @ 60"]);
    return old.filledQuantity === 0 ? "replaced" : "filled";
  },
);

pair(
  "an order is replaced twice: one replacement succeeds",
  ["first", "second"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const outcomes = await contention.together([
      () => exchange.amend(ann, id, { price: 41 }),
      () => exchange.amend(ann, id, { price: 42 }),
    ] as const);
    t.deepEqual(outcomes.map(({ code }) => code).sort(), ["ORDER_NOT_AMENDABLE", null].sort());
    const open = (await orders(ann)).data.map(({ price, quantity }) => [price, quantity]);
    t.deepEqual(open, [[outcomes[0].code === null ? 41 : 42, 10]]);
    return outcomes[0].code === null ? "first" : "second";
  },
);

pair(
  "an order is made smaller while it is replaced: the one that comes second sees the first",
  ["smaller first", "replaced first"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [smaller, moved] = await contention.together([
      () => exchange.amend(ann, id, { quantity: 5 }),
      () => exchange.amend(ann, id, { price: 45 }),
    ] as const);
    t.is(moved.code, null);
    t.true([null, "ORDER_NOT_AMENDABLE"].includes(smaller.code));
    const left = smaller.code === null ? 5 : 10;
    t.deepEqual(await exchange.book(market), { bids: [], asks: [`${left} @ 55`] });
    return smaller.code === null ? "smaller first" : "replaced first";
  },
);

pair(
  "an order is made smaller twice: the book has the smaller quantity",
  ["first", "second"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const outcomes = await contention.together([
      () => exchange.amend(ann, id, { quantity: 7 }),
      () => exchange.amend(ann, id, { quantity: 7 }),
    ] as const);
    t.deepEqual(outcomes.map(({ answer }) => answer!.amended).sort(), [false, true]);
    t.deepEqual((await exchange.book(market)).asks, ["7 @ 60"]);
    t.is(await exchange.version(market), 2);
    return outcomes[0].answer!.amended ? "first" : "second";
  },
);

pair(
  "an order is replaced while its owner cancels it: one of the two finds it gone",
  ["cancelled", "replaced"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const [id] = await rest(market, ann, buy("no", 10, 40));
    const [amended, cancelled] = await contention.together([
      () => exchange.amend(ann, id, { price: 45 }),
      () => exchange.cancel(ann, id),
    ] as const);
    const { cancelReason } = await order(ann, id);
    const { asks } = await exchange.book(market);
    if (cancelled.code === null) {
      t.is(amended.code, "ORDER_NOT_AMENDABLE");
      t.deepEqual([cancelReason, asks], ["user_cancelled", []]);
      return "cancelled";
    }
    t.deepEqual([amended.code, cancelled.code], [null, "ORDER_NOT_CANCELLABLE"]);
    t.deepEqual([cancelReason, asks], ["user_amended", ["10 @ 55"]]);
    return "replaced";
  },
);

pair(
  "the cash that a replacement would cost is withdrawn: one of the two is refused",
  ["replaced", "withdrawn"],
  async (contention, t) => {
    const [market, bob] = await makeMarketWith(1);
    const ann = await makeTrader({ cents: 617 });
    await rest(market, bob, buy("no", 10, 40));
    const [id] = await rest(market, ann, buy("yes", 10, 50));
    const [amended, withdrawn] = await contention.together([
      () => contention.insist(() => exchange.amend(ann, id, { price: 60 })),
      () => withdraw(ann, 617),
    ] as const);
    t.is(await balance(ann), 0);
    const { status, cancelReason } = await order(ann, id);
    if (amended.code === null) {
      t.is(withdrawn, "EX011");
      t.deepEqual([status, cancelReason], ["cancelled", "user_amended"]);
      return "replaced";
    }
    t.deepEqual([amended.code, withdrawn], ["INSUFFICIENT_BALANCE", null]);
    t.deepEqual([status, cancelReason], ["open", null]);
    return "withdrawn";
  },
);
