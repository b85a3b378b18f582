import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { callsOn } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { makePool } from "../../src/database/pools.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { formatFrame } from "../../src/streams/event_stream.ts";
import { publicId } from "./catalogue.ts";
import { randomBetween } from "./orders.ts";

/**
 * The process that the fan-out is measured in: the service, and beside it bare sockets. Started by
 * fork with the database's address; tells its own addresses. Told to change the market, it places
 * an order as a request would have it placed, and tells when that was committed. Told to write, it
 * writes the same bytes to all bare sockets, and tells when it began.
 */

/** On the clock that processes share. */
export type Trigger = "change" | "write";

const MARKET = publicId(1);

const [connectionString = ""] = process.argv.slice(2);

const pool = makePool({ connectionString, role: "exchange_api", max: 10 });
const config = { host: "127.0.0.1", port: 0, trustProxy: false };
const { context, url } = await serve({
  pools: asServerPools(pool),
  config,
  logger: makeLogger("info"),
});

const sockets = new Set<Socket>();
const bare = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket);
  socket.write(formatFrame("{}"));
});
await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", 4096, resolve));

process.on("message", (trigger: Trigger) => {
  void (trigger === "change" ? change() : write());
});
process.on("disconnect", () => process.exit());
process.send?.({
  streamUrl: `${url}/api/v1/markets/${MARKET}/stream`,
  barePort: (bare.address() as AddressInfo).port,
});

async function change(): Promise<void> {
  const { code } = await context.orderGatherer.place({
    marketId: MARKET,
    userId: publicId(2),
    side: "yes",
    price: randomBetween(1, 40),
    quantity: 1,
    idempotencyKey: randomUUID(),
  });
  if (code !== null) throw new Error(`The order was refused: ${code}`);
  process.send?.(nowMs());
}

async function write(): Promise<void> {
  const view = await callsOn(pool, api).getMarketSnapshot({ marketId: MARKET });
  if (view === undefined) throw new Error("There is no market");
  const frame = formatFrame(view.body, view.version);
  const began = nowMs();
  for (const socket of sockets) socket.write(frame);
  process.send?.(began);
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
