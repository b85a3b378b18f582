import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { pino } from "pino";
import { crontab } from "../../jobs/crontab.ts";
import { makeServerPools, openPools } from "../../src/database/server_pools.ts";
import { describeError } from "../../src/bin/logger.ts";
import { makeGraphqlEndpoints } from "../../src/graphql/endpoints.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { makeWorkerPool, work } from "../../src/worker/start_worker.ts";
import { makePool, openMinimum } from "../../src/database/pools.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import type { TestClock } from "../helpers/database/test_clock.ts";
import { callService } from "../helpers/http/test_service.ts";

/** What a short history of trading says at each of its steps, in an order that is always the same. */
export type Answers = [step: string, answer: unknown][];

const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize: 3 };

/**
 * One of each kind of command, through the pools of a server, its GraphQL and a worker, as the
 * login of the connection string. Lines of the log at level `warn` and above are collected.
 */
export async function playHistory(connectionString: string, log: string[] = []): Promise<Answers> {
  const logger = pino(
    { level: "warn", serializers: { error: describeError } },
    { write: (line: string) => log.push(line) },
  );
  const options = { connectionString, config, logger };
  const pools = makeServerPools(options);
  const graphql = makeGraphqlEndpoints({
    logger,
    analystConnectionString: connectionString,
    operatorConnectionString: connectionString,
  });
  const operators = makePool({ connectionString, role: "exchange_operator", max: 2 });
  await openPools(pools);
  const owner = makePool({ connectionString, max: 1 });
  const service = await serve({ pools, config, logger, graphql });
  const workers = makeWorkerPool(options, 3);
  // Under hostile settings and beside other tests a connection takes long, and so does a free one.
  workers.options.connectionTimeoutMillis = 0;
  await openMinimum(workers);
  const worker = await work(workers, { logger, crontab });
  try {
    return normalise(await play({ service, operators, clock: testClock(owner), log }));
  } finally {
    await worker.close();
    await service.close();
    await operators.end();
    await owner.end();
  }
}

interface Stage {
  service: RunningServer;
  operators: Pool;
  clock: TestClock;
  log: string[];
}

async function play({ service, operators, clock, log }: Stage): Promise<Answers> {
  const answers: Answers = [];
  const note = <T>(step: string, answer: T): T => {
    answers.push([step, answer]);
    return answer;
  };
  const operate = async (name: string, values: Record<string, unknown> = {}): Promise<any> => {
    const named = Object.keys(values).map((key, index) => `"${key}" => $${index + 1}`);
    const { rows } = await operators.query(
      `select to_json(x) as value from admin.${name}(${named.join(", ")}) as x`,
      Object.values(values),
    );
    return note(name, rows[0]?.value);
  };
  const call = async (method: string, path: string, key?: string, body?: unknown): Promise<any> => {
    const answer = await callService(service.url, method, path, {
      ...(key !== undefined && { key }),
      ...(body !== undefined && { body }),
    });
    note(`${method} ${path}`, [answer.status, answer.body]);
    return answer.body;
  };
  const until = async (path: string, key: string, isSo: (body: any) => boolean): Promise<void> => {
    for (let attempt = 0; attempt < 1600; attempt++) {
      const { body } = await callService(service.url, "GET", path, { key });
      if (isSo(body)) return;
      await delay(25);
    }
    throw new Error(`the worker did not do what was due: ${path}\n${log.join("")}`);
  };
  /** Gives a command a time that is near, and that has not passed before it was carried out. */
  const soon = async <T>(command: (time: string) => Promise<T>): Promise<T> => {
    const now = new Date();
    await clock.freeze(now);
    const answer = await command(new Date(now.getTime() + 100).toISOString());
    await clock.release();
    return answer;
  };

  await operate("create_category", { slug: "sports", name: "Sports" });
  const traders: { id: string; key: string }[] = [];
  for (const name of ["ann", "ben"]) {
    const about = { email: `${name}@x.example`, display_name: name, handle: name };
    const user_id = await operate("create_user", about);
    await operate("deposit", { user_id, amount_cents: 100_000, reference: "one" });
    await operate("deposit", { user_id, amount_cents: 100_000, reference: "one" });
    await operate("withdraw", { user_id, amount_cents: 1_000, reference: "two" });
    const limits = { day_cents: 50_000, week_cents: null, month_cents: null };
    await operate("set_loss_limits", { user_id, ...limits });
    const policy = { tier: "custom", requests_per_minute: 600_000, burst_capacity: 100_000 };
    await operate("set_rate_policy", { user_id, ...policy });
    const key = await operate("create_api_key", { user_id, name: "mine" });
    traders.push({ id: user_id, key });
  }
  const [ann, ben] = traders as [(typeof traders)[0], (typeof traders)[0]];
  const market = await operate("create_market", { title: "Rain?", category: "sports" });
  const place = (who: { key: string }, order: object): Promise<any> =>
    call("POST", "/api/v1/orders", who.key, { marketId: market, side: "yes", ...order });
  const placed = async (who: { key: string }, order: object): Promise<{ id: string }> => {
    const body = await place(who, order);
    if (body.order === undefined) throw new Error(`not placed: ${JSON.stringify(body)}`);
    return body.order;
  };

  await place(ann, { side: "no", price: 40, quantity: 20 });
  await place(ann, { side: "no", price: 41, quantity: 5, postOnly: true });
  await place(ben, { price: 60, quantity: 3 });
  await place(ben, { price: null, quantity: 4 });
  await place(ben, { budgetCents: 200 });
  await place(ben, { price: 60, quantity: 2, timeInForce: "ioc" });
  const idempotencyKey = "0190a0a0-0000-7000-8000-000000000001";
  const keyed = { price: 10, quantity: 7, idempotencyKey };
  const resting = await placed(ben, keyed);
  await place(ben, keyed);
  await place(ben, { price: 30, quantity: 1, orderType: "sell" });
  await place(ben, { price: 99, quantity: 9_000 });
  const other = await placed(ben, { price: 5, quantity: 5 });
  await call("PATCH", `/api/v1/orders/${resting.id}`, ben.key, { price: 11 });
  await call("DELETE", `/api/v1/orders/${resting.id}`, ben.key);
  await call("POST", "/api/v1/orders/cancel-batch", ben.key, { orderIds: [other.id] });
  await call("POST", "/api/v1/positions/split", ann.key, { marketId: market, quantity: 4 });
  await call("POST", "/api/v1/positions/merge", ann.key, { marketId: market, quantity: 1 });

  const brief = await soon((expiresAt) => placed(ann, { price: 2, quantity: 1, expiresAt }));
  const isDone = (body: any): boolean => body.status === "cancelled" || body.status === "filled";
  await until(`/api/v1/orders/${brief.id}`, ann.key, isDone);
  await call("GET", `/api/v1/orders/${brief.id}`, ann.key);

  const event = await operate("create_event", {
    ...{ title: "A match", category: "sports", live: true, live_delay_ms: 60 },
  });
  const live = await operate("create_market", {
    ...{ title: "Goal?", category: "sports", event_id: event },
  });
  const held = await placed(ann, { marketId: live, side: "no", price: 45, quantity: 2 });
  const isOpen = (body: any): boolean => body.status === "open";
  await until(`/api/v1/orders/${held.id}`, ann.key, isOpen);
  const taking = await placed(ben, { marketId: live, price: 55, quantity: 1 });
  await until(`/api/v1/orders/${taking.id}`, ben.key, isDone);

  const closing = await operate("create_market", { title: "Soon?", category: "sports" });
  const last = await placed(ben, { marketId: closing, price: 3, quantity: 1 });
  await operators.query("select admin.set_market_status($1, 'closed')", [closing]);
  await soon((closesAt) =>
    operators.query("select admin.set_market_status($1, 'open', $2)", [closing, closesAt]),
  );
  await until(`/api/v1/markets/${closing}`, ben.key, (body) => body.status === "closed");
  await until(`/api/v1/orders/${last.id}`, ben.key, isDone);
  await call("GET", `/api/v1/orders/${last.id}`, ben.key);

  await call("GET", `/api/v1/markets/${market}/orderbook`);
  await call("GET", `/api/v1/markets/${market}/trades`);
  await operate("set_market_status", { market_id: market, status: "closed" });
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  await operate("correct_resolution", { market_id: market, outcome: "no", reason: "a mistake" });
  await operate("refresh_leaderboard");
  await operate("self_exclude", { user_id: ann.id });
  await place(ann, { marketId: live, price: 2, quantity: 1 });
  await operate("set_fee_schedule", { taker_rate_bps: 200 });
  await operate("create_session", { user_id: ben.id });
  await operate("end_sessions", { user_id: ben.id });
  for (const { key } of traders) {
    for (const path of ["me", "me/portfolio", "me/orders", "orders", "me/rate-limits"]) {
      await call("GET", `/api/v1/${path}`, key);
    }
    await call("GET", "/api/v1/leaderboard", key);
  }
  await call("GET", "/api/v1/categories");
  await call("GET", "/api/v1/categories/sports/markets");

  const analyst = await operate("create_staff_key", { name: "Ada", role: "analyst" });
  const operator = await operate("create_staff_key", { name: "Otto", role: "operator" });
  const read = "{ trades(orderBy: NATURAL) { nodes { price quantity createdAt } } }";
  await call("POST", "/graphql", analyst, { query: read });
  const write = `mutation { createCategory(input: {slug: "music", name: "Music"}) { result } }`;
  await call("POST", "/admin/graphql", operator, { query: write });
  note("ledger.verify", (await operators.query("select * from ledger.verify()")).rows);
  note("leaderboard.verify", (await operators.query("select * from leaderboard.verify()")).rows);
  await call("GET", "/readyz");
  return answers;
}

/** Ids, times, keys and what depends on the time, by the order in which they came. */
export function normalise(answers: Answers): Answers {
  const seen = new Map<string, string>();
  const text = JSON.stringify(answers)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!seen.has(id)) seen.set(id, `<id ${seen.size + 1}>`);
      return seen.get(id) ?? "";
    })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "<time $2>")
    .replace(/\bj[a-z]_[0-9A-Za-z]{20,}/g, "<key>")
    .replace(/"(version|remaining|resetsAt|orderReleaseInMs|releaseInMs)":\d+/g, '"$1":"<number>"');
  return JSON.parse(text) as Answers;
}
