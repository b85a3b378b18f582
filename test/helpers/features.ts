import type { Played } from "./play.ts";

/** What random programs have to reach for a law about them to mean something. */
const expected = [
  "code INVALID_REQUEST",
  "code TRADING_PAUSED",
  "code SELF_EXCLUDED",
  "code ACCOUNT_FROZEN",
  "code MARKET_NOT_OPEN",
  "code SELF_TRADE_BLOCKED",
  "code POST_ONLY_WOULD_CROSS",
  "code INSUFFICIENT_LIQUIDITY",
  "code INSUFFICIENT_BALANCE",
  "code LOSS_LIMIT",
  "code BELOW_FILLED",
  "code ORDER_NOT_AMENDABLE",
  "code BUDGET_ORDER_NOT_AMENDABLE",
  "replayed",
  "complete sets",
  "amended false",
  "amended in place",
  "amended by replacement",
  "status scheduled",
  "released open",
  "released partially_filled",
  "released filled",
  ...[
    "expired",
    "insufficient_funds",
    "insufficient_liquidity",
    "loss_limit",
    "market_closed",
    "position_insufficient",
    "post_only_would_cross",
    "self_trade",
    "trading_paused",
  ].map((reason) => `release cancelled ${reason}`),
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

export function countFeatures(features: Map<string, number>, played: Played): void {
  const { outcomes, state, events } = played;
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
    if (body.order === undefined) {
      count("complete sets");
      continue;
    }
    if ("amended" in body) {
      count(`amended ${amendmentIn(body)}`);
      continue;
    }
    count(`status ${body.order.status}`);
    if (body.fills.length > 1) count("several fills");
    for (const { cancelReason } of body.cancelledOrders) count(`dead ${cancelReason}`);
  }
  for (const { event } of events) {
    if (event.type !== "order_released") continue;
    const { status, cancelReason, fills } = event;
    if (status !== "cancelled") count(`released ${status}`);
    else if (fills === 0) count(`release cancelled ${cancelReason}`);
  }
  const { orders, trades } = state;
  for (const { budget_cents, status } of orders) {
    if (budget_cents !== null) count(`budget ${status}`);
  }
  for (const { taker, maker } of trades) {
    count(`match of ${orders[taker - 1].order_type} and ${orders[maker - 1].order_type}`);
  }
}

function amendmentIn({ amended, queuePositionChanged }: any): string {
  if (!amended) return "false";
  return queuePositionChanged ? "by replacement" : "in place";
}

export function missingFeatures(features: Map<string, number>): string[] {
  return expected.filter((name) => !features.has(name));
}
