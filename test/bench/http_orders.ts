import type { OrderTerms } from "../../src/database/calls.ts";
import { checkLedger, expectCount, readNumber } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { BARE_PATH, openHttp, TPCB_PATH } from "./http_exchange.ts";
import type { HttpExchange } from "./http_exchange.ts";
import { countAnswers, formatPost, KEY_PLACE } from "./http_load.ts";
import type { LoadResult } from "./http_load.ts";
import { makerOrder, randomBetween, restDepth, restLiquidity, takerOrder } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const CLIENTS = 64;
/** Of each client, taken by turns. */
const READY_REQUESTS = 200;
const ORDERS_PATH = "/api/v1/orders";
const REFERENCE = "the same server calling tpcb-like as one function";

type Terms = Omit<OrderTerms, "userId">;

/** Draws an order of one client, and its market. */
type Draw = (client: number) => Terms & { market: number };

/** One hot market over HTTP, against the same server calling `tpcb-like` as one function. */
export async function measureHotMarketOverHttp(bench: Bench): Promise<Result[]> {
  const exchange = await openHttp(bench, "http_hot_market", { clients: CLIENTS });
  try {
    await restDepth(exchange.database.pool, 1, CLIENTS / 2);
    const load = await makeLoad(exchange, (client) => ({ market: 1, ...halfCrossing(client) }));
    const figures = await measureInRounds(bench.sizes, bench.sizes.seconds, {
      name: "hot market over HTTP",
      reference: async (seconds) => (await load.run(TPCB_PATH, seconds)).perSecond,
      ours: async (seconds) => (await load.run(ORDERS_PATH, seconds)).perSecond,
    });
    await load.check();
    const target = `one hot market over HTTP, half resting, half crossing, ${CLIENTS} clients / ${REFERENCE}`;
    return [{ target, unit: "1/s", must: 1, aim: 2, ...figures }];
  } finally {
    await exchange.close();
  }
}

/**
 * Many markets over HTTP: orders a second against the same server calling `tpcb-like`, and the
 * processor time of the server process for an order against that for a request of a bare route.
 */
export async function measureManyMarketsOverHttp(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const exchange = await openHttp(bench, "http_many_markets", {
    clients: CLIENTS,
    firstTrader: sizes.markets + 1,
  });
  try {
    await restLiquidity(exchange.database.pool, sizes.markets);
    const load = await makeLoad(exchange, (client) => ({
      market: randomBetween(1, sizes.markets),
      ...halfCrossing(client),
    }));
    const rates = await measureInRounds(sizes, sizes.seconds, {
      name: "many markets over HTTP",
      reference: async (seconds) => (await load.run(TPCB_PATH, seconds)).perSecond,
      ours: async (seconds) => (await load.run(ORDERS_PATH, seconds)).perSecond,
    });
    await load.prepareBare();
    const cpu = (path: string) => async (seconds: number) => {
      const before = await exchange.cpuMicroseconds();
      const { answers } = await load.run(path, seconds);
      return ((await exchange.cpuMicroseconds()) - before) / answers;
    };
    const times = await measureInRounds(sizes, sizes.seconds, {
      name: "CPU of the server process",
      reference: cpu(BARE_PATH),
      ours: cpu(ORDERS_PATH),
    });
    await load.check();
    const orders = `${sizes.markets} markets over HTTP, half resting, half crossing`;
    return [
      {
        target: `${orders}, ${CLIENTS} clients / ${REFERENCE}`,
        ...{ unit: "1/s", must: 0.8, aim: 1.5, ...rates },
      },
      {
        target: `CPU of the Node process per order, ${orders} / per request of a bare Express route`,
        ...{ unit: "µs", must: 2.5, aim: 1.5, ...times },
      },
    ];
  } finally {
    await exchange.close();
  }
}

/** The median time of an order over HTTP with one client, resting and filled. */
export async function measureLoneOrdersOverHttp(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const results: Result[] = [];
  const kinds: [name: string, order: Terms, must: number, aim: number][] = [
    ["resting", { side: "yes", price: 10, quantity: 1 }, 1.3, 1],
    ["filled by one match", { side: "yes", price: 55, quantity: 1 }, 1.8, 1.3],
  ];
  const firstTrader = sizes.markets + 1;
  const exchange = await openHttp(bench, "http_lone_orders", { clients: 1, firstTrader });
  try {
    await restLiquidity(exchange.database.pool, sizes.markets);
    for (const [name, order, must, aim] of kinds) {
      const load = await makeLoad(exchange, () => ({
        market: randomBetween(1, sizes.markets),
        ...order,
      }));
      const figures = await measureInRounds(sizes, sizes.latencySeconds, {
        name: `one client over HTTP, ${name}`,
        reference: async (seconds) => (await load.run(TPCB_PATH, seconds)).medianMs,
        ours: async (seconds) => (await load.run(ORDERS_PATH, seconds)).medianMs,
      });
      await load.check();
      const target = `median time of an order over HTTP, ${name}, 1 client / ${REFERENCE}`;
      results.push({ target, unit: "ms", must, aim, ...figures });
    }
    return results;
  } finally {
    await exchange.close();
  }
}

/** The first half of the clients make the markets, the others take from them. */
function halfCrossing(client: number): Terms {
  return client < CLIENTS / 2 ? makerOrder() : takerOrder();
}

/** Loads the routes with the same requests, and knows how many orders there must be. */
interface Load {
  run: (path: string, seconds: number) => Promise<LoadResult & { answers: number }>;
  /** Has the bare route answer as an order is answered. */
  prepareBare: () => Promise<void>;
  /** Throws unless all orders are there and the ledger is sound. */
  check: () => Promise<void>;
}

async function makeLoad(exchange: HttpExchange, draw: Draw): Promise<Load> {
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
      const result = await exchange.load(connections, seconds);
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
