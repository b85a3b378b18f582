import test from "ava";
import { failure, pairsOf } from "../helpers/exchange/contention.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import type { ListedOrder } from "../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../helpers/exchange/orders.ts";

/**
 * Releases at the same moment as what else may become of a scheduled order. The delay is 0, so a
 * release is due at once, and no clock has to be moved.
 */

const exchange = testExchange(test, { sessions: 20 });
const { accounts, balance, makeTrader, makeTraders, operate, order, orders, place, position } =
  exchange;
const pair = pairsOf(test, exchange, 15);

/** A live market, and its release, which is one call: nothing delays it against the others. */
async function makeLiveMarket() {
  const { market } = await exchange.makeLiveMarket({ live_delay_ms: 0 });
  const { rows } = await exchange.database.pool.query(
    "select id from catalog.markets where public_id = $1",
    [market],
  );
  return { market, release: () => exchange.work("release_orders", { market_id: rows[0].id }) };
}

/** The events of an order for its trader, oldest first; this file does not relay the outbox. */
async function told(trader: string, id: string): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    `select a.payload -> 'event' ->> 'type' as type
     from trading.outbox as a
     where a.payload ->> 'userId' = $1 and a.payload -> 'event' ->> 'orderId' = $2
     order by a.id`,
    [trader, id],
  );
  return rows.map(({ type }) => type);
}

/** A live market where bob's order rests and ann's waits for its release, to take all of it. */
async function makeWaiting() {
  const { market, release } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const made = (await place(market, bob, buy("no", 10, 40))).order;
  await release();
  const waiting = (await place(market, ann, buy("yes", 10, 60))).order;
  return { market, release, ann, bob, made: made.id, id: waiting.id };
}

const ended = ({ status, cancelReason }: ListedOrder) => cancelReason ?? status;

pair(
  "two workers release the same orders: each is released and announced once",
  ["first", "second", "third"],
  async (contention, t) => {
    const { market, release } = await makeLiveMarket();
    const traders = await makeTraders(4);
    const ids: [trader: string, id: string][] = [];
    for (const [index, trader] of [...traders, ...traders, ...traders].entries()) {
      const side = index % 2 === 0 ? "yes" : "no";
      ids.push([trader, (await place(market, trader, buy(side, 1 + index, 50))).order.id]);
    }
    const released = await contention.together([release, release, release] as const);
    t.is(released[0] + released[1] + released[2], ids.length);
    for (const [trader, id] of ids) {
      t.deepEqual(await told(trader, id), ["order_pending", "order_released"]);
    }
    const found = await Promise.all(ids.map(([trader, id]) => order(trader, id)));
    const filled = (side: string) =>
      found
        .filter((one) => one.side === side)
        .reduce((sum, { filledQuantity }) => sum + filledQuantity, 0);
    t.is(filled("yes"), filled("no"));
    t.is((await accounts(market)).escrow, 100 * filled("yes"));
    return ["first", "second", "third"][released.indexOf(ids.length)] ?? "several";
  },
);

pair(
  "a scheduled order is cancelled while it is released: one of the two succeeds",
  ["filled", "user_cancelled"],
  async (contention, t) => {
    const { release, ann, id } = await makeWaiting();
    const [released, cancelled] = await contention.together([
      release,
      () => exchange.cancel(ann, id),
    ] as const);
    const what = ended(await order(ann, id));
    if (cancelled.code === null) {
      t.deepEqual([released, what], [0, "user_cancelled"]);
      t.deepEqual(await told(ann, id), ["order_pending"]);
      t.is(await balance(ann), 100_000);
    } else {
      t.deepEqual([released, what], [1, "filled"]);
      t.is(cancelled.code, "ORDER_NOT_CANCELLABLE");
      t.deepEqual(await told(ann, id), ["order_pending", "order_released"]);
      t.is(await balance(ann), 100_000 - 617);
    }
    return what;
  },
);

pair(
  "a market closes while an order is released: traded before, or cancelled by the closing",
  ["filled", "market_closed"],
  async (contention, t) => {
    const { market, release, ann, bob, made, id } = await makeWaiting();
    const [released] = await contention.together([
      release,
      () => operate("set_market_status", { market_id: market, status: "closed" }),
    ] as const);
    const what = ended(await order(ann, id));
    t.is(what, released === 1 ? "filled" : "market_closed");
    t.is(ended(await order(bob, made)), what);
    const end = released === 1 ? "order_released" : "order_cancelled";
    t.deepEqual(await told(ann, id), ["order_pending", end]);
    t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
    return what;
  },
);

pair(
  "a market pauses while an order is released: traded before, or cancelled by the release",
  ["filled", "market_closed"],
  async (contention, t) => {
    const { market, release, ann, bob, made, id } = await makeWaiting();
    const [released] = await contention.together([
      release,
      () => operate("set_market_status", { market_id: market, status: "paused" }),
    ] as const);
    t.is(released, 1);
    const what = ended(await order(ann, id));
    t.true(["filled", "market_closed"].includes(what));
    t.is(ended(await order(bob, made)), what === "filled" ? "filled" : "open");
    t.deepEqual(await told(ann, id), ["order_pending", "order_released"]);
    return what;
  },
);

pair.serial(
  "the site pauses while an order is released: traded before, or cancelled by the release",
  ["filled", "trading_paused"],
  async (contention, t) => {
    const { release, ann, bob, made, id } = await makeWaiting();
    const [released] = await contention.together([
      release,
      () => operate("set_trading_pause", { paused: true }),
    ] as const);
    await operate("set_trading_pause", { paused: false });
    t.is(released, 1);
    const what = ended(await order(ann, id));
    t.true(["filled", "trading_paused"].includes(what));
    t.is(ended(await order(bob, made)), what === "filled" ? "filled" : "open");
    t.deepEqual(await told(ann, id), ["order_pending", "order_released"]);
    return what;
  },
);

pair(
  "a market is resolved while an order is released: traded and paid, or cancelled",
  ["filled", "market_closed"],
  async (contention, t) => {
    const { market, release, ann, bob, id } = await makeWaiting();
    const [released] = await contention.together([
      release,
      () => operate("resolve_market", { market_id: market, outcome: "yes" }),
    ] as const);
    const what = ended(await order(ann, id));
    t.is(what, released === 1 ? "filled" : "market_closed");
    t.is(await balance(ann), 100_000 + (released === 1 ? 1000 - 617 : 0));
    t.is(await balance(bob), 100_000 - (released === 1 ? 400 : 0));
    t.is((await accounts(market)).escrow, 0);
    return what;
  },
);

pair(
  "a trader is excluded while their order is released: traded before, or cancelled by either",
  ["filled", "self_excluded"],
  async (contention, t) => {
    const { release, ann, id } = await makeWaiting();
    const [released, excluded] = await contention.together([
      release,
      () => operate("self_exclude", { user_id: ann }) as Promise<number>,
    ] as const);
    const what = ended(await order(ann, id));
    // A release that has the market when its user is excluded ends the order itself.
    t.is(excluded, what === "filled" ? 0 : 1);
    if (what === "filled") t.is(released, 1);
    const end = released === 1 ? "order_released" : "order_cancelled";
    t.deepEqual(await told(ann, id), ["order_pending", end]);
    return what;
  },
);

pair(
  "a scheduled order is amended while it is released: one order of the new size is left",
  ["released first", "amended first"],
  async (contention, t) => {
    const { market, release } = await makeLiveMarket();
    const ann = await makeTrader();
    const { id } = (await place(market, ann, buy("yes", 10, 30))).order;
    const [, amended] = await contention.together([
      release,
      () => exchange.amend(ann, id, { quantity: 6 }),
    ] as const);
    t.is(amended.code, null);
    await release();
    const left = amended.answer!.order.id;
    const open = (await orders(ann)).data;
    t.deepEqual(
      open.map((one) => [one.id, one.status, one.quantity]),
      [[left, "open", 6]],
    );
    t.deepEqual((await exchange.book(market)).bids, ["6 @ 30"]);
    t.deepEqual(await told(ann, left), ["order_pending", "order_released"]);
    if (left === id) return "released first";
    t.is(ended(await order(ann, id)), "user_amended");
    t.deepEqual(await told(ann, id), ["order_pending"]);
    return "amended first";
  },
);

pair(
  "the shares of a scheduled sell are merged while it is released: sold or merged",
  ["filled", "position_insufficient"],
  async (contention, t) => {
    const { market, release } = await makeLiveMarket();
    const [ann, bob] = await makeTraders(2);
    await exchange.split(market, ann, 10);
    await place(market, bob, buy("yes", 10, 60));
    await release();
    const { id } = (await place(market, ann, sell("yes", 10, 60))).order;
    const [, merged] = await contention.together([
      release,
      () => exchange.merge(market, ann, 10),
    ] as const);
    t.is((await position(market, ann, "yes")).quantity, 0);
    const what = ended(await order(ann, id));
    if (merged.code === null) {
      t.deepEqual([what, await balance(ann)], ["position_insufficient", 100_000]);
    } else {
      t.deepEqual([merged.code, what], ["INSUFFICIENT_BALANCE", "filled"]);
      t.is(await balance(ann), 100_000 - 1000 + 600 - 17);
    }
    return what;
  },
);

pair(
  "cash is withdrawn while the order that needs it is released: spent or withdrawn",
  ["filled", "insufficient_funds"],
  async (contention, t) => {
    const { release, ann, id } = await makeWaiting();
    const amount_cents = await balance(ann);
    const [, withdrawn] = await contention.together([
      release,
      () => failure(operate("withdraw", { user_id: ann, amount_cents, reference: "all" })),
    ] as const);
    const what = ended(await order(ann, id));
    t.deepEqual(
      [withdrawn, what],
      withdrawn === null ? [null, "insufficient_funds"] : ["EX011", "filled"],
    );
    t.is(await balance(ann), withdrawn === null ? 0 : 100_000 - 617);
    return what;
  },
);

pair.serial(
  "due jobs run while other commands change the same orders and traders",
  ["filled", "market_closed"],
  async (contention, t) => {
    const waiting = [await makeWaiting(), await makeWaiting(), await makeWaiting()] as const;
    const [one, two, three] = waiting;
    const plain = await exchange.makeMarket();
    await exchange.rest(plain, one.bob, buy("no", 10, 40));
    const [done, again] = await contention.together([
      () => operate("run_due"),
      () => operate("run_due"),
      () => exchange.amend(one.ann, one.id, { price: 55 }),
      () => exchange.cancel(two.bob, two.made),
      () => exchange.split(three.market, one.ann, 3),
      () => operate("resolve_market", { market_id: three.market, outcome: "no" }),
      one.release,
      () => contention.place(plain, two.ann, buy("yes", 5, 60)),
      () => operate("self_exclude", { user_id: two.ann }),
      () => operate("deposit", { user_id: three.ann, amount_cents: 5, reference: "more" }),
    ] as const);
    t.true([done, again].every(({ expired, closed }) => expired === 0 && closed === 0));
    await operate("run_due");
    for (const { ann, bob } of waiting) {
      const all = [...(await orders(ann)).data, ...(await orders(bob)).data];
      t.deepEqual(
        all.filter(({ status }) => status === "scheduled"),
        [],
      );
    }
    t.is((await accounts(three.market)).escrow, 0);
    t.deepEqual((await orders(two.ann)).data, []);
    return ended(await order(three.ann, three.id));
  },
);
