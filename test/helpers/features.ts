import type { Played } from "./play.ts";

/** What random programs have to reach for a law about them to mean something. */
const expected = [
  "code INVALID_REQUEST",
  "code TRADING_PAUSED",
  "code SELF_EXCLUDED",
  "code MARKET_NOT_OPEN",
  "code SELF_TRADE_BLOCKED",
  "code POST_ONLY_WOULD_CROSS",
  "code INSUFFICIENT_LIQUIDITY",
  "code INSUFFICIENT_BALANCE",
  "code LOSS_LIMIT",
  "replayed",
  "status open",
  "status partially_filled",
  "status filled",
  "status cancelled",
  "several fills",
  "budget filled",
  "budget cancelled",
  "dead expired",
  "dead self_excluded",
  "dead insufficient_funds",
  "dead position_insufficient",
  "dead loss_limit",
  "match of buy and buy",
  "match of buy and sell",
  "match of sell and buy",
  "match of sell and sell",
];

export function countFeatures(features: Map<string, number>, { outcomes, state }: Played): void {
  const count = (name: string) => features.set(name, (features.get(name) ?? 0) + 1);
  for (const { code, replayed, body } of outcomes) {
    if (code !== null) {
      count(`code ${code}`);
      continue;
    }
    if (replayed) {
      count("replayed");
      continue;
    }
    count(`status ${body.order.status}`);
    if (body.fills.length > 1) count("several fills");
    for (const { cancelReason } of body.cancelledOrders) count(`dead ${cancelReason}`);
  }
  const { orders, trades } = state;
  for (const { budget_cents, status } of orders) {
    if (budget_cents !== null) count(`budget ${status}`);
  }
  for (const { taker, maker } of trades) {
    count(`match of ${orders[taker - 1].order_type} and ${orders[maker - 1].order_type}`);
  }
}

export function missingFeatures(features: Map<string, number>): string[] {
  return expected.filter((name) => !features.has(name));
}
