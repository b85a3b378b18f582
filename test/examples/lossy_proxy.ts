import http from "node:http";
import type { AddressInfo } from "node:net";
import type { ExecutionContext } from "ava";

/** A way to the service on which the answer to the first order gets lost. */
export interface LossyProxy {
  url: string;
  /** How the service answered orders, the lost answer included. */
  statuses: number[];
}

/** Listens until the test ends. */
export async function openLossyProxy(t: ExecutionContext, target: string): Promise<LossyProxy> {
  const statuses: number[] = [];
  const server = http.createServer((request, response) => {
    const { method, url = "", headers } = request;
    const forwarded = http.request(target + url, { method, headers }, (answer) => {
      const { statusCode = 0 } = answer;
      if (method === "POST" && url === "/api/v1/orders") {
        statuses.push(statusCode);
        if (statuses.length === 1) {
          answer.resume();
          response.destroy();
          return;
        }
      }
      response.writeHead(statusCode, answer.headers);
      // So that the head of a stream goes out before its first event.
      response.flushHeaders();
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, statuses };
}
