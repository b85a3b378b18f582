import { pipeline } from "node:stream/promises";
import type { ExecutionContext } from "ava";
import { openForwardingProxy, passHead } from "../helpers/http/forwarding_proxy.ts";

/** A way to the service on which the answer to the first order gets lost. */
export interface LossyProxy {
  url: string;
  /** How the service answered orders, the lost answer included. */
  statuses: number[];
}

/** Listens until the test ends. */
export async function openLossyProxy(t: ExecutionContext, target: string): Promise<LossyProxy> {
  const statuses: number[] = [];
  const url = await openForwardingProxy(t, target, async ({ request, response, forward }) => {
    const answer = await forward();
    if (request.method === "POST" && request.url === "/api/v1/orders") {
      statuses.push(answer.statusCode!);
      if (statuses.length === 1) {
        response.destroy();
        return;
      }
    }
    passHead(answer, response);
    await pipeline(answer, response);
  });
  return { url, statuses };
}
