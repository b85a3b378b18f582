import type { Bench } from "./bench.ts";
import { BARE_PATH, openHttp, TPCB_PATH } from "./http_exchange.ts";
import { CLIENTS, halfCrossing, makeLoad, ORDERS_PATH } from "./order_load.ts";
import type { Terms } from "./order_load.ts";
import { randomBetween, restDepth, restLiquidity } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const REFERENCE = "the same server calling tpcb-like as one function";

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
    return [{ target, unit: "1/s", must: 1.4, aim: 2, ...figures }];
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
        ...{ unit: "1/s", must: 1.2, aim: 1.6, ...rates },
      },
      {
        target: `CPU of the Node process per order, ${orders} / per request of a bare Express route`,
        ...{ unit: "µs", must: 2, aim: 1.5, ...times },
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
