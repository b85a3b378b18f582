import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { pino } from "pino";
import { callsOn } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { prepareDemo } from "../../src/local/demo.ts";
import { makeDemoTraders } from "../../src/local/demo_traders.ts";
import { serve } from "../../src/server/start_server.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { randomFrom } from "../helpers/random.ts";

/** What a reader has in front of them after `npm start` on an empty database. */
export interface DemoWorld {
  /** As the login that owns everything. */
  pool: Pool;
  /** BASE, KEY and MARKET, as the pages call them. */
  variables: Record<string, string>;
  /** The demo traders go on; requests are forgotten, the leaderboard is refreshed. */
  letAMinutePass: () => Promise<void>;
}

/** Runs `work` beside the HTTP interface of a demo of its own. */
export async function withDemo(work: (world: DemoWorld) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-pages-"));
  try {
    const demo = await prepareDemo(database.connectionString, {
      isEmbedded: true,
      keyFile: join(directory, "demo.json"),
    });
    const demoTradersStep = makeDemoTraders(
      callsOn(database.connectAs("exchange_api"), api),
      demo!.living!,
      randomFrom("demo traders").next,
    );
    const service = await serve({
      pools: asServerPools(database.connectAs("exchange_api")),
      config: { host: "127.0.0.1", port: 0, trustProxy: false },
      logger: pino({ level: "silent" }),
    });
    try {
      const variables = { BASE: service.url, KEY: demo!.apiKey, MARKET: demo!.marketId };
      const { pool } = database;
      const letAMinutePass = async () => {
        for (let step = 0; step < 3; step++) await demoTradersStep();
        await pool.query(
          "truncate rate_limits.windows, rate_limits.grants, rate_limits.allowances",
        );
        await pool.query("select admin.refresh_leaderboard()");
      };
      await work({ pool, variables, letAMinutePass });
    } finally {
      await service.close();
    }
  } finally {
    await database.drop();
    await rm(directory, { recursive: true });
  }
}
