import express from "express";
import type { Express } from "express";
import { placeOrderSchema } from "../../src/api/orders.ts";
import { makeApp } from "../../src/server/app.ts";
import { readConfig } from "../../src/config.ts";
import { withRetries } from "../../src/database/failures.ts";
import {
  makeServerPools,
  openPools,
  openReadStandbys,
  sharesOf,
} from "../../src/database/server_pools.ts";
import { makeAccess } from "../../src/http/access.ts";
import type { Access } from "../../src/http/access.ts";
import { errorHandler, notFound } from "../../src/http/error_handler.ts";
import { listen } from "../../src/http_server.ts";
import { requestLog } from "../../src/http/request_log.ts";
import { route } from "../../src/api/route.ts";
import { installRoute } from "../../src/api/serve_route.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { makeContext } from "../../src/api/context.ts";
import type { Context } from "../../src/api/context.ts";
import { BARE_PATH, TPCB_PATH } from "./http_exchange.ts";
import type { ServerMessage } from "./http_exchange.ts";
import { randomBetween } from "./orders.ts";

/**
 * The process that the HTTP targets load: the whole service with the pools that it has by default,
 * and beside it what it is measured against: two routes of another kind and the service without
 * limits of requests. Started by fork with the database's address, the scale of its pgbench tables,
 * and the address of standbys if it is to read from some; tells its own address. It takes three
 * messages: the answer of the bare route, the question how much processor time it has used, which it
 * answers in microseconds, and the question for the figures of its standbys.
 */

const UNLIMITED = "/unlimited";

const [connectionString = "", scale = "1", readAddress] = process.argv.slice(2);
const logger = makeLogger("info");
const { poolSize } = readConfig({});
const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize };
const pools = makeServerPools({ connectionString, config, logger });
await openPools(pools);
const standbys = openReadStandbys({
  given:
    readAddress === undefined ? undefined : { connectionString: readAddress, longestLagMs: 50 },
  ...{ primary: pools.checks, role: "exchange_api", applicationName: "pgmarkets reads", logger },
  max: sharesOf(poolSize).reads,
});
const context = makeContext(pools, logger, { standbys });
await context.streams.start();
const trustProxy = "loopback";
const app = makeApp({ context, trustProxy });
const unlimited = makeApp({
  context: { ...context, access: makeUnlimitedAccess(context) },
  trustProxy,
});
const reference = makeReference(context, Number(scale));
let bareAnswer: unknown;
const bare = makeBare(() => bareAnswer);

const { url } = await listen((request, response) => {
  if (request.url?.startsWith(UNLIMITED)) {
    request.url = request.url.slice(UNLIMITED.length);
    unlimited(request, response);
  } else if (request.url === TPCB_PATH) reference(request, response);
  else if (request.url === BARE_PATH) bare(request, response);
  else app(request, response);
}, config);

process.on("message", (message: ServerMessage) => {
  if (message === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  } else if (message === "standbys") process.send?.(standbys?.figures() ?? []);
  else ({ bareAnswer } = message);
});
// Without its parent it has nothing to do.
process.on("disconnect", () => process.exit());
process.send?.({ url });

function makeUnlimitedAccess({ authenticator, site }: Context): Access {
  const allowed = { allowed: true, retryAfterSeconds: null };
  const noTokens = { requestsPerMinute: null, burstCapacity: null, remaining: null };
  const access = makeAccess({
    limiter: { take: () => Promise.resolve({ ...allowed, windows: null }) },
    tokens: { take: () => Promise.resolve({ ...allowed, ...noTokens }) },
    ...{ authenticator, site },
  });
  return { ...access, tokenOf: () => undefined };
}

/** Express and nothing else: it takes a body and gives one. */
function makeBare(answer: () => unknown): Express {
  const route = express();
  route.post(BARE_PATH, express.json(), (_request, response) => {
    response.status(201).json(answer());
  });
  return route;
}

/** As the service places an order, but for what the database is asked to do. */
function makeReference(reference: Context, branches: number): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.use(requestLog(reference.logger));
  const tpcb = route({
    method: "post",
    path: TPCB_PATH,
    operationId: "tpcb",
    tag: "Orders",
    summary: "A transaction of pgbench",
    auth: "key",
    rateLimit: "trading",
    whenOutcomeUnknown: "safe to retry",
    request: { body: placeOrderSchema },
    responses: { 201: { description: "It is done." } },
    handler: async () => {
      const values = [
        randomBetween(1, 100_000 * branches),
        randomBetween(1, branches),
        randomBetween(1, 10 * branches),
        randomBetween(-5000, 5000),
      ];
      const text = "select public.bench_tpcb($1, $2, $3, $4) as body";
      const { rows } = await withRetries(pools.orders, (client) =>
        client.query<{ body: string }>({ name: "tpcb", text, values }),
      );
      return { status: 201, text: rows[0]!.body };
    },
  });
  installRoute(app, tpcb, reference);
  app.use(notFound);
  app.use(errorHandler);
  return app;
}
