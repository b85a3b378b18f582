import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import test from "ava";
import fc from "fast-check";
import { makeDocument } from "../../src/api/openapi.ts";
import { placeOrderSchema } from "../../src/api/orders.ts";
import { routes } from "../../src/api/routes.ts";
import { errorCodes } from "../../src/database/error_codes.ts";

/** What the OpenAPI document promises to those who generate clients from it. */

const document: any = JSON.parse(JSON.stringify(makeDocument(routes)));

test("the document is clean in redocly lint", async (t) => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  t.deepEqual(
    problems.map(
      ({ ruleId, message, location }) => `${ruleId}: ${location[0]?.pointer} ${message}`,
    ),
    [],
  );
});

test("redocly lint finds what is wrong", async (t) => {
  const broken = structuredClone(document);
  broken.paths["/api/v1/orders"].post.security = [{ password: [] }];
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(broken), config });
  t.deepEqual(
    problems.map(({ ruleId }) => ruleId),
    ["security-defined"],
  );
});

test("the codes of errors are listed: in bodies those that bodies have, in the header all", (t) => {
  const { headers, schemas } = document.components;
  const all = Object.entries(errorCodes);
  t.deepEqual(
    schemas.Error.properties.code.enum,
    all.filter(([, { codeShown }]) => codeShown).map(([name]) => name),
  );
  t.deepEqual(headers["X-Error-Code"].schema, { $ref: "#/components/schemas/ErrorCode" });
  t.deepEqual(
    schemas.ErrorCode.enum,
    all.map(([name]) => name),
  );
});

test("no answer is closed: a later version may have more fields", (t) => {
  const closed: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    if ("additionalProperties" in value && value.additionalProperties === false) closed.push(path);
    for (const [name, part] of Object.entries(value)) look(part, `${path}/${name}`);
  };
  look(document, "#");
  t.deepEqual(closed, []);
});

test("headers are in the document where requests may have them, or answers", (t) => {
  const operations = Object.values<any>(document.paths).flatMap<any>(Object.values);
  const takes = (header: string) =>
    operations
      .filter(({ parameters = [] }) =>
        parameters.some((each: any) => each.in === "header" && each.name === header),
      )
      .map(({ operationId }) => operationId);
  const sends = (header: string) =>
    operations
      .filter(({ responses }) => responses[200]?.headers[header] !== undefined)
      .map(({ operationId }) => operationId);
  const those = (isOne: (operation: any) => boolean) =>
    operations.filter(isOne).map(({ operationId }) => operationId);

  t.deepEqual(takes("Last-Event-ID"), ["streamUser", "streamUserForPages"]);
  t.true(takes("Prefer").includes("placeOrder"));
  t.deepEqual(
    takes("Prefer"),
    those(({ requestBody }) => requestBody !== undefined),
  );
  t.true(takes("If-None-Match").includes("getOrderBook"));
  t.deepEqual(takes("If-None-Match"), sends("ETag"));
  t.deepEqual(sends("Dead-Man-Fired"), ["setDeadMan"]);
  t.deepEqual(sends("Link"), ["listFills", "getStatement"]);
  t.deepEqual(sends("Content-Disposition"), sends("Link"));
  t.deepEqual(
    sends("Cache-Control"),
    those(({ responses }) => responses[200] !== undefined),
  );
  const { responses } = document.paths["/api/v1/orders"].post;
  const of = (status: number) => Object.keys(responses[status].headers);
  for (const status of [200, 201, 400, 403, 422, 503]) {
    t.true(of(status).includes("X-Market-Version"), `${status}`);
    t.true(of(status).includes("Preference-Applied"), `${status}`);
  }
  t.true(of(403).includes("RateLimit-Policy"));
  t.true(of(401).includes("RateLimit"));
  t.false(of(401).includes("X-Market-Version"));
});

const validators = new Ajv2020({ strict: false, allErrors: true });
formats.default(validators);
validators.addSchema(document, "openapi");
const schemaOf = (id: string) => validators.compile({ $ref: `openapi#/components/schemas/${id}` });
const isOrder = schemaOf("PlaceOrder");
const marketId = "01900000-0000-7000-8000-000000000000";

const verdicts: [name: string, order: object, isRight: boolean][] = [
  ["a buy of shares at a price", { price: 50, quantity: 1 }, true],
  ["a buy of shares at the market", { price: null, quantity: 1 }, true],
  ["a buy of shares without a price", { quantity: 1 }, false],
  ["a buy of shares without a price, by its name", { orderType: "buy", quantity: 1 }, false],
  ["a buy without shares", { price: 50 }, false],
  ["a buy for a budget", { budgetCents: 100 }, true],
  ["a buy for a budget up to a price", { budgetCents: 100, price: 50 }, true],
  ["a buy for a budget, of shares", { budgetCents: 100, price: 50, quantity: 1 }, false],
  ["a sell at the market", { orderType: "sell", quantity: 1 }, true],
  ["a sell at a price", { orderType: "sell", quantity: 1, price: 50 }, true],
  ["a sell without shares", { orderType: "sell", price: 50 }, false],
  ["a sell for a budget", { orderType: "sell", quantity: 1, budgetCents: 100 }, false],
  ["a post-only bid", { price: 50, quantity: 1, postOnly: true, timeInForce: null }, true],
  ["a post-only ioc", { price: 50, quantity: 1, postOnly: true, timeInForce: "ioc" }, false],
  ["a post-only market order", { price: null, quantity: 1, postOnly: true }, false],
  ["a post-only budget", { price: 50, budgetCents: 100, postOnly: true }, false],
];

for (const [name, fields, isRight] of verdicts) {
  test(`${name}: the schema ${isRight ? "allows" : "forbids"} it`, (t) => {
    t.is(isOrder({ marketId, side: "yes", ...fields }), isRight);
  });
}

test("the schema of an order needs the fields that the server needs", (t) => {
  const maybe = <Value>(...values: Value[]) =>
    fc.option(fc.constantFrom(...values, null), { nil: undefined });
  const order = fc.record({
    price: maybe(1, 99),
    quantity: maybe(1, 10_000),
    budgetCents: maybe(1, 1_000_000),
    orderType: maybe("buy", "sell"),
    timeInForce: maybe("gtc", "ioc", "fok"),
    postOnly: maybe(true, false),
  });
  fc.assert(
    fc.property(order, (fields) => {
      const body = JSON.parse(JSON.stringify({ marketId, side: "yes", ...fields }));
      t.is(isOrder(body), placeOrderSchema.safeParse(body).success, JSON.stringify(body));
    }),
    { numRuns: 1000 },
  );
});

/** The body of a command as its schema takes it. */
function bodyOf(operationId: string) {
  const { body } = routes.find((route) => route.operationId === operationId)!.request;
  return (value: unknown): boolean => body!.safeParse(value).success;
}

test("the schema of the dead man's switch has the bounds that the server has", (t) => {
  const isSetDeadMan = schemaOf("SetDeadMan");
  const isTaken = bodyOf("setDeadMan");
  for (const [timeoutMs, isRight] of [
    ...([-1, 1, 999, 1000.5, 300_001, null, "1000"] as const).map((ms) => [ms, false] as const),
    ...[0, 1000, 1001, 299_999, 300_000].map((ms) => [ms, true] as const),
  ]) {
    const verdicts = [isSetDeadMan({ timeoutMs }), isTaken({ timeoutMs })];
    t.deepEqual(verdicts, [isRight, isRight], String(timeoutMs));
  }
});

test("the schema of a dispute needs a text that is not blank", (t) => {
  const isDispute = schemaOf("DisputeResolution");
  const isTaken = bodyOf("disputeResolution");
  for (const text of ["", " ", " \n\t\u00a0\u3000", "x".repeat(2001)]) {
    t.deepEqual([isDispute({ text }), isTaken({ text })], [false, false], JSON.stringify(text));
  }
  for (const text of [" . ", "It rained.\nSee the log.", "x".repeat(2000)]) {
    t.deepEqual([isDispute({ text }), isTaken({ text })], [true, true], text);
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      if (isTaken({ text })) t.true(isDispute({ text }), JSON.stringify(text));
    }),
  );
});

test("the schema of an amendment needs a price or a quantity", (t) => {
  const isAmendment = schemaOf("AmendOrder");
  for (const nothing of [
    {},
    { price: null },
    { quantity: null },
    { price: null, quantity: null },
  ]) {
    t.false(isAmendment(nothing), JSON.stringify(nothing));
  }
  for (const one of [{ price: 5 }, { quantity: 5 }, { price: null, quantity: 5 }]) {
    t.true(isAmendment(one), JSON.stringify(one));
    t.true(isAmendment({ ...one, price: 6 }));
  }
});

test("the schema of a conversion takes each market once", (t) => {
  const isConversion = schemaOf("ConvertShares");
  const other = "01900000-0000-7000-8000-000000000001";
  t.true(isConversion({ marketIds: [marketId, other], quantity: 1 }));
  t.false(isConversion({ marketIds: [marketId, marketId], quantity: 1 }));
  t.false(isConversion({ marketIds: [], quantity: 1 }));
});
