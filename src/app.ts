import express from "express";
import type { Express } from "express";
import { errorHandler, notFound } from "./http/error_handler.ts";
import { requestLog } from "./http/request_log.ts";
import { installAccount } from "./routes/account.ts";
import { installCatalogue } from "./routes/catalogue.ts";
import { installHealth } from "./routes/health.ts";
import { installMarkets } from "./routes/markets.ts";
import { installOrders } from "./routes/orders.ts";
import { installPortfolio } from "./routes/portfolio.ts";
import type { Services } from "./services.ts";

export interface AppOptions {
  services: Services;
  /** Whose word on the client's address counts. */
  trustProxy?: boolean | number | string;
}

/** The whole HTTP interface, in the order in which a request meets it. */
export function makeApp({ services, trustProxy = false }: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("query parser", "simple");
  app.set("trust proxy", trustProxy);

  app.use(requestLog(services.logger));

  installHealth(app);
  installOrders(app, services);
  installMarkets(app, services);
  installCatalogue(app, services);
  installAccount(app, services);
  installPortfolio(app, services);

  app.use(notFound);
  app.use(errorHandler);
  return app;
}
