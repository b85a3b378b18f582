import { makePool } from "../../src/database/pools.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { openWebsite } from "../../src/site/open.ts";

/**
 * A server process with the website, for journeys that kill it. Started by fork with the database's
 * address and a port; sends its own address once it listens.
 */

const [connectionString = "", port = "0"] = process.argv.slice(2);
const logger = makeLogger("error");
const pool = makePool({ connectionString, role: "exchange_api", max: 10 });
const config = { host: "127.0.0.1", port: Number(port), trustProxy: false };
const { url } = await serve({
  pools: asServerPools(pool),
  config,
  logger,
  website: await openWebsite(logger),
});
process.on("disconnect", () => process.exit());
process.send?.(url);
