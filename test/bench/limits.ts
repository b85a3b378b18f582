import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { startLoadedServer } from "./http_exchange.ts";
import { countAnswers, formatGet } from "./http_load.ts";
import { restDepth } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const CONNECTIONS = 64;
const DEPTH = 32;

/** Reads of an order book whose requests are counted, against the same without limits. */
export async function measureLimits(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase("limits", { isServed: true });
  await restDepth(database.pool, 1, DEPTH);
  await liftRateLimits(database.pool);
  const server = await startLoadedServer(database.connectionString);
  try {
    const load = (prefix: string) => async (seconds: number) => {
      const request = formatGet(`${prefix}/api/v1/markets/${publicId(1)}/orderbook`);
      const connections = Array.from({ length: CONNECTIONS }, () => [request]);
      const result = await server.load(connections, seconds);
      countAnswers(result, "200");
      return result.perSecond;
    };
    const figures = await measureInRounds(sizes, sizes.seconds, {
      name: "limits of requests",
      reference: load("/unlimited"),
      ours: load(""),
    });
    const target = `reads of an order book, ${CONNECTIONS} keep-alive clients / the same, unlimited`;
    return [{ target, unit: "1/s", must: 0.9, aim: 0.95, ...figures }];
  } finally {
    await server.end();
    await database.drop();
  }
}
