import test from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import {
  expectSamePlay,
  makeCast,
  oneByOne,
  playAndUndo,
  together,
} from "../../helpers/model/play.ts";
import type { Played, PlayedOutcome } from "../../helpers/model/play.ts";
import { holds } from "../../helpers/model/laws.ts";
import { opening, programs } from "../../helpers/model/programs.ts";
import type { Step } from "../../helpers/model/programs.ts";
import { seed } from "../../helpers/random.ts";

/** Orders of a batch have the same results as the same orders one by one, in any markets. */

const exchange = testExchange(test);

/** What the random programs must reach for the test to mean something. */
const expectedFeatures = [
  ...["code INVALID_REQUEST", "code MARKET_NOT_FOUND", "code TRADING_PAUSED", "code SELF_EXCLUDED"],
  ...["code ACCOUNT_FROZEN", "code MARKET_NOT_OPEN", "code SELF_TRADE_BLOCKED"],
  ...["code POST_ONLY_WOULD_CROSS", "code INSUFFICIENT_LIQUIDITY", "code INSUFFICIENT_BALANCE"],
  ...["code LOSS_LIMIT", "code BELOW_FILLED", "code ORDER_NOT_AMENDABLE"],
  ...["code BUDGET_ORDER_NOT_AMENDABLE", "code ORDER_NOT_CANCELLABLE"],
  ...["code IDEMPOTENCY_KEY_REUSED", "replayed"],
  ...["amend", "convert", "cancel", "cancel all", "batch"].map((command) => `command ${command}`),
  ...["command sent again", "replayed in one call", "replayed from another market"],
  ...["key used after a rejection in one call", "fills in several markets in one call"],
  ...["amended false", "amended in place", "amended by replacement", "status scheduled"],
  ...["released open", "released partially_filled", "released filled"],
  ...[
    ...["expired", "insufficient_funds", "insufficient_liquidity", "loss_limit", "market_closed"],
    ...["position_insufficient", "post_only_would_cross", "self_trade", "trading_paused"],
  ].map((reason) => `release cancelled ${reason}`),
  ...["status open", "status partially_filled", "status filled", "status cancelled"],
  ...["several fills", "budget filled", "budget cancelled", "dead expired", "dead self_excluded"],
  ...["dead insufficient_funds", "dead position_insufficient", "dead loss_limit"],
  ...["dead self_trade", "fok filled", "fok rejected with INSUFFICIENT_LIQUIDITY"],
  ...["match of buy and buy", "match of buy and sell", "match of sell and buy"],
  "match of sell and sell",
];

test("a batch comes to what its requests would have come to one by one", async (t) => {
  const cast = await makeCast(exchange);
  const features = new Map<string, number>();
  const law = async (program: Step[]) => {
    const alone = await playAndUndo(exchange, cast, program, oneByOne);
    const batched = await playAndUndo(exchange, cast, program, together);
    expectSamePlay(batched, alone, cast);
    countFeatures(features, batched);
  };
  await holds(t, 30, law);
  // Further programs, until nothing is missing.
  for (const program of fc.sample(programs(), { seed: seed() + 1, numRuns: 150 })) {
    if (missingFeatures(features).length === 0) break;
    await law([...opening(), ...program]);
  }
  t.log([...features].map(([name, count]) => `${name}: ${count}`).join("\n"));
  t.deepEqual(missingFeatures(features), []);
});

function countFeatures(features: Map<string, number>, played: Played): void {
  const { outcomes, state, events } = played;
  const count = (name: string) => features.set(name, (features.get(name) ?? 0) + 1);
  for (const { code, replayed, body, request } of outcomes) {
    if (code !== null) {
      count(`code ${code}`);
      if (request?.timeInForce === "fok") count(`fok rejected with ${code}`);
      continue;
    }
    if (request === undefined) {
      count(replayed ? "command sent again" : `command ${commandOf(body)}`);
      if (replayed || !("amended" in body)) continue;
    }
    if (replayed) {
      count("replayed");
      continue;
    }
    if (request?.timeInForce === "fok") count(`fok ${body.order.status}`);
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
  countKeys(outcomes, count);
  countMarkets(outcomes, count);
  const { orders, trades } = state;
  for (const { budget_cents, status } of orders) {
    if (budget_cents !== null) count(`budget ${status}`);
  }
  for (const { taker, maker } of trades) {
    count(`match of ${orders[taker - 1].order_type} and ${orders[maker - 1].order_type}`);
  }
}

type Count = (name: string) => void;

function countKeys(outcomes: PlayedOutcome[], count: Count): void {
  const placed = new Map<string, PlayedOutcome>();
  const rejected = new Set<string>();
  for (const outcome of outcomes) {
    const { code, replayed, request } = outcome;
    if (request === undefined || request.idempotencyKey === null) continue;
    const key = `${request.userId} ${request.idempotencyKey}`;
    if (code !== null) {
      rejected.add(`${request.step} ${key}`);
    } else if (replayed) {
      const first = placed.get(key)?.request;
      // It came in a batch with a key of its own.
      if (first === undefined) continue;
      const { step, marketId } = first;
      if (step === request.step) count("replayed in one call");
      if (marketId !== request.marketId) count("replayed from another market");
    } else {
      placed.set(key, outcome);
      if (rejected.has(`${request.step} ${key}`)) count("key used after a rejection in one call");
    }
  }
}

function countMarkets(outcomes: PlayedOutcome[], count: Count): void {
  const traded = new Map<number, Set<string>>();
  for (const { code, body, request } of outcomes) {
    if (request === undefined || code !== null || body.fills.length === 0) continue;
    const markets = traded.get(request.step) ?? new Set();
    traded.set(request.step, markets.add(request.marketId));
  }
  for (const markets of traded.values()) {
    if (markets.size > 1) count("fills in several markets in one call");
  }
}

/** What was carried out, by its answer. */
function commandOf(body: any): string {
  if ("amended" in body) return "amend";
  if ("results" in body) return "batch";
  if ("cancelled" in body) return "cancel all";
  return "order" in body ? "cancel" : "convert";
}

function amendmentIn({ amended, queuePositionChanged }: any): string {
  if (!amended) return "false";
  return queuePositionChanged ? "by replacement" : "in place";
}

function missingFeatures(features: Map<string, number>): string[] {
  return expectedFeatures.filter((name) => !features.has(name));
}
