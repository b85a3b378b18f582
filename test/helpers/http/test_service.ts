import { join } from "node:path";
import type { ExecutionContext, TestFn } from "ava";
import type { Pool } from "pg";
import { pino } from "pino";
import { asServerPools } from "../../../src/database/server_pools.ts";
import { serve } from "../../../src/server/start_server.ts";
import type { RunningServer } from "../../../src/server/start_server.ts";
import type { Context } from "../../../src/api/context.ts";
import { openWebsite } from "../../../src/site/open.ts";
import { describeError } from "../../../src/bin/logger.ts";
import { rootDirectory } from "../repository.ts";
import { createDatabase } from "../database/test_database.ts";
import type { OwnDatabase } from "../database/test_database.ts";
import { anyLimits, traderName } from "../exchange/test_exchange.ts";
import { liftRateLimits } from "../database/rate_limits.ts";
import { inTurn } from "../several.ts";
import type { Several } from "../several.ts";
import type { IdOptions } from "../database/shuffled_ids.ts";

export interface CallOptions {
  key?: string;
  /** Sent as JSON; a string as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON. */
  body: any;
}

export interface TraderOptions {
  fundsCents?: number;
  reviewed?: boolean;
}

export interface Trader {
  userId: string;
  key: string;
}

/** The HTTP interface on a database of the test file's own. */
export interface TestService {
  readonly database: OwnDatabase;
  readonly url: string;
  readonly context: Context;
  /** The pool of the service, which is one for everything. */
  readonly pool: Pool;
  /** Acts as exchange_worker. */
  readonly worker: Pool;
  /** The lines of the log. */
  readonly log: string[];
  /** Another server on the same database, until the test ends. Returns its URL. */
  serveBeside: (t: ExecutionContext, config?: { publicUrl?: string }) => Promise<string>;
  /** Before the end of the tests, for those that are about closing. */
  close: () => Promise<void>;
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** Calls an admin function with named arguments, as an operator. */
  operate: (name: string, values: Record<string, unknown>) => Promise<any>;
  /** A user with a key, money (10,000 EUR by default) and reviewed limits. */
  makeTrader: (options?: TraderOptions) => Promise<Trader>;
  makeTraders: <Count extends number>(
    count: Count,
    options?: TraderOptions,
  ) => Promise<Several<Trader, Count>>;
  makeMarket: (options?: { title?: string; event_id?: string }) => Promise<string>;
  /** An exclusive event. */
  makeEvent: () => Promise<string>;
  /** Places an order: a bid for one YES share but for what `order` says. Throws if rejected. */
  place: (trader: Trader, marketId: string, order: object) => Promise<any>;
}

let made = 0;

export interface TestServiceOptions extends IdOptions {
  /**
   * Whether requests are limited as they are without an operator's doing. Clients are then named
   * by the X-Forwarded-For that they send.
   */
  limited?: boolean;
  /** Whether the pages of the website are served too. */
  website?: boolean;
  /** Opens sign-up, with so much play money for each account; 0 is none. */
  playMoneyCents?: number;
  /** Whether public reads are answered for a second as before. Otherwise each shows what is. */
  keepsAnswers?: boolean;
  /** How long a call waits for a lock. Without it, until it has it. */
  lockTimeoutMs?: number;
}

/** To be called once at the top of a test file. */
export function testService(
  test: TestFn,
  {
    limited = false,
    idsAscend = false,
    website = false,
    keepsAnswers = false,
    playMoneyCents,
    lockTimeoutMs = 0,
  }: TestServiceOptions = {},
): TestService {
  const log: string[] = [];
  const logger = pino(
    { level: "trace", serializers: { error: describeError } },
    { write: (line: string) => log.push(line) },
  );
  let database: OwnDatabase | undefined;
  let pool: Pool | undefined;
  let service: RunningServer | undefined;
  let operators: Pool | undefined;
  let worker: Pool | undefined;
  let closed = false;

  test.before("listen", async () => {
    database = await createDatabase({ shuffled: !idsAscend });
    operators = database.connectAs("exchange_operator", { max: 1 });
    worker = database.connectAs("exchange_worker", { max: 1 });
    if (!limited) await liftRateLimits(database.pool);
    const config = { host: "127.0.0.1", port: 0, trustProxy: limited };
    pool = database.connectAs("exchange_api", { lockTimeoutMs });
    const pages = website
      ? await openWebsite(logger, join(rootDirectory, "examples/pages"))
      : undefined;
    service = await serve({
      ...{ pools: asServerPools(pool), config, logger, website: pages },
      ...(!keepsAnswers && { answersKeptMs: 0 }),
    });
    await operate("create_category", { slug: "tests", name: "Tests" });
    if (playMoneyCents !== undefined) {
      const money = playMoneyCents === 0 ? {} : { play_money_cents: playMoneyCents };
      await operate("set_sign_up", { policy: "open", ...money });
    }
  });
  test.after.always("stop listening", async () => {
    if (!closed) await service?.close();
    await database?.drop();
  });

  async function operate(name: string, values: Record<string, unknown>): Promise<any> {
    const named = Object.keys(values).map((key, index) => `"${key}" => $${index + 1}`);
    const { rows } = await operators!.query(
      `select admin.${name}(${named.join(", ")}) as value`,
      Object.values(values),
    );
    return rows[0].value;
  }

  const call: TestService["call"] = (method, path, options) =>
    callService(service!.url, method, path, options);

  async function makeTrader(options: TraderOptions = {}): Promise<Trader> {
    const { fundsCents = 1_000_000, reviewed = true } = options;
    const number = ++made;
    const userId = await operate("create_user", traderName(number));
    if (fundsCents > 0) {
      await operate("deposit", { user_id: userId, amount_cents: fundsCents, reference: "start" });
    }
    if (reviewed) {
      const [day_cents, week_cents, month_cents] = anyLimits(number);
      await operate("set_loss_limits", { user_id: userId, day_cents, week_cents, month_cents });
    }
    if (!limited) {
      const figures = { requests_per_minute: 1_000_000, burst_capacity: 1_000_000 };
      await operate("set_rate_policy", { user_id: userId, tier: "custom", ...figures });
    }
    return { userId, key: await operate("create_api_key", { user_id: userId, name: "test" }) };
  }

  return {
    get database() {
      return database!;
    },
    log,
    operate,
    makeTrader,
    makeTraders: (count, options) => inTurn(count, () => makeTrader(options)),
    makeMarket: ({ title = "Will it rain?", ...others } = {}) =>
      operate("create_market", { title, category: "tests", ...others }),
    makeEvent: () =>
      operate("create_event", { title: "Who wins?", category: "tests", exclusive: true }),
    get url() {
      return service!.url;
    },
    get pool() {
      return pool!;
    },
    get worker() {
      return worker!;
    },
    get context() {
      return service!.context;
    },
    serveBeside: async (t, more = {}) => {
      const other = await serve({
        pools: asServerPools(database!.connectAs("exchange_api")),
        config: { host: "127.0.0.1", port: 0, trustProxy: false, ...more },
        logger: pino({ level: "silent" }),
      });
      t.teardown(other.close);
      return other.url;
    },
    close: async () => {
      closed = true;
      await service!.close();
    },
    call,
    place: async ({ key }, marketId, order) => {
      const body = { marketId, side: "yes", quantity: 1, ...order };
      const answer = await call("POST", "/api/v1/orders", { key, body });
      if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
      return answer.body.order;
    },
  };
}

/** One request to a server that listens. */
export async function callService(
  url: string,
  method: string,
  path: string,
  { key, body, headers }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}
