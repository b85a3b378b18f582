import { makeLogger } from "../../src/bin/logger.ts";
import { makePool } from "../../src/database/pools.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";

/**
 * A server whose processor time is measured. Started by fork with the database's address; tells its
 * own address, and how many microseconds it has worked whenever it is asked.
 */

const [connectionString = ""] = process.argv.slice(2);

const pool = makePool({ connectionString, role: "exchange_api", max: 10 });
const config = { host: "127.0.0.1", port: 0, trustProxy: false };
const { url } = await serve({ pools: asServerPools(pool), config, logger: makeLogger("info") });

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on("disconnect", () => process.exit());
process.send?.(url);
