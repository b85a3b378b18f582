import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { placeOrders } from "../../src/database/api.ts";
import { makePool } from "../../src/database/pools.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import {
  checkLeaderboard,
  NEW_POSITIONS,
  refresh,
  settleMarkets,
  settleOldMarkets,
} from "./leaderboard.ts";
import { randomBetween, restLiquidity, TAKER_PRICE } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds, quantile } from "./rounds.ts";

/** Before and after each refresh, so that as many orders are placed without one. */
const PAUSE_MS = 30;

/**
 * How long a trader waits for an order, resting or filled, while the leaderboard is brought up to
 * date, against the times between: the 99th of 100.
 */
export async function measureTradingBesideRefresh({ sizes, cluster }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("beside_refresh");
  const { connectionString, pool } = database;
  const markets = Math.min(sizes.markets, 200);
  await restLiquidity(pool, markets);
  await settleOldMarkets(pool, sizes);
  await refresh(pool);
  await pool.query("vacuum (analyze)");

  const api = makePool({ connectionString, role: "exchange_api", max: 1 });
  // Both figures of a round come from the same time, during which refreshes come and go.
  let p99 = { nothing: Number.NaN, refresh: Number.NaN };
  const figures = await measureInRounds(sizes, 3 * sizes.latencySeconds, {
    name: "orders beside refreshes",
    reference: async (seconds) => {
      p99 = await measureRound(pool, api, { seconds, markets, traders: sizes.traders });
      return p99.nothing;
    },
    ours: () => Promise.resolve(p99.refresh),
  });
  await api.end();
  await refresh(pool);
  await checkLeaderboard(pool);
  await database.drop();
  const bar = "an order while the leaderboard is refreshed / while it is not, one client, p99";
  return [{ bar, unit: "ms", must: 1.5, aim: 1.2, ...figures }];
}

async function measureRound(
  pool: Pool,
  api: Pool,
  { seconds, markets, traders }: { seconds: number; markets: number; traders: number },
): Promise<{ nothing: number; refresh: number }> {
  const times: { nothing: number[]; refresh: number[] } = { nothing: [], refresh: [] };
  // What an order met is what went on when it began, when it ended, or between.
  const refreshes = { begun: 0, ended: 0 };
  const settlings = { begun: 0, ended: 0 };
  let isOver = false;

  async function trade(): Promise<void> {
    const client = await api.connect();
    while (!isOver) {
      const before = { refreshes: refreshes.ended, settlings: settlings.ended };
      const began = performance.now();
      const [outcome] = await placeOrders(client, publicId(randomBetween(1, markets)), [
        {
          userId: publicId(randomBetween(markets + 1, traders)),
          side: Math.random() < 0.5 ? "yes" : "no",
          ...(Math.random() < 0.5
            ? { price: TAKER_PRICE, quantity: 1 }
            : { price: randomBetween(1, 40), quantity: 10 }),
        },
      ]);
      if (outcome?.code !== null) throw new Error(`An order was refused: ${outcome?.code}`);
      const ms = performance.now() - began;
      if (refreshes.begun > before.refreshes) times.refresh.push(ms);
      else if (settlings.begun === before.settlings) times.nothing.push(ms);
    }
    client.release();
  }

  async function refreshAgainAndAgain(): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      settlings.begun += 1;
      await settleMarkets(pool, 1, NEW_POSITIONS, 1);
      settlings.ended += 1;
      await delay(PAUSE_MS);
      refreshes.begun += 1;
      await refresh(pool);
      refreshes.ended += 1;
      await delay(PAUSE_MS);
    }
    isOver = true;
  }

  await Promise.all([trade(), refreshAgainAndAgain()]);
  return { nothing: quantile(times.nothing, 0.99), refresh: quantile(times.refresh, 0.99) };
}
