import { randomUUID } from "node:crypto";
import test from "ava";
import { failure, pairsOf } from "../helpers/exchange/contention.ts";
import { switchWorker } from "../helpers/exchange/dead_man_switches.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc } from "../helpers/exchange/orders.ts";

/** An operator freezes, cancels or edits at the same moment as others trade. */

const exchange = testExchange(test, { sessions: 20 });
const { fire } = switchWorker(exchange);
const {
  amend,
  balance,
  book,
  cancel,
  clock,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
  makeMarkets,
} = exchange;
const { makeTrader, makeTraders, market, operate, order, orders, position, rest, split } = exchange;

const pair = pairsOf(test, exchange, 20);

const freeze = (user_id: string): Promise<number> =>
  operate("freeze_user", { user_id, reason: "a test" });
const cancelAll = (user_id: string): Promise<number> => operate("cancel_orders", { user_id });

pair(
  "a user is frozen while orders are placed: afterwards none is open and none ever fills",
  ["frozen first", "between", "placed first"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const [ann, bob] = await makeTraders(2);
    await rest(markets[0], ann, buy("yes", 1, 10));
    const [frozen, ...outcomes] = await contention.together([
      () => freeze(ann),
      ...[...markets, ...markets].map((id) => () => contention.place(id, ann, buy("yes", 2, 40))),
    ] as const);
    await fire();
    t.deepEqual((await orders(ann)).data, []);
    const accepted = outcomes.filter(({ code }) => code === null).length;
    t.true(outcomes.every(({ code }) => code === null || code === "ACCOUNT_FROZEN"));
    t.is(frozen, 1 + accepted);
    for (const id of markets) {
      const { answer } = await contention.place(id, bob, buy("no", 20, 60));
      t.deepEqual(answer!.fills, []);
      t.deepEqual(answer!.cancelledOrders, []);
    }
    if (accepted === 0) return "frozen first";
    return accepted === outcomes.length ? "placed first" : "between";
  },
);

pair(
  "a user is frozen while they withdraw: before it or not at all",
  ["withdrawn first", "frozen first"],
  async (contention, t) => {
    const ann = await makeTrader({ cents: 600 });
    const withdraw = () =>
      failure(operate("withdraw", { user_id: ann, amount_cents: 600, reference: randomUUID() }));
    const [, withdrawn] = await contention.together([() => freeze(ann), withdraw] as const);
    t.true([null, "EX024"].includes(withdrawn));
    t.is(await balance(ann), withdrawn === null ? 0 : 600);
    t.is(await withdraw(), "EX024");
    return withdrawn === null ? "withdrawn first" : "frozen first";
  },
);

pair(
  "a user is frozen while an order is replaced: none of the two stays",
  ["replaced first", "frozen first"],
  async (contention, t) => {
    const [id, ann] = await makeMarketWith(1);
    const [first] = await rest(id, ann, buy("no", 10, 40));
    const [frozen, amended] = await contention.together([
      () => freeze(ann),
      () => contention.insist(() => amend(ann, first, { price: 45 })),
    ] as const);
    t.is(frozen, 1);
    await fire();
    t.deepEqual(await book(id), { bids: [], asks: [] });
    if (amended.code === null) {
      t.is((await order(ann, amended.answer!.order.id)).cancelReason, "trading_paused");
      t.is((await order(ann, first)).cancelReason, "user_amended");
      return "replaced first";
    }
    t.is(amended.code, "ACCOUNT_FROZEN");
    t.is((await order(ann, first)).cancelReason, "trading_paused");
    return "frozen first";
  },
);

pair(
  "a user is frozen while they split: before it or not at all",
  ["split first", "ACCOUNT_FROZEN"],
  async (contention, t) => {
    const [id, ann] = await makeMarketWith(1, { cents: 500 });
    const [, made] = await contention.together([
      () => freeze(ann),
      () => contention.insist(() => split(id, ann, 5)),
    ] as const);
    t.true([null, "ACCOUNT_FROZEN"].includes(made.code));
    t.is(await balance(ann), made.code === null ? 0 : 500);
    t.is((await position(id, ann, "yes")).quantity, made.code === null ? 5 : 0);
    return made.code ?? "split first";
  },
);

pair(
  "a user is frozen while their order is taken: filled or cancelled",
  ["taken first", "frozen first"],
  async (contention, t) => {
    const [id, ann, bob] = await makeMarketWith(2);
    const [first] = await rest(id, ann, buy("no", 10, 40));
    const [frozen, taken] = await contention.together([
      () => freeze(ann),
      () => contention.place(id, bob, buy("yes", 10, 60, ioc)),
    ] as const);
    const { status, cancelReason } = await order(ann, first);
    if (taken.code === null) {
      t.deepEqual([frozen, status, cancelReason], [0, "filled", null]);
      return "taken first";
    }
    t.is(taken.code, "INSUFFICIENT_LIQUIDITY");
    t.deepEqual([frozen, status, cancelReason], [1, "cancelled", "trading_paused"]);
    return "frozen first";
  },
);

pair(
  "frozen, excluded and cleared at once: each order ends once, without a deadlock",
  ["trading_paused", "self_excluded", "user_cancelled"],
  async (contention, t) => {
    const markets = await makeMarkets(4);
    const ann = await makeTrader();
    const ids: string[] = [];
    for (const id of [...markets, ...markets.toReversed()]) {
      ids.push(...(await rest(id, ann, buy("yes", 1, 40))));
    }
    const counts = await contention.together([
      () => freeze(ann),
      () => operate("self_exclude", { user_id: ann }) as Promise<number>,
      () => cancelAll(ann),
    ] as const);
    await fire();
    t.is(
      counts.reduce((sum, count) => sum + count, 0),
      ids.length,
    );
    const reasons = await Promise.all(ids.map(async (id) => (await order(ann, id)).cancelReason));
    const [reason] = reasons as [string];
    t.deepEqual(new Set(reasons), new Set([reason]));
    t.is(counts[["trading_paused", "self_excluded", "user_cancelled"].indexOf(reason)], 8);
    return reason;
  },
);

pair(
  "orders are cancelled by an operator while others are placed: later orders stay",
  ["cancelled first", "between", "placed first"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const ann = await makeTrader();
    await rest(markets[0], ann, buy("yes", 1, 10));
    const [cancelled, ...outcomes] = await contention.together([
      () => cancelAll(ann),
      ...markets.map((id) => () => contention.place(id, ann, buy("yes", 2, 40))),
    ] as const);
    await fire();
    t.true(outcomes.every(({ code }) => code === null));
    t.is((await orders(ann)).data.length + cancelled, 4);
    t.true(cancelled >= 1);
    if (cancelled === 1) return "cancelled first";
    return cancelled === 4 ? "placed first" : "between";
  },
);

pair(
  "an operator and the owner cancel the same order: one of them succeeds",
  ["operator", "owner"],
  async (contention, t) => {
    const [id, ann] = await makeMarketWith(1);
    const [first] = await rest(id, ann, buy("yes", 1, 40));
    const [byOperator, byOwner] = await contention.together([
      () => operate("cancel_orders", { user_id: ann, market_id: id }) as Promise<number>,
      () => cancel(ann, first),
    ] as const);
    t.deepEqual(
      [byOperator, byOwner.code],
      byOperator === 1 ? [1, "ORDER_NOT_CANCELLABLE"] : [0, null],
    );
    t.is((await order(ann, first)).cancelReason, "user_cancelled");
    t.is(await exchange.version(id), 2);
    return byOperator === 1 ? "operator" : "owner";
  },
);

pair(
  "a market is edited while it is resolved: before it or not at all",
  ["edited first", "resolved first"],
  async (contention, t) => {
    const id = await makeMarket();
    const [edited] = await contention.together([
      () =>
        failure(
          operate("edit_market", {
            market_id: id,
            title: "Will it snow?",
            close_time: "2090-01-01T00:00:00Z",
          }),
        ),
      () => operate("resolve_market", { market_id: id, outcome: "yes" }),
    ] as const);
    const { status, title, closeTime } = await market(id);
    t.is(status, "resolved");
    if (edited === null) {
      t.deepEqual([title, closeTime], ["Will it snow?", "2090-01-01T00:00:00.000Z"]);
      return "edited first";
    }
    t.deepEqual([edited, title, closeTime], ["EX019", "Will it rain?", null]);
    return "resolved first";
  },
);

pair(
  "two operators edit a market: a value that only one of them changes stays",
  ["title first", "description first"],
  async (contention, t) => {
    const id = await makeMarket();
    await contention.together([
      () => operate("edit_market", { market_id: id, title: "Will it snow?" }),
      () => operate("edit_market", { market_id: id, description: "By noon." }),
    ] as const);
    t.like(await market(id), { title: "Will it snow?", description: "By noon." });
    const { rows } = await exchange.database.pool.query(
      `select a.arguments -> 'before' ->> 'title' as title
       from admin.audit_log as a
       where a.action = 'edit_market' and a.arguments ->> 'market_id' = $1
       order by a.id desc limit 1`,
      [id],
    );
    return rows[0].title === "Will it snow?" ? "title first" : "description first";
  },
);

pair(
  "an event is renamed while a market of it is made: the market is found by the new title",
  ["made first", "renamed first"],
  async (contention, t) => {
    const event_id = await operate("create_event", { title: "Semifinal", category: "tests" });
    const [market_id] = await contention.together([
      () => operate("create_market", { title: "Will it rain?", category: "tests", event_id }),
      () => operate("edit_event", { event_id, title: "Tournament" }),
    ] as const);
    const { rows } = await exchange.database.pool.query(
      `select m.words @@ 'tournament' as by_new, m.words @@ 'semifinal' as by_old,
         m.xmin = (select e.xmin from catalog.events as e where e.id = m.event_id) as was_renewed
       from catalog.markets as m where m.public_id = $1`,
      [market_id],
    );
    t.like(rows[0], { by_new: true, by_old: false });
    return rows[0].was_renewed ? "made first" : "renamed first";
  },
);

pair.serial(
  "a user is frozen while their scheduled orders are released: none stays",
  ["released first", "frozen first"],
  async (contention, t) => {
    await clock.freeze();
    const { market: id } = await makeLiveMarket();
    const ann = await makeTrader();
    const placed = await contention.placeBatch(id, [
      [ann, buy("yes", 1, 40)],
      [ann, buy("no", 1, 40)],
    ]);
    await clock.advance(3000);
    const [frozen, released] = await contention.together([
      () => freeze(ann),
      () => contention.insist(() => exchange.release(id)),
    ] as const);
    t.is(frozen, 2);
    await fire();
    for (const { answer } of placed) {
      t.is((await order(ann, answer!.order.id)).cancelReason, "trading_paused");
    }
    t.deepEqual(await book(id), { bids: [], asks: [] });
    return released === 2 ? "released first" : "frozen first";
  },
);
