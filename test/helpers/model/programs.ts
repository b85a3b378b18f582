import fc from "fast-check";
import { buy, ioc, sell } from "../exchange/orders.ts";
import type { Request } from "../exchange/orders.ts";

/**
 * Random histories of a small exchange: few traders, little money, prices that cross. Traders,
 * markets and keys are numbers; `play` gives them ids.
 */

export interface Order {
  /** Where it is not the batch's; null for a market that does not exist. */
  market?: number | null;
  trader: number;
  side: "yes" | "no";
  orderType: "buy" | "sell";
  price: number | null;
  quantity: number | null;
  budgetCents: number | null;
  timeInForce: "gtc" | "ioc" | "fok";
  cancelsOwn: boolean;
  postOnly: boolean;
  /** From now, in milliseconds. */
  expiresIn: number | null;
  key: number | null;
  /** The key is in the header, and stands for this request alone. */
  isStrict: boolean;
}

/** What is sent with a key in the header, beside an order. */
export type Command =
  | {
      kind: "amend";
      place: number;
      price: number | null;
      quantity: number | null;
    }
  | { kind: "cancel"; place: number }
  | { kind: "split" | "merge"; market: number; quantity: number }
  | { kind: "cancelAll"; market: number | null }
  | { kind: "placeBatch"; market: number; orders: Order[] };

export type Step =
  /** Orders of one call, of the batch's market but for those that name another. */
  | { kind: "batch"; market: number; orders: Order[] }
  /** Keys of commands and of orders are the same keys. */
  | { kind: "keyed"; trader: number; key: number; command: Command }
  /** Of the orders and commands with a key so far, the last one or one before it, sent again. */
  | { kind: "repeat"; back: number }
  | { kind: "advance"; ms: number }
  | { kind: "deposit"; trader: number; cents: number }
  /** All but some cents. */
  | { kind: "withdraw"; trader: number; leave: number }
  /** At once; the limits of the other windows are none. */
  | { kind: "limit"; trader: number; window: "day" | "week" | "month"; cents: number | null }
  /** For an hour; by hand: without the cancels that go with it. */
  | { kind: "exclude"; trader: number; byHand: boolean }
  /** Frozen or not from now on; cancels: their open orders end with it. */
  | { kind: "freeze"; trader: number; frozen: boolean; cancels: boolean }
  | { kind: "cancel"; trader: number; place: number }
  /** By an operator, in one market or in all. */
  | { kind: "cancelOrders"; trader: number; market: number | null }
  /** By the trader; or by the dead man's switch, a second after it was set. */
  | { kind: "cancelAll"; trader: number; market: number | null; isGone: boolean }
  /** Null keeps what the order has. */
  | {
      kind: "amend";
      trader: number;
      place: number;
      price: number | null;
      quantity: number | null;
    }
  | { kind: "setLive"; market: number; delayMs: number | null }
  /** Some time later, what is due of all markets. */
  | { kind: "release"; ms: number }
  | { kind: "sweepExpired" }
  /** Complete sets. */
  | { kind: "split"; trader: number; market: number; quantity: number }
  | { kind: "merge"; trader: number; market: number; quantity: number }
  /** At what a YES share pays; a market that is resolved is corrected, unless that changes nothing. */
  | { kind: "resolve"; market: number; yesCents: number }
  | { kind: "pauseSite"; paused: boolean }
  /** Nothing happens where it is not possible. */
  | { kind: "setMarket"; market: number; status: "open" | "paused" | "closed" };

/** Where an order of a batch is placed; null where there is no market. */
export function marketOf(batch: { market: number }, order: Order): number | null {
  return order.market === undefined ? batch.market : order.market;
}

/** What a `repeat` may send again: an order as a batch of its own, or a command. */
export type Sent<Target> =
  | Extract<Step, { kind: "batch" }>
  | { kind: "keyed"; trader: number; key: number; command: Command; target: Target | null };

/** The orders of a batch that have keys. */
export function sentOf(
  batch: Extract<Step, { kind: "batch" }>,
): Extract<Step, { kind: "batch" }>[] {
  return batch.orders
    .filter(({ key }) => key !== null)
    .map((order) => ({ ...batch, orders: [order] }));
}

/** What a `repeat` sends again, if anything was sent. */
export function sentBefore<T>(
  sent: T[],
  { back }: Extract<Step, { kind: "repeat" }>,
): T | undefined {
  return sent.at(-1 - (back % Math.max(1, sent.length)));
}

/** In cents; of one window only. */
export interface Limit {
  window: "day" | "week" | "month";
  cents: number;
}

const limits: (Limit | null)[] = [
  null,
  { window: "week", cents: 3500 },
  null,
  { window: "day", cents: 2400 },
  { window: "month", cents: 6000 },
  null,
];

/** What all programs begin with: three markets, five traders with little and one with plenty. */
export const world = {
  startsAt: "2040-01-01T12:00:00.000Z",
  cents: [50_000, 4000, 3000, 2500, 9000, 100_000],
  limits,
  markets: 3,
};

/** The last trader only makes what the others start with. */
const traders = world.cents.length - 1;

function orders(): fc.Arbitrary<Order> {
  const price = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 46, max: 54 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 99 }) },
  );
  const quantity = fc.oneof(
    { weight: 16, arbitrary: fc.integer({ min: 1, max: 12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 13, max: 60 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 100, 101, 400) },
  );
  const rarely = <T>(value: fc.Arbitrary<T>, freq = 4) => fc.option(value, { freq, nil: null });
  const budget = fc.integer({ min: 1, max: 1200 });
  return fc
    .record({
      trader: fc.nat(traders - 1),
      side: fc.constantFrom("yes", "no"),
      form: fc.constantFrom("buy", "buy", "buy", "sell", "sell", "budget"),
      price,
      isMarket: fc.nat(9).map((n) => n === 0),
      quantity,
      budget,
      timeInForce: fc.constantFrom("gtc", "gtc", "gtc", "gtc", "ioc", "fok"),
      cancelsOwn: fc.nat(2).map((n) => n === 0),
      postOnly: fc.nat(9).map((n) => n === 0),
      expiresIn: rarely(fc.constantFrom(0, 1, 1000, 60_000)),
      key: rarely(fc.nat(4)),
      isStrict: fc.boolean(),
    })
    .map(({ form, isMarket, budget: budgetCents, ...order }) => ({
      ...order,
      orderType: form === "sell" ? "sell" : "buy",
      price: isMarket ? null : order.price,
      quantity: form === "budget" ? null : order.quantity,
      budgetCents: form === "budget" ? budgetCents : null,
      // Mostly valid combinations: an invalid one shows only that it is rejected.
      postOnly: order.postOnly && (form === "budget" ? budgetCents < 20 : !isMarket),
    }));
}

/** The orders of one call: of one market, or mixed; some have the key of an order before them. */
function batches(markets: number): fc.Arbitrary<Step> {
  const home = fc.nat(2 * markets - 1).map((n) => Math.max(0, n - markets));
  const anywhere = fc.oneof(
    { weight: 9, arbitrary: fc.nat(markets - 1) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const placed = fc.record({
    order: orders(),
    market: anywhere,
    sharesKeyWith: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 6, nil: null }),
    isSame: fc.boolean(),
  });
  return fc
    .record({
      market: home,
      isMixed: fc.nat(2).map((n) => n > 0),
      placed: fc.array(placed, { minLength: 1, maxLength: 14, size: "max" }),
    })
    .map(({ market, isMixed, placed: list }) => {
      const made: Order[] = [];
      for (const { order: one, market: other, sharesKeyWith, isSame } of list) {
        const before = sharesKeyWith === null ? undefined : made.at(-sharesKeyWith);
        if (before !== undefined) before.key ??= 4;
        made.push({
          ...one,
          ...(isMixed && { market: other }),
          ...(before && { trader: before.trader, key: before.key }),
          ...(isSame && before),
        });
      }
      return { kind: "batch", market, orders: made };
    });
}

function steps(markets: number): fc.Arbitrary<Step> {
  const trader = fc.nat(traders - 1);
  const market = fc.nat(markets - 1);
  const record = <K extends Step["kind"]>(
    kind: K,
    rest: Record<Exclude<keyof Extract<Step, { kind: K }>, "kind">, fc.Arbitrary<unknown>>,
  ) => fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Step>;
  return fc.oneof(
    { weight: 16, arbitrary: batches(markets) },
    {
      weight: 2,
      arbitrary: record("advance", { ms: fc.constantFrom(1, 1000, 60_000, 3_600_000, 86_400_000) }),
    },
    {
      weight: 1,
      arbitrary: record("deposit", { trader, cents: fc.integer({ min: 1, max: 900 }) }),
    },
    {
      weight: 3,
      arbitrary: record("withdraw", { trader, leave: fc.integer({ min: 0, max: 300 }) }),
    },
    {
      weight: 2,
      arbitrary: record("limit", {
        trader,
        window: fc.constantFrom("day", "day", "week", "month"),
        cents: fc.option(fc.integer({ min: 0, max: 1500 }), { nil: null }),
      }),
    },
    { weight: 1, arbitrary: record("exclude", { trader, byHand: fc.nat(3).map((n) => n > 0) }) },
    {
      weight: 2,
      arbitrary: record("freeze", {
        trader,
        frozen: fc.nat(2).map((n) => n === 0),
        cancels: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: record("cancel", { trader, place: fc.nat(3) }) },
    { weight: 1, arbitrary: record("cancelOrders", { trader, market: fc.option(market) }) },
    {
      weight: 2,
      arbitrary: record("cancelAll", { trader, market: fc.option(market), isGone: fc.boolean() }),
    },
    { weight: 5, arbitrary: amendments() },
    {
      weight: 2,
      arbitrary: record("setLive", { market, delayMs: fc.constantFrom(null, 0, 1000, 3000) }),
    },
    { weight: 3, arbitrary: record("release", { ms: fc.constantFrom(0, 1000, 3000, 60_000) }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: "sweepExpired" }) },
    { weight: 2, arbitrary: record("split", { trader, market, quantity: fc.nat(15) }) },
    { weight: 3, arbitrary: record("merge", { trader, market, quantity: fc.nat(15) }) },
    {
      weight: 1,
      arbitrary: record("setMarket", {
        market,
        status: fc.constantFrom("open", "open", "open", "paused", "closed"),
      }),
    },
    { weight: 1, arbitrary: record("pauseSite", { paused: fc.nat(3).map((n) => n === 0) }) },
  );
}

/** Commands with keys, of which some are sent again at once; others are, by `repeat`, later. */
function keyedCommands(markets: number): fc.Arbitrary<Step[]> {
  const market = fc.nat(markets - 1);
  const place = fc.nat(3);
  const record = (kind: Command["kind"], rest: object) =>
    fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Command>;
  const command = fc.oneof(
    amendments().map(({ trader: _, ...amendment }): Command => amendment),
    record("cancel", { place }),
    record("split", { market, quantity: fc.nat(9) }),
    record("merge", { market, quantity: fc.nat(9) }),
    record("cancelAll", { market: fc.option(market) }),
    record("placeBatch", {
      market,
      orders: fc.array(orders(), { minLength: 1, maxLength: 6, size: "max" }),
    }),
  );
  const keyed = fc.record({ trader: fc.nat(traders - 1), key: fc.nat(9), command });
  return fc
    .record({ keyed, isRepeated: fc.nat(2).map((n) => n === 0) })
    .map(({ keyed: { trader, key, command: one }, isRepeated }): Step[] => [
      { kind: "keyed", trader, key, command: ofOne(one, trader, key) },
      ...(isRepeated ? [{ kind: "repeat" as const, back: 0 }] : []),
    ]);
}

/** A batch with a key is of one trader, and none of its orders has that key. */
function ofOne(command: Command, trader: number, key: number): Command {
  if (command.kind !== "placeBatch") return command;
  const own = command.orders.map((one) => ({
    ...one,
    trader,
    key: one.key === key ? null : one.key,
  }));
  return { ...command, orders: own };
}

/** A trader's orders may fail revalidation, and a taker meets them. */
function traps(): fc.Arbitrary<Step[]> {
  const death = (trader: number): fc.Arbitrary<Step> =>
    fc.constantFrom<Step[]>(
      { kind: "withdraw", trader, leave: 40 },
      { kind: "limit", trader, window: "day", cents: 40 },
      { kind: "exclude", trader, byHand: true },
      { kind: "advance", ms: 60_000 },
    );
  const sweep = (trader: number): Step => ({
    kind: "batch",
    market: 0,
    orders: (["yes", "no"] as const).map((side) => order(trader, buy(side, 50, 56, ioc))),
  });
  return fc
    .tuple(fc.nat(traders - 1), fc.constantFrom(0, traders - 1))
    .chain(([dying, sweeper]) => death(dying).map((step) => [step, sweep(sweeper)]));
}

/** A market is live for a while: orders wait, something changes, and they are released. */
function passages(): fc.Arbitrary<Step[]> {
  const trader = fc.nat(traders - 1);
  const change = fc.oneof(
    fc.constant<Step[]>([]),
    fc.constant<Step[]>([{ kind: "pauseSite", paused: true }]),
    fc.constant<Step[]>([{ kind: "setMarket", market: 0, status: "paused" }]),
    trader.map((one): Step[] => [{ kind: "freeze", trader: one, frozen: true, cancels: false }]),
    fc
      .tuple(trader, trader)
      .map((both) => both.map((one): Step => ({ kind: "withdraw", trader: one, leave: 40 }))),
    fc
      .tuple(trader, trader)
      .map((both) =>
        both.map((one): Step => ({ kind: "limit", trader: one, window: "day", cents: 40 })),
      ),
    fc.array(amendments(), { minLength: 6, maxLength: 12, size: "max" }),
    fc.array(orders(), { minLength: 4, maxLength: 8 }).map((batch): Step[] => [
      { kind: "setLive", market: 0, delayMs: null },
      { kind: "batch", market: 0, orders: batch },
    ]),
  );
  // The same shares are offered twice, and a taker takes them the first time.
  const twice = fc
    .tuple(trader, fc.constantFrom("yes", "no"))
    .map(([seller, side]) => [
      order(traders, buy(side, 60, 52)),
      order(seller, sell(side, 10, 52)),
      order(seller, sell(side, 10, 52)),
      order(seller, sell(side, 10, 52)),
    ]);
  const batch = fc.array(orders(), { minLength: 4, maxLength: 14, size: "max" });
  return fc
    .tuple(fc.oneof({ weight: 3, arbitrary: batch }, { weight: 1, arbitrary: twice }), change)
    .map(([waiting, changed]) => [
      { kind: "setLive", market: 0, delayMs: 3000 },
      { kind: "batch", market: 0, orders: waiting },
      ...changed,
      { kind: "release", ms: 3000 },
      { kind: "setMarket", market: 0, status: "open" },
      { kind: "pauseSite", paused: false },
      { kind: "setLive", market: 0, delayMs: null },
    ]);
}

/** A market is resolved, and perhaps corrected after its money was spent elsewhere. */
function settlements(markets: number): fc.Arbitrary<Step[]> {
  const resolve = fc
    .constantFrom(100, 0, 50, 33)
    .map((yesCents): Step => ({ kind: "resolve", market: 1, yesCents }));
  const between = fc.array(steps(markets), { maxLength: 3 });
  return fc
    .tuple(resolve, between, fc.option(resolve))
    .map(([first, others, second]) => [first, ...others, ...(second === null ? [] : [second])]);
}

function amendments(): fc.Arbitrary<Extract<Step, { kind: "amend" }>> {
  return fc.record({
    kind: fc.constant("amend" as const),
    trader: fc.nat(traders - 1),
    place: fc.nat(4),
    price: fc.option(fc.integer({ min: 44, max: 56 }), { freq: 2, nil: null }),
    quantity: fc.option(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(1, 2)), {
      freq: 2,
      nil: null,
    }),
  });
}

/** Histories of some steps, in that many markets. */
export function programs(markets = world.markets): fc.Arbitrary<Step[]> {
  const some = fc.oneof(
    { weight: 10, arbitrary: steps(markets).map((step) => [step]) },
    { weight: 1, arbitrary: traps() },
    { weight: 2, arbitrary: passages() },
    { weight: 3, arbitrary: keyedCommands(markets) },
    { weight: 1, arbitrary: fc.nat(30).map((back): Step[] => [{ kind: "repeat", back }]) },
    { weight: 1, arbitrary: settlements(markets) },
  );
  return fc.array(some, { minLength: 4, maxLength: 20, size: "max" }).map((parts) => parts.flat());
}

/** How each history begins: shares for the traders, and orders around 50. */
export function opening(markets = world.markets): Step[] {
  const [rich, ann, bob, cid] = [0, 1, 2, 3];
  const give = (trader: number, side: "yes" | "no", quantity: number) => [
    order(traders, buy(side === "yes" ? "no" : "yes", quantity, 50)),
    order(trader, buy(side, quantity, 50)),
  ];
  const first = [
    ...give(rich, "yes", 40),
    ...give(rich, "no", 40),
    ...give(ann, "yes", 25),
    ...give(bob, "no", 25),
    ...give(cid, "yes", 10),
    ...give(cid, "no", 10),
    ...[sell("yes", 20, 52), sell("yes", 20, 53), buy("yes", 9, 48), buy("no", 12, 47)].map(
      (request) => order(ann, request),
    ),
    ...[sell("no", 20, 53), sell("no", 24, 54), buy("no", 9, 48), buy("yes", 12, 46)].map(
      (request) => order(bob, request),
    ),
    ...[buy("yes", 6, 49), buy("no", 6, 49), sell("yes", 10, 54)].map((request) =>
      order(cid, request),
    ),
  ];
  return [
    { kind: "batch", market: 0, orders: first },
    { kind: "batch", market: 1, orders: give(ann, "no", 10) },
    {
      ...{ kind: "batch", market: 1 },
      orders: Array.from({ length: markets - 1 }, (_, index) =>
        around50().map((one) => ({ ...one, market: index + 1 })),
      ).flat(),
    },
  ];
}

/** Orders of both sides that do not meet, with shares behind some of them. */
function around50(): Order[] {
  const [rich, ann, bob, cid] = [0, 1, 2, 3];
  return [
    order(traders, buy("no", 12, 50)),
    order(cid, buy("yes", 12, 50)),
    order(cid, sell("yes", 7, 51)),
    order(cid, sell("yes", 5, 53)),
    order(ann, buy("yes", 6, 49)),
    order(bob, buy("no", 6, 48)),
    order(rich, buy("yes", 9, 48)),
    order(rich, buy("no", 9, 47)),
  ];
}

/** A history, after `opening`, with results that random ones seldom have. */
export function rarities(): Step[] {
  const [rich, ann, bob, cid, eve] = [0, 1, 2, 3, 4];
  const amend = (trader: number, price: number | null, quantity: number | null): Step => ({
    ...{ kind: "amend", trader, place: 0, price, quantity },
  });
  return [
    ...commandsSentTwice(),
    keysInSeveralMarkets(),
    { kind: "batch", market: 0, orders: [order(rich, buy("yes", 8, 52))] },
    amend(ann, null, 2),
    amend(ann, 52, null),
    {
      kind: "batch",
      market: 1,
      orders: [order(cid, buy("no", 2, 45)), order(ann, buy("no", 1, 20))],
    },
    { kind: "setLive", market: 1, delayMs: 3000 },
    {
      kind: "batch",
      market: 1,
      orders: [
        { ...order(rich, buy("yes", 1, 85)), postOnly: true },
        order(eve, { side: "yes", budgetCents: 500, price: 60 }),
        order(bob, buy("yes", 3, 30)),
        order(cid, buy("yes", 5, 30)),
        order(rich, buy("no", 1, 30)),
      ],
    },
    amend(eve, 50, null),
    {
      kind: "batch",
      market: 0,
      orders: [{ ...order(eve, buy("yes", 1, 10)), expiresIn: 1000 }],
    },
    { kind: "limit", trader: bob, window: "day", cents: 0 },
    { kind: "withdraw", trader: cid, leave: 10 },
    { kind: "withdraw", trader: rich, leave: 10 },
    { kind: "release", ms: 3000 },
    amend(eve, 50, null),
    { kind: "setMarket", market: 1, status: "closed" },
    { kind: "batch", market: 1, orders: [order(rich, buy("yes", 1, 10))] },
    { kind: "freeze", trader: rich, frozen: true, cancels: true },
    { kind: "batch", market: 0, orders: [order(rich, buy("yes", 1, 10))] },
    { kind: "pauseSite", paused: true },
    { kind: "batch", market: 0, orders: [order(rich, buy("yes", 1, 10))] },
  ];
}

/** Each command with a key, sent again; and makers of all kinds that fail, in the third market. */
function commandsSentTwice(): Step[] {
  const [rich, ann, bob, cid, eve] = [0, 1, 2, 3, 4];
  const place = (...placed: Order[]): Step => ({ kind: "batch", market: 2, orders: placed });
  const twice = (trader: number, key: number, command: Command): Step[] => [
    { kind: "keyed", trader, key, command },
    { kind: "repeat", back: 0 },
  ];
  const soon = { expiresIn: 1000 };
  const batch = [order(rich, buy("yes", 1, 3)), order(rich, buy("yes", 0, 3))];
  return [
    place(order(eve, buy("yes", 2, 51, { timeInForce: "fok" }))),
    place(order(rich, buy("yes", 20, 53, { selfTrade: "cancel_resting" }))),
    place({ ...order(eve, buy("no", 1, 45)), ...soon }),
    { kind: "advance", ms: 1000 },
    place(order(rich, buy("yes", 1, 55))),
    place(order(eve, buy("no", 1, 40))),
    { kind: "withdraw", trader: eve, leave: 10 },
    place(order(rich, buy("yes", 1, 60))),
    { kind: "deposit", trader: eve, cents: 9000 },
    ...twice(ann, 9, { kind: "split", market: 2, quantity: 3 }),
    ...twice(ann, 8, { kind: "merge", market: 2, quantity: 1 }),
    ...twice(bob, 8, { kind: "amend", place: 0, price: null, quantity: 19 }),
    ...twice(cid, 8, { kind: "cancel", place: 0 }),
    ...twice(rich, 7, { kind: "placeBatch", market: 2, orders: batch }),
    { kind: "keyed", trader: rich, key: 7, command: { kind: "split", market: 2, quantity: 1 } },
    place({ ...order(eve, buy("yes", 1, 2)), ...soon }),
    { kind: "advance", ms: 1000 },
    // It has expired: it is not cancelled, and the key can be used by another command.
    ...twice(eve, 6, { kind: "cancel", place: 0 }),
    place(order(eve, buy("yes", 1, 2))),
    ...twice(eve, 6, { kind: "cancelAll", market: null }),
  ];
}

/** One key in two markets: found there, found in the same call, and free after a rejection. */
function keysInSeveralMarkets(): Step {
  const keyed = (trader: number, market: number | null, key: number, request: Request): Order => ({
    ...{ ...order(trader, request), market, key },
  });
  const [rich, bob] = [0, 2];
  return {
    ...{ kind: "batch", market: 0 },
    orders: [
      keyed(bob, 0, 0, buy("yes", 1, 3)),
      keyed(bob, 1, 0, buy("yes", 1, 3)),
      // A malformed repetition does not free the key.
      keyed(bob, 1, 0, buy("yes", 0, 3)),
      keyed(bob, 1, 0, buy("yes", 1, 3)),
      keyed(rich, null, 0, buy("yes", 1, 3)),
      keyed(rich, 1, 0, buy("yes", 1, 2)),
      keyed(rich, 0, 0, buy("yes", 1, 4)),
    ],
  };
}

function order(trader: number, request: Request): Order {
  return {
    trader,
    side: request.side,
    orderType: request.orderType ?? "buy",
    price: request.price ?? null,
    quantity: request.quantity ?? null,
    budgetCents: request.budgetCents ?? null,
    timeInForce: request.timeInForce ?? "gtc",
    cancelsOwn: request.selfTrade === "cancel_resting",
    postOnly: false,
    expiresIn: null,
    key: null,
    isStrict: false,
  };
}
