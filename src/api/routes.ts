import { accountRoutes } from "./account.ts";
import { accountAccessRoutes } from "./account_access.ts";
import { keyRoutes } from "./account_keys.ts";
import { accountPasskeyRoutes } from "./account_passkeys.ts";
import { accountPositionRoutes } from "./account_positions.ts";
import { catalogueRoutes } from "./catalogue.ts";
import { disputeRoutes } from "./disputes.ts";
import { documentationRoutes } from "./documentation.ts";
import { eventShareRoutes } from "./event_shares.ts";
import { historyRoutes } from "./history.ts";
import { leaderboardRoutes } from "./leaderboard.ts";
import { marketRoutes } from "./markets.ts";
import { serviceRoutes } from "./monitoring.ts";
import { operatorAccessRoutes } from "./operator_access.ts";
import { operatorCredentialRoutes } from "./operator_credentials.ts";
import { orderBatchRoutes } from "./order_batches.ts";
import { orderRoutes } from "./orders.ts";
import { portfolioRoutes } from "./portfolio.ts";
import { positionRoutes } from "./positions.ts";
import { proofRoutes } from "./proofs.ts";
import type { Route } from "./route.ts";
import { sessionRoutes } from "./sessions.ts";
import { streamRoutes } from "./streams.ts";

/** The whole HTTP interface, but for GraphQL. */
export const routes: Route[] = [
  ...catalogueRoutes,
  ...marketRoutes,
  ...proofRoutes,
  ...orderRoutes,
  ...orderBatchRoutes,
  ...portfolioRoutes,
  ...historyRoutes,
  ...leaderboardRoutes,
  ...positionRoutes,
  ...eventShareRoutes,
  ...disputeRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...accountAccessRoutes,
  ...accountRoutes,
  ...keyRoutes,
  ...accountPasskeyRoutes,
  ...accountPositionRoutes,
  ...operatorAccessRoutes,
  ...operatorCredentialRoutes,
  ...serviceRoutes,
  ...documentationRoutes(() => routes),
];
