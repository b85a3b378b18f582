import http from "node:http";
import type { AddressInfo } from "node:net";
import type { ExecutionContext } from "ava";

/** Serves HTTP on a free port of this machine until the test ends. Returns the URL. */
export async function serveLocally(
  t: ExecutionContext,
  handle: http.RequestListener,
): Promise<string> {
  const server = http.createServer(handle);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
