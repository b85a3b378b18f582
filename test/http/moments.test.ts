import test from "ava";
import { makeDocument } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";

/** Every route that takes a moment takes all of them, whatever their zone. */

const service = testService(test, { playMoneyCents: 0 });
const { call, makeMarket, makeTrader } = service;

let ann: Trader;
let member: Visitor;
let marketId: string;

test.serial.before("users and a market", async () => {
  [ann, marketId] = [await makeTrader(), await makeMarket()];
  ({ visitor: member } = await makeMember(service));
});

const asAnn = async (path: string, body?: object) =>
  await call(body === undefined ? "GET" : "POST", path, { key: ann.key, ...(body && { body }) });

const order = (expiresAt: string) => ({ marketId, side: "yes", price: 5, quantity: 1, expiresAt });

/** A request with a moment to each operation that takes one. */
const requests: Record<string, (moment: string) => Promise<{ status: number; body: any }>> = {
  "listCandles from": (moment) =>
    asAnn(`/api/v1/markets/${marketId}/candles?interval=1m&from=${encodeURIComponent(moment)}`),
  "listCandles to": (moment) =>
    asAnn(`/api/v1/markets/${marketId}/candles?to=${encodeURIComponent(moment)}`),
  "getStatement from": (moment) => asAnn(`/api/v1/me/statement?from=${encodeURIComponent(moment)}`),
  "getStatement to": (moment) => asAnn(`/api/v1/me/statement?to=${encodeURIComponent(moment)}`),
  placeOrder: (moment) => asAnn("/api/v1/orders", order(moment)),
  previewOrder: (moment) => asAnn("/api/v1/orders/preview", order(moment)),
  placeOrders: async (moment) => {
    const { body } = await asAnn("/api/v1/orders/batch", { orders: [order(moment)] });
    return body.results[0];
  },
  createKey: async (moment) =>
    await member.call("POST", "/api/account/keys", { body: { name: "bot", expiresAt: moment } }),
  excludeSelf: async (moment) =>
    await member.call("POST", "/api/account/self-exclusion", { body: { until: moment } }),
};

const document: any = JSON.parse(JSON.stringify(makeDocument(routes)));

/** Whether a schema of the document has a moment somewhere. */
function hasMoment(schema: any): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (schema.format === "date-time") return true;
  if (schema.$ref !== undefined)
    return hasMoment(document.components.schemas[schema.$ref.split("/").at(-1)]);
  return Object.values(schema).some(hasMoment);
}

test("the requests of this file are to all operations that take a moment", (t) => {
  const operations: any[] = Object.values(document.paths).flatMap((path: any) =>
    Object.values(path),
  );
  const found = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
    ...parameters.filter(hasMoment).map(({ name }: any) => `${operationId} ${name}`),
    ...(hasMoment(requestBody) ? [operationId] : []),
  ]);
  t.deepEqual(found.sort(), Object.keys(requests).sort());
});

for (const name of Object.keys(requests)) {
  test.serial(
    `${name}: zones of 16 hours and more are read, the year 0000 is refused`,
    async (t) => {
      // The earliest first: an exclusion cannot be shortened.
      for (const zone of ["+23:59", "+16:00", "-23:59"]) {
        const { status, body } = await requests[name]!(`2090-01-01T00:00:00${zone}`);
        t.true(status === 200 || status === 201, `${zone}: ${status} ${JSON.stringify(body)}`);
      }
      for (const moment of [
        "0000-12-31T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
      ]) {
        const { status, body } = await requests[name]!(moment);
        t.is(status, 400, `${moment}: ${JSON.stringify(body)}`);
      }
    },
  );
}
