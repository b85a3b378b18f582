import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { ApiCalls } from "../database/calls.ts";
import { abandonPool, makePool } from "../database/pools.ts";
import { at } from "./demo_commands.ts";
import type { LivingDemo } from "./demo_history.ts";
import { anyOf, balance, chanceFrom, planQuotes, planTake, walk } from "./demo_plans.ts";
import type { Chance, Standing } from "./demo_plans.ts";
import { livingTraders } from "./living_catalogue.ts";

export interface DemoTradersOptions {
  connectionString: string;
  living: LivingDemo;
  logger: Logger;
  /** Called after each step: there may be events to send. */
  onTraded: () => void;
  /** The pause before a step, for tests. */
  pauseMs?: number;
}

const CLOSING_MS = 1000;
/** A step of a market moves its price as so many hours would. */
const HOURS_OF_A_STEP = 0.2;

/** Lets the demo traders trade, one step every one to three seconds, until they are closed. */
export function startDemoTraders(options: DemoTradersOptions): { close: () => Promise<void> } {
  const { connectionString, living, logger, onTraded } = options;
  const pool = makePool({
    connectionString,
    role: "exchange_api",
    applicationName: "pgmarkets demo",
    max: 1,
    connectionTimeoutMs: 5000,
    statementTimeoutMs: 5000,
    lockTimeoutMs: 2000,
  });
  const chance = chanceFrom(Date.now());
  const step = makeDemoTraders(callsOn(pool, api), living, chance);
  const ending = new AbortController();
  const { signal } = ending;

  async function trade(): Promise<void> {
    for (let isFailing = false; ;) {
      await delay(options.pauseMs ?? 1000 + 2000 * chance(), undefined, { signal });
      try {
        await step();
        onTraded();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) logger.warn({ error }, "the demo traders cannot trade");
        isFailing = true;
      }
    }
  }

  // It ends when the pause is aborted.
  const trading = trade().catch(() => undefined);
  return {
    close: async () => {
      ending.abort();
      await Promise.race([trading, delay(CLOSING_MS)]);
      await abandonPool(pool);
    },
  };
}

const marketSchema = z.object({ status: z.string(), lastTradePrice: z.int().nullable() });

const side = z.enum(["yes", "no"]);
const portfolioSchema = z.object({
  balance: z.int(),
  positions: z.array(z.object({ marketId: z.string(), side, quantity: z.int() })),
  openOrders: z.array(
    z.object({
      id: z.string(),
      marketId: z.string(),
      side,
      orderType: z.enum(["buy", "sell"]),
      price: z.int(),
      quantity: z.int(),
      filledQuantity: z.int(),
    }),
  ),
});

/** A step of the demo traders: one of them looks at one market, and does what it then plans. */
export function makeDemoTraders(
  calls: Pick<ApiCalls, "getMarket" | "getPortfolio" | "placeOrders" | "runCommand">,
  { markets, traderIds }: LivingDemo,
  chance: Chance,
): () => Promise<void> {
  const living = markets.map(({ market }) => market);
  const prices: (number | undefined)[] = living.map(() => undefined);
  return async () => {
    const place = anyOf([...markets.keys()], chance);
    const { id: marketId, market } = at(markets, place);
    const index = anyOf([...livingTraders.keys()], chance);
    const trader = at(livingTraders, index);
    const userId = at(traderIds, index);

    const view = marketSchema.parse(JSON.parse((await calls.getMarket({ marketId }))?.body ?? ""));
    if (view.status !== "open") return;
    const { liveliness, price: home } = market;
    const before = prices[place] ?? view.lastTradePrice ?? home;
    prices[place] = walk({ price: before, home }, liveliness, HOURS_OF_A_STEP, chance);
    balance(prices, living, market.event);
    const price = prices[place];

    const standing = standingIn(marketId, await calls.getPortfolio({ userId }));
    const { cancelIds, orders } =
      "spacing" in trader
        ? planQuotes(trader.spacing, price, standing, chance)
        : planTake(trader.sense, { price, home }, standing, chance);
    for (const orderId of cancelIds) {
      await calls.runCommand({ command: "cancel", userId, orderId });
    }
    if (orders.length === 0) return;
    // A rejection is no fault: others trade meanwhile.
    const requests = orders.map((terms) => ({ ...terms, userId, marketId }));
    await calls.placeOrders({ orders: requests, atomic: false, waits: true });
  };
}

function standingIn(marketId: string, portfolio: string): Standing {
  const { balance, openOrders, positions } = portfolioSchema.parse(JSON.parse(portfolio));
  const shares = { yes: 0, no: 0 };
  for (const position of positions) {
    if (position.marketId === marketId) shares[position.side] = position.quantity;
  }
  const quotes = openOrders
    .filter((order) => order.marketId === marketId)
    .map((order) => ({
      id: order.id,
      isBid: (order.side === "yes") === (order.orderType === "buy"),
      isSell: order.orderType === "sell",
      yesPrice: order.side === "yes" ? order.price : 100 - order.price,
      quantity: order.quantity - order.filledQuantity,
    }));
  return { cashCents: balance, shares, quotes };
}
