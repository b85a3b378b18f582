import { randomUUID } from "node:crypto";
import net from "node:net";
import test from "ava";
import { sha256Of } from "../../src/secrets.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test("200: /healthz", async (t) => {
  const answer = await call("GET", "/healthz");
  t.is(answer.status, 200);
  t.deepEqual(answer.body, { status: "ok" });
  t.regex(answer.headers.get("x-request-id") ?? "", requestId);
});

for (const [method, path] of [
  ["GET", "/"],
  ["GET", "/api/v1"],
  ["GET", "/api/v2/orders"],
  ["GET", "/API/V1/ORDERS"],
  ["PUT", "/api/v1/orders"],
  ["DELETE", "/api/v1/orders"],
  ["POST", "/api/v1/me"],
  ["POST", "/healthz"],
  ["OPTIONS", "/nothing"],
] as const) {
  test(`404 NOT_FOUND: ${method} ${path}`, async (t) => {
    const answer = await call(method, path);
    t.is(answer.status, 404);
    t.deepEqual(answer.body, { error: "Not found" });
    t.regex(answer.headers.get("x-request-id") ?? "", requestId);
  });
}

test("each answer has its own request id, also if the client sends one", async (t) => {
  const headers = { "x-request-id": "mine" };
  const answers = await Promise.all(
    ["/healthz", "/api/v1/me", "/nothing", "/api/v1/markets/x"].map((path) =>
      call("GET", path, { headers }),
    ),
  );
  const ids = answers.map((answer) => answer.headers.get("x-request-id") ?? "");
  for (const id of ids) t.regex(id, requestId);
  t.is(new Set(ids).size, ids.length);
});

for (const [fault, bytes, status] of [
  ["no HTTP at all", "hello\r\n\r\n", "400 Bad Request"],
  ["an address that is none", "GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n", "400 Bad Request"],
  [
    "headers without end",
    `GET / HTTP/1.1\r\nhost: x\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
    "431 Request Header Fields Too Large",
  ],
] as const) {
  test(`${status}: ${fault}`, async (t) => {
    const text = await new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = net.connect(Number(new URL(service.url).port), "127.0.0.1", () => {
        socket.write(bytes);
      });
      socket.on("data", (chunk) => (received += String(chunk)));
      socket.on("error", reject);
      socket.on("close", () => {
        resolve(received);
      });
    });
    t.true(text.startsWith(`HTTP/1.1 ${status}\r\n`), text);
    t.regex(text, /\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
    t.regex(text, /\r\n\r\n\{"error":"[^"]+"\}$/);
  });
}

test.serial("500: an unexpected error shows no internals, and the log has all of it", async (t) => {
  const marketId = await makeMarket();
  await service.database.pool.query(`alter function api.get_order_book(uuid) rename to hidden`);
  t.teardown(() =>
    service.database.pool.query(`alter function api.hidden(uuid) rename to get_order_book`),
  );
  const answer = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
  t.is(answer.status, 500);
  t.deepEqual(answer.body, { error: "Internal server error" });
  const id = answer.headers.get("x-request-id") ?? "";
  t.regex(id, requestId);
  const found = () => service.log.filter((line) => line.includes(id));
  await until("it is logged", () => Promise.resolve(found().length > 0));
  const lines = found().map((line) => JSON.parse(line));
  t.is(lines.length, 1);
  t.like(lines[0], {
    level: 50,
    status: 500,
    code: "INTERNAL_ERROR",
    route: "/api/v1/markets/:id/orderbook",
    error: { sqlstate: "42883" },
  });
});

test.serial(
  "the log names requests, users and routes, and never a key, a hash or a body",
  async (t) => {
    const trader = await makeTrader();
    const marketId = await makeMarket();
    const idempotencyKey = randomUUID();
    const from = service.log.length;
    const body = {
      marketId,
      side: "yes",
      price: 50,
      quantity: 1,
      idempotencyKey,
      note: "confidential",
    };
    await call("POST", "/api/v1/orders", { key: trader.key, body });
    await call("POST", "/api/v1/orders", { key: trader.key, body: '{"note":"confidential' });
    await call("POST", "/api/v1/orders", { key: `${trader.key.slice(0, -1)}.`, body });
    await call("GET", `/api/v1/orders?note=confidential&status=${trader.key}`, { key: trader.key });
    await call("GET", `/api/v1/orders/${trader.key}`, { key: trader.key });
    await call("GET", `/${trader.key}/confidential`, { key: trader.key });
    const isRequest = (line: string) => JSON.parse(line).msg === "request";
    const requests = () => service.log.slice(from).filter(isRequest);
    await until("all are logged", () => Promise.resolve(requests().length >= 6));

    const lines = service.log.slice(from);
    const placed = lines.map((line) => JSON.parse(line)).find((line) => line.status === 201);
    t.like(placed, {
      msg: "request",
      method: "POST",
      route: "/api/v1/orders",
      userId: trader.userId,
    });
    t.regex(placed.requestId, requestId);
    t.true(placed.durationMs > 0);

    const text = lines.join("\n");
    t.is(lines.filter(isRequest).length, 6);
    const secret = trader.key.slice(3, -6);
    const hash = sha256Of(trader.key);
    for (const secretText of [
      secret,
      hash.toString("hex"),
      hash.toString("base64"),
      "confidential",
      idempotencyKey,
      "Bearer",
      "authorization",
    ]) {
      t.false(text.toLowerCase().includes(secretText.toLowerCase()), secretText);
    }
  },
);
