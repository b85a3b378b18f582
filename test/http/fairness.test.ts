import test from "ava";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { pino } from "pino";
import { makeServerPools, openPools } from "../../src/database/server_pools.ts";
import type { ServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { createExchange } from "../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { until } from "../helpers/until.ts";
import { callService } from "../helpers/http/test_service.ts";

/** What one user sends at once, against the connections of a server whose calls are held. */

const logger = pino({ level: "silent" });
const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize: 12 };

interface Caller {
  userId: string;
  key: string;
}

let exchange: Exchange;
let pools: ServerPools;
let service: RunningServer;
let ann: Caller;
let others: Caller[];
let markets: string[];

/** Calls that have a connection and wait, with their first value. */
let held: { value: string; go: () => void }[] = [];
/** The function of the database whose calls are held, or the command of api.run_command. */
let holding: string | undefined;

/** Has the calls of a pool wait while they have their connections. */
function holdCallsOf(pool: Pool): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectAndHold = async (): Promise<PoolClient> => {
    const client = await connect();
    return new Proxy(client, {
      get: (target, property) => {
        const value = Reflect.get(target, property) as unknown;
        if (property !== "query") return typeof value === "function" ? value.bind(target) : value;
        return async (query: QueryConfig) => {
          const isCommand = query.name === "run_command" && query.values?.[0] === holding;
          if (isCommand || query.name === holding) {
            await new Promise<void>((go) => {
              held.push({ value: String(query.values?.[isCommand ? 1 : 0]), go });
            });
          }
          return await target.query(query);
        };
      },
    });
  };
  pool.connect = connectAndHold as typeof pool.connect;
}

/** From now on nothing is held. */
function letGo(): void {
  holding = undefined;
  for (const { go } of held) go();
  held = [];
}

const heldOf = ({ userId }: Caller) => held.filter(({ value }) => value.includes(userId)).length;

const send = ({ key }: Caller, method: string, path: string, body?: unknown) =>
  callService(service.url, method, `/api/v1${path}`, { key, ...(body !== undefined && { body }) });

async function makeCaller(): Promise<Caller> {
  const userId = await exchange.makeTrader();
  const figures = { requests_per_minute: 1_000_000, burst_capacity: 1_000_000 };
  await exchange.operate("set_rate_policy", { user_id: userId, tier: "custom", ...figures });
  return { userId, key: await exchange.operate("create_api_key", { user_id: userId, name: "t" }) };
}

test.serial.before("serve", async () => {
  exchange = await createExchange({ sessions: 20 });
  const { connectionString, pool } = exchange.database;
  await liftRateLimits(pool);
  pools = makeServerPools({ connectionString, config, logger });
  await openPools(pools);
  holdCallsOf(pools.orders);
  holdCallsOf(pools.reads);
  service = await serve({ pools, config, logger });
  markets = await exchange.makeMarkets(8);
  ann = await makeCaller();
  others = [await makeCaller(), await makeCaller(), await makeCaller()];
});
test.afterEach.always(letGo);
test.after.always("stop", async () => {
  await service.close();
  await exchange.database.drop();
});

async function rest(caller: Caller): Promise<string> {
  const terms = { side: "yes", price: 5, quantity: 2 };
  const { body } = await send(caller, "POST", "/orders", { marketId: markets[0], ...terms });
  return body.order.id as string;
}

const commands = {
  split: (caller: Caller, index: number) =>
    send(caller, "POST", "/positions/split", { marketId: markets[index], quantity: 1 }),
  merge: (caller: Caller, index: number) =>
    send(caller, "POST", "/positions/merge", { marketId: markets[index], quantity: 1 }),
  cancel: async (caller: Caller) => {
    const order = await rest(caller);
    return send(caller, "DELETE", `/orders/${order}`);
  },
} satisfies Record<string, (caller: Caller, index: number) => Promise<{ status: number }>>;

for (const [name, command] of Object.entries(commands)) {
  test.serial(`${name}: one user's calls hold two connections of eight`, async (t) => {
    holding = name;
    const sent = markets.map((_market, index) => command(ann, index));
    await until("two are held", () => Promise.resolve(heldOf(ann) >= 2));
    // As it comes later than the first user's, those had their time to come, too.
    sent.push(command(others[0]!, 1));
    await until("another user's is held", () => Promise.resolve(heldOf(others[0]!) === 1));
    t.is(heldOf(ann), 2);
    t.is(pools.orders.waitingCount, 0);
    letGo();
    for (const { status } of await Promise.all(sent)) t.is(status, 200);
  });
}

test.serial("amend: one of a user at a time, and some are left to cancels", async (t) => {
  const amend = async (caller: Caller) =>
    send(caller, "PATCH", `/orders/${await rest(caller)}`, { price: 6 });
  holding = "amend";
  const sent = markets.map(() => amend(ann));
  await until("one is held", () => Promise.resolve(heldOf(ann) >= 1));
  sent.push(amend(others[0]!));
  await until("another user's is held", () => Promise.resolve(heldOf(others[0]!) === 1));
  const waiting = amend(others[1]!);
  holding = "cancel";
  const cancelled = commands.cancel(others[2]!);
  await until("a cancel is held", () => Promise.resolve(heldOf(others[2]!) === 1));
  t.is(held.length, 3);
  letGo();
  for (const { status } of await Promise.all([...sent, waiting, cancelled])) t.is(status, 200);
});

test.serial("cancel-batch: one user's batches hold two connections of eight", async (t) => {
  const orders = await Promise.all(markets.map(() => rest(ann)));
  const otherOrder = await rest(others[0]!);
  holding = "cancel";
  const sent = orders.map((id) => send(ann, "POST", "/orders/cancel-batch", { orderIds: [id] }));
  await until("two are held", () => Promise.resolve(heldOf(ann) >= 2));
  sent.push(send(others[0]!, "DELETE", `/orders/${otherOrder}`));
  await until("another user's is held", () => Promise.resolve(heldOf(others[0]!) === 1));
  t.is(heldOf(ann), 2);
  letGo();
  for (const { status } of await Promise.all(sent)) t.is(status, 200);
});

test.serial("split: many users' calls in one market hold two connections", async (t) => {
  holding = "split";
  const full = [ann, ...others].map((caller) => commands.split(caller, 0));
  await until("two are held", () => Promise.resolve(held.length >= 2));
  full.push(commands.split(await makeCaller(), 1));
  await until("one in another market is held", () => Promise.resolve(held.length >= 3));
  t.is(held.length, 3);
  letGo();
  for (const { status } of await Promise.all(full)) t.is(status, 200);
});

test.serial("slow commands of many users leave connections to orders", async (t) => {
  holding = "split";
  const callers = await Promise.all([...markets, ...markets].map(makeCaller));
  const sent = callers.map((caller, index) => commands.split(caller, index % 8));
  await until("four are held", () => Promise.resolve(held.length >= 4));
  await rest(ann);
  t.is(held.length, 4);
  letGo();
  for (const { status } of await Promise.all(sent)) t.is(status, 200);
});

test.serial("a command that meets a lock holds no connection while it waits", async (t) => {
  const holder = await exchange.database.pool.connect();
  try {
    await holder.query("begin");
    const lock = "select from trading.traders where public_id = $1 for no key update";
    await holder.query(lock, [ann.userId]);
    const waiting = [
      commands.split(ann, 2),
      send(ann, "PUT", "/orders/dead-man", { timeoutMs: 0 }),
      send(ann, "POST", "/orders/batch", {
        atomic: true,
        orders: [{ marketId: markets[3], side: "yes", price: 5, quantity: 1 }],
      }),
    ];
    const isIdle = () => pools.orders.idleCount === pools.orders.totalCount;
    await until("they are tried", () => Promise.resolve(!isIdle()));
    for (let time = 1; time <= 3; time++) {
      await until("all pause", () => Promise.resolve(isIdle()));
      await until("they are tried again", () => Promise.resolve(!isIdle()));
    }
    t.is((await commands.split(others[0]!, 2)).status, 200);
    await holder.query("rollback");
    for (const { status } of await Promise.all(waiting)) t.true(status === 200 || status === 201);
  } finally {
    holder.release();
  }
});

test.serial("previews: one of a user at a time, and half of the reads' connections", async (t) => {
  holding = "preview_order";
  const preview = (caller: Caller, index: number) =>
    send(caller, "POST", "/orders/preview", {
      ...{ marketId: markets[index], side: "yes" },
      ...{ price: 5, quantity: 1 },
    });
  const sent = markets.map((_market, index) => preview(ann, index));
  await until("one is held", () => Promise.resolve(heldOf(ann) >= 1));
  sent.push(...others.map((other, index) => preview(other, index + 1)));
  await until("another user's is held", () => Promise.resolve(held.length >= 2));
  const book = await callService(service.url, "GET", `/api/v1/markets/${markets[7]}/orderbook`);
  t.is(book.status, 200);
  t.is(heldOf(ann), 1);
  t.is(held.length, 2);
  letGo();
  for (const { status } of await Promise.all(sent)) t.is(status, 200);
});

test.serial(
  "reads: lists of all orders are one at a time, those of open ones are not",
  async (t) => {
    holding = "list_orders";
    const list = (status: string) => send(ann, "GET", `/orders?status=${status}`);
    const long = ["all", "filled", "cancelled"].map(list);
    await until("one is held", () => Promise.resolve(heldOf(ann) >= 1));
    const short = list("open");
    await until("the short one is held, too", () => Promise.resolve(heldOf(ann) >= 2));
    t.is(heldOf(ann), 2);
    letGo();
    for (const { status } of await Promise.all([...long, short])) t.is(status, 200);
  },
);

test.serial("reads: one address holds half of the connections, and others go on", async (t) => {
  holding = "list_markets";
  const list = (query: string) => callService(service.url, "GET", `/api/v1/markets?${query}`);
  const sent = Array.from({ length: 30 }, (_, index) => list(`page=${index + 1}`));
  await until("two are held", () => Promise.resolve(held.length >= 2));
  for (const caller of [ann, ...others]) {
    t.is((await send(caller, "GET", "/me")).status, 200);
  }
  t.is(held.length, 2);
  letGo();
  for (const { status } of await Promise.all(sent)) t.is(status, 200);
});

test.serial(
  "reads: identical public ones are one call, and not one more for a second",
  async (t) => {
    holding = "list_markets";
    const list = (query: string) => callService(service.url, "GET", `/api/v1/markets?${query}`);
    const sent = ["limit=7", "limit=7&page=1", "limit=7&unknown=1"].map(list);
    await until("one is held", () => Promise.resolve(held.length >= 1));
    t.is(held.length, 1);
    letGo();
    for (const { status, body } of await Promise.all(sent)) {
      t.is(status, 200);
      t.is(body.data.length, 7);
    }
    holding = "list_markets";
    t.is((await list("limit=7")).status, 200);
    t.is(held.length, 0);
  },
);
