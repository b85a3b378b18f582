import express from "express";
import type { Express } from "express";
import { makeApp } from "../../src/app.ts";
import { withRetries } from "../../src/database/failures.ts";
import { makePool } from "../../src/database/pools.ts";
import { makeAccess } from "../../src/http/access.ts";
import type { Access } from "../../src/http/access.ts";
import { errorHandler, notFound } from "../../src/http/error_handler.ts";
import { jsonBody } from "../../src/http/json_body.ts";
import { listen } from "../../src/http/listener.ts";
import { requestLog } from "../../src/http/request_log.ts";
import { sendJson } from "../../src/http/respond.ts";
import { validate } from "../../src/http/validate.ts";
import { makeLogger } from "../../src/logger.ts";
import { placeOrderSchema } from "../../src/schemas/orders.ts";
import { makeServices } from "../../src/services.ts";
import type { Services } from "../../src/services.ts";
import { randomBetween } from "./orders.ts";

/**
 * The process that the HTTP bars load: the whole service, and beside it what it is measured
 * against, one route of another kind and the service without limits of requests. Started by fork with two arguments, the database's address and the scale of
 * its pgbench tables; tells its own address.
 */

const TPCB_PATH = "/api/v1/bench/tpcb";
const UNLIMITED = "/unlimited";

const [connectionString = "", scale = "1"] = process.argv.slice(2);

const pool = makePool({ connectionString, role: "exchange_api", max: 10 });
const services = makeServices(pool, makeLogger("info"));
const app = makeApp({ services });
const unlimited = makeApp({ services: { ...services, access: makeUnlimitedAccess(services) } });
const reference = makeReference(services, Number(scale));

const { url } = await listen(
  (request, response) => {
    if (request.url?.startsWith(UNLIMITED)) {
      request.url = request.url.slice(UNLIMITED.length);
      unlimited(request, response);
    } else (request.url === TPCB_PATH ? reference : app)(request, response);
  },
  { host: "127.0.0.1", port: 0 },
);
process.send?.({ url });

// Without its parent it has nothing to do.
process.on("disconnect", () => process.exit());

function makeUnlimitedAccess({ authenticator }: Services): Access {
  const take = () => Promise.resolve({ allowed: true as const, policy: undefined });
  return makeAccess({ authenticator, limiter: { take } });
}

/** As the service places an order, but for what the database is asked to do. */
function makeReference({ access, logger }: Services, branches: number): Express {
  const route = express();
  route.disable("x-powered-by");
  route.disable("etag");
  route.enable("case sensitive routing");
  route.use(requestLog(logger));
  route.post(TPCB_PATH, access.command, jsonBody, async (request, response) => {
    validate(placeOrderSchema, request.body);
    const values = [
      randomBetween(1, 100_000 * branches),
      randomBetween(1, branches),
      randomBetween(1, 10 * branches),
      randomBetween(-5000, 5000),
    ];
    const text = "select public.bench_tpcb($1, $2, $3, $4) as body";
    const { rows } = await withRetries(pool, (client) =>
      client.query({ name: "tpcb", text, values }),
    );
    sendJson(response, 201, rows[0].body);
  });
  route.use(notFound);
  route.use(errorHandler);
  return route;
}
