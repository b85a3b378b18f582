import test from "ava";
import { testService } from "../helpers/http/test_service.ts";

/** Public reads name their bodies, and a client that has a body already does not get it again. */

const { call, makeMarket, makeTrader, place } = testService(test);

const read = (path: string, known?: string) =>
  call("GET", path, known === undefined ? {} : { headers: { "if-none-match": known } });

test("304 with the same headers and no body, until the body changes", async (t) => {
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

test("every public read that may be cached has a name", async (t) => {
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

test("problems have no name: a client that knows any body gets them", async (t) => {
  const { headers, status } = await read("/api/v1/markets?category=nowhere", "*");
  t.is(status, 404);
  t.is(headers.get("etag"), null);
});
