import { randomUUID } from "node:crypto";
import { makeLogger } from "../../src/bin/logger.ts";
import { makePool } from "../../src/database/pools.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { openWebsite } from "../../src/site/open.ts";
import { publicId } from "./catalogue.ts";

/**
 * The process that the pages are measured with: the service with its website. Started by fork with
 * the database's address; sends its own. Each message is a price: an order of one share to buy YES
 * at it is placed, as by a request, and the time of its commit is sent, in milliseconds since 1970.
 */

const [connectionString = ""] = process.argv.slice(2);
const logger = makeLogger("error");
const pool = makePool({ connectionString, role: "exchange_api", max: 10 });
const config = { host: "127.0.0.1", port: 0, trustProxy: false };
const website = await openWebsite(logger);
const { context, url } = await serve({ pools: asServerPools(pool), config, logger, website });

process.on("message", ({ price }: { price: number }) => {
  void change(price);
});
process.on("disconnect", () => process.exit());
process.send?.(url);

async function change(price: number): Promise<void> {
  const { code } = await context.orderGatherer.place({
    ...{ marketId: publicId(1), userId: publicId(2), side: "yes", price, quantity: 1 },
    idempotencyKey: randomUUID(),
  });
  if (code !== null) throw new Error(`The order was rejected: ${code}`);
  process.send?.(performance.timeOrigin + performance.now());
}
