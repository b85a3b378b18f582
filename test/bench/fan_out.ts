import type { Bench } from "./bench.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { checkLedger } from "./bench.ts";
import { startChild } from "./children.ts";
import type { Watching } from "./fan_out_clients.ts";
import type { Trigger } from "./fan_out_server.ts";
import { place, restDepth } from "./orders.ts";
import { publicId } from "./catalogue.ts";
import type { Result } from "./report.ts";
import { measureInRounds, quantile } from "./rounds.ts";

/** Changes that are far enough apart not to be shown together. */
const PAUSE_MS = 120;

/**
 * From the commit of an order to the last of many clients that watch its market, against a loop in
 * the same process that writes the same bytes to as many bare sockets.
 */
export async function measureFanOut(bench: Bench): Promise<Result[]> {
  const results: Result[] = [];
  for (const clients of bench.sizes.streamClients) {
    results.push(await measureWith(bench, clients));
  }
  return results;
}

async function measureWith({ sizes, cluster }: Bench, clients: number): Promise<Result> {
  const database = await cluster.createDatabase(`fan_out_${clients}`, { isServed: true });
  await liftRateLimits(database.pool);
  const makers = Math.min(100, sizes.traders / 2);
  await restDepth(database.pool, 1, makers);
  // Fifty trades and some more levels, so that a snapshot has what it has in a busy market.
  for (let price = 1; price <= 40; price++) {
    await place(database.pool, 1, [
      { userId: publicId(1), side: "yes", price, quantity: 10 },
      { userId: publicId(1), side: "no", price, quantity: 10 },
      { userId: publicId(sizes.traders), side: "yes", price: 55, quantity: 10 },
    ]);
  }

  const server = startChild<Trigger>("fan_out_server.ts", [database.connectionString]);
  const watchers = startChild<Watching>("fan_out_clients.ts");
  try {
    const { streamUrl, barePort } = (await server.next()) as {
      streamUrl: string;
      barePort: number;
    };
    watchers.tell({ streamUrl, barePort, clients });
    await watchers.next();

    const lastOfAll = (trigger: Trigger) => async (seconds: number) => {
      const times: number[] = [];
      const until = performance.now() + seconds * 1000;
      while (performance.now() < until) {
        const arrived = watchers.next();
        server.tell(trigger);
        const beganMs = (await server.next()) as number;
        const lastMs = (await arrived) as number;
        times.push(lastMs - beganMs);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      return quantile(times, 0.99);
    };
    const figures = await measureInRounds(sizes, sizes.seconds, {
      name: `fan-out to ${clients}`,
      reference: lastOfAll("write"),
      ours: lastOfAll("change"),
    });
    await checkLedger(database);
    const target =
      `commit to the last of ${clients.toLocaleString("en")} clients of a market's stream, p99 / ` +
      "a loop that writes the same bytes to as many sockets";
    return { target, unit: "ms", must: 2, aim: 1.2, ...figures };
  } finally {
    await Promise.all([server.end(), watchers.end()]);
    await database.drop();
  }
}
