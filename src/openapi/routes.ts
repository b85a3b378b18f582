import { catalogueRoutes } from "./catalogue_routes.ts";
import { leaderboardRoutes } from "./leaderboard_routes.ts";
import { orderRoutes } from "./order_routes.ts";
import { portfolioRoutes } from "./portfolio_routes.ts";
import { positionRoutes } from "./position_routes.ts";
import type { Route } from "./route.ts";
import { serviceRoutes } from "./service_routes.ts";
import { sessionRoutes } from "./session_routes.ts";
import { streamRoutes } from "./stream_routes.ts";

/** The whole HTTP interface. */
export const routes: Route[] = [
  ...catalogueRoutes,
  ...orderRoutes,
  ...portfolioRoutes,
  ...leaderboardRoutes,
  ...positionRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...serviceRoutes,
];
