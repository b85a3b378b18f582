import test from "ava";
import type { ExecutionContext } from "ava";
import { callsOn } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import type { Side } from "../../helpers/exchange/orders.ts";
import { effort, randomFrom } from "../../helpers/random.ts";

/** What the pages show of shares and money, against sums that are made from the trades. */

const exchange = testExchange(test);
const {
  balance,
  clock,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTraders,
  merge,
  operate,
  place,
  rest,
  split,
} = exchange;

const reads = () => callsOn(exchange.api, api);
const ownPositions = async (userId: string, marketId: string | null = null) =>
  JSON.parse(await reads().getOwnPositions({ userId, marketId }));
const resolutionOf = async (marketId: string) =>
  JSON.parse((await reads().getMarketResolution({ marketId })) ?? "null");
const resolve = (market_id: string, outcome: string, yes_payout_cents?: number) =>
  operate("resolve_market", {
    ...{ market_id, outcome },
    ...(yes_payout_cents !== undefined && { yes_payout_cents }),
  });

const START_CENTS = 100_000;

test("10 shares at 42, 42, 40 and 42 cost what was paid, and not their rounded average", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const bought: [quantity: number, price: number][] = [
    [2, 42],
    [2, 42],
    [4, 40],
    [2, 42],
  ];
  for (const [quantity, price] of bought) {
    await rest(market, ann, buy("yes", quantity, price));
    await place(market, bob, buy("no", quantity, 100 - price));
  }
  const own = await ownPositions(ann);
  t.like(own.positions[0], {
    ...{ marketId: market, marketTitle: "Will it rain?", marketStatus: "open", side: "yes" },
    ...{ quantity: 10, costCents: 412, buyFeesCents: 0, lastPrice: 42, worthCents: 420 },
    ...{ unrealisedCents: 8, realisedCents: 0 },
  });
  t.like(own, { balance: START_CENTS - 412, accountValueCents: START_CENTS + 8, settled: [] });
  // NO at 58, 58, 60, 58, and the fee of each trade.
  const [no] = (await ownPositions(bob)).positions;
  t.like(no, { side: "no", quantity: 10, costCents: 588, lastPrice: 58, worthCents: 580 });
  t.is(no.unrealisedCents, 580 - 588 - no.buyFeesCents);
  t.is(await balance(bob), START_CENTS - 588 - no.buyFeesCents);
});

test("shares of a market without a trade are worth 50 each, and have no last price", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await split(market, ann, 7);
  const own = await ownPositions(ann);
  t.deepEqual(
    own.positions.map((one: any) => [one.side, one.lastPrice, one.worthCents, one.unrealisedCents]),
    [
      ["yes", null, 350, 0],
      ["no", null, 350, 0],
    ],
  );
  t.like(own, { worthCents: 700, accountValueCents: START_CENTS });
});

test("settled shares are no positions any more: what they paid is in the cash", async (t) => {
  const [market, other] = await makeMarkets(2);
  const [ann, bob] = await makeTraders(2);
  for (const id of [market, other]) {
    await rest(id, ann, buy("yes", 10, 40));
    await place(id, bob, buy("no", 10, 60));
  }
  t.is(await resolutionOf(market), null);
  await resolve(market, "custom", 35);
  const own = await ownPositions(ann);
  t.deepEqual(
    own.positions.map(({ marketId }: any) => marketId),
    [other],
  );
  t.like(own.settled[0], {
    ...{ marketId: market, side: "yes", quantity: 10, costCents: 400, buyFeesCents: 0 },
    ...{ outcome: "custom", payoutCents: 350, realisedCents: -50 },
  });
  t.like(own, { worthCents: 400, unrealisedCents: 0, realisedCents: -50 });
  t.is(own.accountValueCents, START_CENTS - 50);
  t.is((await ownPositions(bob)).settled[0].payoutCents, 650);

  const shown = await resolutionOf(market);
  t.like(shown, { outcome: "custom", yesPayoutCents: 35, noPayoutCents: 65, correctedAt: null });
  t.is(shown.resolvedAt, own.settled[0].settledAt);
  await operate("correct_resolution", { market_id: market, outcome: "yes", reason: "A mistake." });
  t.like(await resolutionOf(market), { outcome: "yes", yesPayoutCents: 100, noPayoutCents: 0 });
  t.not((await resolutionOf(market)).correctedAt, null);
  t.like((await ownPositions(ann)).settled[0], { payoutCents: 1000, realisedCents: 600 });

  const inOther = await ownPositions(ann, other);
  t.deepEqual([inOther.positions.length, inOther.settled.length], [1, 0]);
  t.deepEqual([inOther.realisedCents, inOther.worthCents], [600, 400], "the sums are of all");
});

test("shares that were all merged are closed ones, and settled ones when the market is resolved", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("yes", 10, 40));
  await place(market, bob, buy("no", 10, 60));
  await rest(market, ann, buy("no", 10, 70));
  await place(market, bob, buy("yes", 10, 30));
  await merge(market, ann, 10);
  const before = await ownPositions(ann);
  t.deepEqual(before.settled, [], "not before");
  t.deepEqual(
    before.closed.map((one: any) => [one.marketId, one.marketStatus, one.side]),
    [
      [market, "open", "yes"],
      [market, "open", "no"],
    ],
  );
  const sum = (list: any[]) =>
    list.reduce((total: number, one) => total + Number(one.realisedCents), 0);
  t.is(sum(before.closed), before.realisedCents);
  t.deepEqual((await ownPositions(ann, await makeMarket())).closed, []);
  await resolve(market, "yes");
  const { settled, closed, realisedCents } = await ownPositions(ann);
  t.deepEqual(closed, []);
  t.deepEqual(
    settled.map((one: any) => [one.side, one.quantity, one.costCents, one.payoutCents]),
    [
      ["yes", 0, 0, 0],
      ["no", 0, 0, 0],
    ],
  );
  t.is(realisedCents, -100);
  t.is(sum(settled), realisedCents);
});

interface Fill {
  id: string;
  marketId: string;
  side: Side;
  orderType: "buy" | "sell";
  price: number;
  quantity: number;
  feeCents: number;
}

interface Held {
  quantity: number;
  cost: number;
  fees: number;
}

const halfUp = (part: number, whole: number): number =>
  Math.floor((2 * part + whole) / (2 * whole));

/** Takes shares out with their part of cost and fees, as each sale and merge does. */
function takeOut(held: Held, quantity: number): void {
  const cost = halfUp(held.cost * quantity, held.quantity);
  const fees = halfUp(held.fees * quantity, held.quantity);
  held.quantity -= quantity;
  held.cost -= cost;
  held.fees -= fees;
}

for (let round = 1; round <= effort(3); round++) {
  test.serial(`random history ${round}: positions and sums are those of its trades`, async (t) => {
    const { anyOf, between, chance } = randomFrom(`own positions ${round}`);
    const markets = await makeMarkets(3);
    const traders = await makeTraders(4);
    const held = new Map<string, Held>();
    const of = (market: string, trader: string, side: Side): Held => {
      const key = `${market} ${trader} ${side}`;
      if (!held.has(key)) held.set(key, { quantity: 0, cost: 0, fees: 0 });
      return held.get(key)!;
    };
    const seen = new Set<string>();

    /** Books what was traded since the last time. */
    const bookTrades = async (): Promise<void> => {
      for (const userId of traders) {
        const text = await reads().listFills({
          ...{ userId, most: 200, cursor: null, marketId: null, orderId: null },
        });
        const fills: Fill[] = JSON.parse(text).data.toReversed();
        for (const { id, marketId, side, orderType, price, quantity, feeCents } of fills) {
          if (seen.has(`${userId} ${id}`)) continue;
          seen.add(`${userId} ${id}`);
          const own = of(marketId, userId, side);
          if (orderType === "sell") takeOut(own, quantity);
          else {
            own.quantity += quantity;
            own.cost += quantity * price;
            own.fees += feeCents;
          }
        }
      }
    };

    for (let step = 0; step < 60; step++) {
      const market = anyOf(markets);
      const trader = anyOf(traders);
      const sides = ["yes", "no"] as const;
      const side = anyOf(sides);
      const own = of(market, trader, side);
      const pair = sides.map((one) => of(market, trader, one));
      const sets = Math.min(...pair.map(({ quantity }) => quantity));
      if (chance(0.1)) {
        const quantity = between(1, 9);
        if ((await split(market, trader, quantity)).code !== null) t.fail();
        for (const one of pair) {
          one.quantity += quantity;
          one.cost += 50 * quantity;
        }
      } else if (sets > 0 && chance(0.2)) {
        const quantity = between(1, sets);
        if ((await merge(market, trader, quantity)).code !== null) t.fail();
        for (const one of pair) takeOut(one, quantity);
      } else {
        const price = between(38, 62);
        const isSale = own.quantity > 0 && chance(0.5);
        const request = isSale
          ? sell(side, between(1, own.quantity), price)
          : buy(side, between(1, 9), price);
        await exchange.placeBatch(market, [[trader, request]]);
        await bookTrades();
      }
    }
    t.true(seen.size > 0, "there were trades");
    await check(t, { markets, traders, of, payouts: new Map() });

    const payouts = new Map([
      [markets[0], 100],
      [markets[1], 37],
    ]);
    await resolve(markets[0], "yes");
    await resolve(markets[1], "custom", 37);
    await check(t, { markets, traders, of, payouts });
  });
}

interface History {
  markets: string[];
  traders: string[];
  of: (market: string, trader: string, side: Side) => Held;
  payouts: Map<string, number>;
}

async function check(t: ExecutionContext, history: History): Promise<void> {
  const { markets, traders, of, payouts } = history;
  const lastYes = new Map<string, number>();
  for (const market of markets) {
    const [newest] = (await exchange.trades(market, 1, 1)).data;
    if (newest !== undefined) lastYes.set(market, newest.price);
  }
  for (const trader of traders) {
    const own = await ownPositions(trader);
    const figures = (list: any[]) =>
      Object.fromEntries(
        list.map((one) => [
          `${one.marketId} ${one.side}`,
          [one.quantity, one.costCents, one.buyFeesCents, one.worthCents ?? one.payoutCents],
        ]),
      );
    const expected = (settled: boolean) =>
      Object.fromEntries(
        markets
          .filter((market) => payouts.has(market) === settled)
          .flatMap((market) =>
            (["yes", "no"] as const).flatMap((side) => {
              const { quantity, cost, fees } = of(market, trader, side);
              const yes = payouts.get(market) ?? lastYes.get(market) ?? 50;
              const each = side === "yes" ? yes : 100 - yes;
              if (quantity === 0) return [];
              return [[`${market} ${side}`, [quantity, cost, fees, quantity * each]]];
            }),
          ),
      );
    t.deepEqual(figures(own.positions), expected(false));
    const paid = own.settled.filter(({ quantity }: any) => quantity > 0);
    t.deepEqual(figures(paid), expected(true));
    const sum = (pick: (one: Record<string, number>) => number): number =>
      own.positions.reduce((total: number, one: any) => total + pick(one), 0);
    t.is(
      own.worthCents,
      sum(({ worthCents }) => worthCents!),
    );
    t.is(
      own.unrealisedCents,
      sum((one) => one.worthCents! - one.costCents! - one.buyFeesCents!),
    );
    t.is(own.balance, await balance(trader));
    t.is(own.accountValueCents, Number(own.balance) + Number(own.worthCents));
    // The result is what the account is worth beyond what was paid in.
    const { realisedCents, unrealisedCents, accountValueCents } = own as Record<string, number>;
    t.is(realisedCents! + unrealisedCents!, accountValueCents! - START_CENTS);
  }
}

// It moves the clock, and so runs before the others.
test.serial("what selling would pay is what the engine says at any book", async (t) => {
  t.teardown(() => clock.release());
  const { anyOf, between } = randomFrom("exit");
  let deepest = 0;
  for (let round = 0; round < effort(12) || (deepest < 2 && round < 100); round++) {
    const began = Date.parse("2030-01-01T12:00:00Z") + round * 10_000;
    await clock.freeze(new Date(began).toISOString());
    const expiry = { expiresAt: new Date(began + 1000).toISOString() };
    const [market, ann, bob, eve] = await makeMarketWith(3, { cents: 10_000_000 });
    await split(market, ann, between(1, 60));
    for (let order = 0; order < between(0, 8); order++) {
      const side = anyOf(["yes", "no"] as const);
      const who = anyOf([bob, eve, ann]);
      // Below the middle: nothing of it trades.
      const terms = buy(side, between(1, 20), between(30, 49), anyOf([{}, {}, expiry]));
      await place(market, who, terms);
    }
    await clock.advance(2000);
    const positions = (await ownPositions(ann, market)).positions as Shown[];
    t.is(positions.length, 2);
    for (const { side, quantity, exitQuantity, exitCents } of positions) {
      const terms = sell(side, quantity, undefined, { selfTrade: "cancel_resting" });
      const order = { userId: ann, marketId: market, ...terms };
      const { body } = await reads().previewOrder({ order });
      const seen = JSON.parse(body);
      t.is(exitQuantity, seen.filledQuantity);
      t.is(exitCents, exitQuantity === 0 ? 0 : -seen.costCents - seen.feeCents);
      deepest = Math.max(deepest, seen.fills.length);
    }
  }
  t.true(deepest > 1);
});

test("what selling would pay is not known while a market takes no orders", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await split(market, ann, 5);
  await rest(market, bob, buy("yes", 3, 40));
  const exits = async () =>
    (await ownPositions(ann)).positions.map((one: Shown) => [one.exitQuantity, one.exitCents]);
  t.deepEqual(await exits(), [
    [3, 120 - Math.ceil((700 * 3 * 40 * 60) / 1_000_000)],
    [0, 0],
  ]);
  await operate("set_market_status", { market_id: market, status: "paused" });
  t.deepEqual(await exits(), [
    [null, null],
    [null, null],
  ]);
});

interface Shown {
  side: Side;
  quantity: number;
  exitQuantity: number | null;
  exitCents: number | null;
}

test("titles of markets are listed by their ids, unknown ones left out", async (t) => {
  const market = await makeMarket({ title: 'Will "it" rain?' });
  const marketIds = [market, "01900000-0000-7000-8000-000000000000"];
  const text = await reads().listMarketTitles({ marketIds });
  t.deepEqual(JSON.parse(text), { data: [{ id: market, title: 'Will "it" rain?' }] });
});
