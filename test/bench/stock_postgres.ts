import { randomUUID } from "node:crypto";
import { makePool } from "../../src/database/pools.ts";
import { replaceDatabase } from "../helpers/database/test_database.ts";
import { placeOrders } from "../helpers/exchange/orders.ts";
import { buildSchema, noteInstallation } from "../helpers/database/schema.ts";
import { findDebianPostgres, startStockCluster } from "../helpers/database/stock_cluster.ts";
import type { StockCluster } from "../helpers/database/stock_cluster.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId, seedCatalogue } from "./catalogue.ts";
import { makerOrder, takerOrder } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds, median } from "./rounds.ts";
import type { Measure } from "./rounds.ts";

const MARKETS = 20;
const TRADERS = 100;

/**
 * An order on the PostgreSQL of the distribution with the configuration that initdb writes, against
 * one on the embedded server: the defaults of PostgreSQL must be good enough.
 */
export async function measureStockPostgres(bench: Bench): Promise<Result[]> {
  const programs = findDebianPostgres();
  if (programs === undefined) {
    console.error(
      "  note: skipped: there is no PostgreSQL of Debian here (apt install postgresql)",
    );
    return [];
  }
  const embedded = await bench.cluster.createDatabase("stock_reference");
  const stock = await startStockCluster(programs);
  try {
    const url = await makeExchange(stock, bench);
    const [reference, ours] = [embedded.connectionString, url].map((connectionString) =>
      timeOrders(connectionString),
    ) as [Measure, Measure];
    const figures = await measureInRounds(bench.sizes, bench.sizes.latencySeconds, {
      name: "an order on Debian's PostgreSQL",
      reference,
      ours,
    });
    await checkLedger(embedded);
    const target = "median time of an order, Debian's PostgreSQL as initdb leaves it / embedded";
    return [{ target, unit: "ms", must: 1.3, aim: 1.1, ...figures }];
  } finally {
    await stock.destroy();
    await embedded.drop();
  }
}

async function makeExchange(stock: StockCluster, { sizes }: Bench): Promise<string> {
  const cluster = makePool({ connectionString: stock.url, max: 1 });
  await cluster.query("create database bench encoding 'UTF8' template template0");
  await cluster.end();
  const url = replaceDatabase(stock.url, "bench");
  const pool = makePool({ connectionString: url, max: 2 });
  const client = await pool.connect();
  await buildSchema(client);
  await noteInstallation(client);
  client.release();
  await seedCatalogue(pool, { ...sizes, markets: MARKETS, traders: TRADERS });
  await pool.query("vacuum (analyze)");
  await pool.end();
  return url;
}

/** The median of orders that rest and orders that are filled, one after the other. */
function timeOrders(connectionString: string): Measure {
  return async (seconds) => {
    const pool = makePool({ connectionString, role: "exchange_api", max: 1 });
    const client = await pool.connect();
    const times: number[] = [];
    const end = performance.now() + seconds * 1000;
    try {
      for (let round = 0; performance.now() < end || round < 20; round++) {
        const market = publicId((round % MARKETS) + 1);
        for (const [trader, order] of [
          [(round % 50) + 1, { ...makerOrder(), side: "no" as const }],
          [(round % 50) + 51, { ...takerOrder(), side: "yes" as const }],
        ] as const) {
          const began = performance.now();
          const [outcome] = await placeOrders(client, [
            {
              marketId: market,
              userId: publicId(trader),
              ...order,
              idempotencyKey: randomUUID(),
            },
          ]);
          times.push(performance.now() - began);
          if (outcome?.code !== null)
            throw new Error(`An order was refused: ${outcome?.code ?? ""}`);
        }
      }
    } finally {
      client.release();
      await pool.end();
    }
    return median(times);
  };
}
