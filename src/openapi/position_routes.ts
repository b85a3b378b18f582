import { convertSetsResponseSchema, convertSetsSchema } from "../schemas/positions.ts";
import { refusals } from "./route.ts";
import type { Route } from "./route.ts";

const answers = [
  {
    status: 200,
    description: "The cash, and the positions of the market that hold shares.",
    schema: convertSetsResponseSchema,
  },
];

/** Complete sets of YES and NO shares. */
export const positionRoutes: Route[] = [
  {
    method: "post",
    path: "/api/v1/positions/split",
    operationId: "splitPosition",
    tag: "Portfolio",
    summary: "Makes complete sets, one YES and one NO share each, out of 100 cents each",
    auth: "key",
    body: convertSetsSchema,
    answers,
    problems: refusals(
      "MARKET_NOT_FOUND",
      "MARKET_NOT_OPEN",
      "INSUFFICIENT_BALANCE",
      "SELF_EXCLUDED",
      "ACCOUNT_FROZEN",
      "LOSS_LIMIT",
      "LIMITS_SETUP_REQUIRED",
      "TRADING_PAUSED",
    ),
  },
  {
    method: "post",
    path: "/api/v1/positions/merge",
    operationId: "mergePosition",
    tag: "Portfolio",
    summary: "Gives complete sets back for 100 cents each",
    description: "Possible until the market is resolved, whatever keeps the caller from trading.",
    auth: "key",
    body: convertSetsSchema,
    answers,
    problems: refusals("MARKET_NOT_FOUND", "MARKET_NOT_OPEN", "INSUFFICIENT_BALANCE"),
  },
];
