import { fork } from "node:child_process";
import { join } from "node:path";
import { liftRateLimits } from "../helpers/limits.ts";
import type { Bench } from "./bench.ts";
import { endProcess, nextMessage } from "./children.ts";
import { publicId } from "./catalogue.ts";
import { formatGet } from "./http_load.ts";
import type { LoadResult, LoadTask } from "./http_load.ts";
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
  const server = fork(join(import.meta.dirname, "http_server.ts"), [database.connectionString]);
  const generator = fork(join(import.meta.dirname, "http_load.ts"));
  try {
    const { url } = (await nextMessage(server)) as { url: string };
    const load = (prefix: string) => async (seconds: number) => {
      const request = formatGet(`${prefix}/api/v1/markets/${publicId(1)}/orderbook`);
      const task: LoadTask = {
        url,
        connections: Array.from({ length: CONNECTIONS }, () => [request]),
        milliseconds: seconds * 1000,
      };
      generator.send(task);
      const { perSecond, statuses } = (await nextMessage(generator)) as LoadResult;
      if (Object.keys(statuses).join() !== "200") {
        throw new Error(`HTTP answers: ${JSON.stringify(statuses)}`);
      }
      return perSecond;
    };
    const figures = await measureInRounds(sizes, sizes.seconds, {
      name: "limits of requests",
      reference: load("/unlimited"),
      ours: load(""),
    });
    const target = `reads of an order book, ${CONNECTIONS} keep-alive clients / the same, unlimited`;
    return [{ target, unit: "1/s", must: 0.9, aim: 0.95, ...figures }];
  } finally {
    await Promise.all([server, generator].map(endProcess));
    await database.drop();
  }
}
