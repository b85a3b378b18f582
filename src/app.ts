import express from "express";
import type { Express } from "express";
import { documentationFiles } from "./api/documentation.ts";
import { routes } from "./api/routes.ts";
import { metricsRoute } from "./api/service.ts";
import { installGraphql } from "./graphql/routes.ts";
import { errorHandler, notFound } from "./http/error_handler.ts";
import { literalPath } from "./http/literal_path.ts";
import { requestLog } from "./http/request_log.ts";
import { requestMetrics } from "./http/request_metrics.ts";
import { installRoute } from "./http/serve_route.ts";
import type { Services } from "./services.ts";
import type { Website } from "./site/files.ts";
import { serveWebsite } from "./site/serve.ts";

export interface AppOptions {
  services: Services;
  /** Whose word on the client's address counts. */
  trustProxy?: boolean | number | string;
  /** Whether the figures for monitoring have an address of their own. */
  metricsElsewhere?: boolean;
  /** Without it there are no pages. */
  website?: Website | undefined;
}

/** The whole HTTP interface, in the order in which a request meets it. */
export function makeApp(options: AppOptions): Express {
  const { services, trustProxy = false, metricsElsewhere, website } = options;
  const app = makeBareApp();
  app.set("query parser", "simple");
  app.set("trust proxy", trustProxy);

  app.use(requestLog(services.logger));
  app.use(requestMetrics(services.metrics));
  app.use(literalPath);

  for (const route of routes) {
    if (route !== metricsRoute || metricsElsewhere !== true) installRoute(app, route, services);
  }
  app.use("/docs", documentationFiles());
  installGraphql(app, services);
  if (website !== undefined) app.use(serveWebsite(website));

  app.use(notFound);
  app.use(errorHandler);
  return app;
}

/** The figures for monitoring and nothing else, for an address that the public has no way to. */
export function makeMetricsApp(services: Services): Express {
  const app = makeBareApp();
  app.use(requestLog(services.logger));
  installRoute(app, metricsRoute, services);
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
