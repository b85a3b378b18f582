import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import test from "ava";
import { openFront } from "../../src/http/front.ts";
import { until } from "../helpers/until.ts";

/** How many connections one address may have open. */

for (const [host, addresses] of [
  ["127.0.0.1", ["127.0.0.2", "127.0.0.3"]],
  ["::1", ["::1"]],
] as const) {
  test(`${host}: connections beyond the limit of their address are cut`, async (t) => {
    const front = await openFront({ host, port: 0, addressConnections: 3 });
    t.teardown(front.close);
    const open: Socket[] = [];
    const request = async (localAddress: string): Promise<boolean> => {
      const socket = connect({ host, port: Number(new URL(front.url).port), localAddress });
      open.push(socket);
      t.teardown(() => socket.destroy());
      socket.on("error", () => undefined);
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      return await Promise.race([
        once(socket, "data").then(() => true),
        once(socket, "close").then(() => false),
      ]);
    };
    for (const address of addresses) {
      for (const isServed of [true, true, true, false, false]) {
        t.is(await request(address), isServed);
      }
    }
    open[0]!.destroy();
    await until("there is room again", () => request(addresses[0]));
  });
}

test("without a limit, there is none", async (t) => {
  const front = await openFront({ host: "127.0.0.1", port: 0, addressConnections: 0 });
  t.teardown(front.close);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => fetch(`${front.url}/healthz`)),
  );
  for (const { status } of answers) t.is(status, 200);
});
