import net from "node:net";
import type { AddressInfo } from "node:net";
import test from "ava";
import type { ExecutionContext } from "ava";
import { ApiError, createClient } from "../../src/client/client.ts";
import type { Client, OnConnection } from "../../src/client/client.ts";
import { realTiming } from "../../src/client/timing.ts";

/** Answers whose body stops in its middle, while the connection stays open. */

interface StallingServer {
  client: Client;
  /** How many requests there were until now. */
  asked: () => number;
  /** Settles when the client has closed so many connections on which it had asked. */
  closed: (count: number) => Promise<void>;
}

/** Each answer has this head, and the first bytes of a longer body. */
async function openServer(t: ExecutionContext, head: string): Promise<StallingServer> {
  let asked = 0;
  let closed = 0;
  let look = (): void => undefined;
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      asked++;
      socket.on("close", () => {
        closed++;
        look();
      });
      socket.write(`HTTP/1.1 ${head}\r\nContent-Length: 500\r\n\r\n{"err`);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    client: createClient({
      ...{ url: `http://127.0.0.1:${port}`, key: "jk_1", timeoutMs: 500, idleMs: 500 },
      timing: { ...realTiming, sleep: () => realTiming.sleep(1) },
    }),
    asked: () => asked,
    closed: (count) =>
      new Promise((resolve) => {
        look = () => {
          if (closed >= count) resolve();
        };
        look();
      }),
  };
}

const HEADS = [
  "503 Service Unavailable\r\nContent-Type: application/json",
  "401 Unauthorized\r\nContent-Type: application/json",
  "200 OK\r\nContent-Type: text/event-stream",
];

for (const head of HEADS) {
  const title = head.split("\r\n")[0]!;
  test(`streams open again when an answer ${title} stalls, and free its connection`, async (t) => {
    const server = await openServer(t, head);
    const codes: (string | undefined)[] = [];
    const enough = new AbortController();
    const onConnection: OnConnection = (state, error) => {
      if (state === "open") return;
      if (codes.push(error?.code) === 3) enough.abort();
    };
    const options = { signal: enough.signal, onConnection };
    for await (const event of server.client.userStream(options)) t.fail(JSON.stringify(event));
    t.deepEqual(codes, ["TIMEOUT", "TIMEOUT", "TIMEOUT"]);
    t.is(server.asked(), 3);
    await server.closed(3);
  });
}

test("books are opened again too", async (t) => {
  const server = await openServer(t, HEADS[0]!);
  const lost: (string | undefined)[] = [];
  const books = server.client.books(["m"], {
    onConnection: (_, error) => {
      if (lost.push(error?.code) === 2) books.close();
    },
  });
  await books.closed();
  t.deepEqual(lost, ["TIMEOUT", "TIMEOUT"]);
  await server.closed(2);
});

test("a call ends when its answer stalls, and frees its connection", async (t) => {
  for (const head of ["200 OK", "503 Service Unavailable", "400 Bad Request"]) {
    const server = await openServer(t, head);
    const error = await t.throwsAsync(
      server.client.post("/api/v1/orders/cancel-all", { body: {}, patienceMs: 0 }),
      { instanceOf: ApiError },
    );
    t.like(error, { status: 0, code: "TIMEOUT", isOutcomeUnknown: true });
    t.is(server.asked(), 1);
    await server.closed(1);
  }
});
