import type { Answer } from "./analytics_answer.ts";
import { house, market, prices } from "./analytics_answers_of_markets.ts";
import { orders, profitAndLoss } from "./analytics_answers_of_users.ts";

/** The answers to the questions of docs/analytics.md, by the heading under which the page asks. */
export const answers: Record<string, Answer> = {
  ...profitAndLoss,
  ...orders,
  ...market,
  ...prices,
  ...house,
};
