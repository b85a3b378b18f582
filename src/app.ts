import express from "express";
import type { Express } from "express";
import { errorHandler, notFound } from "./http/error_handler.ts";
import { literalPath } from "./http/literal_path.ts";
import { requestLog } from "./http/request_log.ts";
import { requestMetrics } from "./http/request_metrics.ts";
import { installAccount } from "./routes/account.ts";
import { installCatalogue } from "./routes/catalogue.ts";
import { installDocumentation } from "./routes/documentation.ts";
import { installGraphql } from "./routes/graphql.ts";
import { installHealth, installMetrics } from "./routes/health.ts";
import { installLeaderboard } from "./routes/leaderboard.ts";
import { installMarkets } from "./routes/markets.ts";
import { installOrders } from "./routes/orders.ts";
import { installPortfolio } from "./routes/portfolio.ts";
import { installPositions } from "./routes/positions.ts";
import { installSessions } from "./routes/sessions.ts";
import { installStreams } from "./routes/streams.ts";
import type { Services } from "./services.ts";

export interface AppOptions {
  services: Services;
  /** Whose word on the client's address counts. */
  trustProxy?: boolean | number | string;
  /** Whether the figures for monitoring have an address of their own. */
  metricsElsewhere?: boolean;
}

/** The whole HTTP interface, in the order in which a request meets it. */
export function makeApp({ services, trustProxy = false, metricsElsewhere }: AppOptions): Express {
  const app = makeBareApp();
  app.set("query parser", "simple");
  app.set("trust proxy", trustProxy);

  app.use(requestLog(services.logger));
  app.use(requestMetrics(services.metrics));
  app.use(literalPath);

  installHealth(app, services);
  if (metricsElsewhere !== true) installMetrics(app, services);
  installOrders(app, services);
  installMarkets(app, services);
  installCatalogue(app, services);
  installAccount(app, services);
  installPortfolio(app, services);
  installPositions(app, services);
  installLeaderboard(app, services);
  installSessions(app, services);
  installStreams(app, services);
  installGraphql(app, services);
  installDocumentation(app);

  app.use(notFound);
  app.use(errorHandler);
  return app;
}

/** The figures for monitoring and nothing else, for an address that the public has no way to. */
export function makeMetricsApp(services: Services): Express {
  const app = makeBareApp();
  app.use(requestLog(services.logger));
  installMetrics(app, services);
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
