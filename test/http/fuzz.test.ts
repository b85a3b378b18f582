import http from "node:http";
import test from "ava";
import fc from "fast-check";
import { routes } from "../../src/api/routes.ts";
import type { Route } from "../../src/api/route.ts";
import { dumpTables } from "../helpers/database/tables.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";

/** Malformed requests to all routes are refused and have no effect. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

const REQUESTS = 10_000;
const AT_ONCE = 32;
const SEED = 20_260_101;

interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Sound ids and keys, so that requests get as far as they can. */
interface World {
  key: string;
  strangersOrderId: string;
}

const uuid = "01900000-0000-7000-8000-000000000000";

/** No value of any field of any body. */
const wrongValues = [
  ...[null, true, false, -1, 0, 1.5, 1e308, -(2 ** 53), 2 ** 31, 10_001.5],
  ...["", " ", "yes ", "YES", "null", "0x10", "\u0000", "\ud83d\ude00", "\ud800"],
  "'; select 1; --",
  ...["x".repeat(5000), `${uuid}0`, {}, { $gt: 0 }, [], [[[]]], [null], ["1"], [uuid, 1]],
];

const wrongSegments = [
  ...["1", "0", "null", "%00", "%E0%A4%A", "%FF%FE", "..%2f..%2fetc", "%27%20or%201=1", "*"],
  ...[
    `${uuid}0`,
    uuid.replace("7", "g"),
    `%7B${uuid}%7D`,
    "x".repeat(2000),
    "%F0%9F%98%80",
    "~",
    "_",
  ],
];

const wrongTexts = [
  "",
  "-1",
  "1.5",
  "1e9",
  "NaN",
  "%00",
  "%FF",
  "9".repeat(400),
  "[]",
  "%20",
  "''",
];

const wrongBodies = [
  ...["", "{", "[", "null", "1", '"text"', "[]", '{"side":', "\ufeff{}", "{'a':1}", "undefined"],
  ...['{"__proto__":{"side":"yes"}}', '{"constructor":{"prototype":1}}', "[".repeat(20_000)],
  ...['{"a":1}{"b":2}', `{"a":"${"x".repeat(70_000)}"}`, '{"price":1e999}', '{"side":"\\ud800"}'],
];

const wrongHeaders = [
  { authorization: "Bearer" },
  { authorization: `Bearer jk_${"0".repeat(49)}` },
  { authorization: `Basic ${"A".repeat(200)}` },
  { authorization: "Bearer \u00ff\u00fe" },
  { cookie: "pgmarkets_session=%00; pgmarkets_session=x" },
];

const oddHeaders = [
  {},
  { "content-type": "text/html" },
  { "content-encoding": "br" },
  { "x-forwarded-for": "1.2.3.4, ::1" },
  { accept: "*/*;q=x" },
  { "x-http-method-override": "DELETE" },
  { range: "bytes=0-" },
];

/** A request to one route with something wrong in it. */
function malformed(route: Route, { key, strangersOrderId }: World): fc.Arbitrary<Request> {
  const goesOn = route.tag === "Streams";
  const knownIds = route.auth === "key" ? [uuid, strangersOrderId] : [uuid];
  const credentials = [
    ...wrongHeaders,
    // With a key a stream would open.
    ...(goesOn ? [] : Array.from({ length: 15 }, () => ({ authorization: `Bearer ${key}` }))),
  ];
  const queryKeys = [...Object.keys(route.request.query?.shape ?? {}), "x[y]", "__proto__"];
  const query = fc
    .array(fc.tuple(fc.constantFrom(...queryKeys), fc.constantFrom(...wrongTexts)), {
      maxLength: 3,
    })
    .map((pairs) => pairs.map(([name, text]) => `${encodeURIComponent(name)}=${text}`).join("&"));
  // A schema that lets more through has no fields to go by.
  const schema = route.request.documentedBody ?? route.request.body;
  const body = schema === undefined ? fc.constantFrom("", "{}") : bodyFor(schema);

  return fc
    .record({
      segment: fc.constantFrom(...wrongSegments, ...knownIds, ...knownIds, ...knownIds),
      query,
      body,
      credential: fc.constantFrom(...credentials),
      odd: fc.constantFrom(...oddHeaders),
    })
    .map(({ segment, query: text, credential, odd, ...rest }) => ({
      method: route.method.toUpperCase(),
      path: route.path.replace(/:\w+/, segment) + (text === "" ? "" : `?${text}`),
      headers: { ...odd, ...credential },
      body: rest.body,
    }))
    .filter(({ body: text }) => !(route.rateLimit === "cancel-all" && isSound(schema, text)));
}

/** Whether a body has nothing wrong: unknown fields do not count, and it may be left out. */
function isSound(schema: Route["request"]["body"], text: string): boolean {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, "") || "{}");
    return schema?.safeParse(value).success ?? true;
  } catch {
    return false;
  }
}

/** Every field is wrong, or it is no object at all. */
function bodyFor(schema: NonNullable<Route["request"]["body"]>): fc.Arbitrary<string> {
  const fields = Object.keys((schema as { shape?: object }).shape ?? {});
  const values = fields.map((field) => [field, fc.constantFrom(...wrongValues)] as const);
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record(Object.fromEntries(values)).map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: fc.constantFrom(...wrongBodies) },
  );
}

/** A request to no route. */
const astray: fc.Arbitrary<Request> = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"),
  path: fc
    .array(
      fc.constantFrom("api", "v1", "orders", "markets", "docs", "%2e%2e", "", ...wrongSegments),
    )
    .map((segments) => `/nowhere/${segments.join("/")}`),
  headers: fc.constantFrom(...wrongHeaders, ...oddHeaders),
  body: fc.constant(""),
});

const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });

function send({ method, path, headers, body }: Request): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const request = http.request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

const insides = new RegExp(
  "\\b(?:select|insert|update|where) |sqlstate|plpgsql|postgres|pg_|node_modules|\\bEX\\d{3}\\b" +
    "|\\.ts\\b|\\.js\\b|\\n +at |Error:|" +
    rootDirectory,
  "i",
);

/** What is wrong with an answer. */
function faultOf(request: Request, { status, text }: { status: number; text: string }) {
  const isRead = request.method === "GET";
  if (status >= 500) return `${status} ${text}`;
  // A batch answers 200, and each malformed order in it has a result of its own.
  const results: { status: number }[] | undefined =
    status === 200 ? JSON.parse(text).results : undefined;
  if (results?.every((result) => result.status === 400) === true) return undefined;
  if (status < 400 && !isRead) return `accepted: ${text}`;
  if (status < 400) return undefined;
  if (insides.test(text)) return `tells of the inside: ${text}`;
  return typeof JSON.parse(text).error === "string" ? undefined : `no error: ${text}`;
}

/** Tables that may change: that servers run, times of use of keys, counters of requests, and events. */
const ownLife = /^(core\.processes|identity\.api_keys|rate_limits\..*|trading\.outbox(_relay)?)$/;

/** All that the database holds, but for that. */
async function dump(): Promise<Record<string, string>> {
  const client = await service.database.pool.connect();
  try {
    const tables = Object.entries(await dumpTables(client));
    return Object.fromEntries(tables.filter(([name]) => !ownLife.test(name)));
  } finally {
    client.release();
  }
}

/** An event that is sent becomes a row of `trading.sent_events`. */
async function outboxIsEmpty(): Promise<boolean> {
  const { rowCount } = await service.database.pool.query("select from trading.outbox");
  return rowCount === 0;
}

test("10,000 malformed requests: each is an error of the client, shows no internals and has no effect", async (t) => {
  const marketId = await makeMarket();
  const [trader, stranger] = [await makeTrader(), await makeTrader()];
  const place = (key: string, price: number) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, side: "yes", price, quantity: 1 } });
  const strangersOrderId = (await place(stranger.key, 10)).body.order.id;
  const world = { key: trader.key, strangersOrderId };
  // The service's own routes take nothing that could be malformed.
  const targets = routes.filter(({ tag, path }) => tag !== "Service" && path.startsWith("/api/"));
  const arbitrary = fc.oneof(...targets.map((route) => malformed(route, world)), astray);
  const requests = fc.sample(arbitrary, { numRuns: REQUESTS, seed: SEED });
  await until("all events are sent", outboxIsEmpty);
  const before = await dump();

  const faults: string[] = [];
  const statuses = new Set<number>();
  let next = 0;
  async function sendInTurn(): Promise<void> {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const answer = await send(request);
      statuses.add(answer.status);
      const fault = faultOf(request, answer);
      if (fault !== undefined) faults.push(`${JSON.stringify(request).slice(0, 300)}: ${fault}`);
    }
  }
  let answered = 0;
  const reads = setInterval(() => {
    void call("GET", "/api/v1/me/portfolio", { key: stranger.key }).then(({ status }) => {
      if (status === 200) answered += 1;
      else faults.push(`a sound request got ${status}`);
    });
  }, 50);
  await Promise.all(Array.from({ length: AT_ONCE }, sendInTurn));
  clearInterval(reads);
  agent.destroy();

  t.deepEqual(faults.slice(0, 5), []);
  t.true(answered > 10);
  t.deepEqual([...statuses].sort(), [200, 400, 401, 403, 404, 413]);
  t.deepEqual(await dump(), before);
  t.is((await place(trader.key, 20)).status, 201);
});
