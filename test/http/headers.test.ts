import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import test from "ava";
import { isCommand } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes.ts";
import { isErrorCodeName } from "../../src/database/error_codes.ts";
import { testService } from "../helpers/http/test_service.ts";

/** Headers of requests and answers that are not about one route. */

const service = testService(test);
const { call, makeMarket, makeTrader, place } = service;

const orders = "/api/v1/orders";

test("X-Error-Code: every error of every route has one of the table", async (t) => {
  const { key } = await makeTrader();
  let errors = 0;
  for (const { method, path, tag } of routes) {
    if (tag === "Streams" || path === "/metrics") continue;
    for (const id of ["x", randomUUID()]) {
      const body = method !== "get" && { body: "{" };
      for (const sent of [{ ...body }, { key, ...body }]) {
        const answer = await call(method.toUpperCase(), path.replace(/:\w+/, id), sent);
        const code = answer.headers.get("x-error-code");
        if (answer.status < 400) t.is(code, null, path);
        else {
          errors++;
          t.true(isErrorCodeName(code ?? ""), `${method} ${path}: ${answer.status} ${code ?? ""}`);
          if (answer.body.code !== undefined) t.is(code, answer.body.code);
        }
      }
    }
  }
  t.true(errors > 50);
});

test("X-Error-Code: codes that no body shows", async (t) => {
  const market = await makeMarket();
  const { key } = await makeTrader();
  const codeOf = async (method: string, path: string, options: object = {}) =>
    (await call(method, path, options)).headers.get("x-error-code");
  t.is(await codeOf("GET", "/nowhere"), "NOT_FOUND");
  t.is(await codeOf("GET", "/api/v1/me"), "UNAUTHORIZED");
  t.is(await codeOf("DELETE", `${orders}/${randomUUID()}`, { key }), "ORDER_NOT_FOUND");
  t.is(await codeOf("POST", orders, { key, body: "x".repeat(70_000) }), "BODY_TOO_LARGE");
  const unknown = { marketId: randomUUID(), side: "yes", price: 1, quantity: 1 };
  t.is(await codeOf("POST", orders, { key, body: unknown }), "MARKET_NOT_FOUND");
  t.is(await codeOf("GET", `/api/v1/markets/${market}/trades?page=0`), "INVALID_REQUEST");
});

test("X-Error-Code: what is no HTTP", async (t) => {
  const { port } = new URL(service.url);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("nonsense\r\n\r\n"));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("close", () => {
      resolve(text);
    });
    socket.on("error", reject);
  });
  t.regex(answer, /^HTTP\/1\.1 400 /);
  t.regex(answer, /\r\nX-Error-Code: INVALID_REQUEST\r\n/);
});

test("X-Market-Version: of placing, amending, cancelling, rejections, splits and merges", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const versionOf = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, { key, ...(body !== undefined && { body }) });
    return [answer.status, answer.headers.get("x-market-version")];
  };
  const order = { marketId, side: "yes", price: 10, quantity: 5 };
  t.deepEqual(await versionOf("POST", orders, order), [201, "1"]);
  const { data } = (await call("GET", orders, { key })).body;
  const path = `${orders}/${data[0].id}`;
  t.deepEqual(await versionOf("PATCH", path, { quantity: 4 }), [200, "2"]);
  t.deepEqual(await versionOf("PATCH", path, { quantity: 4 }), [200, "2"]);
  t.deepEqual(await versionOf("POST", orders, { ...order, orderType: "sell" }), [400, "2"]);
  t.deepEqual(await versionOf("DELETE", path), [200, "3"]);
  t.deepEqual(await versionOf("DELETE", path), [400, "3"]);
  t.deepEqual(await versionOf("DELETE", `${orders}/${randomUUID()}`), [404, null]);
  for (const command of ["split", "merge"]) {
    const sets = { marketId, quantity: 1 };
    t.deepEqual(await versionOf("POST", `/api/v1/positions/${command}`, sets), [200, "3"]);
  }
  const book = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
  t.is(book.headers.get("x-market-version"), "3");
});

test("Prefer: handling=strict makes unknown fields 400 on every command, and on previews", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const order = { marketId, side: "yes", price: 10, quantity: 5 };
  const bodies: Record<string, object> = {
    placeOrder: order,
    placeOrders: { orders: [order] },
    previewOrder: order,
    amendOrder: { price: 20 },
    cancelOrders: { orderIds: [randomUUID()] },
    cancelAllOrders: { marketId },
    setDeadMan: { timeoutMs: 0 },
    splitPosition: { marketId, quantity: 1 },
    mergePosition: { marketId, quantity: 1 },
    convertShares: { marketIds: [marketId], quantity: 1 },
    previewConvertShares: { marketIds: [marketId], quantity: 1 },
    redeemShares: { quantity: 1 },
    disputeResolution: { text: "It rained." },
  };
  const taking = routes.filter(
    (route) =>
      route.request.body !== undefined &&
      (isCommand(route) || route.operationId.startsWith("preview")),
  );
  t.deepEqual(taking.map(({ operationId }) => operationId).sort(), Object.keys(bodies).sort());
  for (const { operationId, method, path } of taking) {
    const send = (body: object, prefer?: string) =>
      call(method.toUpperCase(), path.replace(":id", randomUUID()), {
        ...{ key, body },
        ...(prefer !== undefined && { headers: { Prefer: prefer } }),
      });
    const misspelt = { ...bodies[operationId], pricee: 1 };
    const lenient = await send(misspelt);
    t.not(lenient.body.code, "INVALID_REQUEST", path);
    for (const prefer of ["handling=strict", "respond-async, handling=strict"]) {
      const strict = await send(misspelt, prefer);
      t.is(strict.status, 400);
      t.like(strict.body, {
        code: "INVALID_REQUEST",
        issues: [{ path: "pricee", message: "unknown field" }],
      });
      t.is(strict.headers.get("preference-applied"), "handling=strict");
    }
    t.not((await send(bodies[operationId]!, "handling=strict")).body.code, "INVALID_REQUEST", path);
    t.not((await send(misspelt, "handling=lenient")).body.code, "INVALID_REQUEST", path);
  }
  const nested = await call("POST", `${orders}/batch`, {
    ...{ key, body: { orders: [order, { ...order, sise: 1 }] } },
    headers: { Prefer: "handling=strict" },
  });
  t.is(nested.body.issues[0].path, "orders.1.sise");
});

// Public reads name their bodies, and a client that has a body already does not get it again.
// One after another, before the other tests: what is listed must stay.

const read = (path: string, known?: string) =>
  call("GET", path, known === undefined ? {} : { headers: { "if-none-match": known } });

test.serial("304 with the same headers and no body, until the body changes", async (t) => {
  const [ann, marketId] = await Promise.all([makeTrader(), makeMarket()]);
  const path = `/api/v1/markets/${marketId}/orderbook`;
  const first = await read(path);
  const etag = first.headers.get("etag")!;
  t.regex(etag, /^"[\w-]{22}"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await read(path, known);
    t.is(again.status, 304, known);
    t.is(again.body, "");
    t.is(again.headers.get("content-type"), null);
    for (const name of ["etag", "cache-control", "x-market-version"]) {
      t.is(again.headers.get(name), first.headers.get(name), name);
    }
  }
  await place(ann, marketId, { price: 40 });
  const changed = await read(path, etag);
  t.is(changed.status, 200);
  t.not(changed.headers.get("etag"), etag);
  t.deepEqual(changed.body.bids, [{ price: 40, quantity: 1 }]);
});

test.serial("every public read that may be cached has a name", async (t) => {
  const marketId = await makeMarket();
  for (const path of [
    "/openapi.json",
    "/api/v1/categories",
    "/api/v1/categories/tests/markets",
    "/api/v1/categories/tests/events",
    "/api/v1/markets",
    `/api/v1/markets/${marketId}`,
    `/api/v1/markets/${marketId}/chance`,
    `/api/v1/markets/${marketId}/trades`,
    `/api/v1/markets/${marketId}/candles`,
    `/api/v1/sparklines?markets=${marketId}`,
  ]) {
    const { headers, status } = await read(path);
    t.is(status, 200, path);
    t.is((await read(path, headers.get("etag")!)).status, 304, path);
  }
});

test.serial("problems have no name: a client that knows any body gets them", async (t) => {
  const { headers, status } = await read("/api/v1/markets?category=nowhere", "*");
  t.is(status, 404);
  t.is(headers.get("etag"), null);
});
