import net from "node:net";
import test from "ava";
import type { ExecutionContext } from "ava";
import { listen } from "../src/http_server.ts";

/** What a client gets that writes this and then goes on writing a byte at a time, until it is cut. */
async function drip(t: ExecutionContext, beginning: string) {
  const listener = await listen(
    (request, response) => {
      request.resume();
      request.on("end", () => response.end());
    },
    { host: "127.0.0.1", port: 0, requestTimeoutMs: 300 },
  );
  const began = performance.now();
  const socket = net.connect(Number(new URL(listener.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  let answer = "";
  let answeredMs = 0;
  socket.on("data", (chunk) => {
    answeredMs ||= performance.now() - began;
    answer += String(chunk);
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(beginning);
  const writing = setInterval(() => socket.write("x"), 50);
  t.teardown(() => {
    clearInterval(writing);
    socket.destroy();
  });
  await closed;
  clearInterval(writing);
  const closedMs = performance.now() - began;
  await listener.close();
  return { answer, answeredMs, closedMs };
}

for (const [what, beginning] of Object.entries({
  body: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
  head: "GET / HTTP/1.1\r\nHost: a\r\nX: ",
})) {
  test(`408: a ${what} that comes too slowly is refused, and the connection is closed`, async (t) => {
    t.timeout(60_000);
    const { answer, answeredMs, closedMs } = await drip(t, beginning);
    t.regex(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    // By default Node looks for such requests every 30 s.
    t.true(answeredMs < 15_000, `answered after ${answeredMs} ms`);
    t.true(closedMs < 25_000, `cut after ${closedMs} ms`);
  });
}

test("closing answers requests that had arrived while the process was blocked", async (t) => {
  const listener = await listen((_request, response) => response.end("here"), {
    host: "127.0.0.1",
    port: 0,
  });
  const socket = net.connect(Number(new URL(listener.url).port), "127.0.0.1");
  t.teardown(() => socket.destroy());
  socket.on("error", () => undefined);
  let received = "";
  let look: () => void = () => undefined;
  socket.on("data", (chunk) => {
    received += String(chunk);
    look();
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  socket.write(request);
  await new Promise<void>((resolve) => {
    look = () => {
      if (received.endsWith("here")) resolve();
    };
  });
  received = "";
  const closing = listener.close();
  socket.write(request);
  // Longer than connections are left open for requests that are on their way.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  await closed;
  await closing;
  t.regex(received, /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n/);
  t.true(received.endsWith("here"));
});
