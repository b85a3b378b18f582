import type { RequestListener } from "node:http";
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

/** All that a client gets that sends this, until the connection is closed. */
async function received(t: ExecutionContext, handler: RequestListener, sent: string) {
  const listener = await listen(handler, { host: "127.0.0.1", port: 0, requestTimeoutMs: 300 });
  t.teardown(() => listener.close());
  const socket = net.connect(Number(new URL(listener.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  socket.write(sent);
  await new Promise((resolve) => socket.once("close", resolve));
  return { text, answers: text.match(/HTTP\/1\.1 \d+/g) ?? [] };
}

const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";

test("a request keeps its answer, whatever comes behind it", async (t) => {
  const { text, answers } = await received(
    t,
    (request, response) => {
      request.resume();
      request.on("end", () => setTimeout(() => response.end("placed"), 50));
    },
    `${post}GARBAGE\r\n\r\n`,
  );
  t.deepEqual(answers, ["HTTP/1.1 200"]);
  t.regex(text, /\r\nConnection: close\r\n/);
  t.true(text.endsWith("placed"), text);
});

test("a stream is cut by what is malformed, and has no answer within it", async (t) => {
  const { answers } = await received(
    t,
    (_request, response) => void response.writeHead(200).write("data: 1\n\n"),
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n",
  );
  t.true(answers.length <= 1, answers.join());
});

test("a request that was answered before its body came has no second answer", async (t) => {
  t.timeout(60_000);
  const { answers } = await received(
    t,
    (_request, response) => response.writeHead(401).end(),
    post.replace("Content-Length: 2", "Content-Length: 1000"),
  );
  t.deepEqual(answers, ["HTTP/1.1 401"]);
});

test("what is malformed behind an answered request is answered, too", async (t) => {
  const { answers } = await received(
    t,
    (_request, response) => response.end("here"),
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n",
  );
  t.deepEqual(answers, ["HTTP/1.1 200", "HTTP/1.1 400"]);
});

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
