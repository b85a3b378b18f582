import type { OrderTerms } from "../../src/database/calls.ts";
import { checkLedger, expectCount, readNumber } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { HttpExchange } from "./http_exchange.ts";
import { countAnswers, formatPost, KEY_PLACE } from "./http_load.ts";
import type { LoadResult } from "./http_load.ts";
import { makerOrder, takerOrder } from "./orders.ts";

/** Of the targets over HTTP. */
export const CLIENTS = 64;
export const ORDERS_PATH = "/api/v1/orders";
/** Of each client, taken by turns. */
const READY_REQUESTS = 200;

export type Terms = Omit<OrderTerms, "userId">;

/** Draws an order of one client, and its market. */
export type Draw = (client: number) => Terms & { market: number };

/** The first half of the clients make the markets, the others take from them. */
export function halfCrossing(client: number): Terms {
  return client < CLIENTS / 2 ? makerOrder() : takerOrder();
}

/** Loads the routes with the same requests, and knows how many orders there must be. */
export interface Load {
  run: (path: string, seconds: number) => Promise<LoadResult & { answers: number }>;
  /** Has the bare route answer as an order is answered. */
  prepareBare: () => Promise<void>;
  /** Throws unless all orders are there and the ledger is sound. */
  check: () => Promise<void>;
}

/**
 * Each client sends its orders on a connection of its own; alone, all are sent one after another on
 * one connection.
 */
export async function makeLoad(
  exchange: HttpExchange,
  draw: Draw,
  { isAlone = false } = {},
): Promise<Load> {
  const { database } = exchange;
  const countOrders = () => readNumber(database.pool, "select count(*) from trading.orders");
  const bodies = exchange.apiKeys.map((_, client) =>
    Array.from({ length: READY_REQUESTS }, () => {
      const { market, ...terms } = draw(client);
      return { marketId: publicId(market), ...terms, idempotencyKey: KEY_PLACE };
    }),
  );
  let placed = await countOrders();
  return {
    run: async (path, seconds) => {
      const connections = exchange.apiKeys.map((key, client) =>
        (bodies[client] ?? []).map((body) => formatPost(path, key, body)),
      );
      const result = await exchange.load(isAlone ? [mixed(connections)] : connections, seconds);
      const answers = countAnswers(result, "201");
      if (path === ORDERS_PATH) placed += answers;
      return { ...result, answers };
    },
    prepareBare: async () => {
      await exchange.prepareBare(ORDERS_PATH, bodies[0]?.[0] ?? {});
      placed += 1;
    },
    check: async () => {
      expectCount("orders", await countOrders(), placed);
      await checkLedger(database);
    },
  };
}

/** The requests of all, in an order in which each has its turn. */
function mixed(connections: string[][]): string[] {
  return Array.from({ length: READY_REQUESTS }, (_, index) =>
    connections.flatMap((requests) => requests[index] ?? []),
  ).flat();
}
