import type { Route } from "../../../src/api/route.ts";

/** A valid body for a route that takes one, with these ids; also as idempotency keys. */
export function bodyFor({ operationId }: Route, orderId: string, marketId: string): unknown {
  const bodies: Record<string, unknown> = {
    placeOrder: { marketId, side: "yes", price: 5, quantity: 1, idempotencyKey: orderId },
    placeOrders: {
      orders: [{ marketId, side: "yes", price: 5, quantity: 1, idempotencyKey: orderId }],
    },
    previewOrder: { marketId, side: "yes", price: 5, quantity: 1 },
    amendOrder: { price: 20 },
    cancelOrders: { orderIds: [orderId] },
    splitPosition: { marketId, quantity: 1 },
    mergePosition: { marketId, quantity: 1 },
    convertShares: { marketIds: [marketId], quantity: 1 },
    previewConvertShares: { marketIds: [marketId], quantity: 1 },
    redeemShares: { quantity: 1 },
    disputeResolution: { text: "It rained." },
    cancelAllOrders: { marketId },
    setDeadMan: { timeoutMs: 1000 },
  };
  const body = bodies[operationId];
  if (body === undefined) throw new Error(`no body for ${operationId}: add one to this helper`);
  return body;
}
