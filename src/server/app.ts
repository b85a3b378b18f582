import express from "express";
import type { Express } from "express";
import type { Context } from "../api/context.ts";
import { documentationFiles } from "../api/documentation.ts";
import { installGraphql } from "../api/graphql.ts";
import { metricsRoute } from "../api/monitoring.ts";
import { routes } from "../api/routes.ts";
import { installRoute } from "../api/serve_route.ts";
import { onlyFor } from "../http/address_list.ts";
import type { AddressList } from "../http/address_list.ts";
import { errorHandler, notFound } from "../http/error_handler.ts";
import { fairTurns } from "../http/fair_turns.ts";
import { literalPath } from "../http/literal_path.ts";
import { requestLog } from "../http/request_log.ts";
import { requestMetrics } from "../http/request_metrics.ts";
import type { Website } from "../site/files.ts";
import { serveWebsite } from "../site/serve.ts";

export interface AppOptions {
  context: Context;
  /** Express' `trust proxy`: which proxies say where a request comes from. */
  trustProxy?: boolean | number | string;
  /** Who gets `/metrics`. Without it nobody does: `/metrics` has an address of its own. */
  metricsFor?: AddressList | undefined;
  /** Without it there are no pages. */
  website?: Website | undefined;
}

/** The HTTP interface, in the order in which a request passes it. */
export function makeApp(options: AppOptions): Express {
  const { context, trustProxy = false, metricsFor, website } = options;
  const app = makeBareApp();
  app.set("query parser", "simple");
  app.set("trust proxy", trustProxy);

  app.use(fairTurns());
  app.use(requestLog(context.logger));
  app.use(requestMetrics(context.metrics.countRequest));
  app.use(literalPath);

  app.get(metricsRoute.path, onlyFor(metricsFor));
  for (const route of routes) installRoute(app, route, context);
  app.use("/docs", documentationFiles(context));
  installGraphql(app, context);
  if (website !== undefined) app.use(serveWebsite(website));

  app.use(notFound);
  app.use(errorHandler);
  return app;
}

/** `/metrics` and nothing else, for an address that is not public. */
export function makeMetricsApp(context: Context): Express {
  const app = makeBareApp();
  app.use(requestLog(context.logger));
  installRoute(app, metricsRoute, context);
  app.use(notFound);
  app.use(errorHandler);
  return app;
}

function makeBareApp(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  return app;
}
