import { randomUUID } from "node:crypto";
import test from "ava";
import { testService } from "../helpers/http/test_service.ts";

/** POST /markets/:id/disputes and GET /me/disputes. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

/** A resolved market, and the key of a trader who held shares of it. */
async function settled() {
  const marketId = await makeMarket({ title: "Will it rain?" });
  const { key, userId } = await makeTrader();
  await call("POST", "/api/v1/positions/split", { key, body: { marketId, quantity: 1 } });
  await operate("resolve_market", { market_id: marketId, outcome: "no" });
  return { marketId, key, userId, path: `/api/v1/markets/${marketId}/disputes` };
}

test("201: a dispute, and then its answer, for its user only", async (t) => {
  const { marketId, key, path } = await settled();
  const text = "It rained.\nSee <b>the log</b>.";
  const { status, body, headers } = await call("POST", path, { key, body: { text } });
  t.is(status, 201);
  t.deepEqual(Object.keys(body), ["id", "createdAt"]);
  t.not(headers.get("x-ratelimit-limit"), null, "counted as a command");

  const list = async (query = "", given = key) =>
    (await call("GET", `/api/v1/me/disputes${query}`, { key: given })).body;
  const { resolvedAt } = (await call("GET", `/api/v1/markets/${marketId}/resolution`)).body;
  const dispute = {
    ...{ id: body.id, marketId, marketTitle: "Will it rain?", outcome: "no", yesPayoutCents: 0 },
    ...{ resolvedAt, text, createdAt: body.createdAt, answer: null, answeredAt: null },
  };
  t.deepEqual(await list(), { data: [dispute] });
  t.deepEqual(await list("", (await makeTrader()).key), { data: [] });

  await operate("answer_dispute", { dispute_id: body.id, answer: "Not at the station." });
  const { data } = await list(`?marketId=${marketId}`);
  t.like(data, { 0: { answer: "Not at the station." }, length: 1 });
  t.true(data[0].answeredAt >= body.createdAt);
  t.deepEqual(await list(`?marketId=${randomUUID()}`), { data: [] });
});

test("409 ALREADY_DISPUTED, 403 NO_SHARES_HELD, 400 NOT_OPEN_TO_DISPUTE, 404", async (t) => {
  const { marketId, key, path } = await settled();
  const body = { text: "It rained." };
  t.is((await call("POST", path, { key, body })).status, 201);
  const answers: [path: string, key: string, status: number, body: object][] = [
    [
      path,
      key,
      409,
      { error: "You have disputed this resolution already", code: "ALREADY_DISPUTED" },
    ],
    [
      ...([path, (await makeTrader()).key, 403] as const),
      { error: "Only users who held shares may dispute it", code: "NO_SHARES_HELD" },
    ],
    [
      ...([`/api/v1/markets/${await makeMarket()}/disputes`, key, 400] as const),
      { error: "The market has no resolution to dispute now", code: "NOT_OPEN_TO_DISPUTE" },
    ],
    [`/api/v1/markets/${randomUUID()}/disputes`, key, 404, { error: "Market not found" }],
    ["/api/v1/markets/1/disputes", key, 400, { error: "Invalid id" }],
  ];
  for (const [to, by, status, expected] of answers) {
    const answer = await call("POST", to, { key: by, body });
    t.deepEqual([answer.status, answer.body], [status, expected]);
  }
  await operate("correct_resolution", { market_id: marketId, outcome: "yes", reason: "it did" });
  t.is((await call("POST", path, { key, body })).status, 201);
});

test("400 INVALID_REQUEST: a text that is none or too long, counted in characters", async (t) => {
  const { key, path } = await settled();
  for (const text of [undefined, null, 5, "", " \n", "a\u0000b", "x".repeat(2001)]) {
    const { status, body } = await call("POST", path, { key, body: { text } });
    t.deepEqual([status, body.code, body.issues[0].path], [400, "INVALID_REQUEST", "text"]);
  }
  t.deepEqual((await call("GET", "/api/v1/me/disputes", { key })).body, { data: [] });
  const body = { text: "\u{1F327}".repeat(2000) };
  t.is((await call("POST", path, { key, body })).status, 201);
});
